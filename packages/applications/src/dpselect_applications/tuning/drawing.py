"""Runs repeated a hidden number of times, and the exact draw of that number.

The distributions of the number are given by the ratios of neighbouring probabilities, which are
fractions. It is drawn by inversion (``dpselect.draws.exact.inversion``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import inf, isnan
from typing import Generic, TypeAlias, TypeVar

from dpselect.errors import ParameterError
from dpselect.extend import LOSSES, Weights, inversion, name_of, sampler, scope, secret, uniform

T = TypeVar("T")

FIRST_BITS = 64
"""Bits that leave a draw open with probability below 2^-45; more would ask for more weights."""

Cost: TypeAlias = Callable[[float], tuple[float, Callable[[float], float] | None]]
"""Epsilon of the best of runs of an epsilon, and its delta for each epsilon if one is known."""


@dataclass(frozen=True, slots=True)
class NumberDistribution:
    """A distribution of a number, by the ratios of its probabilities.

        P(k + 1) = P(k) a (k + η)/(k + 1), k ≥ 1

    for a truncated negative binomial distribution, ``P(k + 1) = P(k) a/(k + 1)`` from ``k = 0``
    on for a Poisson distribution.

    Attributes:
        factor: ``a``; below 1 for the former, the mean for the latter.
        shape: ``η > -1``; None for a Poisson distribution.
    """

    factor: Fraction
    shape: Fraction | None

    @property
    def first(self) -> int:
        """The smallest number."""
        return 0 if self.shape is None else 1

    def ratio(self, k: int) -> tuple[int, int]:
        """Return the numerator and the denominator of ``P(k + 1) / P(k)``, without division."""
        over, under = self.factor.as_integer_ratio()
        if self.shape is None:
            return over, under * (k + 1)
        top, bottom = self.shape.as_integer_ratio()
        return over * (k * bottom + top), under * bottom * (k + 1)

    def largest_later(self, k: int) -> tuple[int, int]:
        """Return a bound on all ratios from ``k`` on, likewise."""
        falls = self.shape is None or self.shape > 1
        return self.ratio(k) if falls else self.factor.as_integer_ratio()


@sampler
def draw_number(distribution: NumberDistribution) -> int:
    """Draw a number exactly by its distribution; it must stay secret."""
    return inversion.draw(partial(weights, distribution), FIRST_BITS)


LOSSES[name_of(draw_number)] = secret


@lru_cache(maxsize=4)
def weights(distribution: NumberDistribution, bits: int) -> Weights:
    """Return bounds of the weights of numbers; the first one's is ``2^(2 bits + 64)``."""
    low = high = total = 1 << (2 * bits + 64)
    bounds, k = [(low, high)], distribution.first
    while True:
        if high <= total >> (bits + 32):
            # A geometric series from the next weight on: weights fall since the largest one.
            over, under = distribution.largest_later(k)
            beyond = -(-high * over // (under - over))
            if beyond <= total >> (bits + 32):
                return Weights.of(bounds, first=distribution.first, beyond=beyond)
        over, under = distribution.ratio(k)
        low, high = low * over // under, -(-high * over // under)
        bounds.append((low, high))
        total += high
        k += 1


@dataclass(slots=True)
class Trials(Generic[T]):
    """Runs of randomly picked candidates, of which the best is kept.

    Attributes:
        left: The number of runs that are left. Secret.
        candidates: The number of candidates to pick from.
        threshold: A score that ends the runs and is alone released; None to keep the best.
        best: The best so far, the first of those with equal scores; or what reached the
            threshold. Secret before the end.
    """

    left: int
    candidates: int
    threshold: float | None
    best: tuple[float, T] | None = None

    def ask(self) -> int | None:
        """Return the candidate to run next; None at the end."""
        if self.left == 0:
            return None
        self.left -= 1
        return uniform.sample(range(self.candidates), 1)[0]

    def tell(self, score: float, output: T) -> None:
        """Take what a run returned; a score of NaN counts as the lowest.

        No number is an error, whatever its size: one of a run that is not released is secret.
        """
        refusal = ParameterError(
            f"the score of a run must be a number, not a {type(score).__name__}"
        )
        if isinstance(score, str | bytes | bytearray):
            raise refusal
        try:
            score = float(score)
        except OverflowError:
            score = inf if score > 0 else -inf
        except (TypeError, ValueError):
            raise refusal from None
        score = -inf if isnan(score) else score
        if self.threshold is not None:
            if score >= self.threshold:
                self.left, self.best = 0, (score, output)
        elif self.best is None or score > self.best[0]:
            self.best = score, output


@scope
def best_of(
    runs: Sequence[Callable[[], tuple[float, T]]],
    distribution: NumberDistribution,
    threshold: float | None,
    cost: Cost,  # noqa: ARG001 -- for replays, which know what a run uses
) -> tuple[float, T] | None:
    """Run randomly chosen candidates a random number of times; keep the best.

    Args:
        runs: Each returns a score and an output; what they read is private.
        distribution: Distribution of the number of runs. Public.
        threshold: Return the first run with at least this score, and no other.
        cost: What the whole costs, by the epsilon of a run.

    Returns:
        The first of those with equal scores; None if there was no run, or none that reached
        the threshold.
    """
    trials = Trials[T](draw_number(distribution), len(runs), threshold)
    while (which := trials.ask()) is not None:
        trials.tell(*one_run(runs[which]))
    return trials.best


@scope
def one_run(run: Callable[[], tuple[float, T]]) -> tuple[float, T]:
    """Run one."""
    return run()
