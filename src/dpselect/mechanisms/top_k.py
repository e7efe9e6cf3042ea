"""The ``k`` best candidates or all above a threshold: rounds, or one noisy sequence.

Rounds divide epsilon by ``k``, a noisy sequence makes its noise for ``l_1``. Which of them
finds the right ``k`` more easily is computed for the number of candidates: on the scores that
are hardest for a given lead, where ``k`` candidates are ahead of all others by the same lead,
and for continuous noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import erfc, exp, expm1, inf, log, log1p, sqrt
from typing import Any, TypeAlias, TypedDict, Unpack

from dpselect import validation
from dpselect._numbers import LARGEST_EXPONENT, boundary
from dpselect.errors import ParameterError
from dpselect.mechanisms import base
from dpselect.mechanisms.catalogue import ExponentialMechanism, PermuteAndFlip
from dpselect.mechanisms.score_intervals import checked_interval
from dpselect.mechanisms.sequence import NoisySequence, SequenceNoise
from dpselect.objective import Facts, Objective
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.release import Release

RIGHT = 0.95
"""Probability that the ``k`` drawn are the right ones, at which the leads are compared."""

POINTS, END, MOST_LEAD = 512, 16.0, 320.0
"""Parts of the noise, and its ends in units of its scale; the probability beyond is e^-16."""

LEAST, NEGLIGIBLE = 5e-324, 1e-12
"""The least float above 0, and the probability of parts that are left out."""

Noise: TypeAlias = Callable[[float], float]
"""The logarithm of a distribution function."""


def gap(unit: str, *, one: bool) -> str:
    """Return the unit of an error bound on ``one`` candidate, or on each of several."""
    return f"{unit} below the best" + ("" if one else " not yet drawn, in each draw")


class Known(TypedDict, total=False):
    """What can be known of scores on all data."""

    attained: float | None
    """The best score, if it is the same on all data."""

    largest: float
    """The largest error that there can be."""


@dataclass(frozen=True)
class TopK:
    """Choice among the mechanisms of the ``k`` best, by public facts.

    Attributes:
        mechanism: The mechanism, with the public facts of the objective filled in.
        k: Number of candidates; 1 if there is a threshold.
        above: Smallest noisy score of a released candidate, instead of ``k``.
        interval: The probability that intervals of the scores hold, if they are asked for.
    """

    mechanism: base.Mechanism
    k: int
    above: float | None = None
    interval: float | None = None

    @classmethod
    def choose(
        cls,
        facts: Objective | Facts,
        *,
        k: int | None,
        above: float | None,
        mechanism: base.MechanismLike | None,
        rounds: base.Mechanism,
        sequence: NoisySequence | None = None,
        of: str = "candidates",
        interval: float | None = None,
    ) -> TopK:
        """Return the named mechanism, or by default the more accurate one.

        Args:
            facts: What is public of the objective; no score is read.
            k: Number of candidates.
            above: Threshold, instead of ``k``; for a noisy sequence only.
            mechanism: The mechanism as it was named; None by default.
            rounds: The mechanism to draw by if none was named and rounds are more accurate; its
                epsilon is that of the release.
            sequence: A noisy sequence with the public facts of more than these candidates,
                such as those of all groups; one with the facts of the objective if not given.
            of: Name of the candidates in error messages.
            interval: The probability of intervals; for a noisy sequence only.

        Raises:
            ParameterError: Not one of ``k`` and ``above`` is given, it is out of range, or the
                mechanism cannot have a threshold.
        """
        validation.one_given(k=k, above=above)
        sequence = sequence or NoisySequence(epsilon=rounds.epsilon).for_objective(facts)
        count = 1 if k is None else validation.some_of("k", k, len(facts), of)
        if mechanism is not None:
            chosen = base.by_name(mechanism, rounds.epsilon)
            if isinstance(chosen, NoisySequence):
                chosen = replace(chosen, **vars(sequence))
        elif above is not None:
            chosen = sequence
        else:
            chosen = rounds_or_sequence(rounds, facts, count, sequence)
        if not isinstance(chosen, NoisySequence):
            chosen = chosen.for_objective(facts)
            if above is not None:
                raise base.no_threshold()
            if interval is not None:
                raise ParameterError(
                    "`interval` is for noisy scores, which rounds have not: give "
                    "`mechanism`='noisy-sequence'"
                )
        return cls(
            chosen,
            count,
            None if above is None else validation.finite("above", above),
            None if interval is None else checked_interval(interval),
        )

    @property
    def spend(self) -> Spend:
        """The price."""
        return self.mechanism.spend(self.mechanism.purpose, self.k)

    def error(
        self, facts: Objective | Facts, unit: str, **known: Unpack[Known]
    ) -> ErrorBound | None:
        """Return a bound on the distance of a drawn candidate below one that is left out.

        None with a threshold.

        Args:
            facts: What is public of the objective.
            unit: Unit of the scores.
            known: Facts of the scores, as ``Mechanism.error_bound`` takes them.
        """
        if self.above is not None:
            return None
        below = gap(unit, one=self.k == 1)
        return self.mechanism.single_round(self.k).error_bound(facts, below, **known)

    def plan(
        self,
        facts: Objective | Facts,
        unit: str,
        *,
        public: tuple[str, ...],
        passes: int = 0,
        **known: Unpack[Known],
    ) -> Plan:
        """Return the plan of a release of this draw alone.

        Args:
            facts: The objective, or what is public of it.
            unit: What scores count.
            public: What is declared public.
            passes: How many queries of an engine the counts take.
            known: As for ``error``.
        """
        return Plan(
            mechanism=str(self.mechanism),
            spends=(self.spend,),
            epsilon=self.mechanism.epsilon,
            delta=self.spend.times * self.spend.delta,
            neighbours=facts.sensitivity.neighbours,
            public=public,
            error=self.error(facts, unit, **known),
            passes=passes,
        )

    def prepare_positions(
        self, objective: Objective, *, draws: int = 1
    ) -> Callable[[], base.Drawn]:
        """Return the draw of positions, after everything that can fail.

        Args:
            objective: The scores.
            draws: How many draws there are, independent of each other, whose intervals hold at
                once: with the ``draws``-th root of the probability in each.
        """
        k = base.checked_k(self.k, objective)
        draw = self.mechanism.prepare(objective, k, self.above)
        if self.interval is None or not isinstance(self.mechanism, NoisySequence):
            return draw
        released_ones = k if self.above is None else None
        held = self.interval ** (1 / draws)
        intervals = self.mechanism.intervals(len(objective), released_ones, held)

        def with_intervals() -> base.Drawn:
            found = draw()
            noisy = found.noisy_scores or ()
            best = found.next_best if self.above is None else self.above
            return found._replace(
                interval=intervals.around(noisy),
                certain=intervals.certain(noisy, -inf if best is None else best),
            )

        return with_intervals

    def prepare(self, objective: Objective) -> Callable[[Plan], Release[Any]]:
        """Return the draw of a release."""
        return base.released(objective.candidates, self.prepare_positions(objective))


def rounds_or_sequence(
    mechanism: base.Mechanism, objective: Objective | Facts, k: int, sequence: NoisySequence
) -> base.Mechanism:
    """Return the mechanism, or a noisy sequence of its epsilon if that resolves more.

    A noisy sequence is taken if, at the smallest lead of ``k`` candidates at which it releases
    these ``k`` with probability 0.95, rounds of the mechanism do so with a smaller one.

    Args:
        mechanism: ``PermuteAndFlip`` or ``ExponentialMechanism``; any other is returned.
        objective: Only public facts of it are read: the number of candidates, the bound,
            ``l1``, ``step`` and whether it is monotone. Without ``l1`` the mechanism is
            returned.
        k: Number of candidates that will be drawn.
        sequence: The sequence to compare with; it may be one of all groups, of which the
            rounds draw in one.
    """
    if not isinstance(mechanism, PermuteAndFlip | ExponentialMechanism):
        return mechanism
    if objective.sensitivity.l1 is None:
        return mechanism
    others = len(objective) - base.checked_k(k, objective)
    if others == 0:
        return sequence
    factor = 1 if objective.monotone else 2
    scale = factor * k * objective.sensitivity.bound / mechanism.epsilon
    lead = _least_lead(k, others, sequence.noise) * sequence.noise_scale
    noise = _exponential if isinstance(mechanism, PermuteAndFlip) else _gumbel
    return mechanism if _by_rounds(noise, k, others, lead / scale) >= RIGHT else sequence


def or_gaussian(
    sequence: NoisySequence, delta: float, objective: Objective | Facts, k: int | None
) -> NoisySequence:
    """Return the sequence, or one with Gaussian noise if that resolves more.

    The one is taken that releases ``k`` candidates with probability 0.95 at the smallest lead;
    above a threshold, or of all candidates, the one with less noise.

    Args:
        sequence: With Laplace noise.
        delta: What Gaussian noise may cost; 0 permits none.
        objective: Only the number of candidates is read.
        k: Number of candidates that will be drawn; None above a threshold.
    """
    if delta == 0:
        return sequence
    both = sequence, replace(sequence, noise="gaussian", delta=delta)
    others = 0 if k is None else len(objective) - base.checked_k(k, objective)
    if k is None or others == 0:
        return min(both, key=lambda one: one.deviation)
    return min(both, key=lambda one: _least_lead(k, others, one.noise) * one.noise_scale)


@lru_cache(maxsize=1024)
def _least_lead(k: int, others: int, noise: SequenceNoise) -> float:
    """Return the lead, in scales of the noise, with which the right ``k`` are first."""
    of = _laplace if noise == "laplace" else _normal
    return boundary(lambda lead: _at_once(of, k, others, lead) >= RIGHT, 0.0, MOST_LEAD)[1]


def _at_once(noise: Noise, k: int, others: int, lead: float) -> float:
    """Return the probability that ``k`` with a lead are before all others, noise added once."""
    return sum(part * exp(k * noise(lead - x)) for x, part in _best(noise, others))


def _by_rounds(noise: Noise, k: int, others: int, lead: float) -> float:
    """Return the probability that each of ``k`` rounds draws one of those with a lead."""
    best = [(noise(x - lead), part) for x, part in _best(noise, others)]
    log_right = 0.0
    for left in range(k, 0, -1):
        wrong = sum(part * exp(left * behind) for behind, part in best)
        if wrong >= 1:
            return 0.0
        log_right += log1p(-wrong)
    return exp(log_right)


@lru_cache(maxsize=64)
def _best(noise: Noise, others: int) -> list[tuple[float, float]]:
    """Return where the largest noise of others is, with the probability of each part."""
    step = (2 * END + log(others)) / POINTS
    ends = [at * step - END for at in range(POINTS + 1)]
    upto = [exp(others * noise(x)) for x in ends]
    parts = zip(ends, upto, upto[1:], strict=False)
    return [(x + step / 2, end - low) for x, low, end in parts if end - low > NEGLIGIBLE]


def _laplace(x: float) -> float:
    """Return the log of the distribution function."""
    return x - log(2) if x < 0 else log1p(-exp(-x) / 2)


def _normal(x: float) -> float:
    return log(max(erfc(-x / sqrt(2)) / 2, LEAST))


def _exponential(x: float) -> float:
    return log(max(-expm1(-max(x, 0.0)), LEAST))


def _gumbel(x: float) -> float:
    return -exp(min(-x, LARGEST_EXPONENT))
