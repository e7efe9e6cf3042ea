"""Methods for percentiles, compared by their exact rank errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from dpselect.accuracy import Comparison, Row
from dpselect.errors import ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.percentiles.percentiles import Percentiles
from dpselect.percentiles.single import MethodName
from dpselect.typing import Values

DEFAULT = "default"
"""The method that public arguments choose."""

MAY_NOT_FIT = (DEFAULT, "recursive", "noisy-counts")
"""Methods that some candidates do not suit, or whose distribution has no closed form."""


def compare_percentiles(
    data: object,
    *,
    column: str | None = None,
    p: float | Sequence[float] | Values,
    candidates: ArrayLike,
    assumed_records: int | None = None,
    epsilons: Iterable[float],
    neighbours: NeighboursLike,
) -> Comparison:
    """Compare the default and all methods for percentiles by their exact distributions.

    The error is the distance between the wanted rank ``1/2 + a(n - 1)`` and the ranks of the
    records that count at the released value, averaged over the percentiles. Methods that do not
    suit the candidates are left out. The recursion is followed as for
    ``dpselect.Percentiles.probabilities``: give up to 3 percentiles, and some dozens of
    candidates.

    Args:
        data: Public or synthetic numbers, as for a release; the result is as private as they
            are.
        column: The numeric column, if ``data`` is a table.
        p: The percentile, or several.
        candidates: The values that may be released.
        assumed_records: As for ``dpselect.Percentiles``. Methods that are named assume the
            number of the data if it is not given.
        epsilons: Compare at each of these, in nats.
        neighbours: ``"add-remove"`` or ``"substitute"``.

    Returns:
        A row for each method and epsilon, and a uniform choice. The first is ``default``, which
        is what ``dpselect.Percentiles`` releases. ``P(best)`` is the probability that no
        candidate is nearer, in the mean over the percentiles.

    Raises:
        ParameterError, NeighboursError, ColumnError, DataError: As for the release.

    Examples:
        >>> from dpselect.percentiles import compare_percentiles
        >>> print(compare_percentiles(
        ...     range(100), p=[25, 50, 75], candidates=range(0, 100, 20), epsilons=[1.0],
        ...     neighbours="add-remove",
        ... ))
        mechanism        epsilon  expected error  P(best)    rho
        default                1           0.482    0.900  0.429
        one-by-one             1           0.232    0.957  0.143
        above-threshold        1          0.6419    0.894  0.165
        recursive              1          0.4425    0.907  0.199
        uniform choice                     20.57    0.267
    """
    usual = Percentiles(
        column=column,
        p=p,
        candidates=candidates,
        assumed_records=assumed_records,
        epsilon=1.0,
        neighbours=neighbours,
    )
    design, epsilons = usual.at_cap(), tuple(epsilons)
    ranks = design.records.of(data).ranks(np.asarray(design.points))
    wanted = 0.5 + np.array(design.percents)[:, None] / 100 * (ranks.numbers - 1)
    far = np.maximum(0, np.maximum(ranks.below - wanted, wanted - ranks.upto))
    best = far == far.min(axis=1, keepdims=True)
    named = replace(usual, assumed_records=assumed_records or max(ranks.numbers, 1))
    fitting = {str(one): replace(named, method=one) for one in _fitting(named)}
    rows = []
    for (name, query), epsilon in product({DEFAULT: usual, **fitting}.items(), epsilons):
        at = replace(query, epsilon=epsilon)
        try:
            laws = at.probabilities(data)
        except ParameterError:
            if name not in MAY_NOT_FIT:
                raise
            continue
        error, right = (float((laws * one).sum()) / len(laws) for one in (far, best))
        rows.append(Row(name, epsilon, error, right, at.plan.rho, right))
    uniform = Row("uniform choice", 0.0, float(far.mean()), float(best.mean()), 0.0, 0.0)
    return Comparison(tuple(rows), uniform=uniform)


def _fitting(query: Percentiles) -> Iterator[MethodName]:
    """Yield the methods that suit the candidates."""
    for method in get_args(MethodName):
        try:
            replace(query, method=method)
        except ParameterError:
            if method not in MAY_NOT_FIT:
                raise
            continue
        yield method
