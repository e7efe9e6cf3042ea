"""Percentiles of private numbers: the record at a percentile, or a public value near it.

``docs/percentiles.md`` compares the two by exact expected errors.
"""

from dpselect.percentiles.laws import compare_percentiles, percentile_laws
from dpselect.percentiles.objectives import percentile, percentile_rank, rank_of
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.record_release import (
    plan_percentile_record,
    release_percentile_record,
)
from dpselect.percentiles.release import plan_percentiles, release_percentiles
from dpselect.percentiles.sensitivity import PercentileSensitivity

__all__ = [
    "PercentileSensitivity",
    "Range",
    "compare_percentiles",
    "percentile",
    "percentile_laws",
    "percentile_rank",
    "plan_percentile_record",
    "plan_percentiles",
    "rank_of",
    "release_percentile_record",
    "release_percentiles",
]


def __dir__() -> list[str]:
    return sorted(__all__)
