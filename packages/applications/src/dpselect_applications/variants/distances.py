"""How many people lie between a variant and significance, by the allelic test.

With ``x`` and ``y`` copies of an allele among ``n_1`` of the cases and ``n_2`` of the controls,
and ``a = x + y``, ``N = n_1 + n_2``, the statistic is

    χ^2 = N (x n_2 - y n_1)^2/(n_1 n_2 a (N - a)).

It is jointly convex in ``(x, y)``, as the square of a linear function over a concave one, and
on either side of its zeros it grows as ``x`` and ``y`` move apart. So among the tables that
some people can make, the one most in favour of a side is a corner: ``t1`` cases moved as far as
their genotypes allow, and ``t2`` controls the other way. Along ``t1 + t2 = t`` the corners move
on straight pieces, on which a convex function is largest at an end: six corners decide whether
a table is reached.

All comparisons are of integers, so distances are exact.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TypeAlias

import numpy as np

from dpselect.extend import Indices, compiled

Genotypes: TypeAlias = tuple[int, int, int]
"""How many people have no copy of the allele, one and two."""


def least_differences(cases: int, controls: int, statistic: float) -> Indices:
    """Return the least significant ``x n2 - y n1`` for each ``x + y``.

    Args:
        cases: Number of cases.
        controls: Number of controls.
        statistic: The least significant value of the statistic, > 0.

    Returns:
        Shape ``(2 (cases + controls) + 1,)``, int64, at least 1.
    """
    n1, n2 = 2 * cases, 2 * controls
    n = n1 + n2
    above, below = Fraction(statistic).as_integer_ratio()
    factor, divisor = above * n1 * n2, below * n
    squares = (-(-factor * a * (n - a) // divisor) for a in range(n + 1))
    roots = (isqrt(square - 1) + 1 if square > 0 else 1 for square in squares)
    return np.fromiter(roots, np.int64, n + 1)


@compiled
def distances(counts: Indices, cases: int, controls: int, least: Indices) -> Indices:
    """Return each variant's distance from the border of significance, in people.

    Args:
        counts: Cases with one copy and with two, and controls; shape ``(n, 4)``, int64.
        cases: Number of cases, at least that of those with a copy.
        controls: Number of controls, likewise.
        least: ``least_differences`` of both.

    Returns:
        Shape ``(n,)``, int64. Of a significant variant how many people's genotypes can change
        in any way while it stays so; of another, minus how many must change until it is.
    """
    out = np.empty(len(counts), np.int64)
    for i in range(len(counts)):
        case = (cases - counts[i, 0] - counts[i, 1], counts[i, 0], counts[i, 1])
        control = (controls - counts[i, 2] - counts[i, 3], counts[i, 2], counts[i, 3])
        more = _one_side(case, control, cases, controls, least)
        # With fewer copies among cases: the other allele has more.
        fewer = _one_side(case[::-1], control[::-1], cases, controls, least)
        out[i] = max(more, fewer)
    return out


@compiled
def _one_side(
    case: Genotypes, control: Genotypes, cases: int, controls: int, least: Indices
) -> int:
    """Return the distance for significance with more copies among cases."""
    if not _raised(0, 0, case, control, least):
        few, enough = 0, cases + controls
        if not _reached(enough, case, control, least):
            return -enough - 1
        while enough - few > 1:
            people = (few + enough) // 2
            if _reached(people, case, control, least):
                enough = people
            else:
                few = people
        return -enough
    # The corners that are not significant are closed under changes of more people.
    changed_cases, changed_controls = 0, 0
    while changed_controls < controls and _lowered(0, changed_controls, case, control, least):
        changed_controls += 1
    fewest = cases + controls
    while changed_cases <= cases and changed_controls >= 0:
        if _lowered(changed_cases, changed_controls, case, control, least):
            changed_cases += 1
        else:
            fewest = min(fewest, changed_cases + changed_controls)
            changed_controls -= 1
    return fewest - 1


@compiled
def _reached(people: int, case: Genotypes, control: Genotypes, least: Indices) -> bool:
    """Return whether changes of so many people can make a table significant."""
    first, last = max(0, people - sum(control)), min(people, sum(case))
    for end in (
        first,
        last,
        case[0],
        case[0] + case[1],
        people - control[2],
        people - control[2] - control[1],
    ):
        changed = min(max(end, first), last)
        if _raised(changed, people - changed, case, control, least):
            return True
    return False


@compiled
def _raised(t1: int, t2: int, case: Genotypes, control: Genotypes, least: Indices) -> bool:
    """Return whether a table is significant after changes that favour it most."""
    x = case[1] + 2 * case[2] + _moved(t1, case[0], case[1])
    y = control[1] + 2 * control[2] - _moved(t2, control[2], control[1])
    return _difference(x, y, case, control) >= least[x + y]


@compiled
def _lowered(t1: int, t2: int, case: Genotypes, control: Genotypes, least: Indices) -> bool:
    """Return whether a table is significant after changes that favour it least."""
    x = case[1] + 2 * case[2] - _moved(t1, case[2], case[1])
    y = control[1] + 2 * control[2] + _moved(t2, control[0], control[1])
    return _difference(x, y, case, control) >= least[x + y]


@compiled
def _difference(x: int, y: int, case: Genotypes, control: Genotypes) -> int:
    return 2 * (x * sum(control) - y * sum(case))


@compiled
def _moved(people: int, by_two: int, by_one: int) -> int:
    """Return how many copies come, or go, by changes of so many people."""
    return min(people, by_two) + min(people, by_two + by_one)
