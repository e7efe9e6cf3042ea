"""Aggregates collected from engines: their declared size; places among listed values."""

from math import inf, nan

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables.engine import engine_of
from dpselect.tables.values import places_of
from support.engines import every_engine, held_by

ROWS = pl.DataFrame({"group": [0, 1, 1, 2] * 100, "one": [1] * 400})


@every_engine
def test_more_rows_than_declared_do_not_leave_the_engine(engine, crossing):
    with pytest.raises(DataError):
        tables.collect(tables.open_table(held_by(engine, ROWS)), ROWS, most=7)

    assert max(crossing) == 8


NUMBERS = [None, nan, inf, -inf, -1.0, 0.0, 0.5, 1.0, 2.0, 7.0]
MISSING = -1


@every_engine
@pytest.mark.parametrize("edges", [[0.0, 1.0, 2.0], [0.0, 1.0, 7.0]])
def test_a_position_is_the_number_of_edges_that_are_reached(engine, edges):
    """Edges that are equally far apart are not searched."""
    held = held_by(engine, pl.DataFrame({"v": NUMBERS}))
    numbers = tables.open_table(held).lazy()
    numbers = numbers.select(engine_of(numbers).without_nan("v").alias("found"))
    query = engine_of(numbers).placed({"found": edges})
    query = query.select(nw.col("found").fill_null(MISSING))

    found = tables.counts(tables.collect(query, held, most=len(NUMBERS))["found"])
    reached = np.searchsorted(edges, NUMBERS[2:], side="right").tolist()
    assert sorted(found.tolist()) == sorted([MISSING, MISSING, *reached])


LISTED = {
    "t": ["a", 1, "c", *(f"v{n}" for n in range(2_000))],
    "i": [2, "x", 1.5, 5.0, True, 2**63, -(2**64)],
    "v": [0.5, inf, 7],
    "r": [*range(5, 9)],
}
VALUES = {"t": ["a", "b", None, "v1999"], "i": [1, 2, 5, None], "v": [0.5, None, inf, 7.0]}
VALUES["r"] = [7, 4, 9, 8]


@every_engine
def test_a_code_is_the_position_of_the_value_that_is_equal(engine):
    """From some hundreds on Python's own calls were too deep."""
    rows = tables.open_table(held_by(engine, pl.DataFrame(VALUES))).lazy()

    coded = engine_of(rows).coded(LISTED).with_columns(nw.col(*LISTED).fill_null(-1))
    found = tables.collect(coded, rows, most=4)

    for column, listed in LISTED.items():
        expected = [listed.index(v) if v in listed else -1 for v in VALUES[column]]
        assert sorted(tables.counts(found[column]).tolist()) == sorted(expected)


@every_engine
def test_the_sum_over_no_rows_counts_as_0(engine):
    held = held_by(engine, pl.DataFrame(schema={"one": pl.Int64}))
    query = tables.open_table(held).lazy().select(nw.col("one").sum())

    assert tables.counts(tables.collect(query, held, most=1)["one"]).tolist() == [0]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8", "?", "f2", "f4", "f8"])
@pytest.mark.parametrize(
    "listed",
    [
        *([1, 0], [True, 2, 1.5], ["1", 3, None, (1,)], [2**63, 2**63 + 7, -(2**63)]),
        *([-128, 127], [255.0, 0], [-(2**63), 5], [2**53 + 1, 2**53], [float("inf"), 300]),
    ],
    ids=str,
)
def test_numbers_have_the_places_that_python_finds(dtype, listed):
    kind = np.dtype(dtype)
    values = np.arange(6).astype(kind)
    if kind.kind in "iu":
        values = np.append(values, np.array([np.iinfo(kind).min, np.iinfo(kind).max], kind))
    if kind.kind == "f":
        values = np.append(values, np.array([np.nan, np.inf, -0.0, 1.5, 255], kind))
    place = {one: at for at, one in enumerate(listed)}

    expected = [place.get(one, -1) for one in values.tolist()]
    assert places_of(values, listed).tolist() == expected
