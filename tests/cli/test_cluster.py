"""A Spark cluster of a master and two workers: what fails there, and what it costs.

Not part of a plain run: ``make spark`` starts it, where there is Java.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dpselect import Budget
from support.engines import JAVA

pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.skipif(not JAVA, reason="make spark starts a cluster"),
]
RNG = np.random.default_rng(3)
PATIENCE = 600
"""Seconds; a machine that other work shares starts two executors in a minute or two."""
SETTINGS = """
spark.ui.enabled false
spark.sql.shuffle.partitions 4
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1
"""
"""Of the commands: rows are few, and to compile them well would take longer than to count."""


class Cluster:
    """A master and two workers of one core, on this machine alone."""

    def __init__(self, folder):
        import pyspark

        home = Path(pyspark.__file__).parent
        (folder / "spark-defaults.conf").write_text(SETTINGS)
        own = {"SPARK_HOME": str(home), "SPARK_CONF_DIR": str(folder)}
        self.environment = {**os.environ, **own, "SPARK_LOCAL_IP": "127.0.0.1"}
        self.folder, self.work, self.running = folder, folder / "work", []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.master = f"spark://127.0.0.1:{self.port}"
        here = ("--host", "127.0.0.1", "--webui-port", "0")
        self.start("master.Master", *here, "--port", str(self.port))
        each = ("--cores", "1", "--memory", "1g", "--work-dir", str(self.work), self.master)
        self.workers = [self.start("worker.Worker", *here, *each) for _ in range(2)]

    def start(self, name, *options):
        log = self.folder / f"{len(self.running)}.log"
        launcher = Path(self.environment["SPARK_HOME"], "bin", "spark-class")
        command = [launcher, f"org.apache.spark.deploy.{name}", *options]
        with log.open("w") as out:
            process = subprocess.Popen(
                command, stdout=out, stderr=out, cwd=self.folder, env=self.environment
            )
        self.running.append(process)
        until(
            lambda: any(word in log.read_text() for word in ("elected", "registered")), process
        )
        return process

    def command(self, name, data, *options, ledger):
        """Start a command whose rows the cluster reads."""
        script = Path(sys.executable).parent / "dpselect"
        asked = [name, data, *options, "--engine", "spark", "--master", self.master, "--json"]
        return subprocess.Popen(
            [*map(str, [script, *asked, "--ledger", ledger])],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )


def until(holds, process):
    """Wait while a process runs."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the cluster took too long"
        time.sleep(0.05)


def ended(process):
    try:
        out, error = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()  # or the next command would wait for its executors
    assert len(error.splitlines()) <= 10, error
    return process.returncode, out, error


def executors(cluster):
    return set(cluster.work.glob("app-*/*/stderr"))


def charges(ledger):
    return len(Budget.open(ledger).entries)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    for process in made.running:
        process.kill()
        process.wait()


@pytest.fixture
def ledger(tmp_path, request):
    path = tmp_path / "ledger"
    relation = getattr(request, "param", "add-remove")
    Budget(1000.0, neighbours=relation, path=path)
    return path


RELATION = ("--neighbours", "add-remove")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Return the table of a tree of many passes, its declaration, and the options."""
    folder = tmp_path_factory.mktemp("tree")
    size = 200_000
    frame = pl.DataFrame({f"c{j}": RNG.integers(0, 4, size) for j in range(8)})
    frame = frame.with_columns(y=(pl.col("c0") + pl.col("c1")) // 4)
    frame.write_parquet(folder / "rows.parquet")
    columns = {f"c{j}": {"values": [0, 1, 2, 3]} for j in range(8)}
    claims = {"label": "y", "classes": [0, 1], "max_records": 10**6, "columns": columns}
    (folder / "claims.json").write_text(json.dumps(claims))
    options = ("--label", "y", "--domains", folder / "claims.json", "--epsilon", 100)
    return folder / "rows.parquet", (*options, *RELATION)


COLUMN = ("--column", "v", "--p", 50, "--upper", 20, "--step", 1, "--epsilon", 1)
ASKED = {
    "percentile": (*COLUMN, *RELATION),
    "map": (
        *("--x", "x", "--y", "y", "--bounds", "0,0,1,1", "--grids", "2,4"),
        *("--epsilon", 1, *RELATION),
    ),
    "top": ("--column", "v", "--k", 2, "--candidates", "0,1,2,3", "--epsilon", 1, *RELATION),
}


@pytest.mark.parametrize("name", list(ASKED))
def test_a_command_reads_its_rows_on_the_cluster(cluster, tmp_path, ledger, name):
    rows = pl.DataFrame({"v": [1, 2, 3] * 1000, "x": [0.5] * 3000, "y": [0.1] * 3000})
    rows.write_parquet(tmp_path / "rows.parquet")
    more = ("--out", tmp_path / "map.parquet") if name == "map" else ()

    code, out, error = ended(
        cluster.command(name, tmp_path / "rows.parquet", *ASKED[name], *more, ledger=ledger)
    )

    assert (code, charges(ledger)) == (0, 1), error
    assert json.loads(out)


@pytest.mark.parametrize("ledger", ["edge"], indirect=True)
def test_a_worker_that_is_killed_costs_time_and_nothing_else(cluster, tmp_path, ledger):
    edges = pl.DataFrame({"source": [0] * 400_000, "target": range(1, 400_001)})
    edges.write_parquet(tmp_path / "edges.parquet", row_group_size=20_000)
    asked = ("--nodes", 400_001, "--k", 1, "--metric", "degree", "--epsilon", 1)
    before = executors(cluster)
    started = cluster.command("nodes", tmp_path / "edges.parquet", *asked, ledger=ledger)
    until(lambda: executors(cluster) - before, started)
    cluster.workers[1].kill()

    code, out, error = ended(started)

    assert (code, charges(ledger)) == (0, 1), error
    assert json.loads(out)["answer"] == [0]


def test_an_interrupted_count_spends_nothing(cluster, tree, ledger):
    before = executors(cluster)
    started = cluster.command("tree", tree[0], *tree[1], ledger=ledger)
    until(lambda: executors(cluster) - before, started)
    started.send_signal(signal.SIGINT)

    code, _, error = ended(started)

    assert (code, charges(ledger)) == (130, 0)
    assert "interrupted" in error
