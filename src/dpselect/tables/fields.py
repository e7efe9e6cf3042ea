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

import narwhals as nw

from dpselect.errors import no_field
from dpselect.passes import note
from dpselect.tables.dialect import Dialect, FieldType
from dpselect.tables.engine import engine_of

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[T ][0-9]{2}:[0-9]{2}(:[0-5][0-9]([.][0-9]{1,9})?)?"
_ZONE = "(Z|[+-][0-9]{2}:?[0-9]{2})"
# The casts of engines take more than that, each something else.
_PATTERNS = {
    "integer": "^[+-]?[0-9]+$",
    "date": f"^{_DAY}$",
    "time": f"^{_DAY}({_CLOCK})?$",
}
PLAIN = Dialect()
"""Plain numbers, dates and times."""


def typed(
    table: Any,  # noqa: ANN401 -- narwhals' frames
    types: Mapping[str, FieldType],
    dialect: Dialect = PLAIN,
) -> Any:  # noqa: ANN401
    """Return a frame of polars or Spark with columns of text as other types.

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
    wanted = {column: one for column, one in types.items() if one != "text"}
    fields = {column: _plain(nw.col(column), one, dialect) for column, one in wanted.items()}
    return engine_of(table.with_columns(**fields)).parsed(wanted, dialect) if wanted else table


def note_reading(kinds: Iterable[FieldType], dialect: Dialect) -> None:
    """Note how fields of some types are written, for the release that is made of them."""
    for kind in kinds:
        if kind in {"number", "integer"}:
            note(
                f"text file: numbers as 1{dialect.thousands or ''}200{dialect.decimal}5, and "
                "others are missing (`thousands`, `decimal`)"
            )
        elif kind != "text":
            zone = "Z" if dialect.time_zone else ""
            form = dialect.date_format or f"2026-01-31 and 2026-01-31T12:00{zone}"
            note(
                f"text file: dates as {form}, and others are missing "
                "(`date_format`, `time_zone`)"
            )


def _plain(field: nw.Expr, kind: FieldType, dialect: Dialect) -> nw.Expr:
    """Return fields as engines parse them, null for those that they would read otherwise."""
    field = field.str.strip_chars()
    if kind in {"number", "integer"} and dialect.thousands is not None:
        field = _ungrouped(field, dialect)
    if kind == "number":
        if dialect.decimal == ".":
            return field
        plain = field.str.replace_all(dialect.decimal, ".", literal=True)
        return nw.when(~field.str.contains(".", literal=True)).then(plain)
    if kind != "integer" and dialect.date_format is not None:
        return field
    zoned = kind == "time" and dialect.time_zone is not None
    form = f"^{_DAY}({_CLOCK}{_ZONE})$" if zoned else _PATTERNS[kind]
    return nw.when(field.str.contains(form)).then(field)


def _ungrouped(field: nw.Expr, dialect: Dialect) -> nw.Expr:
    """Return numbers without separators of thousands; null where they stand elsewhere."""
    mark = dialect.thousands or ""
    one, decimal = re.escape(mark), re.escape(dialect.decimal)
    grouped = f"^[+-]?[0-9]{{1,3}}({one}[0-9]{{2,3}})*{one}[0-9]{{3}}({decimal}[0-9]*)?$"
    plain = field.str.replace_all(mark, "", literal=True)
    is_read = field.str.contains(grouped) | ~field.str.contains(mark, literal=True)
    return nw.when(is_read).then(plain)
