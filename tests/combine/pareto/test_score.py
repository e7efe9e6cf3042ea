"""The Pareto score and its sensitivity, against the definitions written out."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect import scaling, trees
from dpselect.combine import ParetoSensitivity, pareto_front
from dpselect.combine.pareto import sensitivity as module
from support.strategies import (
    dampened_by_definition,
    element_objectives,
    several_objectives,
    widths_of,
)

EDGE = dp.Neighbours.EDGE
dominances = st.sampled_from(["standard", "weak", "strict"])


def moved(objective, steps, towards):
    """Scores as far up or down as ``steps`` neighbour steps can move them."""
    total = np.broadcast_to(objective.sensitivity.cumulative(steps), len(objective))
    halved = objective.monotone and objective.sensitivity.flat
    return objective.scores + towards * (0.5 if halved else 1.0) * total


def dominates(objectives, rival, candidate, dominance="standard"):
    pairs = [(part.scores[rival], part.scores[candidate]) for part in objectives]
    better = [a > b for a, b in pairs]
    if dominance == "strict":
        return all(better)
    return (dominance == "weak" or any(better)) and all(a >= b for a, b in pairs)


def possible(objectives, steps, rival, candidate):
    return all(
        moved(part, steps, 1)[rival] >= moved(part, steps, -1)[candidate] for part in objectives
    )


def sure(objectives, steps, rival, candidate):
    return all(
        moved(part, steps, -1)[rival] > moved(part, steps, 1)[candidate] for part in objectives
    )


def definition(objectives, distance, candidate, dominance):
    """Definition 4.5, directional: the four sets of rivals, by name."""
    rivals = [r for r in range(len(objectives[0])) if r != candidate]
    dominating = {r for r in rivals if dominates(objectives, r, candidate, dominance)}

    def ceasing(t):
        kept = {r for r in rivals if t >= 0 and not sure(objectives, t + 1, r, candidate)}
        return len(dominating & kept)

    def beginning(t):
        come = {r for r in rivals if t >= 0 and possible(objectives, t + 1, r, candidate)}
        return len(come - dominating)

    return max(
        ceasing(distance - 1) + beginning(distance), ceasing(distance) + beginning(distance - 1)
    )


@given(several_objectives(), st.integers(0, 6), dominances)
def test_score_and_sensitivity_equal_their_definitions(objectives, distance, dominance):
    objective = dp.pareto(objectives, dominance=dominance, horizon=9)
    everyone = range(len(objective))
    pairs = [[dominates(objectives, s, r, dominance) for s in everyone] for r in everyone]
    deltas = [definition(objectives, distance, r, dominance) for r in everyone]

    others = [sum(row) - row[r] for r, row in enumerate(pairs)]
    assert objective.scores.tolist() == [-others[r] for r in everyone]
    found = np.broadcast_to(objective.sensitivity.at(distance), len(objective))
    assert found.tolist() == (deltas if len(objective) > 1 else [1])


@given(several_objectives(), st.integers(0, 6))
def test_possible_less_sure_is_what_can_begin_and_cease(objectives, distance):
    """The identity of errata 2.6: |dom-| + |ndom+| = #possible - #sure."""
    n = len(objectives[0])
    for candidate in range(n):
        rivals = [r for r in range(n) if r != candidate]
        now = {r for r in rivals if dominates(objectives, r, candidate)}
        may = {r for r in rivals if possible(objectives, distance + 1, r, candidate)}
        must = {r for r in rivals if sure(objectives, distance + 1, r, candidate)}

        assert must <= now <= may
        assert len(now - must) + len(may - now) == len(may) - len(must)


@given(several_objectives(), st.integers(0, 12))
def test_scores_and_sensitivity_are_bounded_by_the_number_of_rivals(objectives, distance):
    objective = dp.pareto(objectives, horizon=9)
    n = len(objective)

    assert objective.sensitivity.bound == max(n - 1, 1)
    assert (objective.scores <= 0).all()
    assert (objective.scores >= -(n - 1)).all()
    assert (objective.sensitivity.at(distance) <= objective.sensitivity.bound).all()


@given(several_objectives(), st.integers(0, 12), dominances)
def test_the_shortfall_adds_what_every_distance_falls_short(objectives, horizon, dominance):
    sensitivity = ParetoSensitivity(objectives, horizon, dominance=dominance)
    expected = sum((sensitivity.bound - sensitivity.at(t) for t in range(horizon)), 0.0)

    assert (sensitivity.shortfall() == expected).all()


@given(several_objectives(most_candidates=5), st.integers(0, 12))
def test_the_shortfall_is_the_same_distance_by_distance(objectives, horizon):
    expected = ParetoSensitivity(objectives, horizon).shortfall()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LARGEST_TABLE", -1)

        assert (ParetoSensitivity(objectives, horizon).shortfall() == expected).all()


@given(
    several_objectives(),
    st.integers(0, 12),
    st.lists(st.floats(0, 40), min_size=7, max_size=7),
    st.sampled_from([0, module.FEW]),
)
def test_locate_finds_the_intervals_that_the_base_class_finds(
    objectives, horizon, heights, few
):
    sensitivity = ParetoSensitivity(objectives, horizon)
    heights = np.array(heights[: len(objectives[0])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW", few)
        found = sensitivity.locate(heights)

    expected = super(type(sensitivity), sensitivity).locate(heights)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours == theirs)[heights > 0].all()


@given(st.lists(st.integers(0, 300), min_size=2, max_size=20), st.integers(0, 300))
def test_few_candidates_are_located_as_many_are(hits, misses):
    """Rates of classes so large that a walk takes several blocks of distances."""
    total = max(hits) + misses + 1
    rates = [
        trees.true_positive_rate(some, total, neighbours="add-remove")
        for some in (hits, hits[::-1])
    ]
    objective = dp.pareto(rates)
    few = scaling.dampened(objective)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW", 0)

        assert (scaling.dampened(objective) == few).all()


@given(several_objectives(), st.integers(0, 5))
def test_dampened_scores_follow_the_definition(objectives, horizon):
    objective = dp.pareto(objectives, horizon=horizon)
    n = len(objective)
    expected = [
        dampened_by_definition(u, widths_of(objective.sensitivity, n, r))
        for r, u in enumerate(objective.scores)
    ]

    assert dp.scaling.dampened(objective) == pytest.approx(expected)


def test_many_groups_take_the_same_path_as_few():
    """Large enough for every algorithm, small enough to add distance by distance."""
    rng = np.random.default_rng(5)
    keys = rng.integers(0, 9, 700)
    table = np.cumsum(np.full(12, 0.125))
    parts = [
        dp.Objective(rng.integers(0, 30, 700), dp.GlobalSensitivity(1, EDGE)),
        dp.Objective(
            rng.integers(0, 40, 700) / 4, dp.TabulatedSensitivity(table, keys, 2.0, 50, EDGE)
        ),
    ]
    sensitivity = ParetoSensitivity(parts, 60)
    by_distance = sum((sensitivity.bound - sensitivity.at(t) for t in range(60)), 0.0)

    assert (sensitivity.shortfall() == by_distance).all()


def test_identical_candidates_dominate_each_other_only_in_the_weak_sense():
    one = dp.GlobalSensitivity(1, EDGE)
    parts = [dp.Objective([3, 3, 1], one), dp.Objective([4, 4, 4], one)]

    assert dp.pareto(parts).scores.tolist() == [0, 0, -2]
    assert dp.pareto(parts, dominance="weak").scores.tolist() == [-1, -1, -2]
    assert dp.pareto(parts, dominance="strict").scores.tolist() == [0, 0, 0]


def test_one_candidate_is_drawn_by_every_mechanism():
    part = dp.Objective([3.0], dp.GlobalSensitivity(1, EDGE))
    objective = dp.pareto([part, part])

    assert objective.scores.tolist() == [0]
    assert dp.LocalDampening(epsilon=1.0).probabilities(objective).tolist() == [1]
    shifted = dp.ShiftedLocalDampening(epsilon=1.0, direction="non-increasing")
    assert shifted.probabilities(objective).tolist() == [1]


def test_the_horizon_is_the_largest_of_the_objectives_unless_it_is_given():
    parts = [
        dp.Objective([1, 2], dp.GlobalSensitivity(1, EDGE, horizon=horizon))
        for horizon in (3, 8)
    ]

    assert dp.pareto(parts).sensitivity.horizon == 8
    assert dp.pareto(parts, horizon=2).sensitivity.at(2).tolist() == [1, 1]


def test_a_candidate_counts_no_more_than_its_rivals_as_in_example_4_6():
    """The paper counts two, the candidate itself and a rival; errata, row 4, has one."""
    parts = [
        dp.Objective([5.0, 5.0], dp.GlobalSensitivity(1, EDGE)),
        dp.Objective([1.0, 2.0], dp.GlobalSensitivity(1, EDGE)),
    ]

    assert dp.pareto(parts).sensitivity.at(0).tolist() == [1, 1]


def test_the_front_is_where_the_score_is_zero():
    one = dp.GlobalSensitivity(1, EDGE)
    parts = [dp.Objective([3, 1, 2, 0], one), dp.Objective([0, 4, 2, 2], one)]

    assert pareto_front(parts).tolist() == [0, 1, 2]


def test_candidates_and_neighbours_are_those_of_the_objectives():
    part = dp.Objective([1, 2], dp.GlobalSensitivity(1, EDGE), candidates=["a", "b"])
    objective = dp.pareto([part, part])

    assert objective.candidates == ["a", "b"]
    assert objective.neighbours is EDGE
    assert not objective.monotone


@given(element_objectives())
def test_one_objective_ranks_as_it_does_alone(objective):
    ranks = dp.pareto([objective]).scores

    assert ranks.tolist() == [-np.sum(objective.scores > u) for u in objective.scores]


@given(several_objectives())
def test_the_highest_score_is_zero_and_some_candidate_has_it(objectives):
    objective = dp.pareto(objectives)

    assert objective.highest == 0 == objective.scores.max()


def test_no_direction_is_stated_since_the_likelier_one_does_not_always_hold():
    """A path of three nodes: its middle is the front, and the shift lifts its ends as far."""
    path = dp.networks.Graph.from_edges([(0, 1), (0, 2)], nodes=3)
    objective = dp.pareto([dp.networks.degree(path), dp.networks.ego_betweenness(path)])

    assert objective.direction is None
    assert objective.scores.tolist() == [0, -1, -1]
    assert dp.scaling.shifted(objective, "non-increasing").tolist() == [0, 0, 0]
    assert dp.scaling.pairwise(objective).argmax() == 0
