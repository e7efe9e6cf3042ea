"""Rows that public comparisons keep, by the same rule in every engine.

Whether a row is kept depends on that row alone. One without a value there, or with a field of a
CSV file that is no number where numbers are compared, is dropped.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import ROUND_FLOOR, Decimal
from math import isfinite
from typing import Any, Self, TypeAlias

from dpselect._optional import nw
from dpselect.errors import ColumnError, ParameterError, no_column
from dpselect.tables import kinds
from dpselect.tables.dialect import Dialect, no_field
from dpselect.tables.engine import Frame, engine_of

Literal: TypeAlias = Decimal | str | bool

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

KINDS: dict[type, kinds.Kind | kinds.Moment] = {
    Decimal: "number",
    str: kinds.Kind.TEXT,
    bool: kinds.Kind.BOOLEAN,
}
"""As what a column of objects is compared with a literal."""

SYNONYMS = {"==": "=", "<>": "!=", "=<": "<=", "=>": ">="}

_COMPARISON = re.compile(
    r"""\s*(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^"'=!<>]*[^"'=!<>\s]))\s*"""
    r"""(?P<operator>[=!<>]+)\s*(?P<literal>.*?)\s*"""
)
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A decimal number."""

_TEXT = re.compile(r"'(?P<text>(?:[^']|'')*)'")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One column, compared with one public value.

    Attributes:
        column: The name of the column.
        operator: One of ``OPERATORS``.
        literal: A number, a text or a truth value.
    """

    column: str
    operator: str
    literal: Literal

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the comparison that a text such as ``year >= 2024`` states.

        Raises:
            ParameterError: It states none.
        """
        found = _COMPARISON.fullmatch(text)
        sign = SYNONYMS.get(found["operator"], found["operator"]) if found else ""
        literal = _literal(found["literal"]) if found else None
        is_unordered = isinstance(literal, bool) and sign not in {"=", "!="}
        if found is None or literal is None or sign not in OPERATORS or is_unordered:
            raise ParameterError(
                f'`where` must be such as "year >= 2024" or "ward = \'A\'", not {text!r}: a '
                f"column, one of {' '.join(OPERATORS)}, and a number, a text in single quotes, "
                "or true or false by = or !=; give it once for each comparison"
            )
        column = (found["quoted"] or found["plain"].strip()).replace('""', '"')
        return cls(column, sign, literal)

    def keeps(self, value: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
        """Return whether a value of a column of a type is kept.

        Args:
            value: The column.
            dtype: Its type.

        Raises:
            ColumnError: Values of that type are not comparable with the literal.
        """
        literal = self.literal
        if isinstance(literal, Decimal) and dtype.is_integer():
            return self._keeps_integer(value, dtype, literal)
        if isinstance(literal, Decimal) and dtype.is_numeric():
            value = kinds.numbers_alone(value.cast(nw.Float64))
            public = nw.lit(kinds.rounded(float(literal), kinds.float_type(dtype)), nw.Float64)
        elif isinstance(literal, bool) and dtype == nw.Boolean:
            public = nw.lit(literal, nw.Boolean)
        elif isinstance(literal, str) and kinds.Kind.of(dtype) == kinds.Kind.TEXT:
            value, public = value.cast(nw.String), nw.lit(literal, nw.String)
        else:
            raise ColumnError(
                f"`where` must compare {self.column!r}, which is of type "
                f"{kinds.type_name(dtype)}, with a value of its type: a number, a text in "
                "quotes, true or false, a day as '2024-01-31', or a time as '2024-01-31T12:00' "
                "(with Z or an offset where it has a zone); cast columns of other types"
            )
        return ~value.is_null() & OPERATORS[self.operator](value, public)

    def _keeps_integer(
        self, value: nw.Expr, dtype: nw.dtypes.DType, literal: Decimal
    ) -> nw.Expr:
        """Compare exactly, where floats would take large integers for equal."""
        there, sign = ~value.is_null(), self.operator
        whole, (low, high) = int(literal.to_integral_value(ROUND_FLOOR)), _limits(str(dtype))
        if not low <= whole <= high or (whole != literal and sign in {"=", "!="}):
            # It is the same of all integers of the type.
            return there & nw.lit(OPERATORS[sign](low, literal), nw.Boolean)
        sign = sign if whole == literal else {"<": "<=", ">=": ">"}.get(sign, sign)
        return there & OPERATORS[sign](value, nw.lit(whole, dtype))


def filtered(
    table: Frame, comparisons: Iterable[Comparison], dialect: Dialect | None = None
) -> Frame:
    """Return the rows of a narwhals frame that are kept; none is read.

    Args:
        table: The rows.
        comparisons: All must hold.
        dialect: How text files are written: columns of which no type is declared are compared
            as text without the spaces around it, or with numbers as float64. None if the rows
            are of no text file.

    Raises:
        ColumnError: There is no such column, or it is of a type that does not compare.
    """
    reads: Any = dialect
    for one in comparisons:
        types = table.collect_schema()
        if one.column not in types:
            raise (no_column if dialect is None else no_field)(one.column, types.names())
        # What is compared is a column beside it, as it is read.
        name = "".ljust(1 + max(map(len, types)), "_")
        rows, compared = table.with_columns(nw.col(one.column).alias(name)), one
        dtype = types[one.column]
        is_field = dialect is not None and dtype == nw.String
        moment = kinds.moment_of(dtype)
        if dtype == nw.Object:
            rows = engine_of(rows).read([name], KINDS[type(one.literal)])
        elif is_field and one.column in reads.column_type:
            rows = rows.with_columns(nw.col(name).str.strip_chars())
        elif is_field and isinstance(one.literal, Decimal):
            rows = reads.typed(rows, {name: "number"})
        elif is_field and one.operator not in {"=", "!="}:
            raise ColumnError(
                f"`where` would order the fields of {one.column!r} by their characters, since "
                f"text files declare no types: state {one.column}=date, time or text by "
                "`column_type`, and `date_format` if days are not as 2026-01-31"
            )
        elif is_field:
            reads.note_reading(["text"])
            rows = rows.with_columns(nw.col(name).str.strip_chars())
        elif (code := _code(one.literal, moment)) is not None:
            rows, compared = engine_of(rows).read([name], moment), replace(one, literal=code)
        keeps = compared.keeps(nw.col(name), rows.collect_schema()[name])
        table = rows.filter(keeps).drop(name)
    return table


def _literal(text: str) -> Literal | None:
    if NUMBER.fullmatch(text):
        return Decimal(text) if isfinite(float(text)) else None
    if quoted := _TEXT.fullmatch(text):
        return quoted["text"].replace("''", "'")
    return {"true": True, "false": False}.get(text.lower())


def _code(literal: Literal, moment: kinds.Moment) -> Decimal | None:
    """Return the day or the time that a text writes as columns are counted, None if none."""
    read = date if moment == "day" else datetime
    with suppress(ValueError, TypeError):
        code = kinds.code_of(read.fromisoformat(literal), moment)  # type: ignore[arg-type]
        return None if code is None else Decimal(code)
    return None


def _limits(integer: str) -> tuple[int, int]:
    """Return the range of a type of integers such as ``UInt8``."""
    size = 2 ** int(integer.lstrip("UInt"))
    return (0, size - 1) if integer.startswith("U") else (-size // 2, size // 2 - 1)
