from . import (
    cells as cells,
    columns as columns,
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
from .columns import (
    BestColumns as BestColumns,
    PrivateSelectKBest as PrivateSelectKBest,
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
