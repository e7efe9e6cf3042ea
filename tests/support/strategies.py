"""Hypothesis strategies and brute-force definitions that several tests share."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

import dpselect as dp
from dpselect.draws import Exponential, LaplaceNoisyMax, PermuteAndFlip

every_draw = pytest.mark.parametrize(
    "draw", [Exponential(), PermuteAndFlip(), LaplaceNoisyMax()], ids=lambda draw: draw.name
)
epsilons = st.floats(0.01, 20)
quarters = st.integers(0, 12).map(lambda q: q / 4)


@st.composite
def element_objectives(draw, *, least=1, most=6, monotone=False):
    """An objective whose sensitivity is a table: non-decreasing in t, zeros allowed."""
    n = draw(st.integers(least, most))
    horizon = draw(st.integers(0, 6))
    scores = draw(st.lists(st.integers(-40, 40).map(lambda q: q / 4), min_size=n, max_size=n))
    steps = draw(st.lists(st.lists(quarters, min_size=n, max_size=n), min_size=7, max_size=7))
    table = np.cumsum(np.array(steps), axis=0) / 4
    bound = draw(st.floats(0.25, 8))
    sensitivity = dp.ElementSensitivity(
        lambda t: table[min(t, 6)], bound, dp.Neighbours.EDGE, horizon=horizon
    )
    return dp.Objective(scores, sensitivity, monotone=monotone)


@st.composite
def any_sensitivity(draw, n):
    """A sensitivity of any class, in quarters, so that sums are exact and ties happen."""
    horizon = draw(st.integers(0, 8))
    table = np.cumsum([*draw(st.lists(quarters, min_size=1, max_size=4)), 0.25])
    keys = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    each = draw(st.lists(st.sampled_from([0.25, 1.0, 2.0]), min_size=n, max_size=n))
    kinds = {
        "global": lambda: dp.GlobalSensitivity(
            draw(st.sampled_from([0.25, 1.0])), dp.Neighbours.EDGE
        ),
        "global each": lambda: dp.GlobalSensitivity(each, dp.Neighbours.EDGE, horizon=horizon),
        "local": lambda: dp.LocalSensitivity(
            lambda t: table[min(t, 1)], 4.0, dp.Neighbours.EDGE, horizon=horizon
        ),
        "tabulated": lambda: dp.TabulatedSensitivity(
            table, keys, 4.0, dp.Neighbours.EDGE, horizon=horizon
        ),
        "element": lambda: dp.ElementSensitivity(
            lambda t: table[np.minimum(np.array(keys) + t, table.size - 1)],
            4.0,
            dp.Neighbours.EDGE,
            horizon=horizon,
        ),
    }
    return kinds[draw(st.sampled_from(sorted(kinds)))]()


@st.composite
def several_objectives(draw, *, most=4, most_candidates=7):
    """Up to ``most`` objectives on the same candidates."""
    m, n = draw(st.integers(1, most)), draw(st.integers(1, most_candidates))
    return [
        dp.Objective(
            draw(st.lists(st.integers(-6, 6).map(lambda q: q / 2), min_size=n, max_size=n)),
            draw(any_sensitivity(n)),
            monotone=draw(st.booleans()),
        )
        for _ in range(m)
    ]


def dominates(a, b, dominance="standard"):
    """Definition 4.3, which prints the weak kind, and the two others."""
    if dominance == "strict":
        return all(x > y for x, y in zip(a, b, strict=True))
    return all(x >= y for x, y in zip(a, b, strict=True)) and (dominance == "weak" or a != b)


def sum_by_definition(sensitivity, distance, candidate, size):
    """The first ``distance`` values of a sensitivity, added one by one."""
    values = (np.broadcast_to(sensitivity.at(j), size)[candidate] for j in range(distance))
    return float(sum(values))


def dampened_by_definition(value, widths):
    """Definition 12 for one value, given the sensitivity at 0, 1, 2, ..., the last one > 0.

    It is that of the distance to 0, with the sign of the value: of all integers ``i`` the value
    is in one interval from ``b_i`` on and below ``b_(i+1)``, where ``b_(-i) = -b_i``.
    """
    sign, left = (1, value) if value >= 0 else (-1, -value)
    for steps, width in enumerate(widths[:-1]):
        if left < width:
            return sign * (steps + left / width)
        left -= width
    return sign * (len(widths) - 1 + left / widths[-1])


def widths_of(sensitivity, size, *candidates, combine=sum):
    """The sensitivity of one candidate, or of a pair, at all distances up to the horizon."""
    every = (np.broadcast_to(sensitivity.at(t), size) for t in range(sensitivity.horizon + 1))
    return [combine([float(one[r]) for r in candidates]) for one in every]


def exact_scores(objective):
    """Return the scores with all their digits."""
    pairs = zip(objective.scores.tolist(), objective.low_order.tolist(), strict=True)
    return [Fraction(score) + Fraction(rest) for score, rest in pairs]
