"""Percentiles of private numbers: the record at a percentile, or a public value near it.

``docs/report/measurements.md`` compares the two by exact expected errors.
"""

from dpselect.percentiles.objectives import percentile, percentile_rank, rank_of
from dpselect.percentiles.percentiles import Percentiles
from dpselect.percentiles.record import PercentileRecord
from dpselect.percentiles.release import PercentileRelease
from dpselect.percentiles.sensitivity import PercentileSensitivity

__all__ = [
    "PercentileRecord",
    "PercentileRelease",
    "PercentileSensitivity",
    "Percentiles",
    "percentile",
    "percentile_rank",
    "rank_of",
]


def __dir__() -> list[str]:
    return sorted(__all__)
