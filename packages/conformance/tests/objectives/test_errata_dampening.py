"""The shifted limit, the closure rules and the orientation of Lemma 6."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import dpselect as dp
from dpselect.sensitivity import jump_to_bound, maximum, minimum, weighted_sum

pytestmark = pytest.mark.slow

CUBE = list(product((0, 1), repeat=3))
HORIZON = 5


def neighbours_of(x):
    return [(*x[:i], 1 - x[i], *x[i + 1 :]) for i in range(3)]


def sum_or_first(x):
    """Row 9: the second candidate has three times the first one's sensitivity."""
    return [float(sum(x)), 3.0 * x[0]]


def products(x):
    a, b, c = x
    return [float(a * b * c), float(2 * a * b + c)]


@cache
def local(score, x, t):
    """The local sensitivity by definition, on the cube."""
    if t == 0:
        here = np.array(score(x))
        return np.max([np.abs(here - score(y)) for y in neighbours_of(x)], axis=0)
    return np.max([local(score, y, t - 1) for y in [x, *neighbours_of(x)]], axis=0)


def element(score, x, *, ahead=0, factor=1.0, bound=3.0, horizon=HORIZON):
    return dp.ElementSensitivity(
        lambda t: factor * local(score, x, min(t + ahead, 3)),
        bound,
        dp.Neighbours.SUBSTITUTE,
        horizon=horizon,
    )


def check(score, sensitivity_of, **options):
    return dp.audit.check_admissible(
        lambda x: dp.Objective(score(x), sensitivity_of(x)),
        CUBE,
        dp.Neighbours.SUBSTITUTE,
        **options,
    )


@pytest.mark.parametrize("score", [sum_or_first, products])
def test_the_local_sensitivity_itself_is_admissible_and_tight(score):
    report = check(score, lambda x: element(score, x))

    report.raise_if_failed()
    assert report.tight


class NeverJumps(dp.ElementSensitivity):
    """Row 9: the minimum with the bound, and no jump to it."""

    def at(self, distance):
        return np.minimum(self._local(distance), self.bounds)


def test_row_9_the_minimum_with_the_bound_does_not_reach_it():
    report = check(
        sum_or_first,
        lambda x: NeverJumps(
            lambda t: local(sum_or_first, x, min(t, 3)),
            3.0,
            dp.Neighbours.SUBSTITUTE,
            horizon=HORIZON,
        ),
        scalings={"dampened": dp.scaling.dampened},
    )

    assert "bounded" in report.failed
    assert report.finding("bounded").excess == 2.0
    assert report.finding("condition (i)").ok
    assert report.finding("condition (ii)").ok


def probability_of_the_second(x, horizon):
    objective = dp.Objective(sum_or_first(x), element(sum_or_first, x, horizon=horizon))
    mechanism = dp.ShiftedLocalDampening(epsilon=2.0, direction="non-decreasing")
    return mechanism.probabilities(objective)[1]


def test_row_9_far_beyond_every_horizon_the_shifted_limit_ignores_the_scores():
    assert all(probability_of_the_second(x, 100) > 1 - 1e-12 for x in CUBE)


@pytest.mark.parametrize("horizon", [0, 1, 3, 40])
def test_row_9_any_public_horizon_is_admissible(horizon):
    check(sum_or_first, lambda x: element(sum_or_first, x, horizon=horizon)).raise_if_failed()
    assert probability_of_the_second((1, 1, 1), 0) > probability_of_the_second((0, 1, 1), 0)


@pytest.mark.parametrize(("table", "error"), [((1, 1, 1, 1), 1.344), ((4, 3, 2, 1), 1.193)])
def test_row_13_the_function_that_dominates_as_printed_is_worse(table, error):
    """Definition 17 and Lemma 6 with Definition 15; so the least function need not dominate."""
    local = dp.ElementSensitivity(lambda _: np.array(table), 4.0, dp.Neighbours.EDGE, horizon=1)
    objective = dp.Objective([3.0, 2.0, 1.0, 0.0], local)
    shifted = dp.ShiftedLocalDampening(epsilon=1.0, direction="non-decreasing")
    plain = dp.ExponentialMechanism(epsilon=1.0)

    assert shifted.expected_error(objective) == pytest.approx(error, abs=5e-4)
    if len(set(table)) == 1:
        laws = [one.probabilities(objective) for one in (shifted, plain)]
        assert laws[0] == pytest.approx(laws[1], rel=1e-12)


def both(x):
    return [element(products, x, factor=1.5), element(products, x, ahead=1)]


COMBINATIONS = {
    "maximum": lambda x: maximum(both(x)),
    "minimum": lambda x: minimum(both(x)),
    "minimum with a bound": lambda x: jump_to_bound(
        minimum([*both(x), dp.GlobalSensitivity([1.0, 2.0], dp.Neighbours.SUBSTITUTE)]), 4
    ),
    "floor": lambda x: maximum([element(products, x), dp.GlobalSensitivity(0.7, "substitute")]),
    "jump": lambda x: jump_to_bound(element(products, x), 2),
    "multiple": lambda x: weighted_sum([element(products, x)], [2.5]),
    "mean": lambda x: weighted_sum(both(x), [0.5, 0.5]),
    "one step later": lambda x: element(products, x, ahead=1),
}


@pytest.mark.parametrize("name", COMBINATIONS)
def test_closure_rules_keep_admissibility(name):
    check(products, COMBINATIONS[name]).raise_if_failed()


@pytest.mark.parametrize("stretch", [1, 2])
def test_distances_rounded_up_to_a_grid_are_not_admissible(stretch):
    """Within a stretch of the grid nothing grows, but a neighbour's value is larger."""
    report = check(
        lambda _: [0.0],
        lambda x: dp.ElementSensitivity(
            lambda t: [sum(x) + stretch * -(-t // stretch)],
            9.0,
            dp.Neighbours.SUBSTITUTE,
            horizon=9,
        ),
    )

    assert report.finding("condition (ii)").ok == (stretch == 1)
