"""Sessions of Spark: the one there is, one of a master, or one of Spark Connect.

Whatever is wrong is one error within a minute, where Spark would try for many. A Java that is
started here is silent.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from shutil import which
from socket import create_connection
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any
from urllib.parse import urlsplit

from dpselect._optional import needed
from dpselect._replacing import replaced
from dpselect.errors import DataError

PATIENCE = 5.0
"""Seconds to wait until somebody listens where a master is said to be."""

LONGEST_START = 45.0
"""Seconds to wait until who listens there answers as Spark; a busy machine takes over 20."""

RETRIES = 7
"""Of a call to a server that is gone: 16 seconds in all, in place of ten minutes."""

QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}

DEBUG = "DPSELECT_DEBUG"
"""Environment variable that lets Java print what it has to say; it may quote private values."""

_CONNECTED: dict[str, Any] = {}

JAVA = "PySpark needs Java 17 or later"
_REASON = re.compile(
    r"^(?:: |Caused by: |Exception in thread \S+ )[\w.$]+(?:Exception|Error): (.+)$",
    re.MULTILINE,
)


def session(master: str | None = None) -> Any:  # noqa: ANN401 -- a SparkSession
    """Return the session of a master, started if there is none.

    Raises:
        MissingDependencyError: PySpark, or what Spark Connect needs, is not installed.
        DataError: No master answers, or Spark cannot be started.
    """
    if master is not None and master.startswith("sc://"):
        needed("pyspark", extra="connect")
        needed("grpc", extra="connect")
        check_answer(master)
        return _connected(master)
    needed("pyspark", extra="spark")
    if master is not None and master.startswith("spark://"):
        check_answer(master)
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    there = SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ  # noqa: SLF001 -- PySpark tells nobody
    if not there:
        _start(master)
    builder = SparkSession.builder.appName("dpselect").config(map=dict[str, Any](QUIET))
    if master is not None:
        builder = builder.master(master)
    return replaced(builder.getOrCreate, lambda: _not_started(""))


def _start(master: str | None) -> None:
    """Start Java, whose messages are kept from the terminal, and Spark there.

    Raises:
        DataError: With what Spark says to it.
    """
    needed("pyspark", extra="spark")
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if which("java") is None and "JAVA_HOME" not in os.environ:
        raise DataError(
            f"{JAVA}, and there is none: install it, set JAVA_HOME, or give a server of Spark "
            "Connect, --master sc://host:15002, which needs none here"
        )
    settings = SparkConf().setAppName("dpselect").setAll(list(QUIET.items()))
    if master is not None:
        settings = settings.setMaster(master)
    with TemporaryFile() as log:

        def started() -> Any:  # noqa: ANN401 -- a SparkContext
            return SparkContext(conf=settings, gateway=gateway)

        try:
            heard = {} if os.environ.get(DEBUG) else {"stderr": log}
            gateway = launch_gateway(settings, heard)  # type: ignore[no-untyped-call]
            limited = master is not None and master.startswith("spark://")
            _within(LONGEST_START, started, str(master)) if limited else started()
        except DataError:
            raise
        except Exception as error:  # noqa: BLE001 -- a page of Java
            refusal = _not_started(f"{error}\n{_written(log)}")
        else:
            return
    raise refusal


def _written(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")


def _not_started(said: str) -> DataError:
    """Return the error for what Java says; no data were read."""
    reasons = _REASON.findall(said)
    reason = f": {reasons[-1][:200]}" if reasons else ""
    return DataError(
        f"Spark cannot be started{reason}; {JAVA}, and --master one that it knows, such as "
        "local[4] or spark://host:7077"
    )


def _connected(master: str) -> Any:  # noqa: ANN401 -- a SparkSession
    """Return our session of a server of Spark Connect, beside any other that there is."""
    held = _CONNECTED.get(master)
    if held is not None and not held.is_stopped:
        return held
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions of pandas, which we do not use
        connect = import_module("pyspark.sql.connect.session")
        client = import_module("pyspark.sql.connect.client")
        # Its client would try for minutes, and again at the end of the process.
        channel = client.DefaultChannelBuilder(master).toChannel()
        ready = import_module("grpc").channel_ready_future(channel)
        replaced(lambda: ready.result(2 * PATIENCE), lambda: _other_listener(master))
        channel.close()
        made = replaced(
            lambda: connect.SparkSession.builder.remote(master).create(),
            lambda: DataError(f"{master} is no server of Spark Connect"),
        )
        patient = import_module("pyspark.sql.connect.client.retries").DefaultPolicy(
            max_retries=RETRIES, max_backoff=4000
        )
        made.client.set_retry_policies([patient])
        _CONNECTED[master] = made
        return made


def _within(seconds: float, make: Callable[[], Any], master: str) -> Any:  # noqa: ANN401
    """Return what is made, or raise what is raised, within some time.

    Raises:
        DataError: It took longer.
    """
    ended: list[Callable[[], Any]] = []

    def run() -> None:
        try:
            made = make()
            ended.append(lambda: made)
        except Exception as error:  # noqa: BLE001 -- raised where it is waited for
            failure = error

            def fail() -> None:
                raise failure

            ended.append(fail)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not ended:
        raise _other_listener(master)
    return ended[0]()


def _other_listener(master: str) -> DataError:
    return DataError(
        f"who listens at {master} does not answer as Spark does: is it the port of a master "
        "(7077) or of Spark Connect (15002), and not of a web page?"
    )


def check_answer(master: str) -> None:
    """Raise at once if nobody listens at any address of a master; Spark tries for a minute.

    Raises:
        DataError: Nobody does.
    """
    places = [urlsplit(f"//{place}") for place in master.split("://")[1].split(",")]
    for place in places:
        with suppress(OSError, ValueError):
            port = place.port or (15002 if master.startswith("sc:") else 7077)
            create_connection((place.hostname, port), timeout=PATIENCE).close()
            return
    raise DataError(f"no Spark answers at {master}: is it the right host and port?")
