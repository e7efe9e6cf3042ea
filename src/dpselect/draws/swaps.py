r"""Laws over subsets that depend only on the number of swaps, and their exact draw.

The distance of two subsets of size :math:`d` of :math:`n` people is the number of swaps
between them. :math:`N_a = \binom{d}{a}\binom{n-d}{a}` subsets are at distance :math:`a` from
a given one.

The distance of a release has probability :math:`\propto N_a e^{-\varepsilon a}`, numbers that
floats would round. So a uniform real number is drawn bit by bit and compared with integer
bounds of the running sums: :math:`N_{a+1}/N_a = (d-a)(n-d-a)/(a+1)^2` is a fraction, and
:math:`e^{-\varepsilon}` is enclosed by :func:`~dpselect.draws.exp_bounds.exp_minus`, for
``epsilon`` the binary fraction that the float is. If the bits so far leave two distances
possible, more are drawn and the bounds made finer. The law is the stated one and not one
close to it, so privacy needs no margin; and since it depends on public numbers alone, so does
the time of the draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import log
from secrets import randbelow, randbits

import numpy as np

from dpselect.draws.door import sampler
from dpselect.draws.exp_bounds import exp_minus
from dpselect.typing import Values

FIRST_BITS = 192
"""Bits that leave a draw open with probability below 2^-160, also for 10^6 people."""


@dataclass(frozen=True, slots=True)
class Part:
    r"""Distances that share one total mass, each subset with :math:`e^{-\text{decay}\, a}`.

    Attributes:
        first: The smallest distance.
        last: The largest distance.
        mass: Probability of the part, > 0.
        decay: In nats per swap, >= 0.
    """

    first: int
    last: int
    mass: float
    decay: float


@dataclass(frozen=True, slots=True)
class DistanceLaw:
    """A law over the subsets of size ``d``, made of one or two parts.

    Attributes:
        n: Number of people.
        d: Number of members, of the true subset and of the released one.
        parts: Disjoint, in the order of their distances; the masses sum to 1. Distances in
            no part have probability 0.
    """

    n: int
    d: int
    parts: tuple[Part, ...]

    def log_weights(self) -> Values:
        """Return the log of the probability of *each* subset, by distance."""
        sizes = log_sizes(self.n, self.d)
        weights = np.full(sizes.size, -np.inf)
        for part in self.parts:
            at = np.arange(part.first, part.last + 1)
            tilted = -part.decay * (at - part.first)
            weights[at] = tilted + log(part.mass) - log_sum(tilted + sizes[at])
        return weights

    def masses(self) -> Values:
        """Return the probability of each distance, shape ``(min(d, n - d) + 1,)``; public."""
        return np.exp(self.log_weights() + log_sizes(self.n, self.d))


def log_sizes(n: int, d: int) -> Values:
    """Return the log of the number of subsets at each distance, 0 to ``min(d, n - d)``.

    In logarithms, since a million people have binomials of 300,000 digits.
    """
    from scipy.special import gammaln

    a = np.arange(min(d, n - d) + 1, dtype=np.float64)
    return (
        gammaln(d + 1.0)
        - gammaln(d - a + 1)
        + gammaln(n - d + 1.0)
        - gammaln(n - d - a + 1)
        - 2 * gammaln(a + 1)
    )


def log_sum(logs: Values) -> float:
    """Return the log of the sum of numbers that are given by their logs."""
    top = float(logs.max())
    return top + log(float(np.exp(logs - top).sum()))


@sampler
def draw_distance(law: DistanceLaw) -> int:
    """Draw the distance of a release, exactly; its law is :meth:`DistanceLaw.masses`."""
    part = _draw_part(law.parts)
    bits, uniform = FIRST_BITS, randbits(FIRST_BITS)
    while True:
        distance = decided(law, part, uniform, bits)
        if distance is not None:
            return distance
        uniform, bits = (uniform << bits) | randbits(bits), 2 * bits


def _draw_part(parts: tuple[Part, ...]) -> Part:
    """Draw a part; of two, the second has exactly the mass that the caller gave."""
    if len(parts) == 1:
        return parts[0]
    mass = Fraction(parts[1].mass)
    return parts[int(randbelow(mass.denominator) < mass.numerator)]


def decided(law: DistanceLaw, part: Part, uniform: int, bits: int) -> int | None:
    """Return the distance that every real number beginning with these bits is drawn to.

    With ``S`` the sum of the weights up to a distance and ``W`` that of the rest, the
    distance ends at ``S / (S + W)``, which increases in ``S`` and decreases in ``W``: its
    upper bound has the upper bound of ``S`` and the lower one of ``W``, and its lower bound
    the others.

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


@dataclass(frozen=True, slots=True)
class _Window:
    """Bounds of the weights near the largest one, which is ``2^bits``.

    Attributes:
        first: The distance of the first weight in the window.
        least: Lower bounds.
        most: Upper bounds.
        left: Upper bound of the sum of all weights before the window; 0 is a lower one.
        right: The same of all weights after it.
    """

    first: int
    least: list[int]
    most: list[int]
    left: int
    right: int

    @classmethod
    def of(cls, law: DistanceLaw, part: Part, bits: int) -> _Window:
        """Return the window of a part, with weights to ``bits`` bits."""
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

    Beyond the mode the ratios of neighbouring weights stay below 1, so all the weights that
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
