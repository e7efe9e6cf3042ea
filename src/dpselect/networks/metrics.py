"""Metrics of nodes by name, with the mechanism and the sensitivity bound that suit each.

A metric states what is public of its objectives, as plans have to know it before a graph is
read. ``METRICS`` is the one list of names; a metric without a name is given as a ``Metric``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias

from dpselect import combine as _combine, mechanisms, validation
from dpselect.combine.fronts.dominance import checked_dominance
from dpselect.combine.registry import UNITS
from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.networks.betweenness import ego_betweenness, ego_betweenness_facts
from dpselect.networks.density import ego_density, ego_density_facts
from dpselect.networks.graph import AnyGraph, NodeCounts, node_counts
from dpselect.objective import Facts, Objective
from dpselect.sensitivity import GlobalSensitivity, grouped

STATED = attrgetter("neighbours", "bound", "l1")
"""What is public of a sensitivity."""

COMMON = "common neighbours"
COUNTS = ("degrees", COMMON, "pairs", "triangles")
"""All counts of an edge table, each of which is made once."""


def degree(graph: AnyGraph) -> Objective:
    """Return the degree of every node as an objective.

    One more edge adds 1 to the degrees of its ends and changes no other degree.

    Guarantee:
        ``δ = Δ = 1`` and 2 for all degrees together (``l1``), under ``Neighbours.EDGE``, exact;
        monotone, which is worth a factor of 2 in epsilon. The nodes are public.

    Args:
        graph: The graph, in memory or in an engine.

    Returns:
        Integer scores, shape ``(n,)``; ``highest`` is ``n - 1``.

    Examples:
        >>> from dpselect.networks import Graph
        >>> degree(Graph.from_edges([(0, 1), (0, 2)], nodes=3)).scores
        array([2., 1., 1.])
    """
    held = node_counts(graph)
    return degree_facts(len(held)).of(held.degrees, held.nodes)


def degree_facts(nodes: int) -> Facts:
    """Return what is public of the degrees of so many nodes."""
    return Facts(
        candidates=nodes,
        sensitivity=GlobalSensitivity(1, Neighbours.EDGE, l1=2),
        monotone=True,
        highest=nodes - 1,
        direction="non-decreasing",
        step=1,
    )


def of_persons(facts: Facts, max_per_user: int | None) -> Facts:
    """Return facts under add/remove of the edges of one person (group privacy)."""
    if max_per_user is None:
        return facts
    relation = Neighbours.ADD_REMOVE
    return replace(
        facts, sensitivity=grouped(facts.sensitivity, max_per_user, neighbours=relation)
    )


@dataclass(frozen=True, slots=True)
class Metric:
    """A score of nodes, with what is public of it and how it is drawn by.

    Attributes:
        objective: Function that returns the objective of a graph, over its nodes. Of a
            graph whose edges belong to persons its sensitivity must not fall with the distance.
        facts: Function that returns, for a number of nodes, what is public of all these
            objectives: the ``bound`` and ``l1`` of its sensitivity are those of each, and
            ``Neighbours.EDGE`` is its relation. What else an objective says is not used.
        counts: The counts that ``objective`` asks for, of ``COUNTS``;
            with the bound by degrees without common neighbours.
        mechanism: Short name of the mechanism that draws by it unless another is given.
        unit: Unit of the scores, for error bounds.
        meaning: What is counted of a node.
        bounds: The name of the sensitivity bound for mechanisms that the function's default
            does not suit, by the mechanisms' short names.
        takes_max_degree: Whether both functions take a public bound on degrees.

    Examples:
        >>> import dpselect as dp
        >>> from dpselect.networks import Metric
        >>> def facts(nodes):
        ...     one = dp.GlobalSensitivity(1, dp.Neighbours.EDGE, l1=2)
        ...     return dp.Facts(candidates=nodes, sensitivity=one)
        >>> def isolation(graph):
        ...     return facts(len(graph)).of(-graph.degrees, graph.nodes)
        >>> least = Metric(isolation, facts, counts=["degrees"])
        >>> dp.TopNodes(nodes=3, k=1, metric=least, epsilon=50.0).release([(0, 1)]).answer
        (2,)
    """

    objective: Callable[..., Objective]
    facts: Callable[..., Facts]
    counts: Sequence[str] = COUNTS
    mechanism: str = mechanisms.PermuteAndFlip.name
    unit: str = "score units"
    meaning: str = ""
    bounds: Mapping[str, str] = field(default_factory=dict)
    takes_max_degree: bool = False

    def __str__(self) -> str:
        return str(getattr(self.objective, "__qualname__", self.objective))


Term: TypeAlias = str | Metric | Mapping[str, float]
"""A metric, or a weighted sum of several: their weights by name."""

METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "degree": Metric(
            degree,
            degree_facts,
            ["degrees"],
            mechanisms.PermuteAndFlip.name,
            "neighbours",
            "how many neighbours it has",
        ),
        "ego-density": Metric(
            ego_density,
            ego_density_facts,
            ["degrees", COMMON, "triangles"],
            mechanisms.PairwiseLocalDampening.name,
            "share of pairs of neighbours",
            "share of pairs of its neighbours that are neighbours",
        ),
        # Shifted and anchored dampening accumulate sensitivity from a node's score up to the
        # largest possible score; the bound by degrees, which grows with the score, separates
        # nodes better there. All other mechanisms get the tighter bound by codegrees.
        "ego-betweenness": Metric(
            ego_betweenness,
            ego_betweenness_facts,
            COUNTS,
            mechanisms.PairwiseLocalDampening.name,
            "pairs of neighbours",
            "how many pairs of its neighbours it connects",
            bounds={
                mechanisms.ShiftedLocalDampening.name: "degree",
                mechanisms.AnchoredLocalDampening.name: "degree",
            },
            takes_max_degree=True,
        ),
    }
)
"""Every metric that has a name."""


class Score(NamedTuple):
    """One metric, or a weighted sum of several."""

    metrics: tuple[Metric, ...]
    weights: tuple[float, ...] | None = None

    @classmethod
    def of(cls, term: object) -> Self:
        """Return the score that a field ``metric`` names; a function stands for its name.

        Raises:
            ParameterError: There is no such metric.
        """
        if isinstance(term, Mapping):
            validation.some("metric", term)
            names = [validation.one_of("metric", name, METRICS) for name in term]
            return cls(tuple(METRICS[name] for name in names), tuple(term.values()))
        for named in METRICS.values():
            if term is named.objective:
                return cls((named,))
        if isinstance(term, Metric):
            return cls((term,))
        if callable(term):
            raise ParameterError(
                "`metric` of your own must be a dpselect.networks.Metric, which states its "
                "`facts`"
            )
        return cls((METRICS[validation.one_of("metric", term, METRICS)],))


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """One metric or several combined, and the mechanism that their bounds suit; all public.

    Attributes:
        asked: The query.
        scores: The metrics, or weighted sums of metrics.
        mechanism: The mechanism that was named, or else suits the metrics.
    """

    asked: Any
    scores: tuple[Score, ...]
    mechanism: mechanisms.Mechanism

    @classmethod
    def of(cls, asked: Any) -> Self:  # noqa: ANN401 -- a query
        """Check the fields about metrics and fill in the mechanism, by public facts.

        Raises:
            ParameterError: There is no such metric, combination or mechanism, or fields do
                not go together.
        """
        metric, combine = asked.metric, asked.combine
        if isinstance(metric, str) or not isinstance(metric, Sequence):
            metric = [metric]
        scores = tuple(map(Score.of, metric))
        _check_combination(len(scores), combine, asked.weights)
        checked_dominance(asked.dominance, combine, of="combine")
        bounded = any(one.takes_max_degree for score in scores for one in score.metrics)
        if combine == "margin" and bounded and asked.max_degree is None:
            raise ParameterError(
                "`max_degree` must be given with `combine`='margin': in steps of the largest "
                "possible change the nodes are else all alike"
            )
        if asked.max_degree is not None and not bounded:
            takes = ", ".join(name for name, one in METRICS.items() if one.takes_max_degree)
            raise ParameterError(f"`max_degree` goes with the metric {takes}")
        named = asked.mechanism
        if named is None:
            sequence = mechanisms.NoisySequence.name
            named = _suited(scores, asked) if asked.above is None else sequence
        return cls(asked, scores, mechanisms.by_name(named, asked.epsilon))

    @property
    def alone(self) -> Metric | None:
        """The metric, if there is one that is neither summed nor combined."""
        [metric, *others], weights = self.scores[0]
        single = self.asked.combine is None and weights is None and not others
        return metric if single else None

    @property
    def unit(self) -> str:
        """The unit of the scores."""
        if self.alone is not None:
            return self.alone.unit
        return UNITS.get(self.asked.combine or "", "score units").format("nodes")

    @property
    def passes(self) -> int:
        """The queries of an edge table, one for each count."""
        asked = {
            count
            for score in self.scores
            for metric in score.metrics
            for count in metric.counts
            if count != COMMON or self.mechanism.name not in metric.bounds
        }
        return len(asked)

    def facts(self, nodes: int) -> Facts:
        """Return what is public of the objectives of all graphs of so many nodes.

        Raises:
            ParameterError: A metric or the combination refuses its public arguments.
        """
        parts = [self._facts(score, nodes) for score in self.scores]
        if self.asked.combine is None:
            return parts[0]
        return _combine.facts_of(self.asked.combine, parts, self.asked.weights)

    def _facts(self, score: Score, nodes: int) -> Facts:
        terms = [
            of_persons(self._of_edges(metric, nodes), self.asked.max_per_user)
            for metric in score.metrics
        ]
        if score.weights is None:
            return terms[0]
        return _combine.facts_of("weighted-sum", terms, score.weights)

    def _of_edges(self, metric: Metric, nodes: int) -> Facts:
        facts = metric.facts(nodes, **self._claims(metric))
        facts = validation.instance("what facts of metric returns", facts, Facts)
        if (relation := facts.sensitivity.neighbours) is not Neighbours.EDGE:
            raise NeighboursError(
                f"a metric of nodes must be stated for edge neighbours, not for {relation} "
                "neighbours"
            )
        return facts

    def _claims(self, metric: Metric) -> dict[str, Any]:
        return {"max_degree": self.asked.max_degree} if metric.takes_max_degree else {}

    def objective(self, graph: NodeCounts) -> Objective:
        """Return the objective of a graph.

        Raises:
            ParameterError: A metric returns what its facts deny.
            PublicClaimError: The graph contradicts ``max_degree``.
        """
        return self.combined(self.parts(graph))

    def parts(self, graph: NodeCounts) -> list[Objective]:
        """Return the objective of each score, for one edge or for all edges of a person."""
        return [self._part(score, graph) for score in self.scores]

    def _part(self, score: Score, graph: NodeCounts) -> Objective:
        terms, weights = [self._term(one, graph) for one in score.metrics], score.weights
        return terms[0] if weights is None else _combine.weighted_sum(terms, weights)

    def _term(self, metric: Metric, graph: NodeCounts) -> Objective:
        facts, options = self._of_edges(metric, len(graph)), self._claims(metric)
        if self.mechanism.name in metric.bounds:
            options["sensitivity"] = metric.bounds[self.mechanism.name]
        part = validation.instance(
            "what metric returns", metric.objective(graph, **options), Objective
        )
        if STATED(part.sensitivity) != STATED(facts.sensitivity):
            raise ParameterError(
                "`metric` must return objectives with the neighbours, the bound and the `l1` "
                "of its `facts`"
            )
        facts = replace(facts, sensitivity=part.sensitivity)
        known = of_persons(facts, self.asked.max_per_user)
        return known.of(part.scores_twofold, part.candidates)

    def combined(self, parts: list[Objective]) -> Objective:
        """Return the one objective of several, for the same nodes."""
        asked = self.asked
        if asked.combine is None:
            return parts[0]
        return _combine.by_name(asked.combine, parts, asked.weights, dominance=asked.dominance)


def _check_combination(
    scores: int, combine: str | None, weights: Sequence[float] | None
) -> None:
    if not scores:
        raise ParameterError("`metric` must name at least one metric")
    if combine is None:
        if scores > 1:
            names = ", ".join(_combine.COMBINATIONS)
            raise ParameterError(f"several metrics need `combine`, one of {names}")
        if weights is not None:
            raise ParameterError("`weights` go with `combine`")
        return
    validation.one_of("combine", combine, _combine.COMBINATIONS)
    if combine == "weighted-sum" and weights is None:
        raise ParameterError(
            "`combine`='weighted-sum' needs `weights`, one for each metric, which have "
            "different units"
        )


def _suited(scores: Sequence[Score], asked: Any) -> str:  # noqa: ANN401 -- a query
    """Return the short name of the mechanism that suits a metric or a combination."""
    combine, first = asked.combine, scores[0]
    summed = combine == "weighted-sum" or (combine is None and first.weights is not None)
    every = [metric for score in scores for metric in score.metrics]
    # The largest change of ego betweenness is of no use. Sums of the others are hardly drawn
    # better by pairs, which take as many steps as a node has neighbours.
    if summed and METRICS["ego-betweenness"] in every:
        return mechanisms.PairwiseLocalDampening.name
    if combine is None and not summed:
        return first.metrics[0].mechanism
    rounds = asked.k == 1 or asked.redraw is not None
    return _combine.mechanism_for(combine, asked.dominance, rounds=rounds)
