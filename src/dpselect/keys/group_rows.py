"""Rows of any container with their group, as many of each person as count."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw

from dpselect import tables
from dpselect._optional import needed
from dpselect.errors import missing_value
from dpselect.keys.columns import GROUP, OTHER, KeyColumns
from dpselect.keys.reading import literals, place_among
from dpselect.tables.kinds import kind_of, named
from dpselect.tables.lookup import without_nan
from dpselect.tables.people import USER
from dpselect.tables.values import names_of_series

if TYPE_CHECKING:
    from dpselect.keys.grouping import Grouping

PLACE = "place"

Placed = Callable[[nw.LazyFrame[Any]], nw.LazyFrame[Any]]
"""Repairs or drops rows, each by itself."""


def column_of(data: object, by: str) -> KeyColumns:
    """Return how groups are written in the engine.

    Raises:
        ColumnError: The column is missing, or of a type that groups cannot have.
    """
    table = tables.check_columns(data, plain=[by])
    return KeyColumns((by,), (kind_of(tables.schema(table, data)[by], by),), encoded=False)


def check(data: object, grouping: Grouping) -> None:
    """Check the columns of groups and persons; no row is read.

    Raises:
        ColumnError: One is missing, or of a type that these cannot have.
        ParameterError: A public group is not of the column's kind.
    """
    column = column_of(data, grouping.by)
    for one in grouping.groups:
        column.encode(one)
    if grouping.cap is not None:
        grouping.cap.check(data)


def rows_of(
    data: object,
    grouping: Grouping,
    numeric: Mapping[str, str],
    groups: Sequence[Hashable],
    *,
    placed: Placed | None = None,
) -> nw.LazyFrame[Any]:
    """Return the rows of some groups; of a lazy frame or a path no row is read yet.

    Rows without a person, or without one of the numbers, are dropped, and so are those of other
    groups and of none, unless the rest is a group. Only then a person's rows are limited.

    Args:
        data: Private.
        grouping: How rows are grouped.
        numeric: Columns of numbers, by the name that they get.
        groups: Which groups, public; ``OTHER`` for the rest.
        placed: What happens to each row before those of a person are limited.

    Returns:
        The columns ``group``, the position of the group, and those of ``numeric``, as float64.

    Raises:
        ColumnError, DataError: The columns cannot be read.
        ParameterError: A group is not of the column's kind.
    """
    column = column_of(data, grouping.by)
    rows = _opened(data, grouping, numeric)
    rows = rows.drop_nulls([name for name in rows.collect_schema().names() if name != GROUP])
    if placed is not None:
        rows = placed(rows)
    listed = [column.encode(one) for one in groups if one is not OTHER]
    rows = _numbered(rows, listed, rest=OTHER in groups)
    if grouping.cap is not None:
        rows = grouping.cap.limited(rows, order_by=[GROUP, *numeric])
    return rows.select(GROUP, *numeric)


def _numbered(
    rows: nw.LazyFrame[Any], groups: Sequence[Any], *, rest: bool
) -> nw.LazyFrame[Any]:
    """Return rows with the positions of their groups; the rest is after all others."""
    last = nw.lit(len(groups), nw.Int64)
    if not rows.implementation.is_polars():
        rows = rows.with_columns((place_among(rows, GROUP, groups) - 1).alias(GROUP))
        listed = nw.col(GROUP) >= 0
        if not rest:
            return rows.filter(listed)
        return rows.with_columns(nw.when(listed).then(GROUP).otherwise(last).alias(GROUP))
    needed("polars", extra="standard")
    import polars as pl

    # Several times as fast as the look-ups.
    table: pl.LazyFrame = nw.to_native(rows)
    kind = table.collect_schema()[GROUP]
    places = pl.DataFrame({GROUP: pl.Series(groups, dtype=kind), PLACE: range(len(groups))})
    joined = table.join(places.lazy(), on=GROUP, how="left" if rest else "inner")
    place = pl.col(PLACE).fill_null(len(groups)).alias(GROUP)
    return nw.from_native(joined.with_columns(place).drop(PLACE))


def refuse_missing(data: object, grouping: Grouping, column: str) -> None:
    """Refuse a missing number in a row of the groups that may be released.

    Raises:
        DataError: One is missing.
    """
    rows = _opened(data, grouping, {"number": column})
    names = [name for name in rows.collect_schema().names() if name != "number"]
    if grouping.other:
        names.remove(GROUP)
    missing = rows.drop_nulls(names).filter(nw.col("number").is_null())
    if grouping.groups:
        written = [column_of(data, grouping.by).encode(one) for one in grouping.groups]
        missing = missing.filter(nw.col(GROUP).is_in(literals(missing, written)))
    found = tables.collect(missing.select(nw.len().alias("rows")), data, most=1)
    if tables.counts(found["rows"])[0] > 0:
        raise missing_value()


def _opened(data: object, grouping: Grouping, numeric: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """Return the columns that are read, under their names here."""
    by, cap = grouping.by, grouping.cap
    plain = [by] if cap is None else [by, cap.user]
    frame = tables.check_columns(data, numeric=list(numeric.values()), plain=plain)
    numbers = list(dict.fromkeys(numeric.values()))
    if isinstance(frame, nw.DataFrame):
        rows = _in_memory(frame, plain, numbers)
    else:
        rows = tables.as_numbers(frame, data, numbers).lazy()
    types = rows.collect_schema()
    # At once: a column of the table may be called as another one is here.
    names = {name: without_nan(of) for name, of in numeric.items()}
    names[GROUP] = named(nw.col(by), types[by])
    if cap is not None:
        names[USER] = cap.persons(types)
    return rows.select(**names)


def _in_memory(
    frame: nw.DataFrame[Any], plain: Sequence[str], numbers: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Return a frame in memory as a lazy one of polars, each value coded by itself."""
    needed("polars", extra="standard")
    import polars as pl

    columns = {one: pl.Series(tables.series_numbers(frame.get_column(one))) for one in numbers}
    columns |= {name: names_of_series(frame.get_column(name)) for name in plain}
    return nw.from_native(pl.DataFrame(columns).lazy())
