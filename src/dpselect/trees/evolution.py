"""Private evolution: generations of candidate trees, each selected by its rates.

``selection`` is the measure of a good tree, ``rate_bound`` the bound on what one record can
change of it:

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
from typing import Literal, TypeAlias

import numpy as np

from dpselect.combine import disjoint_sum, margin, pareto
from dpselect.combine.pareto.dominance import Dominance
from dpselect.combine.registry import facts_of
from dpselect.mechanisms import (
    ExponentialMechanism,
    LocalDampening,
    Mechanism,
    MechanismLike,
    PermuteAndFlip,
)
from dpselect.mechanisms.base import as_step
from dpselect.neighbours import Neighbours
from dpselect.objective import Facts, Objective
from dpselect.passes import of_sums
from dpselect.plan import Spend
from dpselect.sensitivity import GlobalSensitivity, at_bound
from dpselect.trees.candidates import BREEDERS, Breeder, Individual, Operators
from dpselect.trees.counts import Counts, level_passes
from dpselect.trees.rates import FAR, rate_over, true_positive_rate, weighted_rates
from dpselect.trees.records import Schema
from dpselect.trees.samplers import Sampler
from dpselect.typing import Indices, Values

Selection: TypeAlias = Literal["pareto", "weighted-sum", "margin"]
"""The measure of a good tree."""

RateBound: TypeAlias = Literal["global", "local", "noisy-denominators"]
"""Bound on the change by one record."""


@dataclass(frozen=True)
class Evolution:
    """Public parameters of an evolution, and its run.

    Attributes:
        schema: Columns, domains and classes.
        max_records: Bound on the number of records.
        population: Trees made at first, and children of every generation.
        survivors: Trees that each selection but the last keeps.
        front: Trees that the last selection keeps.
        initial_depth: Questions on a path of the first trees.
        max_depth: Questions on a path, at most.
        selection: The measure of a good tree.
        dominance: Dominance relation of the Pareto score.
        rate_bound: How the change of one record is bounded.
        weights: Weights of the two classes' rates, in the classes' order.
        totals_epsilon: Price of noisy class totals; 0 if there are none.
        epsilons: Price of each selection.
        rates_epsilon: Price of the noisy rates of the front; 0 for none.
        steps: How many records one neighbour step adds or removes. Every query sees every
            record, so that many steps move it at most that many times as far.
        operators: How trees are crossed and mutated.
        mechanism: How trees are drawn; if not given, what suits the score and the bound.
    """

    schema: Schema
    max_records: int
    population: int
    survivors: int
    front: int
    initial_depth: int
    max_depth: int
    selection: Selection
    dominance: Dominance
    rate_bound: RateBound
    weights: tuple[float, float]
    totals_epsilon: float
    epsilons: tuple[float, ...]
    rates_epsilon: float
    steps: int = 1
    operators: Operators = "shallow"
    mechanism: MechanismLike | None = None

    def spends(self) -> tuple[Spend, ...]:
        """Return the prices of all queries."""
        by = f"{self.selection}, {self.rate_bound}"
        selections = [
            self.selected_by(epsilon).spend(f"one of {kept} trees by {by}", kept)
            for epsilon, kept in zip(self.epsilons, self._kept(), strict=True)
        ]
        # A record counts in its class's total and in at most one count of each tree.
        counts = self.front + 1
        each = self.rates_epsilon / counts
        totals = Spend("noisy class totals", self.totals_epsilon)
        rates = Spend("noisy count of the front's rates", each, times=counts)
        return (
            *([totals] if self.totals_epsilon > 0 else []),
            *selections,
            *([rates] if self.rates_epsilon > 0 else []),
        )

    @property
    def passes(self) -> int:
        """The most queries in an engine: totals, and the hits of each generation."""
        later = self.survivors + 2 * self._pairs
        trees = [self.population] + [later] * (len(self.epsilons) - 1)
        trees += [self.front] if self.rates_epsilon else []
        return level_passes(self.schema, 0) + sum(map(of_sums, trees))

    @property
    def _horizon(self) -> int:
        """The distance from which on the bound is used: without records it is attained."""
        return min(self.max_records, FAR)

    @property
    def _pairs(self) -> int:
        """Parents that have two children each in a generation."""
        return (self.population + 1) // 2

    error = None
    """No bound holds on all data."""

    @property
    def label(self) -> str:
        """Mechanism that selects trees."""
        return f"{self.selected_by(1.0).label} by {self.selection}, {self.rate_bound}"

    def run(
        self, counts: Counts, sampler: Sampler, rng: np.random.Generator
    ) -> list[Individual]:
        """Return the front.

        Args:
            counts: Counts of the records. Private.
            sampler: Draws what is released.
            rng: Makes candidates; public.

        Guarantee:
            With the exact sampler ``totals_epsilon + sum(epsilons)``-DP where one neighbour
            step adds or removes up to ``steps`` records.
        """
        totals = counts.totals()
        noisy = None
        if self.totals_epsilon > 0:
            released = sampler.count(totals.tolist(), self.totals_epsilon / self.steps)
            noisy = (float(released[0]), float(released[1]))
        breeder = self.breeder(rng)
        trees = [breeder.random_tree(self.initial_depth) for _ in range(self.population)]
        for generation, epsilon in enumerate(self.epsilons):
            objective = self._objective(
                counts.hits(trees), (int(totals[0]), int(totals[1])), noisy
            )
            kept = self._kept()[generation]
            drawn = sampler.choose(self.selected_by(epsilon / self.steps), objective, kept)
            trees = [trees[position] for position in drawn]
            if generation < len(self.epsilons) - 1:
                trees += breeder.children(trees, self._pairs)
        return trees

    def breeder(self, rng: np.random.Generator) -> Breeder:
        """Return what makes candidates."""
        return BREEDERS[self.operators](self.schema, rng, self.max_depth)

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

    def _kept(self) -> list[int]:
        """Return how many trees each selection keeps."""
        return [self.survivors] * (len(self.epsilons) - 1) + [self.front]

    def selected_by(self, epsilon: float) -> Mechanism:
        """Return the mechanism of a selection."""
        if self.mechanism is not None:
            given = as_step(self.mechanism, epsilon)
            given.for_objective(self.facts)  # it may need what no score of trees states
            return given
        noisy = self.rate_bound == "noisy-denominators"
        if self.selection == "margin" or (self.selection == "weighted-sum" and noisy):
            return PermuteAndFlip(epsilon=epsilon)
        if self.rate_bound == "global":
            return ExponentialMechanism(epsilon=epsilon)
        return LocalDampening(epsilon=epsilon)

    @property
    def facts(self) -> Facts:
        """What is public of the objective of a selection, for one tree."""
        relation, local = Neighbours.ADD_REMOVE, self.rate_bound == "local"
        one = at_bound(1, neighbours=relation) if local else GlobalSensitivity(1, relation)
        rate = Facts(candidates=1, sensitivity=one, highest=1.0 if local else None)
        return facts_of(self.selection, [rate, rate], self.weights)

    def _objective(
        self, hits: Indices, totals: tuple[int, int], noisy: tuple[float, float] | None
    ) -> Objective:
        """Return the one objective of a selection among trees.

        Args:
            hits: Correctly classified records of both classes, shape ``(trees, 2)``; private.
            totals: Records of both classes; private.
            noisy: The same with noise, released; for ``"noisy-denominators"`` alone.
        """
        if self.selection == "weighted-sum" and self.rate_bound == "local":
            return weighted_rates(hits, totals, weights=self.weights, horizon=self._horizon)
        parts = self._rates(hits, totals, noisy)
        if self.selection == "weighted-sum":
            return disjoint_sum(parts, self.weights)
        if self.selection == "margin":
            return margin(parts)
        return pareto(parts, dominance=self.dominance)

    def _rates(
        self, hits: Indices, totals: tuple[int, int], noisy: tuple[float, float] | None
    ) -> list[Objective]:
        """Return both rates of each tree."""
        relation = Neighbours.ADD_REMOVE
        if noisy is not None:
            return [
                rate_over(correct, total=total, neighbours=relation)
                for correct, total in zip(hits.T, noisy, strict=True)
            ]
        exact = [
            true_positive_rate(correct, total, neighbours=relation, horizon=self._horizon)
            for correct, total in zip(hits.T, totals, strict=True)
        ]
        if self.rate_bound == "local":
            return exact
        return [Objective(rate.scores, GlobalSensitivity(1.0, relation)) for rate in exact]
