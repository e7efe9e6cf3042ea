"""Four tasks through Spark Connect, by the command line and in Python.

On Sail's server in plain tests, where ``test_engines`` has three of the commands already;
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

from dpselect.networks import EdgeTable, release_nodes
from dpselect.percentiles import release_percentiles
from dpselect.spatial import even_queries, release_histogram
from dpselect.spatial.box import Box
from dpselect.tables.sessions import session
from dpselect.trees import Declaration, ID3Classifier
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


@pytest.fixture
def asked(run, rows, server, tmp_path):
    """Return a function that asks a command of the rows, and returns what it printed."""

    def ask(name, *options):
        more = ("--out", tmp_path / "map.parquet") if name == "map" else ()
        ran = run(
            name, rows, *options, *more, "--engine", "spark", "--master", server, "--json"
        )
        assert ran.code == 0, ran.error
        return ran.json

    return ask


@pytest.mark.slow
def test_a_percentile_by_the_command_line(asked):
    column = ("--column", "days", "--p", 90, "--upper", 20, "--step", 10, "--epsilon", 50)

    assert asked("percentile", *column, *ADD_REMOVE)["answer"] == [20.0]


@pytest.mark.slow
def test_nodes_by_the_command_line(asked):
    assert asked("nodes", "--nodes", 31, "--metric", "degree", "--epsilon", 50)["answer"] == [0]


def test_a_tree_of_depth_5_by_the_command_line(asked, rows):
    claims = ("--domains", rows.parent / "claims.json")

    grown = asked("tree", "--label", "label", *claims, "--epsilon", 1e5)

    assert grown["plan"]["arguments"]["max_depth"] == 5
    assert "branches" in grown["tree"]["root"]["branches"][1]["branches"][1]


@pytest.mark.slow
def test_a_map_by_the_command_line(asked):
    made = asked("map", "--x", "x", "--y", "y", "--bounds", "0,0,1,1", "--epsilon", 50)

    assert abs(made["points, noisy"] - SIZE) < 100


def test_all_four_in_python(rows, server):
    table = session(server).read.parquet(str(rows))
    shared = {"epsilon": 50.0, "neighbours": "add-remove"}
    edges = EdgeTable(table, source="source", target="target", nodes=31)
    claims = Declaration.from_file(rows.parent / "claims.json")
    tree = ID3Classifier(
        1e5, domains=claims.columns, classes=claims.classes, max_records=claims.max_records
    )

    days = release_percentiles(table, column="days", p=90, candidates=[0, 10, 20], **shared)
    chosen = release_nodes(edges, 1, metric="degree", epsilon=50.0)
    made = release_histogram(
        table,
        x="x",
        y="y",
        bounds=(0, 0, 1, 1),
        queries=even_queries(Box(0, 0, 1, 1)),
        **shared,
    )
    right = tree.fit(table, "label").predict(ROWS.drop("label")) == ROWS["label"].to_numpy()

    assert (days.answer, chosen.answer) == ((20.0,), (0,))
    assert abs(made.total - SIZE) < 100
    assert right.mean() > 0.95
