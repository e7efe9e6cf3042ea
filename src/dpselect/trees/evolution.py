"""Private evolution: generations of candidate trees, each selected by its rates.

``selection`` is the measure of a good tree, ``sensitivity`` the bound on what one record can
change of it:

=================  ======================  =============================================
``selection``      ``sensitivity``         source
=================  ======================  =============================================
``pareto``         ``global``, ``local``   PrivPareto of the paper
``weighted-sum``   ``global``, ``local``   PrivAgg of the paper; its maximum, not its sum
``margin``         ``global``, ``local``   ours
any                ``noisy-denominators``  ours: counts over class totals released once
=================  ======================  =============================================

Source: Farias et al., PrivPareto, Algorithm 1 (DP-MOET).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from dpselect.combine import disjoint_sum, local_margin, margin, pareto
from dpselect.mechanisms import (
    ExponentialMechanism,
    LocalDampening,
    Mechanism,
    PermuteAndFlip,
)
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.passes import Pass
from dpselect.plan import Spend
from dpselect.sensitivity import GlobalSensitivity
from dpselect.trees.candidates import Breeder, Individual
from dpselect.trees.counts import Counts
from dpselect.trees.passes import of_hits, of_levels
from dpselect.trees.randomness import Sampler
from dpselect.trees.rates import rate_over, true_positive_rate, weighted_rates
from dpselect.trees.records import Schema
from dpselect.typing import Indices, Values

Selection: TypeAlias = Literal["pareto", "weighted-sum", "margin"]
"""The measure of a good tree."""

Allowance: TypeAlias = Literal["global", "local", "noisy-denominators"]
"""How the change that one record can make is bounded."""


@dataclass(frozen=True)
class Evolution:
    """Public parameters of an evolution, and its run.

    Attributes:
        breeder: The random operators, with the schema.
        max_records: Bound on the number of records.
        population: Trees made at first, and children of every generation.
        survivors: Trees that each selection but the last keeps.
        front: Trees that the last selection keeps.
        initial_depth: Questions on a path of the first trees.
        selection: The measure of a good tree.
        sensitivity: How the change of one record is bounded.
        weights: Of the two classes' rates, in the classes' order.
        totals_epsilon: For noisy class totals; 0 if there are none.
        epsilons: One for each selection.
        rates_epsilon: For the noisy rates of the front; 0 for none.
    """

    breeder: Breeder
    max_records: int
    population: int
    survivors: int
    front: int
    initial_depth: int
    selection: Selection
    sensitivity: Allowance
    weights: tuple[float, float]
    totals_epsilon: float
    epsilons: tuple[float, ...]
    rates_epsilon: float

    @property
    def schema(self) -> Schema:
        """Columns, domains and classes."""
        return self.breeder.schema

    def spends(self, steps: int = 1) -> tuple[Spend, ...]:
        """Return the prices of all queries, under a relation of one or several steps.

        Args:
            steps: Records that one neighbour step adds or removes. Every query sees every
                record, so that many steps move it at most that many times as far.
        """
        by = f"{self.selection}, {self.sensitivity}"
        selections = [
            self._selected_by(steps * epsilon).spend(f"one of {kept} trees by {by}", kept)
            for epsilon, kept in zip(self.epsilons, self._kept(), strict=True)
        ]
        # A record counts in its class's total and in at most one count of each tree.
        counts = self.front + 1
        each = steps * self.rates_epsilon / counts
        spends = [
            Spend("noisy class totals", steps * self.totals_epsilon),
            *selections,
            Spend("noisy count of the front's rates", each, times=counts),
        ]
        return tuple(spend for spend in spends if spend.epsilon > 0)

    @property
    def passes(self) -> tuple[Pass, ...]:
        """What the counts take in an engine: totals, and the hits of each generation."""
        later = self.survivors + 2 * self._pairs
        trees = [self.population] + [later] * (len(self.epsilons) - 1)
        trees += [self.front] if self.rates_epsilon else []
        classes = len(self.schema.classes)
        return (
            *of_levels(self.schema, 0, self.max_records),
            *(of_hits(number, classes) for number in trees),
        )

    @property
    def _pairs(self) -> int:
        """Parents that have two children each in a generation."""
        return (self.population + 1) // 2

    def mechanism(self) -> str:
        """Return how trees are selected, as a plan shows it."""
        return f"{self._selected_by(1.0).label} by {self.selection}, {self.sensitivity}"

    def run(self, counts: Counts, sampler: Sampler) -> list[Individual]:
        """Return the front.

        Guarantee:
            With the exact sampler ``totals_epsilon + sum(epsilons)``-DP under add/remove.
        """
        totals = counts.totals()
        noisy = None
        if self.totals_epsilon > 0:
            released = sampler.count(totals.tolist(), self.totals_epsilon)
            noisy = (float(released[0]), float(released[1]))
        breeder = self.breeder
        trees = [breeder.random_tree(self.initial_depth) for _ in range(self.population)]
        for generation, epsilon in enumerate(self.epsilons):
            objective = self._objective(
                counts.hits(trees), (int(totals[0]), int(totals[1])), noisy
            )
            kept = self._kept()[generation]
            drawn = sampler.choose(self._selected_by(epsilon), objective, kept)
            trees = [trees[position] for position in drawn]
            if generation < len(self.epsilons) - 1:
                trees += breeder.children(trees, self._pairs)
        return trees

    def noisy_rates(
        self, trees: Sequence[Individual], counts: Counts, sampler: Sampler
    ) -> Values | None:
        """Return rates of the front by tree and class, or None if nothing is spent.

        Guarantee:
            With the exact sampler ``rates_epsilon``-DP under add/remove.
        """
        if self.rates_epsilon == 0:
            return None
        exact = np.vstack([counts.hits(trees), counts.totals()])
        epsilon = self.rates_epsilon / len(exact)
        noisy = sampler.count(exact.ravel().tolist(), epsilon).reshape(exact.shape)
        return np.clip(noisy[:-1] / np.maximum(noisy[-1], 1), 0, 1)

    def _kept(self) -> list[int]:
        """Return how many trees each selection keeps."""
        return [self.survivors] * (len(self.epsilons) - 1) + [self.front]

    def _selected_by(self, epsilon: float) -> Mechanism:
        """Return the mechanism of a selection."""
        noisy = self.sensitivity == "noisy-denominators"
        if self.selection == "margin" or (self.selection == "weighted-sum" and noisy):
            return PermuteAndFlip(epsilon=epsilon)
        if self.sensitivity == "global":
            return ExponentialMechanism(epsilon=epsilon)
        return LocalDampening(epsilon=epsilon)

    def _objective(
        self, hits: Indices, totals: tuple[int, int], noisy: tuple[float, float] | None
    ) -> Objective:
        """Return the one objective of a selection among trees.

        Args:
            hits: Correctly classified records of both classes, shape ``(trees, 2)``; private.
            totals: Records of both classes; private.
            noisy: The same with noise, released; for ``"noisy-denominators"`` alone.
        """
        local = self.sensitivity == "local"
        if self.selection == "weighted-sum" and local:
            return weighted_rates(hits, totals, weights=self.weights)
        parts = self._rates(hits, totals, noisy)
        if self.selection == "weighted-sum":
            return disjoint_sum(parts, self.weights)
        if self.selection == "margin":
            return local_margin(parts) if local else margin(parts)
        return pareto(parts)

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
            true_positive_rate(correct, total, neighbours=relation)
            for correct, total in zip(hits.T, totals, strict=True)
        ]
        if self.sensitivity == "local":
            return exact
        return [Objective(rate.scores, GlobalSensitivity(1.0, relation)) for rate in exact]
