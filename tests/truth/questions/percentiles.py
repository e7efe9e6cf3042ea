"""Percentiles: every record is clipped, and placed at its nearest candidate, ties upwards.

The percentile of ``n`` placed records is at rank ``1 + (n - 1) p / 100``; between two records
every candidate from the one to the other is right.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, log

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

    def of_column(self, value):
        """Return a value as its column holds it, for ``Grid.place``."""
        return (
            self.number(value)
            if self.span
            else np.float32(value)
            if self.dtype == pl.Float32
            else value
        )


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
    "minute": moment(datetime(2020, 1, 1), timedelta(minutes=1), pl.Datetime("us")),  # noqa: DTZ001 -- local time
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
        value = (
            exact(value)
            if written
            else Fraction(float(value) if isinstance(value, np.floating) else value)
        )
        if self.listed:
            # The last of the nearest: ties upwards.
            return min(range(len(self.listed)), key=lambda k: (abs(self.listed[k] - value), -k))
        place = floor((value - self.lower) / self.step + Fraction(1, 2))
        return max(0, place if self.last is None else min(place, self.last))

    def beside(self, at, outside, off):
        """Return the last position from one to the next within a part of their distance."""
        if not self.listed:
            return at + int(off * (outside - at))
        far = off * abs(self.listed[outside] - self.listed[at])
        between = range(at, outside, 1 if outside > at else -1)
        near = [one for one in between if abs(self.listed[one] - self.listed[at]) <= far]
        return near[-1] if near else at

    def position(self, number):
        """Return the position of a released number, or None if it is none of the candidates."""
        if self.listed:
            return self.listed.index(number) if number in self.listed else None
        place = round((number - self.lower) / self.step)
        off = abs(self.lower + place * self.step - number)
        top = max(abs(number), abs(self.lower), self.step)
        inside = place >= 0 and (self.last is None or place <= self.last)
        return place if inside and off <= top * Fraction(1, 2**50) else None


def _ends(places, first, last, ranks):
    """Return the places of the records at two ranks, each with the next one outside."""
    ordered = [sorted((pair[end], times) for pair, times in places.items()) for end in (0, 1)]
    ends = []
    for some, rank, step in zip(ordered, ranks, (-1, 1), strict=True):
        upto = np.cumsum([times for _, times in some])
        at = int(np.searchsorted(upto, rank, side="right"))
        outside = [place for place, _ in some[at::step] if place != some[at][0]]
        ends.append((some[at][0], next(iter(outside), (first, last)[step > 0])))
    return ends


def windows(values, grid, percents, off=0.0):
    """Return the first and the last right position of each percentile of some numbers.

    Args:
        values: The numbers.
        grid: The candidates.
        percents: Which ones.
        off: The part of the gap to the next record by which a position may be off, as the
            ranks of candidates interpolate between records.
    """
    places = Counter()
    for value, times in Counter(values).items():
        both = [grid.place(value, written=one) for one in (True, False)]
        places[min(both), max(both)] += times
    n, found = sum(places.values()), []
    last = len(grid.listed) - 1 if grid.listed else grid.last
    for p in percents:
        rank = (n - 1) * exact(p) / 100
        ranks = [max(0, min(n - 1, one)) for one in (floor(rank), ceil(rank))]
        ends = _ends(places, 0, last, ranks)
        found.append(tuple(grid.beside(at, outside, off) for at, outside in ends))
    return found


def right_values(answer, values, grid, percents, number=exact, *, loose=0.0, epsilon=1e9):
    """Return whether released values are right, or what is wrong."""
    if len(answer) != len(percents):
        return f"{len(answer)} values"
    places = [grid.position(number(one)) for one in answer]
    if None in places or places != sorted(places):
        return f"{answer} are no candidates, or not in order"
    if not values:
        return True
    # A draw errs by so many ranks with a probability of at most e^-16.
    size = len(grid.listed) or grid.last + 1
    # Of a range that is not listed half of epsilon is for cells, and half for what is in one.
    epsilon /= 4 if size > 100_001 else 1
    off = min(2 * len(percents) * (log(size) + 16) / epsilon, 0.49)
    found = windows(values, grid, percents, off)
    for p, place, (first, last) in zip(percents, places, found, strict=True):
        far = loose * max(abs(first), abs(last))
        if not first - far <= place <= last + far:
            return f"{answer}: p {p} at {place}, not in {first} to {last}"
    return True


PERCENTS = [1, 5, 10, 25, 30, 50, 60, 75, 90, 95, 99]
one_percent = st.sampled_from([50, 90, 1, 2.5, 99.9, 100, *PERCENTS]).map(lambda p: (p,))
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
    few = {"times": (1,)} if draw(st.booleans()) else {}
    return draw(runs(of, **few))


@st.composite
def ranges(draw, *, most=10**9, kinds=tuple(KINDS)):
    """A range, its arguments, and runs of values of some type that is declared or not."""
    name = draw(st.sampled_from(kinds))
    kind, parts = (
        KINDS[name],
        [0, Fraction(1, 2), Fraction(1, 4), Fraction(3, 10), Fraction(7, 10)],
    )
    if kind.is_number:
        steps = {"float32": ("1", "2", "0.5", "0.25"), "decimal": ("1", "0.5", "0.1", "0.01")}
        grid = draw(grids(most=most, **({"steps": steps[name]} if name in steps else {})))
        parts = parts[:2] if name == "decimal" else parts
        if name == "float32":
            grid = Grid(Fraction(1000), grid.step, min(grid.last, 10**4))
    else:
        step = Fraction(draw(st.sampled_from([1, 2, 5, 7])))
        last = draw(st.sampled_from([1, 3, 60, 365, 150_000]))
        grid, parts = Grid(Fraction(0), step, min(last, most)), [0]
    pairs = draw(data(grid, part=parts))
    if not kind.is_number:
        pairs = [(min(max(value, -700), 1_100_000), times) for value, times in pairs]
    beyond = draw(st.sampled_from([0, 0, 0, Fraction(1, 2)])) if kind.is_number else 0
    given = {
        "lower": kind.value(grid.lower),
        "upper": kind.value(grid.lower + grid.step * (grid.last + beyond)),
        "step": (kind.span or kind.value)(grid.step),
    }
    return grid, given, kind, [(kind.value(value), times) for value, times in pairs]


@st.composite
def lists(draw):
    """Candidates that are listed, in any order, and values at, between and beyond them."""
    sizes = st.sampled_from([(0, 10, 20, 50), (0, 1), (5, 6, 1000), (-10, 0, 10, 10**6)])
    some = st.lists(st.integers(-100, 100), min_size=1, max_size=8, unique=True).map(tuple)
    listed = draw(sizes.flatmap(st.permutations) | some.flatmap(st.permutations))
    kind = KINDS[draw(st.sampled_from(["number", "number", "day"]))]
    near = st.tuples(st.sampled_from(listed), st.integers(-4, 4)).map(sum)
    values = near | st.sampled_from([-500, 10**7]) if kind.is_number else near
    pairs = [(kind.value(value), times) for value, times in draw(runs(values))]
    grid = Grid(listed=tuple(Fraction(one) for one in sorted(listed)))
    return grid, {"candidates": [kind.value(one) for one in listed]}, kind, pairs


@st.composite
def values_asked(draw, source, percents=one_percent, *, epsilons=EPSILONS, loose=0.0, **fields):
    """A question for percentiles of values in a container."""
    grid, given, kind, pairs = draw(source)
    p = draw(percents)
    given = {
        "p": p[0] if len(p) == 1 else p,
        **given,
        "epsilon": draw(epsilons),
        "neighbours": draw(RELATIONS),
        **{field: draw(one) for field, one in fields.items()},
    }
    missing = draw(st.sampled_from([0, 0, 0, 3])) if pairs else 0
    floats = any(isinstance(value, float) for value, _ in pairs)
    types = {"v": kind.dtype or (pl.Float64 if floats else pl.Int64)}
    held = draw(st.sampled_from(["list", "polars", "pandas", "array"]))
    if not kind.is_number or kind.dtype == pl.Decimal(20, 3) or (held == "array" and missing):
        held = "polars"
    if not pairs:
        held, given["neighbours"] = "polars", "add-remove"
    if held in {"polars", "pandas"}:
        given["column"] = "v"
    pairs_of_rows = [((value,), times) for value, times in pairs] + [((None,), missing)]
    rows = Rows(("v",), tuple(pairs_of_rows[: len(pairs) + (missing > 0)]), types)
    values = [kind.of_column(one) for one in expand(pairs)]

    def right(release):
        if "interval" in given:
            return _held(release, values, grid, kind)
        price = given["epsilon"]
        return right_values(
            release.answer, values, grid, p, kind.number, loose=loose, epsilon=price
        )

    return asked(dp.Percentiles, given, rows, right, held=held)


def _held(release, values, grid, kind):
    """Return whether the interval of one percentile holds it."""
    [[low, high]], [p] = release.interval, release.p
    [(first, last)] = windows(values, grid, [p]) if values else [(0, 10**18)]
    low, high = grid.position(kind.number(low)), grid.position(kind.number(high))
    return (low <= last and high >= first) or f"{low} to {high} without {first} to {last}"


@st.composite
def grouped_asked(draw, *, listed, **fields):
    """Percentiles by group: some groups are listed without a row, some rows have no group."""
    grid, given, _, _ = draw(ranges(most=1000, kinds=("number", "float")))
    names = draw(st.sampled_from([["heart", "lung", "skin"], [3, 1, 2], [True, False]]))
    rows = [
        ((group, whole(value)), times)
        for group in [*names, type(names[0])(7), None]
        for value, times in draw(data(grid))
    ]
    p, other = draw(one_percent | several), not listed and draw(st.booleans())
    given = {
        "column": "v", "by": "g", "p": p[0] if len(p) == 1 else p, **given, "other": other,
        "epsilon": draw(LARGE), "neighbours": draw(RELATIONS),
        **({"groups": names} if listed else {"delta": 1e-9}),
        **{field: draw(one) for field, one in fields.items()},
    }  # fmt: skip
    held = draw(
        st.sampled_from(
            ["polars", "pandas"] if all(g is not None for (g, _), _ in rows) else ["polars"]
        )
    )
    types = {"g": pl.Series([names[0]]).dtype, "v": pl.Float64}

    def right(release):
        found = release.by_group
        sizes = Counter(group for (group, _), times in rows for _ in range(times))
        answered = set(names) if listed else {one for one in found if one is not None}
        # A group of one row has a probability of delta, of three nearly 1.
        if not listed and any(
            (size >= 3 and group is not None and group not in found)
            or (size == 1 and group in answered)
            for group, size in sizes.items()
        ):
            return f"groups {answered} of {sizes}"
        if set(found) != answered | ({None} if other else set()):
            return f"groups {set(found)}"
        for group, answer in found.items():
            mine = [
                float(value)
                for (one, value), times in rows
                for _ in range(times)
                if one == group or (group is None and one not in answered)
            ]
            fault = right_values(answer, mine, grid, p, epsilon=given["epsilon"] / 2)
            if fault is not True:
                return f"{group}: {fault}"
        return True

    return asked(dp.Percentiles, given, Rows(("g", "v"), tuple(rows), types), right, held=held)


@st.composite
def persons_asked(draw):
    """Persons of equal rows: those up to the limit count."""
    grid, given, _, pairs = draw(ranges(most=1000, kinds=("number",)))
    each, cap = draw(st.integers(1, 4)), draw(st.sampled_from([1, 2, 3, 5]))
    p = draw(one_percent | several)
    given = {
        "column": "v", "p": p[0] if len(p) == 1 else p, **given, "user": "who",
        "max_per_user": cap, "epsilon": draw(st.sampled_from([1e4, 1e6])),
        "neighbours": draw(RELATIONS) if pairs else "add-remove",
    }  # fmt: skip
    values = [value for value in expand(pairs) for _ in range(min(each, cap))]
    rows = Rows(("v",), tuple(((one,), times) for one, times in pairs), {"v": pl.Float64}, each)
    return asked(
        dp.Percentiles, given, rows, lambda release: right_values(
            release.answer, values, grid, p, epsilon=given["epsilon"] / cap
        ),
        held=draw(st.sampled_from(["polars", "pandas"])),
    )  # fmt: skip


@st.composite
def records_asked(draw):
    """Which record it is: any of those whose value is the percentile's."""
    values = draw(st.lists(st.integers(-5, 40) | st.none(), min_size=1, max_size=40))
    p, upper = draw(one_percent)[0], draw(st.sampled_from([10, 30.0]))
    given = {"p": p, "upper": upper, "epsilon": draw(st.sampled_from([1e4, 1e6]))}
    clamped = sorted(min(max(one or 0, 0), upper) for one in values)
    rank = min(max(ceil(exact(p) * (len(values) + 1) / 100), 1), len(values))
    wanted = clamped[rank - 1]

    def right(release):
        found = min(max(values[release.candidate] or 0, 0), upper)
        return found == wanted or f"{found} for {wanted}"

    return asked(
        dp.PercentileRecord,
        given,
        Rows(("v",), tuple(((one,), 1) for one in values)),
        right,
        held="list",
    )


LARGE = st.sampled_from([1e3, 1e4, 1e6])
of_numbers = ranges(kinds=("number",))


QUESTIONS = {
    "one": values_asked(of_numbers),
    "one, all types": values_asked(ranges()),
    "several": values_asked(of_numbers, several, epsilons=LARGE),
    "several, all types": values_asked(ranges(), several, epsilons=LARGE),
    "listed": values_asked(lists(), one_percent | several, epsilons=LARGE),
    "assumed_records": values_asked(
        of_numbers,
        one_percent | several,
        epsilons=LARGE,
        assumed_records=st.sampled_from([1, 30, 1000, 10**6]),
    ),
    "interval": values_asked(
        of_numbers, epsilons=st.sampled_from([1e4, 1e6]), interval=st.just(0.95)
    ),
    "by group": grouped_asked(listed=True),
    "groups released first": grouped_asked(listed=False),
    "persons": persons_asked(),
    "record": records_asked(),
}
"""Of one percentile and of several, by default and by method."""
