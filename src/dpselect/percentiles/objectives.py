r"""Objectives of a percentile: the records by their values, public values by their ranks.

Private values that do not fit their public range are repaired record by record. An exception
instead would be an output that depends on one record, outside the guarantee. A repair of each
record by itself maps neighbours to neighbours, so the guarantee holds for the data as given.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate, tables
from dpselect.errors import DataError, ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.percentiles.ranks import Ranks, numbers_of
from dpselect.percentiles.sensitivity import PercentileSensitivity
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import OnInvalid, Values


def percentile(
    values: ArrayLike,
    *,
    p: float,
    upper: float,
    labels: Sequence[Hashable] | None = None,
    horizon: int = 1,
    on_invalid: OnInvalid = "repair",
) -> Objective:
    r"""Return the objective whose best candidates are the records at the percentile.

    The candidates are the records' labels, :math:`u_r = -|x_{(k)} - x_r|` with
    :math:`k = \lceil p(n+1)/100 \rceil`, at most ``n``.

    Guarantee:
        For substitution: one record's value is replaced. The number of records, their
        labels, ``p``, ``upper`` and ``horizon`` are public.

    Args:
        values: One number per record, shape ``(n,)``, ``n >= 1``: an array, a list or a
            Series. Private. Repaired record by record: below 0 to 0, above ``upper`` to
            ``upper``, missing to 0.
        p: The percentile, in (0, 100].
        upper: The largest value that can occur, :math:`\Lambda`; finite, > 0. It must not
            be read off the data.
        labels: What to release for each record; row numbers from 0 if not given.
        horizon: From this distance on the sensitivity is taken to be ``upper``. Plain
            dampening looks only at distance 0, and the shifted mechanism is best near 1
            on the histograms of ``docs/percentiles.md`` and up to twice worse without.
        on_invalid: ``"raise"`` instead of repairing, if it is public that nothing needs it.

    Returns:
        Scores in the units of the values; never above 0, which is stated as ``highest``.

    Raises:
        ParameterError: ``p``, ``upper``, ``horizon`` or ``labels`` is out of range.
        DataError: ``values`` is empty or not numeric.

    Source: Farias et al., VLDB J. 2023, section 5 (there ``k`` can be ``n + 1``).

    Examples:
        >>> from dpselect.percentiles import percentile
        >>> objective = percentile([1, 5, 2], p=50, upper=10, labels=["a", "b", "c"])
        >>> [float(score) for score in objective.scores]
        [-1.0, -3.0, 0.0]
    """
    upper = _validate.positive("upper", upper)
    numbers = _clamped(tables.numeric_column(values), upper, _validate.on_invalid(on_invalid))
    k = rank_of(p, numbers.size)
    if labels is not None and len(labels) != numbers.size:
        raise ParameterError(f"labels must be {numbers.size}, one a record, not {len(labels)}")
    chosen = np.partition(numbers, k - 1)[k - 1]
    return Objective(
        0.0 - np.abs(chosen - numbers),
        PercentileSensitivity(numbers, k, upper, _validate.at_least("horizon", horizon, 0)),
        candidates=labels,
        highest=0.0,
        # On the histograms of docs/percentiles.md; any direction is admissible.
        direction="non-decreasing",
    )


def percentile_rank(
    data: object,
    *,
    column: str | None = None,
    p: float,
    candidates: ArrayLike,
    neighbours: NeighboursLike,
    on_invalid: OnInvalid = "repair",
) -> Objective:
    r"""Return the objective whose best candidates have the percentile's rank.

    With :math:`a = p/100`, ``L`` records below a candidate, ``E`` equal to it and
    :math:`n = L + E + G`, the score is minus the distance of :math:`a(n + 1)` from the ranks
    that the candidate holds,

    .. math:: u(c) = -\max\{0,\; L - a(n + 1),\; a(n + 1) - (L + E)\},

    which is 0 for the percentile itself, ties or not.

    Guarantee:
        Add/remove: :math:`\Delta = \max(a, 1 - a)`, and the number of records is private.
        Substitution: :math:`\Delta = 1`. Not monotone under either. ``candidates`` and
        ``p`` are public.

    Args:
        data: One number per record: an array, a list or a Series; or a frame, or the path
            of a Parquet or CSV file. Private; no bounds are needed. A missing number is
            dropped under add/remove and counts as 0 under substitution, where the number of
            records is public. Of a lazy frame only ranks leave the engine; the objective is
            the same to the last bit.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, in (0, 100].
        candidates: The values that may be released, finite, at least one. Public: they
            must not be read off the data.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        on_invalid: ``"raise"`` if it is public that no value is missing.

    Returns:
        Scores in ranks; never above 0, which is stated as ``highest``.

    Raises:
        ParameterError: ``p`` or ``candidates`` is out of range.
        NeighboursError: Another relation.
        ColumnError: The column is missing or not numeric.
        DataError: The data cannot be read or are not numeric; under substitution also if
            there is no record.

    Source: Smith, STOC 2011, with ties counted. Compared with :math:`|(1-a)L - aG|`, which
        prefers a wrong value where many records share the right one, in
        ``docs/percentiles.md``.
    """
    percent(p)
    relation = _validate.table_neighbours(neighbours)
    points = checked_candidates(candidates)
    _validate.on_invalid(on_invalid)
    return by_rank(
        ranks_in(data, column, points, on_invalid), p=p, points=points, neighbours=relation
    )


def ranks_in(data: object, column: str | None, points: Values, on_invalid: OnInvalid) -> Ranks:
    """Return the ranks of public points among private numbers.

    Raises:
        DataError: A number is missing and ``on_invalid`` is ``"raise"``.
    """
    ranks = numbers_of(data, column).ranks(points)
    if on_invalid == "raise" and ranks.missing > 0:
        raise DataError(
            "a value is missing, which on_invalid='raise' declares impossible; "
            "on_invalid='repair' goes on without it"
        )
    return ranks


def by_rank(ranks: Ranks, *, p: float, points: Values, neighbours: Neighbours) -> Objective:
    """Return the objective of :func:`percentile_rank` from the ranks of its candidates."""
    fraction = percent(p) / 100
    below, upto, records = ranks.below, ranks.upto, ranks.numbers
    bound = max(fraction, 1 - fraction)
    if neighbours is Neighbours.SUBSTITUTE:
        # Every record keeps its place, and a missing number counts as 0.
        below = below + ranks.missing * (points > 0)
        upto = upto + ranks.missing * (points >= 0)
        records += ranks.missing
        bound = 1.0
        if records == 0:
            raise no_records()
    wanted = fraction * (records + 1)
    return Objective(
        0.0 - np.maximum(0.0, np.maximum(below - wanted, wanted - upto)),
        GlobalSensitivity(bound, neighbours),
        candidates=points.tolist(),
        highest=0.0,
        # One sensitivity for all candidates: both directions hold.
        direction="non-decreasing",
    )


def rank_of(p: float, n: int) -> int:
    r"""Return :math:`k = \lceil p(n+1)/100 \rceil`, cut to 1 to ``n``.

    Args:
        p: The percentile, in (0, 100].
        n: The number of records, >= 1.

    Raises:
        ParameterError: ``p`` is out of range.
        DataError: There is no record.
    """
    # Through the decimal digits of p: in floats 0.07 * 100 is above 7.
    fraction = Fraction(repr(percent(p))) / 100
    if n == 0:
        raise no_records()
    return min(max(ceil(fraction * (n + 1)), 1), n)


def percent(p: float) -> float:
    """Return ``p`` as a float if it is in (0, 100]."""
    return _validate.within("p", _validate.positive("p", p), 0, 100)


def no_records() -> DataError:
    """Return the error for a table without rows, where their number is public."""
    return DataError("there must be at least one record")


def checked_candidates(candidates: ArrayLike) -> Values:
    """Return public values as a float64 vector of at least one, all finite."""
    try:
        points = np.array(candidates, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("candidates must be numbers") from None
    if points.ndim != 1 or points.size == 0 or not np.isfinite(points).all():
        raise ParameterError("candidates must be at least one finite number, in one dimension")
    return points


def _clamped(numbers: Values, upper: float, on_invalid: OnInvalid) -> Values:
    """Return values in ``[0, upper]``, a missing one as 0.

    Dropping a missing one would make the number of records private and leave its label
    without a score; under substitution every record keeps its place.
    """
    if on_invalid == "raise" and not ((numbers >= 0) & (numbers <= upper)).all():
        raise DataError(
            "a value is missing or outside [0, upper], which on_invalid='raise' declares "
            "impossible; on_invalid='repair' takes it as the nearest end, a missing one as 0"
        )
    return np.clip(np.nan_to_num(numbers, nan=0.0, posinf=upper, neginf=0.0), 0.0, upper)
