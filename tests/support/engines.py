"""The engines that hold rows, and the same rows in each."""

import importlib
import os
import shutil
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import duckdb
import pytest

SPARK = pytest.param("spark", marks=pytest.mark.spark)
ENGINES = ["polars", "duckdb", SPARK]

every_engine = pytest.mark.parametrize("engine", ENGINES)


JAVA = os.environ.get("DPSELECT_SPARK") == "java"
"""Whether tests of Spark run in its own Java process: Sail answers the same calls faster."""


def spark():
    """Return the one session of a test run."""
    return _of_java() if JAVA else _of_sail()


def master():
    """Return the options of a command that make it use this session."""
    spark()
    return () if JAVA else ("--master", _server())


@cache
def _server():
    pytest.importorskip("pysail", reason="Sail is not installed")
    os.environ["RUST_LOG"] = "off"
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer()
    server.start(background=True)
    _server.running = server
    return f"sc://127.0.0.1:{server.listening_address[1]}"


@cache
def _of_sail():
    from dpselect.tables import spark as sessions

    sessions.PATIENCE = 60.0  # a busy machine answers late
    return sessions.session(_server())


@cache
def _of_java():
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java to run Spark")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.default.parallelism": "1",
        # Rows are few: to compile each query would take longer than to run it.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.memory": "1g",
    }
    builder = SparkSession.builder.master("local[1]").config(map=settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark warns of a pandas that we do not give it
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@cache
def duckdb_session():
    """Return one connection of DuckDB, which takes longer to open than most releases."""
    return duckdb.connect()


def held_by(engine, frame):
    """Return the rows of a polars frame as a lazy frame of an engine."""
    if engine == "polars":
        return frame.lazy()
    if engine == "duckdb":
        return duckdb_session().from_arrow(frame.to_arrow())
    session = spark()
    path = Path(tempfile.mkdtemp()) / "rows.parquet"
    frame.write_parquet(path)
    return session.read.parquet(str(path))


@pytest.fixture
def crossing(monkeypatch, request):
    """Return a list that gets the number of rows whenever an engine gives some away."""
    import narwhals as nw
    import polars as pl

    sizes = []

    def watch(kind, method):
        collect = getattr(kind, method)

        def watched(self, *args, **kwargs):
            rows = collect(self, *args, **kwargs)
            # Frames in memory of polars 1 are lazy ones that they collect themselves; the cap
            # of persons collects in the middle of a query of polars, whose memory it is in;
            # and what is given codes was in memory before.
            inside = "polars.", "dpselect.tables.people", "dpselect.tables.values"
            if not sys._getframe(1).f_globals["__name__"].startswith(inside):
                sizes.append(len(rows))
            return rows

        monkeypatch.setattr(kind, method, watched)

    watch(pl.LazyFrame, "collect")
    watch(nw.LazyFrame, "collect")
    for method in ("fetchall", "to_arrow_table", "df", "fetchnumpy", "pl"):
        if hasattr(duckdb.DuckDBPyRelation, method):
            watch(duckdb.DuckDBPyRelation, method)
    asked = getattr(request.node, "callspec", None)
    if asked is not None and "spark" in asked.params.values():
        spark()
        kind = "classic" if JAVA else "connect"
        DataFrame = importlib.import_module(f"pyspark.sql.{kind}.dataframe").DataFrame  # noqa: N806

        for method in ("collect", "toArrow", "toPandas"):
            watch(DataFrame, method)
    return sizes
