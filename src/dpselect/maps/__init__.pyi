from dpselect_applications import (
    CellRelease as CellRelease,
    HeavyCells as HeavyCells,
    cell_counts as cell_counts,
)

from .box import (
    even_queries as even_queries,
    lattice_rectangles as lattice_rectangles,
)
from .counting import (
    Counts as Counts,
    Points as Points,
)
from .error_measures import (
    ErrorMeasure as ErrorMeasure,
    RelativeClipped as RelativeClipped,
    Weighted as Weighted,
    grid_error as grid_error,
    partition_error as partition_error,
)
from .estimates import (
    Estimates as Estimates,
)
from .map import (
    Map as Map,
)
from .overlap import (
    CountedCells as CountedCells,
    Overlap as Overlap,
)
from .partition import (
    AdaptiveGrid as AdaptiveGrid,
    CoarseGrid as CoarseGrid,
    Guideline as Guideline,
    Partition as Partition,
    PartitionRule as PartitionRule,
    Quadtree as Quadtree,
    guideline_size as guideline_size,
    uniform_grid as uniform_grid,
)
from .release import (
    MapRelease as MapRelease,
)
