from . import (
    levels as levels,
    series as series,
    tuning as tuning,
    variants as variants,
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
