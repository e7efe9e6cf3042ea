"""Spark: sessions, and files as lazy frames.

Whatever is wrong with a session is one error. A Java that is started here is silent.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path, PurePosixPath
from shutil import which
from socket import create_connection
from subprocess import DEVNULL
from typing import Any
from urllib.parse import urlsplit

from dpselect._optional import needed, nw
from dpselect.errors import DataError
from dpselect.passes import replaced
from dpselect.tables.formats import OTHERS, PARQUET
from dpselect.tables.source import LOGS, Source, managed
from dpselect.tables.where import filtered

NAMED = re.compile(r"\w+\.\w+(\.\w+)?")
"""Names of tables in a catalogue: a schema and a table, and a catalogue before."""

PATTERNS = {*"*?[]{}\\"} - {os.sep}
"""What Spark takes for a pattern; there is no way to write it in a name."""

PATIENCE = 5.0
"""Seconds to wait for a listener where a master is said to be."""

RETRIES = 7
"""Retries of a call to a server that is gone: 16 seconds in all, not ten minutes."""

QUIET = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # It tells Java with five calls where each expression of a query was written.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}

DEBUG = "DPSELECT_DEBUG"
"""Environment variable that lets Java print what it has to say; it may quote private values."""

JAVA = "PySpark needs Java 17 or later"
NOT_STARTED = (
    f"Spark cannot be started: {JAVA}, and --master one that it knows and that answers, such "
    f"as local[4] or spark://host:7077; {DEBUG}=1 shows what Java says"
)

PLAIN = ("grpc.compression_enabled_algorithms_bitset", 1)
"""An option of a channel that nothing is compressed on: Sail would take longer to compress what
it sends than to compute it."""

_CONNECTED: dict[str, Any] = {}


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
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("dpselect").config(map=dict[str, Any](QUIET))
    if master is not None:
        builder = builder.master(master)

    def started() -> Any:  # noqa: ANN401 -- a SparkSession
        _start_java()
        return builder.getOrCreate()

    return replaced(started, lambda: DataError(NOT_STARTED))


def _start_java() -> None:
    """Start Java, unless it runs; its messages are kept from the terminal.

    Raises:
        DataError: There is no Java.
    """
    needed("pyspark", extra="spark")
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:  # noqa: SLF001 -- PySpark tells nobody
        return
    if which("java") is None and "JAVA_HOME" not in os.environ:
        raise DataError(
            f"{JAVA}, and there is none: install it, set JAVA_HOME, or give a server of Spark "
            "Connect, --master sc://host:15002, which needs none here"
        )
    heard = {} if os.environ.get(DEBUG) else {"stderr": DEVNULL}
    settings = SparkConf().setAll(list(QUIET.items()))
    SparkContext._ensure_initialized(gateway=launch_gateway(settings, heard))  # type: ignore[no-untyped-call] # noqa: SLF001


def _connected(master: str) -> Any:  # noqa: ANN401 -- a SparkSession
    """Return a session of a server of Spark Connect, beside any other that there is."""
    held = _CONNECTED.get(master)
    if held is not None and not held.is_stopped:
        return held
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions of pandas, which we do not use
        connect = import_module("pyspark.sql.connect.session")
        client = import_module("pyspark.sql.connect.client")
        # Its client would try for minutes, and again at the end of the process.
        builder = client.DefaultChannelBuilder(master, [PLAIN])
        channel = builder.toChannel()
        ready = import_module("grpc").channel_ready_future(channel)
        silent = f"the server at {master} does not answer as Spark Connect does (port 15002)"
        replaced(lambda: ready.result(2 * PATIENCE), lambda: DataError(silent))
        channel.close()
        made = replaced(
            lambda: connect.SparkSession.builder.channelBuilder(builder).create(),
            lambda: DataError(f"{master} is no server of Spark Connect"),
        )
        patient = import_module("pyspark.sql.connect.client.retries").DefaultPolicy(
            max_retries=RETRIES, max_backoff=4000
        )
        made.client.set_retry_policies([patient])
        _CONNECTED[master] = made
        return made


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


def spark_table(path: str | Source, *, master: str | None = None) -> nw.LazyFrame[Any]:
    """Return a table of Spark, without reading its rows.

    Args:
        path: The name of a table in a catalogue, such as ``"catalog.schema.table"``, or a
            Parquet file, a folder or a pattern of names of such files, anywhere that Spark
            reads from. Or a ``Source`` of such a path.
        master: Address of the master, such as ``"spark://host:7077"``, ``"local[4]"``, or
            ``"sc://host:15002"`` for Spark Connect. By default the current session, as under
            ``spark-submit``, or else this machine.

    Raises:
        DataError: There is no such table, or it is of another kind.
        MissingDependencyError: PySpark is not installed.
    """
    source = Source.of(path)
    name, place = str(source), Path(str(source))
    kind = source.kind(PurePosixPath(name))
    named = NAMED.fullmatch(name) and kind not in PARQUET and not place.exists()
    kinds = {*map(source.kind, source.files())} if place.is_dir() else {kind}
    if not named and any(one and "*" not in one for one in kinds - PARQUET):
        raise DataError(
            f"{name} must end in .parquet, be a folder of Parquet files, or name a table as "
            f"catalog.schema.table; {OTHERS}"
        )
    source.refuse_dialect("tables of Spark")
    reader = session(master).read
    if named:
        refusal = f"there is no table {name} in the catalogue"
        return filtered(_opened(lambda: reader.table(name), refusal), source.comparisons)
    if PATTERNS & {*name} and place.exists():
        raise DataError(
            f"{name}: Spark takes {' '.join(sorted(PATTERNS))} in names for a pattern, and may "
            "read other files: rename it"
        )
    if len(source.names()) > len(source.files()):
        raise DataError(f"{name} has several names of one file, whose rows Spark would repeat")
    for log in LOGS:
        if _is_there(reader, f"{name}/{log}"):
            raise managed(name, log, "spark.read.table")
    refusal = (
        f"{name} cannot be read by Spark: is it there, and complete? S3 needs a connector: "
        "--packages org.apache.hadoop:hadoop-aws:..."
    )
    # Java keeps the folder in which it was started.
    whole = str(place.absolute()) if place.exists() else name
    return filtered(_opened(lambda: reader.parquet(whole), refusal), source.comparisons)


def _opened(opened: Callable[[], Any], refusal: str) -> nw.LazyFrame[Any]:
    """Return what Spark opens, its columns known: Spark Connect looks for them late."""

    def known() -> Any:  # noqa: ANN401 -- a frame of Spark
        native = opened()
        if not native.columns:
            raise DataError(refusal)
        return native

    return nw.from_native(replaced(known, lambda: DataError(refusal)))


def _is_there(reader: Any, path: str) -> bool:  # noqa: ANN401 -- Spark's
    """Return whether Spark finds a file, on whatever storage; none is read."""
    try:
        return bool(reader.text(path).inputFiles())
    except Exception:  # noqa: BLE001 -- a class of Java
        return False
