"""Queries of a table: their classes, and what they read and may release."""

from __future__ import annotations

from typing import Any

from dpselect._optional import stated
from dpselect.errors import ParameterError, nearest
from dpselect.query import ANYTHING, GROUP, NOTHING, Columns, Query, Released, kind_of
from dpselect.tables.groups import listed_groups
from dpselect.tables.kinds import checked_names

OURS = (
    *("ID3Tree", "Keys", "Map", "PercentileRecord", "Percentiles"),
    *("Subset", "TopKeys", "TopNodes", "TreeFront"),
)
"""Titles of the queries of the core that a file may ask."""


def titles() -> list[str]:
    """Return the titles of the queries that a file may ask, of all packages."""
    return sorted({*OURS, *stated(GROUP)})


def query_of(title: object) -> type[Query[Any]]:
    """Return the class of a query that a file may ask.

    Raises:
        ParameterError: There is none of that title.
    """
    if title not in titles():
        meant = nearest(str(title), titles()) or f": one of {', '.join(titles())}"
        said = (
            f"there is no `query` {title!r} of a table"
            if title
            else "a query needs its `query`"
        )
        raise ParameterError(f"{said}{meant}")
    return kind_of(title)


def columns_of(query: Query[Any]) -> Columns:
    """Return what a query reads, with the columns of groups and of persons.

    Raises:
        ParameterError: It is no query of a table.
        ColumnError: It does not name a column.
    """
    by, groups, user = (getattr(query, field, None) for field in ("by", "groups", "user"))
    names = checked_names(by, "by")
    listed: Any = listed_groups(names, groups)
    parts = zip(*([one] if len(names) == 1 else one for one in listed or ()), strict=True)
    of_parts = [Released(listed=tuple(dict.fromkeys(part))) for part in parts]
    more = list(zip(names, of_parts or [ANYTHING] * len(names), strict=True))
    if user is not None:
        more.append((user, NOTHING))
    return (*query.reads(), *more)
