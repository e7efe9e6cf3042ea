"""Ego betweenness: the number of pairs of neighbours that a node connects.

For nodes ``u, w ∈ N(v)`` that are not adjacent, with ``k`` other common neighbours in ``N(v)``,
a share ``1/(k + 1)`` of the shortest paths goes through ``v``;

    EBC(v) = ∑_({u, w} ⊆ N(v), u ≁ w) 1/(k_uw + 1).

An edge ``vw`` adds or removes at most one pair for each other neighbour, or changes the share
of the pairs among the ``c`` common neighbours of ``v`` and ``w`` by at most 1/2 each: with
``p(k) = k(k - 1)/4`` the change is at most ``max(d, p(c))``. An edge between two neighbours
changes at most ``d/2``.

Source: Farias et al., VLDB J. 2023, Definition 19 and Lemmas 12, 13 and 16. The bound by a
public degree and the bound by codegrees are ours.
"""

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from dpselect import validation
from dpselect.errors import PublicClaimError
from dpselect.neighbours import Neighbours
from dpselect.networks.graph import AnyGraph, node_counts
from dpselect.objective import Facts, Objective
from dpselect.sensitivity import Sensitivity, TabulatedSensitivity, at_bound, maximum
from dpselect.typing import Indices, Values

BetweennessBound: TypeAlias = Literal["codegree", "degree"]
"""Which sensitivity bound: by degrees and codegrees, or by degrees alone."""


def ego_betweenness(
    graph: AnyGraph,
    *,
    max_degree: int | None = None,
    sensitivity: BetweennessBound = "codegree",
) -> Objective:
    """Return the ego betweenness of every node as an objective.

    With ``d`` the degree, ``h = max_(w ≠ v) |N(w) ∩ N(v)|`` the codegree and ``D`` the public
    bound on degrees, ``Δ = g(D - 1)`` with ``g(k) = max(k, k(k - 1)/4)``, and

    * ``"degree"``: ``δ(t) = g(min(d + t, D - 1))``, exact given the degrees;
    * ``"codegree"``: ``δ(t) = max(min(d + t, D - 1), p(min(h + t, D - 1)))`` with
      ``p(k) = k(k - 1)/4``. Never larger, and smaller by a factor of about ``d/4`` where
      neighbours have little in common. ``d`` and ``h`` move by at most 1 under one edge.

    Guarantee:
        Both are admissible under ``Neighbours.EDGE`` among the graphs on the public nodes with
        no degree above ``D``; the distance of two graphs is the number of different edges. A
        graph with a larger degree raises; whether it does is not protected. The horizon is ``D
        - 1``, where both have reached Δ.

    Args:
        graph: The graph, in memory or in an engine.
        max_degree: ``D``, public: a degree that no node can have exceeded, known without
            looking at the edges; ``n - 1`` if not given.
        sensitivity: The bound to use. Public.

    Returns:
        Scores >= 0, shape ``(n,)``; ``highest`` is ``D (D - 1)/2`` and ``direction``
        ``"non-decreasing"``, as in the paper: shifted dampening ranks nearly by degree, and
        misses the best node at any epsilon if another has a larger degree.

    Raises:
        ParameterError: An argument is out of its range.
        PublicClaimError: A degree is above ``max_degree``; the message does not say which, or
            by how much.

    Examples:
        >>> from dpselect.networks import Graph
        >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)], nodes=4)
        >>> ego_betweenness(star).scores
        array([3., 0., 0., 0.])
    """
    validation.one_of("sensitivity", sensitivity, BetweennessBound)
    held = node_counts(graph)
    facts = ego_betweenness_facts(len(held), max_degree)
    bound, degrees = _largest_degree(len(held), max_degree), held.degrees
    if degrees.max() > bound:
        raise PublicClaimError(
            f"a node has more than `max_degree`={bound} neighbours; a public bound must "
            "hold for every graph that could have been given"
        )
    # The sensitivity first: where it cannot be computed, the scores are not computed either.
    if sensitivity == "codegree":
        change = by_codegrees(degrees, held.common_neighbours().most, bound)
    else:
        change = by_degrees(degrees, bound)
    return replace(facts, sensitivity=change).of(held.ego_betweenness(), held.nodes)


def ego_betweenness_facts(nodes: int, max_degree: int | None = None) -> Facts:
    """Return what is public of the ego betweenness of so many nodes."""
    most = _largest_degree(nodes, max_degree)
    key = max(most, 2) - 1
    return Facts(
        candidates=nodes,
        sensitivity=at_bound(max(key, key * (key - 1) / 4), neighbours=Neighbours.EDGE),
        highest=most * (most - 1) / 2,
        direction="non-decreasing",
    )


def _largest_degree(nodes: int, max_degree: int | None) -> int:
    if max_degree is None:
        return nodes - 1
    return min(validation.at_least("max_degree", max_degree, 1), nodes - 1)


def by_degrees(degrees: Indices, max_degree: int) -> TabulatedSensitivity:
    """Return the bound ``"degree"`` for given degrees."""
    keys = _keys(max_degree)
    table = np.maximum(keys, _pairs(keys))
    return TabulatedSensitivity(
        table, degrees, table[-1], Neighbours.EDGE, horizon=keys.size - 1
    )


def by_codegrees(degrees: Indices, codegrees: Indices, max_degree: int) -> Sensitivity:
    """Return the bound ``"codegree"`` for given degrees and codegrees."""
    keys = _keys(max_degree)
    bound = max(keys[-1], _pairs(keys[-1]))
    terms = [
        TabulatedSensitivity(table, of, bound, Neighbours.EDGE, horizon=keys.size - 1)
        for table, of in ((keys, degrees), (_pairs(keys), codegrees))
        if table[-1] > 0  # two nodes have no pairs of neighbours
    ]
    return maximum(terms)


def _keys(max_degree: int) -> Indices:
    """Return ``0`` to ``D - 1``, and at least 0 and 1, so that a bound is never 0."""
    return np.arange(max(max_degree, 2))


def _pairs(k: Indices) -> Values:
    return k * (k - 1) / 4
