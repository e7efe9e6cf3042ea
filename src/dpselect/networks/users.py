"""Edges in memory of which at most so many of each person are counted.

A person's rows that are edges of the graph are folded, and of the different edges so many are
counted, in the order of their ends (:mod:`dpselect.tables.users`). An edge is in the graph if
one person's row of it is counted: others who have it too do not matter. So a person who comes
or goes changes at most so many edges, those that nobody else has.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import tables
from dpselect._optional import needed
from dpselect.errors import ParameterError
from dpselect.networks import reading
from dpselect.networks.reading import UNKNOWN, Edges, Ends
from dpselect.tables.users import MODULUS, UserCap, weights_of
from dpselect.tables.values import NOBODY, declares_nothing, identities, of_series
from dpselect.typing import Indices, OnInvalid

if TYPE_CHECKING:
    import narwhals as nw


def read_of_persons(
    edges: Edges,
    source: str | None,
    target: str | None,
    nodes: Sequence[Hashable],
    cap: UserCap,
    on_invalid: OnInvalid,
) -> Ends:
    """Return the edges that are counted, as positions among ``nodes``.

    Raises:
        ParameterError: The edges are no table, or its columns are not named.
        ColumnError: A column is missing, or its type cannot hold such nodes or persons.
        DataError: The edges cannot be read.
        PublicClaimError: ``on_invalid`` is ``"raise"`` and a row is no edge.
    """
    if not tables.is_table(edges):
        raise ParameterError("user names a column: edges must be a table")
    if source is None or target is None or source == target:
        raise ParameterError("source and target must name the columns of the two ends")
    cap.check(edges)
    rows = tables.read_columns(edges, numeric=[], plain=[source, target, cap.column])
    ends = _ends(rows, (source, target), nodes, text=tables.is_csv(edges))
    reading.without_invalid(ends, on_invalid)
    persons = of_series(rows.get_column(cap.column))
    weights = weights_of(persons.plain())
    return counted(ends, identities(persons), weights, nodes, cap)


def counted(
    ends: Ends, persons: Indices, weights: Indices, nodes: Sequence[Hashable], cap: UserCap
) -> Ends:
    """Return the edges of which a person's row is counted.

    Args:
        ends: Of every row. Private.
        persons: An integer for the person of each row, or ``NOBODY``. Private.
        weights: Of the persons' names, one for each row. Private.
        nodes: All ids or labels.
        cap: The limit.
    """
    needed("polars", extra="standard")
    import narwhals as nw
    import polars as pl

    proper = (ends.source != UNKNOWN) & (ends.target != UNKNOWN) & (persons != NOBODY)
    proper &= ends.source != ends.target
    by_rank, weight = _ranked(nodes)
    rank = np.empty_like(by_rank)
    rank[by_rank] = np.arange(by_rank.size)
    low, high = np.sort(rank[np.stack(ends)[:, proper]], axis=0)
    rows = pl.DataFrame(
        {
            "low": low,
            "high": high,
            "user": persons[proper],
            "name_weight": weights[proper],
            "weight": weight[low] + weight[high],
        }
    )
    lazy = nw.from_native(rows.lazy()).unique()
    kept = cap.limited_rows(lazy, order_by=["low", "high"], weight=nw.col("weight"))
    found = kept.select("low", "high").collect()
    return reading.of_array(by_rank[np.column_stack([found["low"], found["high"]])])


def _ranked(nodes: Sequence[Hashable]) -> tuple[Indices, Indices]:
    """Return the positions of nodes in the order that an engine has them, and their weights."""
    if isinstance(nodes, range):
        return np.arange(len(nodes)), np.arange(len(nodes)) % MODULUS

    def key(place: int) -> tuple[str, Any]:
        return type(nodes[place]).__name__, nodes[place]

    by_rank = np.array(sorted(range(len(nodes)), key=key))
    return by_rank, weights_of(nodes)[by_rank]


def _ends(
    rows: nw.DataFrame[Any], columns: tuple[str, str], nodes: Sequence[Hashable], *, text: bool
) -> Ends:
    series = [rows.get_column(column) for column in columns]
    if any(declares_nothing(one) for one in series):
        pairs = zip(*(of_series(one).plain() for one in series), strict=True)
        return reading.of_pairs(pairs, nodes)
    return reading.of_columns(rows.select(*columns).to_polars(), nodes, text=text)
