"""Releases of applications, for contract tests."""

from applications_cases.releases import levels, series, tuning, variants

CASES = [*levels.CASES, *series.CASES, *tuning.CASES, *variants.CASES]
