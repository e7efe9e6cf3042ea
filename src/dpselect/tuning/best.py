"""Release of the best of several private runs: plan, release and exact law."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.audit.spending import plan_of
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.plan import Plan, Spend, SupportsSpend
from dpselect.release import Release
from dpselect.tuning.costs import rho_of_best
from dpselect.tuning.repetitions import Geometric, Repetitions, log_odds_gain
from dpselect.typing import Probabilities, Scores

Run: TypeAlias = Callable[[], tuple[float, Hashable]]
"""Makes one private release and returns a score and an output, both safe to publish."""


def plan_best(
    *,
    repetitions: Repetitions,
    threshold: float | None = None,
    epsilon_per_run: float,
    delta_per_run: float = 0.0,
    rho_per_run: float | None = None,
    neighbours: NeighboursLike,
) -> Plan:
    """Return what :func:`release_best` will spend; needs no data.

    Args:
        repetitions: As for the release, and so are the others.
        threshold: The score that ends the runs.
        epsilon_per_run: What each run costs, its score included.
        delta_per_run: What each run costs besides.
        rho_per_run: Of each run.
        neighbours: The relation that each run is private for.

    Raises:
        ParameterError: An argument is out of range, or a threshold does not go with the law.

    Examples:
        >>> from dpselect.tuning import Geometric, plan_best
        >>> plan = plan_best(
        ...     repetitions=Geometric(mean=10), epsilon_per_run=0.5, neighbours="add-remove"
        ... )
        >>> round(plan.epsilon, 4)
        1.3125
    """
    law = _validate.instance("repetitions", repetitions, Repetitions)
    epsilon = _validate.positive("epsilon_per_run", epsilon_per_run)
    delta = _validate.within("delta_per_run", delta_per_run, 0, 1)
    whole = epsilon_of_best(law, threshold, epsilon)
    rho = rho_of_pure(whole)
    if rho_per_run is not None:
        given = _validate.positive("rho_per_run", rho_per_run)
        if threshold is None and delta == 0:
            rho = min(rho, rho_of_best(epsilon, given, law))
    if threshold is None:
        purpose = "the best of a hidden number of runs"
    else:
        purpose = "the first run that reaches the threshold, of a hidden number"
    failure = min(law.mean * delta, 1.0)
    return Plan(
        function="release_best",
        arguments={
            "repetitions": repr(law),
            "threshold": threshold,
            "epsilon_per_run": epsilon,
            "delta_per_run": delta,
        },
        mechanism=f"best of {law!r}"
        if threshold is None
        else f"first above {threshold:g} of {law!r}",
        spends=(Spend(purpose, whole, delta=failure, rho=rho),),
        epsilon=whole,
        delta=failure,
        neighbours=_validate.neighbours(neighbours),
        public=("the runs and what each of them costs",),
        composition="the number of runs is random and hidden, and one outcome is released: "
        "Theorem 32",
    )


def release_best(
    runs: Sequence[Run],
    *,
    repetitions: Repetitions,
    threshold: float | None = None,
    epsilon_per_run: float,
    delta_per_run: float = 0.0,
    rho_per_run: float | None = None,
    neighbours: NeighboursLike,
    budget: SupportsSpend | None = None,
) -> Release:
    """Make random ones of several private runs, and release the one with the best score.

    The number of runs is drawn by ``repetitions``; each time one of ``runs`` is picked
    uniformly. The price does not depend on how many candidates there are.

    Guarantee:
        As :func:`plan_best` states, under ``neighbours``, if every run is
        ``(epsilon_per_run, delta_per_run)``-DP, *its score included*, under that relation, and
        if neither the number of runs nor any other outcome is published. The time that the
        release takes tells the number of runs: do not publish it. A run may not raise where
        that depends on the data.

    Args:
        runs: At least one. Each reads the private data, makes a release of its own without
            spending, and returns its score and its output. Where an output carries a plan,
            that is compared with what is stated here.
        repetitions: :class:`Geometric`, :class:`Logarithmic`,
            :class:`TruncatedNegativeBinomial` or :class:`Poisson`. Public.
        threshold: If given, the first run with at least this score is released, and nothing
            if the runs end before; with :class:`Geometric` only. Public.
        epsilon_per_run: What each run costs, in nats; finite, > 0.
        delta_per_run: What each run costs besides; in [0, 1].
        rho_per_run: The zCDP parameter of each run, where it is known.
        neighbours: The relation that each run is private for.
        budget: Where to record the spend, once, before anything is drawn.

    Returns:
        The output as the only candidate, with its score as the noisy score; of runs with equal
        scores the first. No candidate if there was no run, or none that reached the threshold.

    Raises:
        ParameterError: An argument is out of range, a threshold does not go with the law, or
            an output's own plan states more than ``epsilon_per_run``.
        NeighboursError: The budget is for another relation.
        InsufficientBudgetError: The budget does not allow it; nothing was drawn.

    Source: Liu and Talwar 2019, arXiv:1811.07971, Theorems 3.1 (threshold) and 3.2; Papernot
        and Steinke 2022, arXiv:2110.03620, Theorems 2 and 6.
    """
    from dpselect.draws import repetitions as draws

    plan = plan_best(
        repetitions=repetitions,
        threshold=threshold,
        epsilon_per_run=epsilon_per_run,
        delta_per_run=delta_per_run,
        rho_per_run=rho_per_run,
        neighbours=neighbours,
    )
    if not runs or not all(callable(run) for run in runs):
        raise ParameterError("runs must be at least one function without arguments")
    limit = epsilon_per_run, delta_per_run, plan.neighbours
    receipt = plan.charge(budget)
    found = draws.best_of(
        [partial(_checked, run, *limit) for run in runs],
        repetitions.number_law,
        threshold,
        lambda used: epsilon_of_best(repetitions, threshold, used),
    )
    answer = () if found is None else (found[1],)
    noisy = () if found is None else (found[0],)
    exact = getattr(answer[0], "exact", True) is True if answer else True
    release = Release(answer=answer, plan=plan, exact=exact, noisy_scores=noisy)
    return release.recorded(receipt)


def epsilon_of_best(
    repetitions: Repetitions, threshold: float | None, epsilon_per_run: float
) -> float:
    """Return the epsilon of the best of several runs, or of the first above a threshold."""
    if threshold is None:
        return repetitions.epsilon_of(epsilon_per_run)
    _validate.finite("threshold", threshold)
    if not isinstance(repetitions, Geometric):
        raise ParameterError("with a threshold the number of runs must be Geometric")
    return epsilon_per_run + log_odds_gain(epsilon_per_run, repetitions.stop)


def _checked(
    run: Run, epsilon: float, delta: float, neighbours: Neighbours
) -> tuple[float, Hashable]:
    """Return what a run returns, unless its output states more than a run may cost."""
    found = run()
    own = plan_of(found[1])
    if own is not None and (
        own.epsilon > epsilon or own.delta > delta or own.neighbours is not neighbours
    ):
        raise ParameterError(
            f"a run states epsilon = {own.epsilon!r}, delta = {own.delta!r} for "
            f"{own.neighbours} neighbours; the release allows epsilon_per_run = {epsilon!r}, "
            f"delta_per_run = {delta!r} for {neighbours} neighbours"
        )
    return found


def best_probabilities(
    scores: ArrayLike,
    probabilities: ArrayLike,
    *,
    repetitions: Repetitions,
    threshold: float | None = None,
) -> Probabilities:
    """Return the exact law of the outcome, for runs with finitely many outcomes.

    Args:
        scores: The score of each outcome, shape ``(n,)``.
        probabilities: Of each outcome in one run, of a randomly picked candidate, shape
            ``(n,)``; they sum to 1. Private, as they are not the law of a release.
        repetitions: The law of the number of runs.
        threshold: As for :func:`release_best`.

    Returns:
        The probability that each outcome is released, shape ``(n,)``; what is missing to 1 is
        the probability that nothing is. As private as ``probabilities``.

    Examples:
        >>> from dpselect.tuning import Geometric, best_probabilities
        >>> best_probabilities([1, 2], [0.5, 0.5], repetitions=Geometric(mean=4)).round(3)
        array([0.2, 0.8])
    """
    values: Scores = _validate.scores(scores).high
    law = np.asarray(probabilities, dtype=np.float64)
    if law.shape != values.shape or not (law >= 0).all() or abs(law.sum() - 1) > 1e-9:
        raise ParameterError("probabilities must be one for each score, >= 0, with sum 1")
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
