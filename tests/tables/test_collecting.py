"""Aggregates collected from engines: their declared size, blocks of sums, and errors."""

import numpy as np
import polars as pl
import pytest

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables.collecting import sum_in_blocks
from dpselect.tables.engine import engine_of
from support.engines import every_engine, held_by

ROWS = pl.DataFrame({"group": [0, 1, 1, 2] * 100, "one": [1] * 400})


@every_engine
def test_more_rows_than_declared_do_not_leave_the_engine(engine, crossing):
    with pytest.raises(DataError):
        tables.collect(tables.open_table(held_by(engine, ROWS)), ROWS, most=7)

    assert max(crossing) == 8


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_more_sums_than_one_pass_takes_are_summed_in_blocks(engine, crossing):
    import narwhals as nw

    held = held_by(engine, ROWS)
    sums = [(nw.col("one") * j).sum().alias(f"sum{j}") for j in range(250)]

    blocks = sum_in_blocks(tables.open_table(held), held, sums, by=["group"], most=3)

    assert len(blocks) == 2
    for block in blocks:
        records = np.array([100, 200, 100])[tables.counts(block.pop("group"))]
        for name, column in block.items():
            assert (tables.counts(column) == int(name.removeprefix("sum")) * records).all()
    assert max(crossing) <= 3


@every_engine
def test_cached_rows_are_the_same_rows(engine):
    held = held_by(engine, ROWS)

    with engine_of(tables.open_table(held).lazy()).cached() as rows:
        found = tables.collect(rows, held, most=400)

    assert sorted(found["group"].tolist()) == sorted(ROWS["group"].to_list())


@every_engine
def test_the_sum_over_no_rows_counts_as_0(engine):
    import narwhals as nw

    held = held_by(engine, pl.DataFrame(schema={"one": pl.Int64}))
    query = tables.open_table(held).lazy().select(nw.col("one").sum())

    assert tables.counts(tables.collect(query, held, most=1)["one"]).tolist() == [0]
