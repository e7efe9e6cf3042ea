"""Frames and columns as they are given: one name for each column, in types that are known.

Names are public. What two engines would read as different columns is refused.
"""

from __future__ import annotations

import sys
from typing import Any

from dpselect.errors import ColumnError

PATTERN = "*"
"""The name by which engines mean all columns."""


def is_of(native: object, *packages: str) -> bool:
    """Return whether an object is of one of some packages, which are not imported for it."""
    return type(native).__module__.startswith(packages)


def check_names(native: object) -> None:
    """Raise unless each column of a frame has a name of its own; names are public.

    Raises:
        ColumnError: Two have one name, or names have several levels.
    """
    # A frame of Spark has an attribute for each name.
    columns = getattr(native, "column_names" if is_of(native, "pyarrow") else "columns", ())
    if getattr(columns, "nlevels", 1) > 1:
        raise ColumnError(
            "the columns have names of several levels: give each one name, as "
            "frame.columns = frame.columns.map('_'.join)"
        )
    names = list(columns) if hasattr(columns, "__iter__") else []
    seen: set[object] = set()
    for name in names:
        if name in seen:
            raise ColumnError(f"two columns are named {name!r}: give each a name of its own")
        seen.add(name)


def check_name(name: str) -> None:
    """Raise if an engine reads the name of a column as a pattern.

    Raises:
        ColumnError: It does.
    """
    if name == PATTERN or (name.startswith("^") and name.endswith("$")):
        raise ColumnError(
            f"column {name!r} has a name that engines read as a pattern: rename it there"
        )


def with_known_types(native: Any) -> Any:  # noqa: ANN401 -- of any library
    """Return a frame or Series of pandas or Arrow in types that narwhals knows, or as it is.

    Points in time are in UTC: narwhals does not know zones such as America/New_York there, and
    the points stay the same. Categories that are no texts are values of their type. Periods and
    UUIDs are texts.
    """
    pandas, arrow = map(sys.modules.get, ("pandas", "pyarrow"))
    if arrow is not None and isinstance(native, arrow.Table):
        for at, field in enumerate(native.schema):
            if (known := _known_of_arrow(native.column(at), arrow)) is not native.column(at):
                native = native.set_column(at, field.name, known)
        return native
    if arrow is not None and isinstance(native, arrow.Array | arrow.ChunkedArray):
        held = arrow.chunked_array([native]) if isinstance(native, arrow.Array) else native
        return _known_of_arrow(held, arrow)
    if pandas is not None and isinstance(native, pandas.Series):
        return _known_of_pandas(native, pandas, arrow)
    if pandas is None or not isinstance(native, pandas.DataFrame):
        return native
    kinds = (
        *(pandas.DatetimeTZDtype, pandas.CategoricalDtype),
        *(pandas.PeriodDtype, pandas.ArrowDtype),
    )
    named = [name for name, kind in native.dtypes.items() if isinstance(kind, kinds)]
    found = {name: _known_of_pandas(native[name], pandas, arrow) for name in named}
    return native.assign(**found) if found else native


def _known_of_arrow(column: Any, arrow: Any) -> Any:  # noqa: ANN401 -- of Arrow
    kind = column.type
    if arrow.types.is_date64(kind):
        return column.cast(arrow.date32(), safe=False)
    if isinstance(kind, arrow.UuidType):
        texts = [None if one is None else str(one) for one in column.to_pylist()]
        return arrow.chunked_array([arrow.array(texts, arrow.string())])
    if arrow.types.is_dictionary(kind) and "string" not in str(kind.value_type):
        return column.cast(kind.value_type, safe=False)
    return column


def _known_of_pandas(series: Any, pandas: Any, arrow: Any) -> Any:  # noqa: ANN401 -- of pandas
    kind = series.dtype
    if isinstance(kind, pandas.DatetimeTZDtype):
        return series.dt.tz_convert("UTC")
    if isinstance(kind, pandas.PeriodDtype):
        texts = [None if one is pandas.NaT else str(one) for one in series.astype(object)]
        return pandas.Series(texts, series.index, "string")
    if isinstance(kind, pandas.ArrowDtype):
        held = series.array.__arrow_array__()
        known = _known_of_arrow(held, arrow)
        if known is held:
            return series
        return pandas.Series(pandas.array(known, pandas.ArrowDtype(known.type)), series.index)
    stated = getattr(getattr(kind, "categories", None), "dtype", None)
    if stated is None or stated.kind not in "iufmM":
        return series
    nullable = {"i": "Int64", "u": "UInt64"}.get(stated.kind, stated)
    return _known_of_pandas(series.astype(nullable), pandas, arrow)
