"""Edge lists in files, data frames and arrays, read by the engine that holds them."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import ArrayLike

from dpselect import tables
from dpselect.errors import ColumnError, DataError, DPSelectError, ParameterError
from dpselect.networks.edges import UNKNOWN, Ends

if TYPE_CHECKING:
    import polars as pl

Edges: TypeAlias = str | os.PathLike[str] | IntoFrame | ArrayLike
"""A Parquet or CSV file, a data frame that narwhals knows, or pairs of shape ``(m, 2)``."""


def read(
    edges: Edges, source: str | None, target: str | None, nodes: Sequence[Hashable]
) -> Ends:
    """Read two columns as positions among ``nodes``.

    Parallel edges are folded by the engine while it reads, so memory goes with the number of
    different edges and not with the number of records.
    """
    import polars as pl

    if isinstance(edges, list | tuple) and not edges:
        # An empty list has no type that could be told from the nodes'.
        return Ends(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))
    try:
        table = _opened(edges, source, target)
        first, second = (
            _position(column, dtype, nodes, text=_is_text(edges))
            for column, dtype in table.collect_schema().items()
        )
        ends = (
            table.select(
                low=pl.min_horizontal(first, second), high=pl.max_horizontal(first, second)
            )
            .unique()
            .collect(engine="streaming")
        )
    except DPSelectError:
        raise
    except Exception:  # noqa: BLE001 -- every engine has its own, and each may quote values
        raise DataError("the edges cannot be read: the file is damaged or no table") from None
    return Ends(ends["low"].to_numpy(), ends["high"].to_numpy())


def _is_text(edges: Edges) -> bool:
    # A CSV file declares no types: its ids are read from text, whatever else it holds.
    return isinstance(edges, str | os.PathLike) and tables.is_csv(Path(edges))


def _opened(edges: Edges, source: str | None, target: str | None) -> pl.LazyFrame:
    """Return the two columns, unread where that is possible."""
    import polars as pl

    table = nw.from_native(edges, pass_through=True)
    if isinstance(edges, str | os.PathLike):
        table = tables.open_table(Path(edges))
    if not isinstance(table, nw.DataFrame | nw.LazyFrame):
        return pl.from_numpy(_pairs(edges), schema=["source", "target"]).lazy()
    if source is None or target is None or source == target:
        raise ParameterError("source and target must name the columns of the two ends")
    present = table.collect_schema().names()
    for column in (source, target):
        if column not in present:
            raise ColumnError(
                f"there is no column {column!r}; the columns are: {', '.join(present)}"
            )
    two = table.select(source, target)
    if isinstance(two, nw.DataFrame):
        return two.to_polars().lazy()
    native: object = two.to_native()
    if isinstance(native, pl.LazyFrame):
        return native
    # Another engine folds before anything leaves it.
    return two.unique().collect(backend="polars").to_polars().lazy()


def _pairs(edges: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401 -- whatever NumPy takes
    try:
        pairs = np.asarray(edges)
    except ValueError:
        pairs = np.empty(1)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise DataError(
            "edges must be a file, a data frame, or pairs in an array of shape (m, 2)"
        )
    return pairs


def _position(
    column: str, dtype: pl.DataType, nodes: Sequence[Hashable], *, text: bool
) -> pl.Expr:
    """Return which of ``nodes`` the values of a column name, or ``UNKNOWN``."""
    import polars as pl

    labels = pl.Series(nodes, dtype=pl.Int64 if isinstance(nodes, range) else None)
    value = pl.col(column)
    if labels.dtype.is_integer() and (dtype.is_integer() or text):
        value = (value.str.strip_chars() if text else value).cast(pl.Int64, strict=False)
        labels = labels.cast(pl.Int64)
    elif labels.dtype == pl.String and dtype in (pl.String, pl.Categorical, pl.Enum):
        value = value.cast(pl.String)
    elif labels.dtype != dtype:
        wanted = "whole numbers" if labels.dtype.is_integer() else f"of type {labels.dtype}"
        raise ColumnError(
            f"column {column!r} must name nodes, which are {wanted}; it is of type {dtype}"
        )
    if isinstance(nodes, range):
        known = value.is_between(0, len(nodes) - 1)
        return pl.when(known).then(value).otherwise(UNKNOWN).cast(pl.Int32)
    positions = pl.Series(range(len(nodes)), dtype=pl.Int32)
    return value.replace_strict(labels, positions, default=UNKNOWN, return_dtype=pl.Int32)
