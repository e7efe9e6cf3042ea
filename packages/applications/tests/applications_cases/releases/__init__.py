"""Releases of applications, for contract tests."""

from applications_cases.releases import cells, hubs, levels, series, tuning, variants

ROOMS = (cells, hubs, levels, series, tuning, variants)
CASES = [case for room in ROOMS for case in room.CASES]
