"""Rows of Sail, a server of Spark Connect without Java, as they are stored.

Where all numbers of a column of a file are one number, Sail takes every row for it, by
statistics that do not see NaN; and it declares unsigned integers as signed ones, and ends a
query that meets one which is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import narwhals as nw

from dpselect.errors import DataError

STATISTICS = "SET datafusion.execution.collect_statistics = false"
"""Lets Sail read files without statistics; to Spark it is a setting that it does not know."""

FILES = {"", "parquet", "csv", "json", "text"}
"""Formats that Sail then reads as they are; a Delta table has statistics of its own."""

LOCAL = {"local_relation", "cached_local_relation", "range"}

INTEGERS = {"tinyint", "smallint", "int", "bigint"}
LARGE, UNSIGNED = "unsigned bigint", "unsigned"


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
