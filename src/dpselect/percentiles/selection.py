"""Percentile selection: which record holds the percentile?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.errors import DataError, ParameterError
from dpselect.objective import Objective
from dpselect.percentiles.sensitivity import PercentileSensitivity
from dpselect.percentiles.values import OnInvalid, clamped


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
    numbers = clamped(values, upper, on_invalid)
    k = rank_of(p, numbers.size)
    if labels is not None and len(labels) != numbers.size:
        raise ParameterError(f"labels must be {numbers.size}, one a record, not {len(labels)}")
    chosen = np.partition(numbers, k - 1)[k - 1]
    return Objective(
        0.0 - np.abs(chosen - numbers),
        PercentileSensitivity(numbers, k, upper, _validate.at_least("horizon", horizon, 0)),
        candidates=labels,
        highest=0.0,
        direction="non-decreasing",
    )


def rank_of(p: float, n: int) -> int:
    r"""Return :math:`k = \lceil p(n+1)/100 \rceil`, cut to 1 to ``n``."""
    # Through the decimal digits of p: in floats 0.07 * 100 is above 7.
    fraction = Fraction(repr(percent(p))) / 100
    if n == 0:
        raise DataError("there must be at least one record")
    return min(max(ceil(fraction * (n + 1)), 1), n)


def percent(p: float) -> float:
    """Return ``p`` if it is in (0, 100]."""
    return _validate.within("p", _validate.positive("p", p), 0, 100)
