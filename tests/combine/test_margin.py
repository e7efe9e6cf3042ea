"""Margins against their definitions, and their utility theorem against exact laws."""

import sys
from math import log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dpselect as dp
from dpselect.combine import early_overlap, local_margin, pareto_front
from support.strategies import dampened_by_definition, several_objectives, widths_of

EDGE = dp.Neighbours.EDGE
module = sys.modules["dpselect.combine.margin"]  # the package has a function of its name


def definition(objectives, candidate, lead):
    """The worst rival's least lead in any objective, with its sign turned."""
    rivals = [r for r in range(len(objectives[0])) if r != candidate]
    leads = [min(lead(part, r, candidate) for part in objectives) for r in rivals]
    return -max(leads, default=0.0)


def in_global_steps(part, rival, candidate):
    bounds = np.broadcast_to(part.sensitivity.bounds, len(part))[[rival, candidate]]
    width = bounds.max() if part.monotone else bounds.sum()
    return (part.scores[rival] - part.scores[candidate]) / width


def in_local_steps(part, rival, candidate):
    halved = part.monotone and part.sensitivity.flat
    widths = widths_of(
        part.sensitivity, len(part), rival, candidate, combine=max if halved else sum
    )
    return dampened_by_definition(part.scores[rival] - part.scores[candidate], widths)


@pytest.mark.slow
@given(several_objectives())
def test_the_margin_equals_its_definition(objectives):
    expected = [definition(objectives, r, in_global_steps) for r in range(len(objectives[0]))]

    assert dp.margin(objectives).scores == pytest.approx(expected)


@pytest.mark.slow
@given(several_objectives())
def test_the_local_margin_equals_its_definition(objectives):
    expected = [definition(objectives, r, in_local_steps) for r in range(len(objectives[0]))]

    assert local_margin(objectives).scores == pytest.approx(expected)


@settings(max_examples=30)
@given(several_objectives(most_candidates=9), st.sampled_from([0, 1]))
def test_the_local_margin_of_two_is_that_of_all_pairs(objectives, narrow):
    """To the last bit, whichever objective closes, and whether or not anything closes in it."""
    pair = (objectives * 2)[:2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "early_overlap", lambda *_: None)
        expected = local_margin(pair).scores
        patch.setattr(module, "early_overlap", lambda of, *_: early_overlap.groups(of, narrow))

        assert (local_margin(pair).scores == expected).all()


def test_a_rival_that_leads_by_an_exact_number_of_steps_is_compared():
    """Its sums stand still after one step, so that a lead of one is worth four."""
    changes = [[0, 1, 1], *[[0, 1, 0]] * 3]
    part = dp.Objective(
        [0, 1.5, 1], dp.ElementSensitivity(changes.__getitem__, 1.0, len(changes), EDGE)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "early_overlap", lambda of, *_: early_overlap.groups(of, 0))

        assert local_margin([part, part]).scores[0] == -4


@pytest.mark.parametrize("gap", [1e9, 1e12, 1e15])
def test_leads_of_any_length_are_not_followed_step_by_step(gap):
    """Before, it took a turn for every step, and no end from 2^36 steps on."""
    parts = [
        dp.Objective(scores, dp.GlobalSensitivity(1, EDGE))
        for scores in ([0.0, gap, gap + 2], [0.0, gap + 3, gap])
    ]
    with pytest.MonkeyPatch.context() as patch:
        for narrow in (0, 1):
            chosen = lambda of, *_, i=narrow: early_overlap.groups(of, i)  # noqa: E731
            patch.setattr(module, "early_overlap", chosen)

            assert local_margin(parts).scores == pytest.approx(dp.margin(parts).scores)


@pytest.mark.parametrize("seed", range(4))
def test_many_candidates_of_two_objectives_take_the_same_path_as_few(seed):
    """Dense and sparse, with ties: in all thousands of distances and of rivals compared."""
    rng = np.random.default_rng(seed)
    keys, table = rng.integers(0, 50, 300), np.linspace(0, 1, 60) ** 2 / (1 + 9 * seed)
    parts = [
        dp.Objective(
            rng.integers(0, 40, 300), dp.GlobalSensitivity(1, EDGE), monotone=seed % 2 == 0
        ),
        dp.Objective(
            rng.integers(0, 90, 300) / 7, dp.TabulatedSensitivity(table, keys, 1, 99, EDGE)
        ),
    ]
    found = [local_margin(parts).scores]
    for chosen in (
        lambda *_: None,
        *(lambda of, *_, i=i: early_overlap.groups(of, i) for i in (0, 1)),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "early_overlap", chosen)
            found.append(local_margin(parts).scores)

    assert (np.array(found) == found[0]).all()


@pytest.mark.parametrize("ties", [7, 10_000])
def test_the_sweep_equals_the_comparison_of_all_pairs(ties):
    rng = np.random.default_rng(2)
    pair = [rng.integers(0, ties, 900).astype(float) for _ in range(2)]
    flat = [dp.Objective(u, dp.GlobalSensitivity(0.5, EDGE), monotone=True) for u in pair]
    each = [
        dp.Objective(u, dp.GlobalSensitivity(np.full(900, 0.5), EDGE), monotone=True)
        for u in pair
    ]

    assert (dp.margin(flat).scores == dp.margin(each).scores).all()


def test_with_global_sensitivities_local_and_global_margin_are_the_same():
    rng = np.random.default_rng(4)
    parts = [
        dp.Objective(rng.normal(size=50), dp.GlobalSensitivity(d, EDGE), monotone=d > 0.1)
        for d in (0.03, 0.2, 0.3)
    ]

    assert local_margin(parts).scores == pytest.approx(dp.margin(parts).scores)


def test_a_margin_is_an_objective_of_unit_scores():
    part = dp.Objective([3, 1], dp.GlobalSensitivity(7, EDGE), candidates=["a", "b"])
    for combined in (dp.margin([part, part]), local_margin([part, part])):
        assert combined.sensitivity.bound == 1
        assert combined.neighbours is EDGE
        assert combined.candidates == ["a", "b"]
        # Flat, so that either direction holds; no lead is the largest possible one.
        assert combined.direction is not None
        assert combined.highest is None
        assert not combined.monotone


def test_one_candidate_scores_zero():
    part = dp.Objective([3.0], dp.GlobalSensitivity(7, EDGE))

    assert dp.margin([part]).scores.tolist() == [0]
    assert local_margin([part]).scores.tolist() == [0]


def test_identical_candidates_on_the_front_score_zero():
    part = dp.Objective([3, 3, 1], dp.GlobalSensitivity(1, EDGE))

    assert dp.margin([part, part]).scores.tolist() == [0, 0, -1]
    assert local_margin([part, part]).scores.tolist() == [0, 0, -1]


def test_equal_scores_are_no_step_apart_where_nothing_can_change():
    """Up to the horizon a sensitivity of 0: what differs is beyond it, what ties is not."""
    still = dp.ElementSensitivity(lambda _: [0.0, 0.0, 0.0], 0.25, 4, EDGE)
    parts = [dp.Objective([0, 1, 0], still), dp.Objective([0, 0, 0], still)]

    assert local_margin(parts).scores.tolist() == [0, 6, 0]
    assert local_margin(parts[:1]).scores.tolist() == [-6, 6, -6]


@pytest.mark.slow
@given(several_objectives())
def test_nobody_on_the_front_is_beaten(objectives):
    front = pareto_front(objectives)
    beaten = np.flatnonzero(dp.margin(objectives).scores < 0)

    assert not set(front) & set(beaten)


@pytest.mark.slow
@given(
    several_objectives(),
    st.floats(0.05, 8),
    st.floats(0.01, 0.9),
    st.sampled_from(["em", "pf"]),
)
def test_a_draw_is_beaten_by_little_in_all_objectives_at_once(
    objectives, epsilon, beta, mechanism
):
    """The theorem of the docstring, on the exact law."""
    chosen = dp.ExponentialMechanism if mechanism == "em" else dp.PermuteAndFlip
    law = chosen(epsilon=epsilon).probabilities(dp.margin(objectives))
    n = law.size
    allowed = {
        part: (2 if part.monotone else 4)
        * part.sensitivity.bounds.max()
        / epsilon
        * log(n / beta)
        for part in objectives
    }
    beaten = [
        any(
            all(part.scores[rival] - part.scores[r] > allowed[part] for part in objectives)
            for rival in range(n)
        )
        for r in range(n)
    ]

    assert law[beaten].sum() <= beta


def test_simulated_draws_keep_the_theorem():
    """Seeded; with 37 nats to spare no run of 20,000 leaves the bound, as beta asks."""
    rng = np.random.default_rng(8)
    scores = rng.integers(0, 500, (2, 200))
    parts = [dp.Objective(u, dp.GlobalSensitivity(1, EDGE)) for u in scores]
    drawn = dp.ExponentialMechanism(epsilon=0.5).simulate(
        dp.margin(parts), size=20_000, rng=rng
    )
    allowed = 4 / 0.5 * log(200 / 0.05)
    ahead = (scores[:, None, :] - scores[:, :, None] > allowed).all(axis=0).any(axis=1)

    assert ahead[np.asarray(drawn)].mean() <= 0.05
    assert ahead.any()
