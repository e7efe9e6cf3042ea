"""Rows of a query that is used several times, computed once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw


@contextmanager
def persisted(table: nw.LazyFrame[Any]) -> Iterator[nw.LazyFrame[Any]]:
    """Persist the rows of a query in the cluster while the block runs, in memory or on disk.

    Spark would compute them again for every use. polars finds repeated parts of a query by
    itself, and a relation of DuckDB cannot be persisted.
    """
    if not table.implementation.is_spark_like():
        yield table
        return
    native: Any = nw.to_native(table)
    rows = native.persist()
    try:
        yield nw.from_native(rows)
    finally:
        rows.unpersist()
