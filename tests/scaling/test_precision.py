"""Computed unit scores against the same in fractions: the error that the grid pays for."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import dpselect as dp
from dpselect import scaling
from dpselect.draws import grid
from dpselect.scaling.pairs import FLOOR
from support.strategies import dampened_by_definition, exact_scores

EDGE = dp.Neighbours.EDGE
PAID = Fraction(2) ** -49
PAID_AT_ALL = Fraction(2) ** -19


def clamped(scores):
    limit = Fraction(grid.LIMIT)
    return [max(-limit, min(limit, score)) for score in scores]


def brought_near(scores):
    """Translate all, so that the best one is its nearest number within 2^29."""
    best = max(scores)
    return [one - best + max(-(2**29), min(2**29, best)) for one in scores]


def assert_paid(computed, exact):
    assert np.isfinite(computed).all()
    for got, score in zip(
        clamped(map(Fraction, computed.tolist())), clamped(exact), strict=True
    ):
        assert abs(got - score) <= min(PAID * (abs(score) + 1), PAID_AT_ALL)


bases = st.sampled_from([0, 2**51, 2**53, 2**60, 2**62, -(2**60), 10**15])
integers = st.tuples(bases, st.lists(st.integers(-300, 300), min_size=1, max_size=6)).map(
    lambda drawn: [drawn[0] + step for step in drawn[1]]
)
floats = st.tuples(
    st.sampled_from([0.0, 1e15, 2.0**51, -1e300, 1e-3]),
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6),
).map(lambda drawn: [drawn[0] + step for step in drawn[1]])
anywhere = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6)
bounds = st.sampled_from([1.0, 0.3, 1e-200, 1e200, 7e-12, 1e9]) | st.floats(1e-200, 1e200)


@given(integers | floats | anywhere, bounds, st.booleans())
def test_by_global_errs_by_what_the_grid_pays_for(scores, bound, monotone):
    objective = dp.Objective(scores, dp.GlobalSensitivity(bound, EDGE), monotone=monotone)
    exact = exact_scores(objective)
    share = (2 if monotone else 1) / Fraction(bound)

    assert_paid(scaling.by_global(objective), [share * (u - max(exact)) for u in exact])


@given(st.lists(st.integers(-(2**105), 2**105), min_size=1, max_size=4))
def test_integers_are_kept_exactly(scores):
    assert exact_scores(dp.Objective(scores, dp.GlobalSensitivity(1, EDGE))) == scores


def test_one_float_among_integers_changes_no_other_score():
    both = [2**60 + 1, 2**60 + 2]
    for other in (3, 3.5):
        objective = dp.Objective([*both, other], dp.GlobalSensitivity(1, EDGE))
        assert exact_scores(objective)[:2] == both


@given(
    integers | floats,
    st.lists(st.sampled_from([1.0, 0.3, 1e-6, 1e-12, 1e6]), min_size=6, max_size=6),
    st.sampled_from([0.0, 0.5, 1e3, 2.0**40]),
)
@example([23.0, 6.0, 12.0, 58.0], [7.0, 1.0, 1.0, 18.0], 0.0)
@example([3 * 2**60 + 50, 2 * 2**60 + 40, 2**60], [3 * 2.0**20, 2.0**21, 2.0**20], 2.0**40)
def test_generalized_errs_by_what_the_grid_pays_for(scores, widths, t):
    """Before: with t = 1e17 all scores lost (7.3 units)."""
    widths = widths[: len(scores)]
    objective = dp.Objective(scores, dp.GlobalSensitivity(widths, EDGE))

    assert_paid(scaling.generalized(objective, t), least_leads(objective, t))


def least_leads(objective, t):
    """The definition, over all pairs."""
    widths = objective.sensitivity.bounds.tolist()
    floor = Fraction(FLOOR) * Fraction(max(widths))
    delta = [max(Fraction(width), floor) for width in widths]
    exact = exact_scores(objective)
    penalised = [u - Fraction(t) * d for u, d in zip(exact, delta, strict=True)]
    both = list(zip(penalised, delta, strict=True))
    return [min((a - b) / (d + e) for b, e in both) for a, d in both]


@given(
    st.lists(st.integers(-2, 2), min_size=2, max_size=40),
    st.sampled_from([1.0, 1.01, 1.5]),
    st.sampled_from([0.5, 0.9, 1.0]),
    st.sampled_from([0.0, 1e12]),
    st.sampled_from([0.0, 0.3]),
)
@example([0] * 40, 1.01, 0.9, 0.0, 0.0)
def test_many_that_rise_together_err_by_what_the_grid_pays_for(steps, growth, bend, base, t):
    """Each a few roundings off one curve, by which no corner of many may be lost."""
    widths = np.cumsum(growth ** np.arange(len(steps)))
    scores = base + widths**bend
    scores += np.spacing(scores) * steps
    objective = dp.Objective(scores, dp.GlobalSensitivity(widths, EDGE))

    assert_paid(scaling.generalized(objective, t), least_leads(objective, t))


@pytest.mark.parametrize("digits", range(20, 60))
def test_a_slope_that_is_nearly_the_ratio_leads_to_no_corner_too_far(digits):
    """The wide candidate is behind the ratio of the second by a part of 2^-digits."""
    wide = 2.0**20
    scores = [0.0, 2.0, 2 + (wide - 1) * (1 - 2.0**-digits)]
    objective = dp.Objective(scores, dp.GlobalSensitivity([1.0, 1.0, wide], EDGE))

    assert_paid(scaling.generalized(objective, 0.0), least_leads(objective, 0.0))


@pytest.mark.parametrize("bend", [0.3, 0.5, 1.0, 2.0])
def test_twenty_thousand_that_rise_together(bend):
    """All are corners where the scores bend down; all pairs would be 4 * 10^8."""
    widths = 1 + np.arange(20_000) / 50
    scores = 30 * widths**bend
    objective = dp.Objective(scores, dp.GlobalSensitivity(widths, EDGE))
    rows = slice(None, None, 700)
    gaps = scores[rows, None] - scores
    expected = (gaps / (widths[rows, None] + widths)).min(axis=1)

    assert scaling.generalized(objective, 0.0)[rows] == pytest.approx(expected, rel=1e-12)


def widths_exactly(sensitivity, rows, floor=Fraction(0)):
    distances = range(sensitivity.horizon + 1)
    return [
        sum(max(Fraction(float(sensitivity.at(t)[r])), floor) for r in rows) for t in distances
    ]


@st.composite
def local_objectives(draw, scores):
    values = draw(scores)
    n, bound = len(values), draw(st.sampled_from([1.0, 9.0, 1e3]))
    small = st.sampled_from([0.0, 1e-13, 1e-6, 0.1, 0.3, 0.7, 1.0])
    rows = draw(
        st.lists(st.lists(small, min_size=n, max_size=n), min_size=0, max_size=4).map(
            lambda rows: np.cumsum(np.reshape(rows, (len(rows), n)), axis=0)
        )
    )
    horizon = len(rows)
    return dp.Objective(
        values,
        dp.ElementSensitivity(lambda t: rows[t], bound, EDGE, horizon=horizon),
    )


@given(local_objectives(integers | floats))
def test_pairwise_errs_by_what_the_grid_pays_for(objective):
    """Before: 1.012 units at 2^51, where a score and a sum of sensitivities were rounded."""
    exact, sensitivity = exact_scores(objective), objective.sensitivity
    floor = Fraction(FLOOR) * Fraction(sensitivity.bound)
    if len(exact) == 1 or sensitivity.horizon == 0:
        return

    def ahead(r, j):
        widths = widths_exactly(sensitivity, [r, j], floor)
        return dampened_by_definition(exact[r] - exact[j], widths)

    expected = [
        min(ahead(r, j) for j in range(len(exact)) if j != r) for r in range(len(exact))
    ]

    assert_paid(scaling.pairwise(objective), expected)


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=5),
    st.sampled_from([0.0, 1e15, 2.0**50]),
    st.sampled_from([(1.0, 1.0), (0.1, 3.0), (-0.7, 1e-3)]),
)
@example([(0, 1), (1, 0)], 1e15, (0.1, 3.0))
def test_a_sum_moves_by_no_more_than_its_sensitivity(pairs, offset, weights):
    """Before: 1.06 of the bound at a score of 1e15 sensitivities."""
    one = dp.GlobalSensitivity(1, EDGE)

    def total(rows):
        # Floats that one step moves by exactly 1, beside others far away.
        parts = zip(*rows, strict=True)
        scores = [np.array(part, float) / 16 for part in parts]
        return dp.weighted_sum(
            [dp.Objective(scores[0], one), dp.Objective(scores[1] + offset, one)], weights
        )

    before = total(pairs)
    after = total([(a + (16 if i % 2 else -16), b) for i, (a, b) in enumerate(pairs)])
    moved = [y - x for x, y in zip(exact_scores(before), exact_scores(after), strict=True)]
    allowed = (
        abs(Fraction(weights[0])) + Fraction(before.sensitivity.bound) * Fraction(2) ** -30
    )

    assert max(map(abs, moved)) <= allowed


@pytest.mark.slow
@given(
    local_objectives(integers | floats), st.sampled_from(["non-decreasing", "non-increasing"])
)
def test_shifted_errs_by_what_the_grid_pays_for(objective, direction):
    exact, sensitivity = exact_scores(objective), objective.sensitivity
    if sensitivity.horizon == 0:
        return
    bound, sign = Fraction(sensitivity.bound), -1 if direction == "non-decreasing" else 1
    lacking = [
        sum(bound - width for width in widths_exactly(sensitivity, [r])[:-1])
        for r in range(len(exact))
    ]
    expected = [
        (u - max(exact) + sign * short) / bound for u, short in zip(exact, lacking, strict=True)
    ]

    best = max(expected)
    assert_paid(scaling.shifted(objective, direction), [one - best for one in expected])


@pytest.mark.parametrize("horizon", [2**20, 2**30])
def test_shifted_errs_by_what_the_grid_pays_for_at_long_horizons(horizon):
    table = [0.1, 0.1 + 0.2, 0.7]
    long = dp.TabulatedSensitivity(table, [0, 1, 2], 1.0, EDGE, horizon=horizon)
    objective = dp.Objective([0.3, 0.2, 0.1], long)
    widths = [Fraction(width) for width in table]
    lacking = [
        horizon - sum(widths[r:]) - (horizon - len(widths[r:])) * widths[-1] for r in range(3)
    ]
    expected = [
        u - Fraction(0.3) - short
        for u, short in zip(exact_scores(objective), lacking, strict=True)
    ]
    expected = [one - max(expected) for one in expected]
    computed = scaling.shifted(objective, "non-decreasing")

    errors = [abs(Fraction(float(s)) - e) for s, e in zip(computed, expected, strict=True)]
    assert max(errors) <= Fraction(2) ** -20


ANCHORS = [0.0, 301.0, -7.5, 2.0**51, 2.0**60, 2.0**62, 1e15, 1e300, -1e300]


@pytest.mark.parametrize("anchors", [[None], ANCHORS], ids=["dampened", "anchored"])
@given(local_objectives(integers | floats), st.data())
def test_dampened_errs_by_what_the_grid_pays_for(anchors, objective, data):
    anchor = data.draw(st.sampled_from(anchors))
    if objective.sensitivity.horizon == 0:
        return
    expected = [
        dampened_by_definition(
            u - Fraction(anchor or 0), widths_exactly(objective.sensitivity, [r])
        )
        for r, u in enumerate(exact_scores(objective))
    ]
    found = scaling.dampened if anchor is None else partial(scaling.anchored, anchor=anchor)

    assert_paid(found(objective), brought_near(expected))


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(
            st.tuples(bases, st.lists(st.integers(-300, 300), min_size=n, max_size=n)).map(
                lambda drawn: [drawn[0] * (i % 2) + step for i, step in enumerate(drawn[1])]
            ),
            min_size=1,
            max_size=3,
        )
    ),
    st.lists(st.sampled_from([1.0, 0.3, 7e-12, 1e9]), min_size=3, max_size=3),
    st.sampled_from([1, 2]),
)
@example([[2**60, 0], [0, 2**60 + 1]], [1.0, 1.0, 1.0], 1)
def test_the_margin_errs_by_what_the_grid_pays_for(scores, widths, sides):
    """Before: leads of 1e15 steps over each other lost what one step changes."""
    parts = [
        dp.Objective(one, dp.GlobalSensitivity(width, EDGE), monotone=sides == 1)
        for one, width in zip(scores, widths, strict=False)
    ]
    exact = list(zip(*(exact_scores(part) for part in parts), strict=True))
    steps = [Fraction(width) * sides for width in widths]

    def lead(j, r):
        return min((b - a) / w for a, b, w in zip(exact[r], exact[j], steps, strict=False))

    n = range(len(exact))
    margins = [-max(lead(j, r) for j in n if j != r) for r in n]
    limit = Fraction(grid.LIMIT)
    expected = [max(-limit, min(limit, one)) for one in margins]
    gaps = [one - max(expected) for one in expected]

    computed = scaling.by_global(dp.margin(parts))
    for got, gap in zip(computed.tolist(), gaps, strict=True):
        assert abs(Fraction(got) - gap) <= PAID_AT_ALL
