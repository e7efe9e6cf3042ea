"""Exact coins, each with a probability from a public table, and the table that is optimal."""

from __future__ import annotations

from fractions import Fraction
from os import urandom
from secrets import randbits

import numpy as np
from numpy.typing import NDArray

from dpselect.draws.door import sampler
from dpselect.draws.exp_bounds import exp_minus
from dpselect.errors import ParameterError
from dpselect.typing import Indices

BITS = 128
"""Probabilities are multiples of 2^-128."""

_WORD = 64

LONGEST = 10**7
"""Entries of a table of probabilities."""


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


@sampler
def reveal(leader: tuple[int, int], chances: tuple[int, ...]) -> int | None:
    """Return a position with a probability that depends on its lead, or None.

    Args:
        leader: The position, and an integer >= 0. Private.
        chances: By the integer, as for :func:`select`. Public.
    """
    position, lead = leader
    return position if randbits(BITS) < chances[min(lead, len(chances) - 1)] else None


def optimal_chances(epsilon: float, delta: float) -> tuple[int, ...]:
    r"""Return the largest probabilities by which something may be revealed, by its distance.

    .. math::

        \pi(0) = 0, \quad \pi(n + 1) = \min\big(e^{\varepsilon} \pi(n) + \delta,\;
        1 - e^{-\varepsilon} (1 - \pi(n) - \delta),\; 1\big)

    where one neighbour step changes the distance to what is not to be revealed by at most 1.

    Args:
        epsilon: Finite, > 0.
        delta: In (0, 1).

    Returns:
        As integers over :math:`2^{128}`, up to 1.

    Raises:
        ParameterError: The table would be too long, or ``delta`` is below 2^-128.

    Source: Desfontaines, Voss, Gipson and Mandayam 2022, arXiv:2006.03684, Theorem 1.
    """
    whole = 1 << BITS
    # Everything is rounded towards a smaller next probability, so that both constraints hold
    # exactly between the numbers that are drawn from.
    high = min(exp_minus(Fraction(epsilon), BITS)[1], whole)
    growth = (whole << BITS) // high
    step = int(Fraction(delta) * whole)
    if step == 0:
        raise ParameterError("delta is too small: nothing would ever be released")
    table = [0]
    while table[-1] < whole:
        last = table[-1] + step
        grown = (growth * table[-1] >> BITS) + step
        left = whole - last
        shrunk = whole + (-high * left >> BITS) if left > 0 else whole
        table.append(min(grown, shrunk, whole))
        if len(table) > LONGEST:
            raise ParameterError("epsilon is too small for a table of probabilities")
    return tuple(table)
