"""ID3 with private splits, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from dpselect import _validate
from dpselect.accuracy import count_error
from dpselect.mechanisms import MechanismFactory
from dpselect.neighbours import NeighboursLike
from dpselect.plan import ErrorBound, SupportsSpend
from dpselect.trees import tree as trees
from dpselect.trees.counts import Counts
from dpselect.trees.criteria import CRITERIA, Criterion
from dpselect.trees.estimator import PrivateTreeClassifier
from dpselect.trees.growth import Growth
from dpselect.trees.randomness import Sampler
from dpselect.trees.records import Domains, Schema, Table
from dpselect.typing import OnInvalid, Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COMPOSITION = (
    "a record is in one node of each level: the levels' prices add up, nodes of one level are "
    "parallel"
)


class ID3Classifier(PrivateTreeClassifier):
    """A decision tree with one branch for every value of the column that a node splits on.

    Guarantee:
        ``epsilon``-DP under ``neighbours`` for everything that :meth:`fit` sets. Public:
        all arguments, the columns of ``X`` and their types; under substitution also the
        number of records. Values outside of what was declared are repaired record by
        record: numbers clamped, missing and unknown values sent to the domain's ``other``
        or their record dropped, records with a label outside of ``classes`` dropped. With
        ``user`` a neighbour has all records of one person more, fewer or others, every
        query costs ``max_per_user`` times as much, and under substitution the number of
        persons is public in place of that of records.

    Args:
        epsilon: Total, in nats; finite, > 0.
        max_depth: Splits on a path, at most; >= 0.
        criterion: ``"information-gain"``, ``"gini"`` or ``"majority"``.
        domains: Public values of each column: a mapping from names to
            :class:`~dpselect.trees.Categories`, :class:`~dpselect.trees.Bins` or lists; or
            one domain for all columns. Required. Columns without a domain are not used.
        classes: The labels that can occur; at least two. Required.
        max_records: Bound on the number of records that are counted; >= 2. Required.
        user: The column of ``X`` with the person that a record belongs to: text, integers,
            booleans or dates; it is never split on. Each record is a person of its own if
            not given; a record without a person is dropped.
        max_per_user: How many records of a person are counted, by a rule that depends on
            that person's records alone (:mod:`dpselect.tables.users`); goes with ``user``.
        neighbours: ``"add-remove"`` or ``"substitute"``, or the relation itself; for the
            latter every query costs twice as much.
        mechanism: A key of :data:`dpselect.mechanisms.MECHANISMS`, or a callable that takes
            ``epsilon=`` and returns a mechanism. If not given, public facts choose it
            (:func:`~dpselect.trees.growth.suited`).
        budget: Where ``epsilon`` is spent before anything is drawn.
        on_invalid: ``"repair"``; or ``"raise"``, for curators who declare that no value is
            outside: whether it raises is then public.

    Attributes:
        tree_: The released :class:`~dpselect.trees.Tree`.
        classes_: The declared classes, shape ``(classes,)``.
        plan_: The :class:`dpselect.Plan` that was charged.
        entry_: The number of its entry in the budget; None if nothing was recorded.
        n_features_in_: The number of columns of ``X``.
        feature_names_in_: Their names, if ``X`` was a frame.

    Source: Farias et al., VLDB J. 2023, Algorithm 4 (DiffPID3); our leaves also get
        the epsilon that their paths have left.

    Examples:
        >>> from dpselect.trees import ID3Classifier
        >>> x = [["rain"], ["sun"]] * 500
        >>> y = ["in", "out"] * 500
        >>> tree = ID3Classifier(
        ...     epsilon=10.0, max_depth=1, domains=[["rain", "sun"]], classes=["in", "out"],
        ...     max_records=2000,
        ... ).fit(x, y)
        >>> tree.predict([["sun"], ["rain"]])
        array(['out', 'in'], dtype='<U3')
    """

    def __init__(  # noqa: PLR0913 -- each is one public claim
        self,
        epsilon: float = 1.0,
        *,
        max_depth: int = 5,
        criterion: Criterion = "information-gain",
        domains: Domains = None,
        classes: Sequence[Hashable] | None = None,
        max_records: int | None = None,
        user: str | None = None,
        max_per_user: int | None = None,
        neighbours: NeighboursLike = "add-remove",
        mechanism: str | MechanismFactory | None = None,
        budget: SupportsSpend | None = None,
        on_invalid: OnInvalid = "repair",
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.criterion = criterion
        self.mechanism = mechanism
        self.domains = domains
        self.classes = classes
        self.max_records = max_records
        self.user = user
        self.max_per_user = max_per_user
        self.neighbours = neighbours
        self.on_invalid = on_invalid
        self.budget = budget

    def _training(self, public: Schema, max_records: int, epsilon: float) -> Growth:
        _validate.one_of("criterion", self.criterion, CRITERIA)
        return Growth(
            schema=public,
            epsilon=epsilon,
            max_depth=_validate.at_least("max_depth", self.max_depth, 0),
            criterion=self.criterion,
            mechanism=self.mechanism,
            max_records=max_records,
        )

    def _describe(self, training: Growth) -> tuple[dict[str, object], str, str]:
        arguments: dict[str, object] = {
            "max_depth": training.max_depth,
            "criterion": training.criterion,
        }
        return (
            arguments,
            f"{training.draws_split_by.label} by {training.criterion}",
            COMPOSITION,
        )

    def _error(self, training: Growth) -> ErrorBound:
        return count_error(1 / (2 * training.unit), "records in a count of a leaf")

    def _draw(self, training: Growth, counts: Counts, sampler: Sampler) -> None:
        self.tree_ = trees.Tree(training.schema, training.grow(counts, sampler))

    def _released(self) -> dict[str, Any]:
        return {"tree": self.tree_.to_text()}

    def predict_proba(self, X: Table) -> Values:  # noqa: N803 -- scikit-learn's name
        """Return released class shares at each record's leaf, shape ``(n, classes)``.

        A record with a value outside of its domain gets the shares of the node where it
        cannot go on.
        """
        codes = self._codes(X)
        return self.tree_.probabilities(codes)

    def predict(self, X: Table) -> Any:  # noqa: ANN401, N803 -- scikit-learn's signature
        """Return the class of the largest released share for each record, shape ``(n,)``."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the released tree on at most one page, with its price as the title.

        Args:
            ax: Axes to draw into; a new figure if not given.
        """
        from dpselect.trees.picture import plot

        plan = self.plan_
        title = f"{plan.function}, ε = {plan.epsilon:g} ({plan.neighbours} neighbours)"
        return plot(self.tree_, ax, title=f"{title}; class (noisy counts)")
