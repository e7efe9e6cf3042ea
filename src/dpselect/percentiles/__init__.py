"""Percentiles of private numbers: the record at a percentile, or a public value near it.

``docs/report/measurements.md`` compares the two by exact expected errors.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
