"""Base of the private estimators: public claims, one plan, one spend, prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, Self

import numpy as np

from dpselect import _validate, passes, tables
from dpselect._optional import needed
from dpselect.errors import DataError, ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.passes import Pass
from dpselect.plan import ErrorBound, Plan, Spend, SupportsSpend
from dpselect.tables.users import UserCap, user_cap
from dpselect.trees import records
from dpselect.trees.counts import Counts, MemoryCounts
from dpselect.trees.criteria import records_per_step
from dpselect.trees.engine import EngineCounts
from dpselect.trees.passes import of_reading
from dpselect.trees.randomness import Exact, Sampler, check_noise
from dpselect.trees.tree import Tree
from dpselect.trees.users import counted
from dpselect.typing import Indices, OnInvalid

needed("sklearn", extra="standard")
from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402 -- after the check
from sklearn.utils.validation import (  # noqa: E402
    check_is_fitted,
    column_or_1d,
    validate_data,
)

MOST_LINES = 40
"""Lines of a tree that ``str`` shows."""


class Training(Protocol):
    """Public parameters of what is drawn, with the prices."""

    @property
    def passes(self) -> tuple[Pass, ...]:
        """What the counts take in an engine."""

    def spends(self, steps: int = 1) -> tuple[Spend, ...]:
        """Return the prices under a relation of one or several steps of a record."""


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that draws by tables of values and classes; a subclass says what.

    Attributes:
        plan_: The :class:`dpselect.Plan` that :meth:`fit` charged.
    """

    epsilon: float
    domains: records.Domains
    classes: Sequence[Hashable] | None
    max_records: int | None
    user: str | None
    max_per_user: int | None
    neighbours: NeighboursLike
    on_invalid: OnInvalid
    budget: SupportsSpend | None
    classes_: Any

    @abstractmethod
    def _training(self, public: records.Schema, max_records: int, epsilon: float) -> Any:  # noqa: ANN401
        """Return how to draw, all arguments checked.

        Args:
            public: Columns, domains and classes.
            max_records: Bound on the number of records.
            epsilon: Of all queries about one record, in nats, under add/remove.
        """

    @abstractmethod
    def _describe(self, training: Any) -> tuple[dict[str, object], str, str]:  # noqa: ANN401
        """Return public arguments, the mechanism and the composition, for the plan."""

    def _error(self, training: Any) -> ErrorBound | None:  # noqa: ANN401, ARG002 -- for subclasses
        """Return a bound on the error of what is released, where one holds on all data."""
        return None

    @abstractmethod
    def _draw(self, training: Any, counts: Counts, sampler: Sampler) -> None:  # noqa: ANN401
        """Draw and set the released attributes."""

    @abstractmethod
    def _released(self) -> dict[str, Any]:
        """Return what was released as plain Python values, by name."""

    def fit(self, X: records.Table, y: records.Labels) -> Self:  # noqa: N803 -- scikit-learn's signature
        """Draw privately; the attributes that are set are safe to publish.

        Args:
            X: A frame (pandas, polars, arrow, ...) or an array of shape ``(n, columns)``,
                whose columns are then called ``x0``, ``x1``, .... Private. Of a lazy frame
                (polars, DuckDB, PySpark) only counts leave the engine.
            y: Labels, shape ``(n,)``; of a lazy frame the name of its column of labels.
                Private.

        Raises:
            ParameterError: A public argument is missing or out of range.
            NeighboursError: ``neighbours`` is no relation of tables, or not the budget's.
            ColumnError: A column is missing, or of another type than its domain.
            DataError: X is not a table, or y not one label for each record.
            PublicClaimError: There are more records than ``max_records``; with
                ``on_invalid="raise"``, a value or a label is outside of its domain.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
        """
        return self._grow(X, y, Exact(), self.budget)

    def plan(self, columns: Sequence[str] | None = None) -> Plan:
        """Return the plan of :meth:`fit`; no data are needed.

        Args:
            columns: Names of the columns of ``X``; those of ``domains`` if not given, which
                must be a mapping then.

        Raises:
            ParameterError: A public argument is missing or out of range.
            NeighboursError: ``neighbours`` is no relation of tables.
        """
        if columns is None:
            if not isinstance(self.domains, Mapping):
                raise ParameterError(
                    "domains must be a mapping: a plan needs the columns' names"
                )
            columns = [str(name) for name in self.domains]
        return self._planned(columns)[2]

    def _planned(self, columns: Sequence[str]) -> tuple[records.Schema, Any, Plan]:
        """Check all public arguments; return the claims, how to draw, and the plan."""
        relation = _validate.table_neighbours(self.neighbours)
        _validate.on_invalid(self.on_invalid)
        users = self._users()
        split_on = [name for name in columns if users is None or name != users.column]
        steps = records_per_step(relation) * (1 if users is None else users.most)
        epsilon = _validate.positive("epsilon", self.epsilon)
        public = records.schema(self.domains, self.classes, split_on)
        most = records.checked_bound(self.max_records)
        training = self._training(public, most, epsilon / steps)
        return public, training, self._plan_of(public, most, training, relation, steps)

    def _users(self) -> UserCap | None:
        """Return the persons of the records, if one can have several."""
        cap = user_cap(self.user, self.max_per_user)
        if cap is not None and isinstance(self.domains, Mapping) and cap.column in self.domains:
            raise ParameterError(
                f"column {cap.column!r} cannot be the user and be split on: give it no domain"
            )
        return cap

    def _plan_of(
        self,
        public: records.Schema,
        max_records: int,
        training: Training,
        relation: Neighbours,
        steps: int,
    ) -> Plan:
        spends = training.spends(steps)
        for spend in spends:
            check_noise(spend.epsilon / steps)
        arguments, mechanism, composition = self._describe(training)
        claims = ["columns and their domains", "classes", f"max_records = {max_records}"]
        if relation is Neighbours.SUBSTITUTE:
            claims.append(f"the number of {'records' if self.user is None else 'persons'}")
        if self.on_invalid == "raise":
            claims.append("that no value is outside of its domain")
        return Plan(
            function=type(self).__name__,
            arguments={
                "columns": list(public.names),
                "classes": list(public.classes),
                "max_records": max_records,
                **arguments,
                **self._of_users(),
            },
            mechanism=mechanism,
            spends=spends,
            epsilon=float(self.epsilon),
            neighbours=relation,
            public=tuple(claims),
            composition=composition,
            error=self._error(training),
            passes=(*of_reading(strict=self.on_invalid == "raise"), *training.passes),
        )

    def _of_users(self) -> dict[str, object]:
        if self.user is None:
            return {}
        return {"user": self.user, "max_per_user": self.max_per_user}

    def _grow(
        self,
        X: records.Table,  # noqa: N803 -- scikit-learn's name
        y: records.Labels,
        sampler: Sampler,
        budget: SupportsSpend | None = None,
    ) -> Self:
        read = self._in_engine if tables.is_lazy(X) else self._in_memory
        with read(X, y, budget) as (training, plan, counts):
            receipt = plan.charge(budget)
            self.schema_ = training.schema
            self.classes_ = _array(training.schema.classes)
            self.plan_ = plan
            self._draw(training, counts, sampler)
        receipt.keep(self._released())
        self.entry_ = receipt.number
        return self

    @contextmanager
    def _in_memory(
        self,
        X: records.Table,  # noqa: N803 -- scikit-learn's name
        y: records.Labels,
        budget: SupportsSpend | None,
    ) -> Iterator[tuple[Any, Plan, Counts]]:
        users = self._users()
        if users is not None:
            if not tables.is_table(X):
                raise ParameterError("user names a column: X must be a frame")
            users.check(X)
        columns = records.read(X, fields=records.width(self.domains))
        public, training, plan = self._planned(columns.names)
        plan.check(budget)
        labels = records.labels(_one_column(y), columns.rows)
        codes = records.codes(columns, public)
        known = records.label_codes(labels, public)
        if self.on_invalid == "raise":
            records.refuse_outside(columns, known, public)
        if users is not None:
            persons = columns.values(columns.names.index(users.column))
            codes, known = counted(codes, known, persons, users)
        records.check_number(len(codes), training.max_records)
        _remember_columns(self, X, columns)
        yield training, plan, MemoryCounts.of_records(public, codes, known)

    @contextmanager
    def _in_engine(
        self,
        X: records.Table,  # noqa: N803 -- scikit-learn's name
        y: object,
        budget: SupportsSpend | None,
    ) -> Iterator[tuple[Any, Plan, Counts]]:
        if not isinstance(y, str):
            raise ParameterError("X is a lazy frame: y must be the name of its label column")
        names = [name for name in tables.open_table(X).collect_schema().names() if name != y]
        public, training, plan = self._planned(names)
        plan.check(budget)
        counts = EngineCounts(X, y, public, self._users(), training.max_records)
        passes.expect(plan.passes, spark=counts.on_spark)
        records.check_number(counts.number(), training.max_records)
        if self.on_invalid == "raise":
            counts.refuse_outside()
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        with counts.held():
            yield training, plan, counts

    def _codes(self, X: records.Table) -> Indices:  # noqa: N803 -- scikit-learn's name
        check_is_fitted(self)
        columns = records.read(X, fields=self.n_features_in_)
        if not _is_frame(X):
            # scikit-learn's own words for a wrong number of columns.
            validate_data(self, _no_rows(columns), reset=False, skip_check_array=True)
        elif not set(self.schema_.names) <= set(columns.names):
            validate_data(self, X, reset=False, skip_check_array=True)
        return records.codes(columns, self.schema_)

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

    def __str__(self) -> str:
        if not hasattr(self, "tree_"):
            return repr(self)
        lines = self.tree_.simplified().to_text().splitlines()
        left = len(lines) - MOST_LINES
        lines_left = "1 more line" if left == 1 else f"{left} more lines"
        more = [f"... and {lines_left}: tree_.to_text() has all"] if left > 0 else []
        return "\n".join([*lines[:MOST_LINES], *more])


def _one_column(y: records.Labels) -> records.Labels:
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        return column_or_1d(y, warn=True)  # scikit-learn's warning about a column of labels
    return y


def _array(classes: tuple[Hashable, ...]) -> Any:  # noqa: ANN401 -- of any type
    # NumPy would turn 1 into "1" beside a text.
    texts = sum(isinstance(label, str) for label in classes)
    return np.array(classes, dtype=None if texts in {0, len(classes)} else object)


def _is_frame(x: object) -> bool:
    return hasattr(x, "columns")


def _remember_columns(
    estimator: PrivateEstimator,
    X: records.Table,  # noqa: N803 -- scikit-learn's name
    columns: records.Columns,
) -> None:
    if not columns.names:
        raise DataError("X: 0 feature(s) (shape=(n, 0)) while a minimum of 1 is required.")
    if _is_frame(X):
        estimator.n_features_in_ = len(columns.names)
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)
    else:
        validate_data(estimator, _no_rows(columns), reset=True, skip_check_array=True)


def _no_rows(columns: records.Columns) -> Any:  # noqa: ANN401 -- an array
    # scikit-learn looks at the values of a list to find its columns.
    return np.empty((0, len(columns.names)))
