"""The query of a front of trees that trade the rates of two classes, and their evolution.

Generations of candidate trees are each selected by their rates. ``selection`` is the measure of
a good tree, ``rate_bound`` the bound on what one record can change of it:

================  ======================  ==============================================
``selection``     ``rate_bound``          source
================  ======================  ==============================================
``pareto``        ``global``, ``local``   PrivPareto of the paper
``weighted-sum``  ``global``, ``local``   PrivAgg of the paper; its maximum, not its sum
``margin``        ``global``              ours
any               ``noisy-denominators``  ours: counts over class totals released once
================  ======================  ==============================================

Source: Farias et al., PrivPareto, Algorithm 1 (DP-MOET).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from dpselect import validation
from dpselect._optional import Axes
from dpselect.combine import disjoint_sum
from dpselect.combine.fronts.dominance import Dominance, checked_dominance
from dpselect.combine.registry import by_name, facts_of
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, MechanismLike
from dpselect.mechanisms.base import as_step
from dpselect.neighbours import Neighbours
from dpselect.objective import Facts, Objective
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.query import query
from dpselect.release import Release
from dpselect.sensitivity import GlobalSensitivity, at_bound
from dpselect.trees.base import Sampler, Training, _RecordsQuery
from dpselect.trees.candidates import Breeder, Individual
from dpselect.trees.counts import Counts, level_passes
from dpselect.trees.rates import (
    FAR,
    WeightedRatesSensitivity,
    checked_weights,
    rate_over,
    true_positive_rate,
)
from dpselect.trees.tree import SMALLEST, Leaf, Node, Split, Tree
from dpselect.typing import Indices, Values
from dpselect.validation import integers, numbers

Selection: TypeAlias = Literal["pareto", "weighted-sum", "margin"]
"""The measure of a good tree."""

Operators: TypeAlias = Literal["shallow", "published"]
"""How trees are crossed and mutated."""

RateBound: TypeAlias = Literal["global", "local", "noisy-denominators"]
"""Bound on the change by one record."""

MOST_GENERATIONS = 10_000
"""Each has a share of epsilon."""

MOST_TREES, MOST_QUESTIONS = 10**6, 20
"""Largest population, and questions on a path of its first trees."""


RATES = ("true_positive_rate", "true_negative_rate")
"""Columns of a front."""


@dataclass(frozen=True)
class FrontTree:
    """A released tree with its noisy rates.

    Attributes:
        tree: The tree.
        true_positive_rate: Noisy, in [0, 1]; None if no rates were released.
        true_negative_rate: Likewise.
    """

    tree: Tree
    true_positive_rate: float | None
    true_negative_rate: float | None

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """The noisy rates of the positive and the negative class."""
        return self.true_positive_rate, self.true_negative_rate


@dataclass(frozen=True, repr=False)
class FrontRelease(Release[FrontTree]):
    """A release of a front of trees, the first drawn first.

    Attributes:
        best: Position of the tree with the largest weighted sum of noisy rates; 0 if no rates
            were released.
    """

    best: int = 0

    @property
    def tree(self) -> Tree:
        """The best tree."""
        return self.answer[self.best].tree

    def released(self) -> dict[str, Any]:
        """Return the trees as text, with their rates."""
        return {
            "trees": [one.tree.to_text() for one in self.answer],
            "true_positive_and_negative_rates": [one.rates for one in self.answer],
            "best": self.best,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain Python values, trees by ``Tree.to_dict``."""
        trees = [one.tree.to_dict() for one in self.answer]
        return {**super().to_dict(), "trees": trees}

    def table(self) -> dict[str, list[Any]]:
        """Return the rates of the trees as columns."""
        rates = {name: [getattr(one, name) for one in self.answer] for name in RATES}
        return {"tree": [*range(len(self.answer))], **rates}

    def shown(self) -> dict[str, list[Any]]:
        """Return the noisy rates with four digits, if any were released."""
        columns = self.table()
        for name in RATES:
            rates = columns.pop(name)
            if None not in rates:
                columns[f"{name.replace('_', ' ')}, noisy"] = [round(one, 4) for one in rates]
        return columns

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the best tree.

        Args:
            ax: Axes to draw into; a new figure if not given.
        """
        return self.tree.plot(ax, title=self.plan.name)


@dataclass(frozen=True, kw_only=True)
class Evolution(Training[FrontRelease]):
    """An evolution of trees.

    Every query sees every record, so that several records move it that many times as far.
    """

    asked: TreeFront

    def __post_init__(self) -> None:
        asked = self.asked
        if len(self.schema.classes) != 2:
            raise ParameterError(
                "Only binary classification is supported: `classes` must be the negative and "
                "the positive label"
            )
        checked_dominance(asked.dominance, asked.selection, of="selection")
        if (asked.selection, asked.rate_bound) == ("margin", "local"):
            raise ParameterError(
                "`selection`='margin' is in steps of public bounds: `rate_bound` must be "
                "'noisy-denominators' or 'global'"
            )
        for name in ("survivors", "front"):
            validation.at_least(name, getattr(asked, name), 1, asked.population)
        # A mutated tree is full down to the largest depth, as published.
        deepest = MOST_QUESTIONS if asked.operators == "published" else None
        validation.at_least("max_depth", asked.max_depth, asked.initial_depth, deepest)
        if self._totals_share + asked.rates_share >= 1 or (
            self._has_totals and not self._totals_share
        ):
            raise ParameterError(
                "`totals_share` must be > 0, and with `rates_share` below 1: the selections "
                "need the rest"
            )
        _ = self.weights, self.candidates()
        super().__post_init__()

    @cached_property
    def weights(self) -> tuple[float, float]:
        """Weights of the two classes' rates, in the classes' order."""
        positive, negative = checked_weights(self.asked.weights)
        return negative, positive

    @property
    def _has_totals(self) -> bool:
        return self.asked.rate_bound == "noisy-denominators"

    @property
    def _totals_share(self) -> float:
        return self.asked.totals_share if self._has_totals else 0.0

    @property
    def totals_epsilon(self) -> float:
        """Price of noisy class totals; 0 if there are none."""
        return self.asked.epsilon * self._totals_share

    @property
    def selections(self) -> list[tuple[float, int]]:
        """Price of each selection, and how many trees it keeps."""
        asked = self.asked
        left = 1 - self._totals_share - asked.rates_share
        each = asked.epsilon * left / asked.generations
        return [(each, asked.survivors)] * (asked.generations - 1) + [(each, asked.front)]

    @property
    def rates_epsilon(self) -> float:
        """Price of the noisy rates of the front; 0 for none."""
        return self.asked.epsilon * self.asked.rates_share

    @property
    def label(self) -> str:
        return f"{self.selected_by(1.0).label} by {self._by}"

    @property
    def _by(self) -> str:
        return f"{self.asked.selection}, {self.asked.rate_bound}"

    @property
    def _pairs(self) -> int:
        """Parents that have two children each in a generation."""
        return (self.asked.population + 1) // 2

    @property
    def passes(self) -> int:
        # Totals, and the hits of each generation.
        later = self.asked.survivors + 2 * self._pairs
        trees = [self.asked.population] + [later] * (self.asked.generations - 1)
        trees += [self.asked.front] if self.rates_epsilon else []
        return level_passes(self.schema, 0, trees)

    def spends(self) -> tuple[Spend, ...]:
        selections = [
            self.selected_by(epsilon).spend(f"one of {kept} trees by {self._by}", kept)
            for epsilon, kept in self.selections
        ]
        # A record counts in its class's total and in at most one count of each tree.
        counts = self.asked.front + 1
        each = self.rates_epsilon / counts
        totals = Spend("noisy class totals", self.totals_epsilon)
        rates = Spend("noisy count of the front's rates", each, times=counts)
        return tuple(one for one in (totals, *selections, rates) if one.epsilon > 0)

    @property
    def error(self) -> ErrorBound | None:
        """The bound on the noise in a count that rates are made of."""
        each, unit = self.rates_epsilon / (self.asked.front + 1), "records in a count of a rate"
        return ErrorBound.of_count(self.steps / each, unit) if each else None

    def selected_by(self, epsilon: float) -> Mechanism:
        """Return the mechanism of a selection."""
        asked = self.asked
        usual: MechanismLike = "local-dampening"
        if asked.selection == "margin" or (
            asked.selection == "weighted-sum" and self._has_totals
        ):
            usual = "permute-and-flip"
        elif asked.rate_bound == "global":
            usual = "exponential"
        drawn = as_step(usual if asked.mechanism is None else asked.mechanism, epsilon)
        drawn.for_objective(self.facts)  # it may need what no score of trees states
        return drawn

    @property
    def facts(self) -> Facts:
        """What is public of the objective of a selection, for one tree."""
        relation, local = Neighbours.ADD_REMOVE, self.asked.rate_bound == "local"
        one = at_bound(1, neighbours=relation) if local else GlobalSensitivity(1, relation)
        rate = Facts(candidates=1, sensitivity=one, highest=1.0 if local else None)
        return facts_of(self.asked.selection, [rate, rate], self.weights)

    def candidates(self) -> np.random.Generator:
        """Return what makes candidates; public."""
        try:
            return np.random.default_rng(self.asked.random_state)
        except (TypeError, ValueError):
            raise ParameterError(
                "`random_state` must be None, an integer >= 0 or a generator"
            ) from None

    def breeder(self, rng: np.random.Generator) -> Breeder:
        """Return what makes trees."""
        published = self.asked.operators == "published"
        return Breeder(
            self.schema,
            rng,
            self.asked.max_depth,
            children_are_parents=published,
            mutates_to_max_depth=published,
        )

    def draw(self, counts: Counts, sampler: Sampler, plan: Plan) -> FrontRelease:
        drawn = self.run(counts, sampler, self.candidates())
        noisy = self.noisy_rates(drawn, counts, sampler)
        rates = [(None, None)] * len(drawn) if noisy is None else noisy[:, ::-1].tolist()
        front = tuple(
            FrontTree(Tree(self.schema, _with_leaves(tree)), *both)
            for tree, both in zip(drawn, rates, strict=True)
        )
        sums = np.zeros(1) if noisy is None else noisy @ np.array(self.weights)
        return FrontRelease(front, plan, best=int(sums.argmax()))

    def run(
        self, counts: Counts, sampler: Sampler, rng: np.random.Generator
    ) -> list[Individual]:
        """Return the front.

        Args:
            counts: Counts of the records. Private.
            sampler: Draws what is released.
            rng: Makes candidates; public.

        Guarantee:
            With the exact sampler DP at ``totals_epsilon`` and the prices of all
            ``selections``, where one neighbour step adds or removes up to ``steps`` records.
        """
        totals, noisy = counts.totals(), None
        if self.totals_epsilon > 0:
            noisy = sampler.count(totals.tolist(), self.totals_epsilon / self.steps)
        breeder = self.breeder(rng)
        trees = [
            breeder.random_tree(self.asked.initial_depth) for _ in range(self.asked.population)
        ]
        for generation, (epsilon, kept) in enumerate(self.selections):
            if generation > 0:
                trees += breeder.children(trees, self._pairs)
            objective = self._objective(counts.hits(trees), totals, noisy)
            drawn = sampler.choose(self.selected_by(epsilon / self.steps), objective, kept)
            trees = [trees[position] for position in drawn]
        return trees

    def noisy_rates(
        self, trees: Sequence[Individual], counts: Counts, sampler: Sampler
    ) -> Values | None:
        """Return rates of the front by tree and class, or None if nothing is spent.

        Guarantee:
            With the exact sampler ``rates_epsilon``-DP, likewise.
        """
        if self.rates_epsilon == 0:
            return None
        exact = np.vstack([counts.hits(trees), counts.totals()])
        epsilon = self.rates_epsilon / len(exact) / self.steps
        noisy = sampler.count(exact.ravel().tolist(), epsilon).reshape(exact.shape)
        return np.clip(noisy[:-1] / np.maximum(noisy[-1], 1), 0, 1)

    def _objective(self, hits: Indices, totals: Indices, noisy: Indices | None) -> Objective:
        """Return the one objective of a selection among trees.

        Args:
            hits: Correctly classified records of both classes, shape ``(trees, 2)``; private.
            totals: Records of both classes; private.
            noisy: The same with noise, released; for ``"noisy-denominators"`` alone.
        """
        asked, relation = self.asked, Neighbours.ADD_REMOVE
        # Without records the bound is attained.
        horizon = min(self.asked.max_records, FAR)
        parts = []
        known = totals if noisy is None else noisy
        for correct, total in zip(hits.T, known.tolist(), strict=True):
            if noisy is None:
                rate = true_positive_rate(correct, total, neighbours=relation, horizon=horizon)
            else:
                rate = rate_over(correct, total=total, neighbours=relation)
            if asked.rate_bound == "global":
                rate = Objective(rate.scores, GlobalSensitivity(1.0, relation))
            parts.append(rate)
        if asked.selection == "weighted-sum":
            both = disjoint_sum(parts, self.weights)
            if asked.rate_bound != "local":
                return both
            # The sum of rounded scores is exact to 2^-100, far below a change by one record.
            sensitivity = WeightedRatesSensitivity(
                hits, totals, np.array(self.weights), horizon
            )
            return Objective(both.scores_twofold, sensitivity, highest=both.highest)
        return by_name(asked.selection, parts, dominance=asked.dominance)


@query
class TreeFront(_RecordsQuery[FrontRelease]):
    """A front of decision trees that trade the rates of two classes, evolved privately.

    It is DP-MOET, whose fields ``dp_moet`` returns; the defaults are ours. As printed, the same
    epsilon is passed to every selection, which costs a multiple of it; here ``epsilon`` is the
    price of everything together. The first class is the negative one, the second the positive
    one.

    Attributes:
        selection: Score of the trees: ``"weighted-sum"``, ``"pareto"`` or ``"margin"``.
        dominance: With pareto: when a tree dominates another. ``"standard"``: at least as
            good in both rates and better in one; ``"weak"``, as the paper defines it, also if
            equal in both; ``"strict"``: better in both.
        rate_bound: How the change of a rate by one record is bounded:
            ``"noisy-denominators"``, ``"local"`` or ``"global"``. By ``"local"``, as published,
            a weighted sum can rank a worse tree first at any epsilon; not with a margin.
        weights: Weights of the true positive and of the true negative rate; >= 0, not both 0.
        population: Number of first trees, and of children in each generation; 1 to a million.
            A larger one takes longer, in proportion, and no epsilon.
        survivors: Number of trees that each selection but the last keeps; at most
            ``population``.
        front: Number of trees that the last selection keeps; at most ``population``.
        generations: Number of selections; >= 1. The paper's ``k`` is one less (``dp_moet``).
        initial_depth: Number of questions on each path of the first trees; 0 to 20. The
            paper's ``d`` counts levels of nodes, one more.
        max_depth: Maximal number of questions on a path; >= ``initial_depth``. The paper's
            ``d_max`` is one more. With ``"published"`` at most 20.
        operators: How trees are crossed and mutated: ``"shallow"`` or ``"published"``.
            Shallow mutation grows a subtree no deeper than the tree was, and only selected
            trees are parents; as published it grows a full one down to ``max_depth``, and
            children are parents too, so that trees have about twenty times as many nodes.
        totals_share: Share of epsilon for noisy class totals, with noisy denominators; in
            (0, 1).
        rates_share: Share of epsilon for noisy rates of the front; 0 for none.
        random_state: Seed of the candidates, which do not depend on the records. Private draws
            are never seeded.
        mechanism: How trees are drawn. A short name (``dpselect.mechanisms.MECHANISMS``), or a
            function of ``epsilon=``. By default permute-and-flip where a sum or a margin has
            public bounds, ``"exponential"`` with ``"global"``, else ``"local-dampening"``.

    Source: Farias et al., PrivPareto, Algorithm 1 (DP-MOET).
    """

    selection: Selection = "weighted-sum"
    dominance: Dominance = "standard"
    rate_bound: RateBound = "noisy-denominators"
    weights: tuple[float, float] = (1.0, 1.0)
    population: Annotated[int, integers(1, MOST_TREES)] = 300
    survivors: int = 3
    front: int = 3
    generations: Annotated[int, integers(1, MOST_GENERATIONS)] = 4
    initial_depth: Annotated[int, integers(0, MOST_QUESTIONS)] = 3
    max_depth: int = 5
    operators: Operators = "shallow"
    totals_share: Annotated[float, numbers(0, 1)] = 0.05
    rates_share: Annotated[float, numbers(0, 1)] = 0.1
    random_state: int | None = None
    mechanism: MechanismLike | None = None

    composition = "sequential: all selections and counts are made of all records"

    training = Evolution


def dp_moet(
    *,
    p: int,
    s: int,
    k: int,
    d: int,
    d_max: int,
    o: int,
    selection: Selection = "pareto",
    rate_bound: RateBound = "local",
) -> dict[str, Any]:
    """Return the fields of ``TreeFront`` that are DP-MOET, from the inputs of Algorithm 1.

    It makes one selection more than ``k``, and its depths count levels of nodes, of which a
    path has one more than questions. All of epsilon is spent on the selections.

    Args:
        p: Size of the population.
        s: Number of trees that each selection but the last keeps.
        k: Number of iterations; >= 0.
        d: Depth of the first trees; >= 1.
        d_max: Maximal depth of a tree; >= ``d``.
        o: Number of trees of the last selection.
        selection: ``"pareto"`` for DP-MOET-Pareto, ``"weighted-sum"`` for DP-MOET-Agg.
        rate_bound: ``"local"`` or ``"global"``, the paper's subscripts.

    Raises:
        ParameterError: ``k``, ``d`` or ``d_max`` is out of its range.

    Source: Farias et al., PrivPareto, Algorithm 1.

    Examples:
        >>> from dpselect import trees
        >>> fields = trees.dp_moet(p=100, s=20, k=2, d=3, d_max=5, o=1)
        >>> fields["generations"], fields["initial_depth"], fields["max_depth"]
        (3, 2, 4)
    """
    first = validation.at_least("d", d, 1)
    return {
        "population": p,
        "survivors": s,
        "generations": validation.at_least("k", k, 0) + 1,
        "initial_depth": first - 1,
        "max_depth": validation.at_least("d_max", d_max, first) - 1,
        "front": o,
        "selection": selection,
        "rate_bound": rate_bound,
        "dominance": "weak" if selection == "pareto" else "standard",
        "operators": "published",
        "rates_share": 0.0,
    }


def _with_leaves(tree: Individual) -> Node:
    """Return a tree to release, which has no counts but a class in each leaf."""
    if isinstance(tree, Split):
        return Split(tree.column, tree.branch_of, tuple(map(_with_leaves, tree.branches)))
    return Leaf((0.0, SMALLEST) if tree else (SMALLEST, 0.0))
