"""Records of persons of which at most so many are counted, in memory or in an engine.

A record that has no place (a value or a label outside) is dropped before a person's records
are limited (:mod:`dpselect.tables.users`), so that it does not displace another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect._optional import needed
from dpselect.tables.users import UserCap, weights_of
from dpselect.tables.values import NOBODY, ColumnValues, identities
from dpselect.trees.domains import OUTSIDE
from dpselect.typing import Indices

if TYPE_CHECKING:
    import narwhals as nw


def counted_rows(rows: nw.LazyFrame[Any], cap: UserCap, coded: list[str]) -> nw.LazyFrame[Any]:
    """Return the rows that are counted.

    Args:
        rows: With ``user`` and ``name_weight``, and codes without nulls.
        cap: The limit.
        coded: The columns of codes, that of the label first.
    """
    import narwhals as nw

    first, *others = (nw.col(name).cast(nw.Int64) for name in coded)
    weight = sum((column * place for place, column in enumerate(others, 2)), first)
    return cap.limited_rows(rows, order_by=coded, weight=weight)


def counted(
    codes: Indices, labels: Indices, persons: ColumnValues, cap: UserCap
) -> tuple[Indices, Indices]:
    """Return the codes and labels of the records that are counted.

    Args:
        codes: Shape ``(n, columns)``. Private.
        labels: Positions in the classes, shape ``(n,)``. Private.
        persons: The person of each record. Private.
        cap: The limit.
    """
    needed("polars", extra="standard")
    import narwhals as nw
    import polars as pl

    user = identities(persons)
    held = (user != NOBODY) & (labels != OUTSIDE) & (codes != OUTSIDE).all(axis=1)
    coded = ["label", *(f"code{place}" for place in range(codes.shape[1]))]
    rows = pl.DataFrame(
        {
            "user": user[held],
            "name_weight": weights_of(persons.plain())[held],
            **dict(zip(coded, np.column_stack([labels, codes])[held].T, strict=True)),
        }
    )
    kept: Any = nw.to_native(counted_rows(nw.from_native(rows.lazy()), cap, coded))
    found = kept.select(coded).collect().to_numpy()
    return found[:, 1:], found[:, 0]
