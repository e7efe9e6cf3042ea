"""Errors of engines quote values; what is raised, printed and logged here does not."""

import logging
import traceback

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dp
from dpselect import tables
from dpselect.errors import DPSelectError
from dpselect.maps.box import Box
from dpselect.maps.points import PointRows
from dpselect.networks import EdgeTable, Graph
from dpselect.tables import values
from dpselect.tables.engine import LOGGERS, engine_of
from support.engines import JAVA, held_by, spark

MARKER = "marker77"
LIMITED = {
    "column": "v",
    "user": "w",
    "max_per_user": 1,
    "epsilon": 1.0,
    "neighbours": "add-remove",
}
PERSONS = [
    dp.Percentiles(p=50, upper=9, step=1, **LIMITED),
    dp.Keys(delta=1e-6, **LIMITED),
    dp.TopKeys(k=1, candidates=[1, 2], **LIMITED),
]


def text_as_numbers():
    return pl.LazyFrame({"v": [MARKER, "1"], "w": [1, 2]}).with_columns(
        pl.col("v").cast(pl.Int64)
    )


def of_duckdb():
    connection = duckdb.connect()
    rows = connection.from_arrow(pa.table({"v": [MARKER], "w": [1]}))
    return rows.select("cast(v as bigint) as v, w")


def damaged(folder):
    path = folder / "rows.csv"
    path.write_text(f'v,w\n1,1\n2,"{MARKER}\n3,3\n')
    return path


@pytest.mark.parametrize(
    "use",
    [
        lambda data: tables.numeric_column(data, "v"),
        lambda data: tables.collect(tables.open_table(data), data, most=9),
        lambda data: EdgeTable.from_edges(data, source="v", target="w", nodes=4).degrees,
        lambda data: Graph.from_edges(data, source="v", target="w", nodes=4),
        lambda data: (
            PointRows(Box(0, 0, 1, 1), "v", "w")
            .read(data)
            .in_rectangles(np.array([[0, 0, 1, 1]]))
        ),
        *(query.release for query in PERSONS),
    ],
    ids=[
        "column",
        "query",
        "edges",
        "graph",
        "points",
        *(type(one).__name__ for one in PERSONS),
    ],
)
@pytest.mark.parametrize("held", ["polars", "duckdb", "csv"])
def test_a_query_that_fails_is_not_quoted(use, held, tmp_path, capfd, caplog):
    data = {"polars": text_as_numbers, "duckdb": of_duckdb}.get(held, lambda: damaged(tmp_path))

    with pytest.raises(DPSelectError) as caught:
        use(data())
    assert caught.value.__context__ is None
    assert MARKER not in "".join(traceback.format_exception(caught.value))
    assert MARKER not in "".join(capfd.readouterr()) + caplog.text


@pytest.mark.parametrize(
    "use",
    [
        lambda: values.labels(np.zeros((777, 2))),
        lambda: values.check_rows(range(778), [0] * 777),
        lambda: dp.Objective(np.zeros((777, 2)), dp.GlobalSensitivity(1.0, "edge")),
        lambda: dp.Subset(n=5, d=2, epsilon=1.0).release([[1]] * 776 + [[1, 2]]),
    ],
    ids=["labels", "lengths", "scores", "members"],
)
def test_the_number_of_records_is_not_told(use):
    with pytest.raises(DPSelectError) as caught:
        use()
    assert "77" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.spark
@pytest.mark.skipif(not JAVA, reason="Spark Connect prints nothing here")
def test_spark_is_silent_while_a_query_of_ours_runs():
    def level():
        manager = spark().sparkContext._jvm.org.apache.logging.log4j.LogManager
        return manager.getRootLogger().getLevel().toString()

    table = tables.open_table(held_by("spark", pl.DataFrame({"v": [1]})))
    spark().sparkContext.setLogLevel("ERROR")
    try:
        with engine_of(table)._silenced():
            assert level() == "OFF"
            assert all(logging.getLogger(name).disabled for name in LOGGERS)
        assert level() == "ERROR"
        assert not any(logging.getLogger(name).disabled for name in LOGGERS)
    finally:
        spark().sparkContext.setLogLevel("OFF")
