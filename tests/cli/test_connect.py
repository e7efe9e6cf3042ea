"""Four commands through a server of Spark Connect that Spark itself started.

Run by ``make spark``: the contract of commands and the tests of engines have Sail's server.
"""

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from dpselect.tables.spark import session
from support.commands import EXAMPLES, written
from support.engines import JAVA

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(not JAVA, reason="Spark itself is started by make spark"),
]


def listens(port):
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Return the address of a server of Spark Connect."""
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


@pytest.mark.parametrize("name", ["percentile", "nodes", "map", "tree"])
def test_it_is_right(run, tmp_path, server, name):
    engine = ("--engine", "spark", "--master", server, "--json")
    ran = run(*EXAMPLES[name].line(written(tmp_path, "parquet"), *engine, epsilon=1000))

    assert ran.code == 0, ran.error
    assert EXAMPLES[name].answer in (None, ran.json.get("answer"))
