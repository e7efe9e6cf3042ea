"""Rows that comparisons keep, in every engine, and what one record does to the others."""

from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from functools import partial
from math import inf, isnan, nan
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect import tables
from dpselect.errors import ColumnError
from dpselect.tables.dialect import Dialect
from dpselect.tables.where import OPERATORS, Comparison, filtered
from support.engines import held_by
from support.odd_records import LARGE, examples, odd_tables
from support.refusals import refused

NUMBERS = ["0", "1", "0.5", "-1", str(LARGE), "-9223372036854775809", "1e19", "1e308"]
NUMBERS += map(str, (-(2**63), 2**63 - 1, 2**63, 2**64 - 1, 2**64))
TEXTS = ["a", "1", "", "é", "it's"]


def definition(comparison, value):
    """Return whether a value is kept: None and NaN never are, numbers compare exactly."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return False
    literal = comparison.literal
    if isinstance(value, float):
        literal = float(literal)
    elif isinstance(value, int) and not isinstance(value, bool):
        value, literal = Fraction(value), Fraction(literal)
    return OPERATORS[comparison.operator](value, literal)


def rows_of(data, comparisons, *, dialect=None):
    """Return how often each row is kept."""
    table = tables.open_table(data)
    table = filtered(table, comparisons, dialect=dialect).lazy()
    columns = tables.collect(table, data, most=50)
    return Counter(
        map(repr, zip(*(column.tolist() for column in columns.values()), strict=True))
    )


TIMES = [datetime(2024, 1, day, 12, 0, 0, day) for day in range(1, 7)]  # noqa: DTZ001
ZONE = ZoneInfo("America/New_York")
VALUES = {
    "i": [None, 0, 1, 2**53, LARGE, 2**63 - 1, -(2**63)],
    "v": [None, nan, inf, -inf, -1.0, 0.5, 1e19],
    "f": [None, nan, 0.1, 0.3, 0.7, 0.1, 0.5],
    "t": [None, "a", "b", "é", "", "1", "it's"],
    "b": [None, True, False, True, False, True, None],
    "d": [None, *(time.date() for time in TIMES)],
    "m": [None, *TIMES],
    "z": [None, *(time.replace(tzinfo=ZONE) for time in TIMES)],
}
LITERALS = {
    **dict.fromkeys("iv", NUMBERS),
    "f": ["0.1", "0.3", "0.7"],
    "t": ["'a'", "'é'", "''", "'it''s'"],
    "b": ["true", "false"],
    "d": ["'2024-01-03'"],
    "m": ["'2024-01-02'", "'2024-01-02T12:00:00.000002'"],
    "z": ["'2024-01-02T18:00:00.000002+01:00'", "'2024-01-02T17:00Z'"],
}
MEANT = {"d": date.fromisoformat, "m": datetime.fromisoformat, "z": datetime.fromisoformat}


def kept_of(held, text):
    frame = tables.Source(frame=held, where=text)
    rows = tables.collect(tables.open_table(frame).lazy().select("row"), held, most=7)
    return sorted(rows["row"].tolist())


@pytest.mark.parametrize(
    "hold",
    [
        pl.DataFrame.lazy,
        # pandas writes nanoseconds to Parquet.
        lambda frame: held_by(
            "duckdb", frame.with_columns(pl.col("z").dt.cast_time_unit("ns"))
        ),
        pytest.param(partial(held_by, "spark"), marks=pytest.mark.spark),
        pl.DataFrame.clone,
        lambda frame: frame.drop("i").to_pandas(),
        lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
        pl.DataFrame.to_arrow,
        lambda frame: frame.with_columns(pl.col("m", "z").dt.cast_time_unit("ns")),
        lambda frame: frame.with_columns(pl.col("f").cast(pl.Float16)),
    ],
)
def test_every_engine_keeps_the_rows_of_the_definition(hold):
    """Times and short floats are compared as their columns hold them."""
    frame = pl.DataFrame({"row": range(7), **VALUES}, schema_overrides={"f": pl.Float32})
    held = hold(frame.with_columns(pl.col("z").dt.convert_time_zone(ZONE.key)))
    every = [
        (column, sign, literal)
        for column in tables.open_table(held).collect_schema().names()[1:]
        for sign in (["=", "!="] if column == "b" else OPERATORS)
        for literal in LITERALS[column]
    ]
    for column, sign, literal in every[:: 5 if "pyspark" in type(held).__module__ else 1]:
        one = Comparison.read(f"{column} {sign} {literal}")
        right = replace(one, literal=MEANT.get(column, lambda same: same)(one.literal))
        expected = [k for k, value in enumerate(VALUES[column]) if definition(right, value)]
        assert kept_of(held, f"{column} {sign} {literal}") == expected, one


@given(
    odd_tables(
        ("v", "w"),
        ("integer", "text"),
        ("unsigned", "text"),
        ("number", "text"),
        containers=[
            *("csv", "parquet", "polars", "polars lazy", "duckdb", "pandas", "pyarrow")
        ],
    ),
    st.lists(
        st.tuples(st.sampled_from(sorted(OPERATORS)), st.sampled_from(NUMBERS)), max_size=2
    ),
    st.lists(st.tuples(st.sampled_from(sorted(OPERATORS)), st.sampled_from(TEXTS)), max_size=1),
)
@examples
def test_a_record_is_kept_or_dropped_alone(odd, numbers, texts):
    quoted = [(sign, "'" + text.replace("'", "''") + "'") for sign, text in texts]
    asked = [f"v {sign} {literal}" for sign, literal in numbers]
    asked += [f"w {sign} {literal}" for sign, literal in quoted]
    comparisons = [Comparison.read(text) for text in asked]
    dialect = Dialect(column_type={"w": "text"}) if odd.container == "csv" else None

    without = rows_of(odd.without(), comparisons, dialect=dialect)
    gained = rows_of(odd.with_it(), comparisons, dialect=dialect)
    gained.subtract(without)

    moved = [count for count in gained.values() if count]
    if dialect is not None:
        assert moved in ([], [1])
        return
    by_column = {"v": 0, "w": 1}
    keeps = all(definition(one, odd.odd[by_column[one.column]]) for one in comparisons)
    assert moved == ([1] if keeps else [])


def test_fields_are_not_ordered_by_their_characters():
    fields = tables.open_table(pl.LazyFrame({"day": ["1/2/2026"]}))

    with refused("column_type", error=ColumnError):
        filtered(fields, [Comparison.read("day >= '1/2/2026'")], dialect=Dialect())
    filtered(fields, [Comparison.read("day = '1/2/2026'")], dialect=Dialect())


def test_a_mark_in_the_name_of_a_column_is_doubled():
    held = pl.DataFrame({'6" = 1': [1, 2], "row": [1, 2]})

    assert kept_of(held, '"6"" = 1" == 2') == [2]


def test_no_rows_are_selected_where_one_may_be_replaced():
    """How many are kept would be taken for public, by an error or to choose a method."""
    data = tables.Source(frame=pl.DataFrame({"ward": ["lung"]}), where=["ward = 'heart'"])
    price = {"epsilon": 1.0, "neighbours": "substitute"}
    top = dp.TopKeys(column="ward", k=1, candidates=["lung"], **price)
    budget = dp.Budget(9.0, neighbours="substitute")

    for release in (top.release, partial(dp.run, [top, top])):
        with refused("neighbours", "where"):
            release(data, budget=budget)
    assert budget.entries == ()
