"""Estimators of scikit-learn's shape: each holds a query, and keeps what was released."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from dpselect import tables
from dpselect._optional import Axes, needed
from dpselect.budget.left_out import WithoutBudget
from dpselect.combine.fronts.dominance import Dominance
from dpselect.errors import ParameterError
from dpselect.mechanisms import MechanismLike
from dpselect.neighbours import NeighboursLike
from dpselect.plan import Plan, SupportsSpend
from dpselect.query import Query
from dpselect.tables.values import width
from dpselect.trees import records
from dpselect.trees.criteria import Criterion
from dpselect.trees.domains import named_domains
from dpselect.trees.front import FrontRelease, Operators, RateBound, Selection, TreeFront
from dpselect.trees.id3 import ID3Tree, Splits
from dpselect.trees.records import CodedTable, Rows
from dpselect.trees.tree import Tree, TreeRelease
from dpselect.typing import Indices, OnInvalid, Values

needed("sklearn", extra="standard")
from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402 -- after the check
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data  # noqa: E402

PUBLIC = ("epsilon", "domains", "classes", "max_records")
"""Parameters that every fit needs, and that no data may choose."""


@dataclass(eq=False, repr=False)
class PrivateEstimator(WithoutBudget, BaseEstimator):  # type: ignore[misc]
    """An estimator whose parameters are the fields of a query, and ``budget``.

    The query documents them and the guarantee. ``domains`` may also be one domain for all
    columns, or a sequence of one for each; ``budget`` is charged ``epsilon`` by every fit, and
    a copy of what was fitted has none.

    Attributes:
        release_: What ``fit`` released; a ``dpselect.Release``.
        plan_: The ``dpselect.Plan`` that ``fit`` charged.
        entry_: The number of its entry in the budget; None if nothing was recorded.
        classes_: The declared classes in ascending order, shape ``(classes,)``.
        n_features_in_: The number of columns of ``X``.
        feature_names_in_: Their names, if ``X`` was a frame.
    """

    epsilon: float | None = None
    _: KW_ONLY
    domains: Any = None
    classes: Sequence[Hashable] | None = None
    max_records: int | None = None
    user: str | None = None
    max_per_user: int | None = None
    neighbours: NeighboursLike = "add-remove"
    on_invalid: OnInvalid = "repair"
    budget: SupportsSpend | None = None
    _kind: ClassVar[Callable[..., Query[Any]]]

    def query(
        self, columns: Sequence[str] | None = None, *, label: str | None = None
    ) -> Query[Any]:
        """Return the query of ``fit``.

        Args:
            columns: Names of the columns of ``X``; those of ``domains`` if not given, which
                must be a mapping then.
            label: The column of the labels, if ``X`` has it.

        Raises:
            ParameterError: A parameter is missing or out of range.
            NeighboursError: ``neighbours`` is no relation of tables.
        """
        given = self.get_params(deep=False)
        del given["budget"]
        if self.epsilon is None:
            missing = [f"`{name}`" for name in PUBLIC if given[name] is None]
            raise ParameterError(f"{type(self).__name__} needs {', '.join(missing)}")
        if columns is not None and not isinstance(self.domains, Mapping):
            columns = [name for name in columns if name != self.user]
        given["domains"] = named_domains(self.domains, columns)
        for name, one in given["domains"].items():
            # A query keeps lists as tuples, so it cannot tell.
            if isinstance(one, tuple) and {*map(type, one)} <= {int, float} and len(one) == 3:
                raise ParameterError(
                    f"the domain of {name!r} is a tuple of three numbers: give Bins(low, high, "
                    "bins=...) for ranges, or a list for these values"
                )
        return self._kind(**given, label=label)

    def plan(self, columns: Sequence[str] | None = None) -> Plan:
        """Return the plan of ``fit``; no data are needed.

        Args:
            columns: As for ``query``.
        """
        return self.query(columns).plan

    def reader(self, columns: Sequence[str]) -> Rows:
        """Return how ``fit`` reads records; its ``Rows.coded`` reads them once for all.

        Estimators with equal readers can be fitted on the same coded records.
        """
        rows: Rows = self.query(columns).design().rows
        return replace(rows, encoded=True)

    def fit(self, X: records.Table, y: records.Labels = None) -> Self:  # noqa: N803 -- scikit-learn's signature
        """Draw privately; the attributes that are set are safe to publish.

        Args:
            X: A frame (pandas, polars, arrow, ...) or an array of shape ``(n, columns)``,
                whose columns are then called ``x0``, ``x1``, .... Private. Of a lazy frame
                (polars, DuckDB, PySpark) only counts leave the engine.
            y: Labels, shape ``(n,)``; of a lazy frame the name of its column of labels. If all
                classes are text, an array of integers holds their positions in ascending
                order, as scikit-learn encodes labels. Private.

        Raises:
            ParameterError: A parameter is missing or out of range.
            NeighboursError: ``neighbours`` is no relation of tables, or not the budget's.
            ColumnError: A column is missing, or of another type than its domain.
            DataError: X is not a table, or y not one label for each record.
            PublicClaimError: There are more records than ``max_records``; with
                ``on_invalid="raise"``, a value or a label is outside of its domain.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        """
        if tables.is_lazy(X):
            if not isinstance(y, str):
                raise ParameterError(
                    "X is a lazy frame: y must be the name of its label column"
                )
            types = tables.open_table(X).collect_schema()
            names, frame = tuple(name for name in types.names() if name != y), True
            release = self.query(names, label=y).release(X, budget=self.budget)
            classes = release.query.classes
        else:
            coded = X if isinstance(X, CodedTable) else self._coded(X, y)
            names, frame, classes = coded.columns, coded.frame, coded.classes
            release = self.query(names).release(coded, budget=self.budget)
        self._remember(names, frame=frame)
        self.release_, self.plan_, self.entry_ = release, release.plan, release.entry
        self.classes_ = _array([classes[place] for place in _ascending(classes)])
        self._keep(release)
        return self

    def _coded(self, x: records.Table, y: records.Labels) -> CodedTable:
        read = records.read(x, fields=width(self.domains))
        data = read if read.frame is None else x, _one_column(y)
        return PrivateEstimator.reader(self, read.names).coded(data)

    @abstractmethod
    def _keep(self, release: Any) -> None:  # noqa: ANN401 -- of the estimator's query
        """Set the attributes that were released."""

    def _remember(self, names: Sequence[str], *, frame: bool) -> None:
        if frame:
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.array(names, dtype=object)
        else:
            validate_data(self, _no_rows(names), reset=True, skip_check_array=True)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 -- scikit-learn's tags
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class PrivateTreeClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A classifier whose trees are drawn privately; a subclass says how."""

    tree_: Tree

    def _codes(self, X: records.Table) -> Indices:  # noqa: N803 -- scikit-learn's name
        check_is_fitted(self)
        if isinstance(X, CodedTable):
            return X.codes
        columns = records.read(X, fields=self.n_features_in_)
        if not hasattr(X, "columns"):
            # scikit-learn's own words for a wrong number of columns.
            validate_data(self, _no_rows(columns.names), reset=False, skip_check_array=True)
        elif not set(self.tree_.schema.names) <= set(columns.names):
            validate_data(self, X, reset=False, skip_check_array=True)
        return records.codes(columns, self.tree_.schema)

    def predict(self, X: records.Table) -> Any:  # noqa: ANN401, N803 -- scikit-learn's signature
        """Return the class of the largest released share for each record, shape ``(n,)``."""
        shares = self.predict_proba(X)  # which refuses what is not fitted
        return self.classes_[shares.argmax(axis=1)]

    def predict_proba(self, X: records.Table) -> Values:  # noqa: N803 -- scikit-learn's name
        """Return released class shares at each record's leaf, shape ``(n, classes)``.

        Columns are in the order of ``classes_``. A record with a value outside of its domain
        gets the shares of the node at which it stops. A tree of a front answers 1 class.
        """
        codes = self._codes(X)
        return self.tree_.probabilities(codes)[:, _ascending(self.tree_.schema.classes)]

    def predict_log_proba(self, X: records.Table) -> Values:  # noqa: N803 -- likewise
        """Return the logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what was released, as the release's ``plot`` does."""
        check_is_fitted(self)
        drawn: Axes = self.release_.plot(ax)
        return drawn

    def __str__(self) -> str:
        return str(self.tree_) if hasattr(self, "tree_") else repr(self)


@dataclass(eq=False, repr=False)
class ID3Classifier(PrivateTreeClassifier):
    """A decision tree whose splits are drawn privately.

    Its query is ``ID3Tree``, which documents its parameters and the guarantee. ``domains`` may
    also be one domain for all columns or a sequence of one for each; ``budget`` is charged
    ``epsilon`` by every fit.

    Attributes:
        tree_: The released ``Tree``.

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

    _: KW_ONLY
    max_depth: int | None = None
    criterion: Criterion = "gini"
    mechanism: MechanismLike | None = None
    splits: Splits = "thresholds"
    _kind = ID3Tree

    def _keep(self, release: TreeRelease) -> None:
        self.tree_ = release.tree


@dataclass(eq=False, repr=False)
class MultiObjectiveTreeClassifier(PrivateTreeClassifier):
    """A front of decision trees that trade the two classes' rates, evolved privately.

    Its query is ``TreeFront``, which documents its parameters and the guarantee. ``domains``
    may also be one domain for all columns or a sequence of one for each; ``budget`` is charged
    ``epsilon`` by every fit.

    Attributes:
        front_: The released trees, the first drawn first.
        best_: Position in the front of the tree with the largest weighted sum of noisy
            rates; 0 if there are none.
        tree_: That tree, by which is predicted; another one of the front can be set.
    """

    _: KW_ONLY
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
    totals_share: float = 0.05
    rates_share: float = 0.1
    random_state: Any = None
    mechanism: MechanismLike | None = None
    _kind = TreeFront

    def _keep(self, release: FrontRelease) -> None:
        self.front_ = release.answer
        self.best_ = release.best
        self.tree_ = release.tree

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 -- scikit-learn's tags
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _one_column(y: records.Labels) -> records.Labels:
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        return column_or_1d(y, warn=True)  # scikit-learn's warning about a column of labels
    return y


def _array(classes: Sequence[Hashable]) -> Any:  # noqa: ANN401 -- of any type
    # NumPy would turn 1 into "1" beside a text.
    texts = sum(isinstance(label, str) for label in classes)
    return np.array(classes, dtype=None if texts in {0, len(classes)} else object)


def _ascending(classes: Sequence[Any]) -> list[int]:
    """Return the positions of classes in the order that scikit-learn has them."""
    places = range(len(classes))
    try:
        return sorted(places, key=classes.__getitem__)
    except TypeError:  # of several types
        return sorted(places, key=lambda place: str(classes[place]))


def _no_rows(names: Sequence[str]) -> Any:  # noqa: ANN401 -- an array
    # scikit-learn looks at the values of a list to find its columns.
    return np.empty((0, len(names)))


_CHECKS = {
    "compares fits, whose draws differ": (
        "check_fit_idempotent",
        "check_supervised_y_2d",
        "check_classifier_data_not_an_array",
        "check_transformer_general",
        "check_transformer_data_not_an_array",
    ),
    "noise can decide what a small table predicts": ("check_classifiers_one_label",),
    "likewise, and probabilities are of all declared classes": ("check_classifiers_train",),
    "a missing label is repaired: an error would be an output": ("check_supervised_y_no_nan",),
    "an empty table gives a draw at full cost": ("check_estimators_empty_data_messages",),
    "classes_ are the declared ones, not those seen": ("check_classifiers_classes",),
    "labels outside of classes are dropped, not learned": (
        "check_classifiers_regression_target",
        "check_classifier_not_supporting_multiclass",
    ),
}


def expected_failed_checks(estimator: BaseEstimator) -> dict[str, str]:
    """Return which of scikit-learn's checks an estimator can fail, and why.

    Give it to ``sklearn.utils.estimator_checks.check_estimator`` or
    ``parametrize_with_checks`` as ``expected_failed_checks``. The checks use labels 0, 1 and 2
    and values near 0: declare these, as ``docs/trees.md`` shows.

    Args:
        estimator: An estimator of ``dpselect.trees``, or a ``PrivateSearchCV`` of one.
    """
    del estimator  # the checks of other kinds are not made of it
    return {name: why for why, names in _CHECKS.items() for name in names}
