"""Combinations of admissible sensitivities that are admissible.

If ``δ_1, δ_2`` are admissible for one score, so are their maximum, their minimum and the jump
to the bound at a public distance; if ``δ_i`` is admissible for ``u_i``, then ``∑_i |w_i| δ_i``
is for ``∑_i w_i u_i``.

``l1`` is a fact of the scores, whichever sensitivity states it: for one score the smallest
stated one holds; for ``∑_i w_i u_i`` it is ``∑_i |w_i| l_i`` if all are known.

Source: Farias et al., VLDB J. 2023, Lemmas 1 to 3 (pointwise); PrivAgg, Theorem 5.4. Lemma 3
needs the jump to the bound that every ``Sensitivity`` makes at its horizon.
"""

from collections.abc import Callable, Sequence
from math import fsum
from typing import TypeAlias

from dpselect import validation
from dpselect._optional import np
from dpselect.errors import ParameterError, SensitivityError
from dpselect.neighbours import NeighboursLike
from dpselect.sensitivity.base import GlobalSensitivity, Sensitivity, checked_distances
from dpselect.typing import ArrayLike, Indices, Values

LEAST = 5e-324
"""The least float above 0."""


def maximum(parts: Sequence[Sensitivity]) -> Sensitivity:
    """Return the pointwise maximum: admissible if every part is, for one score.

    A ``GlobalSensitivity`` among the parts is a public floor. Where a candidate's sensitivity
    is 0 at every distance below the horizon, its dampened score is at least the horizon,
    however small the score; a small floor avoids it.
    """
    return _of_one_score(parts, np.maximum.reduce)


def minimum(parts: Sequence[Sensitivity]) -> Sensitivity:
    """Return the pointwise minimum: admissible if every part is, for one score.

    With a ``GlobalSensitivity`` among the parts this caps the others at its bound.
    """
    return _of_one_score(parts, np.minimum.reduce)


def jump_to_bound(part: Sensitivity, horizon: int) -> Sensitivity:
    """Return ``part`` with its global bound from the public distance ``horizon`` on."""
    earlier = _of_one_score([part], lambda stack: stack[0])
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
    parts = _checked_parts(parts)
    factors = np.abs(validation.floats("weights", weights))
    if factors.shape != (len(parts),) or not np.isfinite(factors).all():
        raise ParameterError(f"weights must be {len(parts)} finite numbers, one for each part")
    if not factors.any():
        raise ParameterError("weights must not all be 0")

    def total(values: Sequence[Values]) -> Values:
        # What is above 0 stays so, however small its weight: it ends the lead of a score of 0.
        return sum(
            np.maximum(weight * value, LEAST * np.sign(weight * np.sign(value)))
            for weight, value in zip(factors, values, strict=True)
        )

    terms = zip(factors.tolist(), parts, strict=True)
    known = [weight * part.l1 for weight, part in terms if part.l1 is not None]
    return _combined(parts, total, fsum(known) if len(known) == len(parts) else None, adds=True)


Combine: TypeAlias = Callable[[Sequence[Values]], Values]
"""From the values of several parts, of equal shapes, to those of their combination."""


def _of_one_score(parts: Sequence[Sensitivity], combine: Combine) -> Sensitivity:
    known = [part.l1 for part in parts if part.l1 is not None]
    return _combined(parts, combine, min(known, default=None))


def _combined(
    parts: Sequence[Sensitivity], combine: Combine, l1: float | None, *, adds: bool = False
) -> Sensitivity:
    """Return the combination; of one number for each part, and all candidates, one number."""
    parts = _checked_parts(parts)
    if all(map(_is_one_number, parts)):
        bounds = combine([part.bounds for part in parts])
        return GlobalSensitivity(bounds, parts[0].neighbours, l1=l1)
    return _Combined(parts, combine, l1, adds=adds)


def _is_one_number(part: Sensitivity) -> bool:
    return isinstance(part, GlobalSensitivity) and part.flat


class _Combined(Sensitivity):
    """One function of the parts' values at each distance; of their sums too, if it ``adds``."""

    def __init__(
        self,
        parts: Sequence[Sensitivity],
        combine: Combine,
        l1: float | None,
        *,
        adds: bool = False,
    ) -> None:
        self._parts, self._combine = parts, combine
        # From there on all values are the bound: of one number for all, they always are.
        horizon = max(one.horizon for one in parts if not _is_one_number(one))
        bounds = self._of(lambda part: part.bounds)
        super().__init__(bounds, parts[0].neighbours, horizon, l1=l1)
        self.flat = all(part.flat for part in parts)
        # A part with bounds per candidate jumps to their maximum, the sum to its own.
        closed = all(part.closed_form and part.bounds.ndim == 0 for part in parts)
        self.closed_form = adds and closed

    def _of(self, values: Callable[[Sensitivity], Values]) -> Values:
        return self._combine(np.broadcast_arrays(*map(values, self._parts)))

    def _local(self, distance: int) -> Values:
        return self._of(lambda part: part.at(distance))

    def cumulative(self, distance: int | Indices) -> Values:
        if not self.closed_form:
            return super().cumulative(distance)
        upto = checked_distances(distance)
        return self._of(lambda part: part.cumulative(upto))


class _Grouped(Sensitivity):
    """The sum of the part's values at as many distances as one step goes."""

    def __init__(self, part: Sensitivity, size: int, neighbours: NeighboursLike) -> None:
        super().__init__(
            size * part.bounds,
            neighbours,
            -(-part.horizon // size),
            l1=None if part.l1 is None else size * part.l1,
        )
        self.flat, self.closed_form = part.flat, part.closed_form
        self._part, self._size = part, size

    def _local(self, distance: int) -> Values:
        first = distance * self._size
        return np.sum([self._part.at(first + j) for j in range(self._size)], axis=0)

    def cumulative(self, distance: int | Indices) -> Values:
        if not self.closed_form:
            return super().cumulative(distance)
        return self._part.cumulative(checked_distances(distance) * self._size)


def _checked_parts(parts: Sequence[Sensitivity]) -> Sequence[Sensitivity]:
    if not parts:
        raise ParameterError("at least one sensitivity is needed")
    validation.one_relation("combined sensitivities", (part.neighbours for part in parts))
    try:
        np.broadcast_shapes(*(part.at(0).shape for part in parts))
    except ValueError:
        raise SensitivityError(
            "sensitivities for different numbers of candidates cannot be combined"
        ) from None
    return tuple(parts)
