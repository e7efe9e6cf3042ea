"""The largest probabilities by which something may be revealed, in closed form.

By the distance ``n`` to what is not to be revealed, which one neighbour step changes by at most
1, they are

    π(0) = 0, π(n + 1) = min(e^ε π(n) + δ, 1 - e^(-ε) (1 - π(n) - δ), 1).

The first term is the smaller one while ``π(n) ≤ (1 - δ)/(1 + e^ε)``, so up to some ``n_1``, and
beyond it, with ``m = n - n_1``,

    π(n) = δ (1 - e^(-nε))/(e^(-(n - 1)ε) (1 - e^(-ε))),
    1 - π(n) = (1 - π(n_1)) e^(-mε) - δ (1 - e^(-mε))/(e^ε - 1).

Source: Desfontaines, Voss, Gipson and Mandayam 2022, arXiv:2006.03684, Theorem 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpselect._numbers import least
from dpselect.draws.exact.bernoulli import BITS
from dpselect.draws.exact.exp_bounds import Powers
from dpselect.errors import ParameterError

LEAST_DELTA = 2.0**-100
"""Below it the rounding of the probabilities would be more than delta leaves for it."""

LARGEST_EPSILON = 200.0
"""In closed form; a larger one would change no probability by more than 2^-256."""

_WORK = 640
"""Bits of the powers of e. The quotients of the closed form lose at most 256 of them."""


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
