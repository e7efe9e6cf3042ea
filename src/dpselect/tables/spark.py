"""Spark: sessions, files as lazy frames, and what narwhals does not say to it.

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

import narwhals as nw

from dpselect._optional import needed, replaced
from dpselect.errors import DataError, ParameterError
from dpselect.tables.dialect import DEFAULTS, WRITTEN
from dpselect.tables.fields import typed
from dpselect.tables.formats import PARQUET
from dpselect.tables.source import MANAGED, Source
from dpselect.tables.spark_engine import Spark
from dpselect.tables.text import (
    CONTRADICTION,
    checked,
    field_pattern,
    first_line,
    header_fields,
)
from dpselect.tables.where import filtered

NAMED = re.compile(r"\w+\.\w+(\.\w+)?")
"""Names of tables in a catalogue: a schema and a table, and a catalogue before."""

PATTERNS = {*"*?[]{}\\"} - {os.sep}
"""What Spark takes for a pattern; there is no way to write it in a name."""

PATIENCE = 5.0
"""Seconds to wait for a listener where a master is said to be."""

RETRIES = 7
"""Retries of a call to a server that is gone: 16 seconds in all, not ten minutes."""

QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}

DEBUG = "DPSELECT_DEBUG"
"""Environment variable that lets Java print what it has to say; it may quote private values."""

JAVA = "PySpark needs Java 17 or later"
NOT_STARTED = (
    f"Spark cannot be started: {JAVA}, and --master one that it knows and that answers, such "
    f"as local[4] or spark://host:7077; {DEBUG}=1 shows what Java says"
)

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
        channel = client.DefaultChannelBuilder(master).toChannel()
        ready = import_module("grpc").channel_ready_future(channel)
        silent = f"the server at {master} does not answer as Spark Connect does (port 15002)"
        replaced(lambda: ready.result(2 * PATIENCE), lambda: DataError(silent))
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
            Parquet or text file (``.csv``, ``.tsv``, ``.tab``, ``.txt``, ``.dat``, ``.psv``),
            a folder or a pattern of names with such an ending, anywhere that Spark reads from;
            a name without one is Parquet. Or a ``Source`` of such a path. Columns of text
            files are text, except those of ``Source.column_type``.
        master: Address of the master, such as ``"spark://host:7077"``, ``"local[4]"``, or
            ``"sc://host:15002"`` for Spark Connect. By default the current session, as under
            ``spark-submit``, or else this machine.

    Raises:
        DataError: There is no such table, or it is of another kind.
        MissingDependencyError: PySpark is not installed.
    """
    source = Source.of(path)
    kind, read = source.kind(PurePosixPath(str(source))), {*PARQUET, *WRITTEN}
    named = NAMED.fullmatch(str(source)) is not None and (
        kind not in read or _is_table(str(source), session(master))
    )
    if kind and kind not in read and "*" not in kind and not named:
        raise DataError(
            f"{source} must end in .parquet, {', '.join(WRITTEN)}, be a folder of Parquet "
            "files, or name a table as catalog.schema.table"
        )
    table = _read(source, kind if not named else None, session(master).read)
    if named or kind not in WRITTEN:
        source.refuse_dialect("tables of Spark")
        return filtered(table, source.comparisons)
    table = typed(table, source.column_type, source)
    return filtered(table, source.comparisons, dialect=source)


def _read(source: Source, kind: str | None, reader: Any) -> nw.LazyFrame[Any]:  # noqa: ANN401 -- Spark's
    """Return a table by the kind of its files, None for one of a catalogue; CSV as text."""
    path = str(source)
    if kind is None:
        return _opened(lambda: reader.table(path), f"there is no table {path} in the catalogue")
    if PATTERNS & {*path} and Path(path).exists():
        raise DataError(
            f"{path}: Spark takes {' '.join(sorted(PATTERNS))} in names for a pattern, and may "
            "read other files: rename it"
        )
    if len(source.names()) > len(source.files()):
        raise DataError(f"{path} has several names of one file, whose rows Spark would repeat")
    for log, table in (("_delta_log", "a Delta"), ("metadata/*.metadata.json", "an Iceberg")):
        if _is_there(reader, f"{path}/{log}"):
            raise DataError(f"{path} is {table} table; {MANAGED.format('spark.read.table')}")

    def opened() -> Any:  # noqa: ANN401 -- a frame of Spark
        if kind not in WRITTEN:
            return reader.parquet(path)
        return _texts(source, kind, reader)

    refusal = f"{path} cannot be read by Spark: is it there, and complete?"
    if path.startswith("s3"):
        refusal += " For S3 it needs a connector: --packages org.apache.hadoop:hadoop-aws:..."
    return _opened(opened, refusal)


def _texts(source: Source, kind: str, reader: Any) -> Any:  # noqa: ANN401 -- frames of Spark
    """Return the fields of text files, each line read by itself.

    Spark's own reader of CSV lets a mark of one line join others. What it may read is the
    header, for the names; lines that equal it are left out.

    Raises:
        ParameterError: The dialect has something that cannot be read line by line.
    """
    for name in ("skip_lines", "comment", "encoding"):
        if getattr(source, name) != DEFAULTS[name]:
            raise ParameterError(
                f"`{name}`: Spark reads text files in UTF-8 from their first line; write the "
                "file anew, as Parquet"
            )
    path, separator, quote = str(source), source.separator_of(kind), source.quote_of(kind)
    first = _first_line(source, reader)
    names, file = source.header, PurePosixPath(path)
    if isinstance(names, bool):
        found = header_fields(first.encode(), file, source, kind)
        names = checked(found if names else [""] * len(found), file)
    lines = reader.text(path, lineSep="\n")
    f = Spark(nw.from_native(lines)).f
    line = f.regexp_replace(f.col("value"), "^\ufeff|\r\\z", "")
    if source.header is True:
        if not lines.filter(line == first).take(1):
            raise DataError(f"{file.name}: its first line must be the header, and end with LF")
        lines = lines.filter(line != first)
    pattern, line = field_pattern(separator, quote), f.concat(f.lit(separator), line)
    # The message has a part of the line that is empty: constants are evaluated at once.
    contradicted = f.raise_error(f.concat(f.lit(CONTRADICTION), f.substring(line, 1, 0)))
    matched = f.regexp_extract_all(line, f.lit(pattern), 1)
    fields = f.when(line.rlike(f"^(?:{pattern})*\\z"), matched).otherwise(contradicted)
    mark = f"\\x{ord(quote or separator):02x}"
    cells = []
    for at, name in enumerate(names):
        cell = f.get(f.col("fields"), at)
        if quote is not None:
            inner = f.regexp_replace(cell, f"^{mark}|{mark}\\z", "")
            inner = f.regexp_replace(inner, f"{mark}{mark}", quote)
            cell = f.when(cell.startswith(quote), inner).otherwise(cell)
        cell = f.regexp_replace(cell, r"^\s+|\s+\z", "") if source.strip else cell
        cells.append(f.when(~cell.isin(["", *source.missing]), cell).alias(name))
    return lines.select(fields.alias("fields")).select(cells)


def _first_line(source: Source, reader: Any) -> str:  # noqa: ANN401 -- Spark's
    """Return the first line of text files; Spark finds it where this process does not."""
    for file in source.files():
        if file.is_file():
            return (first_line(file, source) or b"").decode(errors="replace").rstrip("\r\n")
    # As one field of a file that has neither such separators nor such marks.
    whole = {"sep": "\1", "quote": "\2", "lineSep": "\n"}
    found = reader.csv(str(source), header=True, **whole).columns[0]
    return str(found).removesuffix("\r")


def _opened(opened: Callable[[], Any], refusal: str) -> nw.LazyFrame[Any]:
    """Return what Spark opens, its columns known: Spark Connect looks for them late."""

    def known() -> Any:  # noqa: ANN401 -- a frame of Spark
        native = opened()
        if not native.columns:
            raise DataError(refusal)
        return native

    return nw.from_native(replaced(known, lambda: DataError(refusal)))


def _is_table(name: str, spark: Any) -> bool:  # noqa: ANN401 -- Spark's
    """Return whether a catalogue has a table of a name that may be a file's as well.

    Raises:
        DataError: There is such a file, too.
    """
    try:
        found = bool(spark.catalog.tableExists(name))
    except Exception:  # noqa: BLE001 -- a class of Java, of a name that no table can have
        return False
    if found and Path(name).exists():
        raise DataError(f"{name} is a table of the catalogue and a file: say ./{name} for this")
    return found


def _is_there(reader: Any, path: str) -> bool:  # noqa: ANN401 -- Spark's
    """Return whether Spark finds a file, on whatever storage; none is read."""
    try:
        return bool(reader.text(path).inputFiles())
    except Exception:  # noqa: BLE001 -- a class of Java
        return False
