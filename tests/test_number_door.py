"""One door for numbers: what is drawn from is what was given, digit by digit, or a refusal.

Each public way to make an objective, by each mechanism, for 1, 2 and all candidates, with
scores around 0, 10^15 (with fractions), 2^53 and 2^60. What a sampler is given is compared with
the unit scores in fractions: it may be off by the steps of the grid that are paid for, whatever
the scores are.
"""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import ceil, log2

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st

import dpselect as dp
from dpselect._twofold import Twofold
from dpselect.draws import grid
from dpselect.draws.exact.samplers import intercepted
from dpselect.errors import ScoresError
from support.releases.core import mechanisms_at
from support.strategies import exact_scores

AR = dp.Neighbours.ADD_REMOVE
ANCHOR = 5.0
PAID = Fraction(grid.ROUNDING_STEPS, 2)
"""Half of it for each of two databases, in steps of the grid."""


class Index:
    """An object that is no number and has one."""

    def __repr__(self):
        return "Index()"

    def __index__(self):
        return 2**60 + 1


def twofold(numbers):
    high = np.array([float(number) for number in numbers])
    low = [
        float(Fraction(n) - Fraction(h)) for n, h in zip(numbers, high.tolist(), strict=True)
    ]
    return Twofold(high, np.array(low))


WAYS = {
    "list of integers or floats": list,
    "tuple": tuple,
    "objects": lambda numbers: np.array(numbers, dtype=object),
    "fractions": lambda numbers: [Fraction(number) for number in numbers],
    "decimals": lambda numbers: [Decimal(number) for number in numbers],
    "array of fractions": lambda numbers: np.array([Fraction(number) for number in numbers]),
    "array of decimals": lambda numbers: np.array([Decimal(number) for number in numbers]),
    "pandas decimals": lambda numbers: pd.Series([Decimal(number) for number in numbers]),
    "two floats": twofold,
    "pandas objects": lambda numbers: pd.Series(numbers, dtype=object),
    "long doubles": lambda numbers: np.array(numbers, dtype=np.longdouble),
    "list of long doubles": lambda numbers: list(np.array(numbers, dtype=np.longdouble)),
}
OF_INTEGERS = {
    "int64": lambda numbers: np.array(numbers, dtype=np.int64),
    "uint64": lambda numbers: np.array(numbers, dtype=np.uint64),
    "big-endian": lambda numbers: np.array(numbers, dtype=">i8"),
    "NumPy integers": lambda numbers: [np.int64(number) for number in numbers],
    "pandas": lambda numbers: pd.Series(numbers, dtype="int64"),
    "pandas Int64": lambda numbers: pd.Series(numbers, dtype="Int64"),
    "polars": lambda numbers: pl.Series(numbers, dtype=pl.Int64),
    "polars decimal": lambda numbers: pl.Series(numbers, dtype=pl.Decimal(38, 0)),
    "Arrow": lambda numbers: pa.array(numbers, pa.int64()),
    "Arrow decimal": lambda numbers: pa.array(map(Decimal, numbers), pa.decimal128(38, 0)),
}
OF_FLOATS = {
    "float64": lambda numbers: np.array(numbers, dtype=np.float64),
    "polars floats": lambda numbers: pl.Series(numbers, dtype=pl.Float64),
    "pandas floats": lambda numbers: pd.Series(numbers, dtype="float64"),
}
BASES = {
    "0": [0, 1, 3],
    "fractions": [0.1, 0.30000000000000004, -7.25],
    "10^15": [1e15 + 0.125, 1e15 + 0.25, 1e15 + 1],
    "2^53": [2**53 + 1, 2**53, 2**53 + 3],
    "2^60": [2**60 + 129, 2**60 + 128, 2**60 - 7],
}
MECHANISMS = mechanisms_at(1.0, anchor=ANCHOR)
FAR = 2**29
every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


def ways(numbers):
    integers = all(isinstance(number, int) for number in numbers)
    return WAYS | (OF_INTEGERS if integers else OF_FLOATS)


def unit_scores(name, scores, bound):
    """Return the unit scores of a mechanism, for one global bound, in fractions."""
    if name in {"local-dampening", "anchored"}:
        anchor = Fraction(ANCHOR) if name == "anchored" else 0
        units = [(score - anchor) / bound for score in scores]
        # The best one is moved to its nearest number within 2^29, all by as much.
        best = max(units)
        return [unit - best + max(-FAR, min(FAR, best)) for unit in units]
    if name in {"pairwise", "generalized"}:
        own = {None} if name == "generalized" else set()
        return [
            min([(u - v) / (2 * bound) for j, v in enumerate(scores) if i != j or own] or [0])
            for i, u in enumerate(scores)
        ]
    return [(score - max(scores)) / bound for score in scores]


def drawn_from(mechanism, objective, k):
    """Return what each sampler was given, and what it drew."""
    calls = []

    def watch(_name, draw, args, _kwargs):
        output = draw()
        calls.append((args, list(output)))  # a mechanism may add to it
        return output

    with intercepted(watch):
        mechanism.release(objective, k=k)
    return calls


def assert_drawn_exactly(mechanism, objective, k, scores, bound):
    bound = Fraction(bound)
    calls = drawn_from(mechanism, objective, k)
    if mechanism.name == "noisy-sequence":
        [((counts, *_), _)] = calls
        finest = bound * len(scores) / (2**11 * 2 ** (len(scores) - 1).bit_length())
        unit = Fraction(2) ** ceil(log2(finest))
        for count, score in zip(counts.tolist(), scores, strict=True):
            assert abs(count - score / unit) <= Fraction(1, 2)
        return
    left = [*range(len(scores))]
    for (given_, *_), output in calls:
        limit = Fraction(grid.LIMIT)
        exactly = unit_scores(mechanism.name, [scores[place] for place in left], bound)
        for step, unit in zip(grid.to_grid(given_).tolist(), exactly, strict=True):
            cut = max(-limit, min(limit, unit))
            assert abs(step - cut * grid.STEPS_PER_UNIT) <= PAID
        left = [place for i, place in enumerate(left) if i not in output]


@pytest.mark.parametrize("base", BASES)
def test_every_way_to_make_an_objective_keeps_every_digit(base):
    numbers, one = BASES[base], dp.GlobalSensitivity(1, AR)
    for name, way in ways(numbers).items():
        objective = dp.Objective(way(numbers), one)
        assert exact_scores(objective) == [Fraction(number) for number in numbers], name
        assert exact_scores(objective.take(np.array([2, 0]))) == [
            Fraction(number) for number in (numbers[2], numbers[0])
        ]


@every_mechanism
@pytest.mark.parametrize("base", BASES)
def test_what_is_drawn_from_is_what_was_given(mechanism, base):
    for k, bound in product((1, 2, 3), (1.0, 0.3)):
        objective = dp.Objective(BASES[base], dp.GlobalSensitivity(bound, AR))
        assert_drawn_exactly(mechanism, objective, k, [*map(Fraction, BASES[base])], bound)


bases = st.sampled_from([0, 2**53, 2**60, -(2**60), 2**104, 10**15])
some_integers = st.tuples(bases, st.lists(st.integers(-500, 500), min_size=1, max_size=5)).map(
    lambda drawn: [drawn[0] + step for step in drawn[1]]
)
some_floats = st.tuples(
    st.sampled_from([0.0, 1e15, 2.0**51]),
    st.lists(st.floats(-500, 500), min_size=1, max_size=5),
).map(lambda drawn: [drawn[0] + step for step in drawn[1]])


@pytest.mark.slow
@settings(max_examples=200)
@given(
    some_integers | some_floats,
    st.sampled_from(MECHANISMS),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([1.0, 0.3, 1e6]),
)
@example([2**60, 2**60 + 1, 2**60 + 2], dp.PairwiseLocalDampening(epsilon=1.0), 2, 1.0)
def test_any_scores_are_drawn_from_exactly(numbers, mechanism, k, bound):
    objective = dp.Objective(numbers, dp.GlobalSensitivity(bound, AR))
    scores = [*map(Fraction, numbers)]
    assert_drawn_exactly(mechanism, objective, min(k, len(numbers)), scores, bound)


@pytest.mark.parametrize("base", ["0", "10^15", "2^53"])
def test_sums_keep_what_their_sensitivity_does_not_pay_for(base):
    numbers, one = BASES[base], dp.GlobalSensitivity(1, AR)
    parts = [dp.Objective(numbers, one), dp.Objective(numbers[::-1], one)]
    weights = [Fraction(3, 4), Fraction(1, 4)]
    whole = dp.weighted_sum(parts, [float(weight) for weight in weights])
    bound = Fraction(float(whole.sensitivity.at(0)))
    summed = exact_scores(whole)
    for got, here, there in zip(summed, numbers, numbers[::-1], strict=True):
        sum_ = weights[0] * Fraction(here) + weights[1] * Fraction(there)
        assert abs(got - sum_) <= (bound - 1) / 2
    for mechanism, k in product(MECHANISMS[:-1], (1, 2, 3)):
        assert_drawn_exactly(mechanism, whole, k, summed, bound)


@pytest.mark.parametrize(
    "numbers",
    [
        *(["1", "2"], np.array(["1", "2"]), pl.Series(["1", "2"]), [Index()], [1j, 2]),
        *(np.array([1, 2], dtype=f"{kind}64[ns]") for kind in ("datetime", "timedelta")),
        *(pd.Series([1, 2], dtype="datetime64[ns]"), [2**120 + 2**60 + 1, 0], [10**400, 1]),
        *([], [[1.0], [2.0]], 3.0, [np.nan], [1.0, np.inf], ["a"], None, [None, 1]),
    ],
    ids=str,
)
def test_what_is_no_number_is_refused(numbers):
    with pytest.raises(ScoresError):
        dp.Objective(numbers, dp.GlobalSensitivity(1, AR))
