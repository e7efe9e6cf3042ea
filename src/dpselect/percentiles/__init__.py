"""The percentile of private numbers: the record that holds it, or a public value near it.

``docs/percentiles.md`` says, with exact expected errors, when which one wins.
"""

from dpselect.percentiles.rank import percentile_rank, percentile_rank_of_column
from dpselect.percentiles.release import (
    mechanism_for,
    select_percentile,
    select_percentile_value,
)
from dpselect.percentiles.selection import percentile, rank_of
from dpselect.percentiles.sensitivity import PercentileSensitivity

__all__ = [
    "PercentileSensitivity",
    "mechanism_for",
    "percentile",
    "percentile_rank",
    "percentile_rank_of_column",
    "rank_of",
    "select_percentile",
    "select_percentile_value",
]
