"""Maps: what they cost, what they may say, and what they refuse before they spend."""

from fractions import Fraction
from math import exp

import numpy as np
import opendp.prelude as opendp
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.draws.exact.noisy_counts import scale_for
from dpselect.maps import (
    Quadtree,
    RelativeClipped,
    Weighted,
    grid_error,
)
from dpselect.maps.partition import standard_deviation
from dpselect.mechanisms import sequence
from dpselect.tables.groups import changed_rows

ADD_REMOVE, SUBSTITUTE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
relations = pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE], ids=str)
UNIT = (0, 0, 1, 1)
QUERIES = [[0.1, 0.1, 0.43, 0.3], [0.5, 0.2, 0.9, 0.95]]
SAMPLE = np.random.default_rng(5).beta(2, 5, (3000, 2))


VALID = {
    "bounds": UNIT,
    "grids": [4, 9, 20],
    "queries": QUERIES,
    "epsilon": 2.0,
    "neighbours": ADD_REMOVE,
}


def release(points=SAMPLE, *, budget=None, **arguments):
    return dp.Map(**{**VALID, **arguments}).release(points, budget=budget)


def plan(**arguments):
    return dp.Map(**{**VALID, **arguments}).plan


def parts(plan):
    """Epsilon of every step, by its purpose."""
    return {spend.purpose: spend.epsilon for spend in plan.spends}


COARSE, CHOICE = "counts of a coarse grid of 16 x 16", "choice of the partition"
COUNTS = "counts of the cells"


@given(
    st.floats(1e-3, 50),
    st.floats(1e-3, 0.999),
    st.sampled_from([(), "quadtree", ("quadtree", "guideline")]),
    st.sampled_from(["relative", "absolute"]),
)
def test_the_parts_never_cost_more_than_the_whole(epsilon, tuning_share, method, measure):
    split = plan(epsilon=epsilon, tuning_share=tuning_share, method=method, measure=measure)
    exact = [Fraction(spend.epsilon) for spend in split.spends]

    assert sum(exact) <= Fraction(epsilon)
    assert sum(exact) >= Fraction(epsilon) * (1 - Fraction(1, 2**50))


def test_a_single_candidate_leaves_all_to_the_counts():
    assert parts(plan(grids=[6], epsilon=0.5)) == {COUNTS: 0.5}
    assert release(grids=[6]).coarse is None
    assert release(grids=[6]).scale == pytest.approx(1 / 2.0)


@pytest.mark.parametrize(
    ("method", "name"), [(None, "quadtree"), (Quadtree(c=10), "quadtree"), ("guideline",) * 2]
)
def test_a_rule_alone_needs_no_choice(method, name):
    alone = plan(grids=[], method=method, epsilon=1.0, tuning_share=0.25)

    assert parts(alone) == {COARSE: 0.25, COUNTS: np.nextafter(0.75, 0)}
    assert name in alone.mechanism
    [cells] = release(grids=[], method=method).candidates
    assert cells.startswith(name)


def test_without_weights_from_it_there_is_no_coarse_grid_unless_a_rule_needs_one():
    for measure in ("absolute", Weighted(neighbours=ADD_REMOVE, weights=[1.0, 3.0])):
        tuned = parts(plan(measure=measure, epsilon=1.0, tuning_share=0.25))
        assert tuned == {CHOICE: 0.25, COUNTS: np.nextafter(0.75, 0)}
        assert release(measure=measure).coarse is None
    assert parts(plan(measure="absolute", method="adaptive")).keys() == {
        COARSE, CHOICE, COUNTS
    }  # fmt: skip


@relations
@pytest.mark.parametrize(
    ("asked", "measure"),
    [
        ({"measure": "absolute"}, Weighted),
        ({"measure": "relative-clipped", "floor": 30.0}, RelativeClipped),
    ],
)
@pytest.mark.parametrize("mechanism", ["exponential", "generalized"])
def test_the_objective_of_the_choice_is_the_one_that_was_asked_for(
    relation, asked, measure, mechanism, monkeypatch
):
    kind, drawn = dp.mechanisms.MECHANISMS[mechanism], []
    draw = kind.draw_positions
    monkeypatch.setattr(kind, "draw_positions", lambda *of: drawn.append(of) or draw(*of))
    made = release(**asked, mechanism=mechanism, neighbours=relation)
    [(used, objective)] = drawn
    more = {name: one for name, one in asked.items() if name != "measure"}
    expected = grid_error(
        *SAMPLE.T,
        bounds=UNIT,
        grids=[4, 9, 20],
        queries=QUERIES,
        scale=made.scale,
        measure=measure(neighbours=relation, **more),
    )

    assert (used.epsilon, made.coarse) == (0.4, None)
    assert used.name in made.plan.mechanism
    assert objective.scores.tolist() == expected.scores.tolist()
    assert objective.sensitivity.bounds.tolist() == expected.sensitivity.bounds.tolist()


def test_without_queries_a_map_is_tuned_for_even_ones_and_only_where_something_is_tuned():
    even = {**VALID, "queries": dp.maps.even_queries(UNIT)}
    none = {**VALID, "queries": None}

    assert dp.Map(**none).design().queries.tolist() == dp.Map(**even).design().queries.tolist()
    assert "the queries" not in dp.Map(**none).plan.public
    assert len(dp.Map(**{**none, "grids": [4]}).design().queries) == 0
    assert len(dp.Map(**{**none, "grids": []}).design().queries) == 0


@relations
def test_the_choice_has_the_rho_of_its_draw_and_noisy_counts_that_of_pure_steps(relation):
    stated = plan(neighbours=relation)
    coarse, choice, counts = (spend.epsilon for spend in stated.spends)
    draw = dp.PermuteAndFlip(epsilon=choice).spend("").rho_of_all

    assert stated.neighbours is relation
    assert stated.rho == pytest.approx(draw + sum(e * np.tanh(e / 2) for e in (coarse, counts)))


@pytest.mark.slow
@relations
@pytest.mark.parametrize("max_per_user", [1, 7])
@given(epsilon=st.floats(1e-3, 50))
def test_the_noise_pays_for_what_one_individual_changes(relation, max_per_user, epsilon):
    """One who comes changes one count by one; one who moves, two counts."""
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    draw = opendp.m.make_laplace(
        *space, scale=scale_for(epsilon, changed_rows(max_per_user, relation))
    )
    change = max_per_user * (1 if relation is ADD_REMOVE else 2)

    assert draw.map(change) <= epsilon * (1 + 1e-9)
    assert draw.map(change) >= epsilon * (1 - 1e-9)


@pytest.mark.parametrize("scale", [0.4, 1.7, 30.0])
def test_the_stated_deviation_is_that_of_the_noise(scale):
    ratio, wide = exp(-1 / scale), np.arange(-2000, 2001)
    second_moment = ((1 - ratio) / (1 + ratio) * ratio ** np.abs(wide) * wide**2).sum()

    assert standard_deviation(scale) == pytest.approx(second_moment**0.5)


points = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True)),
    min_size=1,
    max_size=6,
)


def test_many_points_find_a_fine_grid_and_few_a_coarse_one():
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 0.9, (50, 2))
    queries = np.column_stack([corners, corners + rng.uniform(0.02, 0.1, (50, 2))])
    points = rng.beta(2, 9, (200_000, 2))
    many = release(points, grids=[2, 100], queries=queries, epsilon=20.0)
    few = release(points[:500], grids=[2, 1000], queries=queries, tuning_share=0.5)

    # Both errors differ by hundreds of times the noise of the choice.
    assert many.candidate == "uniform 100 x 100"
    assert few.candidate == "uniform 2 x 2"


def test_noise_on_the_errors_of_grids_is_made_for_all_of_them(monkeypatch):
    """A mechanism that knows the facts of one partition would add a third of it."""
    seen, real = [], sequence.to_steps

    def noted(scores, l1, *rest):
        seen.append((len(scores), l1))
        return real(scores, l1, *rest)

    monkeypatch.setattr(sequence, "to_steps", noted)
    for grids in ([3, 4], [3, 4, 5, 6, 7, 8]):
        release(grids=grids, measure="absolute", mechanism="noisy-sequence")

    drawn = dict(seen)
    assert drawn[6] > 2.5 * drawn[2]
    assert drawn[2] > 1
