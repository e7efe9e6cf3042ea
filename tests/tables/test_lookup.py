"""Positions of numbers among edges, in every engine."""

from math import inf, nan

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from dpselect import tables
from dpselect.errors import ParameterError
from dpselect.tables.collecting import with_codes, with_positions, without_nan
from support.engines import every_engine, held_by

NUMBERS = [None, nan, inf, -inf, -1.0, 0.0, 0.5, 1.0, 2.0, 7.0]
EDGES = [0.0, 1.0, 2.0]
MISSING = -1


def looked_up(engine):
    held = held_by(engine, pl.DataFrame({"v": NUMBERS}))
    numbers = tables.open_table(held).lazy().select(without_nan("v").alias("found"))
    query = with_positions(numbers, {"found": EDGES})
    query = query.select(nw.col("found").fill_null(MISSING))
    found = tables.collect(query, held, most=len(NUMBERS))["found"]
    return sorted(tables.counts(found).tolist())


@every_engine
def test_a_position_is_the_number_of_edges_that_are_reached(engine):
    known = np.array(NUMBERS[2:])

    expected = [MISSING, MISSING, *np.searchsorted(EDGES, known, side="right").tolist()]
    assert looked_up(engine) == sorted(expected)


LISTED = {
    "t": ["a", 1, "c"],
    "i": [2, "x", 1.5, 5.0, True, 2**63, -(2**64)],
    "v": [0.5, inf, 7],
}
VALUES = {"t": ["a", "b", None, "c"], "i": [1, 2, 5, None], "v": [0.5, None, inf, 7.0]}


@every_engine
def test_a_code_is_the_position_of_the_value_that_is_equal(engine):
    rows = tables.open_table(held_by(engine, pl.DataFrame(VALUES))).lazy()

    coded = with_codes(rows, LISTED).with_columns(nw.col("t", "i", "v").fill_null(-1))
    found = tables.collect(coded, rows, most=4)

    for column, listed in LISTED.items():
        expected = [listed.index(v) if v in listed else -1 for v in VALUES[column]]
        assert sorted(tables.counts(found[column]).tolist()) == sorted(expected)


def test_any_number_of_values_can_be_listed_up_to_what_takes_too_long():
    """From some hundreds on Python's own calls were too deep."""
    values = [f"v{n}" for n in range(2_000)]
    rows = nw.from_native(pl.LazyFrame({"t": ["v1999", "x", "v0", None, "v1"]}))

    coded = with_codes(rows, {"t": values}).collect()["t"].to_list()
    assert coded == [1999, None, 0, None, 1]
    with pytest.raises(ParameterError, match="list fewer"):
        with_codes(rows, {"t": values * 6})


def test_the_names_of_the_package_are_all_there():
    assert dir(tables) == sorted(tables.__all__)
    for name in tables.__all__:
        assert hasattr(tables, name)
