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
monotone under add/remove. A substitution is one removal and one addition: two steps, at half of
epsilon each.

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

from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import fsum, log, log1p, log2
from typing import Literal, TypeAlias

import numpy as np

from dpselect import validation
from dpselect._compiled import compiled
from dpselect._twofold import of_fractions
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity, Sensitivity
from dpselect.sensitivity.base import checked_distances
from dpselect.typing import Indices, Values

Criterion: TypeAlias = Literal["information-gain", "gini", "majority"]
"""Score of a split."""

MANY = validation.integers(2, validation.EXACT)
"""Range of the public bound on the number of records."""

LN2 = log(2.0)

LARGEST_SUMMED = 2**24
"""Entropies of so many records are sums of floats, off by at most 2^-27 log2(classes)."""

LARGEST_SQUARED = 2**31
"""Sums of squares of fewer records fit 64 bits."""


_X = np.arange(1, 2**16, dtype=np.float64)
RISES = np.concatenate([[0.0], np.log2(_X + 1) + _X * np.log1p(1 / _X) / LN2])
"""``rise`` of few records, ten times as fast as by its formula: half a megabyte."""


@compiled
def rise(x: int) -> float:
    """Return ``(x + 1) log2(x + 1) - x log2 x`` without cancellation, ``x >= 0``."""
    return RISES[x] if x < RISES.size else x_log_x_rise(x, 1)


@compiled
def column_change(
    totals: Indices, least: Indices, start: int, end: int, distance: int
) -> float:
    """Return the largest change of an attribute within ``distance`` records, O(1) a value.

    Args:
        totals: Records with each value.
        least: Those of its rarest class, at most half of them.
        start: Where the values of the attribute start.
        end: Where they end.
        distance: Records between the databases.
    """
    out = 0.0
    for j in range(start, end):
        removed = min(least[j], distance + 1)
        if removed == 0:
            change = rise(totals[j] + distance)
        else:
            grown = totals[j] + distance + 1 - 2 * removed
            change = rise(grown) - rise(least[j] - removed)
        out = max(out, change)
    return out


@compiled
def gain_change(totals: Indices, least: Indices, ends: Indices, distance: int) -> Values:
    """Return the largest change of each attribute; its values end at ``ends``."""
    out = np.zeros(ends.size)
    for r in range(ends.size):
        start = ends[r - 1] if r else 0
        out[r] = column_change(totals, least, start, ends[r], distance)
    return out


@compiled
def steady_from(totals: Indices, least: Indices, start: int, end: int) -> tuple[int, int]:
    """Return ``(t, k)`` such that from distance ``t`` on the change is ``rise(k + t)``.

    Once its rarest class can be removed, a value of ``a`` records, ``b`` of that class,
    gives ``rise(a - 2 b + 1 + t)``, for ``b = 0`` ``rise(a + t)``. Before, it gives no more:
    ``rise(A) - rise(B) <= rise(A - 2 B)`` for ``A > 2 B``, because the right side grows
    faster with ``A`` and ``rise(2 B + 1) - rise(B) <= log2(e) < 2 = rise(1)``.
    """
    best, since = -1, 0
    for j in range(start, end):
        lead = totals[j] - 2 * least[j] + (1 if least[j] > 0 else 0)
        if lead > best or (lead == best and least[j] < since):
            best, since = lead, least[j]
    return since, best


@compiled
def gain_change_sums(
    totals: Indices, least: Indices, ends: Indices, upto: Indices, most: int
) -> Values:
    """Return the sums of the changes, each cut at ``rise(most)``, below some distances.

    Args:
        totals: Records with each value, the values of all attributes in a row.
        least: Those of its rarest class.
        ends: Where the values of each attribute end.
        upto: The distance ``t`` of each attribute; the sum is over ``0, ..., t - 1``.
        most: One less than the largest number of records.
    """
    bound = rise(most)
    out = np.zeros(ends.size)
    for r in range(ends.size):
        start = ends[r - 1] if r else 0
        since, lead = steady_from(totals, least, start, ends[r])
        first = min(since, upto[r])
        for t in range(first):
            out[r] += min(column_change(totals, least, start, ends[r], t), bound)
        # The sum of rise(k + t) telescopes to the difference of x log2 x.
        end = min(max(most - lead, first), upto[r])
        out[r] += x_log_x_rise(lead + first, end - first) + (upto[r] - end) * bound
    return out


@compiled
def x_log_x_rise(x: int, n: int) -> float:
    """Return ``(x + n) log2(x + n) - x log2 x`` without cancellation, 0 log2 0 being 0."""
    if n <= 0:
        return 0.0
    return n * log2(x + n) + (x * log1p(n / x) / LN2 if x > 0 else 0.0)


class InformationGainSensitivity(Sensitivity):
    """The element local sensitivity of the count-weighted conditional entropy.

    It equals ``LS(x, t, r)`` under add/remove among databases of any size, cut at the global
    bound ``f(N - 1)`` of databases with at most ``N`` records.

    Args:
        counts: Records by value and class of each attribute, shape ``(values, classes)``
            each; at least two classes. Private. All *public* values and classes are there,
            also those that no record has.
        max_records: ``N ≥ 2``. Public.
        horizon: The distance from which on the bound is used; ``max_records`` if not given.
            Public.

    Guarantee:
        Admissible under add/remove. A substitution is two steps (``sensitivity.grouped``).

    Raises:
        ParameterError: Fewer than two classes.
    """

    closed_form = True

    def __init__(
        self, counts: Sequence[Indices], max_records: int, horizon: int | None = None
    ) -> None:
        self._most = max_records - 1
        bound = float(rise(self._most))
        until = max_records if horizon is None else horizon
        super().__init__(bound, Neighbours.ADD_REMOVE, until)
        if counts[0].shape[1] < 2:
            raise ParameterError("`classes` must be at least two")
        table = np.concatenate(counts).astype(np.int64)
        self._totals, self._least = table.sum(axis=1), table.min(axis=1)
        self._ends = np.cumsum([len(table) for table in counts])

    def _local(self, distance: int) -> Values:
        return gain_change(self._totals, self._least, self._ends, distance)

    def cumulative(self, distance: int | Indices) -> Values:
        distances = np.broadcast_to(checked_distances(distance), self._ends.shape)
        inside = np.minimum(distances, self.horizon)
        summed = gain_change_sums(self._totals, self._least, self._ends, inside, self._most)
        return summed + (distances - inside) * self.bound


def objective_of(
    criterion: Criterion,
    tables: Sequence[Indices],
    candidates: Sequence[Hashable],
    *,
    max_records: int,
) -> Objective:
    """Return a criterion over columns whose tables are counted already, under add/remove.

    Args:
        criterion: Its name.
        tables: Shape ``(values, classes)`` for each column; private.
        candidates: The columns. Public.
        max_records: Public bound on the number of records; >= 2.
    """
    sensitivity: Sensitivity
    if criterion == "information-gain":
        sensitivity = InformationGainSensitivity(tables, max_records)
    else:
        bound = 1.0 if criterion == "majority" else 2 - 2 / max_records
        sensitivity = GlobalSensitivity(bound, Neighbours.ADD_REMOVE, horizon=max_records)
    return Objective(
        of_fractions([CRITERIA[criterion](table) for table in tables]),
        sensitivity,
        candidates,
        monotone=True,
        highest=float(max_records) if criterion == "majority" else 0.0,
        # No direction: by information gain a better split can be the less sensitive one.
    )


def _entropy(table: Indices) -> float | Fraction:
    """Add up terms of one sign: a difference of sums would lose the digits of small ones.

    Each is off by 2^-51 of itself, which would count beside the change of one record among
    billions: then there are 40 digits.
    """
    if table.sum() > LARGEST_SUMMED:
        return _long_entropy(table)
    counts = table.astype(np.float64)
    others = table.sum(axis=1, keepdims=True) - counts
    terms = counts * np.log1p(others / np.maximum(counts, 1)) / LN2
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
