from .objectives import (
    percentile as percentile,
    percentile_rank as percentile_rank,
    rank_of as rank_of,
)
from .percentiles import (
    Percentiles as Percentiles,
)
from .record import (
    PercentileRecord as PercentileRecord,
)
from .release import (
    PercentileRelease as PercentileRelease,
)
from .sensitivity import (
    PercentileSensitivity as PercentileSensitivity,
)
