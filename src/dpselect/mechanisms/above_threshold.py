"""AboveThreshold: the first queries above a public threshold, whatever their number.

It needs no objective: queries are looked at in order, and only those that are found above cost
epsilon. ``docs/above-threshold.md`` says when it is the right mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.draws import above_threshold as draws
from dpselect.errors import ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.plan import Plan, Receipt, Spend, SupportsSpend
from dpselect.release import Release
from dpselect.typing import Indices, Probabilities

LARGEST = 2**52
"""Queries and thresholds beyond are clamped to it."""

IN_ORDER = "the number and order of the queries"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StoppingLaw:
    """The law of a release by AboveThreshold; as private as the queries.

    Attributes:
        probabilities: Shape ``(stops, n + 1)``: the probability that stop ``j`` is at query
            ``i``, and in the last column that there is no such stop.
        false_alarm: The probability that some stop is at a query below the threshold.
    """

    probabilities: Probabilities
    false_alarm: float

    @property
    def expected_queries(self) -> float:
        """The mean number of queries that are looked at until the last stop, or to the end."""
        last = self.probabilities[-1]
        looked_at = np.minimum(np.arange(1, last.size + 1), last.size - 1)
        return float(last @ looked_at)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Public arguments, checked, and the scales of the noise."""

    threshold: int
    sensitivity: int
    monotone: bool
    stops: int
    epsilon: float

    def __post_init__(self) -> None:
        _validate.at_least("threshold", self.threshold, -LARGEST)
        if self.threshold > LARGEST:
            raise ParameterError("threshold must be at most 2**52")
        _validate.at_least("sensitivity", self.sensitivity, 1)
        _validate.at_least("stops", self.stops, 1)
        _validate.positive("epsilon", self.epsilon)

    @property
    def scales(self) -> tuple[float, float]:
        """The scales of the noise on the threshold and on each query."""
        # What is above may also have fallen, unless all queries move in one direction.
        move = self.sensitivity * (1 if self.monotone else 2) * self.stops
        return draws.scales_for(self.epsilon, rise=self.sensitivity, move=move)

    def plan(self, function: str, neighbours: NeighboursLike, queries: str) -> Plan:
        threshold_scale, query_scale = self.scales
        return Plan(
            function=function,
            arguments={
                "threshold": self.threshold,
                "sensitivity": self.sensitivity,
                "monotone": self.monotone,
                "stops": self.stops,
            },
            mechanism=(
                f"AboveThreshold(epsilon={self.epsilon!r}), geometric noise of scale "
                f"{threshold_scale:.4g} on the threshold and {query_scale:.4g} on each query"
            ),
            spends=(Spend(f"up to {self.stops} stops, with the threshold", self.epsilon),),
            epsilon=self.epsilon,
            neighbours=_validate.neighbours(neighbours),
            public=("the threshold", "the sensitivity", queries),
            composition="one mechanism: queries that are not found above cost nothing",
        )


def plan_above_threshold(
    *,
    threshold: int,
    sensitivity: int,
    monotone: bool = False,
    stops: int = 1,
    epsilon: float,
    neighbours: NeighboursLike,
) -> Plan:
    """Return what :func:`release_above_threshold` will spend; needs no data.

    Args:
        threshold: As for the release, and so are the others.
        sensitivity: What one neighbour step changes of a query.
        monotone: Whether a step moves all queries in the same direction.
        stops: How many positions at most.
        epsilon: What the release costs, in nats.
        neighbours: The relation that ``sensitivity`` is stated for.

    Raises:
        ParameterError: An argument is out of range.
        NeighboursError: ``neighbours`` is not a neighbour relation.
    """
    return _Asked(threshold, sensitivity, monotone, stops, epsilon).plan(
        "release_above_threshold", neighbours, IN_ORDER
    )


def release_above_threshold(
    queries: ArrayLike,
    *,
    threshold: int,
    sensitivity: int,
    monotone: bool = False,
    stops: int = 1,
    epsilon: float,
    neighbours: NeighboursLike,
    budget: SupportsSpend | None = None,
) -> Release:
    r"""Release the positions of the first queries above a threshold.

    The price does not depend on the number of queries, only on the number of stops. With
    :math:`c` stops and sensitivity :math:`\Delta` the threshold gets geometric noise of scale
    :math:`b_1` and every query of scale :math:`b_2`, where
    :math:`\Delta/b_1 + 2 c \Delta/b_2 = \varepsilon` (without the 2 if monotone) and
    :math:`b_1^2 + b_2^2` is least.

    Guarantee:
        ``epsilon``-DP under ``neighbours``. All arguments but the values of the queries are
        public, also the number and the order of the queries.

    Args:
        queries: Integers, such as counts, shape ``(n,)``, in the order to look at. Private.
            Clamped to 2**52.
        threshold: An integer. Public.
        sensitivity: The largest change of any query by one neighbour step; an integer, >= 1.
            Public.
        monotone: Whether every neighbour step moves all queries in the same direction, or not
            at all, as adding a record does to counts. Public.
        stops: How many positions at most; >= 1. Public.
        epsilon: What the release costs, in nats; finite, > 0.
        neighbours: The relation that ``sensitivity`` is stated for.
        budget: Where to record the spend, before anything is drawn.

    Returns:
        Positions from 0 on, ascending; fewer than ``stops``, possibly none, if the queries
        end before.

    Raises:
        ParameterError: An argument is out of range, or ``queries`` are not integers in one
            dimension.
        NeighboursError: The budget is for another relation.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Source: Dwork and Roth 2014, section 3.6; Lyu, Su and Li, VLDB 2017; Durfee, NeurIPS 2023.

    Examples:
        >>> from dpselect.mechanisms import release_above_threshold
        >>> cases_by_day = [3, 5, 2, 4, 180, 190]
        >>> release_above_threshold(
        ...     cases_by_day, threshold=100, sensitivity=1, monotone=True, epsilon=2.0,
        ...     neighbours="add-remove",
        ... ).answer
        (4,)
    """
    asked = _Asked(threshold, sensitivity, monotone, stops, epsilon)
    plan = asked.plan("release_above_threshold", neighbours, IN_ORDER)
    checked = _integers(queries)
    receipt = plan.charge(budget)
    found = draws.first_above(checked, asked.threshold, *asked.scales, asked.stops)
    return Release(answer=tuple(found), plan=plan, exact=True).recorded(receipt)


class AboveThreshold:
    """Answer queries one at a time: is this one above the threshold?

    A query may depend on the answers before it. The price of all of them, for up to ``stops``
    answers *yes* and any number of *no*, is recorded when the ``with`` block is entered. The
    threshold gets its noise once and every query its own, as in
    :func:`release_above_threshold`.

    Guarantee:
        ``epsilon``-DP under ``neighbours``, for all answers together. The arguments are public,
        and how each query is chosen by the answers before it; ``sensitivity`` and ``monotone``
        must hold for every query that can be chosen.

    Args:
        threshold: As for :func:`release_above_threshold`, and so are the others.
        sensitivity: The largest change of any query by one neighbour step.
        monotone: Whether a step moves all queries in the same direction.
        stops: How many queries are found above at most.
        epsilon: What all answers cost together, in nats; finite, > 0.
        neighbours: The relation that ``sensitivity`` is stated for.
        budget: Where to record the spend, before anything is drawn.

    Attributes:
        plan: What will be spent; made from public arguments alone.

    Raises:
        ParameterError: An argument is out of range.
        NeighboursError: The budget is for another relation.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Examples:
        >>> from dpselect.mechanisms import AboveThreshold
        >>> with AboveThreshold(
        ...     threshold=100, sensitivity=1, monotone=True, stops=2, epsilon=4.0,
        ...     neighbours="add-remove",
        ... ) as alarm:
        ...     answers = [alarm.is_above(cases) for cases in (3, 180, 5, 260)]
        >>> answers, alarm.release.answer
        ([False, True, False, True], (1, 3))
    """

    def __init__(
        self,
        *,
        threshold: int,
        sensitivity: int,
        monotone: bool = False,
        stops: int = 1,
        epsilon: float,
        neighbours: NeighboursLike,
        budget: SupportsSpend | None = None,
    ) -> None:
        self._asked = _Asked(threshold, sensitivity, monotone, stops, epsilon)
        self._scales = self._asked.scales
        self._budget = budget
        self._stream = draws.Stream()
        self._found: tuple[int, ...] = ()
        self._receipt: Receipt | None = None
        self._release: Release | None = None
        self.plan = self._asked.plan(
            "AboveThreshold", neighbours, "how queries are chosen by the answers before them"
        )

    def __enter__(self) -> Self:
        if self._receipt is not None:
            raise ParameterError("a stream is entered once: its price is that of one threshold")
        self._receipt = self.plan.charge(self._budget)
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def stops_left(self) -> int:
        """How many queries can still be found above; 0 when the stream has ended."""
        return self._asked.stops - len(self._found) if self._release is None else 0

    @property
    def release(self) -> Release:
        """The positions of the queries found above, once the stream has ended.

        Raises:
            ParameterError: It has not.
        """
        if self._release is None:
            raise ParameterError("the stream has not ended: leave its with block first")
        return self._release

    def is_above(self, query: int) -> bool:
        """Return whether a query is found above the threshold.

        Args:
            query: An integer, such as a count. Private. Clamped to 2**52.

        Raises:
            ParameterError: ``query`` is not an integer, or the stream was not entered or has
                ended, with its last stop or with its block.
        """
        if self._receipt is None:
            raise ParameterError("enter the stream first: with AboveThreshold(...) as stream:")
        if self._release is not None:
            raise ParameterError(
                "the stream has ended: all stops are used, or its with block was left"
            )
        if isinstance(query, bool) or not isinstance(query, Integral):
            raise ParameterError("a query must be an integer, such as a count")
        asked, place = self._asked, len(self._stream.queries)
        self._stream.queries.append(min(max(int(query), -LARGEST), LARGEST))
        above = draws.is_above(
            self._stream, asked.threshold, *self._scales, asked.stops, self._found
        )
        if above:
            self._found = (*self._found, place)
        if not self.stops_left:
            self._end()
        return above

    def _end(self) -> None:
        """Keep the answer beside its spend."""
        if self._release is None and self._receipt is not None:
            release = Release(answer=self._found, plan=self.plan, exact=True)
            self._release = release.recorded(self._receipt)


def stopping_law(
    queries: ArrayLike,
    *,
    threshold: int,
    sensitivity: int,
    monotone: bool = False,
    stops: int = 1,
    epsilon: float,
) -> StoppingLaw:
    """Return the exact law of a release by AboveThreshold; as private as the queries.

    Given the noise on the threshold the queries are independent, so it is a sum over that
    noise: O(n) for each of its values, 45 scales of them.

    Args:
        queries: As for :func:`release_above_threshold`, and so are the others.
        threshold: An integer.
        sensitivity: What one neighbour step changes of a query.
        monotone: Whether a step moves all queries in the same direction.
        stops: How many positions at most.
        epsilon: In nats.

    Raises:
        ParameterError: As for the release.
    """
    asked = _Asked(threshold, sensitivity, monotone, stops, epsilon)
    checked = _integers(queries)
    below = checked < asked.threshold
    of_draw = (checked, asked.threshold, *asked.scales, asked.stops)
    to_first_alarm = draws.law_of_stops(*of_draw, ending=below)
    return StoppingLaw(
        probabilities=draws.law_of_stops(*of_draw),
        false_alarm=float(to_first_alarm[:, :-1][:, below].sum()),
    )


def _integers(queries: ArrayLike) -> Indices:
    """Return queries as int64, clamped."""
    if isinstance(queries, Sequence) and all(isinstance(one, int) for one in queries):
        # Beyond 64 bits whether an array can hold it would depend on its value.
        queries = [min(max(one, -LARGEST), LARGEST) for one in queries]
    array = np.asarray(queries)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ParameterError("queries must be integers, such as counts, in one dimension")
    return np.clip(array, -LARGEST, LARGEST).astype(np.int64)
