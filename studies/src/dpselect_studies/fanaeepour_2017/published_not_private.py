"""The published choice of a grid, which is not private: for simulations only.

The error of a query is ``e = (|g| + λ‖α‖_1)/max(q, ρ)`` with ``ρ = δ|D|``, and what the paper
takes for the sensitivity of its mean is, with the mean ``L`` of ``λ‖α‖_1`` over the queries,

    Δ_r = 1/(δ(ρ + 1)) + L/(ρ(ρ + 1)) + 1/(ρ + δ).

Equation (7) has the largest ``L`` of all grids instead, Equation (8) ``λ max g^2``. Under
add/remove ``|D|`` is private, so a choice that is scaled by it is not private: a query of 0.9
of the box, grids of 10,000 cells and of one, and 29 points against 30 give a privacy loss of
1.096 ``ε_1``.

Nothing here is an ``Objective``, so no mechanism takes it and nothing can be released with it.

Source: Fanaeepour and Rubinstein, Corollaries 7.6 and 7.9, Theorem 7.10, Equations (7), (8).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpselect.maps import CountedCells, Counts, Overlap, Partition
from dpselect.typing import Indices, Probabilities, Values


@dataclass(frozen=True, eq=False, repr=False)
class PublishedNotPrivate:
    """Errors and sensitivities of Theorem 7.10; both are private.

    Attributes:
        errors: Shape ``(grids,)``, mean relative errors.
        sensitivities: Shape ``(grids,)``.
    """

    errors: Values
    sensitivities: Values

    def probabilities(self, epsilon: float) -> Probabilities:
        """Return the distribution of the choice, ``∝ e^(-ε e/2Δ_r)``."""
        exponents = -epsilon * self.errors / (2 * self.sensitivities)
        weights = np.exp(exponents - exponents.max())
        return np.asarray(weights / weights.sum(), dtype=np.float64)


def error(gap: Values, noise: Values, exact: Values, floor: float) -> Values:
    """Return relative errors ``(|g| + λ‖α‖_1)/max(q, ρ)``."""
    return (gap + noise) / np.maximum(exact, floor)


def sensitivity(noise: Values, size: int, delta: float) -> Values:
    """Return what the paper takes for the sensitivity, in any numbers that divide.

    Args:
        noise: ``L``, the mean of ``λ‖α‖_1`` over queries; points. For Equations (7) and (8) the
            larger number that stands in its place.
        size: The number of points.
        delta: Share of all points that errors are taken over at least.
    """
    low = delta * size
    return 1 / (delta * (low + 1)) + noise / (low * (low + 1)) + 1 / (low + delta)


def published_not_private(
    points: Counts,
    partitions: tuple[Partition, ...],
    queries: Indices,
    *,
    scale: float,
    size: int,
    delta: float,
) -> PublishedNotPrivate:
    """Return the published errors and sensitivities of grids. Private, and no bounds.

    Args:
        points: What counts the points.
        partitions: The candidates.
        queries: Lattice edges, shape ``(m, 4)``.
        scale: Of the Laplace noise that the counts will get.
        size: The number of points; >= 1.
        delta: Share of all points that errors are taken over at least; > 0.
    """
    exact = points.in_rectangles(queries)
    errors, noises = np.empty(len(partitions)), np.empty(len(partitions))
    for position, partition in enumerate(partitions):
        noise = scale * Overlap.of(partition, queries).l1
        answers = CountedCells(partition, points.in_cells(partition)).answers(queries)
        errors[position] = error(np.abs(answers - exact), noise, exact, delta * size).mean()
        noises[position] = noise.mean()
    return PublishedNotPrivate(errors, sensitivity(noises, size, delta))
