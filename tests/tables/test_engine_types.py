"""Every type in every engine: the counts that its values have, or a refusal by the type alone.

docs/reference/tables.md shows the table; here it is measured.
"""

import re
import tempfile
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from math import isnan, nan
from pathlib import Path
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dp
from dpselect.errors import ColumnError, DataError
from dpselect.keys.rows import KeyRows
from dpselect.tables.people import PeopleCap
from support.engines import JAVA, duckdb_session, spark
from support.placing import placed
from support.ranks import ranks_in

DAY = date(2024, 2, 29)
NOON = datetime(2024, 2, 29, 12, tzinfo=UTC)
TEXTS = ["flu", "FLU", "flu", "flú", "flu ", None]
VALUES = {
    "text": (TEXTS, pa.string()),
    "large text": (TEXTS, pa.large_string()),
    "dictionary": (TEXTS, pa.dictionary(pa.int8(), pa.string())),
    "boolean": ([True, False, True, None], pa.bool_()),
    "int8": ([1, -1, 1, None], pa.int8()),
    "int64": ([2**53 + 1, 2**53, -(2**63), None], pa.int64()),
    "uint8": ([200, 1, 200, None], pa.uint8()),
    "uint32": ([2**31, 1, 2**32 - 1, None], pa.uint32()),
    "uint64": ([2**64 - 1, 2**53 + 1, 0, None], pa.uint64()),
    "decimal without digits": ([Decimal(10), Decimal(3), None], pa.decimal128(20, 0)),
    "decimal": ([Decimal("0.10"), Decimal("0.30"), None], pa.decimal128(20, 2)),
    "float": ([0.0, -0.0, nan, None, 0.5, float("inf")], pa.float64()),
    "float32": ([0.0, -0.0, nan, None, 0.5], pa.float32()),
    "date": ([DAY, DAY, date(1, 1, 1), None], pa.date32()),
    "date64": ([DAY, DAY, date(1970, 1, 1), None], pa.date64()),
    "time stamp": ([NOON.replace(tzinfo=None), None], pa.timestamp("us")),
    "time stamp with a zone": ([NOON, NOON, None], pa.timestamp("us", "Europe/Paris")),
    "time of day": ([time(12), None], pa.time64("us")),
    "duration": ([timedelta(1), None], pa.duration("us")),
    "bytes": ([b"flu", None], pa.binary()),
    "list": ([[1], None], pa.list_(pa.int64())),
}
SPELT = ["flu", "FLU", "flu", None]
NATIVE = {
    "128-bit integer": ([2**63 - 1, 5, 5, None], "HUGEINT"),
    "enumeration": (SPELT, "spelt"),
    "NOCASE": (TEXTS, "VARCHAR COLLATE NOCASE"),
    "NOACCENT": (TEXTS, "VARCHAR COLLATE NOACCENT"),
    "NOCASE of the connection": (TEXTS, "VARCHAR"),
    "enumeration, NOCASE of the connection": (SPELT, "spelt"),
    "CHAR(5)": (TEXTS, "CHAR(5)"),
    "UUID": ([str(UUID(int=one)) for one in (7, 7, 2**100)], "UUID"),
}
"""Types that only some engines have, each made there, with that of DuckDB."""

EVERY = [*VALUES, *NATIVE]
EDGES = [0.0, 0.3, 3.0]
ENGINES = ["polars", "pandas", "pyarrow", "polars lazy", "DuckDB", "Spark"]
OF_JAVA = {"dictionary": "keys", "date64": "keys"}
"""What Spark in Java reads as text and as dates, which Sail refuses."""

OF_POLARS = {"128-bit integer": pl.Int128, "enumeration": pl.Enum(["flu", "FLU"])}


@cache
def held(engine, kind):
    """Return the values of a type in an engine, a row a person; None if it has no such type."""
    if kind in NATIVE:
        return _native(engine, kind)
    values, arrow = VALUES[kind]
    table = pa.table({"v": pa.array(values, arrow), "who": pa.array(range(len(values)))})
    in_memory = {
        "pyarrow": lambda: table,
        "pandas": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.from_arrow(table),
        "polars lazy": lambda: pl.from_arrow(table).lazy(),
        "DuckDB": lambda: duckdb_session().from_arrow(table),
    }
    return in_memory[engine]() if engine in in_memory else _of_file(table)


def _of_file(table):
    path = Path(tempfile.mkdtemp()) / "rows.parquet"
    if table.schema.field("v").type == pa.duration("us"):
        return None
    pq.write_table(table, path)
    return spark().read.parquet(str(path))


def _native(engine, kind):
    values, sql = NATIVE[kind]
    if engine in {"polars", "polars lazy"} and kind in OF_POLARS:
        held = pl.Series(values, dtype=OF_POLARS[kind])
        frame = pl.DataFrame({"v": held, "who": range(len(held))})
        return frame if engine == "polars" else frame.lazy()
    if engine != "DuckDB":
        return None
    connection = duckdb.connect()
    connection.execute("CREATE TYPE spelt AS ENUM ('flu', 'FLU')")
    if "of the connection" in kind:
        connection.execute("SET default_collation = 'nocase'")
    connection.execute(f"CREATE TABLE t (v {sql}, who BIGINT)")
    rows = [*zip(values, range(len(values)), strict=True)]
    connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    return connection.table("t")


def keys(data, **asked):
    counted = KeyRows(("v",), **asked).read(data).parts()[0][1]
    named = counted.keys_at(np.arange(counted.people.size))
    return dict(zip(named, counted.people.tolist(), strict=True))


def people(data):
    """Return the same keys, each of whoever has it."""
    return keys(data, cap=PeopleCap("who", 1))


def candidates(data):
    """Return the same of public keys, which an engine compares with its own."""
    known = [*keys(data)]
    found = KeyRows(("v",), candidates=tuple(known)).read(data).of(known)
    return dict(zip(known, found[0].tolist(), strict=True))


def numbers(data):
    below, upto, *more = ranks_in(data, np.array(EDGES), "v")
    return [*below, *upto, *more]


def expected(kind):
    """Return the counts by definition: what is written otherwise is another key."""
    values, _ = (NATIVE | VALUES)[kind]
    there = [value for value in values if value is not None]
    return {value: there.count(value) for value in there}


def expected_numbers(kind):
    values, _ = (NATIVE | VALUES)[kind]
    there = [float(v) for v in values if v is not None and not isnan(v)]
    there = placed(there, EDGES)
    below = [sum(v < edge for v in there) for edge in EDGES]
    upto = [sum(v <= edge for v in there) for edge in EDGES]
    return [*below, *upto, len(there), len(values) - len(there)]


COUNTS = {"keys": keys, "candidates": candidates, "persons": people, "numbers": numbers}


def answer(engine, kind):
    """Return what a type is in an engine: keys, numbers, both, refused or not there."""
    try:
        data = held(engine, kind)
    except Exception as error:
        # Spark in Java refuses the file itself.
        if "UNSUPPORTED_TIME_TYPE" in str(error):
            return "refused"
        raise
    if data is None:
        return "none"
    found = []
    for what, count in COUNTS.items():
        with suppress(ColumnError, DataError):
            right = expected_numbers if what == "numbers" else expected
            assert count(data) == right(kind), what
            found.append(what)
    cell = ", ".join(found) or "refused"
    return cell.replace("keys, candidates, persons", "keys")


def stated():
    """Return the table of the page, by type and engine."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "tables.md").read_text(
        encoding="utf-8"
    )
    table = page.partition("| type |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.*) \|$", table, re.MULTILINE)
    lines = [[cell.strip() for cell in row.split(" | ")] for row in rows if "---" not in row]
    return {
        kind: dict(zip(ENGINES, cells, strict=True))
        for kinds, *cells in lines
        for kind in kinds.split(" / ")
    }


@pytest.mark.parametrize(
    "engine", [*ENGINES[:-1], pytest.param("Spark", marks=pytest.mark.spark)]
)
def test_every_type_has_the_same_counts_or_is_refused(engine):
    expected = {kind: cells[engine] for kind, cells in stated().items()}
    measured = {kind: answer(engine, kind) for kind in EVERY}
    assert measured == expected | (OF_JAVA if JAVA and engine == "Spark" else {})


def test_a_collation_decides_no_comparison():
    for kind in ("NOCASE", "NOACCENT", "NOCASE of the connection"):
        source = dp.tables.Source(frame=held("DuckDB", kind), where=["v = 'flu'"])
        assert keys(source) == {"flu": 2}


@pytest.mark.spark
@pytest.mark.skipif(not JAVA, reason="Sail has no collations")
def test_a_collation_of_spark_decides_no_comparison():
    rows = spark().sql(
        "SELECT collate(v, 'UTF8_LCASE') AS v FROM VALUES ('FLU'), ('flu'), ('flu') AS t(v)"
    )
    assert keys(rows) == {"flu": 2, "FLU": 1}
