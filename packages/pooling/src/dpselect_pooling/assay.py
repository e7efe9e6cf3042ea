"""Outcomes of pooled tests, without noise and with an assay that errs.

With the design ``M`` and the positives ``e``, the outcome of a pool is

- (20) noiseless: whether any of its samples is positive: ``outcomes``;
- (21) noise before pooling: the same of a subset that was made private before, by ``Subset`` or
  by ``ReplacedSamples``: ``outcomes(design, drawn)``;
- (22) noise after pooling: (20) with pools exchanged for clean or contaminated ones:
  ``outcomes(design, positives, states)`` with the states of ``SwappedPools``;
  ``PooledOutcomes`` flips them instead, of the same distribution.

An assay has errors of its own; they are no privacy, since their probability is not known.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278, section V.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.errors import DataError, ParameterError
from dpselect.extend import Values, validation, values
from dpselect_pooling import designs
from dpselect_pooling.designs import Design

Outcomes: TypeAlias = NDArray[np.bool_]
"""Shape ``(pools,)``: whether the test of a pool was positive; the syndrome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assay:
    """Error probabilities of the test of a pool.

    A pool of ``s`` samples of which ``k > 0`` are positive tests positive with probability
    ``sensitivity`` ``· (k/s)^dilution``.

    Attributes:
        sensitivity: P[positive | an undiluted positive], in (0, 1].
        specificity: P[negative | no positive in the pool], in (0, 1].
        dilution: At least 0; 0 for none.
        flip: Probability that the outcome is then flipped for privacy, [0, 1/2); see
            ``PooledOutcomes``.

    Raises:
        ParameterError: A number is out of range, or sensitivity and specificity add up to at
            most 1: such a test is no better than a fair coin, or inverted.
    """

    sensitivity: float = 1.0
    specificity: float = 1.0
    dilution: float = 0.0
    flip: float = 0.0

    def __post_init__(self) -> None:
        validation.within("sensitivity", self.sensitivity, 0, 1)
        validation.within("specificity", self.specificity, 0, 1)
        if validation.finite("dilution", self.dilution) < 0:
            raise ParameterError(f"`dilution` must be at least 0, got {self.dilution!r}")
        if validation.within("flip", self.flip, 0, 0.5) == 0.5:
            raise ParameterError("`flip` must be below 1/2")
        if self.sensitivity + self.specificity <= 1:
            raise ParameterError(
                "`sensitivity` and `specificity` must add up to more than 1; at 1 a test is no "
                "better than a coin"
            )

    @property
    def perfect(self) -> bool:
        """Whether no test is ever wrong or flipped."""
        return self.sensitivity == self.specificity == 1 and self.dilution == self.flip == 0

    def chance_of_positive(self, positives: ArrayLike, sizes: ArrayLike) -> Values:
        """Return P[positive] of pools, given their numbers of positives and of samples."""
        k = np.asarray(positives, dtype=np.float64)
        share = np.where(k > 0, k, 1) / np.maximum(np.asarray(sizes, dtype=np.float64), 1)
        found = self.sensitivity * share**self.dilution
        chance = np.where(k > 0, found, 1 - self.specificity)
        return np.asarray(chance * (1 - self.flip) + (1 - chance) * self.flip)


def outcomes(
    design: ArrayLike, positives: ArrayLike, states: ArrayLike | None = None
) -> Outcomes:
    """Return the outcome of every pool without errors of the test: equations (20) to (22).

    Args:
        design: Shape ``(pools, people)``.
        positives: Whether each person is positive, shape ``(people,)``. Private.
        states: 0 (clean), 1 (contaminated) or 2 (kept) for each pool; all are kept if not
            given. Secret.

    Raises:
        DataError: ``positives`` is not one truth value for each person.
        ParameterError: ``states`` is not a state for each pool.
    """
    matrix = designs.checked(design)
    found = np.asarray(matrix[:, statuses(positives, matrix.shape[1])].any(axis=1))
    if states is None:
        return found
    drawn = np.asarray(states)
    if drawn.shape != found.shape or not np.isin(drawn, (0, 1, 2)).all():
        raise ParameterError("`states` must be 0, 1 or 2 for each pool")
    return np.asarray(np.where(drawn == 2, found, drawn == 1))


def statuses(positives: ArrayLike, people: int) -> NDArray[np.bool_]:
    """Return one truth value for each person, or raise an error that shows none."""
    refusal = f"positives must be True or False for each of the {people} people"
    each = _truths(positives, refusal)
    if len(each) != people or None in each:
        raise DataError(refusal)
    return np.array(each, dtype=np.bool_)


def checked_outcomes(results: ArrayLike, design: Design) -> Outcomes:
    """Return one outcome for each pool.

    Raises:
        DataError: There is another number of outcomes, or one is neither True nor False.
    """
    refusal = "an outcome must be True or False; leave invalid pools out"
    each = _truths(results, refusal)
    if len(each) != len(design):
        raise DataError(
            f"there must be {len(design)} outcomes, one for each pool; leave pools without a "
            "result out of the design as well"
        )
    if None in each:
        raise DataError(refusal)
    return np.array(each, dtype=np.bool_)


def _truths(given: object, refusal: str) -> list[bool | None]:
    """Return truth values, read one by one; None for what is neither True, False, 1 nor 0."""
    return [_truth(value) for value in values.of_values(given, refusal).plain()]


def _truth(value: object) -> bool | None:
    if isinstance(value, bool | np.bool_ | int | float | np.number) and value in (0, 1):
        return bool(value)
    return None
