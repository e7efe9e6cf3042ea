"""Releases beside the engine's own query without privacy: processor time and memory.

Run, in the folder of the project, with FOLDER on a disk of some gigabytes::

    python benchmarks/floor.py FOLDER [--rows 1e7] [--paths ...] [--queries ...] [--pairs 5]

A cell is a path (what holds the rows) and a query. Ours and the engine's own run in turns in
one process, after one of each on a small table: imports and compiled kernels don't count. The
ratio is the median over pairs of their processor time, of all threads; with one thread, and
with all. Memory is the most that a process of its own had for one run, less what it had before.

The engine's own query keeps what a release promises, but for the noise: of each person at most
three different keys, drawn at random; each pair of different nodes once, in whatever direction
and as often as it occurs, of the public nodes alone; points within the box, its upper edges
among them. Where a plain query does less (all keys of a person, ends as they stand, cells of
whatever there is), the ratio to it stands beside. Keys and persons of a CSV file are texts, as
to a release; by itself polars infers from rows, which no release does, that they are integers:
of the most common keys, the ratio to that stands beside.

Rows, of 10^7: whole days, one of 10^5 keys by a power law, persons of five rows each, one of
10^4 groups, points, and four codes with a label; edges are as many, of a tenth as many nodes.
Writes ``benchmarks/results/floor.csv``; cells that were not asked for are kept.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import polars as pl

import dpselect as dp

RESULTS = Path(__file__).with_name("results") / "floor.csv"
SMALL, CHUNK, KEYS, GROUPS, SIDE = 1000, 10**6, 10**5, 10**4, 64
CODES = [f"code{j}" for j in range(4)]
ADDED: dict[str, Any] = {"epsilon": 1.0, "neighbours": "add-remove"}
DAYS: dict[str, Any] = {"column": "days", "upper": 365, "step": 1, **ADDED}
LISTED = np.sort(np.random.default_rng(3).choice(10**6, 10**5, replace=False))

Rows = Any  # of any engine
Run = Callable[[Rows], object]


def write_records(path: Path, rows: int) -> None:
    """Write records in chunks, so that no size has to fit memory."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    writer = None
    for first in range(0, rows, CHUNK):
        n = min(CHUNK, rows - first)
        columns: dict[str, Any] = {
            "days": rng.gamma(2, 5, n).astype(np.int32),
            "cost": rng.integers(0, 10_001, n, dtype=np.int32),
            "key": (KEYS * rng.random(n) ** 3).astype(np.int32),
            "person": rng.integers(0, max(1, rows // 5), n, dtype=np.int32),
            "group": rng.integers(0, GROUPS, n, dtype=np.int32),
            "x": rng.beta(2, 5, n),
            "y": rng.beta(3, 3, n),
            "label": rng.integers(0, 2, n, dtype=np.int8),
        }
        columns |= {name: rng.integers(0, 4, n, dtype=np.int8) for name in CODES}
        table = pa.table(columns)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def write_edges(path: Path, edges: int) -> None:
    """Write a random graph with 20 ends a node, some nodes of far more."""
    rng = np.random.default_rng(1)
    nodes = edges // 10
    hubs = (nodes * rng.random(edges) ** 1.5).astype(np.int32)
    other = rng.integers(0, nodes, edges, dtype=np.int32)
    pl.DataFrame({"source": hubs, "target": other}).write_parquet(path)


def _csv(path: Path) -> str:
    found = path.with_suffix(".csv")
    if not found.exists():
        pl.scan_parquet(path).sink_csv(found)
    return str(found)


def _duckdb(path: Path) -> Rows:
    import duckdb

    duckdb.execute(f"SET threads = {os.environ['POLARS_MAX_THREADS']}")
    return duckdb.read_parquet(str(path))


def _texts(path: Path) -> Rows:
    named = [pl.format("code{}", one).alias(one) for one in ("key", "person")]
    return pl.read_parquet(path).with_columns(named)


@cache
def _sail() -> Any:  # noqa: ANN401 -- its server
    """Return a server of Sail, which answers the calls of Spark in this process."""
    server: Any = import_module("pysail.spark").SparkConnectServer()
    server.start(background=True)
    return server


def _spark(path: Path) -> Rows:
    port = _sail().listening_address[1]
    return dp.tables.spark_table(str(path), master=f"sc://127.0.0.1:{port}").to_native()


def _java(path: Path) -> Rows:
    """Return rows of Spark's own Java, whose plan has as many parts as there are threads."""
    threads = os.environ["POLARS_MAX_THREADS"]
    os.environ["PYSPARK_SUBMIT_ARGS"] = (
        f"--conf spark.sql.shuffle.partitions={threads} --conf spark.ui.enabled=false "
        "--driver-memory 4g pyspark-shell"
    )
    return dp.tables.spark_table(str(path), master=f"local[{threads}]").to_native()


def _pandas(path: Path, kind: Any) -> Rows:  # noqa: ANN401 -- a type of pandas
    frame = pl.read_parquet(path).to_pandas()
    if kind == "numbers" or "key" not in frame:
        return frame
    for name in ("key", "person"):
        frame[name] = ("code" + frame[name].astype(str)).astype(kind)
    return frame


PATHS: dict[str, Callable[[Path], Rows]] = {
    "Parquet file": str,
    "CSV file": _csv,
    "frame": pl.read_parquet,
    "frame, texts": _texts,
    "lazy frame": lambda path: pl.read_parquet(path).lazy(),
    "Arrow": lambda path: pl.read_parquet(path).to_arrow(),
    "pandas, numbers": lambda path: _pandas(path, "numbers"),
    "pandas, texts": lambda path: _pandas(path, "object"),
    "pandas, categories": lambda path: _pandas(path, "category"),
    "DuckDB": _duckdb,
    "Spark": _spark,
    "Spark, Java": _java,
}


def _lazy(rows: Rows) -> pl.LazyFrame:
    if isinstance(rows, str):
        if rows.endswith(".csv"):
            return pl.scan_csv(
                rows, schema_overrides=dict.fromkeys(("key", "person"), pl.String)
            )
        return pl.scan_parquet(rows)
    return (
        rows.lazy()
        if isinstance(rows, pl.DataFrame | pl.LazyFrame)
        else _lazy(pl.from_arrow(rows))
    )


def counted(*columns: str) -> dict[str, Run]:
    """Return the counts of rows by columns, in each engine's own words."""
    by = ", ".join(f'"{one}"' for one in columns)
    asked = f"SELECT {by}, count(*) AS n FROM rows GROUP BY {by}"  # noqa: S608 -- our own words
    return {
        "polars": lambda rows: _lazy(rows).group_by(*columns).len().collect(),
        "pandas": lambda rows: rows.groupby(list(columns), observed=True).size(),
        "DuckDB": lambda rows: rows.query("rows", asked).fetchall(),
        "Spark": lambda rows: rows.groupBy(*columns).count().toArrow(),
    }


def quantiles(*parts: float) -> dict[str, Run]:
    """Return quantiles of days, in each engine's own words."""
    asked = f"SELECT quantile_disc(days, {list(parts)}) FROM rows"  # noqa: S608 -- our own words
    return {
        "polars": lambda rows: (
            _lazy(rows)
            .select(pl.col("days").quantile(p).alias(str(p)) for p in parts)
            .collect()
        ),
        "pandas": lambda rows: rows["days"].quantile(list(parts)),
        "DuckDB": lambda rows: rows.query("rows", asked).fetchall(),
        "Spark": lambda rows: rows.selectExpr(
            *(f"percentile(days, {p})" for p in parts)
        ).toArrow(),
    }


MOST = 3
ANY = "(SELECT DISTINCT person, key FROM rows)"
PAIRS = f"SELECT key, count(*) AS n FROM {ANY} GROUP BY key"  # noqa: S608 -- our own words
LIMITED = f"""SELECT key, count(*) AS n FROM (
    SELECT unnest(min_by(key, hash(person, key), {MOST})) AS key FROM {ANY} GROUP BY person
) GROUP BY key"""  # noqa: S608 -- our own words


def _limited_by_polars(rows: Rows) -> object:
    pairs = _lazy(rows).select("person", "key").unique().collect()
    if pairs["person"].dtype == pl.String:  # which are sorted in five times the time
        pairs = pairs.with_columns(pl.col("person").hash())
    shuffled = pairs.sample(fraction=1, shuffle=True).lazy().sort("person")
    first = shuffled.filter(pl.col("person").ne_missing(pl.col("person").shift(MOST)))
    return first.group_by("key").len().collect()


def _limited_by_pandas(rows: Rows) -> object:
    pairs = rows[["person", "key"]].drop_duplicates().sample(frac=1)
    first = pairs.groupby("person", observed=True).head(MOST)
    return first.groupby("key", observed=True).size()


def _limited_by_spark(rows: Rows) -> object:
    pairs = rows.select("person", "key").distinct()
    every = pairs.groupBy("person").agg({"key": "collect_list"}).toDF("person", "keys")
    first = every.selectExpr(f"explode(slice(shuffle(keys), 1, {MOST})) AS key")
    return first.groupBy("key").count().toArrow()


PERSONS: dict[str, Run] = {
    "polars": _limited_by_polars,
    "pandas": _limited_by_pandas,
    "DuckDB": lambda rows: rows.query("rows", LIMITED).fetchall(),
    "Spark": _limited_by_spark,
}
PLAIN_PERSONS: dict[str, Run] = {
    "polars": lambda rows: (
        _lazy(rows).group_by("person", "key").len().group_by("key").len().collect()
    ),
    "pandas": lambda rows: (
        rows[["person", "key"]].drop_duplicates().groupby("key", observed=True).size()
    ),
    "DuckDB": lambda rows: rows.query("rows", PAIRS).fetchall(),
    "Spark": lambda rows: (
        rows.select("person", "key").distinct().groupBy("key").count().toArrow()
    ),
}


def _cells(inside: str, *of: str) -> dict[str, Run]:
    """Return the counts of cells, in engines of SQL."""
    i, j = of
    asked = f"SELECT {i} i, {j} j, count(*) FROM rows WHERE {inside} GROUP BY i, j"  # noqa: S608 -- our own words
    return {
        "DuckDB": lambda rows: rows.query("rows", asked).fetchall(),
        "Spark": lambda rows: (
            rows.where(inside)
            .selectExpr(f"{i} i", f"{j} j")
            .groupBy("i", "j")
            .count()
            .toArrow()
        ),
    }


SQUARES = [(pl.col(axis) * SIDE).cast(pl.Int32) for axis in "xy"]
CELLS_OF: dict[str, Run] = {
    "polars": lambda rows: (
        _lazy(rows)
        .filter(pl.col("x").is_between(0, 1), pl.col("y").is_between(0, 1))
        .group_by(*(one.clip(upper_bound=SIDE - 1) for one in SQUARES))
        .len()
        .collect()
    ),
    "pandas": lambda rows: np.histogram2d(rows["x"], rows["y"], SIDE, [[0, 1], [0, 1]]),
    **_cells(
        "x BETWEEN 0 AND 1 AND y BETWEEN 0 AND 1",
        *(f"least(floor({axis} * {SIDE}), {SIDE - 1})" for axis in "xy"),
    ),
}
PLAIN_CELLS: dict[str, Run] = {
    "polars": lambda rows: _lazy(rows).group_by(*SQUARES).len().collect(),
    **_cells("true", *(f"floor({axis} * {SIDE})" for axis in "xy")),
}
IDS = 10**9  # more than there are
EDGES = f"""SELECT DISTINCT least(source, target) AS low, greatest(source, target) AS high
    FROM rows WHERE source <> target AND source BETWEEN 0 AND {IDS}
    AND target BETWEEN 0 AND {IDS}"""  # noqa: S608 -- our own words
ENDS = f"""WITH edges AS MATERIALIZED ({EDGES}) SELECT node, count(*) AS n FROM (
    SELECT low AS node FROM edges UNION ALL SELECT high FROM edges) GROUP BY node"""  # noqa: S608
PLAIN_ENDS = """SELECT node, count(*) AS n FROM (
    SELECT source AS node FROM rows UNION ALL SELECT target FROM rows) GROUP BY node"""


def _degrees_by_polars(rows: Rows) -> object:
    source, target = pl.col("source"), pl.col("target")
    known = source.is_between(0, IDS) & target.is_between(0, IDS)
    low, high = pl.min_horizontal(source, target), pl.max_horizontal(source, target)
    edges = _lazy(rows).filter(source != target, known).select(low=low, high=high).unique()
    ends = pl.concat([edges.select(node=end) for end in ("low", "high")])
    return ends.group_by("node").len().collect()


def _degrees_by_pandas(rows: Rows) -> object:
    source, target = rows["source"], rows["target"]
    proper = (source != target) & source.between(0, IDS) & target.between(0, IDS)
    low, high = np.minimum(source, target), np.maximum(source, target)
    edges = low[proper].to_frame("low").assign(high=high[proper]).drop_duplicates()
    return edges["low"].value_counts().add(edges["high"].value_counts(), fill_value=0)


def _degrees_by_spark(rows: Rows) -> object:
    proper = " AND ".join(f"{end} BETWEEN 0 AND {IDS}" for end in ("source", "target"))
    ends = "least(source, target) AS low", "greatest(source, target) AS high"
    edges = rows.where(f"source <> target AND {proper}").selectExpr(*ends).distinct()
    nodes = edges.selectExpr("explode(array(low, high)) AS node")
    return nodes.groupBy("node").count().toArrow()


DEGREES: dict[str, Run] = {
    "polars": _degrees_by_polars,
    "pandas": _degrees_by_pandas,
    "DuckDB": lambda rows: rows.query("rows", ENDS).fetchall(),
    "Spark": _degrees_by_spark,
}
PLAIN_DEGREES: dict[str, Run] = {
    "polars": lambda rows: (
        pl.concat([_lazy(rows).select(node=pl.col(end)) for end in ("source", "target")])
        .group_by("node")
        .len()
        .collect()
    ),
    "pandas": lambda rows: rows["source"].value_counts().add(rows["target"].value_counts()),
    "DuckDB": lambda rows: rows.query("rows", PLAIN_ENDS).fetchall(),
    "Spark": lambda rows: (
        rows.select("source").union(rows.select("target")).groupBy("source").count().toArrow()
    ),
}


def _tables(family: str) -> Run:
    tables = [counted(code, "label")[family] for code in CODES]
    return lambda rows: [table(rows) for table in tables]


def _released(query: Callable[[int], Any]) -> Callable[[Rows, int], object]:
    return lambda rows, size: query(size).release(rows)


QUERIES: dict[str, tuple[Callable[[Rows, int], object], dict[str, Run]]] = {
    "one percentile": (
        _released(lambda _: dp.Percentiles(p=90, **DAYS)),
        quantiles(0.9),
    ),
    "quartiles": (
        _released(lambda _: dp.Percentiles(p=[25, 50, 75], **DAYS)),
        quantiles(0.25, 0.5, 0.75),
    ),
    "100,000 listed": (
        _released(lambda _: dp.Percentiles(column="cost", p=90, candidates=LISTED, **ADDED)),
        quantiles(0.9),
    ),
    "top 10 of keys": (
        _released(lambda _: dp.TopKeys(column="key", k=10, delta=1e-6, **ADDED)),
        counted("key"),
    ),
    "keys of persons": (
        _released(
            lambda _: dp.Keys(column="key", user="person", max_per_user=3, delta=1e-6, **ADDED)
        ),
        PERSONS,
    ),
    "a percentile by group": (
        _released(
            lambda _: dp.Percentiles(
                column="cost",
                p=50,
                upper=10_000,
                step=1,
                by="group",
                groups=range(GROUPS),
                **ADDED,
            )
        ),
        counted("group", "cost"),
    ),
    "a map": (
        _released(lambda _: dp.Map(x="x", y="y", bounds=(0, 0, 1, 1), grids=[SIDE], **ADDED)),
        CELLS_OF,
    ),
    "top 10 of nodes": (
        _released(
            lambda size: dp.TopNodes(nodes=size // 10, k=10, metric="degree", epsilon=1.0)
        ),
        DEGREES,
    ),
    "a split of a tree": (
        _released(
            lambda _: dp.trees.ID3Tree(
                domains={code: list(range(4)) for code in CODES},
                classes=[0, 1],
                label="label",
                max_records=10**9,
                max_depth=1,
                **ADDED,
            )
        ),
        {family: _tables(family) for family in ("polars", "pandas", "DuckDB", "Spark")},
    ),
}
PLAIN: dict[str, dict[str, Run]] = {
    "keys of persons": PLAIN_PERSONS,
    "a map": PLAIN_CELLS,
    "top 10 of nodes": PLAIN_DEGREES,
    "top 10 of keys": {
        "CSV file": lambda rows: pl.scan_csv(rows).group_by("key").len().collect()
    },
}
OF_TEXTS = ("top 10 of keys", "keys of persons")


def is_asked(path: str, query: str) -> bool:
    """Return whether there is such a cell: texts and categories are keys and persons alone."""
    return not path.endswith(("texts", "categories")) or query in OF_TEXTS


def family(path: str) -> str:
    """Return whose own query stands beside a path."""
    return (
        path.partition(",")[0] if path.startswith(("pandas", "DuckDB", "Spark")) else "polars"
    )


def written(folder: Path, query: str, rows: int) -> Path:
    """Return the file of a query's rows."""
    kind = "edges" if query == "top 10 of nodes" else "records"
    path = folder / f"{kind}-{rows}.parquet"
    if not path.exists():
        (write_edges if kind == "edges" else write_records)(path, rows)
    return path


@cache
def _child() -> Path | None:
    """Return where the system counts for the process of Java, if there is one."""
    tasks = Path("/proc/self/task").glob("*/children")
    java = [child for task in tasks for child in task.read_text().split()]
    return Path("/proc", java[0], "stat") if java else None


def processor() -> float:
    """Return the processor seconds so far, of all threads; Sail's are of this process."""
    child = _child()
    ticks = [] if child is None else child.read_text().rpartition(")")[2].split()[11:13]
    return process_time() + sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def timed(run: Callable[[], object]) -> float:
    """Return the processor seconds of a run."""
    gc.collect()
    start = processor()
    run()
    return processor() - start


def mebibytes(what: str) -> float:
    """Return what this process has (VmRSS), or had at the most (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def measure(path: str, query: str, folder: Path, rows: int, pairs: int, side: str) -> None:
    """Print one cell, measured in this process, as JSON."""
    release, peers = QUERIES[query]
    sides: dict[str, Callable[[Rows, int], object]] = {
        "ours": release,
        "theirs": lambda data, _: peers[family(path)](data),
    }
    plains = PLAIN.get(query, {})
    if plain := plains.get(path) or plains.get(family(path)):
        sides["plain"] = lambda data, _: plain(data)
    small = PATHS[path](written(folder, query, SMALL))
    for run in sides.values():
        run(small, SMALL)
    data = PATHS[path](written(folder, query, rows))
    if side == "both":
        found = [
            {name: timed(partial(run, data, rows)) for name, run in sides.items()}
            for _ in range(pairs)
        ]
        print(json.dumps(found))
        return
    gc.collect()
    # The peak so far is forgotten: it is that of the process that started this one, too.
    Path("/proc/self/clear_refs").write_text("5")
    before = mebibytes("VmRSS")
    sides[side](data, rows)
    print(json.dumps(mebibytes("VmHWM") - before))


def ratio_to(side: str, pairs: list[dict[str, float]]) -> float:
    """Return the median ratio of our time to that of another side."""
    return round(median(one["ours"] / one[side] for one in pairs), 2)


def cell(path: str, query: str, asked: argparse.Namespace) -> dict[str, object]:
    """Measure one cell in processes of its own."""

    def of(side: str, threads: int) -> Any:  # noqa: ANN401 -- JSON
        command = [sys.executable, __file__, str(asked.folder), "--one", path, query, side]
        command += ["--rows", str(asked.rows), "--pairs", str(asked.pairs)]
        counts = dict.fromkeys(("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), str(threads))
        done = subprocess.run(  # noqa: S603 -- this very script
            command, capture_output=True, text=True, check=False, env={**os.environ, **counts}
        )
        if done.returncode:
            raise SystemExit(f"{path}, {query}: {done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    line: dict[str, object] = {"path": path, "query": query, "rows": int(asked.rows)}
    for name, threads in (("one thread", 1), ("all threads", os.cpu_count() or 1)):
        pairs = of("both", threads)
        line |= {
            f"ours, ms, {name}": round(1e3 * median(one["ours"] for one in pairs)),
            f"theirs, ms, {name}": round(1e3 * median(one["theirs"] for one in pairs)),
            f"ratio, {name}": ratio_to("theirs", pairs),
            f"ratio to plain, {name}": ratio_to("plain", pairs)
            if "plain" in pairs[0]
            else None,
        }
    return line | {f"{side}, MiB": round(of(side, 1)) for side in ("ours", "theirs")}


def main() -> None:
    """Measure cells, or one in this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", default=1e7, type=float)
    parser.add_argument("--pairs", default=5, type=int)
    parser.add_argument("--paths", nargs="*", default=list(PATHS))
    parser.add_argument("--queries", nargs="*", default=list(QUERIES))
    parser.add_argument("--one", nargs=3)
    asked = parser.parse_args()
    if asked.one:
        path, query, side = asked.one
        measure(path, query, asked.folder, int(asked.rows), asked.pairs, side)
        return
    stored = pl.read_csv(RESULTS).rows(named=True) if RESULTS.exists() else []
    lines = {(one["path"], one["query"]): one for one in stored}
    for query in asked.queries:
        for size in (SMALL, int(asked.rows)):
            written(asked.folder, query, size)
        for path in filter(lambda path: is_asked(path, query), asked.paths):
            lines[path, query] = cell(path, query, asked)
            print(*lines[path, query].values(), flush=True)
            in_order = sorted(
                lines, key=lambda one: (list(QUERIES).index(one[1]), list(PATHS).index(one[0]))
            )
            names = dict.fromkeys(lines[path, query])
            pl.DataFrame([names | lines[one] for one in in_order]).write_csv(RESULTS)


if __name__ == "__main__":
    main()
