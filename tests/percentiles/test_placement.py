"""Every record counts at its nearest candidate, whatever the other records are."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import inf, nan

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.percentiles.candidates import Range, places_of, starts_of
from dpselect.percentiles.reading import Records, counts_at_places, counts_of, passes
from support.engines import every_engine, held_by
from support.neighbours import are_neighbours
from support.placing import decimal
from support.ranks import ranks_in

ADDED = dp.Neighbours.ADD_REMOVE
RANGES = {
    "quarters": Range(-1, 2, 0.25),
    "tenths": Range(0.1, 0.75, 0.1),
    "far": Range(1e12, 1e12 + 1, 0.001),
    "microsteps": Range(1000, 1001, 1e-6),
    "thirty digits": Range(1 / 3, 2.0, 0.1234567890123),
    "two": Range(5, 7, 2),
    "large": Range(-(2**52), 2**51, 3),
    "open": Range(None, None, 0.05),
    "ulps": Range(2.0**52, 2.0**52 + 40, 1),
}


def percentiles(**asked):
    return dp.Percentiles(**{"epsilon": 1e3, "neighbours": "add-remove"} | asked)


def by_definition(points, number):
    """Return the last candidate that is above halfway to it, in floats nearest to fractions."""
    low, step, last = decimal(points.lower), decimal(points.step), len(points) - 1
    if number in {inf, -inf}:
        return last if number > 0 else 0
    near = min(max(int((Fraction(number) - low) // step), 0), last)
    reached = [
        at
        for at in range(max(near - 3, 1), min(near + 4, last + 1))
        if number >= float(low + (at - Fraction(1, 2)) * step)
        and number > float(low + (at - 1) * step)
    ]
    return max(reached, default=0)


def numbers_around(points):
    """Return candidates, what is halfway to the next ones, and the floats beside both."""
    rng = np.random.default_rng(1)
    at = np.unique([0, 1, len(points) - 1, *rng.integers(0, len(points), 40).tolist()])
    at = at[at < len(points)]
    low, step = decimal(points.lower), decimal(points.step)
    halves = [float(low + (int(one) + Fraction(1, 2)) * step) for one in at]
    some = np.array([*points[at], *halves])
    return np.concatenate([some, np.nextafter(some, inf), np.nextafter(some, -inf)]), at


@pytest.mark.parametrize("name", RANGES)
def test_a_number_counts_at_the_nearest_decimal_of_a_range(name):
    points = RANGES[name]
    numbers, at = numbers_around(points)
    numbers = [*numbers.tolist(), inf, -inf, 1e300, -1e300, 0.0]
    found = points.places(np.array(numbers))

    assert found.tolist() == [by_definition(points, number) for number in numbers]
    assert points.places(points[at]).tolist() == at.tolist()


@pytest.mark.parametrize(
    "listed",
    [
        *(range(366), [-7.3, 0.0, 1e-9, 90.0], [-(2.0**1023), 0, 2.0**1022], [3.0]),
        *([-3, 0, 1, 2, 90], [1.25, 1.5, 7], [-200, 130], [0, 9e6]),
        np.geomspace(1e-6, 90, 300),  # of which many are in one bucket
    ],
)
@pytest.mark.parametrize("kind", ["f8", "i1", "u1", "i2", "u4", "i8", "u8"])
def test_numbers_that_are_counted_together_count_where_each_does(listed, kind, monkeypatch):
    monkeypatch.setattr("dpselect.percentiles.reading.AT_ONCE", 100)
    points = np.array(listed, dtype=float)
    starts, some = starts_of(points), np.random.default_rng(2).normal(40, 30, 900)
    near = points, starts, np.nextafter(starts, -inf), [inf, -inf]
    if kind == "f8":
        values = np.concatenate([some, *near])
    else:
        ends = np.iinfo(kind)
        values = np.array([ends.min, ends.max, *range(100)] * 9, dtype=kind)

    counts = counts_of(values, points)

    placed = Counter(np.searchsorted(starts, values.astype(float), side="right").tolist())
    assert dict(zip(counts.place.tolist(), counts.held.tolist(), strict=True)) == placed


DATABASES = [
    x for n in range(4) for x in product([-9.0, 0.4, 0.5, 1.0, 2.6, 9.0, nan], repeat=n)
]


@pytest.mark.parametrize("relation", [ADDED, dp.Neighbours.SUBSTITUTE], ids=str)
def test_neighbours_count_as_neighbours(relation):
    """Of all pairs of databases, where records count differs by one record at most."""
    points, predicate = np.array([0.0, 1.0, 3.0]), are_neighbours(relation)
    universe = sorted({tuple(sorted(x, key=repr)) for x in DATABASES}, key=repr)
    counted = {}
    for one in universe:
        known = np.array([v for v in one if v == v])  # noqa: PLR0124 -- not NaN
        counted[one] = [*places_of(points, known).tolist(), *[None] * (len(one) - known.size)]
    pairs = [(x, y) for x in universe for y in universe if predicate(x, y)]

    assert len(pairs) > 200
    for x, y in pairs:
        assert counted[x] == counted[y] or predicate(counted[x], counted[y])


@every_engine
def test_every_engine_counts_at_the_same_candidates(engine, crossing):
    """Also at the floats next to halves."""
    points = np.array([10.0, 0.1, 0.2, 0.7, 50.0, 0.3, 1e6])
    edges = starts_of(np.unique(points))
    numbers = [None, nan, inf, -inf, *points.tolist(), *edges.tolist()]
    numbers += [*np.nextafter(edges, -inf).tolist(), 0.15, 0.25, 30.0, -4.0, 2e6]
    rows = pl.DataFrame({"v": numbers})

    theirs = ranks_in(held_by(engine, rows), points, "v")
    assert theirs == ranks_in(np.array(numbers, dtype=float), points)
    assert engine == "polars" or max(crossing, default=0) <= points.size + 1


@pytest.mark.parametrize(("step", "queries"), [(1.0, 1), (0.125, 1), (0.1, 3)])
def test_parts_of_whole_numbers_are_counted_at_once(step, queries, crossing):
    """Other candidates are looked up in an engine, some at a time."""
    points = np.arange(1100) * step + 0.5
    numbers = [None, nan, inf, -inf, -3.0, 1e308, *(np.arange(4000) * step / 3).tolist()]

    theirs = ranks_in(held_by("duckdb", pl.DataFrame({"v": numbers})), points, "v")

    assert len(crossing) / 2 == queries == passes(points)  # DuckDB's, and narwhals' of them
    assert theirs == ranks_in(np.array(numbers, dtype=float), points)


@every_engine
def test_short_floats_count_at_the_candidates_that_they_stand_for(engine):
    """Also halfway: 0.35 as a float32 is less than 0.35, and counts upwards as 0.35 does."""
    numbers = [0.1] * 4 + [0.15, 0.35, 0.7]
    rows = pl.DataFrame({"v": numbers}, schema={"v": pl.Float32})
    assert rows["v"].cast(pl.Float64)[5] < 0.35
    points = Range(0.1, 0.7, 0.1)[range(7)]

    theirs = ranks_in(held_by(engine, rows), points, "v")

    assert theirs == ranks_in(rows["v"].to_numpy(), points)
    assert theirs[1] == [4, 5, 5, 6, 6, 6, 7]
    places = Records(ADDED).counted(rows["v"], Range(0.1, 0.7, 0.1)).place
    assert places.tolist() == [0, 0, 0, 0, 1, 3, 6]


def test_a_short_float_without_an_end_is_read_as_it_is():
    values = np.array([0.1] * 40 + [3.0] * 10, dtype=np.float32)

    assert percentiles(p=50, step=0.1).release(values).answer == (0.1,)
    assert percentiles(p=50, upper=2**24, step=1).release(values).answer == (0.0,)


@pytest.mark.parametrize("p", [50, [25, 50, 75]], ids=str)
def test_steps_that_floats_nearly_miss_raise_nothing(p):
    """Values and ends of intervals are candidates, whatever the noise."""
    asked = {"p": p, "lower": 1e12, "step": 0.001, "interval": 0.95}
    for epsilon in (0.01, 1.0, 1e3):
        query = percentiles(**asked, epsilon=epsilon)
        points = query.design().points
        for values in ([], [1e12 + 5.001] * 50, [1e12 - 1] * 50):
            release = query.release(values)
            some = np.array([*release.answer, *np.ravel(release.interval)])
            assert (points[points.places(some)] == some).all()


def test_listed_numbers_of_an_array_are_those_of_a_list():
    listed = np.array([7, 2**60, 3])
    query = percentiles(column="days", p=50, candidates=listed)
    listed[0] = 0  # an array that changes later

    assert query == percentiles(column="days", p=50, candidates=[7, 2**60, 3])
    assert dp.Percentiles.from_dict(query.to_dict()) == query
    assert query.each.points.tolist() == [3, 7, 2**60]


@pytest.mark.parametrize("most", [3, 2**40], ids=["together", "apart"])
def test_places_in_any_order_are_counted_with_their_counts(most):
    """Where both are too many bits for one integer they are sorted apart."""
    found = counts_at_places(np.array([[2**30, 5, -1, 0], [most, 2, 7, 1]]), 4, 2**28 + 1)

    assert found.group.tolist() == [0, 1, 2**28]
    assert found.place.tolist() == [0, 1, 0]
    assert found.held.tolist() == [1, 2, most]
    assert found.missing == 7
