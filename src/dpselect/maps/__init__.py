"""Maps of points: noisy counts in cells that are chosen privately for given queries.

``Map`` releases a map, ``HeavyCells`` the cells with most points; ``grid_error`` and
``cell_counts`` are their objectives, for any mechanism.
"""

from dpselect.maps.box import even_queries, lattice_rectangles
from dpselect.maps.counting import Counts, Points
from dpselect.maps.error_measures import (
    ErrorMeasure,
    RelativeClipped,
    Weighted,
    grid_error,
    partition_error,
)
from dpselect.maps.estimates import Estimates
from dpselect.maps.heavy_cells import CellRelease, HeavyCells, cell_counts
from dpselect.maps.map import Map
from dpselect.maps.overlap import CountedCells, Overlap
from dpselect.maps.partition import (
    AdaptiveGrid,
    CoarseGrid,
    Guideline,
    Partition,
    PartitionRule,
    Quadtree,
    guideline_size,
    uniform_grid,
)
from dpselect.maps.release import MapRelease

__all__ = [
    "AdaptiveGrid",
    "CellRelease",
    "CoarseGrid",
    "CountedCells",
    "Counts",
    "ErrorMeasure",
    "Estimates",
    "Guideline",
    "HeavyCells",
    "Map",
    "MapRelease",
    "Overlap",
    "Partition",
    "PartitionRule",
    "Points",
    "Quadtree",
    "RelativeClipped",
    "Weighted",
    "cell_counts",
    "even_queries",
    "grid_error",
    "guideline_size",
    "lattice_rectangles",
    "partition_error",
    "uniform_grid",
]


def __dir__() -> list[str]:
    return __all__
