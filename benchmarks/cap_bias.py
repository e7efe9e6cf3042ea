"""Percentiles of rows of persons, where so many rows of each count, beside those of all rows.

Run: ``python benchmarks/cap_bias.py``; ``--show`` prints ``benchmarks/results/cap_bias.csv``.
100,000 persons have 1 to 40 stays each, whose days are lognormal and independent of persons.
Percentiles are released at epsilon 50 for each cap: of memory, polars, DuckDB and Spark (on
Sail) by the rule of ``dpselect.tables.people``; and of the rows in the middle of ``cap`` equal
parts of a person's values, which depend on that person alone as well, and shift the answers.
"""

from __future__ import annotations

import argparse
import importlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

import dpselect as dp

RESULTS = Path(__file__).parent / "results" / "cap_bias.csv"
PERSONS, MOST_ROWS, CAPS = 100_000, 40, (1, 3, 10)
SHARES = (10.0, 50.0, 90.0)
EPSILON = 50.0


def stays() -> pl.DataFrame:
    """Return the rows."""
    rng = np.random.default_rng(0)
    persons = np.repeat(np.arange(PERSONS), rng.integers(1, MOST_ROWS + 1, PERSONS))
    days = np.round(rng.lognormal(np.log(3.3), 0.92, persons.size), 1)
    return pl.DataFrame({"patient": persons, "days": days}).sample(
        fraction=1.0, shuffle=True, seed=0
    )


def middle_of_equal_parts(rows: pl.DataFrame, cap: int) -> NDArray[np.float64]:
    """Return the days of each person that are in the middle of so many equal parts."""
    ordered = rows.sort("patient", "days")
    size = pl.len().over("patient").cast(pl.Int64)
    turned = (
        pl.int_range(pl.len()).over("patient") * 2 * cap + size + (2 * size - 1) * cap
    ) % (2 * size)
    kept = ordered.filter((turned + 2 * cap >= 2 * size) | (size <= cap))
    return kept["days"].to_numpy()


def answers(data: object, **more: Any) -> tuple[float, ...]:  # noqa: ANN401 -- fields of a query
    """Return released percentiles."""
    query = dp.Percentiles(
        p=SHARES,
        upper=100.0,
        step=0.1,
        epsilon=EPSILON,
        neighbours="add-remove",
        **more,
    )
    return tuple(round(value, 1) for value in query.release(data).answer)


@cache
def sail() -> Any:  # noqa: ANN401 -- of pysail
    """Return a server, which ends when it is forgotten."""
    server = importlib.import_module("pysail.spark").SparkConnectServer()
    server.start(background=True)
    return server


def held(rows: pl.DataFrame, folder: Path) -> dict[str, object]:
    """Return the rows in every engine; Spark reads them from a file."""
    from dpselect.tables.spark import session

    spark = session(f"sc://127.0.0.1:{sail().listening_address[1]}")
    path = folder / "stays.parquet"
    rows.write_parquet(path)
    connection = duckdb.connect()
    connection.register("given", rows.to_arrow())
    connection.execute("CREATE TABLE rows AS SELECT * FROM given")
    return {
        "memory": rows,
        "polars": rows.lazy(),
        "duckdb": connection.table("rows"),
        "spark": spark.read.parquet(str(path)),
    }


def measured(folder: Path) -> list[dict[str, object]]:
    """Return a row for each cap and each way to count."""
    rows = stays()
    of_all = np.quantile(rows["days"], [share / 100 for share in SHARES]).round(1)
    names = [f"p{share:g}" for share in SHARES]
    found = [{"cap": None, "rows": "all", **dict(zip(names, of_all.tolist(), strict=True))}]
    engines = held(rows, folder)
    for cap in CAPS:
        of_person = {"column": "days", "user": "patient", "max_per_user": cap}
        answered = {"middle of equal parts": answers(middle_of_equal_parts(rows, cap))}
        answered |= {name: answers(data, **of_person) for name, data in engines.items()}
        for name, values in answered.items():
            found.append({"cap": cap, "rows": name, **dict(zip(names, values, strict=True))})
            print(found[-1], flush=True)
    return found


def main() -> None:
    """Measure, or show what is stored."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    if not parser.parse_args().show:
        with TemporaryDirectory() as folder:
            pl.DataFrame(measured(Path(folder))).write_csv(RESULTS)
    with pl.Config(tbl_rows=-1):
        print(pl.read_csv(RESULTS))


if __name__ == "__main__":
    main()
