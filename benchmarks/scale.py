"""Time and memory of every application from 10^6 to 10^8 rows, and how they grow.

Run: ``python benchmarks/scale.py FOLDER [--rows 1e6,1e7] [--edges 1e6] [--engines ...]
[--tasks ...] [--repeats 1]`` with FOLDER on a large disk; ``--show`` prints the table of
``docs/report/measurements.md``. Every run is a whole release from a Parquet file (22 bytes a
record, 6 an edge) in a process of its own that has made the same release of a small file
before: imports, compiled kernels and the start of the engine do not count. Time is that of
all processors, which other work on the machine changes little; memory is the most that the
process ever had, for Spark with its Java process. Results:
``benchmarks/results/scale.csv``; shown are the least time and the median memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

import dpselect as dp

RESULTS = Path(__file__).parent / "results" / "scale.csv"
SHOWN = 10**7
"""Number of rows of the table that is shown."""
CHUNK = 1_000_000
SMALL = 1000
THREADS = 2
KEYS = 100_000
CODES = [f"code{j}" for j in range(4)]


def write_records(path: Path, rows: int) -> None:
    """Write numbers, points, codes and keys in chunks, so that no size has to fit memory."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    writer = None
    for first in range(0, rows, CHUNK):
        n = min(CHUNK, rows - first)
        columns: dict[str, Any] = {
            "days": rng.gamma(2, 5, n).astype(np.float32),
            "x": rng.beta(2, 5, n).astype(np.float32),
            "y": rng.beta(3, 3, n).astype(np.float32),
            "label": rng.integers(0, 2, n, dtype=np.int8),
            "person": rng.integers(0, max(1, rows // 5), n, dtype=np.int32),
            "key": (KEYS * rng.random(n) ** 3).astype(np.int32),
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


def opened(engine: str, path: Path, memory: str) -> Any:  # noqa: ANN401 -- any engine's table
    """Return a file as a lazy frame of an engine; in memory, as its path."""
    if engine == "memory":
        return str(path)
    if engine == "polars":
        return pl.scan_parquet(path)
    if engine == "duckdb":
        import duckdb

        duckdb.execute(f"SET threads = {THREADS}; SET memory_limit = '{memory}'")
        duckdb.execute(f"SET temp_directory = '{path.parent / 'spilled'}'")
        return duckdb.read_parquet(str(path))
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": memory,
        "spark.sql.shuffle.partitions": "8",
    }
    SparkSession.builder.master(f"local[{THREADS}]").config(map=settings).getOrCreate()
    return dp.tables.spark_table(str(path))


ADDED: dict[str, Any] = {"epsilon": 1.0, "neighbours": "add-remove"}
PERSON: dict[str, Any] = {"user": "person", "max_per_user": 3}
TREES: dict[str, Any] = {
    "domains": {name: list(range(4)) for name in CODES},
    "classes": [0, 1],
    "max_records": 10**9,
}
DAYS = np.linspace(0, 60, 101)
BOX: dict[str, Any] = {"x": "x", "y": "y", "bounds": (0, 0, 1, 1)}
QUERIES = np.sort(np.random.default_rng(2).random((60, 2, 2)), axis=1).reshape(-1, 4)


def _trained(classifier: Any, table: Any) -> object:  # noqa: ANN401
    if not isinstance(table, str):
        return classifier.fit(table, "label")
    frame = pl.read_parquet(table, columns=[*CODES, "label"])
    return classifier.fit(frame.select(CODES), frame["label"])


def _nodes(table: Any, rows: int, metric: Any) -> object:  # noqa: ANN401
    return dp.TopNodes(nodes=rows // 10, k=10, metric=metric, epsilon=1.0).release(table)


Task = Callable[[Any, int], object]
TASKS: dict[str, Task] = {
    "percentile": lambda table, _: dp.Percentiles(
        column="days", p=90, candidates=DAYS, **ADDED
    ).release(table),
    "nine percentiles": lambda table, _: dp.Percentiles(
        column="days", p=range(10, 100, 10), candidates=DAYS, **ADDED
    ).release(table),
    "percentile of persons": lambda table, _: dp.Percentiles(
        column="days", p=90, candidates=DAYS, **PERSON, **ADDED
    ).release(table),
    "most common": lambda table, _: dp.TopKeys(
        column="key", k=10, candidates=range(KEYS), **ADDED
    ).release(table),
    "most common of unknown keys": lambda table, _: dp.TopKeys(
        column="key", k=10, delta=1e-6, mechanism="exponential", **ADDED
    ).release(table),
    "most common in 4 groups": lambda table, _: dp.TopKeys(
        column="key",
        k=10,
        delta=1e-6,
        by="code0",
        groups=range(4),
        mechanism="exponential",
        **ADDED,
    ).release(table),
    "most common of persons": lambda table, _: dp.TopKeys(
        column="key", k=10, delta=1e-6, **PERSON, **ADDED
    ).release(table),
    "keys": lambda table, _: dp.Keys(column="key", delta=1e-6, **ADDED).release(table),
    "tree": lambda table, _: _trained(dp.trees.ID3Classifier(1.0, max_depth=4, **TREES), table),
    "front of trees": lambda table, _: _trained(
        dp.trees.MultiObjectiveTreeClassifier(1.0, population=100, random_state=0, **TREES),
        table,
    ),
    "map": lambda table, _: dp.Map(
        grids=[32, 64, 128], queries=QUERIES, **BOX, **ADDED
    ).release(table),
    "heavy cells": lambda table, _: dp.HeavyCells(k=10, grid=128, **BOX, **ADDED).release(
        table
    ),
    "nodes by degree": lambda table, rows: _nodes(table, rows, "degree"),
    "nodes by ego density": lambda table, rows: _nodes(
        table, rows, partial(dp.networks.ego_density, sensitivity="degree")
    ),
}


OF_GRAPHS = {name for name in TASKS if name.startswith("nodes")}


def measure(engine: str, task: str, folder: Path, rows: int, memory: str) -> None:
    """Print what one release takes in this process, as JSON."""
    for size in (SMALL, rows):
        table = opened(engine, _written(folder, task, size), memory)
        start, busy = perf_counter(), processors()
        TASKS[task](table, size)
        found = {"seconds": perf_counter() - start, "processors": processors() - busy}
    found["mebibytes"] = most_memory()
    print(json.dumps(found), flush=True)
    os._exit(0)  # to stop Spark takes longer than the figures are worth


def processes() -> list[Path]:
    """Return the folders of this process and of those that it has started."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[folder.name] = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:  # a process that has ended meanwhile
            continue
    own = {str(os.getpid())}
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    return [Path("/proc") / name for name in own]


def processors() -> float:
    """Return the seconds that processors have worked for these processes."""
    stats = [(one / "stat").read_text().rpartition(")")[2].split() for one in processes()]
    ticks = sum(int(fields[11]) + int(fields[12]) for fields in stats)
    return ticks / os.sysconf("SC_CLK_TCK")


def most_memory() -> float:
    """Return the sum of the mebibytes that each of these processes had at the most."""
    # Not getrusage, which gives a child the peak of the process that started it.
    lines = [row for one in processes() for row in (one / "status").read_text().splitlines()]
    return sum(float(row.split()[1]) for row in lines if row.startswith("VmHWM")) / 1024


def _written(folder: Path, task: str, rows: int) -> Path:
    kind = "edges" if task in OF_GRAPHS else "records"
    path = folder / f"{kind}-{rows}.parquet"
    if not path.exists():
        (write_edges if kind == "edges" else write_records)(path, rows)
    return path


def run(engine: str, task: str, folder: Path, rows: int, memory: str) -> dict[str, float]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--one", engine, task, str(folder), str(rows), memory]
    environment = {
        **os.environ,
        "NUMBA_NUM_THREADS": str(THREADS),
        "POLARS_MAX_THREADS": str(THREADS),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(  # noqa: S603 -- this very script
        command, capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode != 0:
        raise SystemExit(f"{task}, {engine}, {rows}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def record(asked: argparse.Namespace) -> None:
    """Add one row to the results for every run."""
    for task in asked.tasks.split(","):
        sizes = asked.edges if task in OF_GRAPHS else asked.rows
        _written(asked.folder, task, SMALL)
        for rows in (int(float(size)) for size in sizes.split(",")):
            _written(asked.folder, task, rows)  # here, since to write takes memory
            for engine in asked.engines.split(","):
                for _ in range(asked.repeats):
                    found = run(engine, task, asked.folder, rows, asked.memory)
                    with RESULTS.open("a", encoding="utf-8") as stored:
                        figures = ",".join(f"{figure:.4g}" for figure in found.values())
                        print(f"{task},{engine},{rows},{figures}", file=stored)
                    print(task, engine, rows, found, flush=True)


def show() -> None:
    """Print the stored results of one number of rows as a table."""
    found = (
        pl.read_csv(RESULTS)
        .filter(rows=SHOWN)
        .group_by("application", "engine")
        .agg(pl.min("processors"), pl.median("mebibytes"))
    )
    forms = {"processors": ".1f", "mebibytes": ".0f"}
    cells = {
        (task, engine, column): format(value, forms[column])
        for task, engine, *values in found.rows()
        for column, value in zip(forms, values, strict=True)
    }
    engines = ("polars", "duckdb", "memory")
    heads = [f"{unit}, {engine}" for unit in ("s", "MiB") for engine in engines]
    print(f"| release | {' | '.join(heads)} |")
    print(f"| --- |{' ---: |' * len(heads)}")
    for task in TASKS:
        row = [cells.get((task, one, column), "") for column in forms for one in engines]
        print(f"| {task} | {' | '.join(row)} |")


def main() -> None:
    """Measure, or show what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--rows", default="1e6,1e7")
    parser.add_argument("--edges", default="1e6")
    parser.add_argument("--engines", default="memory,polars,duckdb")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--repeats", default=1, type=int)
    parser.add_argument("--memory", default="2GB", help="of DuckDB, or of Spark's Java process")
    asked = parser.parse_args()
    if asked.show:
        show()
    else:
        record(asked)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        engine, task, folder, rows, memory = sys.argv[2:]
        measure(engine, task, Path(folder), int(rows), memory)
    main()
