"""What both private tree classifiers share as scikit-learn estimators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from dpselect import _validate, tables
from dpselect.errors import DataError, NeighboursError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.trees import records
from dpselect.trees.engine import EngineRecords
from dpselect.trees.patterns import Patterns, compress
from dpselect.trees.report import PrivacyReport
from dpselect.trees.sampling import Exact, Sampler
from dpselect.typing import Indices

if TYPE_CHECKING:
    from dpselect.budget import Budget

OnInvalid: TypeAlias = Literal["repair", "raise"]
"""What happens to values outside of what was declared."""


class PrivateTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose tree was drawn privately.

    A subclass says how :meth:`fit` grows trees.
    """

    composition: ClassVar[str]
    """Why what is spent adds up to epsilon."""

    epsilon: float
    domains: records.Domains
    classes: Sequence[Hashable] | None
    max_records: int | None
    neighbours: Neighbours | str
    on_invalid: OnInvalid
    budget: Budget | None

    @abstractmethod
    def _plan(self, public: records.Schema, max_records: int) -> Any:  # noqa: ANN401
        """Return how trees are made, all arguments checked."""

    @abstractmethod
    def _fit(self, plan: Any, patterns: Patterns | EngineRecords, sampler: Sampler) -> None:  # noqa: ANN401
        """Make trees and set what is released."""

    def fit(self, X: records.Table, y: records.Labels) -> Self:  # noqa: N803 -- scikit-learn's signature
        """Draw the tree; what is set is safe to publish.

        Args:
            X: A frame (pandas, polars, arrow, ...) or an array of shape ``(n, columns)``,
                whose columns are then called ``x0``, ``x1``, .... Private. Of a lazy frame
                (polars, DuckDB, PySpark) only counts leave the engine.
            y: Labels, shape ``(n,)``; of a lazy frame the name of its column of labels.
                Private.

        Raises:
            ParameterError: A public argument is missing or out of range.
            ColumnError: A column is missing, or of another type than its domain.
            DataError: X is not a table, or y not one label for each record.
            PublicClaimError: There are more records than ``max_records``; with
                ``on_invalid="raise"``, a value or a label is outside of what was declared.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        """
        return self._grow(X, y, Exact())

    def plan_report(self) -> PrivacyReport:
        """Return what :meth:`fit` would spend where; needs no record.

        Domains must be a mapping, so that the columns are known.

        Raises:
            ParameterError: A public argument is missing or out of range.
        """
        if not isinstance(self.domains, Mapping):
            raise ParameterError("domains must be a mapping: a plan needs the columns' names")
        names = [str(name) for name in self.domains]
        public = records.schema(self.domains, self.classes, names)
        _validate.positive("epsilon", self.epsilon)
        plan = self._plan(public, records.check_size(0, self.max_records))
        return report(plan, self)

    def _grow(self, X: records.Table, y: records.Labels, sampler: Sampler) -> Self:  # noqa: N803
        relation_of(self)
        if self.on_invalid not in {"repair", "raise"}:
            raise ParameterError("on_invalid must be 'repair' or 'raise'")
        _validate.positive("epsilon", self.epsilon)
        if tables.is_lazy(X):
            return self._grow_in_engine(X, y, sampler)
        columns = records.read(X)
        public = records.schema(self.domains, self.classes, columns.names)
        labels, kind = records.labels(_one_column(y), columns.rows)
        most = records.check_size(columns.rows, self.max_records)
        plan = self._plan(public, most)
        codes = records.codes(columns, public)
        known = records.label_codes(labels, kind, public)
        if self.on_invalid == "raise":
            records.refuse_outside(columns, known, public)
        self._spend(sampler)
        _remember_columns(self, X, columns)
        self.schema_ = public
        self.classes_ = _array(public.classes)
        self._fit(plan, compress(codes, known, public.sizes, len(public.classes)), sampler)
        return self

    def _grow_in_engine(self, X: records.Table, y: object, sampler: Sampler) -> Self:  # noqa: N803
        if not isinstance(y, str):
            raise ParameterError("X is a lazy frame: y must be the name of its label column")
        names = [name for name in tables.open_table(X).collect_schema().names() if name != y]
        public = records.schema(self.domains, self.classes, names)
        held = EngineRecords(X, y, public)
        plan = self._plan(public, records.check_size(held.number(), self.max_records))
        if self.on_invalid == "raise":
            held.refuse_outside()
        self._spend(sampler)
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        self.schema_ = public
        self.classes_ = _array(public.classes)
        self._fit(plan, held, sampler)
        return self

    def _spend(self, sampler: Sampler) -> None:
        if isinstance(sampler, Exact) and self.budget is not None:
            self.budget.spend(
                self.epsilon, neighbours=relation_of(self), mechanism=type(self).__name__
            )

    def _codes(self, X: records.Table) -> Indices:  # noqa: N803 -- scikit-learn's name
        check_is_fitted(self)
        columns = records.read(X)
        if not set(self.schema_.names) <= set(columns.names) or not _is_frame(X):
            # scikit-learn's own words for a wrong number or wrong names of columns.
            validate_data(self, X, reset=False, skip_check_array=True)
        return records.codes(columns, self.schema_)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 -- scikit-learn's tags
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def relation_of(estimator: PrivateTreeClassifier) -> Neighbours:
    """Return the neighbour relation of an estimator, given by itself or by its name."""
    given = estimator.neighbours
    for relation in (Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE):
        if given is relation or given == str(relation):
            return relation
    raise NeighboursError("neighbours of tables must be 'add-remove' or 'substitute'")


def report(
    plan: Any,  # noqa: ANN401 -- whatever has .spends()
    estimator: PrivateTreeClassifier,
) -> PrivacyReport:
    """Return what a plan spends, with what the estimator's caller declared public."""
    public = ["columns and their domains", "classes", f"max_records = {estimator.max_records}"]
    relation = relation_of(estimator)
    if relation is Neighbours.SUBSTITUTE:
        public.append("the number of records")
    return PrivacyReport(
        epsilon=float(estimator.epsilon),
        neighbours=relation,
        spends=plan.spends(),
        public=tuple(public),
        composition=estimator.composition,
    )


def _one_column(y: records.Labels) -> records.Labels:
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        return column_or_1d(y, warn=True)  # what scikit-learn says of a column of labels
    return y


def _array(classes: tuple[Hashable, ...]) -> Any:  # noqa: ANN401 -- of any type
    # NumPy would turn 1 into "1" beside a text.
    texts = sum(isinstance(label, str) for label in classes)
    return np.array(classes, dtype=None if texts in {0, len(classes)} else object)


def _is_frame(x: object) -> bool:
    return hasattr(x, "columns")


def _remember_columns(
    estimator: PrivateTreeClassifier,
    X: records.Table,  # noqa: N803 -- scikit-learn's name
    columns: records.Columns,
) -> None:
    if not columns.names:
        raise DataError("X: 0 feature(s) (shape=(n, 0)) while a minimum of 1 is required.")
    if _is_frame(X):
        estimator.n_features_in_ = len(columns.names)
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)
    else:
        validate_data(estimator, X, reset=True, skip_check_array=True)
