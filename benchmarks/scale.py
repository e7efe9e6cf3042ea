"""Time and peak memory of counts where the rows are, on polars, DuckDB and PySpark.

Run: ``python benchmarks/scale.py --folder BIG_DISK [--rows 1e6,1e7,1e8] [--edges 1e6,1e7]``.
It writes synthetic tables (16 bytes a record) and measures each aggregate in a process of its
own: seconds of a first run that reads from Parquet, without the start of the engine, and the
most memory that process ever had; for Spark that of the Java process, its cluster in one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from dpselect import tables
from dpselect.networks import EdgeTable
from dpselect.percentiles.ranks import NumbersInEngine
from dpselect.spatial import Box
from dpselect.spatial.engine import EngineCounts, located
from dpselect.spatial.partition import uniform_grid
from dpselect.trees.counts import Branching
from dpselect.trees.engine import count_tables

CHUNK = 1_000_000
CODES = {f"code{j}": 4 for j in range(4)}
BOX = Box(0, 0, 1, 1)
MIB = 2**20


def write_records(path: Path, rows: int) -> None:
    """Write numbers, points and codes in chunks, so that no size has to fit memory."""
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


def opened(engine: str, path: Path, memory: str) -> nw.LazyFrame[Any]:
    """Return a file as a lazy frame of an engine, the engine started and warm."""
    if engine == "polars":
        return nw.from_native(pl.scan_parquet(path))
    if engine == "duckdb":
        import duckdb

        duckdb.execute("SELECT 1").fetchall()
        return nw.from_native(duckdb.read_parquet(str(path)))
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": memory,
        "spark.sql.shuffle.partitions": "8",
    }
    SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    table = tables.spark_table(str(path))
    nw.to_native(table).limit(1).collect()
    return table


def ranks(table: nw.LazyFrame[Any], rows: int) -> None:  # noqa: ARG001 -- as all tasks
    """Count the ranks of 101 candidates."""
    NumbersInEngine(table, "days").ranks(np.linspace(0, 60, 101))


def cells(table: nw.LazyFrame[Any], rows: int) -> None:  # noqa: ARG001 -- as all tasks
    """Count points in 128 x 128 cells."""
    EngineCounts(located(table, x="x", y="y", box=BOX, outside="drop")).in_cells(
        uniform_grid(128)
    )


def rectangles(table: nw.LazyFrame[Any], rows: int) -> None:  # noqa: ARG001 -- as all tasks
    """Count points in 60 rectangles exactly."""
    corners = np.random.default_rng(2).integers(0, 2**32, (60, 2, 2))
    queries = np.sort(corners, axis=1).reshape(-1, 4)
    EngineCounts(located(table, x="x", y="y", box=BOX, outside="drop")).in_rectangles(queries)


def contingency(table: nw.LazyFrame[Any], rows: int) -> None:  # noqa: ARG001 -- as all tasks
    """Count the tables of 4 columns at 4 leaves."""
    splits = Branching(0, (0, 1, 2, 3))
    count_tables(table, CODES, "label", 2, splits, 4)


def degrees(table: nw.LazyFrame[Any], rows: int) -> None:
    """Count the neighbours of every node."""
    _graph(table, rows).degrees.sum()


def triangles(table: nw.LazyFrame[Any], rows: int) -> None:
    """Count the triangles at every node."""
    _graph(table, rows).triangles().sum()


def _graph(table: nw.LazyFrame[Any], rows: int) -> EdgeTable:
    return EdgeTable(table, nodes=rows // 10, source="source", target="target")


TASKS: dict[str, Callable[[nw.LazyFrame[Any], int], None]] = {
    task.__name__: task for task in (ranks, cells, rectangles, contingency, degrees, triangles)
}
OF_GRAPHS = {"degrees", "triangles"}


def measure(engine: str, task: str, path: Path, rows: int, memory: str) -> None:
    """Print what one aggregate takes in this process, as JSON."""
    table = opened(engine, path, memory)
    start = perf_counter()
    TASKS[task](table, rows)
    seconds = perf_counter() - start
    found = {"seconds": seconds, "driver": _peak(Path("/proc/self")) / MIB}
    if engine == "spark":
        found["java"] = _java_peak() / MIB
    print(json.dumps(found), flush=True)
    os._exit(0)  # to stop Spark takes longer than the figures are worth


def _java_peak() -> float:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() == "java" and _is_child(folder):
                return _peak(folder)
        except OSError:  # a process that has ended meanwhile
            continue
    return float("nan")


def _peak(folder: Path) -> float:
    # Not getrusage, which gives a child the peak of the process that started it.
    status = (folder / "status").read_text().splitlines()
    line = next(row for row in status if row.startswith("VmHWM"))
    return float(line.split()[1]) * 1024


def _is_child(folder: Path) -> bool:
    status = (folder / "status").read_text().splitlines()
    parent = next(row for row in status if row.startswith("PPid")).split()[1]
    return int(parent) == os.getpid()


def run(engine: str, task: str, path: Path, rows: int, memory: str) -> dict[str, float]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--one", engine, task, str(path), str(rows), memory]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(  # noqa: S603 -- this very script
        command, capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print one table, and how time grows from each size to the next."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", default="1e6,1e7")
    parser.add_argument("--edges", default="1e6")
    parser.add_argument("--engines", default="polars,duckdb,spark")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--memory", default="2g", help="of Spark's Java process")
    asked = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    names = ("polars", "duckdb", "pyspark", "narwhals")
    table = Table(title=f"{machine}; " + ", ".join(f"{n} {version(n)}" for n in names))
    for column in ("what", "engine", "rows", "seconds", "driver MiB", "Java MiB", "growth"):
        table.add_column(column, justify="left" if column in {"what", "engine"} else "right")
    for task in asked.tasks.split(","):
        sizes = asked.edges if task in OF_GRAPHS else asked.rows
        for engine in asked.engines.split(","):
            before: tuple[float, float] | None = None
            for rows in (int(float(size)) for size in sizes.split(",")):
                path = _written(asked.folder, task, rows)
                found = run(engine, task, path, rows, asked.memory)
                print(task, engine, rows, found, flush=True)
                growth = "" if before is None else f"{_exponent(before, rows, found):.2f}"
                before = rows, found["seconds"]
                table.add_row(
                    *(task, engine, f"{rows:.0e}", f"{found['seconds']:.1f}"),
                    *(f"{found['driver']:,.0f}", f"{found.get('java', 0):,.0f}", growth),
                )
    Console(width=110).print(table)


def _written(folder: Path, task: str, rows: int) -> Path:
    kind = "edges" if task in OF_GRAPHS else "records"
    path = folder / f"{kind}-{rows}.parquet"
    if not path.exists():
        (write_edges if kind == "edges" else write_records)(path, rows)
    return path


def _exponent(before: tuple[float, float], rows: int, found: dict[str, float]) -> float:
    return float(np.log(found["seconds"] / before[1]) / np.log(rows / before[0]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one = sys.argv[2:]
        measure(one[0], one[1], Path(one[2]), int(one[3]), one[4])
    main()
