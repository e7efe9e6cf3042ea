"""Scores of 0 where the first sensitivities are 0: Definition 12, by enumeration.

Databases are a line, one step apart, with scores of both signs for one candidate each; their
sensitivities are the local sensitivities of Definition 5.
"""

from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect import scaling
from dpselect.combine import ParetoSensitivity
from dpselect.percentiles import percentile
from dpselect.scaling import dampening
from dpselect.sensitivity import Sensitivity, grouped, jump_to_bound, weighted_sum
from support.strategies import dampened_by_definition, several_objectives, widths_of

EDGE = dp.Neighbours.EDGE
LINES = np.array(list(product([-1, 0, 1], repeat=5)))


def local_sensitivity(line, place, distance):
    """The largest change by one step within a distance."""
    changes = np.abs(np.diff(line))
    first, last = max(place - distance - 1, 0), min(place + distance, line.size - 2)
    return float(changes[first : last + 1].max())


def objective_of(line, place, *, horizon=8, monotone=False, beside=()):
    """The score at one place, and of candidates that no step changes."""

    def at(distance):
        return np.array([local_sensitivity(line, place, distance), *np.zeros(len(beside))])

    sensitivity = dp.ElementSensitivity(at, 2.0, EDGE, horizon=horizon)
    return dp.Objective([line[place], *beside], sensitivity, monotone=monotone)


def scaled(scale, line):
    return [float(scale(objective_of(line, place))[0]) for place in range(line.size)]


def largest_step(scale):
    return max(
        abs(one - other) for line in LINES for one, other in pairwise(scaled(scale, line))
    )


def test_dampened_scores_are_those_of_the_definition_and_move_by_one():
    leads = []
    for line in LINES:
        scores = scaled(scaling.dampened, line)
        for place, score in enumerate(scores):
            widths = widths_of(objective_of(line, place).sensitivity, 1, 0)
            assert score == dampened_by_definition(line[place], widths)
        leads += [one for one, value in zip(scores, line, strict=True) if value == 0]

    assert largest_step(scaling.dampened) == 1
    assert set(leads) == {0, 1, 2, 3, 8}


@pytest.mark.parametrize("anchor", [-1.0, -0.5, 0.0, 1.0])
def test_anchored_scores_are_those_of_the_definition_and_move_by_one(anchor):
    anchored = partial(scaling.anchored, anchor=anchor)
    for line in LINES[::7]:
        for place, score in enumerate(scaled(anchored, line)):
            widths = widths_of(objective_of(line, place).sensitivity, 1, 0)
            assert score == dampened_by_definition(line[place] - anchor, widths)

    assert largest_step(anchored) == 1


@pytest.mark.parametrize("longest", [0, 1, 2, 3])
def test_a_lead_can_be_cut_anywhere(longest, monkeypatch):
    monkeypatch.setattr(dampening, "LONGEST_LEAD", longest)

    assert largest_step(scaling.dampened) == 1
    assert scaled(scaling.dampened, np.zeros(6)) == [longest] * 6


def test_ties_of_one_direction_lead_each_other():
    """Both may move one way only, so that the larger sensitivity of both counts."""
    line = np.array([0.0, 0, 0, 0, 1, 1])
    scores = [
        scaling.pairwise(objective_of(line, place, monotone=True, beside=[0.0, -1.0]))
        for place in range(6)
    ]

    assert [one.tolist() for one in scores[:4]] == [
        [3, 3, -8.5],
        [2, 2, -8.5],
        [1, 1, -8.5],
        [0, 0, -8.5],
    ]
    assert max(np.abs(a - b).max() for a, b in pairwise(scores)) == 1


def test_ties_by_one_sensitivity_lead_each_other():
    flat = dp.LocalSensitivity(lambda t: 0.5 * max(t - 1, 0), 1.0, EDGE, horizon=9)
    objective = dp.Objective([2.0, 2.0, 1.0], flat)

    assert scaling.pairwise(objective).tolist() == [2, 2, -3]


def test_where_all_tie_no_distance_is_looked_at():
    """There may be 2^40 of them."""

    def few(t):
        assert t < 9
        return [1.0, 2.0]

    several = dp.ElementSensitivity(few, 3.0, EDGE, horizon=2**40)
    assert scaling.pairwise(dp.Objective([2.0, 2.0], several)).tolist() == [0, 0]


def test_the_record_at_a_percentile_leads_where_no_other_can_replace_it():
    """The least of values at both ends; at 1e-17 its sensitivity is 1e-17, not 0."""
    still, moved = (percentile([x, 1.0], p=1, upper=1.0, horizon=9) for x in (0.0, 1e-17))

    assert still.sensitivity.at(0).tolist() == [0, 1]
    assert moved.sensitivity.at(0).tolist() == [1e-17, 1]
    assert scaling.dampened(still).tolist() == [1, -1]
    assert scaling.dampened(moved).tolist() == [0, -1]


def forms(objectives):
    """Sensitivities that count leading zeros in a way of their own, or through others."""
    single = ParetoSensitivity(objectives, 30)
    everyone = np.arange(len(objectives[0]))
    yield single.take(everyone[::-1]), everyone.size
    yield grouped(single, 3, neighbours=EDGE), everyone.size
    yield jump_to_bound(single, 4), everyone.size
    yield weighted_sum([single, single], [2.0, -1.0]), everyone.size
    yield objectives[0].sensitivity, everyone.size


@given(several_objectives(most=2, most_candidates=4), st.integers(0, 9))
def test_leading_zeros_of_what_is_made_of_others(objectives, most):
    for sensitivity, size in forms(objectives):
        everyone = np.arange(size)
        expected = Sensitivity.leading_zeros(sensitivity, everyone, most)
        assert sensitivity.leading_zeros(everyone, most).tolist() == expected.tolist()
