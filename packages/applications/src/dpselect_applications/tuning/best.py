"""The best of several private runs: its query and its exact distribution."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import Plan, Query, Release, Spend
from dpselect.errors import ParameterError
from dpselect.extend import (
    Design,
    NeighboursLike,
    Probabilities,
    Scores,
    exact_scores,
    plan_of,
    query,
    rho_of_pure,
    validation,
)
from dpselect_applications.tuning.profiles import (
    Profile,
    ProfileLike,
    least_epsilon,
    of_zcdp,
    profile_of_best,
)
from dpselect_applications.tuning.repetitions import (
    Geometric,
    Repetitions,
    RepetitionsLike,
    as_repetitions,
    log_odds_gain,
    renyi_epsilon,
    rho_of_best,
)

RunLike: TypeAlias = Callable[[], tuple[float, Hashable]]
"""Makes one private release and returns a score and an output, both safe to publish."""


@dataclass(frozen=True)
class Run:
    """Stated privacy of each run, its score included; None for what is not stated.

    Attributes:
        epsilon: In nats.
        delta: Beside ``epsilon``.
        rho: Parameter of zCDP.
        curve: A privacy profile.
    """

    epsilon: float | None
    delta: float
    rho: float | None
    curve: ProfileLike | None

    @cached_property
    def profile(self) -> Profile:
        """The profile that all of it implies."""
        stated: list[ProfileLike] = []
        if self.epsilon is not None:
            stated.append([(self.epsilon, self.delta)])
        if self.rho is not None:
            stated.append(of_zcdp(self.rho))
        if self.curve is not None:
            stated.append(self.curve)
        if not stated:
            raise ParameterError("give `epsilon_per_run`, `rho_per_run` or `profile_per_run`")
        return Profile.of(*stated)

    def least_epsilon(self, delta: float, repetitions: Repetitions) -> float:
        """Return the least epsilon of the best of runs at a delta, of every known bound.

        Raises:
            ParameterError: There is none.
        """
        bounds = [least_epsilon(self.profile, delta, repetitions)]
        if self.epsilon is not None and repetitions.mean * self.delta <= delta:
            bounds.append(repetitions.epsilon_of(self.epsilon))
        if self.rho is not None:
            bounds.append(renyi_epsilon(self.rho, delta, repetitions))
        if min(bounds) == inf:
            raise ParameterError("no finite epsilon follows from these runs at this `delta`")
        return min(bounds)

    def allows(self, own: Plan) -> bool:
        """Return whether a run of this plan has at least the privacy stated."""
        rho = own.rho if own.delta == 0 else inf
        # A price can follow from each statement alone, so all of them must hold.
        if self.rho is not None and rho > self.rho:
            return False
        if self.curve is not None:
            of_own = Run(own.epsilon, own.delta, rho if isfinite(rho) else None, None)
            return self.profile.allows(of_own.profile)
        if self.epsilon is None:
            return True
        return own.epsilon <= self.epsilon and own.delta <= self.delta


@query
class BestOf(Query[Release[Any]]):
    """The output with the best score of randomly many private runs; the data are the runs.

    The number of runs is drawn by ``repetitions``; each time one of the runs is picked
    uniformly. The price does not depend on how many candidates there are.

    Data are at least one function without arguments. Each reads the private data, makes a
    release of its own without spending, and returns its score and its output. If an output
    carries a plan, the plan is compared with the stated privacy. The answer is the output as
    the only candidate, with its score as the noisy score; of runs with equal scores the first.
    It is empty if there was no run, or none that reached the threshold.

    Without a ``delta`` the price is that of runs that are ``(epsilon_per_run,
    delta_per_run)``-DP. With one it is the least epsilon that any statement about a run implies
    at that delta: for its ``rho_per_run``, its ``profile_per_run``, or all together
    (``profiles``). So runs of Gaussian noise have a price, and others a lower one.

    Guarantee:
        As the plan states, under ``neighbours``, if every run has the privacy stated, *its
        score included*, under that relation, and if neither the number of runs nor any other
        outcome is published. The time that the release takes reveals the number of runs: do not
        publish it. A run may not raise where that depends on the data, and the candidates may
        not depend on the data or on another run.

    Attributes:
        repetitions: How the number of runs is drawn. ``Geometric``, ``Logarithmic``,
            ``TruncatedNegativeBinomial`` or ``Poisson``; or a mapping such as ``{"name":
            "geometric", "mean": 10}``.
        threshold: If given, the first run with at least this score is released, and nothing if
            the runs end before. With ``Geometric`` only, and without ``delta``. Not to be read
            off the data.
        epsilon_per_run: Price of each run, its score included, in nats; finite, > 0. Not needed
            where ``rho_per_run`` or ``profile_per_run`` is known.
        delta_per_run: Delta of each run; in [0, 1].
        rho_per_run: The zCDP parameter of each run, where it is known.
        profile_per_run: The privacy profile of each run, where it is known. A function of an
            epsilon that returns its delta, or pairs of an epsilon and a delta.
        delta: Delta of the release, in [0, 1). With 0 it is ``delta_per_run`` times the mean
            number of runs.
        neighbours: The relation that each run is private for.

    Source: Liu and Talwar 2019, arXiv:1811.07971, Theorems 3.1 (threshold) and 3.2; Papernot
        and Steinke 2022, arXiv:2110.03620, Theorems 2 and 6; Koskela, Redberg and Wang 2024,
        arXiv:2402.06701, by profiles, here with a lower bound.

    Examples:
        >>> import dpselect as dp
        >>> from dpselect_applications.tuning import Geometric
        >>> best = dp.BestOf(
        ...     repetitions=Geometric(mean=10), epsilon_per_run=0.5, neighbours="add-remove"
        ... )
        >>> round(best.plan.epsilon, 4)
        1.3125
        >>> gaussian = dp.BestOf(
        ...     repetitions=Geometric(mean=10), rho_per_run=0.05, delta=1e-6,
        ...     neighbours="add-remove",
        ... )
        >>> round(gaussian.plan.epsilon, 2)
        2.25
    """

    repetitions: RepetitionsLike
    threshold: float | None = None
    epsilon_per_run: float | None = None
    delta_per_run: float = 0.0
    rho_per_run: float | None = None
    profile_per_run: ProfileLike | None = None
    delta: float = 0.0
    neighbours: NeighboursLike

    def design(self) -> BestDesign:
        repetitions, threshold = as_repetitions(self.repetitions), self.threshold
        if threshold is not None:
            threshold = validation.finite("threshold", threshold)
        run, rho = self._run(), None
        delta = validation.within("delta", self.delta, 0, 1)
        if delta > 0:
            if threshold is not None:
                raise ParameterError("`delta` cannot be given with a `threshold`")
            whole, failure = run.least_epsilon(delta, repetitions), delta
        elif run.epsilon is None or run.curve is not None:
            raise ParameterError(
                "without a `delta` give `epsilon_per_run` and no `profile_per_run`"
            )
        else:
            whole = epsilon_of_best(repetitions, threshold, run.epsilon)
            failure = min(repetitions.mean * run.delta, 1.0)
            if run.rho is not None and threshold is None and run.delta == 0:
                rho = min(rho_of_pure(whole), rho_of_best(run.epsilon, run.rho, repetitions))
        if threshold is None:
            mechanism, purpose = (
                f"best of {repetitions!r}",
                "the best of a hidden number of runs",
            )
        else:
            mechanism = f"first above {threshold:g} of {repetitions!r}"
            purpose = "the first run that reaches the threshold, of a hidden number"
        return BestDesign(
            plan=Plan(
                mechanism=mechanism,
                spends=(Spend(purpose, whole, delta=failure, rho=rho),),
                epsilon=whole,
                delta=failure,
                neighbours=validation.neighbours(self.neighbours),
                public=("the runs and what each of them costs",),
                composition="the number of runs is random and hidden, and one outcome is "
                "released: " + ("by the profile of a run" if delta > 0 else "Theorem 47"),
            ),
            repetitions=repetitions,
            threshold=threshold,
            run=run,
            by_profile=delta > 0,
        )

    def _run(self) -> Run:
        epsilon, rho = self.epsilon_per_run, self.rho_per_run
        return Run(
            None if epsilon is None else validation.positive("epsilon_per_run", epsilon),
            validation.within("delta_per_run", self.delta_per_run, 0, 1),
            None if rho is None else validation.positive("rho_per_run", rho),
            self.profile_per_run,
        )


@dataclass(frozen=True, kw_only=True)
class BestDesign(Design[Release[Any]]):
    """The best of runs whose fields were checked.

    Attributes:
        repetitions: How the number of runs is drawn.
        threshold: What ends the runs; None for the best.
        run: What is stated of a run.
        by_profile: Whether the price follows from the profile of a run.
    """

    repetitions: Repetitions
    threshold: float | None
    run: Run
    by_profile: bool

    def prepare(self, data: object) -> Callable[[Plan], Release[Any]]:
        from dpselect_applications.tuning import drawing as draws

        runs = data if isinstance(data, Sequence) else ()
        if not runs or not all(callable(run) for run in runs):
            raise ParameterError("runs must be at least one function without arguments")

        def drawn(plan: Plan) -> Release[Any]:
            checked = [partial(self._checked, run) for run in runs]
            number = self.repetitions.number_distribution
            return self.released(
                draws.best_of(checked, number, self.threshold, self._cost), plan
            )

        return drawn

    def released(self, found: tuple[float, Any] | None, plan: Plan) -> Release[Any]:
        """Return the release of the best score and its output, or of nothing."""
        if found is None:
            return Release((), plan, noisy_scores=())
        score, output = found
        parts = output if isinstance(output, tuple) else (output,)
        exact = all(getattr(part, "exact", True) is True for part in parts)
        return Release((output,), plan, exact=exact, noisy_scores=(score,))

    def check_run(self, own: Plan | None) -> None:
        """Raise if what a run's output states is more than a run may cost."""
        run = self.run
        if own is None or (own.neighbours is self.plan.neighbours and run.allows(own)):
            return
        allowed = {"epsilon": run.epsilon, "delta": run.delta, "rho": run.rho}
        stated = ", ".join(
            f"`{name}_per_run` = {one!r}" for name, one in allowed.items() if one is not None
        )
        raise ParameterError(
            f"a run states epsilon = {own.epsilon!r}, delta = {own.delta!r} for "
            f"{own.neighbours} neighbours; the release allows {stated} and the profile, for "
            f"{self.plan.neighbours} neighbours"
        )

    def _checked(self, run: RunLike) -> tuple[float, Hashable]:
        found: Any = run()
        if not isinstance(found, tuple) or len(found) != 2:
            raise ParameterError("a run must return two values: its score and its output")
        score, output = found
        self.check_run(plan_of(output))
        return score, output

    def _cost(self, used: float) -> tuple[float, Callable[[float], float] | None]:
        """Return the epsilon of the whole for runs of an epsilon, and its profile."""
        whole = epsilon_of_best(self.repetitions, self.threshold, used)
        if not self.by_profile or not isfinite(used):
            return whole, None
        of_run = Profile.of([(used, 0.0)])
        return whole, lambda epsilon: float(
            profile_of_best(epsilon, of_run, repetitions=self.repetitions)
        )


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
        probabilities: Probability of each outcome in one run of a randomly picked candidate,
            shape ``(n,)``; they sum to 1. Private, as a release does not have this
            distribution.
        repetitions: The distribution of the number of runs.
        threshold: As for ``BestOf``.

    Returns:
        The probability that each outcome is released, shape ``(n,)``; the rest, up to 1, is the
        probability that nothing is released. As private as ``probabilities``.

    Examples:
        >>> from dpselect_applications.tuning import Geometric, best_probabilities
        >>> best_probabilities([1, 2], [0.5, 0.5], repetitions=Geometric(mean=4)).round(3)
        array([0.2, 0.8])
    """
    values: Scores = exact_scores(scores).high
    masses = np.asarray(probabilities, dtype=np.float64)
    if masses.shape != values.shape or not (masses >= 0).all() or abs(masses.sum() - 1) > 1e-9:
        raise ParameterError("`probabilities` must be one for each score, >= 0, with sum 1")
    if threshold is not None:
        epsilon_of_best(repetitions, threshold, 0.0)
        reached = values >= threshold
        stop = 1 / repetitions.mean
        return np.where(reached, masses, 0.0) / (stop + (1 - stop) * masses[reached].sum())
    _, group = np.unique(values, return_inverse=True)
    mass = np.bincount(group, weights=masses)
    ends = np.minimum(np.cumsum(mass), 1.0)
    whole = np.diff(repetitions.generating_function(np.concatenate([[0.0], ends])))
    share = np.divide(masses, mass[group], out=np.zeros_like(masses), where=mass[group] > 0)
    return whole[group] * share
