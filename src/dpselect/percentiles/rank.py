r"""The percentile by rank: which public value has the right number of records below it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpselect import tables
from dpselect.errors import DataError, NeighboursError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.selection import percent
from dpselect.percentiles.values import OnInvalid, checked, checked_rule, missing_value
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Values


def percentile_rank(
    values: ArrayLike,
    *,
    p: float,
    candidates: ArrayLike,
    neighbours: Neighbours,
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
        values: One number per record: an array, a list or a Series. Private; no bounds are
            needed. A missing one is dropped under add/remove and counts as 0 under
            substitution, where the number of records is public.
        p: The percentile, in (0, 100].
        candidates: The values that may be released, finite, at least one. Public: they
            must not be read off the data.
        neighbours: ``Neighbours.ADD_REMOVE`` or ``Neighbours.SUBSTITUTE``.
        on_invalid: ``"raise"`` if it is public that no value is missing.

    Raises:
        ParameterError: ``p`` or ``candidates`` is out of range.
        NeighboursError: Another relation.
        DataError: ``values`` is not numeric; under substitution also if it is empty.

    Source: Smith, STOC 2011, with ties counted. Compared with :math:`|(1-a)L - aG|`, which
        prefers a wrong value where many records share the right one, in
        ``docs/percentiles.md``.
    """
    points = _checked(p, candidates, neighbours)
    numbers = checked(values, on_invalid)
    known = np.sort(numbers[~np.isnan(numbers)])
    ranks = tables.Ranks(
        below=np.searchsorted(known, points, side="left"),
        upto=np.searchsorted(known, points, side="right"),
        numbers=known.size,
        missing=numbers.size - known.size,
    )
    return _objective(ranks, p, points, neighbours)


def percentile_rank_of_column(
    data: object,
    column: str,
    *,
    p: float,
    candidates: ArrayLike,
    neighbours: Neighbours,
    on_invalid: OnInvalid = "repair",
) -> Objective:
    """Return :func:`percentile_rank` of a column, counted by the engine that holds it.

    No value leaves the engine: the ranks of the candidates do. The objective is the same to
    the last bit, and so is the law of what is drawn from it.

    Args:
        data: A path or any frame; made for lazy ones. Private.
        column: A numeric column.
        p: As for :func:`percentile_rank`, and so are the others.
        candidates: Public values.
        neighbours: The relation.
        on_invalid: ``"raise"`` if it is public that no value is missing.

    Raises:
        ColumnError: The column is missing or not numeric.
        ParameterError, NeighboursError, DataError: As for :func:`percentile_rank`.
    """
    points = _checked(p, candidates, neighbours)
    checked_rule(on_invalid)
    ranks = tables.count_ranks(data, column, points)
    if on_invalid == "raise" and ranks.missing > 0:
        raise missing_value()
    return _objective(ranks, p, points, neighbours)


def _checked(p: float, candidates: ArrayLike, neighbours: Neighbours) -> Values:
    percent(p)
    if neighbours not in {Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE}:
        raise NeighboursError("neighbours must be Neighbours.ADD_REMOVE or .SUBSTITUTE")
    return _checked_candidates(candidates)


def _objective(
    ranks: tables.Ranks, p: float, points: Values, neighbours: Neighbours
) -> Objective:
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
            raise DataError("there must be at least one record")
    wanted = fraction * (records + 1)
    scores = 0.0 - np.maximum(0.0, np.maximum(below - wanted, wanted - upto))
    return Objective(scores, GlobalSensitivity(bound, neighbours), candidates=points.tolist())


def _checked_candidates(candidates: ArrayLike) -> Values:
    try:
        points = np.array(candidates, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("candidates must be numbers") from None
    if points.ndim != 1 or points.size == 0 or not np.isfinite(points).all():
        raise ParameterError("candidates must be at least one finite number, in one dimension")
    return points
