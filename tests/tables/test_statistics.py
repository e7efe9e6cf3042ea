"""No filter meets a NaN before it is coded: statistics of a Parquet file do not see it.

The numbers of a file are all between the public bounds, so that an engine may take each
comparison for true of every row, and one row more lets it take none. What is counted must be
the same with statistics and without them, in every engine, with the row and without it.
"""

import tempfile
from functools import cache
from math import nan
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect import tables
from dpselect.errors import DataError
from dpselect.maps.partition import uniform_grid
from dpselect.maps.points import PointRows
from dpselect.tables.people import people_cap
from dpselect.trees import Bins
from dpselect.trees.domains import Schema
from dpselect.trees.engine import EngineCounts
from support.engines import JAVA, every_engine, spark
from support.ranks import ranks_in

CANDIDATES = np.array([0.0, 2.0, 4.0, 50.0])
SCHEMA = Schema.of({name: Bins(0, 4, bins=4) for name in "xy"}, ["a", "b"], "xy")
NUMBERS = [nan] * 40 + [1.0, 1.5, 2.0, 2.5, 3.0] * 20
ROWS = [(x, x, who, "ab"[who % 2]) for who, x in enumerate(NUMBERS)]
CONSTANT = [(x, x, who, "a") for who, x in enumerate([nan] * 60 + [1.0])]
"""Numbers of which an engine may know that all are one."""
EVERY = {"x": ROWS, "x'": [*ROWS, (99.0, nan, 0, "a")]}
EVERY |= {"z": CONSTANT, "z'": [*CONSTANT, (3.0, 3.0, 60, "a")]}
EVERY = {
    name: pl.DataFrame(rows, ["x", "y", "who", "ward"], orient="row")
    for name, rows in EVERY.items()
}


def ranks(data, **persons):
    cap = people_cap(**({"user": None, "max_per_user": None} | persons))
    below, upto, *more = ranks_in(data, CANDIDATES, "x", cap)
    return [*below, *upto, *more]


def points(data, outside, **persons):
    box = {"bounds": (0, 0, 4, 4), "grid": 2, "k": 1, "x": "x", "y": "y", "outside": outside}
    query = dp.HeavyCells(**box, epsilon=1.0, neighbours="add-remove", **persons)
    return PointRows.of(query).read(data).in_cells(uniform_grid(2))


COUNTS = {
    "ranks": ranks,
    "ranks of persons": lambda data: ranks(data, user="who", max_per_user=1),
    "points": lambda data: points(data, "drop"),
    "points that are moved": lambda data: points(data, "clip"),
    "points of persons": lambda data: points(data, "drop", user="who", max_per_user=1),
    "records of a tree": lambda data: np.concatenate(
        EngineCounts(data, "ward", SCHEMA, None, 10**6).tables(0, 1)[0]
    ),
}
COUNTS |= {
    where: lambda data, where=where: [
        tables.count_records(tables.Source(frame=data, where=[where]))
    ]
    for where in ("x >= 0", "x < 5", "x != 77")
}


@cache
def in_memory(name, what):
    return COUNTS[what](EVERY[name].lazy())


def in_engine(engine, path):
    if engine == "duckdb":
        return duckdb.connect().read_parquet(str(path))
    return pl.scan_parquet(path) if engine == "polars" else spark().read.parquet(str(path))


@cache
def _folder():
    return Path(tempfile.mkdtemp())


@every_engine
@pytest.mark.parametrize(
    ("name", "statistics"), [*((one, True) for one in EVERY), ("x'", False)]
)
def test_statistics_of_a_file_change_no_count(engine, statistics, name):
    """Sail took NaN for the one number of a column, and a row of another for what it is."""
    path = _folder() / f"{name}-{statistics}.parquet"
    if not path.exists():
        EVERY[name].write_parquet(path, statistics=statistics, row_group_size=1000)
    data = in_engine(engine, path)

    for what, count in COUNTS.items():
        assert np.array_equal(count(data), in_memory(name, what)), what


@pytest.mark.spark
@pytest.mark.skipif(JAVA, reason="Spark's own Java does not read by statistics")
def test_sail_reads_no_table_that_may_have_been_looked_at():
    """A view keeps the statistics that were asked for before, and a Delta table its own."""
    path = _folder() / "view.parquet"
    EVERY["z"].write_parquet(path)
    spark().read.parquet(str(path)).createOrReplaceTempView("looked_at")
    view = spark().table("looked_at")
    managed = str(_folder() / "managed")
    spark().read.parquet(str(path)).write.format("delta").save(managed)
    delta = spark().read.format("delta").load(managed)
    for table in (view, view.select("who"), spark().sql("SELECT 1.0D AS x"), delta):
        with pytest.raises(DataError):
            tables.open_table(table)
    with pytest.raises(DataError):
        tables.open_table(spark().read.format("delta").load(str(path)))
