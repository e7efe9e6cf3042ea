"""Private selection of the columns that say most about the labels, for scikit-learn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpselect import _validate
from dpselect._optional import needed
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, MechanismFactory, by_name
from dpselect.neighbours import NeighboursLike
from dpselect.passes import Pass
from dpselect.plan import Spend, SupportsSpend
from dpselect.trees.counts import Counts
from dpselect.trees.criteria import CRITERIA, Criterion, objective_of
from dpselect.trees.estimator import PrivateEstimator
from dpselect.trees.passes import of_levels
from dpselect.trees.randomness import Sampler
from dpselect.trees.records import Domains, Schema
from dpselect.typing import OnInvalid

needed("sklearn", extra="standard")
from sklearn.feature_selection import SelectorMixin  # noqa: E402 -- after the check
from sklearn.utils.validation import check_is_fitted  # noqa: E402


class PrivateSelectKBest(SelectorMixin, PrivateEstimator):  # type: ignore[misc]
    """Keep ``k`` columns that are drawn by how much they say about the labels.

    A column is scored by its table of values by classes: the gain of a decision tree's first
    split. Columns are drawn without replacement; no score is released.

    Guarantee:
        :meth:`fit` is ``epsilon``-DP under ``neighbours`` for one record of ``X`` and ``y``,
        or with ``user`` for all records of one person.
        Public: columns, domains, classes, ``max_records`` and ``k``. :meth:`transform` copies
        columns of the data that it is given and protects nobody in them.

    Args:
        epsilon: Of all ``k`` draws, in nats; finite, > 0.
        k: How many columns; at most those that have a domain.
        criterion: ``"information-gain"``, ``"gini"`` or ``"majority"``
            (:mod:`dpselect.trees.criteria`).
        domains: Public values of each column: a mapping from names to
            :class:`~dpselect.trees.Categories`, :class:`~dpselect.trees.Bins` or lists, a
            sequence of these, or one for all columns. Columns without one are never kept.
        classes: The labels that can occur; at least two.
        max_records: Public bound on the number of records that are counted.
        user: As for :class:`~dpselect.trees.ID3Classifier`, and so is ``max_per_user``.
        max_per_user: How many records of a person are counted.
        neighbours: ``"add-remove"`` or ``"substitute"``.
        mechanism: A short name (:data:`dpselect.mechanisms.MECHANISMS`), or a function of
            ``epsilon=``.
        budget: Where to record the spend.
        on_invalid: ``"repair"`` drops labels outside of ``classes`` and sends values outside
            of their domain to a category of their own or the nearest bin; ``"raise"``
            raises, which is not private.

    Attributes:
        selected_: Names of the columns, in the order drawn.
        plan_: The :class:`dpselect.Plan` that was charged.
        entry_: The number of its entry in the budget; None if nothing was recorded.
        classes_: The declared classes.
        n_features_in_: The number of columns of ``X``.
        feature_names_in_: Their names, if ``X`` was a frame.

    Examples:
        >>> from dpselect.trees import PrivateSelectKBest
        >>> x = [["rain", "red"], ["sun", "red"]] * 500
        >>> y = ["in", "out"] * 500
        >>> best = PrivateSelectKBest(
        ...     epsilon=2.0, k=1, domains=[["rain", "sun"], ["red", "blue"]],
        ...     classes=["in", "out"], max_records=2000,
        ... ).fit(x, y)
        >>> best.selected_
        ('x0',)
        >>> best.transform(x[:2]).tolist()
        [['rain'], ['sun']]
    """

    def __init__(  # noqa: PLR0913 -- each is one public claim
        self,
        epsilon: float = 1.0,
        *,
        k: int = 10,
        criterion: Criterion = "information-gain",
        domains: Domains = None,
        classes: Sequence[Hashable] | None = None,
        max_records: int | None = None,
        user: str | None = None,
        max_per_user: int | None = None,
        neighbours: NeighboursLike = "add-remove",
        mechanism: str | MechanismFactory = "shifted",
        budget: SupportsSpend | None = None,
        on_invalid: OnInvalid = "repair",
    ) -> None:
        self.epsilon = epsilon
        self.k = k
        self.criterion = criterion
        self.domains = domains
        self.classes = classes
        self.max_records = max_records
        self.user = user
        self.max_per_user = max_per_user
        self.neighbours = neighbours
        self.mechanism = mechanism
        self.budget = budget
        self.on_invalid = on_invalid

    def _training(self, public: Schema, max_records: int, epsilon: float) -> _Selection:
        if self.criterion not in CRITERIA:
            raise ParameterError(f"criterion must be one of {', '.join(CRITERIA)}")
        k = _validate.at_least("k", self.k, 1)
        if k > len(public.names):
            raise ParameterError(
                f"k must be at most the number of columns with a domain, {len(public.names)}, "
                f"not {k}"
            )
        return _Selection(public, epsilon, k, self.criterion, self.mechanism, max_records)

    def _describe(self, training: _Selection) -> tuple[dict[str, object], str, str]:
        return (
            {"k": training.k, "criterion": training.criterion},
            f"{training.draw.label} by {training.criterion}",
            "sequential: the prices of all draws add up",
        )

    def _draw(self, training: _Selection, counts: Counts, sampler: Sampler) -> None:
        names = training.schema.names
        self.selected_ = tuple(names[place] for place in training.choose(counts, sampler))

    def _released(self) -> dict[str, Any]:
        return {"selected": list(self.selected_)}

    def _get_support_mask(self) -> Any:  # noqa: ANN401 -- an array, for scikit-learn
        check_is_fitted(self)
        numbered = [f"x{place}" for place in range(self.n_features_in_)]
        return np.isin(getattr(self, "feature_names_in_", numbered), self.selected_)


@dataclass(frozen=True)
class _Selection:
    """Public parameters of the draws, and the draws.

    Attributes:
        schema: Columns, domains and classes.
        epsilon: Of all draws, in nats, under add/remove.
        k: How many columns.
        criterion: How a column is scored.
        mechanism: How columns are drawn.
        max_records: Bound on the number of records.
    """

    schema: Schema
    epsilon: float
    k: int
    criterion: Criterion
    mechanism: str | MechanismFactory
    max_records: int

    @cached_property
    def draw(self) -> Mechanism:
        """The mechanism of all draws."""
        return by_name(self.mechanism, self.epsilon)

    @property
    def passes(self) -> tuple[Pass, ...]:
        """What the counts take in an engine."""
        return of_levels(self.schema, 1, self.max_records)

    def spends(self, steps: int = 1) -> tuple[Spend, ...]:
        """Return the prices under a relation of so many steps of a record."""
        draw = replace(self.draw, epsilon=steps * self.epsilon)
        return (draw.spend(draw.paid_for, self.k),)

    def choose(self, counts: Counts, sampler: Sampler) -> list[int]:
        """Return the positions of the columns that are drawn."""
        [tables] = counts.tables(0, 1)
        objective = objective_of(
            self.criterion, tables, self.schema.names, max_records=self.max_records
        )
        return sampler.choose(self.draw, objective, self.k)
