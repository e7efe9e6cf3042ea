"""Kernels of the ranges of scores within a distance, and of their orders.

A group is *open* in an objective as long as its range does not overlap all others. Ranges only
grow, so none that has closed opens again.
"""

from __future__ import annotations

import numpy as np

from dpselect._compiled import compiled
from dpselect.combine.candidate_groups import GroupTable
from dpselect.combine.score_range import SLACK
from dpselect.typing import Indices, Values


@compiled
def write_ranges(
    of: GroupTable, i: int, groups: Indices, steps: int, slack: float, ends: Values
) -> None:
    """Write the low and the high ends of the ranges of some groups, shape ``(2, c)``.

    With a slack of ``steps * SLACK`` by the operations of
    ``dpselect.combine.score_range.radius``, in their order.

    Args:
        of: Tables of the groups.
        i: The objective.
        groups: Which groups.
        steps: The distance.
        slack: The part of score and sum that is added to the radius.
        ends: Where the ends are written, each to its group's column.
    """
    scores, table, rows, rates = of.scores, of.table, of.rows, of.rates
    for group in groups:
        score, inside = scores[i, group], min(steps, rows[1, i, group])
        total = table[rows[0, i, group] + inside] + (steps - inside) * rates[0, i]
        radius = rates[1, i] * total + slack * (abs(score) + total)
        ends[0, group], ends[1, group] = score - radius, score + radius


@compiled
def still_open(ends: Values, groups: Indices, others: Indices) -> Indices:
    """Return those of ``groups`` that do not overlap all ``others``, in their order."""
    first, last = np.inf, -np.inf
    for other in others:
        first, last = min(first, ends[1, other]), max(last, ends[0, other])
    kept, size = np.empty(groups.size, np.int64), 0
    for group in groups:
        if ends[0, group] > first or ends[1, group] < last:
            kept[size] = group
            size += 1
    return kept[:size]


@compiled
def open_steps(of: GroupTable, i: int, most: int, enough: int) -> int:
    """Return the sum of the numbers of open groups over distances up to ``most``.

    Or some number from ``enough`` on, as soon as it is reached.
    """
    ends = np.empty((2, of.scores.shape[1]))
    groups = np.arange(of.scores.shape[1])
    total = 0
    for steps in range(1, most + 1):
        write_ranges(of, i, groups, steps, steps * SLACK, ends)
        groups = still_open(ends, groups, groups)
        total += groups.size
        if groups.size == 0 or total >= enough:
            break
    return total


@compiled
def sort(values: Values, order: Indices) -> None:
    """Sort an order by merging, where it is not sorted: O(n) if it is, else O(n log n)."""
    spare = np.empty(order.size, np.int64)
    width = 1
    while width < order.size:
        for low in range(0, order.size - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, order.size)
            if values[order[middle - 1]] <= values[order[middle]]:
                continue
            for place in range(low, middle):
                spare[place] = order[place]
            left, right, to = low, middle, low
            while left < middle:
                if right < high and values[order[right]] < values[spare[left]]:
                    order[to] = order[right]
                    right += 1
                else:
                    order[to] = spare[left]
                    left += 1
                to += 1
        width *= 2
