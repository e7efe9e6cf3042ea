"""Releases of applications, for contract tests."""

from applications_cases.releases import cells, columns, hubs, levels, series, tuning, variants

ROOMS = (cells, columns, hubs, levels, series, tuning, variants)
CASES = [case for room in ROOMS for case in room.CASES]
