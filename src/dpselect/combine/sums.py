r"""Weighted sums of objectives.

Source: Farias et al., PrivAgg, section 5.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import frexp, fsum
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect._twofold import Twofold, add, exact_product
from dpselect.combine.score_range import aligned
from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.objective import Facts, Objective
from dpselect.sensitivity import GlobalSensitivity, Sensitivity, maximum, weighted_sum as summed
from dpselect.typing import Direction

Known = TypeVar("Known", Objective, Facts)

LARGEST_SCORE = 2.0**58
"""Scores are cut here, in units of their bound: a public range, which moves no step further."""

ROUNDING = 2.0**-40
"""What rounding two sums changes of them, in units of the weighted bounds."""


def weighted_sum(
    objectives: Sequence[Objective], weights: ArrayLike, *, monotone: bool = False
) -> Objective:
    """Return ``∑_i w_i u_i``, with the sensitivity ``∑_i |w_i| δ_i``.

    PrivAgg is a mechanism on this objective; its global version is ``ExponentialMechanism``,
    its local one ``LocalDampening``.

    Guarantee:
        What the mechanism states, under the objectives' neighbour relation. Public: the
        weights and what is public of each objective.

    Args:
        objectives: At least one, for the same candidates in the same order.
        weights: One finite number per objective, not all 0. Public.
        monotone: Whether every neighbour step moves all the weighted scores ``w_i u_i(r)`` of
            all objectives in the same direction, as adding a record does to counts with
            positive weights. Public. It does not follow from each objective being monotone: one
            may rise where another falls.

    Returns:
        The sum. Its ``highest`` is the sum of the parts' ``highest`` times their weights, if
        all weights are positive and all parts state one. Its ``direction`` is stated only of
        one term, or if the sensitivity is the same for all candidates: directions of several
        terms say nothing of their sum. Its ``step`` is 1 where the weights and the steps of all
        parts are whole numbers.

    Raises:
        ParameterError: No objective, different candidates, weights that are not one finite
            number per objective or all 0, or ``monotone`` claimed for objectives that are
            not monotone themselves.
        NeighboursError: Different neighbour relations.

    Source: Farias et al., PrivAgg, Theorems 5.3 (global) and 5.4 (local).

    Examples:
        >>> import dpselect as dp
        >>> one, two = (dp.GlobalSensitivity(d, dp.Neighbours.EDGE) for d in (1, 2))
        >>> parts = [dp.Objective([5, 9], one), dp.Objective([7, 2], two)]
        >>> total = dp.weighted_sum(parts, [1, 10])
        >>> total.scores, total.sensitivity.bound
        (array([75., 29.]), 21.0)
    """
    terms = _Terms.of(aligned(objectives), weights)
    if monotone and not terms.monotone:
        raise ParameterError(
            "monotone can only be claimed for objectives that are monotone themselves"
        )
    return terms.facts(terms.summed(), monotone=monotone).of(*_scores(terms))


def weighted_sum_facts(parts: Sequence[Facts], weights: ArrayLike) -> Facts:
    """Return what is public of the weighted sum of objectives of which these are the facts.

    Raises:
        ParameterError: As for ``weighted_sum``.
    """
    terms = _Terms.of(parts, weights)
    return terms.facts(terms.summed())


def disjoint_sum(objectives: Sequence[Objective], weights: ArrayLike) -> Objective:
    """Return ``∑_i w_i u_i`` for objectives of which each individual affects only one.

    If each record (or edge) can change the scores of one objective only, as a record is either
    positive or negative and counts for the true positives or for the true negatives, one step
    changes one term of the sum: ``max_i |w_i| δ_i`` replaces the sum of ``weighted_sum``, and
    ``max_i |w_i| l_i`` its ``l1``. If each objective is monotone, so is the result, whatever
    the signs of the weights.

    Guarantee:
        As for ``weighted_sum``, if for every neighbour step there is one objective outside of
        which no score changes. A denominator that all records share breaks this.

    Args:
        objectives: At least one, for the same candidates in the same order, under add/remove
            or edge neighbours.
        weights: One finite number per objective, not all 0. Public.

    Returns:
        The sum, with ``highest``, ``direction`` and ``step`` as of ``weighted_sum``.

    Raises:
        ParameterError: As for ``weighted_sum``.
        NeighboursError: Different neighbour relations, or substitution or swap, where one
            step is two changes, which may concern two objectives.

    Examples:
        >>> import dpselect as dp
        >>> count = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
        >>> parts = [dp.Objective([5, 9], count), dp.Objective([7, 2], count)]
        >>> dp.disjoint_sum(parts, [1, 10]).sensitivity.bound
        10.0
    """
    terms = _Terms.of(aligned(objectives), weights)
    if (step := terms.parts[0].neighbours) not in {Neighbours.ADD_REMOVE, Neighbours.EDGE}:
        raise NeighboursError(
            f"a {step} step is two changes and may concern two objectives; use weighted_sum"
        )
    return terms.facts(terms.largest(), monotone=terms.monotone).of(*_scores(terms))


def weighted(objectives: Sequence[Objective], weights: ArrayLike) -> list[Objective]:
    """Return each objective times its weight, without those of weight 0.

    Raises:
        ParameterError: As for ``weighted_sum``.
        NeighboursError: Different neighbour relations.
    """
    return [
        part if factor == 1 else weighted_sum([part], [factor])
        for part, factor in _Terms.of(aligned(objectives), weights)
    ]


@dataclass(frozen=True)
class _Terms(Generic[Known]):
    """Objectives, or what is public of them, with weights that are not 0."""

    parts: Sequence[Known]
    factors: Sequence[float]

    @classmethod
    def of(cls, parts: Sequence[Known], weights: ArrayLike) -> _Terms[Known]:
        """Return the parts whose weight is not 0, with their weights."""
        factors = validation.floats("weights", weights)
        if factors.shape != (len(parts),):
            raise ParameterError(
                f"weights must be {len(parts)} numbers, one for each objective; the shape is "
                f"{factors.shape}"
            )
        if not np.isfinite(factors).all() or not factors.any():
            raise ParameterError("weights must be finite and not all 0")
        counted = [part for part, factor in zip(parts, factors, strict=True) if factor != 0]
        return cls(counted, factors[factors != 0].tolist())

    def __iter__(self) -> Iterator[tuple[Known, float]]:
        return zip(self.parts, self.factors, strict=True)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def monotone(self) -> bool:
        """Whether each part is."""
        return all(part.monotone for part in self.parts)

    def facts(self, sensitivity: Sensitivity, *, monotone: bool = False) -> Facts:
        """Return what is public of the sum."""
        return Facts(
            candidates=len(self.parts[0]),
            sensitivity=self._with_rounding(sensitivity),
            monotone=monotone or (len(self) == 1 and self.monotone),
            highest=self._highest(),
            direction=self._direction(),
            step=self._step(),
        )

    def summed(self) -> Sensitivity:
        """Return the sum of the weighted sensitivities."""
        return summed([part.sensitivity for part in self.parts], self.factors)

    def largest(self) -> Sensitivity:
        """Return the largest of the weighted sensitivities: one step changes one term only."""
        each = [summed([part.sensitivity], [factor]) for part, factor in self]
        largest = maximum(each)
        known = [one.l1 for one in each if one.l1 is not None]
        largest.l1 = max(known) if len(known) == len(each) else None
        return largest

    def _with_rounding(self, sensitivity: Sensitivity) -> Sensitivity:
        """Add what rounding the scores of both databases changes of them.

        By a bound it is 2^-40 of a step, which the grid of the draws pays for. A local
        sensitivity may be far smaller than its bound, and this is added to it: none is 0 then.
        One score times a power of two is not rounded.
        """
        exact = len(self) == 1 and abs(frexp(self.factors[0])[0]) == 0.5
        if exact or isinstance(sensitivity, GlobalSensitivity):
            return sensitivity
        rounding = GlobalSensitivity(1, sensitivity.neighbours)
        error = ROUNDING * fsum(abs(w) * part.sensitivity.bounds.max() for part, w in self)
        rounded = summed([sensitivity, rounding], [1.0, error])
        # Every candidate's score may be rounded.
        every = error * len(self.parts[0])
        rounded.l1 = None if sensitivity.l1 is None else sensitivity.l1 + every
        return rounded

    def _highest(self) -> float | None:
        """Return a sum that no candidate exceeds, where the parts tell.

        A part with a negative weight counts from its lower end, which no objective states.
        """
        known = [
            factor * part.highest
            for part, factor in self
            if part.highest is not None and factor > 0
        ]
        return fsum(known) if len(known) == len(self) else None

    def _step(self) -> float | None:
        """Return 1 where all terms are whole numbers, sums of which two floats hold."""
        whole = all(
            part.step is not None
            and float(part.step).is_integer()
            and factor.is_integer()
            # So that what is cut at LARGEST_SCORE bounds is whole, too.
            and part.sensitivity.bounds.min() >= 1
            for part, factor in self
        )
        most = fsum(abs(factor) * part.sensitivity.bound for part, factor in self)
        return 1.0 if whole and most <= 2**40 else None

    def _direction(self) -> Direction | None:
        """Return the direction of one term, or either of a flat sum.

        The sum of several has none, even if all terms have the same: of two candidates the one
        with the larger sum may be ahead in a term of small sensitivities and behind in the
        others.
        """
        if all(part.sensitivity.flat for part in self.parts):
            return "non-decreasing"
        if len(self) > 1:
            return None
        stated = self.parts[0].direction
        if stated is None or self.factors[0] > 0:
            return stated
        return "non-increasing" if stated == "non-decreasing" else "non-decreasing"


def _scores(terms: _Terms[Objective]) -> tuple[Twofold, Sequence[Hashable]]:
    """Return the sum of the parts, each cut at ``LARGEST_SCORE`` bounds; and the candidates.

    Each term and each sum err by less than 2^-100 of the largest terms, that is by 2^-42 of the
    weighted bounds: ``_with_rounding``.
    """
    zeros = np.zeros(len(terms.parts[0]))
    total = Twofold(zeros, zeros)
    for part, factor in terms:
        most = LARGEST_SCORE * np.broadcast_to(part.sensitivity.bounds, zeros.shape)
        inside = np.abs(part.scores) < most
        high = np.where(inside, part.scores, np.copysign(most, part.scores))
        # The product of mantissas, as the power of two of a weight needs no digits.
        mantissa, power = frexp(factor)
        product = exact_product(high, np.asarray(mantissa))
        rest = mantissa * np.where(inside, part.low_order, 0.0)
        product = add(product, Twofold(rest, zeros))
        total = add(total, Twofold(*(np.ldexp(digits, power) for digits in product)))
    return total, terms.parts[0].candidates
