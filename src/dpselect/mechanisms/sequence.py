"""Noise on every score at once: the sequence of noisy scores, read off as often as wanted.

One neighbour step moves the scores, in steps of a grid, by integers ``m_r`` with ``|m_r| ≤ M``
and ``∑ |m_r| ≤ L``. What a sum of a convex function of them, 0 at 0, is at most is attained
where ``⌊L/M⌋`` scores move by ``M``, and one by the rest. The price under zCDP follows from
this.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp, floor, inf, log, nextafter, sqrt
from typing import Annotated, ClassVar, Literal, NamedTuple, Self, TypeAlias

from dpselect import validation
from dpselect._optional import np, silent
from dpselect.budget.zcdp import SLACK, rho_for, rho_of_pure
from dpselect.draws import Draw, LaplaceNoisyMax, sequence
from dpselect.draws.grid import Steps, steps_for, to_steps
from dpselect.draws.sequence import DiscreteGaussian, DiscreteLaplace, Noise
from dpselect.errors import ParameterError
from dpselect.mechanisms.base import Drawn, Mechanism, checked_k
from dpselect.mechanisms.score_intervals import ScoreIntervals
from dpselect.objective import Facts, Objective
from dpselect.plan import Spend
from dpselect.typing import Bools, Indices, Probabilities, Scores

SequenceNoise: TypeAlias = Literal["laplace", "gaussian"]

OF_GRID = 2
"""Steps of a grid that rounding, there and before, adds to the move of one score."""

MOST_SCALE = 2.0**49
"""Half of the sampler's limit."""


class Noisy(NamedTuple):
    """Scores in steps, and the noise that is made for them."""

    counts: Indices
    noise: Noise
    unit: float


@dataclass(frozen=True, kw_only=True)
class NoisySequence(Mechanism):
    """Add discrete noise to every score once and release the ``k`` largest.

    Theorem. Let one neighbour step change all scores together by at most ``l_1 = max_(x ~ y)
    ∑_r |u(x, r) - u(y, r)|``. Then all noisy scores ``u_r + Z_r`` with independent noise
    ``P(Z_r = z) ∝ e^(-ε |z| / l_1)`` are ``epsilon``-DP: the distributions at ``x`` and ``y``
    differ by factors ``e^(ε |u(x,r) - u(y,r)| / l_1)``, whose product is at most ``e^ε``. Any
    function of them costs nothing more: the ``k`` largest in order, their noisy scores, or all
    above a public threshold.

    With ``noise="gaussian"`` it is discrete Gaussian noise, ``P(Z_r = z) ∝ e^(-z^2/2σ^2)``,
    which is ρ-zCDP with ``ρ = ℓ_2^2/2σ^2`` and ``ℓ_2^2 ≤ ℓ_1 Δ``: for ``ℓ_1/Δ`` scores that
    move, noise in proportion to the root of their number. σ is made for the largest rho that is
    ``(epsilon, delta)``-DP by the conversion of zCDP.

    So ``k`` does not divide epsilon, as rounds do (``PermuteAndFlip`` and all others), but the
    noise is made for ``l_1``, not for the largest change Δ of one score. It is better where one
    individual moves few scores and ``k`` is more than a few: see ``docs/own.md``.

    Guarantee:
        ``epsilon``-DP for the whole release, with Gaussian noise ``(epsilon, delta)``-DP and
        ρ-zCDP, under the neighbour relation of the objective's sensitivity, if its ``l1`` and
        ``bound`` hold (``dpselect.audit.check_admissible`` checks it on a small universe). The
        candidates, their number, ``l1``, ``bound``, ``step`` and the threshold are public.

    Attributes:
        noise: ``"laplace"`` or ``"gaussian"``.
        delta: Delta of one release; in (0, 1) for Gaussian noise, else 0. A budget under zCDP
            is charged the rho and the delta.
        l1: Largest change of all scores together; at least the objective's own, which it is
            if not given. Where the objective has none, the sum of the bounds of all
            candidates, which always holds but is large. Score units. Public.
        bound: Largest change of one score, which makes the rho or the Gaussian noise smaller;
            at least the objective's own, which it is if not given. Score units. Public.
        step: A number that all scores are integer multiples of; the objective's own, which it
            must divide, if not given. Without one, scores are rounded to a fine grid, which
            takes two thousandths of epsilon. Public.

    Source: Dwork, McSherry, Nissim and Smith, TCC 2006 (the noise for ``ℓ_1``); Ghosh,
        Roughgarden and Sundararajan, STOC 2009 (on integers); Canonne, Kamath and Steinke,
        NeurIPS 2020 (discrete Gaussian).

    Examples:
        >>> import dpselect as dp
        >>> votes = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE, l1=1)
        >>> objective = dp.Objective([90, 0, 500, 300], votes, step=1)
        >>> release = dp.NoisySequence(epsilon=1.0).release(objective, k=2)
        >>> release.answer, len(release.plan.spends)
        ((2, 3), 1)
    """

    noise: SequenceNoise = "laplace"
    delta: Annotated[float, validation.numbers(0, 1)] = 0.0
    l1: Annotated[float | None, validation.positive] = None
    bound: Annotated[float | None, validation.positive] = None
    step: Annotated[float | None, validation.positive] = None
    name: ClassVar[str] = "noisy-sequence"
    draw: ClassVar[Draw] = LaplaceNoisyMax()
    purpose: ClassVar[str] = "noise on all scores"
    prices_objectives: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise == "laplace" and self.delta != 0:
            raise ParameterError("Laplace noise is epsilon-DP: leave out delta")
        if self.noise == "gaussian" and not 0 < self.delta < 1:
            raise ParameterError("Gaussian noise needs a delta above 0 and below 1")
        if self.noise == "gaussian" and self._rho() == 0:
            raise ParameterError(
                "`epsilon` must be large enough that Gaussian noise has a rho above 0"
            )

    def __str__(self) -> str:
        scale = "" if self.l1 is None else f", scale {self.noise_scale:g}"
        return f"noisy scores of all candidates (discrete {self.noise.title()}{scale})"

    @property
    def label(self) -> str:
        return self.name if self.noise == "laplace" else f"{self.name}, {self.noise}"

    def unit_scores(self, objective: Objective) -> Scores:
        """Return ``2 (u_r - u_*) / l_1``: no difference of two moves by more than 2.

        With these scores a draw by the Laplace noisy maximum has the distribution of the first
        released candidate, up to ties.
        """
        l1 = self.for_objective(objective).stated_l1
        return (objective.scores - objective.scores.max()) * (2 / l1)

    @property
    def stated_l1(self) -> float:
        """``l1``, which must be known."""
        if self.l1 is None:
            raise ParameterError("`l1` must be given, here or by an objective")
        return self.l1

    def for_objective(self, objective: Objective | Facts) -> Self:
        sensitivity, step = objective.sensitivity, objective.step
        most = sensitivity.bound * len(objective)
        if not sensitivity.flat:
            most = float(np.broadcast_to(sensitivity.bounds, len(objective)).sum())
        l1 = min(sensitivity.l1 or most, most)
        # Without an l1 of its own, the objective leaves it to the mechanism.
        least = {"l1": sensitivity.bound if sensitivity.l1 is None else l1}
        for fact, lowest in (least | {"bound": sensitivity.bound}).items():
            if (getattr(self, fact) or lowest) < lowest:
                raise ParameterError(
                    f"`{fact}` must be at least {lowest:g}, by the objective's sensitivity"
                )
        if self.step and step and Fraction(step) % Fraction(self.step) != 0:
            raise ParameterError(f"`step` must divide {step:g}, the objective's own")
        made = replace(
            self,
            l1=self.l1 or l1,
            bound=self.bound or sensitivity.bound,
            step=self.step or step,
        )
        steps = steps_for(len(objective), made.stated_l1, made.step)
        if made.noise_for(steps).scale > MOST_SCALE:
            raise ParameterError(
                "epsilon is too small for these scores: the noise must be at most 2**49 of "
                "their steps"
            )
        return made

    def largest_gap(
        self,
        candidates: int,
        bound: float,
        beta: float,
        attained: float | None = None,  # noqa: ARG002 -- the same on all data
    ) -> float:
        """Return how far a released candidate is below one that is left out, for all ``k``.

        If no noise is ``m`` steps or more, which is so with probability
        ``1 - n · 2α^m/(1 + α)`` or more, then the order of two candidates whose scores are
        ``2m - 1`` steps apart is right. It holds for all pairs at once.
        """
        l1 = candidates * bound if self.l1 is None else self.l1
        steps = steps_for(candidates, l1, self.step)
        noise = self.noise_for(steps)
        if isinstance(noise, DiscreteGaussian):
            # Subgaussian: P(|Z| >= m) <= 2 e^(-m^2 / 2 sigma^2).
            least = noise.scale * sqrt(2 * log(2 * candidates / beta))
        else:
            tail = log(2 * candidates / ((1 + exp(-1 / noise.scale)) * beta))
            least = noise.scale * tail
        return 2 * (ceil(least) - 1) * steps.unit

    def single_round(self, k: int) -> Self:  # noqa: ARG002 -- there is one
        return self

    def spend(self, purpose: str, k: int = 1) -> Spend:  # noqa: ARG002 -- any k costs the same
        """Return the price of the noise on all scores, which does not depend on ``k``."""
        return Spend(purpose, self.epsilon, delta=self.delta, rho=self._rho())

    def _rho(self) -> float:
        if self.noise == "gaussian":
            return rho_for(self.epsilon, self.delta)
        if self.l1 is None or self.bound is None:
            return rho_of_pure(self.epsilon)
        if self.step is None:
            # A score moves by up to 2 steps of the grid more than its share of l1.
            return laplace_rho(self.epsilon, min(1.0, self.bound / self.l1 * (1 + 2.0**-10)))
        steps = steps_for(1, self.l1, self.step)
        of_one, of_all = moves(steps, self.bound, self.step)
        return laplace_rho(self.epsilon, of_one / of_all)

    def noise_for(self, steps: Steps) -> DiscreteLaplace | DiscreteGaussian:
        """Return the noise for scores in steps, made for their ``l1``; public."""
        if self.noise == "laplace":
            return DiscreteLaplace(nextafter(steps.l1 / self.epsilon, inf))
        l1 = self.stated_l1
        moved = moves(steps, self.bound or l1, self.step)
        return DiscreteGaussian(gaussian_scale(self._rho(), *moved))

    def intervals(self, candidates: int, k: int | None, probability: float) -> ScoreIntervals:
        """Return the intervals of scores from their released noisy scores; they cost nothing.

        Args:
            candidates: Number of candidates of one draw.
            k: Number of released candidates; None if all above a threshold are released.
            probability: Lower bound on the probability that all intervals hold.
        """
        steps = steps_for(candidates, self.stated_l1, self.step)
        off = 0 if self.step is not None else 1
        noise = self.noise_for(steps)
        return ScoreIntervals(probability, noise, steps.unit, off, candidates, k)

    @property
    def noise_scale(self) -> float:
        """Scale of the noise of every score, in score units, without a share for a grid."""
        steps = steps_for(1, self.stated_l1, self.step)
        return self.noise_for(steps).scale * steps.unit

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of every score, about; score units, public."""
        return self.noise_scale * (sqrt(2) if self.noise == "laplace" else 1)

    def probabilities(self, objective: Objective) -> Probabilities:
        """Return the distribution of the candidate that is released first.

        Returns:
            Shape ``(n,)``, exact for the noise that a release draws, grid and ties included,
            where the noise has a scale of at most 512 steps; beyond, of continuous noise,
            which differs by the probability of a tie. As private as the scores.
        """
        noisy = self._noisy(objective)
        return sequence.first(noisy.counts, noisy.noise)

    @silent
    def log_probabilities(self, objective: Objective) -> Scores:
        if self.noise == "laplace":
            return super().log_probabilities(objective)
        return np.log(self.probabilities(objective))

    def inclusion(self, objective: Objective, k: int) -> Probabilities | None:
        """Return the probability that each candidate is among the ``k`` released ones.

        Args:
            objective: The objective to choose by.
            k: 1 to ``n``.

        Returns:
            Shape ``(n,)``; sums to ``k``; exact. None where the dynamic programming would take
            more than 2^24 steps: then count in ``simulate``. As private as the scores.
        """
        noisy = self._noisy(objective)
        return sequence.included(noisy.counts, noisy.noise, checked_k(k, objective))

    def set_probability(self, objective: Objective, chosen: Bools) -> float:
        """Return the probability that the released candidates are these, in any order.

        Args:
            objective: The objective to choose by.
            chosen: Shape ``(n,)``: whether a candidate is among them.

        Returns:
            Exact, as ``probabilities``; for Laplace noise with a scale of at most 512 steps, to
            which the time is proportional. As private as the scores.
        """
        noisy = self._noisy(objective)
        return sequence.all_before(noisy.counts, noisy.noise, np.asarray(chosen, dtype=bool))

    def _noisy(self, objective: Objective) -> Noisy:
        mechanism = self.for_objective(objective)
        steps = to_steps(
            objective.scores, mechanism.stated_l1, mechanism.step, objective.low_order
        )
        return Noisy(steps.counts, mechanism.noise_for(steps), steps.unit)

    def prepare(
        self, objective: Objective, k: int, above: float | None = None
    ) -> Callable[[], Drawn]:
        """Return a draw of all noisy scores, from which the answer is computed."""
        noisy = self._noisy(objective)

        def draw() -> Drawn:
            released = noisy.noise.sample(noisy.counts, k=k + 1 if above is None else None)
            size = k if above is None else int((released * noisy.unit >= above).sum())
            order = sequence.largest(released, min(size + 1, released.size))
            scores = [float(released[place] * noisy.unit) for place in order]
            return Drawn(order[:size], tuple(scores[:size]), next(iter(scores[size:]), None))

        return draw

    def _simulated(
        self, objective: Objective, k: int, size: int, rng: "np.random.Generator"
    ) -> Indices:
        noisy, n = self._noisy(objective), len(objective)
        drawn = (noisy.counts + noisy.noise.simulated(n, rng) for _ in range(size))
        return np.array([sequence.largest(one, k) for one in drawn], dtype=np.int64)


def moves(steps: Steps, bound: float, step: float | None) -> tuple[int, int]:
    """Return what one neighbour step moves of one score and of all together, in steps.

    Args:
        steps: The scores in steps.
        bound: Largest change of one score, score units.
        step: A number that all scores are integer multiples of, or None.
    """
    if step is None:
        of_one = floor(bound / steps.unit) + OF_GRID
    else:
        of_one = max(1, floor(bound / step * (1 + 2.0**-40)))
    return min(of_one, steps.l1), steps.l1


def laplace_rho(epsilon: float, share: float) -> float:
    """Return the zCDP of discrete Laplace noise of scale ``L/ε``.

    A score that moves by ``m`` is ``e``-DP with ``e = ε m / L`` and ``e tanh(e/2)``-zCDP, which
    is convex in ``m``. The sum is at most ``L/M`` times its value at ``M``.

    Args:
        epsilon: Epsilon of all scores together, in nats.
        share: At least ``M/L``, at most 1.
    """
    return rho_of_pure(epsilon * share) / share


def gaussian_scale(rho: float, of_one: int, of_all: int) -> float:
    """Return the scale of discrete Gaussian noise that is ``rho``-zCDP, rounded up.

    Noise of scale σ on a score that moves by ``m`` is ``m^2/2σ^2``-zCDP, and the sum of the
    squares is at most ``ℓ_2^2 = ⌊L/M⌋ M^2 + (L mod M)^2``.

    Source: Canonne, Kamath and Steinke 2020, arXiv:2004.00010, Theorem 14.
    """
    whole, rest = divmod(of_all, of_one)
    squared = whole * of_one**2 + rest**2
    return nextafter(sqrt(squared / (2 * rho)) * (1 + SLACK), inf)
