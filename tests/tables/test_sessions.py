"""What is wrong with a master, or with Java, in one line and soon."""

import socket
from pathlib import Path

import pytest

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables import spark
from support.engines import JAVA
from support.refusals import refused


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
