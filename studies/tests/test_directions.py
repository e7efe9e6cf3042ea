"""Directions, dominance and tails: Lemma 6 and Corollary 2 in the order that holds."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

import dpselect as dp
from dpselect_studies.farias_2023.directions import check_direction, dominates

EDGE = dp.Neighbours.EDGE
BOUND, HORIZON = 4.0, 4
directions = st.sampled_from(["non-decreasing", "non-increasing"])


def objective_of(scores, table):
    """Scores with the values of a table by distance (rows), and the bound from there on."""
    rows = np.asarray(table, dtype=float)
    sensitivity = dp.ElementSensitivity(lambda t: rows[t], BOUND, EDGE, horizon=len(rows))
    return dp.Objective(scores, sensitivity)


@st.composite
def instances(draw):
    n = draw(st.integers(2, 5))
    scores = draw(st.lists(st.integers(0, 6).map(float), min_size=n, max_size=n))
    row = st.lists(st.integers(0, 4).map(float), min_size=n, max_size=n)
    tables = [draw(st.lists(row, min_size=HORIZON, max_size=HORIZON)) for _ in range(2)]
    return [objective_of(scores, np.sort(table, axis=0)) for table in tables]


def law_of(objective, direction):
    return dp.ShiftedLocalDampening(epsilon=1.0, direction=direction), objective


def never_worse(one, other):
    """By exact laws: no threshold has a larger tail, nor the error a larger mean."""
    (mechanism, objective), (rival, rivals) = one, other
    gaps = objective.scores.max() - objective.scores
    ours, theirs = mechanism.probabilities(objective), rival.probabilities(rivals)
    tails = all(
        ours[gaps >= theta].sum() <= theirs[gaps >= theta].sum() + 1e-12 for theta in gaps
    )
    mean = mechanism.expected_error(objective) <= rival.expected_error(rivals) + 1e-12
    return tails and mean


@pytest.mark.slow
@given(instances(), directions)
def test_a_sensitivity_that_dominates_is_never_worse(pair, direction):
    one, other = pair
    assume(dominates(one, other, direction=direction))

    assert never_worse(law_of(one, direction), law_of(other, direction))


@pytest.mark.slow
@given(instances(), directions)
def test_what_is_never_worse_than_the_exponential_mechanism_is_named(pair, direction):
    one, _ = pair
    whole = dp.Objective(one.scores, dp.GlobalSensitivity(BOUND, EDGE))
    exponential = (dp.ExponentialMechanism(epsilon=1.0), whole)
    named = direction in check_direction(one).never_worse

    assert named == dominates(one, whole, direction=direction)
    if named:
        assert never_worse(law_of(one, direction), exponential)


def test_the_printed_order_of_definition_17_is_worse_where_larger_scores_are_shifted_up_to():
    """Errata: delta = (4, 3, 2, 1) for falling scores; the gaps (0, 1, 2, 3) rise, not fall."""
    falling = objective_of([3.0, 2.0, 1.0, 0.0], [[4, 3, 2, 1]] * HORIZON)
    rising = objective_of([3.0, 2.0, 1.0, 0.0], [[1, 2, 3, 4]] * HORIZON)
    whole = dp.Objective(falling.scores, dp.GlobalSensitivity(BOUND, EDGE))
    exponential = (dp.ExponentialMechanism(epsilon=1.0), whole)

    assert dominates(falling, whole, direction="non-decreasing")
    assert never_worse(law_of(falling, "non-decreasing"), exponential)
    assert not dominates(rising, whole, direction="non-decreasing")  # as printed it would
    assert not never_worse(law_of(rising, "non-decreasing"), exponential)
    assert dominates(rising, whole, direction="non-increasing")


@pytest.mark.slow
@given(instances())
def test_directions_are_those_of_definitions_8_and_9(pair):
    objective, _ = pair
    scores = objective.scores
    tables = [objective.sensitivity.at(t) for t in range(HORIZON)]
    pairs = [(r, s) for r in range(len(scores)) for s in range(len(scores))]
    up = all(d[r] >= d[s] for d in tables for r, s in pairs if scores[r] >= scores[s])
    down = all(d[r] >= d[s] for d in tables for r, s in pairs if scores[r] <= scores[s])
    report = check_direction(objective)

    assert ("non-decreasing" in report.directions, "non-increasing" in report.directions) == (
        up,
        down,
    )
    assert report.stable == (up or down)


@pytest.mark.slow
@given(instances(), directions)
def test_the_flattened_sensitivity_is_the_largest_and_never_worse(pair, direction):
    objective, _ = pair
    sensitivity = objective.sensitivity
    flat = dp.LocalSensitivity(
        lambda t: float(sensitivity.at(t).max()), BOUND, EDGE, horizon=HORIZON
    )
    even = dp.Objective(objective.scores, flat)
    whole = dp.Objective(objective.scores, dp.GlobalSensitivity(BOUND, EDGE))

    for t in range(HORIZON + 2):
        assert flat.at(t).shape == ()
        assert flat.at(t) == objective.sensitivity.at(t).max()
    assert check_direction(even).directions == ("non-decreasing", "non-increasing")
    assert dominates(even, whole, direction=direction)


def test_the_rank_correlation_is_spearmans():
    rng = np.random.default_rng(0)
    scores, row = rng.integers(0, 9, 200).astype(float), rng.integers(0, 3, 200)
    found = check_direction(objective_of(scores, [row + scores / 100])).rank_correlation

    assert found == pytest.approx(stats.spearmanr(scores, row + scores / 100)[0])
    assert check_direction(objective_of([1.0, 1.0], [[1, 2]])).rank_correlation == 0
