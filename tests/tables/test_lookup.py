"""Positions of numbers among edges, in every engine."""

from math import inf, nan

import narwhals as nw
import numpy as np
import polars as pl

from dpselect import tables
from support.engines import every_engine, held_by

NUMBERS = [None, nan, inf, -inf, -1.0, 0.0, 0.5, 1.0, 2.0, 7.0]
EDGES = [0.0, 1.0, 2.0]
MISSING = -1


def looked_up(engine, **how):
    held = held_by(engine, pl.DataFrame({"v": NUMBERS}))
    numbers = tables.open_table(held).lazy().select(tables.known("v").alias("found"))
    query = tables.with_positions(numbers, {"found": EDGES}, **how)
    query = query.select(nw.col("found").fill_null(MISSING))
    found = tables.collect(query, held, most=len(NUMBERS))["found"]
    return sorted(tables.counts(found).tolist())


@every_engine
def test_a_position_is_the_number_of_edges_that_are_reached(engine):
    known = np.array(NUMBERS[2:])

    expected = [MISSING, MISSING, *np.searchsorted(EDGES, known, side="right").tolist()]
    assert looked_up(engine) == sorted(expected)


@every_engine
def test_numbers_equal_to_an_edge_have_positions_of_their_own(engine):
    known = np.array(NUMBERS[2:])

    below = np.searchsorted(EDGES, known, side="left")
    upto = np.searchsorted(EDGES, known, side="right")
    expected = [MISSING, MISSING, *(below + upto).tolist()]
    assert looked_up(engine, apart=True) == sorted(
        expected
    )


def test_the_names_of_the_package_are_all_there():
    assert dir(tables) == sorted(tables.__all__)
    for name in tables.__all__:
        assert hasattr(tables, name)
