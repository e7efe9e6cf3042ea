r"""What a test says of a pool, and the three testing functions.

With the design :math:`M` and the positives :math:`e`, a pool's outcome is

- (20) noiseless: whether any of its samples is positive: :func:`outcomes`;
- (21) noise before pooling: the same of a subset that a
  :class:`~dpselect.pooling.SubsetRetrieval` drew: ``outcomes(design, drawn)``;
- (22) noise after pooling: (20) with every outcome flipped independently: :func:`flipped`.

A real assay errs too, without being asked to; its errors are no privacy, since nobody can
vouch for them.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278, section V.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import _validate
from dpselect.errors import DataError, ParameterError
from dpselect.pooling import designs
from dpselect.pooling.designs import Design
from dpselect.typing import Values

Outcomes: TypeAlias = NDArray[np.bool_]
"""Shape ``(pools,)``: whether the test of a pool was positive; the syndrome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assay:
    r"""How often the test of a pool is right.

    A pool of :math:`s` samples of which :math:`k > 0` are positive tests positive with
    probability ``sensitivity`` :math:`\cdot (k/s)^{\text{dilution}}`.

    Attributes:
        sensitivity: P[positive | an undiluted positive], in (0, 1].
        specificity: P[negative | no positive in the pool], in (0, 1].
        dilution: At least 0; 0 for none.
        flip: Chance that the outcome is then flipped on purpose, [0, 1/2); see
            :func:`flipped`.

    Raises:
        ParameterError: A number is out of range, or sensitivity and specificity add up to at
            most 1: such a test says nothing, or the opposite.
    """

    sensitivity: float = 1.0
    specificity: float = 1.0
    dilution: float = 0.0
    flip: float = 0.0

    def __post_init__(self) -> None:
        _validate.within("sensitivity", self.sensitivity, 0, 1)
        _validate.within("specificity", self.specificity, 0, 1)
        if _validate.finite("dilution", self.dilution) < 0:
            raise ParameterError(f"dilution must be at least 0, got {self.dilution!r}")
        if _validate.within("flip", self.flip, 0, 0.5) == 0.5:
            raise ParameterError("flip must be below 1/2")
        if self.sensitivity + self.specificity <= 1:
            raise ParameterError(
                "sensitivity and specificity must add up to more than 1; a test below that "
                "tells less than a coin"
            )

    @property
    def perfect(self) -> bool:
        """Whether it never errs."""
        return self.sensitivity == self.specificity == 1 and self.dilution == self.flip == 0

    def chance_of_positive(self, positives: ArrayLike, sizes: ArrayLike) -> Values:
        """Return P[positive] of pools, given their numbers of positives and of samples."""
        k = np.asarray(positives, dtype=np.float64)
        share = np.where(k > 0, k, 1) / np.maximum(np.asarray(sizes, dtype=np.float64), 1)
        found = self.sensitivity * share**self.dilution
        chance = np.where(k > 0, found, 1 - self.specificity)
        return np.asarray(chance * (1 - self.flip) + (1 - chance) * self.flip)


def outcomes(design: ArrayLike, positives: ArrayLike) -> Outcomes:
    """Return the outcome of every pool without any noise: equation (20).

    Args:
        design: Shape ``(pools, people)``.
        positives: Whether each person is positive, shape ``(people,)``. Private.

    Raises:
        DataError: ``positives`` is not one truth value for each person.
    """
    matrix = designs.checked(design)
    return np.asarray(matrix[:, statuses(positives, matrix.shape[1])].any(axis=1))


def simulate_outcomes(
    design: ArrayLike, positives: ArrayLike, assay: Assay, *, rng: np.random.Generator
) -> Outcomes:
    """Return the outcomes of an assay that errs: for experiments."""
    matrix = designs.checked(design)
    inside = matrix[:, statuses(positives, matrix.shape[1])].sum(axis=1)
    chance = assay.chance_of_positive(inside, matrix.sum(axis=1))
    return _validate.instance("rng", rng, np.random.Generator).random(chance.size) < chance


def flipped(results: ArrayLike, *, flip: float) -> Outcomes:
    r"""Flip each outcome independently and exactly: equation (22).

    Guarantee:
        Each outcome is :math:`\ln((1-\rho)/\rho)`-DP; :func:`~dpselect.pooling.flip_epsilon`
        has what that makes for a person.

    Args:
        results: The outcomes, shape ``(pools,)``. Private.
        flip: The probability :math:`\rho`, in (0, 1/2).
    """
    from dpselect.pooling.flips import flipper_by_chance

    share = _validate.within("flip", flip, 0, 0.5)
    if share in {0, 0.5}:
        raise ParameterError("flip must be above 0 and below 1/2")
    flip_one = flipper_by_chance(1 - share)
    return np.array([flip_one(bool(result)) for result in np.asarray(results)], dtype=np.bool_)


def statuses(positives: ArrayLike, people: int) -> NDArray[np.bool_]:
    """Return one truth value for each person, or refuse without repeating any."""
    given = np.asarray(positives)
    if given.shape != (people,) or not (
        given.dtype == np.bool_ or np.isin(given, (0, 1)).all()
    ):
        raise DataError(f"positives must be True or False for each of the {people} people")
    return given.astype(np.bool_)


def checked_outcomes(results: ArrayLike, design: Design) -> Outcomes:
    """Return one outcome for each pool.

    Raises:
        DataError: There is another number of outcomes, or one is neither True nor False.
    """
    given = np.asarray(results)
    if given.shape != (len(design),):
        raise DataError(
            f"there must be {len(design)} outcomes, one for each pool, not {given.shape}; "
            "leave pools without a result out of the design as well"
        )
    if not np.isin(given, (0, 1)).all():
        raise DataError("an outcome must be True or False; leave invalid pools out")
    return given.astype(np.bool_)
