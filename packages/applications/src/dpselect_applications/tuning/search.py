"""The query of the parameters by which a private classifier predicts best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect import Facts, Neighbours, Objective, Plan, Query, Release, Spend
from dpselect.errors import DataError, ParameterError
from dpselect.extend import (
    ROUNDING,
    Design,
    Indices,
    as_step,
    needed,
    query,
    rho_of_pure,
    validation,
    width,
)
from dpselect.mechanisms import Mechanism, MechanismLike
from dpselect.sensitivity import GlobalSensitivity
from dpselect_applications.tuning.best import BestOf
from dpselect_applications.tuning.repetitions import (
    Geometric,
    Repetitions,
    RepetitionsLike,
    TruncatedNegativeBinomial,
    as_repetitions,
)
from dpselect_applications.tuning.train_validation import Records, validation_part

needed("sklearn", extra="standard")
from sklearn.base import clone  # noqa: E402 -- after the check
from sklearn.model_selection import ParameterGrid  # noqa: E402
from sklearn.utils import _safe_indexing  # noqa: E402

Method: TypeAlias = Literal["auto", "repeat", "all"]

ENOUGH = 5.0
"""Epsilon of a fit from which on all candidates are fitted."""
"""Method by which candidates are fitted and compared."""

Score: TypeAlias = Callable[[Any], float]
"""Reads the released score off a fitted estimator."""

Grid: TypeAlias = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
"""Values to try by the name of a parameter, or several such mappings."""

KEY_BYTES = 16
SEED_BITS = 512
LEAST_RUNS = 30
"""Mean number of runs for few candidates.

Of ``m`` candidates the best is picked in none of a geometric number of runs with probability
``(m - 1)/(m - 1 + mean)``: for three it is 1/4 with six runs on average and 1/16 with 30. That
costs each run a sixth of its epsilon, and less for more candidates.
"""

OURS = ("epsilon", "neighbours", "budget")
"""Parameters of the estimator that the search sets, or that must be the same for all."""


@dataclass(frozen=True, repr=False)
class SearchRelease(Release[Mapping[str, Any]]):
    """The parameters that won, and the estimator that was fitted with them.

    Attributes:
        estimator: The winner as it was fitted, on the records for fitting.
        position: Its position in the grid.
        score: Its noisy number of correct predictions, or its own released score; None if none
            was released.
    """

    estimator: Any = None
    position: int = 0
    score: float | None = None

    def released(self) -> dict[str, Any]:
        """Return the parameters and the score."""
        parameters = {name: str(value) for name, value in self.candidate.items()}
        return {"best_params": parameters, "best_score": self.score}

    def table(self) -> dict[str, list[Any]]:
        """Return the parameters as columns."""
        return {name: [value] for name, value in self.candidate.items()}


@query
class Search(Query[SearchRelease]):
    """The parameters by which a private classifier predicts best.

    Data are the pair ``(X, y)`` of a table in memory and its labels. Every record is either for
    fitting or for validation, by a random key and the record itself. A candidate is fitted on
    the one part and scored by the number of correct predictions on the other part, which one
    record changes by at most 1. There are two ways:

    - ``"repeat"``: fit randomly picked candidates a hidden random number of times, score each
      with discrete Laplace noise, and keep the best (``BestOf``). The epsilon of a fit does not
      depend on how many candidates there are.
    - ``"all"``: fit each of the ``m`` candidates once at ``epsilon / m``, and choose one by a
      private draw by the numbers of correct predictions.

    ``"auto"`` is ``"all"`` if that gives each fit at least as much epsilon, as with two
    candidates, or at least 5: runs that are repeated can leave out the best candidate, whatever
    epsilon is. ``plan.mechanism`` states which. Where candidates have a method
    ``reader(columns)``, as those of ``dpselect.trees`` have, records are read once for all with
    equal readers.

    Guarantee:
        ``epsilon``-DP under the estimator's neighbour relation for the winner and its score, if
        each candidate's ``fit`` keeps the guarantee of its plan, and ``predict`` answers each
        record by itself. All fields are public. Under substitution so are the number of the
        records and their order, which must not depend on values: records are divided by their
        positions. The time that a release takes reveals the number of runs: do not publish it.

    Attributes:
        estimator: A private classifier, such as ``ID3Classifier``. It has the parameters
            ``epsilon`` and ``neighbours`` (of tables), a method ``plan(columns)`` that states
            its plan before it sees data, and the attribute ``plan_`` after ``fit``. It is
            cloned; its own ``epsilon`` and ``budget`` are not used.
        grid: Parameters to try, as for ``sklearn.model_selection.GridSearchCV``. A mapping from
            names to lists of values, or a list of such mappings.
        columns: Names of the columns of ``X``. For estimators that need them to state their
            plan.
        method: How candidates are fitted: ``"auto"``, ``"repeat"`` or ``"all"``.
        repetitions: How the number of runs is drawn, with at least one run. A geometric number
            if not given, with twice as many runs as candidates on average, and at least 30.
        scoring: A function of a fitted candidate that returns a score it released itself. The
            score is part of the candidate's own price, and every record is for fitting. By
            default the number of correct predictions on the validation records.
        validation_share: The share of records for validation, a millionth at least.
        random_state: An integer to divide the records by. Public; a random key if not given.
        epsilon: Price of the search, the winner included, in nats; finite, > 0.
        mechanism: Mechanism that draws the winner if all candidates are fitted. A short name
            (``dpselect.mechanisms.MECHANISMS``), or a function of ``epsilon=``; by default
            permute-and-flip.

    Source: Liu and Talwar 2019, arXiv:1811.07971; Papernot and Steinke 2022,
        arXiv:2110.03620.
    """

    estimator: Any
    grid: Grid
    columns: Sequence[str] | None = None
    method: Method = "auto"
    repetitions: RepetitionsLike | None = None
    scoring: Score | None = None
    validation_share: float = 0.3
    random_state: int | None = None
    epsilon: float
    mechanism: MechanismLike | None = None

    def design(self) -> SearchDesign:
        epsilon = validation.positive("epsilon", self.epsilon)
        parameters, relation = self._parameters(), self._relation()
        number = len(parameters)
        validation.within("validation_share", self.validation_share, 1e-6, 1 - 1e-6)
        if self.random_state is not None:
            validation.at_least("random_state", self.random_state, 0, 2**SEED_BITS - 1)
        check_scoring(self.scoring)
        columns = validation.listed("columns", self.columns)
        repetitions = self._repetitions(number)
        of_a_run, of_each = repetitions.epsilon_per_run(epsilon), epsilon / number
        method = validation.one_of("method", self.method, ("auto", "repeat", "all"))
        are_enough = of_each >= min(of_a_run, ENOUGH)
        repeats = method == "repeat" or (method == "auto" and not are_enough)
        each = of_a_run if repeats else of_each
        draw = self._draw(number, relation)
        candidates = tuple(self._candidate(one, each) for one in parameters)
        for candidate in candidates:
            check_plan(candidate.plan(columns), each, relation)
        if repeats:
            best = BestOf(
                repetitions=repetitions, epsilon_per_run=each, neighbours=relation
            ).plan
            mechanism = f"best of {repetitions!r}, each run at {each:.6g}"
            spends, composition = best.spends, f"{best.composition}; in a run"
        else:
            choice = str(draw) if self.scoring is None else "the largest released score"
            mechanism = f"{choice} of {number} candidates, each at {each:.6g}"
            rho = number * rho_of_pure(each)
            if self.scoring is None:
                rho = max(rho, draw.spend("").rho_of_all)
            spends = (Spend("all fits, and the choice", epsilon, rho=rho),)
            composition = "the prices of the fits add up;"
        parts = (
            "a record is for fitting or for validation, so the two are parallel"
            if self.scoring is None
            else "the score is part of the fit's price"
        )
        sized = (
            ("the number and the order of the records",)
            if relation is Neighbours.SUBSTITUTE
            else ()
        )
        return SearchDesign(
            plan=Plan(
                mechanism=mechanism,
                spends=spends,
                epsilon=epsilon,
                neighbours=relation,
                public=("the grid and all that the estimator declares public", *sized),
                composition=f"{composition} {parts}",
            ),
            search=self,
            parameters=tuple(parameters),
            candidates=candidates,
            repetitions=repetitions if repeats else None,
            draw=draw,
        )

    def _parameters(self) -> list[dict[str, Any]]:
        try:
            parameters = list(ParameterGrid(self.grid))
        except (TypeError, ValueError) as error:
            raise ParameterError(f"`grid`: {error}") from None
        if not parameters:
            raise ParameterError("`grid` must have a candidate")
        for name in OURS:
            if any(name in one for one in parameters):
                raise ParameterError(f"`grid` must not have {name!r}: it is the same for all")
        return parameters

    def _relation(self) -> Neighbours:
        own = self.estimator.get_params() if hasattr(self.estimator, "get_params") else {}
        if not {"epsilon", "neighbours"} <= set(own) or not callable(
            getattr(self.estimator, "plan", None)
        ):
            raise ParameterError(
                "`estimator` must have the parameters epsilon and neighbours and a method "
                f"plan(columns); a {type(self.estimator).__name__} has not: "
                "dpselect.tuning.PrivateClassifier gives them to a private model"
            )
        return validation.table_neighbours(own["neighbours"])

    def _repetitions(self, candidates: int) -> Repetitions:
        if self.repetitions is None:
            return Geometric(mean=max(2 * candidates, LEAST_RUNS))
        repetitions = as_repetitions(self.repetitions)
        if not isinstance(repetitions, TruncatedNegativeBinomial):
            raise ParameterError(
                "`repetitions` must have at least one run: Geometric, Logarithmic or "
                "TruncatedNegativeBinomial"
            )
        return repetitions

    def _draw(self, candidates: int, relation: Neighbours) -> Mechanism:
        """Return the draw for ``"all"``."""
        one = GlobalSensitivity(1, relation)
        monotone = relation is Neighbours.ADD_REMOVE
        facts = Facts(candidates=candidates, sensitivity=one, monotone=monotone)
        named = "permute-and-flip" if self.mechanism is None else self.mechanism
        return as_step(named, self.epsilon).for_objective(facts)

    def _candidate(self, parameters: Mapping[str, Any], epsilon: float) -> Any:  # noqa: ANN401
        try:
            return unspent(self.estimator).set_params(**parameters, epsilon=epsilon)
        except ValueError as error:
            raise ParameterError(f"`grid`: {error}") from None


class Trial(NamedTuple):
    """A fitted candidate."""

    position: int
    estimator: Any
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class SearchDesign(Design[SearchRelease]):
    """A search whose fields were checked.

    Attributes:
        search: The query.
        parameters: Parameters of each candidate, from the grid.
        candidates: Unfitted estimators with the epsilon of one fit.
        repetitions: How the number of runs is drawn; None where every candidate is fitted once.
        draw: The choice among candidates that were all fitted.
    """

    search: Search
    parameters: tuple[Mapping[str, Any], ...]
    candidates: tuple[Any, ...]
    repetitions: Repetitions | None
    draw: Mechanism

    def prepare(self, data: object) -> Callable[[Plan], SearchRelease]:
        if not isinstance(data, tuple) or len(data) != 2:
            raise DataError("data must be the pair of a table and its labels")
        search = self.search
        fields = len(search.columns or ()) or declared_fields(search.estimator, search.grid)
        records = Records.read(*data, fields)
        read, identities = self._read(records), records.identities

        def drawn(plan: Plan) -> SearchRelease:
            trial = self._searched(read, records.labels, self.validation_part(identities))
            return SearchRelease(
                (self.parameters[trial.position],),
                plan,
                exact=getattr(trial.estimator, "exact", True) is True,
                estimator=trial.estimator,
                position=trial.position,
                score=trial.score,
            )

        return drawn

    def _read(self, records: Records) -> list[tuple[Any, Any]]:
        """Return the table and labels of each candidate, read once where that can be."""
        coded, found = dict[Any, Any](), []
        for candidate in self.candidates:
            if not hasattr(candidate, "reader"):
                found.append((records.x, records.y))
                continue
            reader = candidate.reader(records.columns)
            if reader not in coded:
                coded[reader] = reader.coded((records.x, records.y))
            found.append((coded[reader], None))
        return found

    def validation_part(self, records: Sequence[bytes]) -> NDArray[np.bool_]:
        """Return which records are for validation; none with a released score."""
        if self.search.scoring is not None:
            return np.zeros(len(records), dtype=np.bool_)
        if self.search.random_state is None:
            from dpselect.extend import uniform

            key = uniform.token(KEY_BYTES)
        else:
            key = int(self.search.random_state).to_bytes(SEED_BITS // 8)
        share = float(self.search.validation_share)
        return validation_part(records, self.plan.neighbours, share, key)

    def _searched(
        self, read: list[tuple[Any, Any]], labels: list[Any], held_out: NDArray[np.bool_]
    ) -> Trial:
        from dpselect_applications.tuning import drawing as draws

        fitting, held = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        scoring = self.search.scoring

        def fitted(position: int) -> Trial:
            made = clone(self.candidates[position]).fit(*_taken(*read[position], fitting))
            check_plan(made.plan_, made.epsilon, self.plan.neighbours)
            return Trial(position, made, None if scoring is None else float(scoring(made)))

        def right(trial: Trial) -> int:
            table, given = _taken(*read[trial.position], held)
            if given is not None:
                true = [labels[place] for place in held]
            else:
                known = (*table.classes, None)  # which another label, -1, is the last of
                true = [known[label] for label in table.labels.tolist()]
            return _number_right(trial.estimator, table, true)

        def scored(position: int) -> tuple[float, Trial]:
            trial = fitted(position)
            score = trial.score
            if score is None:
                score = _noisy(right(trial), trial.estimator.epsilon)
            return score, trial

        positions = range(len(self.candidates))
        if self.repetitions is not None:
            runs = [partial(scored, position) for position in positions]
            repetitions = self.repetitions
            found = draws.best_of(
                runs,
                repetitions.number_distribution,
                None,
                lambda used: (repetitions.epsilon_of(used), None),
            )
            if found is None:
                raise AssertionError("there is at least one run")
            return found[1]._replace(score=found[0])
        trials = [fitted(position) for position in positions]
        if scoring is not None:
            scores = np.array([trial.score for trial in trials], dtype=np.float64)
            return trials[int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))]
        objective = _objective([right(trial) for trial in trials], self.plan.neighbours)
        [best] = self.draw.draw_positions(objective)
        return trials[best]


def check_plan(plan: Plan, epsilon: float, relation: Neighbours) -> None:
    """Check that a candidate costs no more than its share.

    Raises:
        ParameterError: It does, is for another relation, or protects persons of several
            records.
    """
    if plan.epsilon > epsilon * (1 + ROUNDING) or plan.delta > 0:
        raise ParameterError(
            f"a candidate's plan states epsilon = {plan.epsilon!r} and delta = {plan.delta!r}; "
            f"the search allows {epsilon!r} and 0"
        )
    if plan.neighbours is not relation:
        raise ParameterError(
            f"a candidate's plan is for {plan.neighbours} neighbours, the search for {relation}"
        )
    if plan.arguments.get("user") is not None:
        raise ParameterError(
            "the search divides and scores records one by one, and a candidate's plan protects "
            "persons of several: leave out `user` and `max_per_user`"
        )


def check_scoring(scoring: object) -> None:
    """Check that scores can be asked of it, before any candidate is fitted.

    Raises:
        ParameterError: It is no function of one argument.
    """
    if scoring is None:
        return
    try:
        signature(scoring).bind(None)  # type: ignore[arg-type] # it is tried
    except TypeError:
        raise ParameterError("`scoring` must be a function of one fitted candidate") from None
    except ValueError:
        return  # some builtin functions do not tell what they take


def declared_fields(estimator: object, grid: Grid) -> int:
    """Return how many fields the domains of candidates are for; 0 if they do not say."""
    own = getattr(estimator, "domains", None)
    try:
        return max(width(one.get("domains", own)) for one in ParameterGrid(grid))
    except (TypeError, ValueError):
        return 0


def unspent(estimator: Any) -> Any:  # noqa: ANN401
    """Return an unfitted copy that is charged to no budget."""
    copy = clone(estimator)
    return copy.set_params(budget=None) if "budget" in copy.get_params() else copy


def _taken(x: Any, y: Any, positions: Indices) -> tuple[Any, Any]:  # noqa: ANN401
    """Return some of the records of a table and its labels, or of coded records."""
    if y is None:
        return x.take(positions), None
    return _safe_indexing(x, positions), _safe_indexing(y, positions)


def _objective(right: list[int], relation: Neighbours) -> Objective:
    """Return numbers right as scores; a record changes each by at most 1."""
    one = GlobalSensitivity(1, relation)
    return Objective(right, one, monotone=relation is Neighbours.ADD_REMOVE)


def _number_right(estimator: Any, x: Any, true: list[Any]) -> int:  # noqa: ANN401
    """Return how many records an estimator gets right, each by itself; private."""
    if not true:
        return 0
    found = np.asarray(estimator.predict(x)).tolist()
    pairs = zip(found, true, strict=True)
    return sum(label is not None and bool(one == label) for one, label in pairs)


def _noisy(right: int, epsilon: float) -> float:
    """Return a number that one record moves by 1, with noise for ``epsilon``."""
    from dpselect.extend import noisy_counts

    noisy = noisy_counts.discrete_laplace(np.array([right]), noisy_counts.scale_for(epsilon))
    return float(noisy[0])
