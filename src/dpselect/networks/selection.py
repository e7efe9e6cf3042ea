"""The most influential nodes of a network, released (PrivTopk)."""

from __future__ import annotations

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.mechanisms import MechanismFactory, by_name
from dpselect.networks.engine import EdgeTable
from dpselect.networks.graph import Graph
from dpselect.networks.metric import Metric
from dpselect.networks.metrics import named
from dpselect.plan import SupportsSpend
from dpselect.release import Release


def influential_nodes(
    graph: Graph | EdgeTable,
    k: int,
    *,
    metric: str | Metric,
    mechanism: str | MechanismFactory,
    epsilon: float,
    budget: SupportsSpend | None = None,
) -> Release:
    r"""Release ``k`` nodes of high centrality, in the order drawn.

    Every round draws one node with ``epsilon / k`` and leaves it out of the next. With the
    exponential draw that is one noisy top-``k``, which is how it is done; permute-and-flip
    redraws in every round.

    Guarantee:
        ``epsilon``-DP under ``Neighbours.EDGE``: one edge more or less, the nodes and all
        arguments but the edges public. Who one person is may be many edges; then this
        protects each friendship, not the person.

    Args:
        graph: The graph; as an :class:`EdgeTable` its edges stay in their engine.
        k: How many nodes; 1 to ``n``.
        metric: ``"degree"``, ``"ego-density"``, ``"ego-betweenness"`` (see
            ``metrics.named``), or any :class:`Metric`, such as
            ``EgoBetweenness(max_degree=5000)``.
        mechanism: A short name, or a function that takes ``epsilon=`` and returns the
            mechanism. Which wins where: ``docs/networks.md``.
        epsilon: What all rounds cost together, in nats.
        budget: Where to record the spend, before anything is drawn.

    Returns:
        The nodes, with what each round cost in ``epsilon_per_round``. Safe to publish.

    Raises:
        ParameterError: There is no such metric or mechanism, or a number is out of range.
        PublicClaimError: The graph contradicts what the metric was told.
        InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        NeighboursError: The budget is kept for another neighbour relation.

    Source: Farias et al., VLDB J. 2023, Algorithm 3 (PrivTopk).

    Examples:
        >>> star = Graph.from_edges([(0, leaf) for leaf in range(1, 50)], nodes=50)
        >>> chosen = influential_nodes(
        ...     star, 1, metric="degree", mechanism="permute-and-flip", epsilon=2.0
        ... )
        >>> chosen.candidates, chosen.epsilon_per_round
        ((0,), 2.0)
    """
    if not isinstance(graph, EdgeTable):
        _validate.instance("graph", graph, Graph)
    _validate.at_least("k", k, 1)
    if k > len(graph):
        raise ParameterError(f"k must be at most the number of nodes, {len(graph)}, not {k}")
    score = named(metric, mechanism)
    how = by_name(mechanism, epsilon)
    return how.release(score.objective(graph), k, budget)
