"""Fields of text files as values of the types that somebody declares.

A text file declares no types, and a type guessed from fields would depend on private values.
So a column holds what it is declared, or asked, to hold. Each field is read by itself; one that
is none is null, and raises nothing. Dates are as in 2026-01-31 and times as in
2026-01-31T12:00 (ISO 8601), if the dialect of the file states no other form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dpselect._optional import nw, pl
from dpselect.errors import no_field
from dpselect.passes import note
from dpselect.tables.dialect import Dialect, FieldType

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[T ][0-9]{2}:[0-9]{2}(:[0-5][0-9]([.][0-9]{1,9})?)?"
_ZONE = "(Z|[+-][0-9]{2}:?[0-9]{2})"
# The parsers of polars take more than that, each something else.
_FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "date": (f"^{_DAY}$", ("%Y-%m-%d",)),
    "time": (
        f"^{_DAY}({_CLOCK})?$",
        ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d"),
    ),
    "time in a zone": (
        f"^{_DAY}({_CLOCK}{_ZONE})$",
        ("%Y-%m-%d %H:%M:%S%.f%z", "%Y-%m-%d %H:%M%z"),
    ),
}
_HOURS = re.compile("%[-_0]?[HIMSTRpPrXfs]")
"""Parts of a form that say a time of day."""

PLAIN = Dialect()
"""Plain numbers, dates and times."""


def typed(
    table: Any,  # noqa: ANN401 -- narwhals' frames
    types: Mapping[str, FieldType],
    dialect: Dialect = PLAIN,
) -> Any:  # noqa: ANN401
    """Return a frame of polars with columns of text as other types.

    Args:
        table: The rows.
        types: By column; each is of text.
        dialect: How numbers, dates and times are written.

    Raises:
        ColumnError: There is no such column.
    """
    note_reading(types.values(), dialect)
    if not types:
        return table
    there = table.collect_schema()
    if missing := [column for column in types if column not in there]:
        raise no_field(missing[0], there.names()).adding(" (`column_type`)")
    fields = [
        _number(column, kind, dialect)
        if kind in {"number", "integer"}
        else _moment(column, kind, dialect)
        for column, kind in types.items()
        if kind != "text"
    ]
    return nw.from_native(nw.to_native(table).with_columns(fields))


def note_reading(kinds: Iterable[FieldType], dialect: Dialect) -> None:
    """Note how fields of some types are written, for the release that is made of them."""
    for kind in kinds:
        if kind in {"number", "integer"}:
            note(
                f"text file: numbers as 1{dialect.thousands or ''}200{dialect.decimal}5, "
                "others missing (`thousands`, `decimal`)"
            )
        elif kind == "text":
            note("text file: texts compared exactly: 1 is not 1.0 (`missing`, `encoding`)")
        else:
            zone = "Z" if dialect.time_zone else ""
            form = dialect.date_format or f"2026-01-31 and 2026-01-31T12:00{zone}"
            note(f"text file: dates as {form}, others missing (`date_format`, `time_zone`)")


def _number(column: str, kind: FieldType, dialect: Dialect) -> pl.Expr:
    """Return the numbers that fields of a column write."""
    field, mark = pl.col(column).str.strip_chars(), dialect.thousands
    if mark is not None:
        one, decimal = re.escape(mark), re.escape(dialect.decimal)
        grouped = f"^[+-]?[0-9]{{1,3}}({one}[0-9]{{2,3}})*{one}[0-9]{{3}}({decimal}[0-9]*)?$"
        is_read = field.str.contains(grouped) | ~field.str.contains(mark, literal=True)
        field = pl.when(is_read).then(field.str.replace_all(mark, "", literal=True))
    if kind == "integer":
        whole = pl.when(field.str.contains("^[+-]?[0-9]+$")).then(field)
        return whole.cast(pl.Int64, strict=False).alias(column)
    if dialect.decimal != ".":
        plain = field.str.replace_all(dialect.decimal, ".", literal=True)
        field = pl.when(~field.str.contains(".", literal=True)).then(plain)
    return field.cast(pl.Float64, strict=False).alias(column)


def _moment(column: str, kind: FieldType, dialect: Dialect) -> pl.Expr:
    """Return the days, or the local times, that fields of a column write."""
    field = pl.col(column).str.strip_chars()
    forms: tuple[str, ...] = (dialect.date_format or "",)
    if dialect.date_format is None:
        is_zoned = kind == "time" and dialect.time_zone is not None
        pattern, forms = _FORMS["time in a zone" if is_zoned else kind]
        field = pl.when(field.str.contains(pattern)).then(field)
        field = field.str.replace("T", " ", literal=True)
    times = pl.coalesce(_by_form(field, form, dialect) for form in forms)
    return times.cast(pl.Date if kind == "date" else pl.Datetime("us")).alias(column)


def _by_form(field: pl.Expr, form: str, dialect: Dialect) -> pl.Expr:
    """Return the local times that fields of one form stand for."""
    if not _HOURS.search(form):
        return field.str.to_date(form, strict=False).cast(pl.Datetime("us"))
    if "%z" not in form:
        return field.str.to_datetime(form, time_unit="us", strict=False)
    moments = field.str.replace("Z$", "+0000").str.to_datetime(
        form, time_unit="us", time_zone="UTC", strict=False
    )
    zone = dialect.time_zone or "UTC"
    return moments.dt.convert_time_zone(zone).dt.replace_time_zone(None)
