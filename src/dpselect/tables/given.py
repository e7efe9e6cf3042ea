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


def with_known_zones(native: Any) -> Any:  # noqa: ANN401 -- of any library
    """Return a frame or Series of pandas with points in time in UTC, anything else as it is.

    narwhals does not know zones such as America/New_York there. The points stay the same.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(native, pandas.DataFrame | pandas.Series):
        return native
    zoned = pandas.DatetimeTZDtype
    if isinstance(native, pandas.Series):
        return native.dt.tz_convert("UTC") if isinstance(native.dtype, zoned) else native
    held = {
        name: native[name].dt.tz_convert("UTC")
        for name, kind in native.dtypes.items()
        if isinstance(kind, zoned)
    }
    return native.assign(**held) if held else native
