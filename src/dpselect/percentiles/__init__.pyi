from .objectives import (
    percentile_rank as percentile_rank,
)
from .percentiles import (
    Percentiles as Percentiles,
)
from .record import (
    PercentileRecord as PercentileRecord,
    PercentileSensitivity as PercentileSensitivity,
    percentile as percentile,
    rank_of as rank_of,
)
from .release import (
    PercentileRelease as PercentileRelease,
)
