"""Four tasks through Spark Connect, by the command line and in Python.

On Sail's server in plain tests, where the contract of commands has the others already;
``make spark`` starts a server of Spark's own.
"""

import json
import os
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.tables.spark import session
from dpselect.trees import read_domains
from support.engines import JAVA, master

pytestmark = [pytest.mark.spark]
if JAVA:
    pytestmark.append(pytest.mark.slow)
SIZE = 2000
RNG = np.random.default_rng(2)
COLUMNS = {f"c{j}": RNG.integers(0, 3, SIZE) for j in range(5)}
ROWS = pl.DataFrame(
    {
        **COLUMNS,
        "label": (sum(COLUMNS.values()) > 5).astype(np.int64),
        "days": np.arange(SIZE) % 21,
        "x": RNG.random(SIZE),
        "y": RNG.random(SIZE),
        "source": np.zeros(SIZE, np.int64),
        "target": np.arange(SIZE) % 30 + 1,
    }
)
CLAIMS = {
    "label": "label",
    "classes": [0, 1],
    "max_records": 5000,
    "columns": {name: {"values": [0, 1, 2]} for name in COLUMNS},
}
ADD_REMOVE = ("--neighbours", "add-remove")


def listens(port):
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Return the address of a server of Spark Connect."""
    if not JAVA:
        yield master()[1]
        return
    import pyspark

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": 1,
        "spark.sql.codegen.wholeStage": "false",
    }
    started = subprocess.Popen(
        [
            *(Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local[1]"),
            *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
            *(part for one in settings.items() for part in ("--conf", "{}={}".format(*one))),
            "spark-internal",
        ],
        cwd=tmp_path_factory.mktemp("connect"),
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 120
    while not listens(port):
        assert started.poll() is None
        assert time.monotonic() < end, "the server took too long"
        time.sleep(0.2)
    yield f"sc://127.0.0.1:{port}"
    session(f"sc://127.0.0.1:{port}").stop()
    started.terminate()
    started.wait()


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    ROWS.write_parquet(folder / "rows.parquet")
    (folder / "claims.json").write_text(json.dumps(CLAIMS))
    return folder / "rows.parquet"


def test_a_tree_of_depth_5_by_the_command_line(run, rows, server):
    """The other commands, by the contract of all."""
    asked = ("--domains", rows.parent / "claims.json", "--epsilon", 1e5, *ADD_REMOVE)
    grown = run("tree", rows, *asked, "--engine", "spark", "--master", server, "--json").json

    assert grown["spends"][0]["times"] == 5
    assert "branches" in grown["tree"]["root"]["branches"][1]["branches"][1]


def test_all_four_in_python(rows, server):
    table = session(server).read.parquet(str(rows))
    shared = {"epsilon": 50.0, "neighbours": "add-remove"}
    claims = read_domains(rows.parent / "claims.json")
    query = dp.ID3Tree(**claims, epsilon=1e5, neighbours="add-remove")

    days = dp.Percentiles(column="days", p=90, candidates=[0, 10, 20], **shared).release(table)
    chosen = dp.TopNodes(nodes=31, k=1, metric="degree", epsilon=50.0).release(table)
    made = dp.Map(x="x", y="y", bounds=(0, 0, 1, 1), **shared).release(table)
    tree = query.release(table).tree
    coded = query.design().rows.coded(ROWS)
    right = tree.probabilities(coded.codes).argmax(axis=1) == coded.labels

    assert (days.answer, chosen.answer) == ((20.0,), (0,))
    assert abs(made.total - SIZE) < 100
    assert right.mean() > 0.95
