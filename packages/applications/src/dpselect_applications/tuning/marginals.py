"""Errors of a model on marginals, as the select steps of synthesizers choose by them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import Neighbours, Objective, Release
from dpselect.errors import ParameterError
from dpselect.extend import (
    Indices,
    NeighboursLike,
    SupportsSpend,
    Twofold,
    exact_scores,
    validation,
)
from dpselect.mechanisms import MechanismLike, by_name
from dpselect.sensitivity import GlobalSensitivity

Marginal = TypeVar("Marginal", bound=Hashable)

STEPS = 2.0**20
"""Estimates, penalties and weights are rounded to multiples of 1 / STEPS; all are public."""

LARGEST = 2.0**40
"""The largest count, estimate, penalty or weight."""


def marginal_error(
    marginals: Sequence[ArrayLike],
    estimates: Sequence[ArrayLike],
    *,
    candidates: Sequence[Hashable] | None = None,
    weights: ArrayLike | None = None,
    penalties: ArrayLike | None = None,
    neighbours: NeighboursLike,
) -> Objective:
    """Return the error of a public model on each marginal, with one bound per candidate.

        u_r = w_r (‖M_r - M̂_r‖_1 - c_r),
        Δ_r = w_r (add/remove), 2 w_r (substitution)

    A record is in one cell of each marginal. The model must be public: made from earlier
    releases or public data. A score that is a difference of two such errors on private data has
    the sum of their bounds.

    Args:
        marginals: The counts of each candidate marginal, integers of any shape. Private.
        estimates: The model's estimate of each marginal, of the same shapes. Public.
        candidates: Names of the marginals, such as tuples of columns; positions if not given.
        weights: ``w_r`` > 0, shape ``(n,)``; 1 if not given. Public.
        penalties: ``c_r``, shape ``(n,)``, such as the expected error of measuring the
            marginal; 0 if not given. Public.
        neighbours: ``"add-remove"`` or ``"substitute"``.

    Returns:
        Score units are weighted counts. Exact: the numbers that are public are rounded to
        multiples of ``2^-20`` first. With unequal weights ``GeneralizedExponential`` uses the
        bounds one by one.

    Raises:
        ParameterError: Arrays do not fit, or a public number is out of range.
        NeighboursError: Another relation.

    Source: the select step of AIM: McKenna, Mullins, Sheldon and Miklau 2022, arXiv:2201.12677,
        Algorithm 2, whose sensitivity is ``max_r w_r``.

    Examples:
        >>> from dpselect_applications.tuning import marginal_error
        >>> counts, model = [[3, 1], [2, 2]], [[2.5, 2.5], [2, 2]]
        >>> marginal_error(counts, model, neighbours="add-remove").scores
        array([2., 0.])
    """
    relation = validation.table_neighbours(neighbours)
    if len(marginals) != len(estimates) or not len(marginals):
        raise ParameterError("marginals and estimates must be as many, at least one")
    weight = _steps("weights", np.ones(len(marginals)) if weights is None else weights)
    penalty = _steps("penalties", np.zeros(len(marginals)) if penalties is None else penalties)
    if not weight.shape == penalty.shape == (len(marginals),):
        raise ParameterError("weights and penalties must be one for each marginal")
    if not (weight > 0).all():
        raise ParameterError("weights must be above 0")
    errors = [
        _distance(counts, estimate)
        for counts, estimate in zip(marginals, estimates, strict=True)
    ]
    exact = exact_scores(
        np.array(
            [
                int(w) * (error - int(c))
                for w, error, c in zip(weight, errors, penalty, strict=True)
            ],
            dtype=object,
        )
    )
    changed = 2.0 if relation is Neighbours.SUBSTITUTE else 1.0
    bounds = changed * weight / STEPS
    return Objective(
        Twofold(exact.high / STEPS**2, exact.low / STEPS**2),
        GlobalSensitivity(bounds if np.ptp(bounds) else bounds[0], relation),
        candidates,
    )


def select_marginal(
    answers: Mapping[Marginal, ArrayLike],
    estimates: Mapping[Marginal, ArrayLike],
    *,
    weights: Mapping[Marginal, float] | None = None,
    penalties: Mapping[Marginal, float] | None = None,
    epsilon: float,
    neighbours: NeighboursLike,
    mechanism: MechanismLike = "permute-and-flip",
    budget: SupportsSpend | None = None,
) -> Release[Marginal]:
    """Select the marginal that a public model fits worst, as AIM, MST and MWEM do each round.

    It replaces their exponential mechanism: their mappings by marginal are passed as they are,
    and the ``candidate`` of the release is the marginal to measure next.

    Guarantee:
        ``epsilon``-DP under ``neighbours``, for estimates that are public.

    Args:
        answers: The counts of each candidate marginal, whole numbers of any type. Private.
        estimates: The model's estimate of each marginal; further ones are ignored. Public.
        weights: Weight of each marginal, > 0; by default 1. Public.
        penalties: Penalty of each marginal, such as the expected error of measuring it; by
            default 0. Public.
        epsilon: Price of the selection, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name, or a mapping of ``name`` and options.
        budget: Where to record the spend.

    Raises:
        ParameterError: As for ``marginal_error``, or a number of a marginal is missing.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Examples:
        >>> from dpselect_applications.tuning import select_marginal
        >>> answers = {("age",): [900, 100], ("age", "sick"): [800, 100, 50, 50]}
        >>> model = {("age",): [500.0, 500.0], ("age", "sick"): [790.0, 110.0, 50.0, 50.0]}
        >>> select_marginal(answers, model, epsilon=1.0, neighbours="add-remove").candidate
        ('age',)
    """
    given = {"estimates": estimates, "weights": weights, "penalties": penalties}
    known: dict[str, list[Any] | None] = {}
    for name, one in given.items():
        if one is not None and (missing := [key for key in answers if key not in one]):
            raise ParameterError(f"`{name}` must have each marginal, such as {missing[0]!r}")
        known[name] = None if one is None else [one[key] for key in answers]
    objective = marginal_error(
        [_whole(counts) for counts in answers.values()],
        known["estimates"] or [],
        candidates=list(answers),
        weights=known["weights"],
        penalties=known["penalties"],
        neighbours=neighbours,
    )
    return by_name(mechanism, epsilon).release(objective, budget=budget)


def _whole(counts: ArrayLike) -> NDArray[Any]:
    """Return counts as integers; synthesizers keep them as floats."""
    held = np.asarray(counts)
    return np.rint(held).astype(np.int64) if held.dtype.kind == "f" else held


def _steps(name: str, values: ArrayLike) -> Indices:
    """Return public numbers as integer multiples of the step."""
    array = np.asarray(values, dtype=np.float64)
    if not (np.abs(array) <= LARGEST).all():
        raise ParameterError(f"{name} must be finite, and at most 2^40")
    return np.rint(array * STEPS).astype(np.int64)


def _distance(counts: ArrayLike, estimate: ArrayLike) -> int:
    """Return the absolute differences of all cells, summed, in steps; private."""
    held, model = np.asarray(counts), _steps("estimates", estimate)
    if held.dtype.kind not in "iu" or held.shape != model.shape:
        raise ParameterError(
            "each marginal must hold integers, and its estimate be of the same shape"
        )
    cells = np.abs(held.astype(object) * int(STEPS) - model.astype(object))
    return int(cells.sum())
