"""Files in engines: each name is that of one file, rows count once, DuckDB has tables."""

import os
from pathlib import Path

import duckdb
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import DataError
from dpselect.tables import Source
from dpselect.tables.opening import held
from support.engines import SPARK, master

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
    return dp.tables.count_records(held(path, engine, **options))


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


STAYS = pl.DataFrame({"days": [1.0, 2.0, 9.0] * 40, "ward": ["heart", "lung", "skin"] * 40})
MEDIAN = dp.Percentiles(
    column="days", p=50, upper=10, step=1, epsilon=50.0, neighbours="add-remove"
)


@pytest.fixture
def database(tmp_path):
    STAYS.write_parquet(tmp_path / "stays.parquet")
    with duckdb.connect(tmp_path / "clinic.duckdb") as connection:
        connection.execute(
            "create table stays as from read_parquet(?)", [str(tmp_path / "stays.parquet")]
        )
    return tmp_path


@pytest.mark.parametrize("name", ["stays.parquet", "*.parquet", "clinic.duckdb::stays"])
@pytest.mark.parametrize(("where", "median"), [((), 2.0), (("ward = 'skin'",), 9.0)])
def test_duckdb_reads_parquet_and_its_own_tables(database, name, where, median):
    table = held(Source(f"{database}/{name}", where=where), "duckdb")

    assert MEDIAN.release(table).candidate == median


@pytest.mark.parametrize(
    "name",
    [
        *("absent.parquet", "absent.duckdb::a", "clinic.duckdb::absent"),
        "stays.csv::a",
        "stays.csv",
    ],
)
def test_what_duckdb_cannot_read_is_one_error_of_ours(database, name):
    STAYS.write_csv(database / "stays.csv")

    with pytest.raises(DataError):
        held(f"{database}/{name}", "duckdb")
