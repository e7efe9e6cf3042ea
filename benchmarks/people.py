"""Rows per key with a cap of persons, beside the engine's own grouping by person and key.

Run: ``python benchmarks/people.py [--rows 1e7] [--people 1e6,1e7] [--caps 3] [--repeats 3]``;
``--show`` prints the ratios of ``benchmarks/results/people.csv``. Rows have one of 10^5 keys by
a power law, and persons that are integers or texts. The peer groups the rows by person and key,
and these by key: what it costs to count every key of a person. Both run in turns on rows
in memory and two threads; time is that of all processors, the least of the repeats.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import polars as pl

from dpselect.tables.people import PeopleCap

RESULTS = Path(__file__).parent / "results" / "people.csv"
KEYS = 100_000
PEER = 'SELECT key, count(*) AS n FROM (SELECT DISTINCT "user", key FROM rows) GROUP BY key'

Run = Callable[[], object]


def rows_of(rows: int, people: int, kind: str) -> pl.DataFrame:
    """Return random rows."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"user": rng.integers(0, people, rows), "key": rng.zipf(1.3, rows) % KEYS}
    )
    if kind == "text":
        frame = frame.select(
            pl.format(f"{name} {{}}", name).alias(name) for name in frame.columns
        )
    return frame


def of_polars(frame: pl.DataFrame, cap: PeopleCap) -> tuple[Run, Run]:
    """Return our count and the peer's on polars."""
    lazy = frame.lazy()

    def ours() -> object:
        kept = cap.limited(nw.from_native(lazy), order_by=["key"], distinct=True)
        return nw.to_native(kept).group_by("key").len().collect(engine="streaming")

    def peer() -> object:
        pairs = lazy.group_by("user", "key").len()
        return pairs.group_by("key").len().collect(engine="streaming")

    return ours, peer


def of_duckdb(frame: pl.DataFrame, cap: PeopleCap) -> tuple[Run, Run]:
    """Return the same on DuckDB."""
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    connection.register("given", frame.to_arrow())
    connection.execute("CREATE TABLE rows AS SELECT * FROM given")

    def ours() -> object:
        table = nw.from_native(connection.table("rows"))
        kept: Any = nw.to_native(cap.limited(table, order_by=["key"], distinct=True))
        return kept.aggregate("key, count(*) AS n", "key").fetchnumpy()

    return ours, lambda: connection.sql(PEER).fetchnumpy()


ENGINES = {"polars": of_polars, "duckdb": of_duckdb}


def seconds(runs: tuple[Run, ...], repeats: int) -> list[float]:
    """Return the least time of the processors of each, run in turns after one run."""
    least = [float("inf")] * len(runs)
    for turn, (place, run) in product(range(repeats + 1), enumerate(runs)):
        start = process_time()
        run()
        if turn > 0:
            least[place] = min(least[place], process_time() - start)
    return least


def main() -> None:
    """Measure, and add to the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--people", default="1e6,1e7")
    parser.add_argument("--kinds", default="integer,text")
    parser.add_argument("--caps", default="1,3,10")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    if not asked.show:
        found = []
        for kind, people in product(asked.kinds.split(","), asked.people.split(",")):
            frame = rows_of(int(asked.rows), int(float(people)), kind)
            for most, engine in product(asked.caps.split(","), ENGINES):
                runs = ENGINES[engine](frame, PeopleCap("user", int(most)))
                ours, peer = seconds(runs, asked.repeats)
                case = {"persons": kind, "people": int(float(people)), "cap": int(most)}
                times = {"ours": round(ours, 3), "peer": round(peer, 3)}
                found.append({"engine": engine, "rows": int(asked.rows), **case, **times})
                print(found[-1], flush=True)
        pl.DataFrame(found).write_csv(RESULTS)
    with pl.Config(tbl_rows=-1):
        print(
            pl.read_csv(RESULTS).with_columns(ratio=(pl.col("ours") / pl.col("peer")).round(2))
        )


if __name__ == "__main__":
    main()
