"""Spark, in its own Java process or by Spark Connect; of Sail, rows as they are stored.

Where all numbers of a column of a file are one number, Sail, a server of Spark Connect without
Java, takes every row for it, by statistics that do not see NaN; and it declares unsigned
integers as signed ones, and ends a query that meets one which is not.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect._optional import nw, pl
from dpselect.errors import ColumnError, DataError
from dpselect.tables.embedded import Edges, Remote
from dpselect.tables.kinds import DAY, DIGITS, Moment

LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Python loggers of PySpark that print the message of a failed query."""

BINARY = "UTF8_BINARY"
"""The collation that is none."""

STATISTICS = "SET datafusion.execution.collect_statistics = false"
"""Lets Sail read files without statistics; to Spark it is a setting that it does not know."""

FILES = {"", "parquet", "csv", "json", "text"}
"""Formats that Sail then reads as they are; a Delta table has statistics of its own."""

LOCAL = {"local_relation", "cached_local_relation", "range"}

INTEGERS = {"tinyint", "smallint", "int", "bigint"}
LARGE, UNSIGNED = "unsigned bigint", "unsigned"


class Spark(Remote):
    """Frames of PySpark.

    Attributes:
        f: Its functions of columns, for the kind of session that the table is of.
    """

    is_spark = True

    @property
    def f(self) -> Any:  # noqa: ANN401 -- a module of PySpark
        """Spark's functions of columns."""
        connect = ".connect" if self.table.implementation.is_pyspark_connect() else ""
        return import_module(f"pyspark.sql{connect}.functions")

    def compared(self) -> Any:  # noqa: ANN401 -- a frame of narwhals
        f, table = self.f, self.table
        if table.implementation.is_pyspark_connect():
            table = as_stored(table, f)
        native = nw.to_native(table)
        collated = [
            field.name
            for field in native.schema.fields
            if getattr(field.dataType, "collation", BINARY) != BINARY
        ]
        plain = {name: f.collate(f.col(f"`{name}`"), BINARY) for name in collated}
        return nw.from_native(native.withColumns(plain)) if plain else table

    def stacked(self, name: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        ends = self.f.explode(self.f.array(*self.table.collect_schema().names())).alias(name)
        return nw.from_native(self.native.select(ends))

    def hashed(self, column: str) -> Any:  # noqa: ANN401 -- a frame of narwhals
        f = self.f
        digits = f.substring(f.md5(f.col(column)), 1, DIGITS)
        number = f.conv(digits, 16, 10).cast("bigint")
        return nw.from_native(self.native.withColumn(column, number))

    def counted(self, column: str, moment: Moment) -> Any:  # noqa: ANN401 -- a frame
        f, value = self.f, self.native[column]
        if moment == "day":
            number = f.unix_date(value)
        elif moment == "time":
            number = f.unix_micros(value)
        elif moment == "local time":
            # A session's time zone would shift it, and skip hours.
            seconds = (f.hour(value) * 60 + f.minute(value)) * 60
            fraction = (f.date_part(f.lit("SECOND"), value) * 1_000_000).cast("long")
            days = f.unix_date(value.cast("date")).cast("long") * DAY
            number = days + seconds.cast("long") * 1_000_000 + fraction
        else:
            raise ColumnError(f"column {column!r}: durations of Spark are read as a difference")
        return nw.from_native(self.native.withColumn(column, number))

    def placed(self, edges: Edges) -> Any:  # noqa: ANN401 -- a frame of narwhals
        """Return the positions by as many projections as the search has steps.

        Nested cases would be compiled to a method too long for Java to optimise.
        """
        f, native = self.f, self.native
        digits = max(len(ascending) for ascending in edges.values()).bit_length()
        # Places before and after the edges hold NaN, which Spark orders above all numbers.
        arrays = {
            column: self.array(
                np.pad(np.array(held, float), (1, 2**digits), constant_values=np.nan)
            )
            for column, held in edges.items()
        }
        places = {column: f"{column} place" for column in edges}

        def further(column: str, step: int) -> Any:  # noqa: ANN401 -- Spark's
            """Return the step if the edge there is reached, else 0."""
            edge = f.get(arrays[column], f.col(places[column]).bitwiseOR(f.lit(step)))
            return f.when(f.col(column) >= edge, f.lit(step)).otherwise(f.lit(0))

        native = native.withColumns(
            {place: f.when(f.col(c).isNotNull(), f.lit(0)) for c, place in places.items()}
        )
        # One binary digit of the place after the other; a sum would be checked for overflow.
        for step in (2**digit for digit in reversed(range(digits))):
            native = native.withColumns(
                {place: f.col(place).bitwiseOR(further(c, step)) for c, place in places.items()}
            )
        kept = [c for c in self.table.collect_schema().names() if c not in edges]
        found = [f.col(place).alias(c) for c, place in places.items()]
        return nw.from_native(native.select(*kept, *found))

    def array(self, numbers: NDArray[Any]) -> Any:  # noqa: ANN401 -- a Column
        """Return public numbers as an array that is the same for all rows.

        It is sent as one text, and made once a query: a literal for each number takes long to
        plan, and a method with all of them is not compiled.
        """
        f, kind = self.f, "double" if numbers.dtype.kind == "f" else "int"
        text = f.lit(",".join(map(str, numbers.tolist())))
        return f.split(text, ",").cast(f"array<{kind}>")

    def literals(self, values: Sequence[Any]) -> Sequence[Any]:
        # It has no other integers, and years without leading zeros are not read by Java.
        beyond = [isinstance(one, int) and not -(2**63) <= one < 2**63 for one in values]
        values = [one for one, out in zip(values, beyond, strict=True) if not out]
        if self.table.implementation.is_pyspark() and any(isinstance(v, date) for v in values):
            return [self.f.lit(one.isoformat()).cast("date") for one in values]
        return values

    def frame(self, *, streaming: bool = False) -> nw.DataFrame[Any]:
        del streaming

        if find_spec("pyarrow") is not None:
            return nw.from_native(cast("pl.DataFrame", pl.from_arrow(self.native.toArrow())))
        types, rows = self.table.collect_schema(), self.native.collect()
        kept = {nw.Float64(): pl.Float64(), nw.Int64(): pl.Int64(), nw.String(): pl.String()}
        columns = [
            # A type found from some rows would depend on their values.
            pl.Series(name, [row[i] for row in rows], dtype=kept.get(kind, pl.Object()))
            for i, (name, kind) in enumerate(types.items())
        ]
        return nw.from_native(pl.DataFrame(columns))

    @contextmanager
    def silenced(self) -> Iterator[None]:
        """Keep Spark from printing why a query fails, which quotes values.

        Its driver and the executors in the same process are silent; those of a cluster write
        logs of their own.
        """
        if not self.table.implementation.is_pyspark():
            yield
            return
        context = self.native.sparkSession.sparkContext
        root = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger()  # noqa: SLF001
        level = root.getLevel().toString()
        loggers = [logging.getLogger(name) for name in LOGGERS]
        before = [logger.disabled for logger in loggers]
        context.setLogLevel("OFF")
        for logger in loggers:
            logger.disabled = True
        try:
            yield
        finally:
            context.setLogLevel(level)
            for logger, disabled in zip(loggers, before, strict=True):
                logger.disabled = disabled

    @contextmanager
    def cached(self) -> Iterator[Any]:
        """Keep the rows of a query in the cluster, in memory or on disk."""
        rows = self.native.persist()
        try:
            yield nw.from_native(rows)
        finally:
            rows.unpersist()


def as_stored(table: nw.LazyFrame[Any], f: Any) -> nw.LazyFrame[Any]:  # noqa: ANN401
    """Return rows of Spark Connect, unchanged if the server is not Sail; none is read.

    Unsigned integers become signed ones of 64 bits, and those of 64 bits decimal numbers, of
    which there are no keys.

    Raises:
        DataError: Sail reads the rows through a name or another format, so that it may have
            looked at statistics.
    """
    native: Any = nw.to_native(table)
    session = native.sparkSession
    if session.sql(STATISTICS).collect():  # Spark states the setting, and Sail nothing
        return table
    if not all(map(_is_plain, _leaves(native._plan.to_proto(session.client)))):  # noqa: SLF001 -- PySpark tells nobody
        raise DataError(
            "Sail takes NaN for a number in views, tables and queries by name, and in other "
            f"formats than {', '.join(sorted(FILES - {''}))}: give a file by its path"
        )
    quoted = {
        name: f.col("`{}`".format(name.replace("`", "``")))
        for name, kind in native.dtypes
        if kind in INTEGERS
    }
    # A count makes one row of none; a type is the same for all rows.
    types = [f.typeof(f.max(one)).alias(f"{at}") for at, one in enumerate(quoted.values())]
    [[_, *kinds]] = native.limit(0).agg(f.count(f.lit(1)), *types).collect()
    signed = {
        name: one.cast("decimal(20, 0)" if kind == LARGE else "bigint")
        for (name, one), kind in zip(quoted.items(), kinds, strict=True)
        if kind.startswith(UNSIGNED)
    }
    return nw.from_native(native.withColumns(signed)) if signed else table


def _leaves(message: Any) -> Iterator[Any]:  # noqa: ANN401 -- a message of protobuf
    """Yield the relations of a plan that are of no other relation."""
    inner = [one for part in _parts(message) for one in _leaves(part)]
    if message.DESCRIPTOR.name == "Relation" and not inner:
        inner = [message]
    yield from inner


def _parts(message: Any) -> Iterator[Any]:  # noqa: ANN401 -- a message of protobuf
    for _, held in message.ListFields():
        several = (
            [held] if hasattr(held, "ListFields") or not hasattr(held, "__iter__") else held
        )
        yield from (one for one in several if hasattr(one, "ListFields"))


def _is_plain(leaf: Any) -> bool:  # noqa: ANN401 -- a message of protobuf
    kind = leaf.WhichOneof("rel_type")
    if kind == "read":
        return str(leaf.read.data_source.format).lower() in FILES and bool(
            leaf.read.HasField("data_source")
        )
    return kind in LOCAL
