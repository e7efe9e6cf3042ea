"""Formats of files: each is read as its own reader reads it, a record at a time, or cured."""

import json
from datetime import date, datetime

import narwhals as nw
import polars as pl
import pyreadstat
import pytest
import xlsxwriter

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables.columns import Measure
from dpselect.tables.formats import FORMATS
from dpselect.tables.opening import held
from support.refusals import refused

COLUMNS = ["ward", "days", "admitted"]
ROWS = [
    ("heart", 3.0, date(2026, 1, 31)),
    ("lung", 4.5, date(2026, 2, 1)),
    (None, None, None),
    ("heart", 5.0, date(2026, 3, 1)),
]


def workbook(path, *sheets):
    """Write a workbook of Excel: days are numbers in a format of dates."""
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as file:
        for rows in sheets:
            sheet = file.add_worksheet()
            for line, row in enumerate(rows):
                sheet.write_row(line, 0, row)


def written(folder, kind, rows):
    """Return a file of a format with rows."""
    path = folder / f"stays{kind}"
    frame = pl.DataFrame(
        rows, {"ward": pl.String, "days": pl.Float64, "admitted": pl.Date}, orient="row"
    )
    if kind in {".parquet", ".pq"}:
        frame.write_parquet(path)
    elif kind in {".arrow", ".feather", ".ipc"}:
        frame.write_ipc(path)
    elif kind in {".jsonl", ".ndjson"}:
        texts = ({**dict(zip(COLUMNS, row, strict=True))} for row in rows)
        path.write_text("".join(f"{json.dumps(one, default=str)}\n" for one in texts))
    elif kind in {".xlsx", ".xlsm"}:
        workbook(path, [COLUMNS, *rows])
    elif kind in {".dta", ".sav", ".zsav", ".xpt"}:
        write = {".dta": "dta", ".xpt": "xport"}.get(kind, "sav")
        getattr(pyreadstat, f"write_{write}")(frame.to_pandas(date_as_object=True), path)
    else:
        separator = {".csv": ",", ".psv": "|"}.get(kind, "\t")
        frame.write_csv(path, separator=separator)
    return path


WRITTEN = sorted(FORMATS.keys() - {".sas7bdat"})


@pytest.mark.parametrize("kind", WRITTEN)
def test_rows_are_the_same_in_every_format(tmp_path, kind):
    """It is the ending of the name, or stated."""
    path, bare = written(tmp_path, kind, ROWS), tmp_path / "dump"
    bare.write_bytes(path.read_bytes())

    read = tables.read_columns(
        tables.Source(bare, format=kind), numeric=["days"], plain=["ward"]
    )
    kept = tables.read_columns(tables.Source(path, where=["days > 4"]), numeric=["days"])
    days = tables.open_table(path).collect()["admitted"].to_list()

    assert tables.series_numbers(read["days"]).tolist()[:2] == [3, 4.5]
    assert read["ward"].to_list() == ["heart", "lung", None, "heart"]
    assert kept["days"].to_list() == [4.5, 5]
    assert [*map(str, days)] == ["2026-01-31", "2026-02-01", "None", "2026-03-01"]


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("odd", [("x" * 99, 1e300, None), ("7", 0.5, date(9999, 1, 1))])
def test_no_record_changes_how_others_are_read(tmp_path, kind, odd):
    """No type depends on a row."""
    plain = tables.open_table(written(tmp_path, kind, ROWS))
    types, rows = plain.collect_schema(), plain.collect().rows()

    more = tables.open_table(written(tmp_path, kind, [*ROWS, odd]))

    assert more.collect_schema() == types
    assert more.collect().rows()[: len(rows)] == rows


def test_integers_of_statistics_are_floats_unless_declared(tmp_path):
    """Stata stores a column in the smallest type that holds the values of all persons."""
    frame = pl.DataFrame({"code": [1, 2, 2]}).to_pandas()
    pyreadstat.write_dta(frame, tmp_path / "small.dta")

    stated = tables.Source(tmp_path / "small.dta", column_type={"code": "integer"})

    assert tables.open_table(tmp_path / "small.dta").collect_schema()["code"] == nw.Float64
    read = tables.read_columns(stated, numeric=[], plain=["code"])
    assert read["code"].to_list() == [1, 2, 2]
    with refused("column_type"):
        tables.open_table(tables.Source(tmp_path / "small.dta", column_type={"code": "date"}))


@pytest.mark.parametrize("kind", ["dta", "sav"])
def test_labels_of_numbers_are_texts_where_they_are_declared(tmp_path, kind):
    """Each file has its own."""
    frame, write = pl.DataFrame({"sex": [1, 2, 9]}), getattr(pyreadstat, f"write_{kind}")
    for name, labels in (("a", {1: "male", 2: "female"}), ("b", {1: "female", 2: "male"})):
        write(frame, tmp_path / f"{name}.{kind}", variable_value_labels={"sex": labels})

    held = tables.open_table(tables.Source(tmp_path, column_type={"sex": "text"})).collect()
    assert held["sex"].to_list() == ["male", "female", "9", "female", "male", "9"]


def test_lines_of_json_are_read_one_by_one(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = ['{"a.b": 1, "q\\"": "NA"}', "", "nonsense {", '{"a.b": " 2,5 "}', '["a.b"]']
    path.write_text("\n".join([*lines, '{"c": 1}']))

    rows = tables.open_table(tables.Source(path, missing=["NA"])).collect()
    numbers = tables.Source(path, decimal=",")

    assert rows.rows() == [("1", None), (None, None), ("2,5", None), (None, None), (None, None)]
    assert tables.read_columns(numbers, numeric=["a.b"])["a.b"].to_list()[2] == 2.5
    named = tables.open_table(tables.Source(path, header=["c"])).collect()
    assert named["c"].to_list()[-1] == "1"


def test_cells_of_a_workbook_are_text_below_the_lines_above_its_header(tmp_path):
    path = tmp_path / "plate.xlsx"
    workbook(
        path, [["Block Type", "384"], ["run", 7.0], ["who", "ct"], ["a", 38.5], ["7", "n/a"]]
    )

    rows = tables.open_table(tables.Source(path, skip_lines=2, missing="n/a")).collect()

    assert rows.to_dict(as_series=False) == {"who": ["a", "7"], "ct": ["38.5", None]}
    named = tables.open_table(tables.Source(path, skip_lines=3, header=["who", "ct", "more"]))
    assert named.collect().rows() == [("a", "38.5", None), ("7", "n/a", None)]


def test_one_of_several_sheets_is_named(tmp_path):
    path = tmp_path / "years.xlsx"
    workbook(path, [["who"], ["a"]], [["who"], ["b"]])

    for source in (tables.Source(path), tables.Source(path, sheet="2026")):
        with refused("sheet", error=DataError):
            tables.open_table(source)
    one = tables.open_table(tables.Source(path, sheet="Sheet2"))
    assert one.collect().rows() == [("b",)]


@pytest.mark.parametrize(
    "stated",
    [{"date_format": "%d/%m/%y"}, {"date_format": "%Y-%d-%m"}, {"time_zone": "Asia/Tokyo"}],
)
@pytest.mark.parametrize("declared", [True, False])
def test_cells_that_hold_days_are_read_whatever_is_stated_of_texts(tmp_path, stated, declared):
    path = tmp_path / "stays.xlsx"
    workbook(path, [["at"], [date(1931, 2, 1)], ["01/02/26"]])
    types = {"at": "time"} if declared else {}

    data = Measure("local time").of(tables.Source(path, column_type=types, **stated), "at")

    days = [-14_214.0, 20_485.0 if stated.get("date_format") == "%d/%m/%y" else None]
    assert (data.collect()["at"] / 86_400_000_000).to_list() == days


@pytest.mark.parametrize("engine", ["memory", "polars", "duckdb"])
def test_local_times_beside_those_of_a_zone_are_refused(tmp_path, engine):
    """Engines took one for the other, by the first of the files."""
    times = pl.DataFrame({"t": [datetime(2026, 2, 1, 12)]})  # noqa: DTZ001 -- a local time
    times.write_parquet(tmp_path / "1.parquet")
    times.with_columns(pl.col("t").dt.replace_time_zone("UTC")).write_parquet(
        tmp_path / "2.parquet"
    )

    with refused(error=DataError):
        tables.count_records(held(str(tmp_path), engine))
