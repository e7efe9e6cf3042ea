"""The documented commands on a Spark cluster of two workers, and what a killed one costs.

Run: ``python benchmarks/cluster.py FOLDER [--rows 1e7] [--nodes 1e6] [--tasks ...]
[--kill nodes]``. It starts a standalone master and two workers of one core each on this
machine, writes tables into FOLDER, and runs every command once: seconds by the clock, from the
start of the process, rows that leave the engine in the largest answer, and the most memory of
the driver's Python and Java. The command of ``--kill`` runs again, and a worker is killed while
it counts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from dpselect import Budget, Neighbours
from floor import CODES, write_records

PORT = 17077
MASTER = f"spark://127.0.0.1:{PORT}"
SETTINGS = """
spark.ui.enabled false
spark.sql.shuffle.partitions 8
spark.driver.memory 2g
spark.executor.memory 1536m
"""


class Cluster:
    """A master and two workers of one core, on this machine alone."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        folder.mkdir(exist_ok=True)
        (folder / "spark-defaults.conf").write_text(SETTINGS)
        own = {"SPARK_HOME": str(home), "SPARK_CONF_DIR": str(folder)}
        self.environment = {**os.environ, **own, "SPARK_LOCAL_IP": "127.0.0.1"}
        self.environment |= {"DPSELECT_DEBUG": "1"}  # or Java would be silent
        self.launcher, self.folder = home / "bin" / "spark-class", folder
        self.work = folder / "work"
        self.running = [self._start("master.Master", "--port", str(PORT))]
        self.workers = [self.worker(), self.worker()]

    def worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker."""
        each = ("--cores", "1", "--memory", "2g", "--work-dir", str(self.work), MASTER)
        process = self._start("worker.Worker", *each)
        self.running.append(process)
        return process

    def _start(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"{name}-{time.monotonic_ns()}.log"
        command = [str(self.launcher), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1"]
        with log.open("w") as out:
            process = subprocess.Popen(  # noqa: S603 -- Spark's own launcher
                [*command, "--webui-port", "0", *options],
                stdout=out,
                stderr=out,
                cwd=self.folder,
                env=self.environment,
            )
        while not any(word in log.read_text() for word in ("elected", "registered")):
            if process.poll() is not None:
                raise SystemExit(log.read_text())
            time.sleep(0.1)
        return process

    def executors(self) -> set[Path]:
        """Return the logs of the executors that there were."""
        return set(self.work.glob("app-*/*/stderr"))


def commands(asked: argparse.Namespace) -> dict[str, tuple[str, list[object]]]:
    """Return for each command the relation of its budget, and its arguments."""
    folder, rows = asked.folder, asked.rows
    records = folder / f"records-{rows}.parquet"
    edges = folder / f"edges-{rows}-{asked.nodes}.parquet"
    if not records.exists():
        write_records(records, rows)
    if not edges.exists():
        rng = np.random.default_rng(1)
        ends = {
            "source": asked.nodes * rng.random(rows) ** 1.5,
            "target": asked.nodes * rng.random(rows),
        }
        pl.DataFrame(ends).cast(pl.Int32).write_parquet(edges, row_group_size=250_000)
    claims = folder / "tree.json"
    columns = {name: {"values": list(range(4))} for name in CODES}
    declared = {
        "label": "label",
        "classes": [0, 1],
        "max_records": 2 * rows,
        "columns": columns,
    }
    claims.write_text(json.dumps(declared))
    days = ["--column", "days", "--p", 90, "--upper", 60, "--step", 0.6, "--epsilon", 1]
    calls = ["--source", "source", "--target", "target", "--nodes", asked.nodes]
    return {
        "percentile": ("add-remove", [records, *days, "--neighbours", "add-remove"]),
        "nodes": (
            "edge",
            [edges, *calls, "--k", 20, "--metric", "degree", "--epsilon", 1],
        ),
        "tree": (
            "add-remove",
            [records, "--domains", claims, "--epsilon", 1, "--neighbours", "add-remove"],
        ),
        "map": (
            "add-remove",
            [
                *(records, "--x", "x", "--y", "y", "--bounds", "0,0,1,1", "--epsilon", 1),
                *("--neighbours", "add-remove", "--out", folder / "map.parquet"),
            ],
        ),
    }


def run(
    cluster: Cluster, name: str, arguments: list[object], ledger: Path, *, kill: bool
) -> dict[str, Any]:
    """Run one command; return what it took."""
    asked = [name, *arguments, "--engine", "spark", "--master", MASTER, "--json"]
    before, start = cluster.executors(), time.perf_counter()
    command = [sys.executable, __file__, "--one", *map(str, asked), "--ledger", str(ledger)]
    started = subprocess.Popen(  # noqa: S603 -- this very script
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=cluster.environment
    )
    if kill:
        while len(cluster.executors() - before) < 2:
            time.sleep(0.1)
        time.sleep(10)
        cluster.workers.pop().kill()
    error = started.communicate()[1]
    if started.returncode != 0:
        raise SystemExit(error.decode()[-2000:])
    seconds = time.perf_counter() - start
    logs = "".join(log.read_text() for log in cluster.executors() - before) + error.decode()
    if kill:
        cluster.workers.append(cluster.worker())
    return {
        "command": name,
        "seconds": round(seconds, 1),
        **json.loads(re.findall(r"^FOUND (.*)$", error.decode(), re.MULTILINE)[-1]),
        "compile_errors": len(re.findall(r"grows beyond 64 KB|failed to compile", logs)),
        "charges": len(Budget.open(ledger).entries),
    }


def one(arguments: list[str]) -> None:
    """Run a command in this process, with a count of the rows that leave the engine."""
    from pyspark.sql.classic.dataframe import DataFrame

    from dpselect.cli import main as command
    from dpselect.tables.engine import Spark

    # To see what Spark says of its compiler.
    setattr(Spark, "_silenced", nullcontext)  # noqa: B010
    rows: list[int] = []
    for method in ("collect", "toArrow"):
        collect = getattr(DataFrame, method)

        def counted(self: Any, collect: Any = collect) -> Any:  # noqa: ANN401 -- PySpark's
            found = collect(self)
            rows.append(len(found))
            return found

        setattr(DataFrame, method, counted)
    try:
        command(arguments)
    except SystemExit as end:
        if end.code not in {0, None}:
            raise
    java = subprocess.check_output(["pgrep", "-x", "-P", str(os.getpid()), "java"])  # noqa: S603, S607
    found = {
        "queries": len(rows),
        "rows_out": max(rows),
        "python_mib": most_memory("self"),
        "java_mib": most_memory(java.decode().split()[0]),
    }
    print("FOUND", json.dumps(found), file=sys.stderr, flush=True)


def most_memory(process: str) -> int:
    """Return the most memory that a process had, in MiB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc", process, "status").read_text())
    return round(int(found[1]) / 1024) if found else 0


def main() -> None:
    """Print one row a command, and the rows as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", default=10_000_000, type=lambda text: int(float(text)))
    parser.add_argument("--nodes", default=1_000_000, type=lambda text: int(float(text)))
    parser.add_argument("--tasks", default="percentile,nodes,tree,map")
    parser.add_argument("--kill", default="nodes")
    asked = parser.parse_args()
    given = commands(asked)
    cluster = Cluster(asked.folder / f"cluster-{os.getpid()}")
    rows: list[dict[str, Any]] = []
    try:
        for name in asked.tasks.split(","):
            relation, arguments = given[name]
            for kill in (False, True) if name == asked.kill else (False,):
                ledger = cluster.folder / f"{name}-{kill}.budget"
                Budget(1000.0, neighbours=Neighbours(relation), path=ledger)
                found = run(cluster, name, arguments, ledger, kill=kill) | {"killed": kill}
                print(json.dumps(found), flush=True)
                rows.append(found)
    finally:
        for process in cluster.running:
            process.kill()
            process.wait()
    table = Table(*rows[0], title=f"{asked.rows:,} rows")
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console(width=130).print(table)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2:])
    else:
        main()
