"""The best of private runs that are made elsewhere: ask for a candidate, tell its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from dpselect import Plan, Release
from dpselect.errors import ParameterError
from dpselect.extend import PaidOnce, Receipt, SupportsSpend, plan_of, validation
from dpselect_applications.tuning.best import BestDesign, BestOf

if TYPE_CHECKING:
    from dpselect_applications.tuning.drawing import Trials

T = TypeVar("T")


class PrivateStudy(PaidOnce, Generic[T]):
    """A hidden random number of runs of given candidates, of which the best is released.

    It is ``BestOf`` for runs that are made elsewhere, such as on a cluster. Its price is that
    of the query, known before the first run, and recorded when the first candidate is asked
    for; it does not depend on the number of candidates.

    All candidates are given before the first run, and each run picks one of them at random, as
    often as it likes. So a sampler that proposed them, such as one of Optuna, has seen no
    score. The theorems are about runs that do not depend on each other; for a sampler that
    learns from scores, each score would have to be charged separately. Scores and the number of
    runs cannot be read from a study.

    The caller of ``ask`` sees the number of runs, and must be somebody who may see the data:
    the candidates that were run, scores and times are as private as the data. A copy is the
    study itself, it cannot be pickled, and it belongs to the process that made it.

    Guarantee:
        That of the query, for ``release``.

    Args:
        candidates: The candidates to run, such as parameters; at least one. Public: not derived
            from the data.
        query: The price of a run and the distribution of their number.
        budget: Where the price is recorded.

    Raises:
        ParameterError: There is no candidate, or ``query`` is not a ``BestOf``.

    Examples:
        >>> import dpselect as dp
        >>> from dpselect_applications.tuning import Geometric, PrivateStudy
        >>> best = dp.BestOf(
        ...     repetitions=Geometric(mean=20), rho_per_run=0.02, delta=1e-6,
        ...     neighbours="add-remove",
        ... )
        >>> budget = dp.Budget(2.0, delta=1e-5, neighbours="add-remove")
        >>> study = PrivateStudy([{"rate": 0.1}, {"rate": 1.0}], best, budget=budget)
        >>> round(study.plan.epsilon, 2)
        1.52
        >>> for candidate in study:
        ...     score, model = candidate["rate"], "a model"  # of a run that is 0.02-zCDP
        ...     study.tell(score, model)
        >>> study.release.answer
        (({'rate': ...}, 'a model'),)
    """

    def __init__(
        self, candidates: Sequence[T], query: BestOf, *, budget: SupportsSpend | None = None
    ) -> None:
        super().__init__("study")
        self._candidates = tuple(candidates)
        if not self._candidates or any(one is None for one in self._candidates):
            raise ParameterError("`candidates` must be at least one, and not None")
        checked = validation.instance("query", query, BestOf)
        self._design = cast("BestDesign", checked._designed)  # noqa: SLF001 -- made once
        self._plan, self._budget = query.plan, budget
        self._receipt: Receipt | None = None
        self._trials: Trials[tuple[T, Any]] | None = None
        self._running: int | None = None
        self._release: Release[tuple[T, Any]] | None = None

    @property
    def plan(self) -> Plan:
        """The price of the whole study; public."""
        return self._plan

    @property
    def release(self) -> Release[tuple[T, Any]]:
        """The best candidate with its output, once the study has ended; empty without one.

        Raises:
            ParameterError: The study has not ended.
        """
        if self._release is None:
            raise ParameterError("the study has not ended: ask until there is no candidate")
        return self._release

    def ask(self) -> T | None:
        """Return the candidate to run next; None when the study has ended.

        Raises:
            ParameterError: The result of the last candidate was not given to ``tell``.
            InsufficientBudgetError: The budget does not allow the study; nothing was drawn.
            BudgetError: The study belongs to another process.
        """
        from dpselect_applications.tuning import drawing as draws

        with self._alone():
            if self._running is not None:
                raise ParameterError("report the result of the last candidate first")
            if self._trials is None:
                made = self._design
                self._receipt = self._plan.reserve(self._budget)()
                number = draws.draw_number(made.repetitions.number_distribution)
                self._trials = draws.Trials(number, len(self._candidates), made.threshold)
            if self._release is None and (which := self._trials.ask()) is not None:
                self._running = which
                return self._candidates[which]
            self._end(self._trials)
        return None

    def tell(self, score: float, output: Any = None) -> None:  # noqa: ANN401 -- any result
        """Take the result of the candidate that ``ask`` returned last.

        Args:
            score: Its score, released by the run as a part of the run's price.
            output: The other output of the run, such as a model. If it carries a plan, the plan
                is compared with the privacy that the query states for a run.

        Raises:
            ParameterError: No candidate is waiting, or the output's plan costs more than a run
                may.
        """
        with self._alone():
            if self._running is None or self._trials is None:
                raise ParameterError("there is no run to report on: ask for a candidate first")
            self._design.check_run(plan_of(output))
            self._trials.tell(score, (self._candidates[self._running], output))
            self._running = None

    def __iter__(self) -> Iterator[T]:
        """Yield candidates until the study ends; tell the result of each before the next."""
        while (candidate := self.ask()) is not None:
            yield candidate

    def _end(self, trials: Trials[tuple[T, Any]]) -> None:
        """Keep the answer beside its spend."""
        if self._release is None and self._receipt is not None:
            made = self._design.released(trials.best, self._plan)
            self._release = made.recorded(self._receipt)
            trials.best = None
