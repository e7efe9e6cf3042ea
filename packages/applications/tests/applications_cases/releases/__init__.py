"""Releases of applications, for contract tests."""

from applications_cases.releases import cells, levels, series, tuning, variants

CASES = [*cells.CASES, *levels.CASES, *series.CASES, *tuning.CASES, *variants.CASES]
