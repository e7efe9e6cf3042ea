"""Combinations of admissible sensitivities that are admissible.

If ``δ_1, δ_2`` are admissible for one score, so are their maximum and their minimum, a floor by
a public constant and the jump to the bound at a public distance; if ``δ_i`` is admissible for
``u_i``, then ``∑_i |w_i| δ_i`` is for ``∑_i w_i u_i``.

``l1`` is a fact of the scores, whichever sensitivity states it: for one score the smallest
stated one holds; for ``∑_i w_i u_i`` it is ``∑_i |w_i| l_i`` if all are known.

Source: Farias et al., VLDB J. 2023, Lemmas 1 to 3 (pointwise); PrivAgg, Theorem 5.4. Lemma 3
needs the jump to the bound that every ``Sensitivity`` makes at its horizon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect.errors import NeighboursError, ParameterError, SensitivityError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.sensitivity.base import Sensitivity, checked_distances
from dpselect.sensitivity.given import GlobalSensitivity
from dpselect.typing import Indices, Values


def maximum(parts: Sequence[Sensitivity]) -> Sensitivity:
    """Return the pointwise maximum: admissible if every part is, for one score."""
    return _Pointwise(parts, np.maximum.reduce)


def minimum(parts: Sequence[Sensitivity]) -> Sensitivity:
    """Return the pointwise minimum: admissible if every part is, for one score.

    With a ``GlobalSensitivity`` among the parts this caps the others at its bound.
    """
    return _Pointwise(parts, np.minimum.reduce)


def floored(part: Sensitivity, floor: float) -> Sensitivity:
    """Return the maximum of ``part`` and a public constant.

    Where a candidate's sensitivity is 0 at every distance below the horizon, its dampened
    score is at least the horizon, however small the score; a small public floor avoids it.

    Args:
        part: The sensitivity to raise.
        floor: Score units, finite, > 0. Public.
    """
    floor = validation.positive("floor", floor)
    return _Pointwise([part], lambda stack: np.maximum(stack[0], floor))


def jump_to_bound(part: Sensitivity, horizon: int) -> Sensitivity:
    """Return ``part`` with its global bound from the public distance ``horizon`` on."""
    earlier = _Pointwise([part], lambda stack: stack[0])
    earlier.horizon = min(part.horizon, validation.at_least("horizon", horizon, 0))
    return earlier


def grouped(part: Sensitivity, size: int, *, neighbours: NeighboursLike) -> Sensitivity:
    """Return the sensitivity for a relation of which one step is up to ``m`` steps.

        δ'(x, t, r) = ∑_(j<m) δ(x, tm + j, r)

    Admissible if ``part`` is, and does not decrease with the distance, which holds for all
    sensitivities of this library: ``n <= m`` steps change a score by at most the sum of the
    first ``n`` values, and a database ``n`` steps away has at distance ``s`` at most the value
    at ``s + n``. A person who has up to ``m`` edges of a graph is such a step.

    Args:
        part: The sensitivity to one step.
        size: Largest number of steps ``m`` in one step of the new relation; >= 1. Public.
        neighbours: The new relation.
    """
    size = validation.at_least("size", size, 1)
    if isinstance(part, GlobalSensitivity):
        l1 = None if part.l1 is None else size * part.l1
        horizon = -(-part.horizon // size)
        return GlobalSensitivity(size * part.bounds, neighbours, horizon=horizon, l1=l1)
    return _Grouped(part, size, neighbours)


def weighted_sum(parts: Sequence[Sensitivity], weights: ArrayLike) -> Sensitivity:
    """Return ``∑_i |w_i| δ_i``, for the score ``∑_i w_i u_i``.

    Args:
        parts: At least one sensitivity.
        weights: One finite number per part, shape ``(len(parts),)``, not all 0. Public.

    Raises:
        ParameterError: ``weights`` has the wrong length, or is not finite, or all 0.

    Source: PrivAgg, Theorem 5.4 (and scaling by a constant, with one part).
    """
    return _WeightedSum(parts, weights)


class _Pointwise(Sensitivity):
    """One function of the parts' values at each distance."""

    def __init__(
        self, parts: Sequence[Sensitivity], combine: Callable[[Sequence[Values]], Values]
    ) -> None:
        parts = _checked_parts(parts)
        super().__init__(
            combine(np.broadcast_arrays(*(part.bounds for part in parts))),
            parts[0].neighbours,
            max(part.at_bound_from for part in parts),
            l1=min((part.l1 for part in parts if part.l1 is not None), default=None),
        )
        self._parts = parts
        self._combine = combine

    @property
    def flat(self) -> bool:
        return all(part.flat for part in self._parts)

    def _local(self, distance: int) -> Values:
        return self._combine(np.broadcast_arrays(*(part.at(distance) for part in self._parts)))


class _Grouped(Sensitivity):
    """The sum of the part's values at as many distances as one step goes."""

    def __init__(self, part: Sensitivity, size: int, neighbours: NeighboursLike) -> None:
        super().__init__(
            size * part.bounds,
            neighbours,
            -(-part.horizon // size),
            l1=None if part.l1 is None else size * part.l1,
        )
        self._part, self._size = part, size

    @property
    def flat(self) -> bool:
        return self._part.flat

    @property
    def closed_form(self) -> bool:
        return self._part.closed_form

    def _local(self, distance: int) -> Values:
        first = distance * self._size
        return np.sum([self._part.at(first + j) for j in range(self._size)], axis=0)

    def cumulative(self, distance: int | Indices) -> Values:
        if not self.closed_form:
            return super().cumulative(distance)
        return self._part.cumulative(checked_distances(distance) * self._size)

    def shortfall(self) -> Values:
        # Beyond its horizon the part falls short of its bound by 0.
        return self._part.shortfall()

    def leading_zeros(self, positions: Indices, most: int) -> Indices:
        return self._part.leading_zeros(positions, most * self._size) // self._size


class _WeightedSum(Sensitivity):
    """The sum of the parts, with closed forms where every part has one."""

    def __init__(self, parts: Sequence[Sensitivity], weights: ArrayLike) -> None:
        parts = _checked_parts(parts)
        factors = np.abs(np.asarray(weights, dtype=np.float64))
        if factors.shape != (len(parts),) or not np.isfinite(factors).all():
            raise ParameterError(
                f"weights must be {len(parts)} finite numbers, one for each part"
            )
        if not factors.any():
            raise ParameterError("weights must not all be 0")
        bounds = sum(w * part.bounds for w, part in zip(factors, parts, strict=True))
        super().__init__(
            bounds,
            parts[0].neighbours,
            max(part.at_bound_from for part in parts),
            l1=_sum_of_l1(parts, factors),
        )
        self._parts, self._weights = parts, factors

    @property
    def flat(self) -> bool:
        return all(part.flat for part in self._parts)

    @property
    def closed_form(self) -> bool:
        # A part with bounds per candidate jumps to their maximum, the sum to its own.
        return all(part.closed_form and part.bounds.ndim == 0 for part in self._parts)

    def _sum(self, of_part: Callable[[Sensitivity], Values]) -> Values:
        pairs = zip(self._weights, self._parts, strict=True)
        return np.asarray(sum(w * of_part(part) for w, part in pairs))

    def _local(self, distance: int) -> Values:
        return self._sum(lambda part: part.at(distance))

    def cumulative(self, distance: int | Indices) -> Values:
        if not self.closed_form:
            return super().cumulative(distance)
        upto = checked_distances(distance)
        return self._sum(lambda part: part.cumulative(upto))

    def shortfall(self) -> Values:
        if not self.closed_form:
            return super().shortfall()
        return self._sum(lambda part: part.shortfall())

    def leading_zeros(self, positions: Indices, most: int) -> Indices:
        # Of the parts: a weight times a number above 0 may round to 0.
        pairs = zip(self._weights, self._parts, strict=True)
        each = [part.leading_zeros(positions, most) for weight, part in pairs if weight > 0]
        return np.minimum.reduce(each)


def _sum_of_l1(parts: Sequence[Sensitivity], factors: Values) -> float | None:
    known = [
        w * part.l1
        for w, part in zip(factors.tolist(), parts, strict=True)
        if part.l1 is not None
    ]
    return fsum(known) if len(known) == len(parts) else None


def _checked_parts(parts: Sequence[Sensitivity]) -> Sequence[Sensitivity]:
    if not parts:
        raise ParameterError("at least one sensitivity is needed")
    relations: set[Neighbours] = {part.neighbours for part in parts}
    if len(relations) > 1:
        raise NeighboursError(
            "sensitivities under different neighbour relations cannot be combined: "
            + ", ".join(sorted(map(str, relations)))
        )
    try:
        np.broadcast_shapes(*(part.at(0).shape for part in parts))
    except ValueError:
        raise SensitivityError(
            "sensitivities for different numbers of candidates cannot be combined"
        ) from None
    return tuple(parts)
