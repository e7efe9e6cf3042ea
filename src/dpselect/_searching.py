"""Search for the least integer from which on a condition holds."""

from __future__ import annotations

from collections.abc import Callable


def least(holds: Callable[[int], bool], start: int = 0) -> int:
    """Return the least integer from ``start`` on for which a condition holds.

    By doubling and bisection: once it holds, it holds for all larger ones.
    """
    step = 1
    while not holds(start + step - 1):
        step *= 2
    low, high = start + step // 2, start + step - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high
