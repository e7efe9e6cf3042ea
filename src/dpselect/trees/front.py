"""The query of a front of trees that trade the rates of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from dpselect import validation
from dpselect.combine.pareto.dominance import Dominance, checked_dominance
from dpselect.errors import ParameterError
from dpselect.mechanisms import MechanismLike
from dpselect.plan import Plan
from dpselect.query import query
from dpselect.release import Release
from dpselect.trees.base import Claims, _RecordsQuery
from dpselect.trees.candidates import Operators, as_split
from dpselect.trees.counts import Counts
from dpselect.trees.evolution import Evolution, RateBound, Selection
from dpselect.trees.samplers import Sampler
from dpselect.trees.tree import SMALLEST, Leaf, Tree, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_GENERATIONS = 10_000
"""Each has a share of epsilon."""

MOST_TREES, MOST_QUESTIONS = 10**6, 20
"""Largest population, and questions on a path of its first trees."""


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
        return {
            "tree": [*range(len(self.answer))],
            "true_positive_rate": [one.true_positive_rate for one in self.answer],
            "true_negative_rate": [one.true_negative_rate for one in self.answer],
        }

    def shown(self) -> dict[str, list[Any]]:
        """Return the noisy rates with four digits, if any were released."""
        return {
            f"{name.replace('_', ' ')}, noisy" if name != "tree" else name: [
                round(one, 4) if isinstance(one, float) else one for one in column
            ]
            for name, column in self.table().items()
            if None not in column
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the released rates of the front; the best tree is filled.

        Args:
            ax: Axes to draw into; a new figure if not given.

        Raises:
            ParameterError: No rates were released.
        """
        points = np.array([one.rates[::-1] for one in self.answer], dtype=np.float64)
        if np.isnan(points).any():
            raise ParameterError("`rates_share` was 0: there are no rates to plot")
        ax = new_axes(4, 4) if ax is None else ax
        for place, (x, y) in enumerate(points):
            best = "largest weighted sum" if place == self.best else None
            ax.plot(x, y, "o", color="C0", mfc="C0" if best else "none", label=best)
            ax.annotate(str(place), (x, y), xytext=(4, 4), textcoords="offset points")
        # Trees of one front are close, so not the whole square.
        middle = (points.max(axis=0) + points.min(axis=0)) / 2
        half = max(0.6 * float(np.ptp(points, axis=0).max()), 0.02)
        limits = np.stack([middle - half, middle + half])
        ax.set(xlabel="true negative rate (noisy)", ylabel="true positive rate (noisy)")
        ax.set(xlim=limits[:, 0], ylim=limits[:, 1])
        ax.legend(fontsize="small")
        return ax


@query
class TreeFront(_RecordsQuery[FrontRelease]):
    """A front of decision trees that trade the rates of two classes, evolved privately.

    It is DP-MOET, whose fields ``dp_moet`` returns; the defaults are ours. As printed, the same
    epsilon is passed to every selection, which costs a multiple of it; here ``epsilon`` is the
    price of everything together. The first class is the negative
    one, the second the positive one.

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
        split: Shares of epsilon of the selections, one positive number each. Equal by default;
            no increasing split was better in our trials.
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
    population: int = 300
    survivors: int = 3
    front: int = 3
    generations: int = 4
    initial_depth: int = 3
    max_depth: int = 5
    operators: Operators = "shallow"
    split: Sequence[float] | None = None
    totals_share: float = 0.05
    rates_share: float = 0.1
    random_state: int | None = None
    mechanism: MechanismLike | None = None

    composition = "sequential: all selections and counts are made of all records"

    def _training(self, claims: Claims) -> Evolution:
        self._generator()
        if len(claims.schema.classes) != 2:
            raise ParameterError(
                "Only binary classification is supported: `classes` must be the negative and "
                "the positive label"
            )
        selection = validation.one_of("selection", self.selection, get_args(Selection))
        dominance = checked_dominance(self.dominance, selection, of="selection")
        rate_bound = validation.one_of("rate_bound", self.rate_bound, get_args(RateBound))
        if (selection, rate_bound) == ("margin", "local"):
            raise ParameterError(
                "`selection`='margin' is in steps of public bounds: `rate_bound` must be "
                "'noisy-denominators' or 'global'"
            )
        operators = validation.one_of("operators", self.operators, get_args(Operators))
        initial = validation.at_least("initial_depth", self.initial_depth, 0, MOST_QUESTIONS)
        population = validation.at_least("population", self.population, 1, MOST_TREES)
        for name, kept in (("survivors", self.survivors), ("front", self.front)):
            if validation.at_least(name, kept, 1) > population:
                raise ParameterError(f"`{name}` must be at most `population`, {population}")
        # A mutated tree is full down to the largest depth, as published.
        deepest = MOST_QUESTIONS if operators == "published" else None
        totals, selections, last = self._prices(claims.epsilon)
        return Evolution(
            schema=claims.schema,
            max_records=claims.max_records,
            steps=claims.steps,
            population=population,
            initial_depth=initial,
            max_depth=validation.at_least("max_depth", self.max_depth, initial, deepest),
            operators=operators,
            selection=selection,
            dominance=dominance,
            rate_bound=rate_bound,
            weights=self._weights(),
            totals_epsilon=totals,
            epsilons=selections,
            rates_epsilon=last,
            survivors=self.survivors,
            front=self.front,
            mechanism=self.mechanism,
        )

    def _drawn(
        self, training: Evolution, counts: Counts, sampler: Sampler, plan: Plan
    ) -> FrontRelease:
        schema = training.schema
        drawn = training.run(counts, sampler, self._generator())
        noisy = training.noisy_rates(drawn, counts, sampler)
        rates = [(None, None)] * len(drawn) if noisy is None else noisy[:, ::-1].tolist()
        leaves = [Leaf((SMALLEST, 0.0)), Leaf((0.0, SMALLEST))]
        front = tuple(
            FrontTree(Tree(schema, as_split(tree, schema, leaves.__getitem__)), *both)
            for tree, both in zip(drawn, rates, strict=True)
        )
        sums = np.zeros(1) if noisy is None else noisy @ np.array(training.weights)
        return FrontRelease(front, plan, best=int(sums.argmax()))

    def _generator(self) -> np.random.Generator:
        try:
            return np.random.default_rng(self.random_state)
        except (TypeError, ValueError):
            raise ParameterError(
                "`random_state` must be None, an integer >= 0 or a generator"
            ) from None

    def _prices(self, epsilon: float) -> tuple[float, tuple[float, ...], float]:
        """Return epsilon for the totals, for each selection, and for the rates."""
        generations = validation.at_least("generations", self.generations, 1, MOST_GENERATIONS)
        given = validation.listed("split", self.split)
        split = [1.0] * generations if given is None else given
        if len(split) != generations:
            raise ParameterError(
                f"`split` must be one share for each of {generations} generations, not "
                f"{len(split)}"
            )
        shares = [validation.positive("split", share) for share in split]
        noisy = self.rate_bound == "noisy-denominators"
        first = validation.within("totals_share", self.totals_share, 0, 1) if noisy else 0.0
        last = validation.within("rates_share", self.rates_share, 0, 1)
        if first + last >= 1 or (noisy and first == 0):
            raise ParameterError(
                "`totals_share` must be > 0, and with `rates_share` below 1: the selections "
                "need the rest"
            )
        left = epsilon * (1 - first - last)
        return (
            epsilon * first,
            tuple(left * share / sum(shares) for share in shares),
            epsilon * last,
        )

    def _weights(self) -> tuple[float, float]:
        """Return the weights in the order of the classes."""
        try:
            positive, negative = self.weights
        except (TypeError, ValueError):
            raise ParameterError(
                "`weights` must be two numbers: of the true positive and the true negative rate"
            ) from None
        largest = np.finfo(np.float64).max
        pair = [validation.within("weights", w, 0, largest) for w in (negative, positive)]
        if not any(pair):
            raise ParameterError("`weights` must not both be 0")
        return pair[0], pair[1]


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
