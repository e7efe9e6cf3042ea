"""AboveThreshold: the first queries above a public threshold, whatever their number.

It needs no objective: queries are looked at in order, and only those that are found above cost
epsilon. ``docs/own.md`` says when it is the right mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect.budget.store import PaidOnce
from dpselect.draws import above_threshold as draws
from dpselect.errors import ParameterError, replaced
from dpselect.neighbours import NeighboursLike
from dpselect.plan import Plan, Receipt, Spend, SupportsSpend
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
    to 2**52. Where a query depends on the answers before it, ``stream`` takes them one at a
    time. The answer has positions from 0 on, ascending: fewer than ``stops``, possibly none, if
    the queries end before.

    Guarantee:
        ``epsilon``-DP under ``neighbours``, for all answers together. All but the values of the
        queries is public: their number and order, or how each is chosen by the answers before
        it. ``sensitivity`` and ``monotone`` must hold for every query that can be chosen.

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
                    (
                        "the number and order of the queries, or how each is chosen by answers "
                        "before"
                    ),
                ),
                composition="one mechanism: queries that are not found above cost nothing",
            ),
            threshold=self.threshold,
            scales=scales,
            stops=self.stops,
        )

    def stream(self, *, budget: SupportsSpend | None = None) -> Stream:
        """Return a context that answers queries one at a time.

        Args:
            budget: Where the price of all answers is recorded, when the context is entered.
        """
        return Stream(self.plan, self.design(), budget)


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


class Stream(PaidOnce):
    """Queries that come one at a time: is this one above the threshold?

    ``AboveThreshold.stream`` makes it. The price is recorded when the ``with`` block is
    entered. Threads may share a stream; a copy of it is the stream itself, it cannot be
    pickled, and it belongs to the process that made it, since the noise on the threshold is
    drawn once and each answer is charged once.

    Examples:
        >>> import dpselect as dp
        >>> query = dp.AboveThreshold(
        ...     threshold=100, sensitivity=1, monotone=True, stops=2, epsilon=4.0,
        ...     neighbours="add-remove",
        ... )
        >>> with query.stream() as alarm:
        ...     answers = [alarm.is_above(cases) for cases in (3, 180, 5, 260)]
        >>> answers, alarm.release.answer
        ([False, True, False, True], (1, 3))
    """

    def __init__(self, plan: Plan, design: _Thresholds, budget: SupportsSpend | None) -> None:
        super().__init__("stream")
        self._plan, self._design, self._budget = plan, design, budget
        self._secret = draws.Stream()
        self._found: tuple[int, ...] = ()
        self._receipt: Receipt | None = None
        self._release: Release[int] | None = None

    def __enter__(self) -> Self:
        with self._alone():
            if self._receipt is not None:
                raise ParameterError(
                    "a stream can be entered once: each threshold has a price of its own"
                )
            self._receipt = self._plan.reserve(self._budget)()
        return self

    def __exit__(self, *_: object) -> None:
        with self._alone():
            self._end()

    @property
    def stops_left(self) -> int:
        """Number of queries that can still be found above; 0 after the end of the stream."""
        return self._design.stops - len(self._found) if self._release is None else 0

    @property
    def release(self) -> Release[int]:
        """The positions of the queries found above, once the stream has ended.

        Raises:
            ParameterError: The stream has not ended.
        """
        if self._release is None:
            raise ParameterError("the stream has not ended: leave its with block first")
        return self._release

    def is_above(self, query: int) -> bool:
        """Return whether a query is found above the threshold, or equal to it.

        Args:
            query: An integer, such as a count. Private. Clamped to 2**52.

        Raises:
            ParameterError: ``query`` is not an integer, or the stream was not entered or has
                ended, with its last stop or with its block.
            BudgetError: The stream belongs to another process.
        """
        if not validation.is_integer(query):
            raise ParameterError("`query` must be an integer, such as a count")
        with self._alone():
            if self._receipt is None:
                raise ParameterError("enter the stream first: with query.stream() as stream:")
            if self._release is not None:
                raise ParameterError(
                    "the stream has ended: all stops are used, or its with block was left"
                )
            made, place = self._design, len(self._secret.queries)
            self._secret.queries.append(min(max(int(query), -draws.LARGEST), draws.LARGEST))
            above = draws.is_above(
                self._secret, made.threshold, *made.scales, made.stops, self._found
            )
            if above:
                self._found = (*self._found, place)
            if not self.stops_left:
                self._end()
        return above

    def _end(self) -> None:
        """Keep the answer beside its spend."""
        if self._release is None and self._receipt is not None:
            self._release = Release(self._found, self._plan).recorded(self._receipt)


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
