"""The best of several private runs: its query and its exact distribution."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect.audit.spending import plan_of
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.plan import Plan, Spend
from dpselect.query import Design, Query, query
from dpselect.release import Release
from dpselect.tuning.repetitions import (
    Geometric,
    Repetitions,
    RepetitionsLike,
    as_repetitions,
    log_odds_gain,
    rho_of_best,
)
from dpselect.typing import Probabilities, Scores

Run: TypeAlias = Callable[[], tuple[float, Hashable]]
"""Makes one private release and returns a score and an output, both safe to publish."""


@query
class BestOf(Query[Release[Any]]):
    """The output with the best score of randomly many private runs; the data are the runs.

    The number of runs is drawn by ``repetitions``; each time one of the runs is picked
    uniformly. The price does not depend on how many candidates there are.

    Data are at least one function without arguments. Each reads the private data, makes a
    release of its own without spending, and returns its score and its output. Where an output
    carries a plan, that is compared with what is stated here. The answer is the output as the
    only candidate, with its score as the noisy score; of runs with equal scores the first. It
    is empty if there was no run, or none that reached the threshold.

    Guarantee:
        As the plan states, under ``neighbours``, if every run is
        ``(epsilon_per_run, delta_per_run)``-DP, *its score included*, under that relation, and
        if neither the number of runs nor any other outcome is published. The time that the
        release takes tells the number of runs: do not publish it. A run may not raise where
        that depends on the data.

    Attributes:
        repetitions: How the number of runs is drawn. :class:`Geometric`,
            :class:`Logarithmic`, :class:`TruncatedNegativeBinomial` or :class:`Poisson`; or a
            mapping such as ``{"name": "geometric", "mean": 10}``.
        threshold: If given, the first run with at least this score is released, and nothing
            if the runs end before. With :class:`Geometric` only. Not to be read off the data.
        epsilon_per_run: What each run costs, its score included, in nats; finite, > 0.
        delta_per_run: What each run costs besides; in [0, 1].
        rho_per_run: The zCDP parameter of each run, where it is known.
        neighbours: The relation that each run is private for.

    Source: Liu and Talwar 2019, arXiv:1811.07971, Theorems 3.1 (threshold) and 3.2; Papernot
        and Steinke 2022, arXiv:2110.03620, Theorems 2 and 6.

    Examples:
        >>> import dpselect as dp
        >>> from dpselect.tuning import Geometric
        >>> best = dp.BestOf(
        ...     repetitions=Geometric(mean=10), epsilon_per_run=0.5, neighbours="add-remove"
        ... )
        >>> round(best.plan.epsilon, 4)
        1.3125
    """

    repetitions: RepetitionsLike
    threshold: float | None = None
    epsilon_per_run: float
    delta_per_run: float = 0.0
    rho_per_run: float | None = None
    neighbours: NeighboursLike

    def design(self) -> _BestDesign:
        law = as_repetitions(self.repetitions)
        epsilon = validation.positive("epsilon_per_run", self.epsilon_per_run)
        delta = validation.within("delta_per_run", self.delta_per_run, 0, 1)
        threshold = self.threshold
        if threshold is not None:
            threshold = validation.finite("threshold", threshold)
        whole = epsilon_of_best(law, threshold, epsilon)
        rho = rho_of_pure(whole)
        if self.rho_per_run is not None:
            given = validation.positive("rho_per_run", self.rho_per_run)
            if threshold is None and delta == 0:
                rho = min(rho, rho_of_best(epsilon, given, law))
        if threshold is None:
            mechanism, purpose = f"best of {law!r}", "the best of a hidden number of runs"
        else:
            mechanism = f"first above {threshold:g} of {law!r}"
            purpose = "the first run that reaches the threshold, of a hidden number"
        failure = min(law.mean * delta, 1.0)
        return _BestDesign(
            mechanism=mechanism,
            spends=(Spend(purpose, whole, delta=failure, rho=rho),),
            epsilon=whole,
            delta=failure,
            neighbours=validation.neighbours(self.neighbours),
            public=("the runs and what each of them costs",),
            composition="the number of runs is random and hidden, and one outcome is released: "
            "Theorem 47",
            law=law,
            threshold=threshold,
            most=(epsilon, delta),
        )


@dataclass(frozen=True, kw_only=True)
class _BestDesign(Design[Release[Any]]):
    law: Repetitions
    threshold: float | None
    most: tuple[float, float]

    def prepare(self, data: object) -> Callable[[Plan], Release[Any]]:
        from dpselect.draws import repetitions as draws

        runs = data if isinstance(data, Sequence) else ()
        if not runs or not all(callable(run) for run in runs):
            raise ParameterError("runs must be at least one function without arguments")

        def drawn(plan: Plan) -> Release[Any]:
            found = draws.best_of(
                [partial(self._checked, run) for run in runs],
                self.law.number_law,
                self.threshold,
                lambda used: epsilon_of_best(self.law, self.threshold, used),
            )
            if found is None:
                return Release((), plan, noisy_scores=())
            score, output = found
            exact = getattr(output, "exact", True) is True
            return Release((output,), plan, exact=exact, noisy_scores=(score,))

        return drawn

    def _checked(self, run: Run) -> tuple[float, Hashable]:
        """Return what a run returns, unless its output states more than a run may cost."""
        found = run()
        own = plan_of(found[1])
        epsilon, delta = self.most
        if own is not None and (
            own.epsilon > epsilon or own.delta > delta or own.neighbours is not self.neighbours
        ):
            raise ParameterError(
                f"a run states epsilon = {own.epsilon!r}, delta = {own.delta!r} for "
                f"{own.neighbours} neighbours; the release allows `epsilon_per_run` = "
                f"{epsilon!r}, `delta_per_run` = {delta!r} for {self.neighbours} neighbours"
            )
        return found


def epsilon_of_best(
    repetitions: Repetitions, threshold: float | None, epsilon_per_run: float
) -> float:
    """Return the epsilon of the best of several runs, or of the first above a threshold."""
    if threshold is None:
        return repetitions.epsilon_of(epsilon_per_run)
    validation.finite("threshold", threshold)
    if not isinstance(repetitions, Geometric):
        raise ParameterError("with a `threshold` the number of runs must be Geometric")
    return epsilon_per_run + log_odds_gain(epsilon_per_run, repetitions.stop)


def best_probabilities(
    scores: ArrayLike,
    probabilities: ArrayLike,
    *,
    repetitions: Repetitions,
    threshold: float | None = None,
) -> Probabilities:
    """Return the exact distribution of the outcome, for runs with finitely many outcomes.

    Args:
        scores: The score of each outcome, shape ``(n,)``.
        probabilities: Of each outcome in one run, of a randomly picked candidate, shape
            ``(n,)``; they sum to 1. Private, as they are not the law of a release.
        repetitions: The distribution of the number of runs.
        threshold: As for :class:`BestOf`.

    Returns:
        The probability that each outcome is released, shape ``(n,)``; what is missing to 1 is
        the probability that nothing is. As private as ``probabilities``.

    Examples:
        >>> from dpselect.tuning import Geometric, best_probabilities
        >>> best_probabilities([1, 2], [0.5, 0.5], repetitions=Geometric(mean=4)).round(3)
        array([0.2, 0.8])
    """
    values: Scores = validation.scores(scores).high
    law = np.asarray(probabilities, dtype=np.float64)
    if law.shape != values.shape or not (law >= 0).all() or abs(law.sum() - 1) > 1e-9:
        raise ParameterError("`probabilities` must be one for each score, >= 0, with sum 1")
    if threshold is not None:
        epsilon_of_best(repetitions, threshold, 0.0)
        reached = values >= threshold
        stop = 1 / repetitions.mean
        return np.where(reached, law, 0.0) / (stop + (1 - stop) * law[reached].sum())
    _, group = np.unique(values, return_inverse=True)
    mass = np.bincount(group, weights=law)
    ends = np.minimum(np.cumsum(mass), 1.0)
    whole = np.diff(repetitions.generating_function(np.concatenate([[0.0], ends])))
    share = np.divide(law, mass[group], out=np.zeros_like(law), where=mass[group] > 0)
    return whole[group] * share
