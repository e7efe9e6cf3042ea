"""Releases of the most influential nodes of a network (PrivTopk), and their plans."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.accuracy import error_bound
from dpselect.errors import ParameterError
from dpselect.mechanisms import MechanismFactory, NoisySequence
from dpselect.mechanisms.base import Drawn, charged_release
from dpselect.mechanisms.crossing import rounds_or_sequence
from dpselect.networks.accepted import AnyGraph, accepted, check_persons
from dpselect.networks.asked import AskedCounts
from dpselect.networks.metrics import Metric, MetricChoice, choose
from dpselect.networks.reading import Nodes
from dpselect.objective import Objective
from dpselect.plan import Plan, SupportsSpend
from dpselect.release import Release

Among: TypeAlias = Literal["all", "left"]
"""Which nodes a node is compared with in later rounds."""

WITH_SCORES = partial(NoisySequence, with_scores=True)
"""The mechanism of a threshold, and of noisy scores."""


def plan_nodes(  # noqa: PLR0913 -- keyword-only, each one a public claim
    nodes: Nodes,
    k: int | None = None,
    *,
    above: float | None = None,
    metric: str | Metric | Sequence[str | Metric],
    combine: str | None = None,
    weights: ArrayLike | None = None,
    max_degree: int | None = None,
    max_per_user: int | None = None,
    among: Among = "all",
    epsilon: float,
    mechanism: str | MechanismFactory | None = None,
) -> Plan:
    """Return what :func:`release_nodes` will spend; reads no edge.

    All that is public of an objective (its bound, its horizon, the highest possible score) is
    taken from the graph on these nodes that has no edge.

    Args:
        nodes: The nodes of the graph: their number ``n``, or all ids or labels.
        k: As for :func:`release_nodes`, like all other arguments.
        above: Or a threshold.
        metric: The metric or metrics.
        combine: How several are combined.
        weights: For the combination.
        max_degree: A public bound on the degrees.
        max_per_user: The most edges of a person.
        among: Which nodes a combination compares a node with.
        epsilon: What all rounds cost together, in nats, for ``Neighbours.EDGE``, or with
            ``max_per_user`` for ``Neighbours.ADD_REMOVE`` of a person.
        mechanism: How nodes are drawn.

    Raises:
        ParameterError: An argument is out of its range, or arguments do not go together.
        NeighboursError: A metric is stated for another relation than ``Neighbours.EDGE``.

    Examples:
        >>> plan = plan_nodes(37_700, 5, metric="ego-betweenness", epsilon=1.0)
        >>> plan.mechanism
        "ShiftedLocalDampening(epsilon=1.0, draw=Exponential(), direction='non-decreasing')"
    """
    empty = AskedCounts(nodes)
    choice = choose(
        metric,
        combine=combine,
        weights=weights,
        max_degree=max_degree,
        max_per_user=max_per_user,
        epsilon=epsilon,
        mechanism=WITH_SCORES if mechanism is None and above is not None else mechanism,
    )
    return _planned(choice, empty, k, above, among, suited=mechanism is None)[1]


def release_nodes(  # noqa: PLR0913 -- the plan's arguments, and a budget
    graph: AnyGraph,
    k: int | None = None,
    *,
    above: float | None = None,
    metric: str | Metric | Sequence[str | Metric],
    combine: str | None = None,
    weights: ArrayLike | None = None,
    max_degree: int | None = None,
    max_per_user: int | None = None,
    among: Among = "all",
    epsilon: float,
    mechanism: str | MechanismFactory | None = None,
    budget: SupportsSpend | None = None,
) -> Release:
    r"""Release ``k`` nodes of high centrality, in the order drawn.

    Every round draws one node with ``epsilon / k`` and leaves it out of the next. With the
    exponential draw that is one noisy top-``k``, which is how it is done; permute-and-flip
    redraws in every round. By degree, of which one edge changes two, the noisy sequence of all
    degrees costs the same for any ``k``; without a ``mechanism`` it is drawn where it resolves
    more than rounds do, which for degrees is from ``k = 3`` on.

    Guarantee:
        ``epsilon``-DP under ``Neighbours.EDGE``: one edge more or less. The nodes and all
        arguments but the edges are public. A person may have many edges; each of those is
        protected, not the person. Of a graph that was read with ``user`` a person is
        protected, under ``Neighbours.ADD_REMOVE`` of all rows of one person: at most
        ``max_per_user`` edges come or go, and all sensitivities are those of so many edges.
        To replace one person by another is two such steps.

    Args:
        graph: A :class:`Graph`, or an :class:`EdgeTable`, whose edges stay in their engine; or
            an undirected graph of networkx or igraph, whose node set is then declared public.
        k: How many nodes; 1 to ``n``.
        above: In place of ``k``: all nodes whose noisy score is at least this, largest first,
            with their noisy scores. Not to be read off the data.
        metric: ``"degree"``, ``"ego-density"`` or ``"ego-betweenness"``; or any callable that
            takes a graph and returns an objective over its nodes; or, with ``combine``, a
            sequence of those.
        combine: A key of ``dpselect.combine.COMBINATIONS``, such as ``"pareto"``
            (PrivPareto) or ``"weighted-sum"`` (PrivAgg).
        weights: One finite number per metric, for the combination.
        max_degree: A public bound on the degrees for ``"ego-betweenness"``, such as a limit
            that the service itself sets; ``n - 1`` if not given.
        max_per_user: The most edges of a person, as the graph was read with it.
        among: With a combination that compares nodes, ``"pareto"`` or ``"margin"``, and
            several rounds: ``"all"``, scores are of the first round; or ``"left"``, each
            round compares a node with those that were not drawn yet, as DP-MOTkIN has it.
        epsilon: What all rounds cost together, in nats.
        mechanism: A short name, or a callable that takes ``epsilon=`` and returns the
            mechanism, such as ``partial(NoisySequence, with_scores=True)``. If not given, the
            one that was most accurate for the metric and ``k``: see ``docs/networks.md``.
            Bounds on the sensitivity follow the mechanism, where the metric is given by its
            name.
        budget: Where to record the spend, before anything is drawn.

    Returns:
        The nodes, with the plan. Safe to publish.

    Raises:
        ParameterError: There is no such metric, combination or mechanism, arguments do not go
            together, or a number is out of range.
        PublicClaimError: A degree is above ``max_degree``.
        InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        NeighboursError: The budget is kept for another neighbour relation, or a metric is
            stated for another one.

    Source: Farias et al., VLDB J. 2023, Algorithm 3 (PrivTopk); PrivPareto and PrivAgg,
        section 7 (DP-MOTkIN).

    Examples:
        >>> from dpselect.networks import Graph
        >>> star = Graph.from_edges([(0, leaf) for leaf in range(1, 50)], nodes=50)
        >>> chosen = release_nodes(star, 1, metric="degree", epsilon=2.0)
        >>> chosen.answer, chosen.mechanism
        ((0,), 'PermuteAndFlip(epsilon=2.0)')
    """
    held = accepted(graph)
    check_persons(held, max_per_user)
    choice = choose(
        metric,
        combine=combine,
        weights=weights,
        max_degree=max_degree,
        max_per_user=max_per_user,
        epsilon=epsilon,
        mechanism=WITH_SCORES if mechanism is None and above is not None else mechanism,
    )
    empty = AskedCounts(held.nodes)
    choice, plan = _planned(choice, empty, k, above, among, suited=mechanism is None)
    plan.check(budget)
    if among == "left":
        return _round_by_round(choice, choice.parts(held), k or 1, plan, budget)
    objective = choice.objective(held)
    if isinstance(choice.mechanism, NoisySequence) and above is not None:
        return choice.mechanism.release_above(objective, above, budget, plan=plan)
    return choice.mechanism.release(objective, k or 1, budget, plan=plan)


def _round_by_round(
    choice: MetricChoice,
    parts: list[Objective],
    k: int,
    plan: Plan,
    budget: SupportsSpend | None,
) -> Release:
    """Release one node after the other, each by the scores among those that are left.

    What was drawn is public, so each round is a mechanism on a public candidate set, and the
    rounds compose adaptively (Theorem 9 of ``docs/theory.md``).
    """
    first = choice.combined(parts)
    mechanism = choice.mechanism.for_objective(first).of_one_round(k)

    def draw() -> Drawn:
        left, drawn = np.arange(len(first)), []
        for _ in range(k):
            [place] = mechanism.choose(choice.combined([part.take(left) for part in parts]))
            drawn.append(int(left[place]))
            left = np.delete(left, place)
        return Drawn(drawn)

    return charged_release(plan, budget, first, draw, exact=mechanism.exact)


def _check_rounds(choice: MetricChoice, among: Among) -> None:
    if among not in {"all", "left"}:
        raise ParameterError(f"among must be 'all' or 'left', not {among!r}")
    if among == "left" and choice.combine not in {"pareto", "margin"}:
        raise ParameterError("among='left' goes with combine='pareto' or 'margin'")
    if among == "left" and isinstance(choice.mechanism, NoisySequence):
        raise ParameterError("among='left' draws in rounds, and a noisy sequence has none")


def _planned(
    choice: MetricChoice,
    empty: AskedCounts,
    k: int | None,
    above: float | None,
    among: Among,
    *,
    suited: bool,
) -> tuple[MetricChoice, Plan]:
    """Return the choice and the plan; if ``suited``, with the mechanism that suits ``k``."""
    _check_rounds(choice, among)
    if (k is None) == (above is None):
        raise ParameterError("give k or above, one of them")
    if above is not None:
        _validate.finite("above", above)
        if not isinstance(choice.mechanism, NoisySequence):
            raise ParameterError("above needs a noisy sequence: leave out mechanism")
    k = _validate.at_least("k", 1 if k is None else k, 1)
    if k > len(empty):
        raise ParameterError(f"k must be at most the number of nodes, {len(empty)}, not {k}")
    objective = choice.objective(empty)
    if suited and above is None and among == "all":
        best = rounds_or_sequence(choice.mechanism, objective, k)
        choice = replace(choice, mechanism=best)
    mechanism = choice.mechanism.for_objective(objective)
    plan = mechanism.plan(
        k,
        neighbours=objective.neighbours,
        function="release_nodes",
        arguments=_arguments(choice, empty.nodes, k if above is None else None, above, among),
        public=_public(choice),
        error=error_bound(
            mechanism.of_one_round(k),
            candidates=len(empty),
            bound=objective.sensitivity.bound,
            unit=choice.unit if k == 1 else f"{choice.unit} in each draw",
            # Some node of every graph is on the Pareto front, where the score is 0.
            attained=0.0 if choice.combine == "pareto" and k == 1 else None,
            largest=_largest_error(choice, objective),
        ),
        passes=empty.passes,
    )
    return choice, plan


def _largest_error(choice: MetricChoice, objective: Objective) -> float:
    """Return the largest score that there can be less the smallest, where both are known."""
    if choice.combine == "pareto":
        return float(max(1, len(objective) - 1))
    named = choice.combine is None and isinstance(choice.metrics[0], str)
    return objective.highest if named and objective.highest else inf


def _arguments(
    choice: MetricChoice,
    nodes: Sequence[Hashable],
    k: int | None,
    above: float | None,
    among: Among,
) -> dict[str, object]:
    given = {
        "nodes": nodes,
        "k": k,
        "above": above,
        "metric": choice.name,
        "weights": None if choice.weights is None else np.asarray(choice.weights).tolist(),
        "max_degree": choice.max_degree,
        "max_per_user": choice.max_per_user,
        "among": None if among == "all" else among,
    }
    return {name: value for name, value in given.items() if value is not None}


def _public(choice: MetricChoice) -> tuple[str, ...]:
    claims = ["the nodes"]
    if choice.max_degree is not None:
        claims.append(f"no node has more than {choice.max_degree} neighbours")
    return tuple(claims)
