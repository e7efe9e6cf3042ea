"""Cost-sensitive trees by private evolution: DP-MOET, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from dpselect import _validate
from dpselect._optional import needed
from dpselect.errors import ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.plan import SupportsSpend
from dpselect.trees.candidates import Breeder, Operators, as_node
from dpselect.trees.counts import Counts
from dpselect.trees.estimator import PrivateTreeClassifier
from dpselect.trees.evolution import Allowance, Evolution, Selection
from dpselect.trees.randomness import Sampler
from dpselect.trees.records import Domains, Schema, Table
from dpselect.trees.tree import Tree
from dpselect.typing import OnInvalid, Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_GENERATIONS = 10_000
"""Each has a share of epsilon."""

COMPOSITION = "sequential: all selections and counts are made of all records"


@dataclass(frozen=True)
class FrontTree:
    """A released tree with its noisy rates.

    Attributes:
        tree: The tree.
        true_positive_rate: Noisy, in [0, 1]; None if nothing was spent on rates.
        true_negative_rate: Likewise.
    """

    tree: Tree
    true_positive_rate: float | None
    true_negative_rate: float | None


class MultiObjectiveTreeClassifier(PrivateTreeClassifier):
    """A front of decision trees that trade the two classes' rates, evolved privately.

    As printed, DP-MOET passes the same epsilon to every selection and so costs a multiple of
    it; here ``epsilon`` is what everything costs together.

    Guarantee:
        ``epsilon``-DP under ``neighbours`` for everything that :meth:`fit` sets. Public:
        all arguments, the columns of ``X`` and their types; under substitution also the
        number of records. Repairs and persons are those of
        :class:`~dpselect.trees.ID3Classifier`.

    Args:
        epsilon: Total, in nats; finite, > 0.
        selection: ``"weighted-sum"``, ``"pareto"`` or ``"margin"``.
        sensitivity: ``"noisy-denominators"``, ``"local"`` or ``"global"``.
        weights: Of the true positive and of the true negative rate; >= 0, not both 0.
        population: Trees made at first, and children of every generation; >= 1.
        survivors: Trees that each selection but the last keeps; at most ``population``.
        front: Trees that the last selection keeps; at most ``population``.
        generations: Selections in all; >= 1.
        initial_depth: Questions on a path of the first trees; >= 0.
        max_depth: Questions on a path, at most; >= ``initial_depth``.
        operators: ``"compact"``, or ``"published"``: mutation grows full subtrees down to
            ``max_depth`` and children become parents, as in Algorithm 1, which makes one
            selection more than it has rounds: ``generations`` is its ``k + 1``.
        split: Shares of epsilon of the generations' selections, one positive number each;
            equal if not given, which no rising split beat in our trials.
        totals_share: Share of epsilon for noisy class totals, with
            ``"noisy-denominators"``; between 0 and 1.
        rates_share: Share of epsilon for noisy rates of the front; 0 for none.
        domains: As for :class:`~dpselect.trees.ID3Classifier`. Required.
        classes: The negative and the positive label. Required.
        max_records: Bound on the number of records that are counted; >= 2. Required.
        user: As for :class:`~dpselect.trees.ID3Classifier`, and so is ``max_per_user``.
        max_per_user: How many records of a person are counted.
        neighbours: ``"add-remove"`` or ``"substitute"``; for the latter every query costs
            twice as much.
        budget: Where ``epsilon`` is spent before anything is drawn.
        on_invalid: ``"repair"`` or ``"raise"``.
        random_state: Seed of the candidates, which see no record. The private draws are
            never seeded.

    Attributes:
        front_: The released trees, the first drawn first.
        best_: Position in the front of the tree with the largest weighted sum of noisy
            rates; 0 if there are none.
        tree_: That tree.
        classes_: The declared classes.
        plan_: The :class:`dpselect.Plan` that was charged.
        entry_: The number of its entry in the budget; None if nothing was recorded.

    Source: Farias et al., PrivPareto, Algorithm 1 (DP-MOET).
    """

    def __init__(  # noqa: PLR0913 -- each is one public claim
        self,
        epsilon: float = 1.0,
        *,
        selection: Selection = "weighted-sum",
        sensitivity: Allowance = "noisy-denominators",
        weights: tuple[float, float] = (1.0, 1.0),
        population: int = 100,
        survivors: int = 3,
        front: int = 3,
        generations: int = 4,
        initial_depth: int = 3,
        max_depth: int = 5,
        operators: Operators = "compact",
        split: Sequence[float] | None = None,
        totals_share: float = 0.05,
        rates_share: float = 0.1,
        domains: Domains = None,
        classes: Sequence[Hashable] | None = None,
        max_records: int | None = None,
        user: str | None = None,
        max_per_user: int | None = None,
        neighbours: NeighboursLike = "add-remove",
        budget: SupportsSpend | None = None,
        on_invalid: OnInvalid = "repair",
        random_state: Any = None,  # noqa: ANN401 -- whatever NumPy takes as a seed
    ) -> None:
        self.epsilon = epsilon
        self.selection = selection
        self.sensitivity = sensitivity
        self.weights = weights
        self.population = population
        self.survivors = survivors
        self.front = front
        self.generations = generations
        self.initial_depth = initial_depth
        self.max_depth = max_depth
        self.operators = operators
        self.split = split
        self.totals_share = totals_share
        self.rates_share = rates_share
        self.domains = domains
        self.classes = classes
        self.max_records = max_records
        self.user = user
        self.max_per_user = max_per_user
        self.neighbours = neighbours
        self.on_invalid = on_invalid
        self.random_state = random_state
        self.budget = budget

    def _training(self, public: Schema, max_records: int, epsilon: float) -> Evolution:
        if len(public.classes) != 2:
            raise ParameterError(
                "Only binary classification is supported: classes must be the negative and "
                "the positive label"
            )
        self._check_choices()
        initial = _validate.at_least("initial_depth", self.initial_depth, 0)
        deepest = _validate.at_least("max_depth", self.max_depth, initial)
        population = _validate.at_least("population", self.population, 1)
        for name, kept in (("survivors", self.survivors), ("front", self.front)):
            if _validate.at_least(name, kept, 1) > population:
                raise ParameterError(f"{name} must be at most population, {population}")
        totals, selections, last = self._amounts(epsilon)
        return Evolution(
            breeder=Breeder(public, self._generator(), deepest, self.operators),
            max_records=max_records,
            population=population,
            survivors=self.survivors,
            front=self.front,
            initial_depth=initial,
            selection=self.selection,
            sensitivity=self.sensitivity,
            weights=self._checked_weights(),
            totals_epsilon=totals,
            epsilons=selections,
            rates_epsilon=last,
        )

    def _generator(self) -> np.random.Generator:
        try:
            return np.random.default_rng(self.random_state)
        except (TypeError, ValueError):
            raise ParameterError(
                "random_state must be None, an integer >= 0 or a generator"
            ) from None

    def _check_choices(self) -> None:
        for name, value, known in (
            ("selection", self.selection, get_args(Selection)),
            ("sensitivity", self.sensitivity, get_args(Allowance)),
            ("operators", self.operators, get_args(Operators)),
        ):
            _validate.one_of(name, value, known)

    def _amounts(self, epsilon: float) -> tuple[float, tuple[float, ...], float]:
        """Return epsilon for the totals, for each selection, and for the rates."""
        generations = _validate.at_least("generations", self.generations, 1, MOST_GENERATIONS)
        given = _validate.listed("split", self.split)
        split = [1.0] * generations if given is None else given
        if len(split) != generations:
            raise ParameterError(
                f"split must be one share for each of {generations} generations, not "
                f"{len(split)}"
            )
        shares = [_validate.positive("each share of split", share) for share in split]
        noisy = self.sensitivity == "noisy-denominators"
        first = _validate.within("totals_share", self.totals_share, 0, 1) if noisy else 0.0
        last = _validate.within("rates_share", self.rates_share, 0, 1)
        if first + last >= 1 or (noisy and first == 0):
            raise ParameterError(
                "totals_share must be > 0, and with rates_share below 1: the selections "
                "need the rest"
            )
        left = epsilon * (1 - first - last)
        return (
            epsilon * first,
            tuple(left * share / sum(shares) for share in shares),
            epsilon * last,
        )

    def _checked_weights(self) -> tuple[float, float]:
        try:
            positive, negative = self.weights
        except (TypeError, ValueError):
            raise ParameterError(
                "weights must be two numbers: of the true positive and the true negative rate"
            ) from None
        largest = np.finfo(np.float64).max
        pair = [_validate.within("weights", w, 0, largest) for w in (negative, positive)]
        if not any(pair):
            raise ParameterError("weights must not both be 0")
        return pair[0], pair[1]

    def _describe(self, training: Evolution) -> tuple[dict[str, object], str, str]:
        sizes = "population", "survivors", "front", "generations", "initial_depth", "max_depth"
        arguments = {name: getattr(self, name) for name in (*sizes, "operators", "weights")}
        return arguments, training.mechanism(), COMPOSITION

    def _draw(self, training: Evolution, counts: Counts, sampler: Sampler) -> None:
        drawn = training.run(counts, sampler)
        noisy = training.noisy_rates(drawn, counts, sampler)
        schema = training.schema
        self.front_ = tuple(
            FrontTree(
                Tree(schema, as_node(tree, schema)),
                None if noisy is None else float(noisy[i, 1]),
                None if noisy is None else float(noisy[i, 0]),
            )
            for i, tree in enumerate(drawn)
        )
        sums = np.zeros(1) if noisy is None else noisy @ np.array(training.weights)
        self.best_ = int(sums.argmax())
        self.tree_ = self.front_[self.best_].tree

    def _released(self) -> dict[str, Any]:
        rates = [(one.true_positive_rate, one.true_negative_rate) for one in self.front_]
        return {
            "trees": [one.tree.to_text() for one in self.front_],
            "true_positive_and_negative_rates": rates,
            "best": self.best_,
        }

    def predict(self, X: Table, *, tree: int | None = None) -> Any:  # noqa: ANN401, N803
        """Return the class of each record by one tree of the front, shape ``(n,)``.

        Args:
            X: As in :meth:`fit`.
            tree: Position in the front; ``best_`` if not given.

        Raises:
            ParameterError: There is no such tree.
        """
        codes = self._codes(X)
        if tree is not None and not 0 <= tree < len(self.front_):
            raise ParameterError(f"tree must be from 0 to {len(self.front_) - 1}, got {tree}")
        chosen = self.tree_ if tree is None else self.front_[tree].tree
        return self.classes_[chosen.probabilities(codes).argmax(axis=1)]

    def predict_proba(self, X: Table) -> Values:  # noqa: N803 -- scikit-learn's name
        """Return 1 for the class that the best tree answers, shape ``(n, 2)``."""
        codes = self._codes(X)
        return self.tree_.probabilities(codes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the released rates of the front; the best tree is filled.

        Args:
            ax: Axes to draw into; a new figure if not given.

        Raises:
            ParameterError: Nothing was spent on rates.
        """
        points = [
            (tree.true_negative_rate, tree.true_positive_rate)
            for tree in self.front_
            if tree.true_negative_rate is not None and tree.true_positive_rate is not None
        ]
        if not points:
            raise ParameterError("rates_share was 0: there are no rates to plot")
        if ax is None:
            needed("matplotlib", extra="standard")
            from matplotlib.figure import Figure

            ax = Figure(figsize=(4, 4), layout="constrained").subplots()
        for i, (tnr, tpr) in enumerate(points):
            best = i == self.best_
            ax.plot(
                tnr,
                tpr,
                "o",
                color="C0",
                markerfacecolor="C0" if best else "none",
                label="largest weighted sum" if best else None,
            )
            ax.annotate(str(i), (tnr, tpr), xytext=(4, 4), textcoords="offset points")
        west, east, south, north = _limits(points)
        ax.set(
            xlabel="true negative rate (noisy)",
            ylabel="true positive rate (noisy)",
            xlim=(west, east),
            ylim=(south, north),
        )
        ax.legend(fontsize="small")
        return ax

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 -- scikit-learn's tags
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _limits(points: list[tuple[float, float]]) -> tuple[float, float, float, float]:
    """Return the limits of both axes: trees of one front are close, so not the whole square."""
    x, y = (np.max(points, axis=0) + np.min(points, axis=0)) / 2
    half = max(0.6 * float(np.ptp(points, axis=0).max()), 0.02)
    return x - half, x + half, y - half, y + half
