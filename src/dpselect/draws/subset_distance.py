"""Distributions over subsets that depend only on the number of swaps, and exact draws by them.

The distance of two subsets of size ``d`` of ``n`` people is the number of swaps between them.
``N_a = binom(d, a) binom(n-d, a)`` subsets are at distance ``a`` from a given one.

The distance of a release has probability ``∝ N_a e^(-ε a)``, numbers that floats would round.
So it is drawn by inversion (``dpselect.draws.exact.inversion``): ``N_(a+1)/N_a =
(d-a)(n-d-a)/(a+1)^2`` is a fraction, and ``e^(-ε)`` is enclosed by integers, for ``epsilon``
the binary fraction that the float is. The distribution is the stated one and not one close to
it, so privacy needs no margin; and since it depends on public numbers alone, so does the time
of the draw.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import log

import numpy as np

from dpselect.draws.exact import inversion, samplers as source
from dpselect.draws.exact.inversion import Weights, exp_minus
from dpselect.draws.exact.samplers import sampler
from dpselect.draws.exact.uniform import sample
from dpselect.typing import Values

FIRST_BITS = 192
"""Bits that leave a draw open with probability below 2^-160, also for 10^6 people."""


@dataclass(frozen=True, slots=True)
class Part:
    """Distances that share one total mass, each subset with ``e^(-decay a)``.

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
class DistanceDistribution:
    """A distribution over the subsets of size ``d``, made of one or two parts.

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
def draw_distance(distribution: DistanceDistribution) -> int:
    """Draw the distance of a release exactly, with the probabilities ``masses()``."""
    return inversion.draw(
        partial(weights, distribution, _draw_part(distribution.parts)), FIRST_BITS
    )


def _draw_part(parts: tuple[Part, ...]) -> Part:
    """Draw a part; of two, the second has exactly the mass that the caller gave."""
    if len(parts) == 1:
        return parts[0]
    mass = Fraction(parts[1].mass)
    return parts[int(source.randbelow(mass.denominator) < mass.numerator)]


def weights(distribution: DistanceDistribution, part: Part, bits: int) -> Weights:
    """Return bounds of the weights near the largest one, which is ``2^bits``.

    Args:
        distribution: The distribution; only its ``n`` and ``d`` are used.
        part: The part to draw from.
        bits: How many.
    """
    at = np.arange(part.first, part.last + 1)
    mode = part.first + int(
        np.argmax(log_sizes(distribution.n, distribution.d)[at] - part.decay * at)
    )
    digits = bits + 64 + int(1.5 * part.decay)
    factor = exp_minus(Fraction(part.decay), digits)
    up = list(_walk(distribution, range(mode, part.last), factor, digits, bits))
    down = list(_walk(distribution, range(mode - 1, part.first - 1, -1), factor, digits, bits))
    first = mode - len(down)
    # All weights that are left out are at most 1.
    return Weights.of(
        [*reversed(down), (1 << bits, 1 << bits), *up],
        first=first,
        before=first - part.first,
        beyond=part.last - mode - len(up),
    )


def _walk(
    distribution: DistanceDistribution,
    steps: range,
    factor: tuple[int, int],
    digits: int,
    bits: int,
) -> Iterator[tuple[int, int]]:
    """Yield bounds of the weights from the mode outwards, while they are above 1.

    Beyond the mode the ratios of neighbouring weights stay below 1, so all the weights that
    are left out are at most 1 as well.
    """
    low = high = 1 << bits
    for a in steps:
        over, under = (distribution.d - a) * (distribution.n - distribution.d - a), (a + 1) ** 2
        if steps.step > 0:
            low = (low * over * factor[0] // under) >> digits
            high = -(-high * over * factor[1] // (under << digits))
        else:
            low = (low * under << digits) // (over * factor[1])
            high = -((-high * under << digits) // (over * factor[0]))
        yield low, high
        if high <= 1:
            return


@sampler
def swapped(members: Sequence[int], distribution: DistanceDistribution) -> list[int]:
    """Bring a subset to ``distribution.d`` members at random, then swap members.

    A subset that is too large loses members, one that is too small gains strangers,
    uniformly. One that has the distribution's size is at once swapped.

    Args:
        members: Positions, 0 to ``distribution.n - 1``, each once. Private, also their number.
        distribution: Public.

    Returns:
        ``distribution.d`` positions, ascending, so that the order does not depend on the
        members.
    """
    if distribution.d <= len(members):
        brought = sample(members, distribution.d)
    else:
        more = sample(_strangers(members, distribution.n), distribution.d - len(members))
        brought = [*members, *more]
    distance = draw_distance(distribution)
    kept = sample(brought, distribution.d - distance)
    return sorted(kept + sample(_strangers(brought, distribution.n), distance))


@sampler
def joined(members: Sequence[int], n: int, beta: int) -> list[int]:
    """Return the members and ``beta`` of all ``n`` people, drawn uniformly.

    Args:
        members: Positions, 0 to ``n - 1``, each once. Private.
        n: Public.
        beta: 0 to ``n``. Public.

    Returns:
        Positions, ascending, each once.
    """
    return sorted({*members, *sample(range(n), beta)})


def _strangers(members: Sequence[int], n: int) -> list[int]:
    """Return the positions of all others, ascending."""
    inside = set(members)
    return [person for person in range(n) if person not in inside]
