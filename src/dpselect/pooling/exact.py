r"""Exact draws: distances by bits and whole numbers, subsets by whole numbers.

The distance :math:`a` of a release has probability :math:`\propto N_a e^{-\varepsilon a}`,
numbers that floats would round. So a uniform real number is drawn bit by bit and held
against bounds of the running sums in whole numbers: :math:`N_{a+1}/N_a =
(d-a)(n-d-a)/(a+1)^2` is a fraction, and :math:`e^{-\varepsilon}` lies between two whole
numbers over a power of two (:func:`exp_minus`), for ``epsilon`` the binary fraction that the
float is. If the bits so far leave two distances possible, more are drawn and the bounds made
finer. The law is the stated one and not one close to it, so privacy needs no margin; and as
it hangs on public numbers alone, so does the time it takes.

Randomness comes from the operating system, through :mod:`secrets`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from secrets import SystemRandom, randbelow, randbits

import numpy as np

from dpselect.pooling.classes import DistanceLaw, Part, log_sizes

SYSTEM = SystemRandom()
"""Its ``sample`` draws whole numbers below a bound by rejection, without floats."""

FIRST_BITS = 192
"""Bits that leave a draw open with a chance below 2^-160, also for 10^6 people."""


def draw_distance(law: DistanceLaw) -> int:
    """Draw the distance of a release, exactly."""
    part = _draw_part(law.parts)
    bits, uniform = FIRST_BITS, randbits(FIRST_BITS)
    while True:
        distance = decided(law, part, uniform, bits)
        if distance is not None:
            return distance
        uniform, bits = (uniform << bits) | randbits(bits), 2 * bits


def draw_subset_at(distance: int, members: list[int], others: list[int]) -> list[int]:
    """Swap ``distance`` members for others, uniformly; sorted, so the order tells nothing."""
    kept = SYSTEM.sample(members, len(members) - distance)
    return sorted(kept + SYSTEM.sample(others, distance))


def decided(law: DistanceLaw, part: Part, uniform: int, bits: int) -> int | None:
    """Return the distance that every real number beginning with these bits is drawn to.

    With sums S of the weights before, W of the rest, a boundary is at S / (S + W), which
    increases in S and decreases in W: its bounds take the one from above and the other
    from below.

    Args:
        law: The law; only its ``n`` and ``d`` are used.
        part: The part to draw from.
        uniform: The first ``bits`` bits of a number in [0, 1).
        bits: How many.

    Returns:
        ``None`` if more bits are needed.
    """
    window = _Window.of(law, part, bits)
    most_before = [window.left, *accumulate(window.most, initial=window.left)][1:]
    least_before = list(accumulate(window.least, initial=0))
    most_after, least_all = most_before[-1] + window.right, least_before[-1]
    for at, distance in enumerate(range(window.first, window.first + len(window.least))):
        most, least = most_before[at], least_all - least_before[at]
        starts_before = (uniform * (most + least)) >= most << bits
        least, most = least_before[at + 1], most_after - most_before[at + 1]
        ends_after = (uniform + 1) * (least + most) <= least << bits
        if starts_before and ends_after:
            return distance
    return None


def exp_minus(x: Fraction, bits: int) -> tuple[int, int]:
    r"""Return whole numbers with :math:`\text{low} \le 2^\text{bits} e^{-x} \le \text{high}`.

    The series of :math:`e^{-y}`, :math:`y = x / 2^k \le 1`, alternates and its terms fall,
    so what is cut off is below the first term left out; then it is squared k times.
    """
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 1)
    over = x.denominator << halvings
    low_term = high_term = low = high = 1 << bits
    for j in range(1, bits):
        low_term = low_term * x.numerator // (over * j)
        high_term = -(-high_term * x.numerator // (over * j))
        low, high = (
            (low - high_term, high - low_term)
            if j % 2
            else (
                low + low_term,
                high + high_term,
            )
        )
        if high_term <= 1:
            break
    low, high = max(low - 1, 0), high + 1
    for _ in range(halvings):
        low, high = (low * low) >> bits, -(-(high * high) >> bits)
    return low, high


def _draw_part(parts: tuple[Part, ...]) -> Part:
    """Draw a part; of two, the second has exactly the mass that the caller gave."""
    if len(parts) == 1:
        return parts[0]
    mass = Fraction(parts[1].mass)
    return parts[int(randbelow(mass.denominator) < mass.numerator)]


@dataclass(frozen=True, slots=True)
class _Window:
    """Bounds of the weights near the largest one, which is 2^bits.

    Attributes:
        first: The distance of the first weight in the window.
        least: Lower bounds.
        most: Upper bounds.
        left: Upper bound of the sum of all weights before the window; 0 is a lower one.
        right: The same behind it.
    """

    first: int
    least: list[int]
    most: list[int]
    left: int
    right: int

    @classmethod
    def of(cls, law: DistanceLaw, part: Part, bits: int) -> _Window:
        at = np.arange(part.first, part.last + 1)
        mode = part.first + int(np.argmax(log_sizes(law.n, law.d)[at] - part.decay * at))
        digits = bits + 64 + int(1.5 * part.decay)
        factor = exp_minus(Fraction(part.decay), digits)
        up = list(_walk(law, range(mode, part.last), factor, digits, bits))
        down = list(_walk(law, range(mode - 1, part.first - 1, -1), factor, digits, bits))
        top = (1 << bits, 1 << bits)
        pairs = [*reversed(down), top, *up]
        return cls(
            first=mode - len(down),
            least=[low for low, _ in pairs],
            most=[high for _, high in pairs],
            left=mode - len(down) - part.first,
            right=part.last - mode - len(up),
        )


def _walk(
    law: DistanceLaw, steps: range, factor: tuple[int, int], digits: int, bits: int
) -> Iterator[tuple[int, int]]:
    """Yield bounds of the weights from the mode outwards, while they are above 1.

    Behind the mode the ratios of neighbouring weights stay below 1, so all the weights that
    are left out are at most 1 as well.
    """
    low = high = 1 << bits
    for a in steps:
        over, under = (law.d - a) * (law.n - law.d - a), (a + 1) ** 2
        if steps.step > 0:
            low = (low * over * factor[0] // under) >> digits
            high = -(-high * over * factor[1] // (under << digits))
        else:
            low = (low * under << digits) // (over * factor[1])
            high = -((-high * under << digits) // (over * factor[0]))
        yield low, high
        if high <= 1:
            return
