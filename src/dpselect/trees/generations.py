"""One private run of evolution: generations of trees, each selected by its rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpselect.trees import _count_kernels as kernels
from dpselect.trees.engine import EngineRecords
from dpselect.trees.evolution import Breeder, Individual, flattened
from dpselect.trees.patterns import Patterns
from dpselect.trees.report import Spend
from dpselect.trees.sampling import Sampler
from dpselect.trees.selection import Allowance, Selection, choice
from dpselect.typing import Indices, Values


@dataclass(frozen=True)
class Evolution:
    """How trees evolve; all of it public.

    Attributes:
        breeder: The random operators.
        population: Trees made at first, and children of every generation.
        survivors: Trees that each selection but the last keeps.
        front: Trees that the last selection keeps.
        initial_depth: Questions on a path of the first trees.
        selection: What a good tree is.
        sensitivity: How the change of one record is bounded.
        weights: Of the two classes' rates, in the classes' order.
        totals_epsilon: For noisy class totals; 0 if there are none.
        epsilons: One for each selection.
        rates_epsilon: For the noisy rates of the front; 0 for none.
    """

    breeder: Breeder
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

    def spends(self) -> tuple[Spend, ...]:
        """Return what every record is asked."""
        what = f"{self.selection}, {self.sensitivity}"
        asked = [
            Spend("noisy class totals", self.totals_epsilon, 1),
            *(Spend(f"{self.survivors} trees by {what}", e, 1) for e in self.epsilons[:-1]),
            Spend(f"{self.front} trees by {what}", self.epsilons[-1], 1),
            Spend("noisy rates of the front", self.rates_epsilon, 1),
        ]
        return tuple(spend for spend in asked if spend.epsilon > 0)

    def run(self, patterns: Patterns | EngineRecords, sampler: Sampler) -> list[Individual]:
        """Return the front; as private as the selections say."""
        totals = patterns.totals()
        noisy = None
        if self.totals_epsilon > 0:
            counted = sampler.count(totals.tolist(), self.totals_epsilon)
            noisy = (float(counted[0]), float(counted[1]))
        breeder = self.breeder
        trees = [breeder.random_tree(self.initial_depth) for _ in range(self.population)]
        for generation, epsilon in enumerate(self.epsilons):
            last = generation == len(self.epsilons) - 1
            mechanism, joined = choice(
                self.hits(trees, patterns),
                (int(totals[0]), int(totals[1])),
                noisy,
                self.weights,
                self.selection,
                self.sensitivity,
                epsilon,
            )
            drawn = sampler.choose(mechanism, joined, self.front if last else self.survivors)
            trees = [trees[position] for position in drawn]
            if not last:
                trees += breeder.children(trees, (self.population + 1) // 2)
        return trees

    def hits(self, trees: Sequence[Individual], patterns: Patterns | EngineRecords) -> Indices:
        """Return correctly classified records by tree and class; private."""
        if isinstance(patterns, EngineRecords):
            return patterns.hits(trees)
        nodes, roots = flattened(trees, self.breeder.schema)
        return kernels.hits(patterns.codes, patterns.counts, nodes, roots)

    def noisy_rates(
        self, trees: Sequence[Individual], patterns: Patterns | EngineRecords, sampler: Sampler
    ) -> Values | None:
        """Return rates of the front by tree and class, or None if nothing is spent."""
        if self.rates_epsilon == 0:
            return None
        # A record is in its class's total and in at most one count of each tree.
        exact = np.vstack([self.hits(trees, patterns), patterns.totals()])
        epsilon = self.rates_epsilon / len(exact)
        noisy = sampler.count(exact.ravel().tolist(), epsilon).reshape(exact.shape)
        return np.clip(noisy[:-1] / np.maximum(noisy[-1], 1), 0, 1)
