"""Cells, overlaps and errors of a map by their definitions, in exact fractions.

A universe is all multisets of at most three points out of a few positions that lie in every
kind of cell and query; the error of a database is computed from its definition.
"""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

import dpselect as dp
from dpselect.maps import grid_error
from dpselect.maps.box import POSITIONS
from dpselect.maps.overlap import Overlap
from dpselect.maps.partition import nested, uniform_grid
from support.strategies import exact_scores

ADD_REMOVE, SUBSTITUTE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
MOST = 3


def cells_of(partition):
    """The cells as exact fractions of the lattice, in the order of the counts."""
    side = Fraction(POSITIONS, partition.base)
    for first_x, first_y, span, nx, ny, _ in partition.regions.tolist():
        for a in range(nx):
            for b in range(ny):
                yield (
                    (first_x + Fraction(span * a, nx)) * side,
                    (first_y + Fraction(span * b, ny)) * side,
                    (first_x + Fraction(span * (a + 1), nx)) * side,
                    (first_y + Fraction(span * (b + 1), ny)) * side,
                )


def share(cell, query):
    """Area of the cell that the query covers, over the area of the cell."""
    across = max(0, min(cell[2], query[2]) - max(cell[0], query[0]))
    along = max(0, min(cell[3], query[3]) - max(cell[1], query[1]))
    return Fraction(across * along) / ((cell[2] - cell[0]) * (cell[3] - cell[1]))


def shares(partition, areas):
    """Return the share of each cell that each area covers, both in a square with sides of 1."""
    x0, y0, x1, y1 = partition.rectangles().T
    low_x, low_y, high_x, high_y = areas.T[:, :, None]
    across = np.clip(np.minimum(x1, high_x) - np.maximum(x0, low_x), 0, None) / (x1 - x0)
    return across * np.clip(np.minimum(y1, high_y) - np.maximum(y0, low_y), 0, None) / (y1 - y0)


def inside(x, y, rectangle):
    """Whether a point lies in a half-open rectangle."""
    return rectangle[0] <= x < rectangle[2] and rectangle[1] <= y < rectangle[3]


class Answered:
    """How a partition answers queries about small databases of a few positions."""

    def __init__(self, partition, queries, positions):
        cells = list(cells_of(partition))
        self.alpha = [[share(cell, query) for cell in cells] for query in queries]
        self._held = {
            (x, y): next(i for i, cell in enumerate(cells) if inside(x, y, cell))
            for x, y in positions
        }
        self._queries = queries

    def gaps_and_exact(self, database):
        """Absolute differences of grid and exact answers, and exact answers."""
        exact = [sum(inside(x, y, query) for x, y in database) for query in self._queries]
        grid = [sum(alpha[self._held[point]] for point in database) for alpha in self.alpha]
        return [abs(g - q) for g, q in zip(grid, exact, strict=True)], exact


def line(*shares):
    return [(round(s * POSITIONS), POSITIONS // 3) for s in shares]


def square(*shares):
    return [(round(x * POSITIONS), round(y * POSITIONS)) for x in shares for y in shares]


def queries(*rectangles):
    return (np.array(rectangles) * POSITIONS).astype(np.int64).tolist()


FOUR_BLOCKS = nested(
    "blocks", 2, np.array([[0, 0, 1, 2], [0, 1, 1, 1], [1, 0, 1, 3], [1, 1, 1, 1]])
)
ONE_QUERY = {
    "the paper's line": (uniform_grid((2, 1)), queries([0, 0, 0.45, 1]), line(0.2, 0.47, 0.7)),
    "a line of five": (
        uniform_grid((5, 1)),
        queries([0.25, 0, 0.7, 1]),
        line(0.21, 0.3, 0.65, 0.75),
    ),
    "one cell": (uniform_grid(1), queries([0.1, 0.2, 0.7, 0.8]), square(0.05, 0.5)),
    "a corner": (uniform_grid(2), queries([0.3, 0.2, 0.9, 0.7]), square(0.1, 0.4, 0.6, 0.95)),
    "a thin one": (uniform_grid(3), queries([0.34, 0.4, 0.36, 0.6]), square(0.35, 0.5, 0.9)),
    "rows": (uniform_grid(4), queries([0.25, 0.125, 1, 0.775]), square(0.1, 0.3, 0.76, 0.9)),
    "blocks": (FOUR_BLOCKS, queries([0.1, 0.1, 0.9, 0.6]), square(0.05, 0.3, 0.55, 0.95)),
}
SEVERAL = {
    "apart": (
        uniform_grid((4, 1)),
        queries([0.05, 0, 0.2, 1], [0.5, 0, 0.9, 1]),
        line(0.1, 0.22, 0.8, 0.95),
    ),
    "apart, uneven": (
        uniform_grid((4, 1)),
        queries([0, 0, 0.225, 1], [0.5, 0, 0.65, 1]),
        line(0.1, 0.24, 0.3, 0.6, 0.7),
    ),
    "over each other": (
        uniform_grid(2),
        queries([0.1, 0.1, 0.4, 0.9], [0.3, 0, 0.8, 0.4], [0, 0, 0.45, 0.45]),
        square(0.05, 0.35, 0.6, 0.95),
    ),
}


def largest_change(universe, error, relation, most=MOST):
    """The largest change of the mean error between any two neighbours of the universe."""
    partition, rectangles, positions = universe
    answered = Answered(partition, rectangles, positions)
    values = {}
    for size in range(most + 1):
        for database in combinations_with_replacement(sorted(positions), size):
            gaps, exact = answered.gaps_and_exact(database)
            values[database] = error(gaps, exact, answered.alpha)
    worst = Fraction(0)
    for database, value in values.items():
        for new in positions:
            if relation is ADD_REMOVE:
                others = [(*database, new)]
            else:
                others = [
                    (*database[:i], *database[i + 1 :], new) for i in range(len(database))
                ]
            for other in others:
                key = tuple(sorted(other))
                if key in values:
                    worst = max(worst, abs(values[key] - value))
    return float(worst)


def claimed(universe, form, scale):
    partition, rectangles, _ = universe
    overlap = Overlap.of(partition, np.array(rectangles))
    return form.sensitivity(overlap, form.noise(overlap, scale))


def log_law(form, inside, size):
    """Log law of a choice of a line of 10^4 cells or of one, by a query of nine tenths."""
    x = np.concatenate([np.linspace(0, 0.89, inside), np.full(size - inside, 0.95)])
    objective = grid_error(
        x,
        np.full(size, 0.5),
        bounds=(0, 0, 1, 1),
        grids=[(10**4, 1), 1],
        queries=[0, 0, 0.9, 1],
        scale=1.0,
        measure=form,
    )
    halves = dp.ExponentialMechanism(epsilon=1.0).unit_scores(objective) / 2
    return halves - np.logaddexp.reduce(halves)


def moves_within_bounds(form, scale):
    """Whether leaving out any of forty points moves no score by more than is stated."""
    points = np.random.default_rng(1).random((40, 2))
    rectangles = [[0, 0, 0.3, 0.7], [0.2, 0.1, 0.9, 0.6], [0.5, 0.5, 1, 1]]

    def objective(x, y):
        return grid_error(
            x, y, bounds=(0, 0, 1, 1), grids=[1, 2, 3, 5, 8], queries=rectangles,
            scale=scale, measure=form,
        )  # fmt: skip

    whole = objective(*points.T)
    for left_out in range(len(points)):
        less = objective(*np.delete(points, left_out, axis=0).T)
        moved = zip(
            exact_scores(whole), exact_scores(less), whole.sensitivity.bounds, strict=True
        )
        if any(abs(x - y) > bound for x, y, bound in moved):
            return False
    return True
