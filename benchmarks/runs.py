"""Four queries of one table in one run, beside the same four one by one.

Run: ``python benchmarks/runs.py [--rows 1e7] [--repeats 3]``; results go to
``benchmarks/results/runs.csv``. Two sets of percentiles and two of the largest values, from a
CSV file, a Parquet file and a relation of DuckDB. Both run in turns on two threads; time is
that of all processors, in seconds, the least of the repeats.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import duckdb
import numpy as np
import polars as pl

import dpselect as dp

RESULTS = Path(__file__).parent / "results" / "runs.csv"
WARDS = ["heart", "lung", "skin", "bone", "eye"]
PRICE: dict[str, Any] = {"epsilon": 1.0, "neighbours": "add-remove"}
QUERIES: list[Any] = [
    dp.Percentiles(column="days", p=[50, 90], upper=60, step=1, **PRICE),
    dp.TopKeys(column="ward", k=2, candidates=WARDS, **PRICE),
    dp.Percentiles(column="cost", p=50, upper=20_000, step=100, **PRICE),
    dp.TopKeys(column="age", k=3, candidates=range(100), **PRICE),
]


def rows_of(rows: int) -> pl.DataFrame:
    """Return random stays, with columns that no query reads."""
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "patient": rng.integers(0, max(1, rows // 3), rows),
            "ward": rng.choice(np.array(WARDS), rows),
            "days": rng.exponential(5, rows).round(),
            "cost": rng.lognormal(7, 1, rows).round(2),
            "age": rng.integers(0, 100, rows),
            "note": rng.choice(np.array(["of the first kind", "of the second"]), rows),
        }
    )


def seconds(data: object, *, together: bool) -> float:
    """Return the processors' time of all four."""
    start = process_time()
    if together:
        dp.run(QUERIES, data)
    else:
        for query in QUERIES:
            query.release(data)
    return process_time() - start


def main() -> None:
    """Measure, print and store."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--rows", type=float, default=1e7)
    asked.add_argument("--repeats", type=int, default=3)
    given = asked.parse_args()
    frame, found = rows_of(int(given.rows)), []
    with TemporaryDirectory() as folder:
        csv, parquet = Path(folder, "stays.csv"), Path(folder, "stays.parquet")
        frame.write_csv(csv)
        frame.write_parquet(parquet)
        held: dict[str, object] = {"CSV": csv, "Parquet": parquet}
        held["DuckDB"] = duckdb.connect().read_parquet(str(parquet))
        for name, data in held.items():
            turns = [
                [seconds(data, together=together) for together in (False, True)]
                for _ in range(given.repeats)
            ]
            alone, run = (round(min(each), 2) for each in zip(*turns, strict=True))
            found.append({"data": name, "rows": frame.height, "alone": alone, "run": run})
    table = pl.DataFrame(found).with_columns(ratio=(pl.col("run") / pl.col("alone")).round(2))
    table.write_csv(RESULTS)
    print(table)


if __name__ == "__main__":
    main()
