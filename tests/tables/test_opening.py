from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpselect import tables
from dpselect.errors import ColumnError, DataError, DPSelectError
from dpselect.tables.formats import CURES, FORMATS
from dpselect.tables.opening import are_in_header
from support.refusals import refused

ROWS = {"pay": [1.5, None, 3.0], "age": [30, 40, 50], "who": ["ada", "bob", "cy"]}


def as_path(folder, kind):
    path = folder / f"staff.{kind}"
    getattr(pl.DataFrame(ROWS), f"write_{kind.lower()}")(path)
    return path


HOLD = {
    "lazy": lambda _: pl.LazyFrame(ROWS),
    "pandas": lambda _: pd.DataFrame(ROWS),
    "duckdb": lambda _: duckdb.from_arrow(pa.table(ROWS)),
    "parquet": lambda folder: as_path(folder, "parquet"),
    "CSV": lambda folder: str(as_path(folder, "CSV")),
}


@pytest.fixture(params=HOLD)
def table(request, tmp_path):
    return HOLD[request.param](tmp_path)


def test_a_missing_column_is_named_with_those_that_a_schema_declares(table, request):
    """The first line of a text file may be a record."""
    of_text = request.node.callspec.params["table"].lower() == "csv"
    with pytest.raises(ColumnError) as caught:
        tables.numeric_column(table, "salary")
    assert ("pay" in str(caught.value)) is not of_text
    with pytest.raises(ColumnError):
        tables.check_columns(table, plain=["salary"])


def test_no_rows_are_no_error(tmp_path):
    empty = pl.DataFrame(ROWS).clear()
    empty.write_csv(tmp_path / "empty.csv")

    for data in (empty, tmp_path / "empty.csv", []):
        column = None if isinstance(data, list) else "pay"
        assert tables.numeric_column(data, column).size == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("none.parquet", None),
        ("none.csv", None),
        ("staff.duckdb", b""),
        ("staff.duckdb::pay", b""),
        ("staff", b""),
        ("staff.csv", b""),
        ("staff.csv", b'pay,who\n1,a\n2,"secret\n3,b\n'),
        *((f"staff{kind}", b"secret") for kind in (*FORMATS, *CURES)),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(DPSelectError) as caught:
        tables.numeric_column(path, "pay")
    assert name in str(caught.value)
    assert CURES.get(path.suffix, "") in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("pattern", ["parts", "parts/p*", "parts/*.{kind}", "p*/part-?.{kind}"])
def test_parts_in_a_folder_are_one_table(tmp_path, monkeypatch, kind, pattern):
    folder = tmp_path / "parts"
    folder.mkdir()
    for part in range(2):
        as_path(folder, kind).rename(folder / f"part-{part}.{kind}")
    (folder / "_SUCCESS").touch()
    (folder / f".part-0.{kind}.crc").touch()
    monkeypatch.chdir(tmp_path)

    for data in (tmp_path / pattern.format(kind=kind), pattern.format(kind=kind)):
        assert tables.numeric_column(data, "age").tolist() == [30, 40, 50] * 2
        assert tables.Source.of(data).is_csv == (kind == "csv")


def test_a_folder_must_hold_files_of_one_kind(tmp_path):
    (tmp_path / "parts").mkdir()
    with pytest.raises(DataError):
        tables.open_table(tmp_path / "parts")
    with pytest.raises(DataError):
        tables.open_table(tmp_path / "parts/*.csv")

    as_path(tmp_path / "parts", "csv").with_suffix(".tsv").write_text("days\n5\n")
    (tmp_path / "parts" / "staff.csv").write_text("days\n3\n")
    with refused("separator", "quote", error=DataError):
        tables.open_table(tmp_path / "parts")
    alike = tables.Source(tmp_path / "parts", separator="\t", quote="none")
    assert tables.numeric_column(alike, "days").tolist() == [3, 5]

    as_path(tmp_path / "parts", "parquet")
    with refused(error=DataError):
        tables.open_table(tmp_path / "parts")


@pytest.mark.parametrize(
    "log", ["_delta_log/00000000000000000000.json", "metadata/v1.metadata.json"]
)
@pytest.mark.parametrize("pattern", ["", "*.parquet"])
def test_files_that_a_log_may_have_deleted_are_refused(tmp_path, log, pattern):
    """Before: the rows that an overwrite had deleted were counted with the live ones."""
    folder = tmp_path / "stays"
    (folder / log).parent.mkdir(parents=True)
    (folder / log).write_text("{}")
    pl.DataFrame({"days": [1]}).write_parquet(folder / "part-0.parquet")

    with pytest.raises(DataError):
        tables.open_table(folder / pattern)


def test_folders_named_by_a_column_and_its_value_are_a_column_of_text(tmp_path):
    for year, days in (("2025", 3), ("n/a", 5)):
        part = tmp_path / f"year={year.replace('/', '')}"
        part.mkdir()
        pl.DataFrame({"days": [days]}).write_parquet(part / "part-0.parquet")
        (part / "_old.parquet").touch()

    rows = tables.open_table(tmp_path).to_native().sort("days").collect()

    assert rows.to_dict(as_series=False) == {"days": [3, 5], "year": ["2025", "na"]}


def test_a_text_file_names_its_numbers(table):
    is_text = str(table).lower().endswith(".csv")

    assert are_in_header(table, numeric=["age"]) == is_text
    assert not are_in_header(table, numeric=["height"])
    if is_text:
        # What selects rows, a declared type, a name that engines misread, or a folder.
        assert not are_in_header(tables.Source(table, where="age > 30"), numeric=["age"])
        assert not are_in_header(
            tables.Source(table, column_type={"age": "date"}), numeric=["age"]
        )
        table = Path(table)
        table.with_name("more.csv").write_text("*,^a$\n1,2\n")
        for data, column in [("more.csv", "*"), ("more.csv", "^a$"), ("", "age")]:
            assert not are_in_header(table.parent / data, numeric=[column])


def test_a_file_without_permission_is_no_claim_that_it_contradicts(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("age\n3\n")
    monkeypatch.setattr("dpselect.tables.source.access", lambda file, _: file != path)

    with pytest.raises(DataError, match="permission") as caught:
        tables.open_table(path)
    assert type(caught.value) is DataError
