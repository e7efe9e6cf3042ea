"""The cases of every room, for ``pytest --cases``."""

from support.releases import all_cases

CASES = all_cases()
