"""Exact Bernoulli draws: flips of bits, and selections by a count.

The largest probabilities by which something may be revealed, in closed form.

By the distance ``n`` to what is not to be revealed, which one neighbour step changes by at most
1, they are

    π(0) = 0, π(n + 1) = min(e^ε π(n) + δ, 1 - e^(-ε) (1 - π(n) - δ), 1).

The first term is the smaller one while ``π(n) ≤ (1 - δ)/(1 + e^ε)``, so up to some ``n_1``, and
beyond it, with ``m = n - n_1``,

    π(n) = δ (1 - e^(-nε))/(e^(-(n - 1)ε) (1 - e^(-ε))),
    1 - π(n) = (1 - π(n_1)) e^(-mε) - δ (1 - e^(-mε))/(e^ε - 1).

Source: Desfontaines, Voss, Gipson and Mandayam 2022, arXiv:2006.03684, Theorem 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from dpselect._numbers import least
from dpselect._optional import np
from dpselect.draws.exact import samplers as source
from dpselect.draws.exact.inversion import Powers
from dpselect.draws.exact.samplers import WORD, sampler
from dpselect.errors import ParameterError
from dpselect.typing import Bools, Indices, Probabilities

BITS = 256
"""Probabilities by a count are multiples of 2^-256."""

TABLE = 2**12
"""Up to so many counts the probabilities of all are computed, whichever are there."""

_REST = BITS - WORD

LEAST_DELTA = 2.0**-100
"""Below it the rounding of the probabilities would be more than delta leaves for it."""

LARGEST_EPSILON = 200.0
"""In closed form; a larger one would change no probability by more than 2^-256."""

_WORK = 640
"""Bits of the powers of e. The quotients of the closed form lose at most 256 of them."""


class Chances(Protocol):
    """Probabilities by an integer, public; frozen, and equal where they are the same."""

    @property
    def sure(self) -> int:
        """An integer from which on the probability is 1."""

    def __getitem__(self, count: int, /) -> int:
        """Return the probability of an integer from 0 to ``sure``, over 2^256."""


@sampler
def flipped(bits: Sequence[bool], chance: Fraction) -> list[bool]:
    """Flip each bit independently with probability exactly ``chance``.

    Guarantee:
        ``m ln((1-ρ)/ρ)``-DP where one neighbour step changes at most ``m`` bits, with ρ the
        chance, above 0 and at most 1/2.

    Args:
        bits: Private; their number is public.
        chance: In [0, 1]. Public.
    """
    over, under = chance.numerator, chance.denominator
    return [bool(bit) != (source.randbelow(under) < over) for bit in bits]


@sampler
def select(counts: Indices, chances: Chances) -> Bools:
    """Draw for every count, independently, whether it is selected.

    A uniform integer of 256 bits is compared with the chance. Its upper 64 bits decide but with
    probability ``2^-64``; only then the lower ones are drawn.

    Args:
        counts: Shape ``(n,)``, >= 0. Private.
        chances: By the count. Public.

    Returns:
        Shape ``(n,)``; a release.
    """
    place = up_to(counts, chances)
    if chances.sure <= TABLE:
        used = range(chances.sure + 1)
    else:
        known, place = np.unique(place, return_inverse=True)
        used = known.tolist()
    table = [chances[count] for count in used]
    # A chance of 1 is 2^256, which has an upper word of 2^64: no drawn word reaches it.
    sure = np.array([one >= 1 << BITS for one in table], dtype=np.bool_)
    upper = np.array([min(one >> _REST, 2**WORD - 1) for one in table], dtype=np.uint64)
    drawn = source.words(counts.size)
    selected = drawn < upper[place]
    for tie in np.flatnonzero(drawn == upper[place]):
        selected[tie] = source.randbits(_REST) < table[place[tie]] % 2**_REST
    return selected | sure[place]


@sampler
def reveal(leader: tuple[int, int], chances: Chances) -> int | None:
    """Return a position with a probability that depends on its lead, or None.

    Args:
        leader: The position, and an integer >= 0. Private.
        chances: By the integer. Public.
    """
    position, lead = leader
    drawn = source.randbits(BITS)
    return position if drawn < chances[min(lead, chances.sure)] else None


def probabilities_of(chances: Chances, counts: Indices) -> Probabilities:
    """Return the probabilities of counts of any shape."""
    used, place = np.unique(up_to(counts, chances), return_inverse=True)
    table = np.array([chances[one] / 2**BITS for one in used.tolist()])
    return table[place].reshape(np.shape(counts))


def up_to(counts: Indices, chances: Chances) -> Indices:
    """Return counts cut where the probability is 1."""
    return np.minimum(counts, min(chances.sure, np.iinfo(np.int64).max))


@dataclass(frozen=True, slots=True)
class OptimalChances:
    """The largest probabilities for some epsilon and delta, as integers over 2^256.

    They are those of ``δ (1 - 2^-44)`` rounded down. With ``r = 2^-255`` above the error of one
    of them, both constraints are kept to ``r + 2r/δ``, which is less than the rest of delta: in
    the first one ``e^ε π(n)`` has at most the relative error ``r/δ`` of ``π(n) ≥ δ``, and
    matters below 2 only. Both hold exactly for the integers.

    Attributes:
        epsilon: Finite, > 0.
        delta: In [2^-100, 1).

    Raises:
        ParameterError: ``delta`` is too small.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if self.delta < LEAST_DELTA:
            raise ParameterError(
                "delta is too small: almost nothing would ever be released; give at least "
                "2**-100"
            )

    def __getitem__(self, count: int) -> int:
        """Return the probability of a distance >= 0."""
        whole = 1 << BITS
        if self._is_flat:
            return min(count * self._step >> _WORK - BITS, whole)
        if count <= _turn(self):
            return min(self._grown(count) >> _WORK - BITS, whole)
        missing = self._missing(count)
        return whole + (-missing >> _WORK - BITS) if missing > 0 else whole

    @property
    def sure(self) -> int:
        """The least distance whose probability is 1."""
        return _sure(self)

    def least(self, chance: int) -> int:
        """Return the least distance with such a probability, over 2^256."""
        return least(lambda count: self[count] >= chance)

    @property
    def _is_flat(self) -> bool:
        """Whether epsilon is so small that the chances are multiples of delta to all digits."""
        return self.epsilon < self.delta * 2.0**-50

    @property
    def _step(self) -> int:
        return int(Fraction(self.delta) * ((1 << _WORK) - (1 << _WORK - 44)))

    def grows_until(self) -> int:
        """Return the first distance of the second piece."""
        low, high = self._decay(1)
        limit = ((1 << _WORK) - self._step) * low // ((1 << _WORK) + high)
        return least(lambda count: self._grown(count) > limit)

    def _grown(self, count: int) -> int:
        """Return the first piece, rounded down."""
        if count == 0:
            return 0
        whole = 1 << _WORK
        numerator = self._step * (whole - self._decay(count)[1]) << _WORK
        return numerator // (self._decay(count - 1)[1] * (whole - self._decay(1)[0]))

    def _missing(self, count: int) -> int:
        """Return what the second piece lacks to 1, rounded up; negative beyond its end."""
        whole, high = 1 << _WORK, self._decay(count - _turn(self))[1]
        first = -(-(whole - self._grown(_turn(self))) * high >> _WORK)
        low = self._decay(1)[0]
        return first - self._step * low * (whole - high) // (whole - low << _WORK)

    def _decay(self, count: int) -> tuple[int, int]:
        """Return bounds of the power of e for a multiple of epsilon."""
        return Powers(Fraction(min(self.epsilon, LARGEST_EPSILON)), _WORK).at(count)


# Cached by the chances, not in them: they are equal whatever was computed from them.


@lru_cache(maxsize=64)
def _sure(chances: OptimalChances) -> int:
    return chances.least(1 << BITS)


@lru_cache(maxsize=64)
def _turn(chances: OptimalChances) -> int:
    return chances.grows_until()
