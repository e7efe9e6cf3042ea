"""Sensitivity functions and their sums over the distances.

A sensitivity function ``δ(x, t, r)`` bounds what one neighbour step can change of the score of
candidate ``r`` in any database within distance ``t`` of ``x``. It is *admissible* if, for all
neighbours ``x ~ y`` and all ``t ≥ 0``,

1. ``δ(x, 0, r) ≥ LS(x, 0, r) = max_(y ~ x) |u(x, r) - u(y, r)|``,
2. ``δ(x, t + 1, r) ≥ δ(y, t, r)``.

One is given as a bound, as a function of the distance, or as a table. Centralities of a graph
are looked up in one table, at a key per candidate plus the distance: ``δ(x, t, v) = g(d(v) +
t)``. One prefix sum of the table gives the sums of every candidate at every distance, without a
loop over either.

Source: Farias et al., VLDB J. 2023, Definitions 5 and 6 (the ``y`` of condition 2 is
missing in the paper).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypedDict, Unpack

from dpselect import validation
from dpselect._optional import np
from dpselect.errors import ParameterError, SensitivityError
from dpselect.neighbours import NeighboursLike
from dpselect.sensitivity.summation import RunningSum, prefix_sums
from dpselect.typing import Array, ArrayLike, Indices, Values

UNBOUNDED = 2**20
"""Horizon taken when none is given: far beyond the distances that dampening visits."""


SMALLEST_BOUND, LARGEST_BOUND = 1e-200, 1e200
"""Range of bounds, in which quotients by a bound keep their digits."""


class Interval(NamedTuple):
    """The place of heights among the sums ``0 = b_0 <= b_1 <= ...`` of a sensitivity."""

    steps: Values
    """Shape ``(n,)``: the largest ``i`` up to the horizon with ``b_i <= height``."""

    start: Values
    """Shape ``(n,)``: ``b_i``."""

    width: Values
    """Shape ``(n,)``: the sensitivity at distance ``i``, that is ``b_{i+1} - b_i``."""


class Sensitivity(ABC):
    """A sensitivity function with a public bound and a public horizon.

    From the horizon ``T^*`` on, ``at`` is the global bound Δ; any public ``T^*`` keeps an
    admissible function admissible, and without one the limit of the shifted mechanism can
    ignore the scores. Below it, values are cut at ``Δ_r``, which keeps admissibility too.

    A subclass gives ``_local``. The sums here work for any of them, in one pass over the
    distances and in memory of a few numbers per candidate; a subclass with a closed form
    overrides ``cumulative`` and sets ``closed_form``, and ``shortfall`` and ``locate`` then use
    it.

    Args:
        bounds: Global sensitivity ``Δ_r``: one number, or shape ``(n,)``; score units, from
            1e-200 to 1e200. Public.
        neighbours: The neighbour relation. Public.
        horizon: The distance ``T^* ≥ 0``. Public.
        l1: Largest change of all scores together by one neighbour step, ``max_(x ~ y) ∑_r |u(x,
            r) - u(y, r)|``, or more; score units, finite, > 0. It is 2 for the degrees of a
            graph under one edge, ``m`` for counts of records with at most ``m`` values each
            under add/remove. None where nothing better is known than the sum of the bounds.
            Public.

    Attributes:
        bound: ``Δ = max_r Δ_r``.

    Raises:
        ParameterError: ``horizon`` is not an integer >= 0, or ``l1`` is out of its range.
        SensitivityError: A bound is not a number from 1e-200 to 1e200, or they have more
            than one dimension.
        NeighboursError: ``neighbours`` is not a neighbour relation.
    """

    flat: bool = False
    """Whether all candidates have the same sensitivity at every distance; public.

    A fact of the class and of public arguments, never of the data: scalings choose their form
    by it.
    """

    closed_form: bool = False
    """Whether ``cumulative`` costs the same at every distance."""

    def __init__(
        self,
        bounds: ArrayLike,
        neighbours: NeighboursLike,
        horizon: int = UNBOUNDED,
        *,
        l1: float | None = None,
    ) -> None:
        self._stated = bounds
        is_one = isinstance(bounds, int | float) and SMALLEST_BOUND <= bounds <= LARGEST_BOUND
        self.bound = float(bounds if is_one else self.bounds.max())  # type: ignore[arg-type] # one
        self.neighbours = validation.neighbours(neighbours)
        self.horizon = validation.at_least("horizon", horizon, 0)
        self.l1 = None if l1 is None else validation.positive("l1", l1)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(bound={self.bound:g}, neighbours={self.neighbours}, "
            f"horizon={self.horizon})"
        )

    @cached_property
    def bounds(self) -> Values:
        """``Δ_r``: 0-d, or shape ``(n,)``."""
        return _checked_bounds(self._stated)

    def take(self, positions: Indices) -> Sensitivity:
        """Return the sensitivity of some candidates, in the order of ``positions``."""
        return self if self.flat else _Taken(self, positions)

    @abstractmethod
    def _local(self, distance: int) -> ArrayLike:
        """Return the function before it is cut at the bounds and at the horizon."""

    def at(self, distance: int) -> Values:
        """Return ``δ(x, t, r)`` for ``t = distance``.

        Returns:
            0-d if ``flat`` (or the horizon is 0), else shape ``(n,)``; finite, >= 0. As private
            as the scores.

        Raises:
            ParameterError: ``distance`` is not an integer >= 0.
            SensitivityError: The function gave a negative number, NaN, or a wrong shape.
        """
        distance = validation.at_least("distance", distance, 0)
        if distance >= self.horizon:
            return np.broadcast_to(self.bound, self._shape)
        local = self._local(distance)
        if local is self.bounds:
            return self.bounds
        delta = np.minimum(_checked_values(local), self.bounds)
        return delta if delta.shape == self._shape else np.broadcast_to(delta, self._shape)

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        """``()`` if flat, else ``(n,)``."""
        if self.flat or self.horizon == 0:
            return self.bounds.shape
        return np.broadcast_shapes(self.bounds.shape, np.shape(self._local(0)))

    def cumulative(self, distance: int | Indices) -> Values:
        """Return ``b_t = ∑_(j<t) δ(x, j, r)``.

        Args:
            distance: ``t``: an integer >= 0, or one per candidate, shape ``(n,)``.

        Returns:
            One sum per candidate; 0-d only if ``flat`` and ``t`` is one number.
        """
        upto = checked_distances(distance)
        inside = np.minimum(upto, self.horizon)
        running = RunningSum()
        for j in range(int(inside.max())):
            running.add(np.where(j < inside, self.at(j), 0.0))
        return running.total + (upto - inside) * self.bound

    def sums(self, distances: Indices) -> Values:
        """Return ``cumulative`` at several distances for all candidates.

        Args:
            distances: Integers >= 0, shape ``(d,)``.

        Returns:
            Shape ``(d, n)``, or ``(d, 1)`` if ``flat``.
        """
        return np.stack([np.atleast_1d(self.cumulative(int(t))) for t in distances])

    def shortfall(self) -> Values:
        """Return ``∑_(t<T^*) (Δ - δ(x, t, r))``, one per candidate.

        The limit of the shifted mechanism depends on a sensitivity through this alone. One pass
        over the distances, or ``T^* Δ - b_(T^*)`` where the sums are a closed form.
        """
        if self.closed_form:
            return self.horizon * self.bound - self.cumulative(self.horizon)
        running = RunningSum()
        for t in range(self.horizon):
            running.add(self.bound - self.at(t))
        return running.total

    def locate(self, heights: Values) -> Interval:
        """Return the interval of the sums ``b_i`` that each height falls into.

        By doubling and bisection over ``cumulative`` where it is a closed form, else by one
        pass over the distances that ends as soon as every height is passed.

        Args:
            heights: Shape ``(n,)``, >= 0. A height of 0 is in the interval of any of the first
                sums that are 0: ``leading_zeros`` counts them.
        """
        return _bisect(self, heights) if self.closed_form else _walk(self, heights)

    def leading_zeros(self, positions: Indices, most: int) -> Indices:
        """Return at how many distances, from 0 on, a candidate's sensitivity is 0.

        By the values and not by sums of them: of which number the first is above 0 does not
        depend on how small it is.

        Args:
            positions: Which candidates, shape ``(m,)``.
            most: Where the count ends, >= 0. Public.

        Returns:
            Shape ``(m,)``, up to ``most`` and the horizon. As private as the scores.
        """
        found = np.zeros(positions.size, dtype=np.int64)
        left = np.arange(positions.size)
        for distance in range(min(most, self.horizon)):
            values = self.at(distance)
            values = values[positions[left]] if values.ndim else values.repeat(left.size)
            left = left[values == 0]
            if left.size == 0:
                break
            found[left] += 1
        return found


class Public(TypedDict, total=False):
    """What else can be public of a sensitivity, as ``Sensitivity`` takes it."""

    horizon: int
    l1: float | None


class GlobalSensitivity(Sensitivity):
    """The largest change of a score between any two neighbouring databases.

    Args:
        bound: Δ, or one ``Δ_r`` per candidate, shape ``(n,)``, as ``GeneralizedExponential``
            uses them; score units, finite, > 0. Public: it must hold for every database and not
            be read off the data.
        neighbours: The neighbour relation that the bound holds for.
        horizon: As for every sensitivity; it matters only where the bounds differ.
        l1: Largest change of all scores together by one neighbour step, if that is known: ``m``
            for counts of records with at most ``m`` values each. Score units. Public.

    Raises:
        SensitivityError: A bound is not finite and > 0, or has more than one dimension.
        ParameterError: ``l1`` is not finite and > 0.

    Source: Dwork and Roth 2014, Definition 3.1; one per candidate: Raskhodnikova and Smith,
        arXiv:1504.07912.
    """

    closed_form = True

    def __init__(
        self, bound: ArrayLike, neighbours: NeighboursLike, **public: Unpack[Public]
    ) -> None:
        super().__init__(bound, neighbours, **public)
        self.flat = type(bound) in {int, float} or self.bounds.ndim == 0

    def _local(self, distance: int) -> Values:  # noqa: ARG002 -- the same at every distance
        return self.bounds

    def cumulative(self, distance: int | Indices) -> Values:
        upto = checked_distances(distance)
        inside = np.minimum(upto, self.horizon)
        return inside * self.bounds + (upto - inside) * self.bound


class _OfDistance(Sensitivity):
    """What a function of the distance returns."""

    def __init__(
        self,
        at: Callable[[int], ArrayLike],
        bound: ArrayLike,
        neighbours: NeighboursLike,
        **public: Unpack[Public],
    ) -> None:
        super().__init__(bound, neighbours, **public)
        self._at = at

    def _local(self, distance: int) -> ArrayLike:
        return self._at(distance)


class LocalSensitivity(_OfDistance):
    """A sensitivity function that does not depend on the candidate.

    Args:
        at: ``at(t)`` is one number for all candidates, ``δ(x, t) ≥ max_r LS(x, t, r)``, for an
            integer ``t >= 0``; score units, >= 0, non-decreasing. Private: it may read the
            data. Where it is 0 it must be 0 exactly, since a score of 0 leads by the distances
            at which it is.
        bound: Global sensitivity Δ; finite, > 0. Public.
        neighbours: The neighbour relation.
        horizon: Public distance from which on the bound is used.
        l1: As for ``GlobalSensitivity``.

    Source: Farias et al., VLDB J. 2023, Definition 5.
    """

    flat = True

    def _local(self, distance: int) -> ArrayLike:
        found = super()._local(distance)
        if np.ndim(found):
            raise SensitivityError(
                "`at` must return one number for all candidates; for one of each give an "
                "ElementSensitivity"
            )
        return found


class ElementSensitivity(_OfDistance):
    """A sensitivity function that differs between candidates.

    Args:
        at: ``at(t)`` is ``δ(x, t, r)`` for all candidates, shape ``(n,)``, for an integer ``t
            >= 0``; score units, >= 0, non-decreasing in ``t``. Private: it may read the data.
            Where it is 0 it must be 0 exactly, as for ``LocalSensitivity``. Check it with
            ``dpselect.audit.check_admissible``.
        bound: Global sensitivity Δ, or one per candidate, shape ``(n,)``; finite, > 0. Public.
        neighbours: The neighbour relation.
        horizon: Public distance ``T^*`` from which on the bound is used, by default 2^20. Any
            is admissible; state it where the shifted mechanism is used, which depends on it.
        l1: As for ``GlobalSensitivity``.

    Source: Farias et al., VLDB J. 2023, Definitions 5 and 6.
    """


def at_bound(bound: float, *, neighbours: NeighboursLike) -> ElementSensitivity:
    """Return what is public of a sensitivity that differs between candidates: its bound."""
    return ElementSensitivity(lambda _: bound, bound, neighbours, horizon=0)


class TabulatedSensitivity(Sensitivity):
    """The sensitivity ``δ(x, t, r) = g(κ_r + t)``.

    Args:
        table: The values ``g(0), g(1), ...``; >= 0, non-decreasing, the last > 0; shape
            ``(m,)``. Beyond its end the last value is taken.
        keys: The key ``κ_r ≥ 0`` of each candidate; integers, shape ``(n,)``. Private.
        bound: Global sensitivity Δ; finite, > 0. Public.
        neighbours: The neighbour relation.
        horizon: Public distance from which on the bound is used.
        l1: As for ``GlobalSensitivity``.

    Raises:
        SensitivityError: ``table`` is empty, negative, all 0 or decreases; or a key is not
            an integer >= 0.
    """

    closed_form = True

    def __init__(
        self,
        table: ArrayLike,
        keys: ArrayLike,
        bound: float,
        neighbours: NeighboursLike,
        **public: Unpack[Public],
    ) -> None:
        super().__init__(bound, neighbours, **public)
        self._table = np.minimum(_checked_table(table), self.bound)
        self._keys = _checked_keys(keys)
        self._last = self._table.size - 1
        self._sums = prefix_sums(self._table)

    def _local(self, distance: int) -> Values:
        return self._table[np.minimum(self._keys + distance, self._last)]

    def _sum_upto(self, key: Indices) -> Values:
        """Return ``g(0) + ... + g(key - 1)``."""
        inside = np.minimum(key, self._last)
        return self._sums[inside] + (key - inside) * self._table[-1]

    def cumulative(self, distance: int | Indices) -> Values:
        upto = checked_distances(distance)
        inside = np.minimum(upto, self.horizon)
        tabled = self._sum_upto(self._keys + inside) - self._sum_upto(self._keys)
        return tabled + (upto - inside) * self.bound

    def locate(self, heights: Values) -> Interval:
        # A candidate's sums are a stretch of one increasing table, from its key on: a search
        # for base + height replaces the bisection over t (317,080 nodes: 8 ms instead of
        # 0.15 s). Beyond the table the last value is added at every step.
        base = self._sum_upto(self._keys)
        beyond = (base + heights - self._sums[self._last]) / self._table[-1]
        key = np.searchsorted(self._sums, base + heights, side="right") - 1
        key = np.where(beyond >= 0, self._last + np.floor(beyond), key)
        steps = np.clip(key - self._keys, 0, self.horizon).astype(np.int64)
        width = np.where(
            steps < self.horizon,
            self._table[np.minimum(self._keys + steps, self._last)],
            self.bound,
        )
        return Interval(steps.astype(np.float64), self.cumulative(steps), width)


class _Taken(Sensitivity):
    """Some of the candidates of a sensitivity that is not flat."""

    def __init__(self, whole: Sensitivity, positions: Indices) -> None:
        bounds = whole.bounds[positions] if whole.bounds.ndim else whole.bounds
        super().__init__(bounds, whole.neighbours, whole.horizon, l1=whole.l1)
        self.bound = whole.bound
        self.closed_form = whole.closed_form
        self._whole, self._positions = whole, positions

    def take(self, positions: Indices) -> Sensitivity:
        return _Taken(self._whole, self._positions[positions])

    def _local(self, distance: int) -> Values:
        return self._of(self._whole.at(distance))

    at = _local  # the whole is checked, and cut at its bounds and horizon

    def cumulative(self, distance: int | Indices) -> Values:
        upto = checked_distances(distance)
        return self._of(self._whole.cumulative(self._spread(upto) if upto.ndim else upto))

    def shortfall(self) -> Values:
        return self._of(self._whole.shortfall())

    def locate(self, heights: Values) -> Interval:
        return Interval(*map(self._of, self._whole.locate(self._spread(heights))))

    def leading_zeros(self, positions: Indices, most: int) -> Indices:
        return self._whole.leading_zeros(self._positions[positions], most)

    def _of(self, values: Values) -> Values:
        return values[self._positions] if values.ndim else values

    def _spread(self, numbers: Array) -> Array:
        """Return numbers of some candidates as of all, 0 for the others."""
        # One number may stand for all, however many there are; at a horizon of 0 it does.
        known = max(self._whole.at(0).size, self._whole.cumulative(0).size)
        size = max(known, int(self._positions.max()) + 1)
        everyone = np.zeros(size, dtype=numbers.dtype)
        everyone[self._positions] = numbers
        return everyone


def _walk(sensitivity: Sensitivity, heights: Values) -> Interval:
    steps, start, width = (np.zeros(heights.shape) for _ in range(3))
    running = RunningSum()
    inside = np.ones(heights.shape, dtype=bool)
    for t in range(sensitivity.horizon + 1):
        below = np.broadcast_to(running.total, heights.shape)
        inside = inside & (below <= heights)
        if not inside.any():
            break
        delta = np.broadcast_to(sensitivity.at(t), heights.shape)
        steps[inside], start[inside], width[inside] = t, below[inside], delta[inside]
        running.add(delta)
    return Interval(steps, start, width)


def _bisect(sensitivity: Sensitivity, heights: Values) -> Interval:
    horizon = sensitivity.horizon
    low = np.zeros(heights.shape, dtype=np.int64)
    high = np.ones(heights.shape, dtype=np.int64)
    while True:
        short = (high <= horizon) & (sensitivity.cumulative(high) <= heights)
        if not short.any():
            break
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
    high = np.minimum(high, horizon + 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        reached = sensitivity.cumulative(middle) <= heights
        low, high = np.where(reached, middle, low), np.where(reached, high, middle)
    start = sensitivity.cumulative(low)
    # Beyond the horizon the sums grow by the bound, which their difference would round.
    width = np.where(low < horizon, sensitivity.cumulative(low + 1) - start, sensitivity.bound)
    return Interval(low.astype(np.float64), start, width)


def checked_distances(distance: int | Indices) -> Indices:
    """Return distances as integers, a number as a 0-d array."""
    upto = np.asarray(distance)
    if upto.dtype.kind not in "iu" or upto.ndim > 1 or (upto < 0).any():
        raise ParameterError("distance must be integers >= 0, at most one per candidate")
    return upto.astype(np.int64)


def _check_shape(what: str, values: Values, *, empty: bool = False) -> None:
    if values.ndim > 1 or empty:
        raise SensitivityError(
            f"{what} must be one number, or one for each candidate; the shape is {values.shape}"
        )


def _checked_bounds(bounds: ArrayLike) -> Values:
    values = validation.floats("bounds", bounds, SensitivityError).copy()
    _check_shape("a bound", values, empty=values.size == 0)
    if not ((values >= SMALLEST_BOUND) & (values <= LARGEST_BOUND)).all():
        raise SensitivityError(
            f"a bound must be finite and > 0, from {SMALLEST_BOUND:g} to {LARGEST_BOUND:g}"
        )
    values.setflags(write=False)
    return values


def _checked_values(values: ArrayLike) -> Values:
    delta = validation.floats("a sensitivity", values, SensitivityError)
    _check_shape("a sensitivity", delta)
    if not (delta >= 0).all():
        raise SensitivityError("a sensitivity must be >= 0 and not NaN")
    return delta


def _checked_table(table: ArrayLike) -> Values:
    values = validation.floats("values of a table", table, SensitivityError)
    if values.ndim != 1 or values.size == 0 or not values[-1] > 0:
        raise SensitivityError("table must be a non-empty vector whose last number is > 0")
    if not (np.diff(values, prepend=0.0) >= 0).all():
        raise SensitivityError("table must hold non-decreasing numbers >= 0")
    return values


def _checked_keys(keys: ArrayLike) -> Indices:
    values = np.asarray(keys)
    if values.ndim != 1 or values.dtype.kind not in "iu" or (values < 0).any():
        raise SensitivityError("keys must be a vector of integers >= 0")
    return values.astype(np.int64)
