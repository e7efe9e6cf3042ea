"""Compiled loops: counts around every node, and sums of the sensitivity of ego density.

Nodes are ranked by degree, and row ``u`` of the ranked graph lists the ranks of its neighbours
in ascending order, those above ``u`` from ``above[u]`` on. A node has at most ``√2m``
neighbours above itself, since each of those has at least as large a degree and all degrees sum
to ``2m``; scanning only those costs ``O(m √m)`` however skewed the degrees are.

All kernels write only to their own places of ``out``, and need memory for one number per node
besides one ego network. Counts are integers, so no result depends on the order of nodes or on
the number of threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled
from dpselect.typing import Indices, Values

Ids = NDArray[np.int32]


class Ranked(NamedTuple):
    """A graph with nodes in ascending order of degree."""

    starts: Indices
    """Where each row begins, shape ``(n + 1,)``."""

    rows: Ids
    """The neighbours of all nodes, ascending within a row."""

    above: Indices
    """Where the neighbours above the node itself begin, shape ``(n,)``."""


@compiled
def ranked(starts: Indices, rows: Ids, order: Indices) -> tuple[Indices, Ids, Indices]:
    """Relabel a graph by position in ``order``, the nodes in ascending order of degree."""
    n = order.size
    rank = np.empty(n, np.int32)
    new_starts = np.zeros(n + 1, np.int64)
    for u in range(n):
        rank[order[u]] = u
        new_starts[u + 1] = new_starts[u] + starts[order[u] + 1] - starts[order[u]]
    ends = new_starts[:-1].copy()
    above = np.empty(n, np.int64)
    new_rows = np.empty(rows.size, np.int32)
    # Every u is appended to the rows of its neighbours in ascending order, so rows come out
    # sorted, and what row u holds when its own turn comes are the neighbours below u.
    for u in range(n):
        above[u] = ends[u]
        for i in range(starts[order[u]], starts[order[u] + 1]):
            row = rank[rows[i]]
            new_rows[ends[row]] = u
            ends[row] += 1
    return new_starts, new_rows, above


@compiled
def triangles(starts: Indices, rows: Ids, above: Indices, nodes: Indices, out: Indices) -> None:
    """Add to ``out`` the triangles of which one of ``nodes`` is the lowest, at all corners."""
    marked = np.zeros(above.size, np.bool_)
    for u in nodes:
        for i in range(above[u], starts[u + 1]):
            marked[rows[i]] = True
        for i in range(above[u], starts[u + 1]):
            v = rows[i]
            for j in range(above[v], starts[v + 1]):
                w = rows[j]
                if marked[w]:
                    out[u] += 1
                    out[v] += 1
                    out[w] += 1
        for i in range(above[u], starts[u + 1]):
            marked[rows[i]] = False


@compiled
def common_neighbours(
    starts: Indices, rows: Ids, nodes: Indices, met: Indices, least: Indices, most: Indices
) -> None:
    """Update what each node shares with others, for all pairs whose lower is in ``nodes``.

    A common neighbour of ``v`` and ``x`` is the middle of a path of two edges, so the paths
    from ``v`` to nodes ``x`` above it are counted by ``x``; there are ``∑_w d_w (d_w - 1)/2``
    of them in all. ``met`` counts the other nodes with which each has a common neighbour;
    ``least`` and ``most`` are the extremes over those.
    """
    n = starts.size - 1
    shared, touched = np.zeros(n, np.int32), np.empty(n, np.int32)
    for v in nodes:
        count = 0
        for i in range(starts[v], starts[v + 1]):
            w = rows[i]
            row = rows[starts[w] : starts[w + 1]]
            for j in range(np.searchsorted(row, v) + 1, row.size):
                x = row[j]
                if shared[x] == 0:
                    touched[count] = x
                    count += 1
                shared[x] += 1
        met[v] += count
        for i in range(count):
            x = touched[i]
            common = shared[x]
            shared[x] = 0
            met[x] += 1
            least[v], least[x] = min(least[v], common), min(least[x], common)
            most[v], most[x] = max(most[v], common), max(most[x], common)


@compiled
def ego_betweenness(
    starts: Indices, rows: Ids, above: Indices, nodes: Indices, most_edges: int, out: Values
) -> None:
    """Write the ego betweenness of each of ``nodes``.

    Two neighbours of ``v`` that are not adjacent and have ``k`` other common neighbours within
    the ego network are joined by ``k + 1`` shortest paths, one through ``v``: the score is
    ``∑_k (number of such pairs)/(k + 1)``. The pairs with ``k >= 1`` are counted; those with
    ``k = 0`` are all others that are not adjacent (``alone``).

    ``most_edges`` is at least the number of edges among the neighbours of any of them.
    """
    n = above.size
    degrees = starts[1:] - starts[:-1]
    most = degrees[nodes].max() if nodes.size else 0
    place = np.full(n, -1, np.int32)
    low, high = np.empty(most_edges, np.int32), np.empty(most_edges, np.int32)
    local = np.empty(2 * most_edges, np.int32)
    begin, cursor = np.empty(most + 1, np.int64), np.empty(most, np.int64)
    shared, touched = np.zeros(most, np.int32), np.empty(most, np.int32)
    pairs = np.zeros(most + 1, np.int64)
    for v in nodes:
        ego = rows[starts[v] : starts[v + 1]]
        edges = _inner_edges(starts, rows, above, ego, place, low, high)
        _local_rows(ego.size, low[:edges], high[:edges], begin, cursor, local)
        top = _count_pairs(ego.size, begin, cursor, local, shared, touched, pairs)
        alone = ego.size * (ego.size - 1) // 2 - edges
        score, lost = 0.0, 0.0
        for k in range(top, 0, -1):
            alone -= pairs[k]
            term = pairs[k] / (k + 1)
            raised = score + term
            # What the sum rounds away, exactly: one of the two is not the larger.
            lost += (score - raised) + term if score >= term else (term - raised) + score
            score, pairs[k] = raised, 0
        out[v] = alone + (score + lost)


@compiled
def _inner_edges(
    starts: Indices, rows: Ids, above: Indices, ego: Ids, place: Ids, low: Ids, high: Ids
) -> int:
    """List the edges among ``ego`` by position in it, sorted; return how many.

    ``ego`` is ascending, so an edge to a neighbour above is met from its lower position.
    """
    for i in range(ego.size):
        place[ego[i]] = i
    edges = 0
    for i in range(ego.size):
        for j in range(above[ego[i]], starts[ego[i] + 1]):
            other = place[rows[j]]
            if other >= 0:
                low[edges] = i
                high[edges] = other
                edges += 1
    for u in ego:
        place[u] = -1
    return edges


@compiled
def _local_rows(
    size: int, low: Ids, high: Ids, begin: Indices, cursor: Indices, local: Ids
) -> None:
    """Turn sorted edges into sorted rows ``local[begin[i]:begin[i + 1]]``."""
    begin[: size + 1].fill(0)
    for e in range(low.size):
        begin[low[e] + 1] += 1
        begin[high[e] + 1] += 1
    for i in range(size):
        begin[i + 1] += begin[i]
        cursor[i] = begin[i]
    for e in range(low.size):
        local[cursor[low[e]]] = high[e]
        cursor[low[e]] += 1
        local[cursor[high[e]]] = low[e]
        cursor[high[e]] += 1


@compiled
def _count_pairs(
    size: int,
    begin: Indices,
    cursor: Indices,
    local: Ids,
    shared: Ids,
    touched: Ids,
    pairs: Indices,
) -> int:
    """Count pairs that are not adjacent by common neighbours ``k >= 1``; return the most."""
    top = 0
    for i in range(size):
        cursor[i] = begin[i]
    for i in range(size):
        met = 0
        for p in range(begin[i], begin[i + 1]):
            a = local[p]
            # Nodes i come in ascending order, so one step passes i in the row of a, and
            # what follows are the partners above i: every pair is met once.
            cursor[a] += 1
            for q in range(cursor[a], begin[a + 1]):
                b = local[q]
                if shared[b] == 0:
                    touched[met] = b
                    met += 1
                shared[b] += 1
        for p in range(begin[i], begin[i + 1]):
            shared[local[p]] = 0
        for p in range(met):
            k = shared[touched[p]]
            if k > 0:
                pairs[k] += 1
                top = max(top, k)
                shared[touched[p]] = 0
    return top


@compiled
def density_change(degree: int, spread: int, distance: int) -> float:
    """Return the most that one edge can change of a density, at a distance.

    The three terms are those of ``dpselect.networks.density.SpreadSensitivity``, where they are
    proved, with ``left`` for the degree that is left after ``distance`` steps.
    """
    left = degree - distance
    if left <= 2:
        return 0.0 if degree == 0 and distance == 0 else 1.0
    spread += distance
    removal = 2 * spread / (left * (left - 2))
    addition = 2 * (spread + 1) / (left * (left + 1))
    between = 2 / (left * (left - 1))
    return min(2 / left, max(removal, addition, between))


@compiled
def density_changes(degrees: Indices, spreads: Indices, distance: int) -> Values:
    """Return ``density_change`` for all nodes."""
    values = np.empty(degrees.size)
    for node in range(degrees.size):
        values[node] = density_change(degrees[node], spreads[node], distance)
    return values


@compiled
def summed_density_changes(degrees: Indices, spreads: Indices, upto: Indices) -> Values:
    """Sum ``density_change`` up to a distance of each node.

    From the degree less 2 on it is 1, so the work at a node is at most its degree.
    """
    sums = np.empty(degrees.size)
    for node in range(degrees.size):
        degree = degrees[node]
        varying = min(upto[node], max(degree - 2, 1))
        total, lost = 0.0, 0.0
        for t in range(varying):
            delta = density_change(degree, spreads[node], t)
            raised = total + delta
            # Neumaier's sum: a unit score divides it by a term as small as 2/d^2.
            lost += (total - raised) + delta if total >= delta else (delta - raised) + total
            total = raised
        sums[node] = (total + lost) + (upto[node] - varying)
    return sums
