"""Numbers as people read them, in plans and on the command line."""

from __future__ import annotations

import re

DIGITS = 6
"""Significant digits of an epsilon that is shown."""

_LONG = re.compile(r"(?<![\w.])\d+\.\d{6,}(?:e[-+]?\d+)?")


def in_short(text: str) -> str:
    """Return a text whose decimal numbers have six significant digits at most.

    What floating point adds to a share of epsilon, as in 0.7999999999999999, says nothing.
    """
    return _LONG.sub(lambda found: repr(float(f"{float(found[0]):.{DIGITS}g}")), text)


def shown(number: float) -> str:
    """Return a number with four significant digits, a large one with all before the point."""
    if 1000 <= abs(number) < 1e15:
        return f"{float(f'{number:.4g}'):,.0f}"
    return f"{number:.4g}"
