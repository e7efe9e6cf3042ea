"""Percentiles: every record is clipped, and placed at its nearest candidate, ties upwards.

The percentile of ``n`` placed records is at rank ``1 + (n - 1) p / 100``; between two records
every candidate from the one to the other is right.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

import numpy as np
import polars as pl
from hypothesis import strategies as st

import dpselect as dp
from truth.question import EPSILONS, RELATIONS, Rows, asked, expand, runs


@dataclass(frozen=True)
class Kind:
    """A type of values: how numbers become values, and back."""

    value: object
    number: object
    span: object = None
    dtype: object = None

    @property
    def is_number(self):
        return self.span is None


def exact(number):
    """Return the decimal that a number is written as."""
    return Fraction(str(number))


def whole(number):
    return int(number) if Fraction(number).denominator == 1 else float(number)


def moment(origin, step, dtype):
    return Kind(
        lambda number: origin + step * int(number),
        lambda value: Fraction(
            (value - origin) // timedelta(microseconds=1), step // timedelta(microseconds=1)
        ),
        lambda number: step * int(number),
        dtype,
    )


DAY = timedelta(days=1)
KINDS = {
    "number": Kind(whole, exact),
    "float": Kind(float, exact, None, pl.Float64),
    "float32": Kind(float, exact, None, pl.Float32),
    "decimal": Kind(lambda number: Decimal(str(float(number))), exact, None, pl.Decimal(20, 3)),
    "day": moment(date(2020, 1, 1), DAY, pl.Date),
    "minute": moment(datetime(2020, 1, 1), timedelta(minutes=1), pl.Datetime("us")),
    "zoned": moment(
        datetime(2020, 1, 1, tzinfo=UTC), timedelta(seconds=1), pl.Datetime("us", "UTC")
    ),
    "span": moment(timedelta(0), timedelta(seconds=1), pl.Duration("us")),
}


@dataclass(frozen=True)
class Grid:
    """Candidates ``lower + k step``, for ``k`` from 0 to ``last``; or a list of them."""

    lower: Fraction = Fraction(0)
    step: Fraction = Fraction(1)
    last: int | None = None
    listed: tuple[Fraction, ...] = ()

    def place(self, value, *, written):
        """Return the position of a record; decimals ``written`` out, or as the float is."""
        value = exact(value) if written else Fraction(value)
        if self.listed:
            # The last of the nearest: ties upwards.
            return min(range(len(self.listed)), key=lambda k: (abs(self.listed[k] - value), -k))
        place = floor((value - self.lower) / self.step + Fraction(1, 2))
        return max(0, place if self.last is None else min(place, self.last))

    def position(self, number):
        """Return the position of a released number, or None if it is none of the candidates."""
        if self.listed:
            return self.listed.index(number) if number in self.listed else None
        place = round((number - self.lower) / self.step)
        off = abs(self.lower + place * self.step - number)
        top = max(abs(number), abs(self.lower), self.step)
        inside = place >= 0 and (self.last is None or place <= self.last)
        return place if inside and off <= top * Fraction(1, 2**50) else None


def _at(places, rank):
    """Return the place of the record of a rank, from 0 on."""
    for place, times in places:
        rank -= times
        if rank < 0:
            return place
    raise AssertionError


def windows(values, grid, percents, slack=0):
    """Return the first and the last right position of each percentile of some numbers."""
    places = Counter()
    for value, times in Counter(values).items():
        both = [grid.place(value, written=one) for one in (True, False)]
        places[min(both), max(both)] += times
    n = sum(places.values())
    ordered = [sorted((pair[end], times) for pair, times in places.items()) for end in (0, 1)]
    found = []
    for p in percents:
        rank = (n - 1) * exact(p) / 100
        ends = zip(ordered, (floor(rank - slack), ceil(rank + slack)), strict=True)
        found.append(tuple(_at(places, max(0, min(n - 1, at))) for places, at in ends))
    return found


def right_values(answer, values, grid, percents, number=exact, loose=0.0):
    """Return whether released values are right, or what is wrong."""
    if len(answer) != len(percents):
        return f"{len(answer)} values"
    places = [grid.position(number(one)) for one in answer]
    if None in places or places != sorted(places):
        return f"{answer} are no candidates, or not in order"
    if not values:
        return True
    ties = max(Counter(values).values())
    # Shares of a place: documented, by a 40th of its records.
    slack = Fraction(ties, 40) if len(percents) > 1 and ties >= 40 else 0
    for p, place, (first, last) in zip(
        percents, places, windows(values, grid, percents, slack), strict=True
    ):
        off = loose * max(abs(first), abs(last))
        if not first - off <= place <= last + off:
            return f"{answer}: p {p} at {place}, not in {first} to {last}"
    return True


PERCENTS = [1, 5, 10, 25, 30, 50, 60, 75, 90, 95, 99]
one_percent = st.sampled_from([50, 90, 0.1, 2.5, 99.9, 100, *PERCENTS]).map(lambda p: (p,))
several = st.lists(st.sampled_from([*PERCENTS, 2.5, 100]), min_size=2, max_size=5, unique=True)
several = several.map(sorted).map(tuple) | st.sampled_from(
    [(50, 90), (25, 50, 75), (10, 50, 90), (5, 50, 95), (1, 99)]
)


@st.composite
def grids(
    draw, *, most=10**9, steps=("1", "2", "7", "250", "0.5", "0.25", "0.1", "0.01", "0.001")
):
    """A range, coarse or fine, near zero or far from it."""
    step = Fraction(draw(st.sampled_from(steps)))
    lower = Fraction(draw(st.sampled_from([0, 0, 0, 1, -5, 1000, -(10**6), 240_000, 10**9])))
    lower += draw(st.sampled_from([0, 0, step / 2])) if step.denominator > 1 else 0
    last = draw(st.sampled_from([1, 2, 3, 10, 60, 60, 200, 1000, 150_000, 10**6, 10**8]))
    return Grid(lower, step, min(last, most))


@st.composite
def data(draw, grid, *, part=(0, 0, 0, Fraction(1, 2), Fraction(1, 4), Fraction(3, 10))):
    """Runs of numbers, in a place of the range, beyond its bounds, or in all of it."""
    last = grid.last
    middle = draw(st.sampled_from([0, last // 2, last, last // 3]))
    near = st.tuples(st.integers(-20, 20), st.sampled_from(part)).map(
        lambda pair: grid.lower + (middle + pair[0] + pair[1]) * grid.step
    )
    width = last * grid.step
    far = st.sampled_from([grid.lower - 3 * width - 1, grid.lower + 4 * width, grid.lower])
    anywhere = st.integers(0, 100).map(lambda at: grid.lower + last * at // 100 * grid.step)
    of = draw(st.sampled_from([near, near, near | far, anywhere, far | anywhere]))
    return draw(runs(of))


@st.composite
def values_asked(draw, percents=one_percent, *, epsilons=EPSILONS, most=10**9, **fields):
    """A question for percentiles of a range."""
    name = draw(st.sampled_from(sorted(KINDS)))
    kind = KINDS[name]
    fine = {"float32": ("1", "2", "0.5", "0.25"), "decimal": ("1", "0.5", "0.1", "0.01")}
    steps = {"steps": fine[name]} if name in fine else {}
    if not kind.is_number:
        steps = {"steps": ("1", "2", "5", "7")}
    grid = draw(grids(most=min(most, 10**4 if name == "float32" else 10**9), **steps))
    if not kind.is_number or name == "float32":
        grid = Grid(
            Fraction(0 if name != "float32" else 1000), grid.step, min(grid.last, 50_000)
        )
    part = (
        (0,) if not kind.is_number else (0, 0, Fraction(1, 2), Fraction(1, 4), Fraction(3, 10))
    )
    pairs = draw(data(grid, part=part if name != "decimal" else (0, Fraction(1, 2))))
    if name == "span":
        pairs = [(max(value, Fraction(0)), times) for value, times in pairs]
    pairs = [(kind.value(value), times) for value, times in pairs]
    p = draw(percents.filter(lambda some: len(some) <= grid.last + 1))
    upper = grid.lower + grid.step * (
        grid.last + draw(st.sampled_from([0, 0, 0, Fraction(1, 2)]))
    )
    upper = upper if kind.is_number else grid.lower + grid.step * grid.last
    given = {
        "p": p[0] if len(p) == 1 else p,
        "lower": kind.value(grid.lower),
        "upper": kind.value(upper),
        "step": (kind.span or kind.value)(grid.step),
        "epsilon": draw(epsilons),
        "neighbours": draw(RELATIONS),
        **{field: draw(one) for field, one in fields.items()},
    }
    return answered(draw, given, pairs, grid, p, kind)


def answered(draw, given, pairs, grid, p, kind, loose=0.0):
    """Return the question that fields and runs make, in a container that can hold them."""
    number = kind.number
    values = [number(one) for one in expand(pairs)]
    if kind.is_number:
        values = expand(pairs)
    missing = draw(st.sampled_from([0, 0, 0, 3]))
    rows = [((value,), times) for value, times in pairs] + [((None,), missing)] * (missing > 0)
    held = draw(st.sampled_from(["list", "polars", "pandas", "array"]))
    if not kind.is_number or kind.dtype is pl.Decimal(20, 3):
        held = "polars"
    if not rows or (held == "array" and missing):
        held = "polars"
    if held in {"polars", "pandas"}:
        given["column"] = "v"
    types = {
        "v": kind.dtype
        or (pl.Float64 if any(isinstance(one, float) for one in values) else pl.Int64)
    }
    if kind.dtype is pl.Float32:
        values = [np.float32(one) for one in values]
    return asked(
        dp.Percentiles,
        given,
        Rows(("v",), tuple(rows), types),
        lambda release: right_values(release.answer, values, grid, p, number, loose),
        held=held,
    )


LARGE = st.sampled_from([1e3, 1e4, 1e6])
QUESTIONS = {
    "one": values_asked(),
    "several": values_asked(several, epsilons=LARGE),
}
