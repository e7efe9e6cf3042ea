r"""Kernels that count the points at least as large as a query in every coordinate.

Ranks stand for coordinates in the two sweeps: with ``p`` the place of a point in ascending
order of a coordinate and ``t`` the number of points below a query, the point is at least
the query in that coordinate if and only if ``p >= t``, whatever the ties.
"""

import numpy as np

from dpselect._compiled import compiled
from dpselect.typing import Indices, Values

BLOCK = 2048


@compiled
def compare_all(points: Values, queries: Values) -> Indices:
    """Compare every point with every query: O(n q m), without a sort.

    Args:
        points: Shape ``(m, n)``.
        queries: Shape ``(m, q)``.
    """
    m, n = points.shape
    counts = np.zeros(queries.shape[1], np.int64)
    inside = np.empty(BLOCK, np.uint8)
    # A block of points stays in the cache for all queries, and each loop is one that the
    # compiler turns into vector instructions.
    for first in range(0, n, BLOCK):
        size = min(BLOCK, n - first)
        for q in range(queries.shape[1]):
            least = queries[0, q]
            for p in range(size):
                inside[p] = points[0, first + p] >= least
            for i in range(1, m):
                least = queries[i, q]
                for p in range(size):
                    inside[p] &= points[i, first + p] >= least
            total = np.int32(0)
            for p in range(size):
                total += np.int32(inside[p])
            counts[q] += total
    return counts


@compiled
def add(tree: Indices, rank: int, amount: int) -> None:
    """Add to a rank of a Fenwick tree, which has one place more than there are ranks."""
    at = rank + 1
    while at < tree.size:
        tree[at] += amount
        at += at & -at


@compiled
def below(tree: Indices, rank: int) -> int:
    """Return the sum of all amounts at smaller ranks."""
    total, at = 0, rank
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@compiled
def sweep(order: Indices, rank: Indices, ahead: Indices, least: Indices) -> Indices:
    """Count in two coordinates with one Fenwick tree: O((n + q) log n).

    Args:
        order: The points in descending order of the first coordinate, shape ``(n,)``.
        rank: Places of the points in ascending order of the second, shape ``(n,)``.
        ahead: How many points of ``order`` are at least the query in the first
            coordinate, shape ``(q,)``.
        least: How many points are below the query in the second, shape ``(q,)``.
    """
    # The points that are at least a query in the first coordinate are the first ahead[query]
    # of order. Once the tree holds exactly those, the query's count is their number less
    # those below it in the second. Queries wait in linked lists, one for each number.
    n, q = order.size, ahead.size
    first = np.full(n + 1, -1, np.int64)
    after = np.empty(q, np.int64)
    for query in range(q):
        after[query] = first[ahead[query]]
        first[ahead[query]] = query
    counts = np.zeros(q, np.int64)
    tree = np.zeros(n + 1, np.int64)
    for seen in range(1, n + 1):
        add(tree, rank[order[seen - 1]], 1)
        query = first[seen]
        while query >= 0:
            counts[query] = seen - below(tree, least[query])
            query = after[query]
    return counts


@compiled
def divide_and_conquer(order: Indices, keys: Indices, ranks: Indices, n: int) -> Indices:
    """Count in three coordinates: merge by the second, a Fenwick tree for the third.

    Points come first, then queries; O((n + q) log^2 (n + q)).

    Args:
        order: All ``n + q`` in descending order of the first coordinate, points before
            queries where equal.
        keys: The same for the second coordinate as numbers to compare, all different
            between a point and a query: ``2 p + 1`` of a point and ``2 t`` of a query.
        ranks: ``p`` of a point and ``t`` of a query in the third coordinate.
        n: The number of points.
    """
    # Merge sort by the second coordinate, descending. At every merge, the left run has the
    # larger first coordinates, so each pair (point left, query right) is met once, in the
    # merge that first joins them: when the query is taken, the tree holds those points of the
    # left run whose second coordinate is at least the query's, by their ranks in the third.
    size = order.size
    counts = np.zeros(size - n, np.int64)
    tree = np.zeros(n + 1, np.int64)
    merged = np.empty_like(order)
    width = 1
    while width < size:
        for low in range(0, size, 2 * width):
            middle, high = min(low + width, size), min(low + 2 * width, size)
            left, right, added = low, middle, 0
            for to in range(low, high):
                if right == high or (left < middle and keys[order[left]] >= keys[order[right]]):
                    item = order[left]
                    left += 1
                    if item < n:
                        add(tree, ranks[item], 1)
                        added += 1
                else:
                    item = order[right]
                    right += 1
                    if item >= n:
                        counts[item - n] += added - below(tree, ranks[item])
                merged[to] = item
            for at in range(low, middle):
                if order[at] < n:
                    add(tree, ranks[order[at]], -1)
        order, merged = merged, order
        width *= 2
    return counts
