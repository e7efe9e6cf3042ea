"""Fields of text files as values of the types that somebody declares.

A text file declares no types, and a type guessed from fields would depend on private values.
So a column holds what it is declared, or asked, to hold. Each field is read by itself; one that
is none is null, and raises nothing. Dates are as in 2026-01-31 and times as in
2026-01-31T12:00, without a time zone (ISO 8601).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw

from dpselect._optional import needed
from dpselect.errors import ColumnError

FieldType: TypeAlias = Literal["text", "number", "integer", "date", "time"]
"""What the fields of a column are."""

FIELD_TYPES: tuple[FieldType, ...] = get_args(FieldType)

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[T ][0-9]{2}:[0-9]{2}(:[0-5][0-9]([.][0-9]{1,9})?)?"
# The casts of engines take more than that, each something else.
_PATTERNS = {
    "integer": "^[+-]?[0-9]+$",
    "date": f"^{_DAY}$",
    "time": f"^{_DAY}({_CLOCK})?$",
}


def typed(
    table: Any,  # noqa: ANN401 -- narwhals' frames
    types: Mapping[str, FieldType],
    decimal: str = ".",
) -> Any:  # noqa: ANN401
    """Return a frame of polars or Spark with columns of text as other types.

    Args:
        table: The rows.
        types: By column; each is of text.
        decimal: The mark before the decimals of numbers.

    Raises:
        ColumnError: There is no such column.
    """
    if not types:
        return table
    there = table.collect_schema()
    if missing := [column for column in types if column not in there]:
        raise ColumnError(
            f"`column_type` has {missing[0]!r}; the columns are: {', '.join(there)}"
        )
    numbers = {column: column for column, one in types.items() if one == "number"}
    if numbers:
        table = numbers_of_text(table, numbers, decimal)
    others = {column: one for column, one in types.items() if one in _PATTERNS}
    if not others:
        return table
    fields = {column: nw.col(column).str.strip_chars() for column in others}
    kept = {
        column: nw.when(field.str.contains(_PATTERNS[others[column]])).then(field)
        for column, field in fields.items()
    }
    native = nw.to_native(table.with_columns(**kept))
    if table.implementation.is_spark_like():
        names = {"integer": "bigint", "date": "date", "time": "timestamp_ntz"}
        cast = {column: native[column].try_cast(names[one]) for column, one in others.items()}
        return nw.from_native(native.withColumns(cast))
    return nw.from_native(
        native.with_columns(_of_polars(column, one) for column, one in others.items())
    )


def numbers_of_text(table: Any, columns: Mapping[str, str], decimal: str = ".") -> Any:  # noqa: ANN401 -- narwhals' frames
    """Return a frame of polars or Spark with the numbers in columns of text, by new names.

    A field that is no number is null, and raises nothing.
    """
    if decimal != ".":
        pointed = {
            new: nw.when(~nw.col(old).str.contains(".", literal=True)).then(
                nw.col(old).str.replace_all(decimal, ".", literal=True)
            )
            for new, old in columns.items()
        }
        table, columns = table.with_columns(**pointed), {new: new for new in columns}
    native = nw.to_native(table)
    if table.implementation.is_spark_like():
        numbers = {new: native[old].try_cast("double") for new, old in columns.items()}
        return nw.from_native(native.withColumns(numbers))
    needed("polars", extra="standard")
    import polars as pl

    return nw.from_native(
        native.with_columns(
            pl.col(old).str.strip_chars().cast(pl.Float64, strict=False).alias(new)
            for new, old in columns.items()
        )
    )


def _of_polars(column: str, kind: str) -> Any:  # noqa: ANN401 -- an expression
    needed("polars", extra="standard")
    import polars as pl

    field = pl.col(column)
    if kind == "integer":
        return field.cast(pl.Int64, strict=False)
    if kind == "date":
        return field.str.to_date("%Y-%m-%d", strict=False)
    spaced = field.str.replace("T", " ", literal=True)
    times = [
        spaced.str.to_datetime(form, time_unit="us", strict=False)
        for form in ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M")
    ]
    days = spaced.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us"))
    return pl.coalesce(*times, days)
