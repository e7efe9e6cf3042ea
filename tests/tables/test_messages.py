"""Errors of engines quote values; what is raised, printed and logged here does not."""

import logging
from contextlib import suppress

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables.dialect import no_field
from dpselect.tables.engine import LOGGERS, engine_of
from support.engines import JAVA, held_by, spark
from support.odd_entries import ENTRIES, READINGS
from support.odd_input import MARKER, TEXT, observed


def text_as_numbers(_):
    frame = pl.LazyFrame({"f": [TEXT, "1"], "g": [1, 2], "y": ["a", "b"]})
    return frame.with_columns(pl.col("f").cast(pl.Int64))


def of_duckdb(_):
    rows = duckdb.connect().from_arrow(pa.table({"f": [TEXT], "g": [1], "y": ["a"]}))
    return rows.select("cast(f as bigint) as f, g, y")


def of_a_closed_connection(_):
    with duckdb.connect() as connection:
        return connection.sql("select 1 as f, 1 as g, 'a' as y")


def damaged(folder):
    path = folder / "rows.csv"
    path.write_text(f'f,g,y\n1,1,a\n2,"{TEXT}\n3,3,b\n')
    return path


ONE_OF_EACH = [some[0] for some in READINGS.values() if ENTRIES[some[0]].data == "table"]
MADE = [text_as_numbers, of_duckdb, of_a_closed_connection, damaged]


@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("made", MADE)
def test_a_query_that_fails_is_not_quoted(name, made, tmp_path, capfd, caplog):
    with observed() as seen:
        ENTRIES[name].call(made(tmp_path))

    assert seen.error is not None
    seen.assert_nothing_private()
    assert str(MARKER) not in "".join(capfd.readouterr()) + caplog.text


def test_rows_are_read_whole_or_refused_where_polars_panics(tmp_path):
    """It ended the batches of a compressed file of short texts in silence."""
    path = tmp_path / "rows.feather"
    texts = pa.array(["a", "b"] * 30, pa.string_view())
    feather.write_feather(pa.table({"f": [3] * 60, "y": texts}), path, compression="lz4")
    found = []

    with suppress(DataError):
        table = tables.open_table(tables.Source(path, where="y = 'a'"))
        engine_of(table).each(found.append, lambda: DataError("refused"))
        assert sum(part.height for part in found) == 30


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


def test_a_field_of_a_first_line_is_quoted_within_two_edits():
    """It may be one of a record; half of a name is no edit of it."""
    for name in ("dayz", "dyas", "DAY", "drays", "daysabc", "da", "d", "stay"):
        said = str(no_field(name, ["Smith", "days"]))
        assert ("'days'" in said.partition(";")[2]) is (
            name in {"dayz", "dyas", "DAY", "drays"}
        )
        assert "Smith" not in said
