"""Exact coins, each with a probability that a public rule gives to a count."""

from __future__ import annotations

from os import urandom
from secrets import randbits
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.door import sampler
from dpselect.typing import Indices

BITS = 256
"""Probabilities are multiples of 2^-256."""

_WORD = 64

_REST = BITS - _WORD


class Chances(Protocol):
    """Probabilities by an integer, public; frozen, and equal where they are the same."""

    @property
    def sure(self) -> int:
        """An integer from which on the probability is 1."""

    def __getitem__(self, count: int, /) -> int:
        """Return the probability of an integer from 0 to ``sure``, over 2^256."""


@sampler
def select(counts: Indices, chances: Chances) -> NDArray[np.bool_]:
    r"""Toss one coin for every count, independently, and return which came up.

    A uniform integer of 256 bits is compared with the chance. Its upper 64 bits decide but
    with probability :math:`2^{-64}`; only then the lower ones are drawn.

    Args:
        counts: Shape ``(n,)``, >= 0. Private.
        chances: By the count. Public.

    Returns:
        Shape ``(n,)``; a release.
    """
    used, place = np.unique(up_to(counts, chances), return_inverse=True)
    table = [chances[count] for count in used.tolist()]
    # A chance of 1 is 2^256, which has an upper half of 2^64: no drawn integer reaches it.
    sure = np.array([one >= 1 << BITS for one in table], dtype=np.bool_)
    upper = np.array([min(one >> _REST, 2**_WORD - 1) for one in table], dtype=np.uint64)
    drawn = np.frombuffer(urandom(8 * counts.size), dtype=np.uint64)
    up = drawn < upper[place]
    for tie in np.flatnonzero(drawn == upper[place]):
        up[tie] = randbits(_REST) < table[place[tie]] % 2**_REST
    return up | sure[place]


@sampler
def reveal(leader: tuple[int, int], chances: Chances) -> int | None:
    """Return a position with a probability that depends on its lead, or None.

    Args:
        leader: The position, and an integer >= 0. Private.
        chances: By the integer. Public.
    """
    position, lead = leader
    return position if randbits(BITS) < chances[min(lead, chances.sure)] else None


def up_to(counts: Indices, chances: Chances) -> Indices:
    """Return counts cut where the probability is 1."""
    return np.minimum(counts, min(chances.sure, np.iinfo(np.int64).max))
