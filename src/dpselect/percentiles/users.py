r"""Limits on the records of a person, by the same rule in memory and in an engine.

Of a person's :math:`c > m` records with a number, in ascending order and counted from
:math:`r = 0`, the record :math:`r` is counted if :math:`\lfloor (2rm + c - m)/2c \rfloor` grows
from it to the next. These are exactly ``m``, each in the middle of one of ``m`` equal parts of
the person's numbers. The rule depends on that person's numbers alone: not on the order of the
rows, and on no other person; and equal numbers are interchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import _validate, tables
from dpselect.errors import ColumnError, ParameterError
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True, slots=True)
class UserCap:
    """The column of persons, and how many records of each are counted; public.

    Attributes:
        column: Text, integers, booleans or dates. A record without a person is dropped.
        most: How many records of a person are counted.
    """

    column: str
    most: int

    def check(self, data: object) -> None:
        """Check the type of the column, which is public.

        Raises:
            ColumnError: The column is missing, or holds floats.
        """
        table = tables.check_columns(data, plain=[self.column])
        kind = tables.schema(table, data)[self.column]
        if kind.is_float() or kind.is_decimal():
            raise ColumnError(
                f"column {self.column!r} is of type {kind}: users must be text, integers, "
                "booleans or dates; cast it there"
            )

    def limited(self, values: Values, users: Indices) -> Values:
        """Return the numbers that are counted.

        Args:
            values: Shape ``(n,)``, none missing. Private.
            users: Shape ``(n,)``, an integer for each person. Private.
        """
        order = np.lexsort((values, users))
        ordered = users[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
        sizes = np.diff(starts, append=ordered.size)
        place = np.arange(ordered.size) - np.repeat(starts, sizes)
        size = np.repeat(sizes, sizes)
        return values[order[self._counted(place, size)]]

    def limited_rows(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return the rows that are counted, of ``number`` and ``user`` without nulls."""
        import narwhals as nw

        sized = rows.with_columns(
            nw.len().over("user").cast(nw.Int64).alias("size"),
            nw.col("number")
            .cum_count()
            .over("user", order_by="number")
            .cast(nw.Int64)
            .alias("place"),
        )
        return sized.filter(self._counted(nw.col("place") - 1, nw.col("size")))

    def _counted(self, place: Any, size: Any) -> Any:  # noqa: ANN401 -- arrays, or expressions
        # 2 c m more, a multiple of 2 c, so that engines see no negative remainder.
        turned = (place * (2 * self.most) + size + (size * 2 - 1) * self.most) % (size * 2)
        return turned + 2 * self.most >= size * 2


def user_cap(column: str | None, user: str | None, max_per_user: int | None) -> UserCap | None:
    """Return the limit of public arguments, None if every record is a person of its own.

    Raises:
        ParameterError: One of two arguments that go together is missing, or out of range.
    """
    if (user is None) != (max_per_user is None):
        raise ParameterError("user and max_per_user go together: give both")
    if user is None:
        return None
    if column is None:
        raise ParameterError("user is for tables: name the column of the numbers too")
    if user == column:
        raise ParameterError(f"column {user!r} cannot be the user and the number")
    return UserCap(user, _validate.at_least("max_per_user", max_per_user, 1))
