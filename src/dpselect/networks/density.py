"""Ego density: the share of the pairs of neighbours of a node that are adjacent.

    u(v) = 2 A/(d (d - 1)),

with ``d`` neighbours and ``A`` edges between them; 0 where ``d < 2``.

Source: PrivPareto, section 7. Its Lemma 7.2 is not admissible; the bound here is ours.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpselect._twofold import quotient
from dpselect.neighbours import Neighbours
from dpselect.networks import kernels
from dpselect.networks.graph import AnyGraph, node_counts
from dpselect.objective import Facts, Objective
from dpselect.sensitivity import Sensitivity, at_bound
from dpselect.sensitivity.base import checked_distances
from dpselect.typing import Indices, Values


def ego_density(graph: AnyGraph) -> Objective:
    """Return the ego density of every node as an objective.

    ``Δ = 1``. The bound at a distance, ``SpreadSensitivity``, is much smaller in sparse graphs,
    where no other node has many neighbours in common with this one, than any by degrees alone.

    Guarantee:
        Admissible under ``Neighbours.EDGE`` among all graphs on the public nodes. The horizon
        is ``n - 1``, where it has reached 1.

    Args:
        graph: The graph, in memory or in an engine.

    Returns:
        Scores in [0, 1], shape ``(n,)``; ``highest`` is 1. The densest ego networks are
        mostly small ones, whose densities one edge changes most: ``direction`` is
        ``"non-decreasing"``. Where they are not, shifted and anchored dampening miss the best
        node at any epsilon.

    Examples:
        >>> from dpselect.networks import Graph
        >>> paw = Graph.from_edges([(0, 1), (0, 2), (1, 2), (0, 3)], nodes=4)
        >>> ego_density(paw).scores.round(3)
        array([0.333, 1.   , 1.   , 0.   ])
    """
    held = node_counts(graph)
    degrees, n = held.degrees, len(held)
    least, most = held.common_neighbours()
    change = by_spread(degrees, most - least, n)
    pairs = degrees * (degrees - 1) // 2
    facts = replace(ego_density_facts(n), sensitivity=change)
    return facts.of(quotient(held.triangles(), np.maximum(pairs, 1)), held.nodes)


def ego_density_facts(nodes: int) -> Facts:
    """Return what is public of the ego densities of so many nodes."""
    return Facts(
        candidates=nodes,
        sensitivity=at_bound(1.0, neighbours=Neighbours.EDGE),
        highest=1.0,
        direction="non-decreasing",
    )


def by_spread(degrees: Indices, spreads: Indices, n: int) -> SpreadSensitivity:
    """Return the bound ``"spread"`` for degrees and spreads in a graph of ``n`` nodes."""
    return SpreadSensitivity(degrees, spreads, max(n - 1, 1))


class SpreadSensitivity(Sensitivity):
    """Local sensitivity of ego density from the range of common-neighbour counts.

    Let ``c_w = |N(w) ∩ N(v)|``, ``S = max_(w ≠ v) c_w - min_(w ≠ v) c_w`` and ``k = d - t``.
    For ``k ≥ 3``

        δ(t) = min(2/k, max(2(S + t)/(k(k - 2)), 2(S + t + 1)/(k(k + 1)), 2/(k(k - 1)))),

    and ``δ(t) = 1`` for ``k ≤ 2``, except 0 at ``d = t = 0``.

    Proof. With ``c̄`` the mean of ``c`` over ``N(v)``, leaving out a neighbour ``w`` changes
    the density by ``2|c_w - c̄|/((d - 1)(d - 2))``, and ``|c_w - c̄| ≤ (1 - 1/d) S``. Taking in
    ``w`` changes it by ``2|c_w - c̄ d/(d - 1)|/(d(d + 1))``, where ``c̄ d/(d - 1) ≤ c̄ + 1``.
    An edge between two neighbours changes it by ``2/(d(d - 1))``. One edge moves ``d`` by at
    most 1, and all ``c_w`` in one direction by at most 1, so also ``S``.

    Sums stop at distance ``d - 2``, where a node has reached the bound: all nodes together take
    as many steps as there are edges, twice, at any distance.

    Args:
        degrees: ``d``, shape ``(n,)``; at most ``horizon``. Private.
        spreads: ``S``, shape ``(n,)``. Private.
        horizon: Public distance from which on the bound 1 is used.

    Source: ours.
    """

    closed_form = True

    def __init__(self, degrees: Indices, spreads: Indices, horizon: int) -> None:
        super().__init__(1.0, Neighbours.EDGE, horizon)
        self._degrees, self._spreads = degrees, spreads

    def _local(self, distance: int) -> Values:
        return kernels.density_changes(self._degrees, self._spreads, distance)

    def cumulative(self, distance: int | Indices) -> Values:
        # Beyond the horizon as before it: no degree is above the horizon, so all are at 1.
        upto = np.broadcast_to(checked_distances(distance), self._degrees.shape)
        return kernels.summed_density_changes(self._degrees, self._spreads, upto)
