"""Private search for the parameters of a classifier, ours or another library's."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from dpselect import Plan, Spend
from dpselect.errors import ParameterError, PublicClaimError
from dpselect.extend import (
    NeighboursLike,
    SupportsSpend,
    Values,
    WithoutBudget,
    needed,
    validation,
)
from dpselect.mechanisms import MechanismLike
from dpselect_applications.tuning.repetitions import RepetitionsLike
from dpselect_applications.tuning.search import (
    Grid,
    Method,
    Score,
    Search,
    declared_fields,
    unspent,
)
from dpselect_applications.tuning.train_validation import column_names, plain_table

needed("sklearn", extra="standard")
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone  # noqa: E402
from sklearn.utils import get_tags  # noqa: E402
from sklearn.utils.metaestimators import available_if  # noqa: E402
from sklearn.utils.validation import check_is_fitted, column_or_1d  # noqa: E402

LEAK = "PrivacyLeakWarning"
"""The category by which diffprivlib warns that it reads a parameter off the data."""

SEEDS = {"random_state", "random_seed", "seed", "rng"}
"""What libraries call the parameter that makes noise repeatable."""


@dataclass(eq=False, repr=False)
class PrivateSearchCV(WithoutBudget, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose the parameters of a private classifier privately, and keep the fitted winner.

    Its query is ``Search``, which documents its parameters and the guarantee. ``budget`` is
    charged ``epsilon`` by every fit, and a copy of what was fitted has none.

    Attributes:
        release_: The ``SearchRelease``.
        best_estimator_: The winner as it was fitted, on the records for fitting.
        best_params_: Its parameters from the grid.
        best_index_: Its position in the grid.
        best_score_: Its noisy number of correct predictions, or its own released score; None if
            none was released.
        plan_: The ``dpselect.Plan`` that was charged.
        entry_: The number of its entry in the budget; None if nothing was recorded.
        classes_: The classes of the winner.

    Examples:
        >>> from dpselect.trees import ID3Classifier
        >>> from dpselect_applications.tuning import PrivateSearchCV
        >>> x = [["rain", 0], ["sun", 1]] * 500
        >>> y = ["in", "out"] * 500
        >>> tree = ID3Classifier(
        ...     epsilon=20.0, domains=[["rain", "sun"], [0, 1]], classes=["in", "out"],
        ...     max_records=2000,
        ... )
        >>> search = PrivateSearchCV(tree, {"max_depth": [1, 2]}, epsilon=20.0).fit(x, y)
        >>> search.predict([["sun", 1], ["rain", 0]])
        array(['out', 'in'], dtype='<U3')
    """

    estimator: Any
    grid: Grid
    _: KW_ONLY
    epsilon: float
    method: Method = "auto"
    repetitions: RepetitionsLike | None = None
    scoring: Score | None = None
    validation_share: float = 0.3
    mechanism: MechanismLike | None = None
    budget: SupportsSpend | None = None
    random_state: int | None = None

    def query(self, columns: Sequence[str] | None = None) -> Search:
        """Return the query of ``fit``.

        Args:
            columns: Names of the columns of ``X``, for estimators that need them to state
                their plan.

        Raises:
            ParameterError: A parameter is missing or out of range.
            NeighboursError: The estimator's relation is not one of tables.
        """
        given = self.get_params(deep=False)
        del given["budget"]
        if hasattr(self.estimator, "get_params"):
            given["estimator"] = unspent(self.estimator)
        return Search(**given, columns=columns)

    def plan(self, columns: Sequence[str] | None = None) -> Plan:
        """Return the plan of ``fit``; no data are needed.

        Args:
            columns: As for ``query``.
        """
        return self.query(columns).plan

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401, N803 -- scikit-learn's signature
        """Search; the attributes that are set are safe to publish.

        Args:
            X: A frame in memory, an array of shape ``(n, columns)`` or rows. Private.
            y: Labels, shape ``(n,)``. Private.

        Raises:
            ParameterError: A parameter is missing or out of range.
            NeighboursError: The estimator's relation is not one of tables, or not the budget's.
            DataError: X is not a table in memory, or y not one label for each record.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
            PublicClaimError: As the estimator's own ``fit``, possibly after the spend.
        """
        table = plain_table(X, declared_fields(self.estimator, self.grid))
        if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)  # scikit-learn's warning about a column of labels
        release = self.query(column_names(table)).release((table, y), budget=self.budget)
        self.best_estimator_ = release.estimator
        self.best_index_ = release.position
        self.best_params_ = release.candidate
        self.best_score_ = release.score
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(release.estimator, name):
                setattr(self, name, getattr(release.estimator, name))
        self.release_, self.plan_, self.entry_ = release, release.plan, release.entry
        return self

    def predict(self, X: Any) -> Any:  # noqa: ANN401, N803 -- scikit-learn's signature
        """Return the winner's class of each record, shape ``(n,)``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Values:  # noqa: ANN401, N803
        """Return the winner's class shares of each record, shape ``(n, classes)``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Values:  # noqa: ANN401, N803
        """Return the logarithms of the winner's ``predict_proba``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_log_proba(X)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 -- scikit-learn's tags
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        tags.classifier_tags = deepcopy(own.classifier_tags)
        tags.input_tags = deepcopy(own.input_tags)
        return tags


@dataclass(eq=False, repr=False)
class PrivateClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A private classifier of another library, in the form that a search needs.

    For models of scikit-learn's form with a parameter for epsilon, such as those of
    diffprivlib. Parameters of the model are searched as ``model__name``.

    Read the model's documentation for its neighbour relation, and give it everything that it
    would otherwise read from the data, such as bounds. A fit in which diffprivlib warns of such
    a leak is refused, and so is a seed of its noise (``random_state``), since whoever knows it
    can take the noise away. All other warnings of a fit are suppressed, since they may reveal
    something about the data.

    Guarantee:
        That of the model, which dpselect does not check: ``epsilon``-DP under ``neighbours``.
        Its noise is the model's own, so it is not ``exact``.

    Args:
        model: An unfitted classifier.
        epsilon: Price of a fit, in nats; finite, > 0.
        neighbours: The relation that the model is private for, one of tables.
        epsilon_name: The name of the model's parameter for epsilon.

    Attributes:
        model_: The fitted model.
        plan_: The ``dpselect.Plan`` of the fit.
        classes_: The classes of the model.

    Examples:
        >>> from diffprivlib.models import GaussianNB  # doctest: +SKIP
        >>> from dpselect_applications.tuning import PrivateClassifier, PrivateSearchCV
        >>> model = GaussianNB(bounds=(0.0, 1.0))  # doctest: +SKIP
        >>> search = PrivateSearchCV(  # doctest: +SKIP
        ...     PrivateClassifier(model, epsilon=1.0, neighbours="add-remove"),
        ...     {"model__var_smoothing": [1e-9, 1e-3]}, epsilon=2.0,
        ... )
    """

    model: Any
    _: KW_ONLY
    epsilon: float
    neighbours: NeighboursLike
    epsilon_name: str = "epsilon"
    exact: ClassVar[bool] = False

    def plan(self, columns: Sequence[str] | None = None) -> Plan:  # noqa: ARG002 -- as all have
        """Return the plan of ``fit``; no data are needed.

        Args:
            columns: Not used.

        Raises:
            ParameterError: ``epsilon`` is out of its range, the model has no such parameter, or
                its noise has a seed.
        """
        name, given = type(self.model).__name__, self.model.get_params()
        epsilon = validation.positive("epsilon", self.epsilon)
        if self.epsilon_name not in given:
            raise ParameterError(f"`epsilon_name`: a {name} has no {self.epsilon_name!r}")
        for one, value in given.items():
            if one.rpartition("__")[2] in SEEDS and value is not None:
                raise ParameterError(
                    f"`model`: {one!r} seeds the noise of this {name}, which whoever knows the "
                    "seed can take away: leave it out"
                )
        return Plan(
            name=type(self).__name__,
            mechanism=f"{name}, as its library states",
            spends=(Spend("a fit of the model", epsilon),),
            epsilon=epsilon,
            neighbours=validation.table_neighbours(self.neighbours),
            public=("the model's parameters",),
        )

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401, N803 -- scikit-learn's signature
        """Fit the model.

        Args:
            X: As the model takes it. Private.
            y: Labels, shape ``(n,)``. Private.

        Raises:
            PublicClaimError: The model warned that it reads a parameter from the data that was
                not given.
        """
        self.plan_ = self.plan()
        made = clone(self.model).set_params(**{self.epsilon_name: self.epsilon})
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            self.model_ = made.fit(X, y)
        if any(one.category.__name__ == LEAK for one in warned):
            del self.model_
            raise PublicClaimError(
                f"a {type(made).__name__} reads parameters off the data that were not given, "
                "such as bounds: give them"
            )
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> Any:  # noqa: ANN401, N803 -- scikit-learn's signature
        """Return the class of each record, shape ``(n,)``."""
        check_is_fitted(self, "model_")
        return self.model_.predict(X)

    @available_if(lambda self: hasattr(self.model, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Values:  # noqa: ANN401, N803
        """Return the class shares of each record, shape ``(n, classes)``."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(X)
