"""Hubs through noisy degrees: two steps, the second on the few that are left.

The noisy degrees of all nodes are one noisy sequence. The nodes ``H`` of the largest are public
from then on, and so are caps ``L_v`` made from their noisy degrees. Of these nodes alone the
capped edges between neighbours, ``2 f_(L_v)`` (below), are counted with discrete Laplace noise
of scale ``2 L_v ℓ_1/ε_2``, where

    ℓ_1 = min(|H|, 2) + ∑_(v ∈ H') 1/L_v

and ``H'`` is ``H`` without the two nodes of the largest caps.

**Theorem.** For every ``H`` and all ``L_v ≥ 1`` that are fixed before, these noisy counts are
``ε_2``-DP under ``Neighbours.EDGE``, whatever the degrees are. *Proof.* Let the graphs differ
in the edge ``ij``. If ``i ∈ H``, its count moves by at most ``2 L_i``, which is 1 in units of
``2 L_i``, and so for ``j``. Every other ``v ∈ H`` moves by at most 2, which is ``1/L_v ≤ 1``.
The sum is largest where ``i`` and ``j`` are the two nodes of ``H`` with the largest caps, and
is then ``ℓ_1``; the distributions of independent Laplace noises differ by at most the
exponential of ``ε_2/ℓ_1`` times the sum. ∎ ``H`` and ``L`` are read off the first step, so both
are ε-DP by adaptive composition; a true degree above the noisy one costs accuracy, not privacy.
For a person of up to ``m`` edges both scales are ``m`` times as large: each of ``m`` steps
costs ``ε/m``.

**Capped edges.** The edges between the neighbours ``S = N(v)`` of a node are the triangles
through it. One edge at ``v`` moves their number by up to the degree. Counted instead is

    f_L(S) = max { ∑_e x_e : 0 ≤ x_e ≤ 1, ∑_(e ∋ w) x_e ≤ L for all w ∈ S }

over the edges ``e`` between nodes of ``S``: their number, where no node of ``S`` has more than
``L`` neighbours in ``S``.

**Lemma.** A node of ``S`` more changes ``f_L`` by 0 to ``L``, an edge more by at
most 1. So an edge at ``v`` changes it by at most ``L``, any other edge by at most 1, for all
degrees. *Proof.* More edges lose nothing: extend ``x`` by 0. A node more: leave out its edges
in an optimal ``x``, which carry at most ``L``; the rest is feasible without it. An edge more:
leave it out, which carries at most 1. ∎

``2 f_L`` is the largest flow through the bipartite double cover of ``S``, with capacities ``L``
at its ends and 1 at its edges, and an integer.

Source: the extension of edge counts to graphs of any degree is that of Kasiviswanathan, Nissim,
Raskhodnikova and Smith, TCC 2013; here it is of ego networks, under one edge.

**Estimates** are post-processing: all they see is released. With ``d`` neighbours and ``T``
edges between them, the density is ``p = T / binom(d, 2)``. In a random ego network of this
density two neighbours have a number of common neighbours with the distribution
``Bin(d - 2, p^2)``, and the mean of ``1/(k + 1)`` is ``(1 - (1 - p^2)^(d-1)) / ((d - 1) p^2)``.
So the ego betweenness is estimated as

    binom(d, 2) (1 - p) (1 - (1 - p^2)^(d - 1))/((d - 1) p^2).

At a large epsilon the error of this estimate, and that of the caps, is larger than noise on the
ego betweenness itself, which is counted there: ``b_L``, of ``v`` among the first ``L_v ≥ 2`` of
its neighbours in the order of ``nodes``, with noise of scale ``M_v ℓ_1/ε_2``, where
``M_v = (L_v - 1) + (L_v - 1)(L_v - 2)/4`` and ``ℓ_1`` is as above with ``L_v/2M_v`` in place
of ``1/L_v``. *Proof.* An edge at ``v`` brings at most one node into the first ``L_v`` and takes
at most one out. To ``s ≤ L_v - 1`` others, of which ``c`` are its neighbours, a node more adds
at most ``s - c`` pairs, and it takes at most half of each of ``c(c - 1)/2``: ``b_L`` moves by
at most ``s`` upwards and ``s(s - 1)/4`` downwards, and by a node in and another out by at most
the sum of both. An edge within the first ``L_v`` takes one pair, and at most half of each of
``L_v - 2`` others. ∎

Noisy densities are drawn to their mean by the share of their variance that is noise (empirical
Bayes), so that with much noise the order is that of the degrees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpselect import Plan, Query, Release, Spend, tables
from dpselect.errors import ParameterError
from dpselect.extend import (
    SLACK,
    Claim,
    Columns,
    Design,
    Indices,
    NodeRows,
    Nodes,
    OnInvalid,
    Values,
    largest,
    noisy_counts,
    of_persons,
    query,
    reads,
    validation,
)
from dpselect.mechanisms import NoisySequence, TopK
from dpselect.networks import METRICS, EdgeTable, Graph

LARGEST_FLOW = 2**31 - 1

ROUNDS = 20
"""Iterations of the fixed point of the mean and the variance of densities."""

COUNTED_FROM = 50.0
"""Epsilon for each edge of a person from which on ego betweenness itself is counted."""

ESTIMATED_FROM = 1.0
"""Epsilon for each edge of a person from which on ego betweenness is estimated at all; five
times this where there are not so many nodes:"""

MANY_NODES = 10_000

STEPS = 64
"""Ego betweenness is rounded to this part of 1, which moves two counts by at most that more."""

CAP_SHARE = 0.1
"""The cap of a node over its noisy degree, at least."""

IN_MEMORY = "hubs are counted in memory: give a file, a frame that is not lazy, or a Graph"


def pairs_of(degrees: Values) -> Values:
    """Return the number of pairs of neighbours."""
    return degrees * (degrees - 1) / 2


def estimated_densities(edges: Values, deviations: Values, degrees: Values) -> Values:
    """Return densities of ego networks, drawn to their mean where they are mostly noise.

    Args:
        edges: Noisy numbers of edges between neighbours, shape ``(m,)``.
        deviations: Standard deviations of their noise.
        degrees: Noisy degrees, >= 2.

    Returns:
        Shape ``(m,)``, in [0, 1].
    """
    noisy, variances = edges / pairs_of(degrees), (deviations / pairs_of(degrees)) ** 2
    spread = 0.0
    for _ in range(ROUNDS):
        weights = 1 / (variances + spread)
        mean = (weights @ noisy) / weights.sum()
        excess = (noisy - mean) ** 2 - variances
        spread = max(0.0, float(weights**2 @ excess / (weights**2).sum()))
    drawn = mean + spread / (spread + variances) * (noisy - mean)
    return np.clip(drawn, 0.0, 1.0)


def estimated_betweenness(densities: Values, degrees: Values) -> Values:
    """Return the mean ego betweenness of random ego networks of these densities."""
    square = densities**2
    others = degrees - 1
    with np.errstate(divide="ignore"):
        met = -np.expm1(others * np.log1p(-np.minimum(square, 1.0)))
    shares = np.where(square > 0, met / np.maximum(others * square, 1e-300), 1.0)
    return pairs_of(degrees) * (1 - densities) * np.minimum(shares, 1.0)


def caps_of(degrees: Values, candidates: int, most: int) -> Indices:
    """Return the caps of nodes by their noisy degrees, from 1 to ``most``.

    A cap below ``candidates / 2`` would hardly save noise: caps of ``m`` nodes that are all
    ``L`` have the scale ``2L ℓ_1 ~ 2(2L + m)``.
    """
    least = np.minimum(degrees, candidates / 2)
    caps = np.ceil(np.maximum(CAP_SHARE * degrees, least))
    return np.clip(caps, 1, most).astype(np.int64)


@query
class Hubs(Query[Release[Any]]):
    """The hubs of the largest ego betweenness, by estimates.

    First noise is added to all degrees, for ``degrees_share`` of epsilon, and the
    ``candidates`` nodes with the largest noisy degrees are kept. The rest of epsilon is spent
    on noisy numbers of edges between the neighbours of each of these. Degrees and edges give an
    estimate of the metric (``hubs``), by which the ``k`` nodes are selected and ordered; the
    estimates are the ``noisy_scores`` of the answer.

    The estimate of ego betweenness is that of a random ego network of the same degree and
    density, .7 to 1.24 of the true one by the median on five graphs;
    ``docs/report/measurements.md`` compares it with the order of the degrees. From an
    epsilon of 50 on (times ``max_per_user``) it is the ego betweenness itself, with noise.
    Below 5, of 10,000 nodes or more below 1 (times ``max_per_user``), estimates find fewer
    hubs than the degrees alone: then all of epsilon is spent on these, and the scores are
    noisy degrees.

    Data are edges or a graph, as for ``TopNodes``, in memory.

    Guarantee:
        ``epsilon``-DP under ``Neighbours.EDGE``: neighbours differ in one edge. With ``user``,
        under ``Neighbours.ADD_REMOVE``: they differ in all rows of one person. All fields are
        public.

    Attributes:
        nodes: All nodes: their number ``n``, for ids from 0 to ``n - 1``, or all ids or labels.
            Not derived from the edges.
        source: Column of one end.
        target: Column of the other end.
        k: Number of nodes; at most ``candidates``.
        metric: Metric of the hubs: ``"ego-betweenness"``.
        candidates: Number of nodes with the largest noisy degrees that are estimated. By
            default ``3 k``, at most ``n``.
        degrees_share: Share of epsilon for the degrees; in (0, 1). By default 1/2, or all of it
            where the degrees alone find more.
        user: Column of the person that a row belongs to. Text, integers, booleans or
            dates; rows without a person are dropped.
        max_per_user: Maximal number of different edges counted per person. For a graph, the
            number with which it was read.
        on_invalid: What happens to rows that are not an edge between two of the nodes.
            ``"repair"`` drops them; ``"raise"`` is for curators who declare publicly that there
            are none.
        epsilon: Price of both steps together, in nats; finite, > 0.

    Examples:
        >>> import dpselect as dp
        >>> star = [(0, leaf) for leaf in range(1, 500)]
        >>> hubs = dp.Hubs(nodes=500, k=1, metric="ego-betweenness", epsilon=2.0)
        >>> hubs.release(star).answer
        (0,)
    """

    nodes: Nodes
    source: str = "source"
    target: str = "target"
    k: Annotated[int, validation.integers(1)]
    metric: Literal["ego-betweenness"] = "ego-betweenness"
    candidates: Annotated[int | None, validation.integers(1)] = None
    degrees_share: Annotated[float | None, validation.share] = None
    user: str | None = None
    max_per_user: int | None = None
    on_invalid: Annotated[OnInvalid, Claim("repair")] = "repair"
    epsilon: Annotated[float, validation.positive]

    @property
    def counts_what_it_scores(self) -> bool:
        return len(self.plan.spends) == 1

    def heads(self) -> tuple[str, str]:
        degrees = self.counts_what_it_scores
        return "node", "degree, noisy" if degrees else f"{self.metric}, estimated"

    def reads(self) -> Columns:
        return reads(self.source, self.target, self.nodes)

    def design(self) -> _Hubs:
        rows = NodeRows.asked(self)
        n, times = len(rows.nodes), rows.max_per_user or 1
        candidates = self.candidates or min(3 * self.k, n)
        if not self.k <= candidates <= n:
            raise ParameterError(
                "`k` must be at most `candidates`, and `candidates` at most the number of "
                f"nodes, {n}; not {self.k} and {candidates}"
            )
        epsilon = self.epsilon
        least = ESTIMATED_FROM * times * (1 if n >= MANY_NODES else 5)
        share = self.degrees_share or (1.0 if epsilon < least else 0.5)
        facts = of_persons(METRICS["degree"].facts(n), rows.max_per_user)
        first = NoisySequence(epsilon=epsilon * share).for_objective(facts)
        rest = epsilon - first.epsilon
        most = 2 * largest_cap(n) * (candidates + 2) * times
        largest = max(most / rest if rest else 0, 2 * times / first.epsilon)
        noisy_counts.check_scale(largest, most=noisy_counts.LARGEST_SCALE / 2)
        counted = (
            epsilon >= COUNTED_FROM * times
            and STEPS * n * n * (candidates + 2) * times / rest <= noisy_counts.LARGEST_SCALE
        )
        spends = [first.spend("noise on all degrees")]
        said = f"noisy degrees alone: {self.metric} is estimated from a larger epsilon on"
        error = TopK(first, self.k).error(facts, "neighbours", largest=n - 1.0)
        if rest:
            second = "ego betweenness" if counted else "edges between the neighbours"
            spends.append(Spend(f"noise on the {second} of the hubs", rest))
            said = f"noisy degrees, then noisy {second} of the {candidates} largest"
            said += "" if counted else "; scores are estimated from both"
        return _Hubs(
            plan=Plan(
                mechanism=said,
                spends=tuple(spends),
                epsilon=epsilon,
                neighbours=facts.sensitivity.neighbours,
                public=(rows.rule,),
                error=None if rest else error,
            ),
            rows=rows,
            k=self.k,
            candidates=candidates,
            counted=counted,
        )


@dataclass(frozen=True, kw_only=True)
class _Hubs(Design[Release[Any]]):
    rows: NodeRows
    k: int
    candidates: int
    counted: bool

    def check(self, data: object) -> None:
        if tables.is_lazy(data) or isinstance(data, EdgeTable):
            raise ParameterError(IN_MEMORY)
        super().check(data)

    def prepare(self, data: object) -> Callable[[Plan], Release[Any]]:
        graph = self.rows.read(data)
        if not isinstance(graph, Graph):
            raise ParameterError(IN_MEMORY)

        def draw(plan: Plan) -> Release[Any]:
            chosen, estimates = self._draw(graph)
            order = np.argsort(-estimates, kind="stable")[: self.k]
            return Release(
                tuple(graph.nodes[chosen[place]] for place in order),
                plan,
                noisy_scores=tuple(estimates[order].tolist()),
            )

        return draw

    def _draw(self, graph: Graph) -> tuple[list[int], Values]:
        """Draw both steps, and return the positions of the candidates and their estimates."""
        scale = nextafter(2 * (self.rows.max_per_user or 1) / self.plan.spends[0].epsilon, inf)
        noisy = noisy_counts.discrete_laplace(graph.degrees, scale)
        chosen = largest(noisy, self.candidates)
        if len(self.plan.spends) == 1:
            return chosen, noisy[chosen].astype(np.float64)
        degrees = np.clip(noisy[chosen], 2, max(2, len(graph) - 1)).astype(np.float64)
        if self.counted:
            caps = degrees.astype(np.int64)
            at_node, between = changes(caps)
            steps = np.rint(STEPS * betweenness(graph, chosen, caps.tolist())).astype(np.int64)
            sums = self._noisy(steps, STEPS * at_node * moved_together(between / at_node))
            return chosen, np.clip(sums / STEPS, 0, pairs_of(degrees))
        caps = caps_of(degrees, self.candidates, largest_cap(len(graph)))
        units = 2 * caps.astype(np.float64) * moved_together(1 / caps)
        edges = self._noisy(flows(graph, chosen, caps.tolist()), units) / 2
        deviations = self._scales(units) / np.sqrt(2)
        densities = estimated_densities(edges, deviations, degrees)
        return chosen, estimated_betweenness(densities, degrees)

    def _scales(self, units: Values) -> Values:
        """Return the scale of each count, of which one edge moves all by one of its units."""
        return (self.rows.max_per_user or 1) * units / self.plan.spends[1].epsilon

    def _noisy(self, counts: Indices, units: Values) -> Values:
        return np.array(
            [
                noisy_counts.discrete_laplace(count, nextafter(scale, inf))[0]
                for count, scale in zip(
                    counts[:, None], self._scales(units).tolist(), strict=True
                )
            ]
        )


def moved_together(shares: Values) -> float:
    """Return what one edge moves of all counts together, each in units of its own.

    Args:
        shares: What an edge moves of a count of which it is at neither end, in units.
    """
    return float(min(shares.size, 2) + np.sort(shares)[2:].sum()) * (1 + SLACK)


def changes(caps: Indices) -> tuple[Values, Values]:
    """Return what an edge at a node, and any other, moves of its counted ego betweenness."""
    others = caps - 1.0
    return others + others * (caps - 2) / 4 + 1 / STEPS, caps / 2 + 1 / STEPS


def betweenness(graph: Graph, hubs: Sequence[int], caps: Sequence[int]) -> Values:
    """Return the ego betweenness of some nodes among the first of their neighbours.

    Args:
        graph: The graph. Private.
        hubs: Positions of nodes. Public.
        caps: How many neighbours of each, >= 2. Public.

    Returns:
        Shape ``(m,)``, >= 0. Private.
    """
    from scipy.sparse import csr_array

    found = []
    for hub, cap in zip(hubs, caps, strict=True):
        here, there, size = ego_edges(graph, hub)
        size = min(size, cap)
        inside = (here < size) & (there < size)
        ends = (
            np.concatenate([here[inside], np.arange(size)]),
            np.concatenate([there[inside], np.full(size, size)]),
        )
        # A matrix of two nodes is one, where an array of as many columns may be pairs.
        matrix = csr_array((np.ones(ends[0].size, bool), ends), shape=(size + 1, size + 1))
        found.append(Graph.from_edges(matrix, nodes=size + 1).ego_betweenness()[size])
    return np.array(found)


def largest_cap(nodes: int) -> int:
    """Return the largest cap, that of all neighbours, if no flow overflows; public."""
    return max(1, min(nodes - 1, LARGEST_FLOW // nodes))


def flows(graph: Graph, hubs: Sequence[int], caps: Sequence[int]) -> Indices:
    """Return ``2 f_L`` of the neighbours of some nodes.

    Args:
        graph: The graph. Private.
        hubs: Positions of nodes. Public.
        caps: ``L`` of each, >= 1 and at most ``largest_cap``. Public.

    Returns:
        Shape ``(m,)``, >= 0. Private.
    """
    return np.array(
        [flow(*ego_edges(graph, hub), cap) for hub, cap in zip(hubs, caps, strict=True)],
        dtype=np.int64,
    )


def ego_edges(graph: Graph, node: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return both ends of every edge between neighbours, twice, and how many neighbours."""
    starts, rows = graph.starts, graph.rows
    members = rows[starts[node] : starts[node + 1]]
    sizes = starts[members + 1] - starts[members]
    ends = np.concatenate(
        [np.empty(0, np.int32)]
        + [rows[starts[one] : starts[one + 1]] for one in members.tolist()]
    )
    here = np.repeat(np.arange(members.size), sizes)
    there = np.searchsorted(members, ends)
    inside = there < members.size
    inside[inside] = members[there[inside]] == ends[inside]
    return here[inside].astype(np.int64), there[inside].astype(np.int64), members.size


def flow(here: NDArray[np.int64], there: NDArray[np.int64], size: int, cap: int) -> int:
    """Return the largest flow through the double cover of a graph.

    Args:
        here: One end of every edge in both directions, from 0 to ``size - 1``.
        there: The other end.
        size: The number of nodes.
        cap: The capacity of every node.
    """
    if here.size == 0 or int(np.bincount(here).max()) <= cap:
        return int(here.size)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    every = np.arange(size)
    source, sink = 2 * size, 2 * size + 1
    tails = np.concatenate([here, np.full(size, source), size + every])
    heads = np.concatenate([size + there, every, np.full(size, sink)])
    capacities = np.full(tails.size, cap, dtype=np.int32)
    capacities[: here.size] = 1
    network = csr_array((capacities, (tails, heads)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(network, source, sink).flow_value)
