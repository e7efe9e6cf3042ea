"""The cells of a grid that hold most points.

``HeavyCells`` releases them; ``cell_counts`` is the objective, for any mechanism.
"""

from dpselect_applications.cells.cells import CellRelease, HeavyCells, cell_counts

__all__ = ["CellRelease", "HeavyCells", "cell_counts"]


def __dir__() -> list[str]:
    return sorted(__all__)
