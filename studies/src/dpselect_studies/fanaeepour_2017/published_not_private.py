r"""The published choice of a grid, which is not private: for simulations only.

The error of a query is :math:`e = (|g| + \lambda\|\alpha\|_1)/\max(q, \delta|D|)` and the
sensitivity that the mean of it is divided by, with :math:`\rho = \delta|D|`,

.. math:: \Delta_r = \frac{\kappa}{\rho}
    + \frac{(|D| + 1)\kappa + \lambda\|\alpha\|_1}{\rho\,\delta(|D| + 1)},

where :math:`\kappa` is 1 for a query that cuts a cell and 0 for any other. Under add/remove
:math:`|D|` is private, so a choice that is scaled by it is not private: a query of 0.9 of the
box, grids of 10,000 cells and of one, and 29 points against 30 give a privacy loss of 1.096
:math:`\varepsilon_1`.

Nothing here is an ``Objective``, so no mechanism takes it and nothing can be released with it.

Source: Fanaeepour and Rubinstein, Corollaries 7.6 and 7.9 and Theorem 7.10, put together from
    what the errata say of them: the text was not at hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpselect.spatial import CountedCells, Counts, Overlap, Partition
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

    def law(self, epsilon: float) -> Probabilities:
        r"""Return the law of the published choice, :math:`\propto e^{-\epsilon e/2\Delta}`."""
        exponents = -epsilon * self.errors / (2 * self.sensitivities)
        weights = np.exp(exponents - exponents.max())
        return np.asarray(weights / weights.sum(), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class QueryNotPrivate:
    r"""One query on one grid, in any numbers that add and divide.

    Attributes:
        gap: :math:`|g|`, points.
        noise: :math:`\lambda \|\alpha\|_1`, points.
        exact: :math:`q`, points.
        cut: :math:`\kappa`: 1 if the query cuts a cell, else 0.
    """

    gap: Values
    noise: Values
    exact: Values
    cut: Values

    def error(self, size: int, delta: float) -> Values:
        """Return the relative error, for a number of points."""
        return (self.gap + self.noise) / np.maximum(self.exact, delta * size)

    def sensitivity(self, size: int, delta: float) -> Values:
        """Return what the paper takes for its sensitivity, for a number of points."""
        low, larger = delta * size, size + 1
        return self.cut / low + (larger * self.cut + self.noise) / (low * delta * larger)


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
    errors, sensitivities = np.empty(len(partitions)), np.empty(len(partitions))
    for position, partition in enumerate(partitions):
        overlap = Overlap.of(partition, queries)
        answers = CountedCells(partition, points.in_cells(partition)).answers(queries)
        query = QueryNotPrivate(
            gap=np.abs(answers - exact),
            noise=scale * overlap.l1,
            exact=exact,
            cut=(overlap.largest > 0).astype(np.float64),
        )
        errors[position] = np.mean(query.error(size, delta))
        sensitivities[position] = np.mean(query.sensitivity(size, delta))
    return PublishedNotPrivate(errors, sensitivities)
