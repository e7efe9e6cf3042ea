"""AboveThreshold: the first queries above a public threshold, whatever their number.

It needs no objective: queries are looked at in order, and only those that are found above cost
epsilon. ``docs/own.md`` says when it is the right mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect.draws import above_threshold as draws
from dpselect.errors import ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.passes import replaced
from dpselect.plan import Plan, Spend
from dpselect.query import Design, Query, query
from dpselect.release import Release
from dpselect.typing import Indices


@query
class AboveThreshold(Query[Release[int]]):
    """The positions of the first queries above a threshold; the data are the queries.

    A query that is equal to the threshold is above it. The price does not depend on the number
    of queries, only on the number of stops. With ``c`` stops and sensitivity Δ the threshold
    gets geometric noise of scale ``b_1`` and every query of scale ``b_2``, where ``Δ/b_1 + 2 c
    Δ/b_2 = ε`` (without the 2 if monotone) and ``b_1^2 + b_2^2`` is least.

    The queries are integers, such as counts, shape ``(n,)``, in the order to look at, clamped
    to 2**52. The answer has positions from 0 on, ascending: fewer than ``stops``, possibly
    none, if the queries end before.

    Guarantee:
        ``epsilon``-DP under ``neighbours``, for all answers together. All but the values of the
        queries is public: their number and order. ``sensitivity`` and ``monotone`` must hold
        for every query.

    Attributes:
        threshold: The threshold, an integer. Public.
        sensitivity: The largest change of any query by one neighbour step; an integer, >= 1.
        monotone: Whether every neighbour step moves all queries in one direction, if at all.
            Adding a record moves all counts up or leaves them.
        stops: Maximal number of queries that are found above the threshold; >= 1.
        epsilon: Price of all answers together, in nats; finite, > 0.
        neighbours: The relation that ``sensitivity`` is stated for.

    Source: Dwork and Roth 2014, section 3.6; Lyu, Su and Li, VLDB 2017; Durfee, NeurIPS 2023.

    Examples:
        >>> import dpselect as dp
        >>> alarm = dp.AboveThreshold(
        ...     threshold=100, sensitivity=1, monotone=True, epsilon=2.0,
        ...     neighbours="add-remove",
        ... )
        >>> cases_by_day = [3, 5, 2, 4, 180, 190]
        >>> alarm.release(cases_by_day).answer
        (4,)
    """

    threshold: Annotated[int, validation.integers(-draws.LARGEST, draws.LARGEST)]
    sensitivity: Annotated[int, validation.integers(1)]
    monotone: Annotated[bool, validation.truth] = False
    stops: Annotated[int, validation.integers(1)] = 1
    epsilon: Annotated[float, validation.positive]
    neighbours: NeighboursLike

    def design(self) -> _Thresholds:
        # What is above may also have fallen, unless all queries move in one direction.
        move = self.sensitivity * (1 if self.monotone else 2) * self.stops
        scales = draws.scales_for(self.epsilon, rise=self.sensitivity, move=move)
        of_threshold, of_query = scales
        return _Thresholds(
            plan=Plan(
                mechanism=(
                    f"AboveThreshold(epsilon={self.epsilon!r}), geometric noise of scale "
                    f"{of_threshold:.4g} on the threshold and {of_query:.4g} on each query"
                ),
                spends=(Spend(f"up to {self.stops} stops, with the threshold", self.epsilon),),
                epsilon=self.epsilon,
                neighbours=validation.neighbours(self.neighbours),
                public=(
                    "the threshold",
                    "the sensitivity",
                    "the number and order of the queries",
                ),
                composition="one mechanism: queries that are not found above cost nothing",
            ),
            threshold=self.threshold,
            scales=scales,
            stops=self.stops,
        )


@dataclass(frozen=True, kw_only=True)
class _Thresholds(Design[Release[int]]):
    threshold: int
    scales: tuple[float, float]
    stops: int

    def prepare(self, data: ArrayLike) -> Callable[[Plan], Release[int]]:
        checked = _integers(data)
        return lambda plan: Release(
            tuple(draws.first_above(checked, self.threshold, *self.scales, self.stops)), plan
        )


def _integers(queries: ArrayLike) -> Indices:
    """Return queries as int64, clamped."""
    if isinstance(queries, Sequence) and all(map(validation.is_integer, queries)):
        # Beyond 64 bits whether an array can hold it would depend on its value.
        queries = [min(max(int(one), -draws.LARGEST), draws.LARGEST) for one in queries]
    refusal = ParameterError("`queries` must be integers, such as counts, in one dimension")
    array = replaced(lambda: np.asarray(queries), lambda: refusal)
    if array.ndim != 1 or array.dtype.kind not in ("iu" if array.size else "iuf"):
        raise refusal
    return np.clip(array, -draws.LARGEST, draws.LARGEST).astype(np.int64)
