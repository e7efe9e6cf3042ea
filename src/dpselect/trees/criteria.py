"""Split criteria: one score per column, from its table of values by classes.

With ``τ_j`` records of value ``j``, ``τ_jc`` of them of class ``c``:

====================  ===============================  ==================
criterion             score                            global sensitivity
====================  ===============================  ==================
``information-gain``  ``-∑_jc τ_jc log_2(τ_j/τ_jc)``   ``f(N-1)``
``gini``              ``-∑_j (τ_j - ∑_c τ_jc^2/τ_j)``  ``2 - 2/N``
``majority``          ``∑_j max_c τ_jc``               1
====================  ===============================  ==================

The sum is weighted by counts, as in private trees since Friedman and Schuster: the part that
does not depend on the column is left out, and no private count is divided by. Each criterion is
monotone under add/remove. A substitution is one removal and one addition, which move a score in
opposite directions, so the same bounds hold.

The sensitivity of information gain is exact at every distance. With
``f(x) = (x + 1) log_2 (x + 1) - x log_2 x``, one more record of class ``c`` in a value with
``a`` records, ``b`` of them of that class, changes the score by ``f(a) - f(b)``. The worst
class of a value is its rarest: with ``b`` records of it, the largest change within ``t``
records is ``f(a + t)`` if ``b = 0``, else

    f(a + t + 1 - 2s) - f(b - s),
    s = min(b, t + 1),

because ``f`` is concave: remove what there is of the rarest class and add another.

Source: Friedman and Schuster, KDD 2010, section 4; Farias et al., VLDB J. 2023, section 7,
Lemmas 14 and 15. Algorithm 5 as printed skips empty values, so that it is not admissible, and
enumerates what is O(1) here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import fsum, log
from typing import Literal, TypeAlias

import numpy as np

from dpselect import validation
from dpselect._twofold import of_fractions
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity, Sensitivity
from dpselect.sensitivity.base import checked_distances
from dpselect.tables.groups import changed_rows
from dpselect.tables.values import width
from dpselect.trees import kernels
from dpselect.trees.domains import Schema
from dpselect.trees.records import Labels, Rows, Table, read
from dpselect.typing import Indices, Values

Criterion: TypeAlias = Literal["information-gain", "gini", "majority"]
"""Score of a split."""

MANY = validation.integers(2, validation.EXACT)
"""Range of the public bound on the number of records."""

TABLE = 2**16
"""Values of f kept ready: half a megabyte, and beyond it a formula."""

LARGEST_SUMMED = 2**24
"""Entropies of so many records are sums of floats, off by at most 2^-27 log2(classes)."""

LARGEST_SQUARED = 2**31
"""Sums of squares of fewer records fit 64 bits."""


class InformationGainSensitivity(Sensitivity):
    """The element local sensitivity of the count-weighted conditional entropy.

    Under add/remove it equals ``LS(x, t, r)`` among databases of any size, cut at the global
    bound ``f(N - 1)`` of databases with at most ``N`` records. A substitution is two such steps
    of opposite signs: ``LS(x, 2t, r)``.

    Args:
        counts: Records by value and class of each attribute, shape ``(values, classes)``
            each; at least two classes. Private. All *public* values and classes are there,
            also those that no record has.
        max_records: ``N ≥ 2``. Public.
        neighbours: ``ADD_REMOVE`` or ``SUBSTITUTE``.
        horizon: The distance from which on the bound is used; ``max_records`` if not given.
            Public.

    Guarantee:
        Admissible under ``neighbours``.

    Raises:
        ParameterError: Fewer than two classes.
        NeighboursError: Another neighbour relation.
    """

    def __init__(
        self,
        counts: Sequence[Indices],
        max_records: int,
        neighbours: NeighboursLike,
        horizon: int | None = None,
    ) -> None:
        relation = validation.table_neighbours(neighbours)
        self._most = max_records - 1
        bound = float(kernels.rise(self._most, _rises()))
        super().__init__(bound, relation, max_records if horizon is None else horizon)
        self._stride = changed_rows(1, relation)
        self.closed_form = self._stride == 1
        if counts[0].shape[1] < 2:
            raise ParameterError("`classes` must be at least two")
        table = np.concatenate(counts).astype(np.int64)
        self._totals, self._least = table.sum(axis=1), table.min(axis=1)
        self._ends = np.cumsum([len(table) for table in counts])

    def _local(self, distance: int) -> Values:
        return kernels.gain_change(
            self._totals, self._least, self._ends, self._stride * distance, _rises()
        )

    def cumulative(self, distance: int | Indices) -> Values:
        distances = np.broadcast_to(checked_distances(distance), self._ends.shape)
        inside = np.minimum(distances, self.horizon)
        summed = kernels.gain_change_sums(
            self._totals, self._least, self._ends, inside, self._stride, self._most, _rises()
        )
        return summed + (distances - inside) * self.bound


def objective_of(
    criterion: Criterion,
    tables: Sequence[Indices],
    candidates: Sequence[Hashable],
    *,
    max_records: int,
    neighbours: NeighboursLike = Neighbours.ADD_REMOVE,
) -> Objective:
    """Return a criterion over columns whose tables are counted already.

    Args:
        criterion: Its name.
        tables: Shape ``(values, classes)`` for each column; private.
        candidates: The columns. Public.
        max_records: Public bound on the number of records; >= 2.
        neighbours: ``"add-remove"`` or ``"substitute"``, or the relation itself.
    """
    relation = validation.table_neighbours(neighbours)
    sensitivity: Sensitivity
    if criterion == "information-gain":
        sensitivity = InformationGainSensitivity(tables, max_records, relation)
    else:
        bound = 1.0 if criterion == "majority" else 2 - 2 / max_records
        sensitivity = GlobalSensitivity(bound, relation, horizon=max_records)
    return Objective(
        of_fractions([CRITERIA[criterion](table) for table in tables]),
        sensitivity,
        candidates,
        monotone=relation is Neighbours.ADD_REMOVE,
        highest=float(max_records) if criterion == "majority" else 0.0,
        # No direction: by information gain a better split can be the less sensitive one.
    )


def split_scores(
    x: Table,
    y: Labels,
    *,
    criterion: Criterion = "gini",
    domains: object,
    classes: Sequence[Hashable],
    max_records: int,
    neighbours: NeighboursLike,
) -> Objective:
    """Return how well splitting on each column tells classes apart, up to a common constant.

    Guarantee:
        The sensitivity is the global bound among tables of at most ``max_records`` records; of
        information gain the element local sensitivity at every distance, cut at that bound.
        Whether a larger table raises is not protected. Public: domains, classes,
        ``max_records``.

    Args:
        x: A frame, or an array of shape ``(n, columns)``. Private.
        y: Labels, shape ``(n,)``. Private.
        criterion: ``"gini"``, ``"information-gain"`` or ``"majority"``.
        domains: Public values of each column: a mapping from names to ``Categories``, ``Bins``
            or lists; or one domain for all columns. Only columns that have one are candidates.
        classes: The labels that can occur; at least two. Public.
        max_records: Bound on the number of records; >= 2. Public.
        neighbours: ``"add-remove"`` or ``"substitute"``, or the relation itself.

    Raises:
        ParameterError: A public argument is missing or out of range.
        ColumnError: A column is missing, or of another type than its domain.
        PublicClaimError: There are more records than ``max_records``.
        NeighboursError: Another neighbour relation.

    Examples:
        >>> from dpselect import trees
        >>> x = [["a", "s"], ["a", "t"], ["b", "s"], ["b", "t"]]
        >>> domains = {"x0": ["a", "b"], "x1": ["s", "t"]}
        >>> gain = trees.split_scores(
        ...     x, [0, 0, 1, 1], criterion="information-gain", domains=domains, classes=[0, 1],
        ...     max_records=10, neighbours="add-remove",
        ... )
        >>> gain.scores
        array([-0., -4.])
    """
    validation.one_of("criterion", criterion, CRITERIA)
    relation = validation.table_neighbours(neighbours)
    MANY("max_records", max_records)
    columns = read(x, fields=width(domains))
    public = Schema.of(domains, classes, columns.names)
    with Rows(public, None, None, "repair").counts((columns, y), max_records) as counts:
        [tables] = counts.tables(0, 1)
    return objective_of(
        criterion, tables, public.names, max_records=max_records, neighbours=relation
    )


@cache
def _rises() -> Values:
    return kernels.rise_table(TABLE)


def _entropy(table: Indices) -> float | Fraction:
    """Add up terms of one sign: a difference of sums would lose the digits of small ones.

    Each is off by 2^-51 of itself, which would count beside the change of one record among
    billions: then there are 40 digits.
    """
    if table.sum() > LARGEST_SUMMED:
        return _long_entropy(table)
    counts = table.astype(np.float64)
    others = table.sum(axis=1, keepdims=True) - counts
    terms = counts * np.log1p(others / np.maximum(counts, 1)) / log(2)
    return -fsum(terms[counts > 0])


def _long_entropy(table: Indices) -> Fraction:
    with localcontext(prec=40):
        one = Decimal(2).ln()
        terms = (
            count * (Decimal(total) / count).ln() / one
            for row, total in zip(table.tolist(), table.sum(axis=1).tolist(), strict=True)
            for count in row
            if count
        )
        return -Fraction(sum(terms, Decimal()))


def _impurity(table: Indices) -> Fraction:
    """Return ``-∑_jc τ_jc (τ_j - τ_jc)/τ_j`` in integers.

    Squares of three billion records exceed 64 bits, so larger counts are Python integers.
    """
    counts = table if table.sum() < LARGEST_SQUARED else table.astype(object)
    totals = np.maximum(counts.sum(axis=1), 1)
    pairs = (counts * (counts.sum(axis=1, keepdims=True) - counts)).sum(axis=1)
    whole, left = pairs // totals, pairs % totals
    parts = (left / totals).astype(np.float64)
    return -int(whole.sum()) - Fraction(fsum(parts))


def _majority(table: Indices) -> Fraction:
    return Fraction(int(table.max(axis=1).sum()))


CRITERIA: Mapping[Criterion, Callable[[Indices], float | Fraction]] = {
    "information-gain": _entropy,
    "gini": _impurity,
    "majority": _majority,
}
"""The score of a table by every criterion."""
