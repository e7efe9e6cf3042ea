"""Maps of points: noisy counts in cells that are chosen privately for given queries.

:func:`release_histogram` is the whole of it and :func:`plan_histogram` its plan;
:func:`grid_error` is the objective behind it, for any mechanism.
"""

from dpselect.spatial.box import Box
from dpselect.spatial.counting import Counts, Points
from dpselect.spatial.error_measures import (
    ErrorMeasure,
    RelativeCappedSize,
    RelativeClipped,
    RelativeKnownSize,
    Weighted,
)
from dpselect.spatial.heavy_cells import cell_counts, plan_heavy_cells, release_heavy_cells
from dpselect.spatial.histogram import Answer, SpatialHistogram
from dpselect.spatial.objective import grid_error, partition_error
from dpselect.spatial.overlap import CountedCells, Overlap
from dpselect.spatial.partition import Partition, uniform_grid
from dpselect.spatial.plan import plan_histogram
from dpselect.spatial.privtree import PrivTree
from dpselect.spatial.queries import even_queries, lattice_rectangles, random_queries
from dpselect.spatial.release import release_histogram
from dpselect.spatial.rules import (
    AdaptiveGrid,
    CoarseGrid,
    Guideline,
    PartitionRule,
    Quadtree,
    guideline_size,
)

__all__ = [
    "AdaptiveGrid",
    "Answer",
    "Box",
    "CoarseGrid",
    "CountedCells",
    "Counts",
    "ErrorMeasure",
    "Guideline",
    "Overlap",
    "Partition",
    "PartitionRule",
    "Points",
    "PrivTree",
    "Quadtree",
    "RelativeCappedSize",
    "RelativeClipped",
    "RelativeKnownSize",
    "SpatialHistogram",
    "Weighted",
    "cell_counts",
    "even_queries",
    "grid_error",
    "guideline_size",
    "lattice_rectangles",
    "partition_error",
    "plan_heavy_cells",
    "plan_histogram",
    "random_queries",
    "release_heavy_cells",
    "release_histogram",
    "uniform_grid",
]


def __dir__() -> list[str]:
    return __all__
