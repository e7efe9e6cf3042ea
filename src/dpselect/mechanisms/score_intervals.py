"""Intervals of released noisy scores, and which candidates are certainly among the best.

All ``n`` scores had independent noise of a public distribution, and the ``k`` largest noisy
scores were released with their candidates, or all from a public threshold on. What is said here
is a function of these, so it costs nothing, and the answer is the same with and without it.

Guarantee:
    Coverage, on all data, for the scores of the records that are counted, where ``draws.grid``
    does not clamp them; the noise is random. With probability ``1 - α`` at least all released
    intervals hold their scores. Below a noisy score is what no noise exceeds, of all ``n``:
    whichever are released. Above it is what no noise of ``k`` candidates falls below: let ``T``
    be ``k`` with the largest scores. If one that is not of ``T`` is released, one of ``T`` is
    not, whose score is no smaller and whose noisy score is no larger, so its noise is no
    larger, too. (From a threshold on, of ``n``.)

    With probability ``1 - α`` at least all that are called sure have one of the ``k``
    largest scores: fewer than ``k`` candidates have a larger one. If a released ``r`` has not,
    some ``t`` of ``T`` is left out, and ``u_t ≥ u_r + 1`` in steps. Its noisy score is at
    most the largest that is left out, so ``Z_r - Z_t`` exceeds the lead of ``r`` ahead of
    that; and the largest noise of ``n - k`` candidates less the least of ``k`` exceeds
    ``lead`` with probability ``α`` at most, by their exact distributions. From a threshold on,
    one is sure if its interval lies at or above the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log1p
from typing import TYPE_CHECKING

from dpselect import validation
from dpselect._numbers import least
from dpselect._optional import np
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.draws.sequence import Noise

MOST = 0.999999
"""The largest probability of an interval."""

ROUNDING = 1e-6
"""Relative; more than floats add to a probability."""

CELLS = 2**14
"""Values of the largest noise that are told apart, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreIntervals:
    """Intervals of the scores of one noisy sequence; public.

    Attributes:
        probability: That all of them hold, at least; in (0, 1).
        noise: On each score, in steps.
        step: One step, in score units.
        off: By how many steps a score can differ from the integer that got the noise.
        candidates: How many there are.
        k: Number of released candidates; None if all above a threshold are released.
    """

    probability: float
    noise: Noise
    step: float
    off: int
    candidates: int
    k: int | None

    @property
    def missed(self) -> float:
        """The probability that something said is wrong, at most."""
        return (1 - self.probability) * (1 - ROUNDING)

    @property
    def reach(self) -> tuple[float, float]:
        """How far an interval reaches below and above a noisy score, in score units."""
        beside = self.candidates, self.candidates if self.k is None else self.k
        low, high = (self._largest(one, self.missed / 2) + self.off for one in beside)
        return low * self.step, high * self.step

    @property
    def lead(self) -> float:
        """The least lead of a sure candidate ahead of the largest left out, in score units."""
        k = self.candidates if self.k is None else self.k
        others = self.candidates - k
        if others == 0:
            return 0.0
        far = self._largest(self.candidates, self.missed / 1024)
        size = max(1, ceil((2 * far + 1) / CELLS))
        # Ends of cells of values of the largest noise of the others; the last has all beyond.
        ends = np.arange(-far + size - 1, far + 1, size, dtype=np.float64)
        upto = np.append(np.exp(others * self.noise.log_at_most(ends)), 1.0)
        cells = np.diff(upto, prepend=0.0)

        def is_enough(lead: int) -> bool:
            beyond = -np.expm1(k * self.noise.log_at_most(lead - ends))
            return float(cells[:-1] @ beyond + cells[-1]) <= self.missed

        return (least(is_enough) + self.off) * self.step

    def _largest(self, candidates: int, missed: float) -> int:
        """Return what the largest noise of so many exceeds with so small a probability."""
        most = log1p(-missed)
        return least(
            lambda d: (
                candidates * float(self.noise.log_at_most(np.array([float(d)]))[0]) >= most
            )
        )

    def around(self, noisy: tuple[float, ...]) -> tuple[tuple[float, float], ...]:
        """Return the interval of each released noisy score."""
        below, above = self.reach
        return tuple((one - below, one + above) for one in noisy)

    def certain(self, noisy: tuple[float, ...], next_best: float) -> tuple[bool, ...]:
        """Return which released candidates are certainly among the best.

        Args:
            noisy: Their noisy scores.
            next_best: The largest noisy score that was left out; or the threshold.
        """
        ahead = self.reach[0] if self.k is None else self.lead
        return tuple(one - next_best >= ahead for one in noisy)


def checked_interval(probability: object) -> float:
    """Return the probability of intervals.

    Raises:
        ParameterError: It is out of range.
    """
    if not 0 < (number := validation.finite("interval", probability)) <= MOST:
        raise ParameterError(
            f"`interval` must be a probability between 0 and 1, as 0.95, and at most {MOST}"
        )
    return number
