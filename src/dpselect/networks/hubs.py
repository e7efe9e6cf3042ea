r"""Release of hubs through noisy degrees: two steps, the second on the few that are left.

The noisy degrees of all nodes are one noisy sequence. The nodes :math:`H` of the largest are
public from then on, and so are caps :math:`L_v` made from their noisy degrees. Of these nodes
alone the capped edges between neighbours, :math:`2 f_{L_v}` of
:mod:`~dpselect.networks.ego_flow`, are counted with discrete Laplace noise of scale
:math:`2 L_v \ell_1/\varepsilon_2`, where

.. math:: \ell_1 = \min(|H|, 2) + \sum_{v \in H'} 1/L_v

and :math:`H'` is :math:`H` without the two nodes of the largest caps.

**Theorem.** For every :math:`H` and all :math:`L_v \ge 1` that are fixed before, these noisy
counts are :math:`\varepsilon_2`-DP under ``Neighbours.EDGE``, whatever the degrees are.
*Proof.* Let the graphs differ in the edge :math:`ij`. If :math:`i \in H`, its count moves by at
most :math:`2 L_i`, which is 1 in units of :math:`2 L_i`, and so for :math:`j`. Every other
:math:`v \in H` moves by at most 2, which is :math:`1/L_v \le 1`. The sum is largest where
:math:`i` and :math:`j` are the two nodes of :math:`H` with the largest caps, and is then
:math:`\ell_1`; the laws of independent Laplace noises differ by at most the exponential of
:math:`\varepsilon_2/\ell_1` times the sum. ∎ :math:`H` and :math:`L` are read off the first
step, so both are :math:`\varepsilon`-DP by adaptive composition; a true degree above the noisy
one costs accuracy, not privacy. For a person of up to ``m`` edges both scales are ``m`` times
as large: each of ``m`` steps costs :math:`\varepsilon/m`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, nextafter
from types import MappingProxyType

import numpy as np

from dpselect import _validate
from dpselect.draws import noisy_counts
from dpselect.draws.sequence import largest
from dpselect.errors import ParameterError
from dpselect.mechanisms import NoisySequence
from dpselect.networks import ego_flow, hub_estimates
from dpselect.networks.accepted import AnyGraph, accepted, check_persons
from dpselect.networks.graph import Graph
from dpselect.networks.metrics import degree, of_persons
from dpselect.networks.reading import Nodes
from dpselect.plan import Plan, Spend, SupportsSpend
from dpselect.release import Release
from dpselect.typing import Indices, Values

SLACK = 2.0**-40
"""Relative; above the rounding errors of a sum of some thousand quotients."""


@dataclass(frozen=True, slots=True)
class HubMetric:
    """What is estimated of hubs.

    Attributes:
        cap_share: The cap of a node over its noisy degree.
        estimate: From densities and degrees.
    """

    cap_share: float
    estimate: Callable[[Values, Values], Values]


HUB_METRICS: Mapping[str, HubMetric] = MappingProxyType(
    {
        "ego-betweenness": HubMetric(0.1, hub_estimates.ego_betweenness),
        "ego-density": HubMetric(1.0, lambda densities, _degrees: densities),
    }
)
"""The metrics that :func:`release_hubs` knows, by name."""


def plan_hubs(
    nodes: Nodes,
    k: int,
    *,
    metric: str,
    hubs: int | None = None,
    degrees_share: float = 0.5,
    max_per_user: int | None = None,
    epsilon: float,
) -> Plan:
    """Return what :func:`release_hubs` will spend; reads no edge.

    Args:
        nodes: The nodes of the graph: their number ``n``, or all ids or labels.
        k: As for the release, like all other arguments.
        metric: The metric.
        hubs: How many nodes are looked at.
        degrees_share: Share of epsilon for the degrees.
        max_per_user: The most edges of a person.
        epsilon: Of both steps, in nats, for ``Neighbours.EDGE``, or with ``max_per_user``
            for ``Neighbours.ADD_REMOVE`` of a person.

    Raises:
        ParameterError: An argument is out of its range.
    """
    empty = Graph.without_edges(nodes)
    k, hubs = _sizes(k, hubs, len(empty))
    share = _validate.within("degrees_share", degrees_share, 0, 1)
    if share in {0, 1}:
        raise ParameterError("degrees_share must be above 0 and below 1")
    if metric not in HUB_METRICS:
        raise ParameterError(f"metric must be one of {', '.join(HUB_METRICS)}, not {metric!r}")
    epsilon = _validate.positive("epsilon", epsilon)
    times = _validate.at_least("max_per_user", 1 if max_per_user is None else max_per_user, 1)
    degrees = of_persons(degree(empty), max_per_user)
    first = NoisySequence(epsilon=epsilon * share).for_objective(degrees)
    rest = epsilon - first.epsilon
    most = 2 * _largest_cap(len(empty)) * (hubs + 2) * times
    if max(most / rest, 2 * times / first.epsilon) > noisy_counts.LARGEST_SCALE / 2:
        raise ParameterError("epsilon is too small for so many nodes")
    return Plan(
        function="release_hubs",
        arguments={
            "nodes": empty.nodes,
            "k": k,
            "metric": metric,
            "hubs": hubs,
            "degrees_share": share,
            **({} if max_per_user is None else {"max_per_user": times}),
        },
        mechanism=f"ThroughDegrees(epsilon={epsilon:g}, hubs={hubs}, degrees_share={share:g})",
        spends=(
            first.spend("noise on all degrees"),
            Spend("noise on the edges between neighbours of the hubs", rest),
        ),
        epsilon=epsilon,
        neighbours=degrees.neighbours,
        public=("the nodes",),
    )


def release_hubs(
    graph: AnyGraph,
    k: int,
    *,
    metric: str,
    hubs: int | None = None,
    degrees_share: float = 0.5,
    max_per_user: int | None = None,
    epsilon: float,
    budget: SupportsSpend | None = None,
) -> Release:
    r"""Release the ``k`` hubs of the largest ego betweenness or density, by estimates.

    First all degrees get noise, at ``degrees_share`` of epsilon, and the ``hubs`` nodes of the
    largest noisy degrees are kept. The rest of epsilon is spent on noisy numbers of edges
    between the neighbours of these. Degrees and edges give an estimate of the metric
    (:mod:`~dpselect.networks.hub_estimates`), by which the ``k`` are ordered.

    The estimate of ego betweenness is that of a random ego network of the same degree and
    density, and keeps that error at any epsilon; ``docs/networks.md`` measures it beside the
    order of the degrees.

    Guarantee:
        ``epsilon``-DP under ``Neighbours.EDGE``: one edge more or less. The nodes and all
        arguments but the edges are public. Of a graph that was read with ``user``, under
        ``Neighbours.ADD_REMOVE`` of all rows of one person.

    Args:
        graph: A :class:`Graph` in memory, or one of networkx or igraph.
        k: How many nodes; 1 to ``hubs``.
        metric: ``"ego-betweenness"`` or ``"ego-density"``.
        hubs: How many nodes of the largest noisy degrees are looked at; ``3 k`` if not given,
            at most ``n``. The density is that of hubs: small degrees are left out.
        degrees_share: Share of epsilon for the degrees, in (0, 1).
        max_per_user: The most edges of a person, as the graph was read with it.
        epsilon: Of both steps, in nats.
        budget: Where to record the spend, before anything is drawn.

    Returns:
        The nodes, with the estimates as ``noisy_scores``. Safe to publish.

    Raises:
        ParameterError: An argument is out of its range, or the edges are in an engine.
        InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        NeighboursError: The budget is kept for another neighbour relation.

    Examples:
        >>> star = Graph.from_edges([(0, leaf) for leaf in range(1, 500)], nodes=500)
        >>> release_hubs(star, 1, metric="ego-betweenness", epsilon=2.0).answer
        (0,)
    """
    held = accepted(graph)
    if not isinstance(held, Graph):
        raise ParameterError("release_hubs needs a Graph in memory, not a table of edges")
    check_persons(held, max_per_user)
    plan = plan_hubs(
        held.nodes,
        k,
        metric=metric,
        hubs=hubs,
        degrees_share=degrees_share,
        max_per_user=max_per_user,
        epsilon=epsilon,
    )
    k, hubs = _sizes(k, hubs, len(held))
    receipt = plan.charge(budget)
    chosen, estimates = _draw(held, plan, HUB_METRICS[metric], hubs, max_per_user or 1)
    order = np.argsort(-estimates, kind="stable")[:k]
    return Release(
        answer=tuple(held.nodes[chosen[place]] for place in order),
        plan=plan,
        exact=True,
        noisy_scores=tuple(estimates[order].tolist()),
    ).recorded(receipt)


def _draw(
    graph: Graph, plan: Plan, metric: HubMetric, hubs: int, times: int
) -> tuple[list[int], Values]:
    """Draw both steps; the plan has been charged."""
    of_degrees, of_edges = (spend.epsilon for spend in plan.spends)
    noisy = noisy_counts.discrete_laplace(graph.degrees, nextafter(2 * times / of_degrees, inf))
    chosen = largest(noisy, hubs)
    degrees = np.clip(noisy[chosen], 2, max(2, len(graph) - 1)).astype(np.float64)
    most = _largest_cap(len(graph))
    caps = np.clip(np.ceil(metric.cap_share * degrees), 1, most).astype(np.int64)
    scales = 2 * times * caps * moved_together(caps) / of_edges
    counts = ego_flow.flows(graph, chosen, caps.tolist())
    edges = np.array(
        [
            noisy_counts.discrete_laplace(count, nextafter(scale, inf))[0] / 2
            for count, scale in zip(counts[:, None], scales.tolist(), strict=True)
        ]
    )
    densities = hub_estimates.densities(edges, scales / np.sqrt(2), degrees)
    return chosen, metric.estimate(densities, degrees)


def moved_together(caps: Indices) -> float:
    """Return what one edge moves of all counts together, each in units of twice its cap."""
    shares = np.sort(1 / caps)
    return float(min(caps.size, 2) + shares[2:].sum()) * (1 + SLACK)


def _largest_cap(nodes: int) -> int:
    return max(1, min(nodes - 1, ego_flow.largest_cap(nodes)))


def _sizes(k: int, hubs: int | None, nodes: int) -> tuple[int, int]:
    k = _validate.at_least("k", k, 1)
    hubs = min(3 * k, nodes) if hubs is None else _validate.at_least("hubs", hubs, 1)
    if not k <= hubs <= nodes:
        raise ParameterError(
            f"k must be at most hubs, and hubs at most the number of nodes, {nodes}; not {k} "
            f"and {hubs}"
        )
    return k, hubs
