r"""Runs repeated a hidden number of times, and the exact draw of that number.

The laws of the number are given by the ratios of neighbouring probabilities, which are
fractions. A uniform real number is drawn bit by bit and compared with integer bounds of the
running sums, as in :mod:`dpselect.draws.pieces`: no number is rounded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from secrets import randbits
from typing import TypeVar

from dpselect.draws import uniform
from dpselect.draws.door import sampler, scope

T = TypeVar("T")

FIRST_BITS = 128


@dataclass(frozen=True, slots=True)
class NumberLaw:
    r"""A law of a number, by the ratios of its probabilities.

    .. math:: P(k + 1) = P(k)\, a (k + \eta)/(k + 1), \quad k \ge 1

    for a truncated negative binomial law, :math:`P(k + 1) = P(k)\, a/(k + 1)` from
    :math:`k = 0` on for a Poisson law.

    Attributes:
        factor: :math:`a`; below 1 for the former, the mean for the latter.
        shape: :math:`\eta > -1`; None for a Poisson law.
    """

    factor: Fraction
    shape: Fraction | None

    @property
    def first(self) -> int:
        """The smallest number."""
        return 0 if self.shape is None else 1

    def ratio(self, k: int) -> Fraction:
        """Return ``P(k + 1) / P(k)``."""
        return self.factor * (1 if self.shape is None else k + self.shape) / (k + 1)

    def largest_later(self, k: int) -> Fraction:
        """Return a bound on all ratios from ``k`` on."""
        falls = self.shape is None or self.shape > 1
        return self.ratio(k) if falls else self.factor


@sampler
def draw_number(law: NumberLaw) -> int:
    """Draw a number exactly by its law; it must stay secret."""
    bits, drawn = FIRST_BITS, randbits(FIRST_BITS)
    while True:
        number = decided(law, drawn, bits)
        if number is not None:
            return number
        drawn, bits = (drawn << bits) | randbits(bits), 2 * bits


def decided(law: NumberLaw, drawn: int, bits: int) -> int | None:
    """Return the number that every real number beginning with these bits is drawn to.

    Args:
        law: The law.
        drawn: The first ``bits`` bits of a number in [0, 1).
        bits: How many.

    Returns:
        ``None`` if more bits are needed.
    """
    least, most, beyond = _sums(law, bits)
    # k has the share [S(k - 1), S(k)) of the whole sum.
    at = min(bisect_right(least, (drawn * least[-1]) >> bits), len(least) - 1)
    starts_before = at == 0 or drawn * least[-1] >= most[at - 1] << bits
    ends_after = (drawn + 1) * (most[-1] + beyond) <= least[at] << bits
    return law.first + at if starts_before and ends_after else None


@lru_cache(maxsize=4)
def _sums(law: NumberLaw, bits: int) -> tuple[list[int], list[int], int]:
    """Return bounds of the running sums of weights, and of all weights beyond them."""
    low = high = 1 << (2 * bits + 64)
    least, most, total = [low], [high], high
    k = law.first
    while True:
        bound = law.largest_later(k)
        if bound < 1:
            # A geometric series from the next weight on.
            beyond = -(-high * bound.numerator // (bound.denominator - bound.numerator))
            if beyond <= total >> (bits + 32):
                return list(accumulate(least)), list(accumulate(most)), beyond
        ratio = law.ratio(k)
        low = low * ratio.numerator // ratio.denominator
        high = -(-high * ratio.numerator // ratio.denominator)
        least.append(low)
        most.append(high)
        total += high
        k += 1


@scope
def best_of(
    runs: Sequence[Callable[[], tuple[float, T]]],
    law: NumberLaw,
    threshold: float | None,
    cost: Callable[[float], float],  # noqa: ARG001 -- for replays, which know what a run uses
) -> tuple[float, T] | None:
    """Run random ones of several a random number of times, and keep the best.

    Args:
        runs: Each returns a score and an output; what they read is private.
        law: Of the number of runs.
        threshold: Return the first run with at least this score, and no other.
        cost: Epsilon of the whole, by that of a run.

    Returns:
        Of runs with equal scores the first; None if there was no run, or none that reached
        the threshold.
    """
    best: tuple[float, T] | None = None
    for _ in range(draw_number(law)):
        [which] = uniform.sample(range(len(runs)), 1)
        found = one_run(runs[which])
        if threshold is not None and found[0] >= threshold:
            return found
        if threshold is None and (best is None or found[0] > best[0]):
            best = found
    return best


@scope
def one_run(run: Callable[[], tuple[float, T]]) -> tuple[float, T]:
    """Run one; a score that is no number counts as the lowest."""
    score, output = run()
    return (float("-inf") if score != score else float(score)), output  # noqa: PLR0124 -- NaN
