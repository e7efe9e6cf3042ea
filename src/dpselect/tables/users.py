r"""Limits on the rows of a person, by the same rule in memory and in an engine.

The rows of a person that could be counted are put in order and numbered from :math:`r = 0`. Of
:math:`c > m` rows, the row :math:`r` is counted if :math:`\lfloor (rm + h)/c \rfloor` grows
from it to the next: these are exactly ``m``, evenly spaced. Without a turn
:math:`h = (c - m)/2`, so that each is in the middle of one of ``m`` equal parts. With a turn
:math:`h = s \bmod c`, where :math:`s` is the sum of the weights of the person's rows, which are
integers, and of the weight of the person's name: persons with similar rows do not all have the
same ones counted. The rule depends on that person's rows alone: not on their order in the
table, and on no other person; and equal rows are interchangeable.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import tables, validation
from dpselect.errors import ColumnError, ParameterError
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import narwhals as nw

MOST = 2**20
"""Rows of one person, at most."""

MODULUS = 1009
"""A prime; names that are integers are reduced by it."""


@dataclass(frozen=True, slots=True)
class UserCap:
    """The column of persons, and how many rows of each are counted; public.

    Attributes:
        column: Text, integers, booleans or dates. A row without a person is dropped.
        most: How many rows of a person are counted.
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
        """Return the numbers that are counted, in ascending order of each person; no turn.

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
        return values[order[self._counted(place, size, size + (size * 2 - 1) * self.most)]]

    def limited_rows(
        self, rows: nw.LazyFrame[Any], *, order_by: Sequence[str], weight: nw.Expr | None = None
    ) -> nw.LazyFrame[Any]:
        """Return the rows that are counted.

        Args:
            rows: With a column ``user`` without nulls; with ``weight`` also ``name_weight``,
                as :func:`weight_of` or :func:`weights_of` have it.
            order_by: Columns without nulls that put a person's rows in order: all by which
                rows are told apart.
            weight: Integers >= 0, small ones, which turn the rows that are counted.
        """
        import narwhals as nw

        size, place = nw.len().over("user"), nw.col(order_by[0]).cum_count()
        sized = rows.with_columns(
            size.cast(nw.Int64).alias("size"),
            place.over("user", order_by=order_by).cast(nw.Int64).alias("place"),
            *([] if weight is None else [weight.sum().over("user").alias("turn")]),
        )
        size = nw.col("size")
        if weight is None:
            turn = size + (size * 2 - 1) * self.most
        else:
            turn = (nw.col("turn").cast(nw.Int64) + nw.col("name_weight")) * 2
        return sized.filter(self._counted(nw.col("place") - 1, size, turn))

    def _counted(self, place: Any, size: Any, turn: Any) -> Any:  # noqa: ANN401 -- arrays, or expressions
        # Twice h, and without one 2 c m more, so that engines see no negative remainder.
        turned = (place * (2 * self.most) + turn) % (size * 2)
        return turned + 2 * self.most >= size * 2


def user_cap(user: str | None, max_per_user: int | None) -> UserCap | None:
    """Return the limit of public arguments, None if every row is a person of its own.

    Raises:
        ParameterError: One of two arguments that go together is missing, or out of range.
    """
    if (user is None) != (max_per_user is None):
        raise ParameterError("`user` and `max_per_user` go together: give both")
    if user is None:
        return None
    validation.instance("user", user, str)
    return UserCap(user, validation.at_least("max_per_user", max_per_user, 1, MOST))


def weight_of(column: str, kind: object) -> nw.Expr:
    """Return the weights of names in an engine: of texts their lengths, or integers."""
    import narwhals as nw

    name = nw.col(column)
    if kind in {nw.String, nw.Categorical} or isinstance(kind, nw.Enum):
        return name.cast(nw.String).str.len_chars().cast(nw.Int64)
    if isinstance(kind, nw.dtypes.DType) and kind.is_integer():
        # Engines differ in the remainder of a negative integer by one modulus.
        return ((name % MODULUS).cast(nw.Int64) + MODULUS) % MODULUS
    return nw.lit(0, nw.Int64)


def weights_of(names: Iterable[Hashable]) -> Indices:
    """Return the same of plain values, shape ``(n,)``."""

    def of(name: object) -> int:
        if isinstance(name, str):
            return len(name)
        return name % MODULUS if isinstance(name, int) and not isinstance(name, bool) else 0

    return np.array([of(name) for name in names], dtype=np.int64)
