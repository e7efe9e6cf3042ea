"""Many exact coins at once: each comes up with a probability from a public table."""

from __future__ import annotations

from os import urandom

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.door import sampler
from dpselect.typing import Indices

BITS = 128
"""Probabilities are multiples of 2^-128."""

_WORD = 64


@sampler
def select(counts: Indices, chances: tuple[int, ...]) -> NDArray[np.bool_]:
    r"""Toss one coin for every count, independently, and return which came up.

    A uniform integer of 128 bits is compared with the chance. Its upper 64 bits decide but
    with probability :math:`2^{-64}`; only then the lower ones are drawn.

    Args:
        counts: Shape ``(n,)``, >= 0. Private.
        chances: By the count, as integers over :math:`2^{128}`, from that of count 0 on; a
            count beyond has the last. Public.

    Returns:
        Shape ``(n,)``; a release.
    """
    table = np.array([(one >> _WORD, one & (2**_WORD - 1)) for one in chances], dtype=object)
    # A chance of 1 is 2^128, which has an upper half of 2^64: no drawn integer reaches it.
    sure = np.array([one >= 1 << BITS for one in chances])
    upper = np.where(sure, 2**_WORD - 1, table[:, 0]).astype(np.uint64)
    lower = table[:, 1].astype(np.uint64)
    place = np.minimum(counts, len(chances) - 1)
    drawn = np.frombuffer(urandom(8 * counts.size), dtype=np.uint64)
    up = drawn < upper[place]
    for tie in np.flatnonzero(drawn == upper[place]):
        up[tie] = int.from_bytes(urandom(8)) < int(lower[place[tie]])
    return up | sure[place]
