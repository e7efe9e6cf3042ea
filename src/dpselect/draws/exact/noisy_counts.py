"""Exact noise on counts: discrete Laplace and discrete Gaussian, many numbers at once.

A geometric variable has ``P(G = g) = (1 - α)α^g`` with ``α = e^(-1/scale)``. With the binary
digits of ``g`` that is a product of ``α^(2^i)`` over the digits that are 1, so the digits are
independent: digit ``i`` is 1 with probability ``z_i/(1 + z_i)``, ``z_i = α^(2^i)``. Digits are
drawn up to the first ``m`` with ``z_m ≤ e^-45``; what is beyond is ``2^m`` times another
geometric variable, whose steps have probability ``z_m``.

Discrete Laplace noise ``Z`` is below 0 with probability ``α/(1 + α)``, as a digit 0 is 1. Then
it is ``-1 - G``, else ``G``: both have ``P(Z = z) = ((1 - α)/(1 + α)) α^(|z|)``.

Discrete Gaussian noise is proposed with a fair sign and the size ``|Z| = 2^b G + L``, of a
geometric variable ``G`` of scale ``t/2^b``, ``t = ⌊σ⌋ + 1``, and a uniform ``L`` of ``b`` bits,
to which 1 is added for the sign minus, so that there is one zero. It is accepted with
probability ``e^(-L/t - (|Z| - σ^2/t)^2/2σ^2)``, since

    (|z| - l)/t + l/t + (|z| - σ^2/t)^2/(2σ^2) = z^2/(2σ^2) + σ^2/(2t^2).

Where only the ``k`` largest counts with Laplace noise are asked for, nearly no noise is drawn.
The ``k`` largest of the counts themselves get theirs first: ``k`` noisy counts are at least the
least of these, ``b``, so none that is less is asked for. A count ``b - g`` below ``b`` is

    b + j with probability P(Z = g + j) = P(G ≥ g) P(Z = j), j ≥ 0,

and whether a ``G`` is at least ``g`` is known by a few bits of it (``lazy_noise.reaches``). If
it is, the count gets noise as if it were ``b``: if not, or if this noise is below 0, the count
is below ``b``. The noise of the others has nothing to do with ``b``: all this holds given it.

Every digit, and every acceptance, compares a uniform real number with its probability: 16 or 64
random bits against bounds of it, and where these leave it open, which is rare, more bits
against closer bounds (``dpselect.draws.exact.inversion``). So the distribution is the stated
one.

Source: Canonne, Kamath and Steinke, NeurIPS 2020, arXiv:2004.00010, Algorithm 3.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import floor, inf, log2, nextafter
from typing import NamedTuple

from dpselect._numbers import least
from dpselect._optional import np
from dpselect.draws.exact import inversion, lazy_noise, samplers as source
from dpselect.draws.exact.inversion import Weights, exp_minus
from dpselect.draws.exact.samplers import WORD, sampler
from dpselect.errors import ParameterError
from dpselect.typing import Array, Bools, Indices, Values

LARGEST_SCALE = 2.0**50
"""Above it the noise of a count could meet the ends of 64-bit integers."""

SHORT = 16
"""Bits that decide nearly every digit; reading more of them would be what noise costs."""

UNEVEN = 5
"""Binary digits of sizes in scales that are drawn each with its own probability."""

FAR = 45
"""e^-45 is below 2^-64: digits from there on are 1 for less than one word in 2^64."""

CHUNK = 2**12
"""Variables that are drawn at once, so that all words stay in a processor's cache."""

ENDS = 2**62
"""Variables, and 64-bit counts with noise, are clamped to it."""


@sampler
def discrete_laplace(
    counts: Indices, scale: float, *, k: int | None = None, least: int | None = None
) -> Indices:
    """Add independent discrete Laplace noise, ``P(z) ∝ e^(-|z|/scale)``.

    Guarantee:
        ``(m/scale)``-DP where one neighbour step moves the counts by at most ``m`` in all
        (``ℓ_1``).

    Args:
        counts: Integers, shape ``(n,)``; Python's where 64 bits do not hold them. Private.
        scale: At least the quotient above, rounded up (``scale_for``); finite, > 0, at most
            ``LARGEST_SCALE``. Public.
        k: How many of the largest noisy counts are asked for; all if not given. Public.
        least: Those alone that are at least this are asked for. Public.

    Returns:
        Shape ``(n,)``, int64 or Python's integers; a release. Those that are not asked for
        may be less, and nearly all are ``-ENDS``. Ties with the ``k``-th largest are right.

    Raises:
        ParameterError: ``counts`` are not integers, or ``scale`` is out of its range.
    """
    exact = _checked(counts, scale)
    if exact.dtype.kind == "O" or (k is None and least is None):
        return _sums(exact, _laplace(exact.size, scale))
    noisy, first = np.full(exact.shape, -ENDS), np.arange(0)
    bar = -ENDS if least is None else least
    if k is not None and k < exact.size:
        first = np.argpartition(exact, -k)[-k:]
        noisy[first] = _sums(exact[first], _laplace(k, scale))
        bar = max(bar, noisy[first].min())
    left = lazy_noise.reaches(bar - exact, scale)
    left[first] = False
    high = np.maximum(exact[left], bar)
    noisy[left] = _sums(high, _laplace(high.size, scale))
    return noisy


@sampler
def discrete_gaussian(counts: Indices, scale: float) -> Indices:
    """Add independent discrete Gaussian noise, ``P(z) ∝ e^(-z^2/2 scale^2)``.

    Guarantee:
        ``ℓ_2^2/(2 scale^2)``-zCDP where the squares of what one neighbour step moves of each
        count add up to at most ``ℓ_2^2``.

    Args:
        counts: Integers, shape ``(n,)``. Private.
        scale: Finite, > 0, at most ``LARGEST_SCALE``. Public.

    Returns:
        Shape ``(n,)``, int64 or Python's integers; a release.

    Raises:
        ParameterError: ``counts`` are not integers, or ``scale`` is out of its range.
    """
    exact = _checked(counts, scale)
    return _sums(exact, _gaussian(exact.size, scale))


def scale_for(epsilon: float, steps: int = 1) -> float:
    """Return the scale for counts that one neighbour step moves by ``steps``, rounded up.

    Args:
        epsilon: What the noisy counts cost together, in nats; > 0.
        steps: The largest change of all counts together; >= 1. Public.
    """
    return nextafter(steps / float(epsilon), inf)


def check_scale(scale: float, of: str = "epsilon", most: float = LARGEST_SCALE) -> None:
    """Check that noise of a scale can be drawn, before anything is spent.

    Args:
        scale: Scale of the noise on integers; public.
        of: The argument that makes it so large.
        most: Largest scale, where noise on multiples of the counts is drawn.

    Raises:
        ParameterError: The scale is above the largest.
    """
    if not scale <= most:
        raise ParameterError(
            f"`{of}` is too small: noise on counts would exceed 2**{log2(most):g}"
        )


def _checked(counts: Indices, scale: float) -> Indices:
    exact = np.asarray(counts)
    if exact.size and exact.dtype.kind not in "iuO":
        raise ParameterError(f"counts must be integers, not {exact.dtype}")
    if not 0 < scale <= LARGEST_SCALE:
        raise ParameterError(f"scale must be above 0 and at most 2**50, got {scale!r}")
    return exact if exact.dtype.kind == "O" else exact.astype(np.int64)


def _sums(counts: Indices, noise: Indices) -> Indices:
    """Return counts with noise, which 64-bit integers hold up to their ends."""
    noisy = counts + noise.reshape(counts.shape)
    return noisy if noisy.dtype.kind == "O" else np.clip(noisy, -ENDS, ENDS)


def _laplace(size: int, scale: float) -> Indices:
    """Return exact discrete Laplace noise."""
    drawn = geometric(size, scale)
    return np.where(_ones(size, _events(scale)[2])[0], -1 - drawn, drawn)


def _gaussian(size: int, scale: float) -> Indices:
    """Return exact discrete Gaussian noise."""
    drawn = [np.empty(0, dtype=np.int64)]
    missing = size
    while missing > 0:
        # Between 0.3 and 0.76 of them are accepted.
        some = min(3 * missing // 2 + 16, lazy_noise.CHUNK)
        noise, last = _proposed(some, scale)
        drawn.append(noise[_accepted(noise, last, scale)][:missing])
        missing -= drawn[-1].size
    return np.concatenate(drawn)


def _proposed(size: int, scale: float) -> tuple[Indices, Indices]:
    """Return proposals, and what of their sizes is uniform."""
    step = floor(scale) + 1
    bits = max(step.bit_length() - UNEVEN, 0)
    words = source.words(size)
    negative = (words & np.uint64(1)).astype(np.int64)
    last = (words >> np.uint64(1) >> np.uint64(WORD - 1 - bits)).astype(np.int64) + negative
    above = np.minimum(geometric(size, step / 2**bits), ENDS >> bits)
    return ((above << bits) + last) * (1 - 2 * negative), last


def _accepted(noise: Indices, last: Indices, scale: float) -> Bools:
    """Return which are accepted: a uniform number is below e to minus the exponent."""
    low, high = _exponents(noise, last, scale)
    known = lazy_noise.bounds(lazy_noise.Noise.EXPONENTIAL, np.zeros_like(noise), 1.0)
    accepted = known.low > high
    for place in np.flatnonzero((known.high >= low) & ~accepted):
        word = int(known.words[0, place])
        x = _exponent(int(noise[place]), int(last[place]), scale)
        accepted[place] = _resolved(word, WORD, x, odds=False)
    return accepted


def _exponents(noise: Indices, last: Indices, scale: float) -> tuple[Values, Values]:
    """Return bounds of the exponents by floats, each operation of which errs by 2^-53."""
    step = floor(scale) + 1
    with np.errstate(over="ignore"):
        far = np.minimum(np.abs(noise) / scale, 2.0**60)  # no exponential variable is as large
    exponents = (far - scale / step) ** 2 / 2 + last / step
    margin = lazy_noise.MARGIN * (far + 1) ** 2
    return exponents - margin, exponents + margin


def _exponent(noise: int, last: int, scale: float) -> Fraction:
    squared, step = Fraction(scale) ** 2, floor(scale) + 1
    return (abs(noise) - squared / step) ** 2 / (2 * squared) + Fraction(last, step)


def geometric(size: int, scale: float) -> Indices:
    """Return exact variables with ``P(g) ∝ e^(-g/scale)``, for samplers."""
    digits, beyond, _ = _events(scale)
    drawn = np.empty(size, dtype=np.int64)
    for first in range(0, size, CHUNK):
        block = drawn[first : first + CHUNK]
        # Bytes of integers are put together: bits would be eight times as many.
        octets = np.zeros((block.size, 8), dtype=np.uint8)
        packed = np.packbits(_ones(block.size, digits), axis=0, bitorder="little")
        octets[:, : len(packed)] = packed.T
        block[:] = octets.view("<i8")[:, 0]
        for place in _ones(block.size, beyond)[0].nonzero()[0]:
            steps = 1
            while _ones(1, beyond)[0, 0]:
                steps += 1
            block[place] += min(steps << len(digits.exponents), ENDS)
    return drawn


class Events(NamedTuple):
    """Events with the probabilities ``e^-x``, or ``z/(1 + z)`` of such a z."""

    exponents: list[Fraction]
    odds: bool
    bounds: Array
    """Shape ``(2, events, 1)``: integers that decide a word (``_bounds``)."""

    @classmethod
    def of(cls, exponents: list[Fraction], *, odds: bool) -> Events:
        """Return events with their bounds."""
        pairs = [_bounds(x, SHORT, odds=odds) for x in exponents]
        # A scale below 1/45 has no digits.
        ends = [[min(end, 2**SHORT - 1) for end in pair] for pair in pairs]
        bounds = np.array(ends, dtype=np.uint16).reshape(-1, 2).T[:, :, None]
        return cls(exponents, odds, bounds)


@lru_cache(maxsize=256)
def _events(scale: float) -> tuple[Events, Events, Events]:
    """Return the digits, the step beyond them, and the sign of discrete Laplace noise."""
    digits = _digits(scale)
    exponents = [2**i / Fraction(scale) for i in range(digits + 1)]
    return (
        Events.of(exponents[:digits], odds=True),
        Events.of(exponents[digits:], odds=False),
        Events.of(exponents[:1], odds=True),
    )


def _digits(scale: float) -> int:
    """Return the first digit that is 1 with probability at most ``e^-45``."""
    return least(lambda digit: 2**digit >= FAR * Fraction(scale))


def _ones(size: int, events: Events) -> Bools:
    """Return which events occur, independently, ``size`` times: shape ``(events, size)``."""
    words = source.words(len(events.exponents), size, bits=SHORT)
    low, high = events.bounds
    ones = words < low
    # Between low and high the word's interval meets the enclosure of the probability.
    unsettled = ones ^ (words < high)
    for event, place in np.argwhere(unsettled) if unsettled.any() else ():
        word, x = int(words[event, place]), events.exponents[event]
        ones[event, place] = _resolved(word, SHORT, x, odds=events.odds)
    return ones


def _resolved(word: int, size: int, x: Fraction, *, odds: bool) -> bool:
    """Return whether a uniform number that starts with these bits is below the probability."""

    def weights(bits: int) -> Weights:
        low, high = _bounds(x, bits, odds=odds)
        return Weights.of([(low, high), ((1 << bits) - high, (1 << bits) - low)])

    return inversion.resume(weights, word, size) == 0


@lru_cache(maxsize=256)
def _bounds(x: Fraction, bits: int, *, odds: bool) -> tuple[int, int]:
    """Return integers that decide a word of so many bits.

    A uniform number in ``[w, w + 1) / 2^bits`` is below the probability if ``w < low``, and not
    below it if ``w ≥ high``.
    """
    # The digits with the smallest probabilities have e^-90; so many more bits enclose those.
    finer = bits + 2 * WORD + 2 * FAR
    low, high = exp_minus(x, finer)
    if odds:
        one = 1 << finer
        low, high = (low << finer) // (one + low), -(-(high << finer) // (one + high))
    return low >> finer - bits, min(-(-high >> finer - bits), 1 << bits)
