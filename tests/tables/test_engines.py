"""Tables in engines: DuckDB's files and tables; the others are tested with the commands."""

import duckdb
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import DataError
from dpselect.tables import Source
from dpselect.tables.opening import ENGINES, held
from support.refusals import refused

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
        "absent.parquet",
        "absent.duckdb::a",
        "clinic.duckdb::absent",
        "stays.csv::a",
        "stays.csv",
    ],
)
def test_what_duckdb_cannot_read_is_one_error_of_ours(database, name):
    STAYS.write_csv(database / "stays.csv")

    with pytest.raises(DataError):
        held(f"{database}/{name}", "duckdb")


def test_a_master_is_sparks_alone():
    for engine in ENGINES[:-1]:
        with refused("engine", "master"):
            held("stays.parquet", engine, master="local[2]")
    with refused("engine"):
        held("stays.parquet", "pandas")
