r"""Noise on every score at once: the sequence of noisy scores, read off as often as wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil, exp, inf, log, nextafter, sqrt
from typing import ClassVar, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from dpselect import _validate
from dpselect.budget.zcdp import rho_for, rho_of_pure
from dpselect.draws import Draw, LaplaceNoisyMax, sequence
from dpselect.draws.base import CHUNK
from dpselect.draws.grid import Steps, to_steps
from dpselect.draws.sequence_noise import DiscreteGaussian, DiscreteLaplace, Noise
from dpselect.errors import ParameterError
from dpselect.mechanisms.base import (
    Drawn,
    Mechanism,
    charged_release,
    check_covers,
    checked_k,
)
from dpselect.mechanisms.sequence_price import gaussian_scale, laplace_rho, moves
from dpselect.neighbours import NeighboursLike
from dpselect.objective import Objective
from dpselect.plan import ErrorBound, Plan, Spend, SupportsSpend
from dpselect.release import Release, Simulation
from dpselect.typing import Indices, Probabilities, Scores

SequenceNoise: TypeAlias = Literal["laplace", "gaussian"]

MOST_SCALE = 2.0**49
"""Half of what the sampler allows."""


class Noisy(NamedTuple):
    """Scores in steps, and the noise that is made for them."""

    counts: Indices
    noise: Noise
    unit: float


@dataclass(frozen=True, kw_only=True)
class NoisySequence(Mechanism):
    r"""Add discrete noise to every score once and release the ``k`` largest.

    Theorem. Let one neighbour step change all scores together by at most
    :math:`l_1 = \max_{x \sim y} \sum_r |u(x, r) - u(y, r)|`. Then all noisy scores
    :math:`u_r + Z_r` with independent noise
    :math:`P(Z_r = z) \propto e^{-\varepsilon |z| / l_1}` are ``epsilon``-DP: the laws at ``x``
    and ``y`` differ by factors :math:`e^{\varepsilon |u(x,r) - u(y,r)| / l_1}`, whose product
    is at most :math:`e^\varepsilon`. Whatever is read off them, the ``k`` largest in order,
    their noisy scores, or all above a public threshold, costs nothing more.

    With ``noise="gaussian"`` it is discrete Gaussian noise, :math:`P(Z_r = z) \propto
    e^{-z^2/2\sigma^2}`, which is :math:`\rho`-zCDP with
    :math:`\rho = \ell_2^2/2\sigma^2` and :math:`\ell_2^2 \le \ell_1 \Delta`: for
    :math:`\ell_1/\Delta` scores that move, noise in proportion to the root of their number.
    :math:`\sigma` is made for the largest rho that is ``(epsilon, delta)``-DP by the
    conversion of zCDP.

    So :math:`k` does not divide epsilon, as rounds do (``PermuteAndFlip`` and all others),
    but the noise is made for :math:`l_1`, not for the largest change :math:`\Delta` of one
    score. It is better where one individual moves few scores and ``k`` is more than a few:
    see ``docs/mechanisms.md``.

    Guarantee:
        ``epsilon``-DP for the whole release, with Gaussian noise ``(epsilon, delta)``-DP and
        :math:`\rho`-zCDP, under the neighbour relation of the objective's sensitivity, if its
        ``l1`` and ``bound`` hold (``dpselect.audit.check_admissible`` checks it on a
        small universe). The candidates, their number, ``l1``, ``bound``, ``step`` and the
        threshold are public.

    Attributes:
        noise: ``"laplace"`` or ``"gaussian"``.
        delta: Of one release; in (0, 1) for Gaussian noise, else 0. A budget under zCDP is
            charged the rho, and the delta besides.
        with_scores: Whether releases carry the noisy scores of their candidates, which the
            price covers.
        l1: Largest change of all scores together; the objective's own if not given, else
            the sum of the bounds of all candidates, which always holds and is much. Score
            units. Public.
        bound: Largest change of one score, which makes the rho or the Gaussian noise smaller;
            the objective's own if not given. Score units. Public.
        step: A number that all scores are integer multiples of; the objective's own if not
            given. Without one, scores are rounded to a fine grid, which takes two
            thousandths of epsilon. Public.

    Source: Dwork, McSherry, Nissim and Smith, TCC 2006 (the noise for :math:`\ell_1`);
        Ghosh, Roughgarden and Sundararajan, STOC 2009 (on integers); Canonne, Kamath and
        Steinke, NeurIPS 2020 (discrete Gaussian).

    Examples:
        >>> import dpselect as dp
        >>> votes = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE, l1=1)
        >>> objective = dp.Objective([90, 0, 500, 300], votes, step=1)
        >>> release = dp.NoisySequence(epsilon=1.0).release(objective, k=2)
        >>> release.answer, len(release.plan.spends)
        ((2, 3), 1)
    """

    noise: SequenceNoise = "laplace"
    delta: float = 0.0
    with_scores: bool = False
    l1: float | None = None
    bound: float | None = None
    step: float | None = None
    name: ClassVar[str] = "noisy-sequence"
    paid_for: ClassVar[str] = "noise on all scores"

    def __post_init__(self) -> None:
        super().__post_init__()
        for fact in ("l1", "bound", "step"):
            if getattr(self, fact) is not None:
                object.__setattr__(self, fact, _validate.positive(fact, getattr(self, fact)))
        if not isinstance(self.with_scores, bool):
            raise ParameterError("with_scores must be True or False")
        if self.noise not in get_args(SequenceNoise):
            raise ParameterError(f"noise must be 'laplace' or 'gaussian', not {self.noise!r}")
        object.__setattr__(self, "delta", _validate.within("delta", self.delta, 0, 1))
        if self.noise == "laplace" and self.delta != 0:
            raise ParameterError("Laplace noise is epsilon-DP: leave out delta")
        if self.noise == "gaussian" and not 0 < self.delta < 1:
            raise ParameterError("Gaussian noise needs a delta above 0 and below 1")

    @property
    def label(self) -> str:
        return self.name if self.noise == "laplace" else f"{self.name}, {self.noise}"

    @property
    def draws_by(self) -> Draw:
        return LaplaceNoisyMax()

    def unit_scores(self, objective: Objective) -> Scores:
        r"""Return :math:`2 (u_r - u_*) / l_1`: no difference of two moves by more than 2.

        The scores of one draw by the noisy maximum, whose law that of the first is up to
        ties, for Laplace noise.
        """
        l1 = self.for_objective(objective).stated_l1
        return (objective.scores - objective.scores.max()) * (2 / l1)

    @property
    def stated_l1(self) -> float:
        """``l1``, which must be known."""
        if self.l1 is None:
            raise ParameterError("l1 must be given, here or by an objective")
        return self.l1

    def for_objective(self, objective: Objective) -> Self:
        sensitivity = objective.sensitivity
        each = np.broadcast_to(sensitivity.bounds, objective.scores.shape)
        most = float(each.sum())
        return replace(
            self,
            l1=self.l1 or min(sensitivity.l1 or most, most),
            bound=self.bound or sensitivity.bound,
            step=self.step or objective.step,
        )

    def largest_gap(
        self,
        candidates: int,
        bound: float,
        beta: float,
        attained: float | None = None,  # noqa: ARG002 -- the same on all data
    ) -> float:
        r"""Return how far below one that is left out a released candidate is, for all ``k``.

        If no noise is ``m`` steps or more, which is so with probability
        :math:`1 - n \cdot 2\alpha^m/(1 + \alpha)` or more, then the order of two candidates
        whose scores are :math:`2m - 1` steps apart is right. It holds for all pairs at once.
        """
        l1 = candidates * bound if self.l1 is None else self.l1
        steps = to_steps(np.zeros(candidates), l1, self.step)
        noise = self.noise_for(steps)
        if isinstance(noise, DiscreteGaussian):
            # Subgaussian: P(|Z| >= m) <= 2 e^(-m^2 / 2 sigma^2).
            least = noise.scale * sqrt(2 * log(2 * candidates / beta))
        else:
            tail = log(2 * candidates / ((1 + exp(-1 / noise.scale)) * beta))
            least = noise.scale * tail
        return 2 * (ceil(least) - 1) * steps.unit

    def of_one_round(self, k: int) -> Self:  # noqa: ARG002 -- there is one
        return self

    def spend(self, purpose: str, k: int = 1) -> Spend:  # noqa: ARG002 -- any k costs the same
        """Return the price of the noise on all scores, whatever ``k`` is."""
        return Spend(purpose, self.epsilon, delta=self.delta, rho=self._rho())

    def _rho(self) -> float:
        if self.noise == "gaussian":
            return rho_for(self.epsilon, self.delta)
        if self.l1 is None or self.bound is None:
            return rho_of_pure(self.epsilon)
        if self.step is None:
            # A score moves by up to 3 steps of the grid more than its share of l1.
            return laplace_rho(self.epsilon, min(1.0, self.bound / self.l1 * (1 + 2.0**-10)))
        steps = to_steps(np.zeros(1), self.l1, self.step)
        of_one, of_all = moves(steps, self.l1, self.bound, self.step)
        return laplace_rho(self.epsilon, of_one / of_all)

    def noise_for(self, steps: Steps) -> DiscreteLaplace | DiscreteGaussian:
        """Return the noise for scores in steps, made for their ``l1``; public."""
        if self.noise == "laplace":
            return DiscreteLaplace(nextafter(steps.l1 / self.epsilon, inf))
        l1 = self.stated_l1
        moved = moves(steps, l1, self.bound or l1, self.step)
        return DiscreteGaussian(gaussian_scale(self._rho(), *moved))

    @property
    def noise_scale(self) -> float:
        """Scale of the noise of every score, score units, but for a grid's share; public."""
        steps = to_steps(np.zeros(1), self.stated_l1, self.step)
        return self.noise_for(steps).scale * steps.unit

    def probabilities(self, objective: Objective) -> Probabilities:
        """Return the law of the candidate that is released first.

        Returns:
            Shape ``(n,)``, exact for the noise that a release draws, grid and ties included,
            where the noise has a scale of at most 512 steps; beyond, of continuous noise,
            which differs by the probability of a tie. As private as the scores.
        """
        noisy = self._noisy(objective)
        return sequence.first(noisy.counts, noisy.noise)

    @np.errstate(all="ignore")
    def log_probabilities(self, objective: Objective) -> Scores:
        if self.noise == "laplace":
            return super().log_probabilities(objective)
        return np.log(self.probabilities(objective))

    def inclusion(self, objective: Objective, k: int) -> Probabilities | None:
        """Return the probability of each candidate to be among the ``k`` released.

        Args:
            objective: What to choose from.
            k: 1 to ``n``.

        Returns:
            Shape ``(n,)``; sums to ``k``; exact. None where the dynamic programming would
            take more than 2^24 steps: then count in :meth:`simulate`. As private as the
            scores.
        """
        noisy = self._noisy(objective)
        return sequence.included(noisy.counts, noisy.noise, checked_k(k, objective))

    def set_probability(self, objective: Objective, chosen: NDArray[np.bool_]) -> float:
        """Return the probability that so many released candidates are these, in any order.

        Args:
            objective: What to choose from.
            chosen: Shape ``(n,)``: whether a candidate is among them.

        Returns:
            Exact, as :meth:`probabilities`; for Laplace noise of a scale of at most 512 steps:
            it takes time in proportion to that. As private as the scores.
        """
        noisy = self._noisy(objective)
        return sequence.all_before(noisy.counts, noisy.noise, np.asarray(chosen, dtype=bool))

    def _noisy(self, objective: Objective) -> Noisy:
        mechanism = self.for_objective(objective)
        steps = to_steps(objective.scores, mechanism.stated_l1, mechanism.step)
        noise = mechanism.noise_for(steps)
        if noise.scale > MOST_SCALE:
            raise ParameterError(
                "epsilon is too small for these scores: the noise must be at most 2**49 of "
                "their steps"
            )
        return Noisy(steps.counts, noise, steps.unit)

    def drawing(self, objective: Objective, k: int) -> Callable[[], Drawn]:
        return self._drawing(objective, lambda noisy, _unit: sequence.largest(noisy, k))

    def drawing_above(self, objective: Objective, threshold: float) -> Callable[[], Drawn]:
        """Return the draw of all candidates at or above a threshold."""

        def positions(noisy: Indices, unit: float) -> list[int]:
            above = int((noisy * unit >= threshold).sum())
            return sequence.largest(noisy, above) if above else []

        return self._drawing(objective, positions)

    def _drawing(
        self, objective: Objective, positions_of: Callable[[Indices, float], list[int]]
    ) -> Callable[[], Drawn]:
        """Return a draw of all noisy scores and of what is read off them."""
        noisy = self._noisy(objective)

        def draw() -> Drawn:
            released = noisy.noise.sample(noisy.counts)
            positions = positions_of(released, noisy.unit)
            if not self.with_scores:
                return Drawn(positions)
            scores = tuple(float(released[place] * noisy.unit) for place in positions)
            return Drawn(positions, scores)

        return draw

    def plan_above(
        self,
        threshold: float,
        *,
        neighbours: NeighboursLike,
        function: str = "release_above",
        arguments: Mapping[str, object] | None = None,
        public: tuple[str, ...] = (),
        error: ErrorBound | None = None,
    ) -> Plan:
        """Return the price of :meth:`release_above`; needs no data.

        Args:
            threshold: As there.
            neighbours: The relation of the objective's sensitivity.
            function: The releasing function, as written to a ledger.
            arguments: Its public arguments.
            public: What is declared public, in words.
            error: A bound on the error that holds on all data.
        """
        threshold = _validate.finite("threshold", threshold)
        given = {"threshold": threshold} if arguments is None else arguments
        return self.plan(
            neighbours=neighbours,
            function=function,
            arguments=given,
            public=public,
            error=error,
        )

    @np.errstate(all="ignore")
    def release_above(
        self,
        objective: Objective,
        threshold: float,
        budget: SupportsSpend | None = None,
        *,
        plan: Plan | None = None,
    ) -> Release:
        """Release all candidates whose noisy score is at least a threshold, largest first.

        Args:
            objective: What to choose from.
            threshold: Score units. Public: it must not be read off the data.
            budget: Where to record the spend, before anything is drawn.
            plan: The plan of a function that calls this one; :meth:`plan_above` if not given.

        Returns:
            The candidates, possibly none; their number is noisy, like their order.

        Raises:
            ParameterError: ``threshold`` is not finite, or ``plan`` states less than
                ``epsilon``.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
            NeighboursError: The budget or ``plan`` is for another neighbour relation.
        """
        _validate.instance("objective", objective, Objective)
        threshold = _validate.finite("threshold", threshold)
        mechanism = self.for_objective(objective)
        stated = plan or mechanism.plan_above(threshold, neighbours=objective.neighbours)
        check_covers(stated, mechanism, objective)
        draw = mechanism.drawing_above(objective, threshold)
        return charged_release(stated, budget, objective, draw, exact=mechanism.exact)

    @np.errstate(all="ignore")
    def simulate(
        self, objective: Objective, k: int = 1, *, size: int, rng: np.random.Generator
    ) -> Simulation:
        k = checked_k(k, objective)
        size = _validate.at_least("size", size, 1)
        _validate.instance("rng", rng, np.random.Generator)
        noisy = self._noisy(objective)
        indices = np.empty((size, k), dtype=np.int64)
        rows = max(1, CHUNK // len(objective))
        for start in range(0, size, rows):
            block = indices[start : start + rows]
            shape = (len(block), len(objective))
            drawn = noisy.counts + noisy.noise.simulated(shape, rng)
            for row, one in zip(block, drawn, strict=True):
                row[:] = sequence.largest(one, k)
        return Simulation(indices[:, 0] if k == 1 else indices, repr(self))
