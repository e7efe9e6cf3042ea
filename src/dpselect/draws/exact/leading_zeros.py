"""Which of many random words begin with zeros, without drawing those that do not.

Let a word have ``r`` trials that fail with probability ``e^(-1/N)`` each, ``N = 2^20``. How
many fail in a row is a geometric variable of the scale ``N`` (``noisy_counts``), so one is
drawn for each success and none for a failure. A word has a success with probability
``1 - e^(-r/N)``, and one that has is kept with probability ``2^(-z)/(1 - e^(-r/N))``: so it is
kept with probability ``2^(-z)``, as if it begins with ``z`` zeros. ``r = ⌈N/(2^z - 1)⌉`` trials
are enough, since ``-ln(1 - x) ≤ x/(1 - x)``.
"""

from fractions import Fraction
from functools import cache, lru_cache, partial

from dpselect._optional import np
from dpselect.draws.exact import inversion, samplers as source
from dpselect.draws.exact.inversion import Weights, exp_minus
from dpselect.draws.exact.noisy_counts import geometric
from dpselect.draws.exact.samplers import WORD
from dpselect.typing import Bools, Indices, Words

TRIALS = 2**20
"""Trials of which one succeeds in the mean, ``N``: more take more random bits each."""

MOST = 60
"""Zeros, at most, so that a word has bits left."""

FIRST_BIT = 0.7
"""Above ln 2: exponential noise is below it for each zero that its word does not begin with."""


@cache
def rates_by_zeros() -> Indices:
    """Return the trials of a word by its zeros; without any it needs none."""
    return np.array([0, *(-(-TRIALS // (2**zeros - 1)) for zeros in range(1, MOST + 1))])


def struck(sizes: Indices, zeros: Indices) -> tuple[Indices, Indices]:
    """Draw which words of some runs begin with zeros.

    Args:
        sizes: How many words each run has; at most 2^30 in all.
        zeros: How many zeros its words have to begin with, at most ``MOST``.

    Returns:
        The runs of those that do, and their positions in them, each once.
    """
    rates = rates_by_zeros()[zeros]
    ends = (sizes * rates).cumsum()
    last, drawn = -1, [np.empty(0, dtype=np.int64)]
    while last < ends[-1] - 1:
        more = int(1.1 * (ends[-1] - last) / TRIALS) + 4
        drawn.append(last + (geometric(more, float(TRIALS)) + 1).cumsum())
        last = int(drawn[-1][-1])
    success = np.concatenate(drawn)
    success = success[success < ends[-1]]
    run = ends.searchsorted(success, side="right")
    place = (success - (ends - sizes * rates)[run]) // rates[run]
    # One word may have several.
    once = np.flatnonzero(np.diff(run, prepend=-1) | np.diff(place, prepend=-1))
    run, place = run[once], place[once]
    which = np.flatnonzero(kept(zeros[run]))
    whole = np.flatnonzero(zeros == 0)
    of, at = spans(np.zeros_like(whole), sizes[whole])
    return np.append(run[which], whole[of]), np.append(place[which], at)


def spans(first: Indices, sizes: Indices) -> tuple[Indices, Indices]:
    """Return so many positions from a first one on, of each row, and before them the rows."""
    row = np.repeat(np.arange(sizes.size), sizes)
    return row, np.arange(row.size) - np.repeat(sizes.cumsum() - sizes - first, sizes)


def kept(zeros: Indices) -> Bools:
    """Draw which words with a success are kept, by their zeros; one without any always is."""
    words = source.words(zeros.size)
    low, high = _ends()[:, zeros]
    found = words <= low
    for one in np.flatnonzero(~found & (words <= high)).tolist():
        weights = partial(_weights, int(zeros[one]))
        found[one] = inversion.resume(weights, int(words[one]), WORD) == 0
    return found


@lru_cache(maxsize=1)
def _ends() -> Words:
    """Return, by zeros, the last word that is kept, and the last one that may be kept."""
    ends = [[2**WORD - 1, 2**WORD - 1]]
    for zeros in range(1, MOST + 1):
        [[kept, least], most] = _weights(zeros, WORD).least[1:], _weights(zeros, WORD).most[2]
        ends.append([(kept << WORD) // most - 1, min(-(-(kept << WORD) // least), 2**WORD) - 1])
    return np.array(ends, dtype=np.uint64).T


def _weights(zeros: int, bits: int) -> Weights:
    """Return bounds of the weights of a word that is kept and of one that is not."""
    finer = bits + 2 * WORD
    low, high = exp_minus(Fraction(int(rates_by_zeros()[zeros]), TRIALS), finer)
    is_kept = 1 << finer - zeros
    # Together they are what a success has.
    other = [max((1 << finer) - end - is_kept, 0) for end in (high, low)]
    return Weights.of([(is_kept, is_kept), (other[0], other[1])])
