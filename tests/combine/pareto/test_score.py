"""The Pareto score and its sensitivity, against the definitions written out."""

import numpy as np
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.combine import ParetoSensitivity
from support.strategies import dominates, several_objectives

EDGE = dp.Neighbours.EDGE
dominances = st.sampled_from(["standard", "weak", "strict"])


def moved(objective, steps, towards):
    """Scores as far up or down as ``steps`` neighbour steps can move them."""
    total = np.broadcast_to(objective.sensitivity.cumulative(steps), len(objective))
    halved = objective.monotone and objective.sensitivity.flat
    return objective.scores + towards * (0.5 if halved else 1.0) * total


def beats(objectives, rival, candidate, dominance):
    points = ([float(part.scores[one]) for part in objectives] for one in (rival, candidate))
    return dominates(*points, dominance)


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
    dominating = {r for r in rivals if beats(objectives, r, candidate, dominance)}

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
    pairs = [[beats(objectives, s, r, dominance) for s in everyone] for r in everyone]
    deltas = [definition(objectives, distance, r, dominance) for r in everyone]

    others = [sum(row) - row[r] for r, row in enumerate(pairs)]
    assert objective.scores.tolist() == [-others[r] for r in everyone]
    found = np.broadcast_to(objective.sensitivity.at(distance), len(objective))
    assert objective.sensitivity.bound == max(len(objective) - 1, 1)
    assert found.tolist() == (deltas if len(objective) > 1 else [1])


@given(several_objectives(), st.integers(0, 12), dominances)
def test_the_shortfall_adds_what_every_distance_falls_short(objectives, horizon, dominance):
    sensitivity = ParetoSensitivity(objectives, horizon, dominance=dominance)
    expected = sum((sensitivity.bound - sensitivity.at(t) for t in range(horizon)), 0.0)

    assert (sensitivity.shortfall() == expected).all()


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
