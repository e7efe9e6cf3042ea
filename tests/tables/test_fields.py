"""Fields of text files as declared types: each by itself, alike in every engine."""

import re
from datetime import datetime
from itertools import product

import narwhals as nw
import polars as pl
import pytest

import dpselect as dp
from dpselect import tables
from dpselect.errors import ColumnError
from dpselect.tables.dialect import Dialect
from dpselect.tables.opening import held
from support.refusals import refused


def file_of(folder, columns, **how):
    path = folder / "rows.csv"
    pl.DataFrame(columns).write_csv(path, **how)
    return path


DAY = datetime(2024, 2, 29)  # noqa: DTZ001 -- a local time
HALF = DAY.replace(hour=12, minute=30)
QUARTER = HALF.replace(second=15, microsecond=250_000)
NOON = datetime(2026, 7, 1, 12)  # noqa: DTZ001 -- a local time
WRITTEN = [
    ("number", {}, "7| 7.5 |1e3|7,5|2024-02-29", [7.0, 7.5, 1000.0]),
    ("number", {"thousands": ","}, "1,200.5|7|12,00|1,2,3", [1200.5, 7]),
    ("number", {"thousands": ".", "decimal": ","}, "1.200,5|2,5|1.5", [1200.5, 2.5]),
    ("number", {"thousands": "\N{NO-BREAK SPACE}"}, "1\N{NO-BREAK SPACE}200|1 200", [1200]),
    ("integer", {}, f"7| -3 |+5|007|7.0|7.5|1e3|{2**63}", [7, -3, 5, 7, 7]),
    ("number", {"decimal": ","}, "1,5|1.5", [1.5]),
    ("integer", {"thousands": "'"}, "1'000|12|1'0", [1000, 12]),
    ("integer", {"decimal": ","}, "1,00|1.0", [1]),
    ("date", {}, "2024-02-29| 2024-02-29 |2024-02-29T12:00", [DAY.date()] * 3),
    ("date", {}, "2023-02-29|2024-2-29|2024-02-29 24:00|29.02.2024|7", []),
    ("date", {"date_format": "%m/%d/%y"}, "07/01/26|7/1/26|2026-07-01", [NOON.date()] * 2),
    (
        "date",
        {"time_zone": "Europe/Berlin"},
        "2026-06-30T23:00:00Z|2026-07-01",
        [NOON.date()] * 2,
    ),
    ("date", {"time_zone": "Europe/Berlin"}, "2026-07-01Z", []),
    ("time", {}, "2024-02-29|2024-02-29 12:30:15.25|2024-02-29T12:30:60", [DAY, QUARTER]),
    ("time", {}, "2024-02-29T12:30|2024-02-29T24:30|2024-02-29T12:30:15Z|12:30", [HALF]),
    ("time", {"date_format": "%d.%m.%Y %H:%M"}, "1.07.2026 12:00|1.07.26 12:00", [NOON]),
    ("time", {"time_zone": "Europe/Berlin"}, "2026-07-01T10:00Z|2026-07-01T10:00", [NOON]),
    ("time", {"time_zone": "Europe/Berlin"}, "2026-07-01 12:00:00+02", [NOON]),
    ("time", {"date_format": "%Y%m%dT%H%M%z"}, "20260701T1200Z|20260701T1300+0100", [NOON] * 2),
    ("text", {}, "7|2024-02-29", ["7", "2024-02-29"]),
]


@pytest.mark.parametrize(("kind", "stated", "fields", "read"), WRITTEN)
def test_fields_are_read_as_declared_or_missing(tmp_path, kind, stated, fields, read):
    """Those that are read stand first, and all others are missing."""
    fields = [*fields.split("|"), "x"]
    path = file_of(tmp_path, {"row": [*range(len(fields))], "v": fields}, separator="|")
    types = {"v": kind, "row": "integer"}
    source = tables.Source(path, column_type=types, separator="|", **stated)

    found = tables.read_columns(source, numeric=[], plain=["row", "v"])

    read = read + (["x"] if kind == "text" else [None] * (len(fields) - len(read)))
    assert sorted(found.rows()) == [*enumerate(read)]


def test_a_field_is_an_integer_by_a_sign_and_digits_with_zeros_behind_a_point():
    parts = ["+", "-", "0", "7", ".", ",", "e", "_", "x", " ", "\t", "\0", "٣", "9" * 18]
    fields = ["".join(one) for size in range(4) for one in product(parts, repeat=size)]
    written = [re.fullmatch(r"\s*([+-]?[0-9]+)([.]0*)?\s*", one) for one in fields]
    whole = [one and int(one[1]) for one in written]

    read = Dialect().typed(nw.from_native(pl.DataFrame({"v": fields})), {"v": "integer"})

    in_64_bits = [one if one is not None and -(2**63) <= one < 2**63 else None for one in whole]
    assert read["v"].to_list() == in_64_bits


STAYS = {"days": [40] * 200, "admitted": ["2024-01-31"] * 200}
AR = {"epsilon": 50.0, "neighbours": "add-remove"}


@pytest.mark.parametrize("engine", ["memory", "polars"])
def test_a_number_less_a_date_is_refused_by_what_is_declared(tmp_path, engine):
    path = file_of(tmp_path, STAYS)
    query = dp.Percentiles(column="days", minus="admitted", p=50, upper=60, step=1, **AR)
    stated = {"days": "number", "admitted": "date"}

    with refused("lower", "upper", error=ColumnError):
        query.release(held(tables.Source(path, column_type=stated), engine))
    for less in ({}, {"days": "number"}, {"absent": "date"}):
        with refused("column_type", error=ColumnError):
            query.release(held(tables.Source(path, column_type=less), engine))
