"""Engines: each name is that of one file, DuckDB has tables, and what is wrong with Spark."""

import os
import socket
from pathlib import Path

import duckdb
import polars as pl
import pytest

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables import Source, spark
from dpselect.tables.opening import held
from support.engines import JAVA, SPARK, master
from support.refusals import refused

NAMES = [
    "a*.parquet", "a?.parquet", "[x].parquet", "a[1].parquet", "[!x].parquet", "[[].parquet",
    "**.parquet", "{a,b}.parquet", "~", "a'b.parquet", "a%20b.parquet", "a b.parquet",
    "$HOME.parquet", "#.parquet", "a,b.parquet",
]  # fmt: skip
OTHERS = ["ab.parquet", "a1.parquet", "x.parquet", "y.parquet", "a.parquet", "b.parquet"]


def written(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame({"v": range(rows)}).write_parquet(path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder, which is also the present one and the home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in OTHERS:
        written(tmp_path / name, 7)
        written(tmp_path / "home" / name, 7)
    return tmp_path


def rows_of(path, engine):
    options = {"master": master()[1]} if engine == "spark" and master() else {}
    return tables.count_records(held(path, engine, **options))


@pytest.mark.parametrize("engine", ["memory", "polars", "duckdb", SPARK])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_that_of_one_file(folder, engine, name):
    """DuckDB and Spark took some for patterns, and a policy's file for others."""
    path = Path("~/a.parquet") if name == "~" else Path(name)
    written(folder / path, 3)
    unspoken = engine == "spark" and {*name} & {*"*?[]{}"}
    for given in (str(path), str(folder / path)):
        # DuckDB finds no file in a folder that is called like the home.
        if unspoken or (engine == "duckdb" and given.startswith("~")):
            with pytest.raises(DataError):
                rows_of(given, engine)
        else:
            assert rows_of(given, engine) == 3


@pytest.mark.parametrize("engine", ["memory", "polars", "duckdb", SPARK])
@pytest.mark.parametrize("link", [os.link, os.symlink])
@pytest.mark.parametrize("pattern", ["parts", "parts/*.parquet"])
def test_rows_count_once_whatever_links_to_them(tmp_path, engine, link, pattern):
    written(tmp_path / "parts" / "one.parquet", 3)
    written(tmp_path / "parts" / "two.parquet", 4)
    link(tmp_path / "parts" / "one.parquet", tmp_path / "parts" / "again.parquet")
    path = f"{tmp_path}/{pattern}"
    if engine == "spark":
        with pytest.raises(DataError):
            rows_of(path, engine)
    else:
        assert rows_of(path, engine) == 7


@pytest.fixture
def database(tmp_path):
    written(tmp_path / "stays.parquet", 7)
    (tmp_path / "stays.csv").write_text("v\n1\n")
    with duckdb.connect(tmp_path / "clinic.duckdb") as connection:
        connection.execute("create table stays as select * from range(7) as rows(v)")
    return tmp_path


@pytest.mark.parametrize("name", ["stays.parquet", "*.parquet", "clinic.duckdb::stays"])
def test_duckdb_reads_parquet_and_its_own_tables(database, name):
    for where, rows in (((), 7), (("v > 2",), 4)):
        assert rows_of(Source(f"{database}/{name}", where=where), "duckdb") == rows


def test_what_duckdb_cannot_read_is_one_error_of_ours(database):
    absent = ("absent.parquet", "absent.duckdb::a", "clinic.duckdb::absent")
    for name in (*absent, "stays.csv::a", "stays.csv"):
        with pytest.raises(DataError):
            held(f"{database}/{name}", "duckdb")


# What is wrong with a master, or with Java, is said in one line and soon.


@pytest.fixture
def listener():
    """Return the address of somebody who listens and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield f"127.0.0.1:{silent.getsockname()[1]}"


@pytest.mark.parametrize("scheme", ["sc", "spark"])
def test_nobody_listens(scheme):
    with socket.socket() as deaf:  # which is bound, so that nobody else listens there
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(DataError):
            spark.session(f"{scheme}://127.0.0.1:{deaf.getsockname()[1]}")


def test_another_program_listens(listener, monkeypatch):
    monkeypatch.setattr(spark, "PATIENCE", 0.1)

    with pytest.raises(DataError):
        spark.session(f"sc://{listener}")


def test_there_is_no_java(monkeypatch):
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(spark, "which", lambda _: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)

    with pytest.raises(DataError):
        spark.session("local[1]")


def test_files_of_other_formats_are_refused_before_spark_starts(tmp_path, monkeypatch):
    """rows.csv was asked for as a table of the schema rows."""
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "parts/rows.csv", "data.v1/rows.parquet"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    monkeypatch.setattr(spark, "session", lambda _: 1 / 0)

    for name in ("rows.csv", "parts"):
        with refused("engine", error=DataError):
            tables.spark_table(name)
    with pytest.raises(ZeroDivisionError):
        tables.spark_table("data.v1")


@pytest.mark.spark
@pytest.mark.skipif(JAVA, reason="Sail's server can be stopped here")
def test_a_server_that_is_gone_is_one_line(monkeypatch):
    monkeypatch.setattr(spark, "RETRIES", 1)
    pytest.importorskip("pysail", reason="Sail is not installed")
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer()
    server.start(background=True)
    held = spark.session(f"sc://127.0.0.1:{server.listening_address[1]}")
    rows = held.range(3)
    server.stop()

    with pytest.raises(DataError):
        tables.count_records(rows)
