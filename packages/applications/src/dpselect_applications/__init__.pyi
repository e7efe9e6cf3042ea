from . import (
    cells as cells,
    hubs as hubs,
    levels as levels,
    series as series,
    tuning as tuning,
    variants as variants,
)
from .cells import (
    CellRelease as CellRelease,
    HeavyCells as HeavyCells,
    cell_counts as cell_counts,
)
from .hubs import (
    Hubs as Hubs,
)
from .levels import (
    Levels as Levels,
)
from .series import (
    Series as Series,
)
from .tuning import (
    BestOf as BestOf,
    Search as Search,
    StableArgmax as StableArgmax,
)
from .variants import (
    TopVariants as TopVariants,
)
