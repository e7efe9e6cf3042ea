"""Cells, overlaps and errors of a map by their definitions, in exact fractions."""

from fractions import Fraction

from dpselect.spatial.box import POSITIONS


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
