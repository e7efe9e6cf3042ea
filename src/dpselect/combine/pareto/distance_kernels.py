"""Kernels that follow the Pareto score of two objectives distance by distance.

After ``k`` steps candidate ``r`` has the range ``[l_i(r), h_i(r)]`` in objective ``i``. Ranges
only grow, and once that of a group overlaps all others in an objective it does so for good: the
group is *closed* there, else *open*. Real groups close early, as the densities of a node of
degree ``d`` do after about ``d`` steps, so that all groups together are open for few distances.
With ``O_k`` the open groups of one objective, 2,

    P_k(r) = P^1_k(r) - #{s ∈ O_k : h_1(s) ≥ l_1(r), h_2(s) < l_2(r)},
    S_k(r) = #{s ∈ O_k : l_1(s) > h_1(r), l_2(s) > h_2(r)},

where ``P^1_k`` counts by the other objective alone, and for a closed ``r`` what is subtracted
and ``S_k`` are 0. ``P^1_k`` is the same for all groups of equal scores and sensitivities in
objective 1, of which there are few or, without those of objective 2, at most as many. One sweep
over the open groups, sorted by objective 2, with a Fenwick tree over objective 1 counts the
rest.
"""

from __future__ import annotations

import numpy as np

from dpselect._compiled import compiled
from dpselect.combine.candidate_groups import GroupTable
from dpselect.combine.overlap_kernels import sort, still_open, write_ranges
from dpselect.combine.pareto.dominance_kernels import add, below
from dpselect.combine.score_range import SLACK
from dpselect.typing import Indices, Values


@compiled
def apart(ends: Values, by_low: Indices, by_high: Indices, parted: Indices) -> None:
    """Write where ranges are apart from each other.

    Args:
        ends: The low and the high ends of ``w`` ranges, shape ``(2, w)``.
        by_low: Their order by low ends.
        by_high: Their order by high ends.
        parted: Shape ``(4, w)``. For each range how many end below it, how many do not begin
            above it, its place by low and its place by high ends.
    """
    below, begun = 0, 0
    for place in range(by_low.size):
        one, other = by_low[place], by_high[place]
        parted[2, one], parted[3, other] = place, place
        while below < by_high.size and ends[1, by_high[below]] < ends[0, one]:
            below += 1
        while begun < by_low.size and ends[0, by_low[begun]] <= ends[1, other]:
            begun += 1
        parted[0, one], parted[1, other] = below, begun


@compiled
def overlapping(weights: Indices, by_high: Indices, parted: Indices) -> Indices:
    """Return the weight of all ranges that do not end below each."""
    sums = np.zeros(by_high.size + 1, np.int64)
    for place in range(by_high.size):
        sums[place + 1] = sums[place] + weights[by_high[place]]
    counts = np.empty(by_high.size, np.int64)
    for one in range(by_high.size):
        counts[one] = sums[by_high.size] - sums[parted[0, one]]
    return counts


@compiled
def count_open(
    ends: Values,
    by_low: Indices,
    by_high: Indices,
    weights: Indices,
    wide: Indices,
    parted: Indices,
    counted: Indices,
) -> None:
    """Count the rivals of open groups that overlap in objective 1 alone, and sure ones.

    Args:
        ends: The ends of ranges in objective 2, shape ``(2, c)``.
        by_low: The open groups by their low ends.
        by_high: The open groups by their high ends.
        weights: The candidates in each group.
        wide: The number of each group in objective 1.
        parted: As from ``apart``, of objective 1.
        counted: Both counts of each open group are written here, shape ``(2, c)``.
    """
    tree = np.zeros(parted.shape[1] + 1, np.int64)
    at, seen = 0, 0
    for group in by_low:
        while at < by_high.size and ends[1, by_high[at]] < ends[0, group]:
            rival = by_high[at]
            add(tree, parted[3, wide[rival]], weights[rival])
            seen += weights[rival]
            at += 1
        counted[0, group] = seen - below(tree, parted[0, wide[group]])
    tree.fill(0)
    at, seen = by_low.size - 1, 0
    for place in range(by_high.size - 1, -1, -1):
        group = by_high[place]
        while at >= 0 and ends[0, by_low[at]] > ends[1, group]:
            rival = by_low[at]
            add(tree, parted[2, wide[rival]], weights[rival])
            seen += weights[rival]
            at -= 1
        counted[1, group] = seen - below(tree, parted[1, wide[group]])


@compiled
def shortfall_of_two(
    of: GroupTable,
    weights: Indices,
    most: int,
    narrow: int,
    wide: Indices,
    members: Indices,
    dominators: Indices,
) -> Indices:
    """Return the sums of ``n - 1 - δ(x, t, r)`` over ``t < most``, shape ``(c,)``.

    A group that is closed at distance ``t`` has ``δ(t) = P^1_(t+1)``: the sum of these is made
    once for each group of objective 1, and every group adds by how much it differs while it is
    open.

    Args:
        of: Tables of the groups, of two objectives.
        weights: The candidates in each group, shape ``(c,)``.
        most: Distances to add.
        narrow: The objective in which groups close, 0 or 1.
        wide: The number of each group among those of the other objective alone.
        members: One group of each of these, shape ``(w,)``.
        dominators: How many others dominate each group.
    """
    rivals = weights.sum() - 1
    of_wide, totals = np.zeros(members.size, np.int64), np.zeros(members.size, np.int64)
    for each in range(wide.size):
        of_wide[wide[each]] += weights[each]
    more = np.zeros(weights.size, np.int64)
    possible, sure = dominators.copy(), dominators.copy()
    ends, counted = np.empty((2, weights.size)), np.empty((2, weights.size), np.int64)
    by_low, by_high = np.arange(weights.size), np.arange(weights.size)
    parted = np.empty((4, members.size), np.int64)
    wide_low, wide_high = np.arange(members.size), np.arange(members.size)
    for steps in range(1, most + 1):
        write_ranges(of, 1 - narrow, members, steps, steps * SLACK, ends)
        wide_ends = ends[:, members]
        sort(wide_ends[0], wide_low)
        sort(wide_ends[1], wide_high)
        apart(wide_ends, wide_low, wide_high, parted)
        alone = overlapping(of_wide, wide_high, parted) - 1  # without the candidate itself
        totals += rivals - alone
        if by_low.size == 0:
            continue
        write_ranges(of, narrow, by_low, steps, steps * SLACK, ends)
        sort(ends[0], by_low)
        sort(ends[1], by_high)
        count_open(ends, by_low, by_high, weights, wide, parted, counted)
        for group in by_low:
            some, every = alone[wide[group]] - counted[0, group], counted[1, group]
            change = max(some - sure[group], possible[group] - every)
            more[group] += alone[wide[group]] - change
            possible[group], sure[group] = some, every
        by_low, by_high = still_open(ends, by_low, by_low), still_open(ends, by_high, by_low)
    return totals[wide] + more
