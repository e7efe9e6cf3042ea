"""Private search for the parameters of an estimator, in the form of scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from dpselect import _validate
from dpselect._optional import needed
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, MechanismFactory, by_name
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.plan import Plan, SupportsSpend
from dpselect.sensitivity import GlobalSensitivity
from dpselect.tuning.design import Design, check_plan
from dpselect.tuning.repetitions import Geometric, Repetitions, TruncatedNegativeBinomial
from dpselect.tuning.split import (
    as_labels,
    as_table,
    column_names,
    row_texts,
    validation_part,
)
from dpselect.typing import Values

needed("sklearn", extra="standard")
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone  # noqa: E402
from sklearn.model_selection import ParameterGrid  # noqa: E402
from sklearn.utils import _safe_indexing, get_tags  # noqa: E402
from sklearn.utils.metaestimators import available_if  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

Method: TypeAlias = Literal["auto", "repeat", "all"]

Score: TypeAlias = Callable[[Any], float]
"""Reads the released score off a fitted estimator."""

KEY_BYTES = 16
OURS = ("epsilon", "neighbours", "budget")
"""Parameters of the estimator that the search sets, or that must be the same for all."""


class Trial(NamedTuple):
    """A fitted candidate."""

    position: int
    estimator: Any


class PrivateSearchCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose the parameters of a private classifier privately, and keep the fitted winner.

    Every record is either for fitting or for validation, by a random key and the record
    itself. A candidate is fitted on the one part and scored by the number of records of the
    other part that it gets right, which one record changes by at most 1. There are two ways:

    ``"repeat"``
        Fit randomly picked candidates a hidden random number of times, score each with
        discrete Laplace noise, and keep the best (:func:`release_best`). The epsilon of a fit
        does not depend on how many candidates there are.
    ``"all"``
        Fit each of the ``m`` candidates once at ``epsilon / m``, and choose by one private
        draw over the numbers that they get right.

    ``"auto"`` takes ``"all"`` where it leaves a fit at least as much epsilon, which is for two
    candidates, and more of them if ``repetitions`` has a small mean; ``plan().mechanism``
    states the way.

    Guarantee:
        ``epsilon``-DP under the estimator's neighbour relation for everything that :meth:`fit`
        sets, if each candidate's :meth:`fit` keeps the guarantee of its plan, and ``predict``
        answers each record by itself. All arguments are public. The time that :meth:`fit`
        takes tells the number of runs: do not publish it.

    Args:
        estimator: A classifier with the parameters ``epsilon`` and ``neighbours`` (of tables),
            a method ``plan(columns)`` that states its plan before it sees data, and the
            attribute ``plan_`` after :meth:`fit`, such as
            :class:`~dpselect.trees.ID3Classifier`. It is cloned; its own ``epsilon`` and
            ``budget`` are not used.
        grid: Parameters to try, as for :class:`sklearn.model_selection.GridSearchCV`: a
            mapping from names to lists of values, or a list of such mappings.
        epsilon: Of the whole search, winner included, in nats; finite, > 0.
        method: ``"auto"``, ``"repeat"`` or ``"all"``.
        repetitions: The law of the number of runs, with at least one run; a
            :class:`Geometric` one with twice as many runs as candidates on average if not
            given.
        scoring: Called with a fitted candidate, returns a score that the candidate released
            itself, as part of its own price; then every record is for fitting. The number
            right of the validation records if not given.
        validation_share: The share of records for validation, in (0, 1).
        mechanism: The draw for ``"all"``: a key of :data:`dpselect.mechanisms.MECHANISMS` or a
            callable that takes ``epsilon=``.
        budget: Where ``epsilon`` is spent before anything is drawn.
        random_state: An integer, public, to divide the records by; a random key if not given.

    Attributes:
        best_estimator_: The winner as it was fitted, on the records for fitting.
        best_params_: Its parameters from the grid.
        best_index_: Its position in the grid.
        best_score_: Its noisy number right, or its own released score; None where the draw
            saw the numbers and released none.
        plan_: The :class:`dpselect.Plan` that was charged.
        entry_: The number of its entry in the budget; None if nothing was recorded.
        classes_: The classes of the winner.

    Source: Liu and Talwar 2019, arXiv:1811.07971; Papernot and Steinke 2022,
        arXiv:2110.03620.

    Examples:
        >>> from dpselect.trees import ID3Classifier
        >>> from dpselect.tuning import PrivateSearchCV
        >>> x = [["rain", 0], ["sun", 1]] * 500
        >>> y = ["in", "out"] * 500
        >>> tree = ID3Classifier(
        ...     domains=[["rain", "sun"], [0, 1]], classes=["in", "out"], max_records=2000
        ... )
        >>> search = PrivateSearchCV(tree, {"max_depth": [1, 2]}, epsilon=20.0).fit(x, y)
        >>> search.predict([["sun", 1], ["rain", 0]])
        array(['out', 'in'], dtype='<U3')
    """

    def __init__(  # noqa: PLR0913 -- each is one public claim
        self,
        estimator: Any,  # noqa: ANN401 -- scikit-learn has no type for it
        grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        epsilon: float,
        method: Method = "auto",
        repetitions: Repetitions | None = None,
        scoring: Score | None = None,
        validation_share: float = 0.3,
        mechanism: str | MechanismFactory = "permute-and-flip",
        budget: SupportsSpend | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.epsilon = epsilon
        self.method = method
        self.repetitions = repetitions
        self.scoring = scoring
        self.validation_share = validation_share
        self.mechanism = mechanism
        self.budget = budget
        self.random_state = random_state

    def plan(self, columns: Sequence[str] | None = None) -> Plan:
        """Return the plan of :meth:`fit`; no data are needed.

        Args:
            columns: Names of the columns of ``X``, for estimators that need them to state
                their plan.

        Raises:
            ParameterError: A public argument is missing or out of range.
            NeighboursError: The estimator's relation is none of tables.
        """
        return self._design(columns).plan

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401, N803 -- scikit-learn's signature
        """Search; the attributes that are set are safe to publish.

        Args:
            X: A frame in memory, an array of shape ``(n, columns)`` or rows. Private.
            y: Labels, shape ``(n,)``. Private.

        Raises:
            ParameterError: A public argument is missing or out of range.
            NeighboursError: The estimator's relation is none of tables, or not the budget's.
            DataError: X is not a table in memory, or y not one label for each record.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
            PublicClaimError: As the estimator's own :meth:`fit`, after the spend.
        """
        X = as_table(X)  # noqa: N806 -- scikit-learn's name
        design = self._design(column_names(X))
        y, labels = as_labels(y)
        texts = row_texts(X, labels)
        receipt = design.plan.charge(self.budget)
        trial, score = self._searched(design, X, y, self._part(design, texts), labels)
        self.best_estimator_ = trial.estimator
        self.best_index_ = trial.position
        self.best_params_ = list(ParameterGrid(self.grid))[trial.position]
        self.best_score_ = score
        self.classes_ = trial.estimator.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(trial.estimator, name):
                setattr(self, name, getattr(trial.estimator, name))
        self.plan_ = design.plan
        receipt.keep(
            {
                "best_params": {name: str(value) for name, value in self.best_params_.items()},
                "best_score": score,
            }
        )
        self.entry_ = receipt.number
        return self

    def _design(self, columns: Sequence[str] | None) -> Design:
        """Check all public arguments, and choose the way."""
        epsilon = _validate.positive("epsilon", self.epsilon)
        parameters = self._checked_grid()
        relation = self._relation()
        law = self._law(len(parameters))
        each = epsilon / len(parameters)
        repeat = self._repeats(law.epsilon_per_run(epsilon), each)
        mechanism = self._drawing(len(parameters), relation)
        used = law.epsilon_per_run(epsilon) if repeat else each
        candidates = tuple(self._candidate(one, used) for one in parameters)
        for candidate in candidates:
            check_plan(candidate.plan(columns), used, relation)
        return Design(
            function=type(self).__name__,
            epsilon=epsilon,
            each=used,
            candidates=candidates,
            repetitions=law if repeat else None,
            mechanism=mechanism,
            neighbours=relation,
            share=None if self.scoring else float(self.validation_share),
        )

    def _drawing(self, candidates: int, relation: Neighbours) -> Mechanism:
        """Return the draw for ``"all"``, tried on scores of no data."""
        blank = _objective([0] * candidates, relation)
        mechanism = by_name(self.mechanism, self.epsilon).for_objective(blank)
        mechanism.unit_scores(blank)
        if mechanism.spend("").delta > 0:
            raise ParameterError("mechanism must not need a delta")
        return mechanism

    def _checked_grid(self) -> list[dict[str, Any]]:
        try:
            parameters = list(ParameterGrid(self.grid))
        except (TypeError, ValueError) as error:
            raise ParameterError(f"grid: {error}") from None
        for name in OURS:
            if any(name in one for one in parameters):
                raise ParameterError(f"grid must not have {name!r}: it is the same for all")
        return parameters

    def _relation(self) -> Neighbours:
        own = self.estimator.get_params() if hasattr(self.estimator, "get_params") else {}
        if not {"epsilon", "neighbours"} <= set(own) or not callable(
            getattr(self.estimator, "plan", None)
        ):
            raise ParameterError(
                "estimator must have the parameters epsilon and neighbours and a method "
                f"plan(columns); a {type(self.estimator).__name__} has not"
            )
        return _validate.table_neighbours(own["neighbours"])

    def _law(self, candidates: int) -> Repetitions:
        _validate.within("validation_share", self.validation_share, 2.0**-32, 1 - 2.0**-32)
        if self.random_state is not None:
            _validate.at_least("random_state", self.random_state, 0)
        if self.repetitions is None:
            return Geometric(mean=2 * candidates)
        if not isinstance(self.repetitions, TruncatedNegativeBinomial):
            raise ParameterError(
                "repetitions must be a law with at least one run: Geometric, Logarithmic or "
                "TruncatedNegativeBinomial"
            )
        return self.repetitions

    def _repeats(self, of_a_run: float, of_each: float) -> bool:
        if self.method not in {"auto", "repeat", "all"}:
            raise ParameterError(
                f"method must be 'auto', 'repeat' or 'all', not {self.method!r}"
            )
        return self.method == "repeat" or (self.method == "auto" and of_a_run > of_each)

    def _candidate(self, parameters: Mapping[str, Any], epsilon: float) -> Any:  # noqa: ANN401
        candidate = clone(self.estimator)
        own: dict[str, Any] = {"epsilon": epsilon}
        if "budget" in candidate.get_params():
            own["budget"] = None
        try:
            return candidate.set_params(**parameters, **own)
        except ValueError as error:
            raise ParameterError(f"grid: {error}") from None

    def _part(self, design: Design, texts: list[str]) -> Any:  # noqa: ANN401
        """Return which records are for validation; none with a released score."""
        if self.scoring is not None:
            return np.zeros(len(texts), dtype=np.bool_)
        if self.random_state is None:
            from dpselect.draws import uniform

            key = uniform.token(KEY_BYTES)
        else:
            key = int(self.random_state).to_bytes(64)
        return validation_part(texts, design.neighbours, float(self.validation_share), key)

    def _searched(
        self,
        design: Design,
        x: Any,  # noqa: ANN401
        y: Any,  # noqa: ANN401
        held_out: Any,  # noqa: ANN401
        labels: list[Any],
    ) -> tuple[Trial, float | None]:
        from dpselect.draws import repetitions as draws

        fitting, held = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        x_fit, y_fit = (_safe_indexing(part, fitting) for part in (x, y))
        x_held = _safe_indexing(x, held)
        true = [labels[place] for place in held]

        def fitted(position: int) -> Trial:
            trial = Trial(position, clone(design.candidates[position]).fit(x_fit, y_fit))
            check_plan(trial.estimator.plan_, trial.estimator.epsilon, design.neighbours)
            return trial

        def scored(position: int) -> tuple[float, Trial]:
            trial = fitted(position)
            if self.scoring is not None:
                return float(self.scoring(trial.estimator)), trial
            right = _number_right(trial.estimator, x_held, true)
            return _noisy(right, trial.estimator.epsilon), trial

        positions = range(len(design.candidates))
        if design.repetitions is not None:
            law = design.repetitions
            runs = [partial(scored, position) for position in positions]
            found = draws.best_of(runs, law.number_law, None, law.epsilon_of)
            if found is None:
                raise AssertionError("the law has at least one run")
            return found[1], found[0]
        trials = [fitted(position) for position in positions]
        if self.scoring is not None:
            scores = [float(self.scoring(trial.estimator)) for trial in trials]
            best = int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))
            return trials[best], scores[best]
        right = [_number_right(trial.estimator, x_held, true) for trial in trials]
        [best] = design.mechanism.choose(_objective(right, design.neighbours))
        return trials[best], None

    def predict(self, X: Any) -> Any:  # noqa: ANN401, N803 -- scikit-learn's signature
        """Return the winner's class of each record, shape ``(n,)``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Values:  # noqa: ANN401, N803
        """Return the winner's class shares of each record, shape ``(n, classes)``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 -- scikit-learn's tags
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        tags.classifier_tags = deepcopy(own.classifier_tags)
        tags.input_tags = deepcopy(own.input_tags)
        return tags


def _objective(right: list[int], relation: Neighbours) -> Objective:
    """Return numbers right as scores; a record changes each by at most 1."""
    one = GlobalSensitivity(1, relation)
    return Objective(right, one, monotone=relation is Neighbours.ADD_REMOVE)


def _number_right(estimator: Any, x: Any, true: list[Any]) -> int:  # noqa: ANN401
    """Return how many records an estimator gets right, each by itself; private."""
    if not true:
        return 0
    found = np.asarray(estimator.predict(x)).tolist()
    return sum(bool(one == label) for one, label in zip(found, true, strict=True))


def _noisy(right: int, epsilon: float) -> float:
    """Return a number that one record moves by 1, with noise for ``epsilon``."""
    from dpselect.draws import noisy_counts

    noisy = noisy_counts.discrete_laplace(np.array([right]), noisy_counts.scale_for(epsilon))
    return float(noisy[0])
