from .columns import (
    BestColumns as BestColumns,
)
from .estimator import (
    PrivateSelectKBest as PrivateSelectKBest,
)
