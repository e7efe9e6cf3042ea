r"""The percentile by rank: which public value has the right number of records below it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpselect.errors import DataError, NeighboursError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.percentiles.selection import percent
from dpselect.percentiles.values import OnInvalid, checked
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
    fraction = percent(p) / 100
    if neighbours not in {Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE}:
        raise NeighboursError("neighbours must be Neighbours.ADD_REMOVE or .SUBSTITUTE")
    points = _checked_candidates(candidates)
    substitute = neighbours is Neighbours.SUBSTITUTE
    numbers = checked(values, on_invalid)
    missing = np.isnan(numbers)
    numbers = np.where(missing, 0.0, numbers) if substitute else numbers[~missing]
    if substitute and numbers.size == 0:
        raise DataError("there must be at least one record")
    bound = 1.0 if substitute else max(fraction, 1 - fraction)
    return Objective(
        _scores(np.sort(numbers), fraction, points),
        GlobalSensitivity(bound, neighbours),
        candidates=points.tolist(),
    )


def _scores(ordered: Values, fraction: float, points: Values) -> Values:
    wanted = fraction * (ordered.size + 1)
    below = np.searchsorted(ordered, points, side="left")
    upto = np.searchsorted(ordered, points, side="right")
    return 0.0 - np.maximum(0.0, np.maximum(below - wanted, wanted - upto))


def _checked_candidates(candidates: ArrayLike) -> Values:
    try:
        points = np.array(candidates, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("candidates must be numbers") from None
    if points.ndim != 1 or points.size == 0 or not np.isfinite(points).all():
        raise ParameterError("candidates must be at least one finite number, in one dimension")
    return points
