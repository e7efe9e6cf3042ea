"""Exact Bernoulli draws: flips of bits, and selections by a count."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.exact import bits as source
from dpselect.draws.exact.bits import WORD
from dpselect.draws.exact.samplers import sampler
from dpselect.typing import Indices

BITS = 256
"""Probabilities by a count are multiples of 2^-256."""

TABLE = 2**12
"""Up to so many counts the probabilities of all are computed, whichever are there."""

_REST = BITS - WORD


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
def select(counts: Indices, chances: Chances) -> NDArray[np.bool_]:
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


def up_to(counts: Indices, chances: Chances) -> Indices:
    """Return counts cut where the probability is 1."""
    return np.minimum(counts, min(chances.sure, np.iinfo(np.int64).max))
