"""The most influential nodes of a network (PrivTopk, DP-MOTkIN)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from dpselect import mechanisms
from dpselect.combine.fronts.dominance import Dominance
from dpselect.errors import ParameterError
from dpselect.mechanisms.base import Drawn, released
from dpselect.networks.edge_queries import Nodes, reads
from dpselect.networks.edge_table import NodeRows
from dpselect.networks.metrics import METRICS, MetricChoice, Term
from dpselect.objective import Facts, Objective
from dpselect.plan import Plan
from dpselect.query import Claim, Columns, Design, Query, query
from dpselect.release import Release
from dpselect.typing import OnInvalid

Redraw: TypeAlias = Literal["remaining"]
"""Which nodes a node is compared with in later rounds, if not all."""

DAMPENED = (
    mechanisms.LocalDampening,
    mechanisms.ShiftedLocalDampening,
    mechanisms.AnchoredLocalDampening,
)

OTHER_ORDER = "at any epsilon a node can rank above others of larger scores and sensitivities"


@query
class TopNodes(Query[Release[Any]]):
    """The nodes of highest centrality, by one metric or several.

    Each round draws one node with ``epsilon / k``, without replacement. With the exponential
    draw this is implemented as one noisy top-``k``; permute-and-flip redraws in every round.
    One edge changes two degrees only, so a noisy sequence of all degrees costs the same for any
    ``k``. Without a ``mechanism`` it is used if it is more accurate than rounds, which for
    degrees is the case from ``k = 3`` on. It also releases noisy scores, at the same price.

    Data are a table of edges: a frame, the path of a Parquet or CSV file, or pairs in an array
    or list. From a lazy frame (polars, DuckDB, PySpark) only counts of nodes leave the engine.
    Data can also be a ``Graph``, an ``EdgeTable``, or an undirected graph of networkx, on the
    same nodes. An edge counts once: a table with a column of weights is refused. The answer
    has the nodes in the order drawn.

    Guarantee:
        ``epsilon``-DP under ``Neighbours.EDGE``: neighbours differ in one edge. All fields are
        public. With ``max_degree`` the guarantee holds among the graphs of at most that degree;
        whether another graph raises ``PublicClaimError`` is not protected. A person can have
        many edges; each edge is protected, not the person. With ``user`` persons are protected:
        under ``Neighbours.ADD_REMOVE`` neighbours differ in all rows of one person, that is, in
        at most ``max_per_user`` edges, and all sensitivities are for that number of edges.
        Replacing one person by another is two such steps.

    Attributes:
        nodes: All nodes: their number ``n``, for ids from 0 to ``n - 1``, or all ids or labels.
            They are the candidates. Not derived from the edges.
        source: Column of one end.
        target: Column of the other end.
        k: Number of nodes.
        above: Threshold, instead of ``k``: all nodes with at least this noisy score are
            released. The largest is first. Not derived from the data.
        metric: Score of the nodes; several with ``combine``. ``"degree"``, ``"ego-density"`` or
            ``"ego-betweenness"``, or a ``dpselect.networks.Metric``; or a mapping of weights by
            name, their weighted sum; or a sequence of those, as ``["degree", {"ego-density":
            100, "ego-betweenness": 1}]``.
        combine: How several metrics are combined. A key of ``dpselect.combine.COMBINATIONS``,
            such as ``"pareto"`` (PrivPareto) or ``"weighted-sum"`` (PrivAgg).
        weights: One finite number per metric, for the combination.
        dominance: With pareto: when a node dominates another. ``"standard"``: at least as
            good by every metric and better by one; ``"weak"``, as the paper defines it, also
            if equal by all; ``"strict"``: better by every one.
        max_degree: Public bound that no degree exceeds, for ego betweenness. Such as a limit
            that the service itself sets; by default ``n - 1``. Not derived from the data.
        user: Column of the person that a row belongs to. Text, integers, booleans or
            dates; rows without a person are dropped.
        max_per_user: Maximal number of different edges counted per person. They are selected by
            a rule that depends on that person's rows alone (``dpselect.tables.people``). For a
            graph, the number with which it was read.
        redraw: With pareto or margin: ``"remaining"`` compares a node with those not drawn yet.
            In each round, as in DP-MOTkIN. By default, scores are those of the first round.
        on_invalid: What happens to rows that are not an edge between two of the nodes.
            ``"repair"`` drops them; ``"raise"`` is for curators who declare publicly that there
            are none.
        interval: Probability that the intervals of all noisy scores hold at once. As 0.95, for
            the scores in this network. It has no extra cost, and shows which nodes are
            certainly among those with the highest scores; it needs a noisy sequence, as for
            degrees. With ``user`` the intervals are of the counted edges alone, and no node is
            certain.
        epsilon: Price of the release, in nats; finite, > 0.
        mechanism: Mechanism that draws the nodes. A short name
            (``dpselect.mechanisms.MECHANISMS``), or a function of ``epsilon=``; by default one
            that finds the best nodes of every graph at a large epsilon
            (``docs/report/measurements.md``). If the metric is given by name, the bounds on the
            sensitivity are those that suit the mechanism.

    Source: Farias et al., VLDB J. 2023, Algorithm 3 (PrivTopk); PrivPareto and PrivAgg,
        section 7 (DP-MOTkIN).

    Examples:
        >>> import dpselect as dp
        >>> star = [(0, leaf) for leaf in range(1, 50)]
        >>> chosen = dp.TopNodes(nodes=50, k=1, metric="degree", epsilon=2.0).release(star)
        >>> chosen.answer, chosen.mechanism
        ((0,), 'PermuteAndFlip(epsilon=2.0)')
    """

    nodes: Nodes
    source: str = "source"
    target: str = "target"
    k: int | None = None
    above: float | None = None
    metric: Term | Sequence[Term]
    combine: str | None = None
    weights: Sequence[float] | None = None
    dominance: Dominance = "standard"
    max_degree: Annotated[int | None, Claim(None)] = None
    user: str | None = None
    max_per_user: int | None = None
    redraw: Redraw | None = None
    on_invalid: Annotated[OnInvalid, Claim("repair")] = "repair"
    interval: float | None = None
    epsilon: float
    mechanism: mechanisms.MechanismLike | None = None

    def reads(self) -> Columns:
        return reads(self.source, self.target, self.nodes)

    def design(self) -> _Nodes:
        rows, choice = NodeRows.asked(self), MetricChoice.of(self)
        _check_rounds(choice, self.redraw)
        facts = choice.facts(len(rows.nodes))
        named = self.mechanism
        if named is None and self.redraw is not None:
            named = choice.mechanism.name
        draw = mechanisms.TopK.choose(
            facts,
            k=self.k,
            above=self.above,
            mechanism=named,
            rounds=choice.mechanism,
            of="nodes",
            interval=self.interval,
        )
        claim = f"no node has more than {self.max_degree} neighbours"
        # Some node of every graph is on the Pareto front, where the score is 0 unless equal
        # nodes dominate each other.
        front = self.combine == "pareto" and self.dominance != "weak"
        one_front = front and (self.k, self.above) == (1, None)
        attained = 0.0 if one_front else None
        plan = draw.plan(
            facts,
            choice.unit,
            public=(rows.rule, *[claim] * (self.max_degree is not None)),
            attained=attained,
            largest=_largest_error(choice, facts),
            passes=(rows.on_invalid == "raise") + choice.passes,
        )
        dampened = isinstance(draw.mechanism, DAMPENED) and not facts.sensitivity.flat
        if dampened and draw.mechanism.gap_per_unit(attained) == inf:
            plan = replace(plan, mechanism=f"{plan.mechanism}; {OTHER_ORDER}")
        return _Nodes(
            plan=plan,
            exact=draw.mechanism.exact,
            rows=rows,
            choice=choice,
            draw=draw,
            redraw=self.redraw,
        )

    @property
    def counts_what_it_scores(self) -> bool:
        return self.combine is None

    def heads(self) -> tuple[str, str]:
        return "node", f"{self.metric if isinstance(self.metric, str) else 'score'}, noisy"

    def objective(self, data: object) -> Objective:
        """Return the objective that a release draws by, to measure on public data; private.

        Args:
            data: As for a release.
        """
        made = self.design()
        return made.choice.objective(made.rows.read(data))


@dataclass(frozen=True, kw_only=True)
class _Nodes(Design[Release[Any]]):
    rows: NodeRows
    choice: MetricChoice
    draw: mechanisms.TopK
    redraw: Redraw | None

    def prepare(self, data: object) -> Callable[[Plan], Release[Any]]:
        degrees = self.choice.alone is METRICS["degree"]
        parts = self.choice.parts(self.rows.read(data, degrees=degrees))
        first = self.choice.combined(parts)
        if self.redraw is None:
            return self.draw.prepare(first)
        return released(first.candidates, self._rounds(parts))

    def _rounds(self, parts: list[Objective]) -> Callable[[], Drawn]:
        """Return the draw of one node after the other, by the scores among the remaining.

        What was drawn is public, so each round is a mechanism on a public candidate set, and
        the rounds compose adaptively (Theorem 11 of ``docs/report``).
        """
        mechanism = self.draw.mechanism.single_round(self.draw.k)

        def draw() -> Drawn:
            left, drawn = np.arange(len(parts[0])), []
            for _ in range(self.draw.k):
                among = self.choice.combined([part.take(left) for part in parts])
                [place] = mechanism.draw_positions(among)
                drawn.append(int(left[place]))
                left = np.delete(left, place)
            return Drawn(drawn)

        return draw


def _check_rounds(choice: MetricChoice, redraw: Redraw | None) -> None:
    if redraw is None:
        return
    if choice.asked.combine not in {"pareto", "margin"}:
        raise ParameterError("`redraw` goes with `combine`='pareto' or 'margin'")
    if isinstance(choice.mechanism, mechanisms.NoisySequence):
        raise ParameterError("`redraw` is for draws in rounds, and a noisy sequence has none")


def _largest_error(choice: MetricChoice, facts: Facts) -> float:
    """Return the largest score that there can be less the smallest, where both are known."""
    if choice.asked.combine == "pareto":
        return float(max(1, len(facts) - 1))
    # A metric of one's own may err about its largest score, which is not checked.
    known = choice.alone in METRICS.values()
    return facts.highest if known and facts.highest else inf
