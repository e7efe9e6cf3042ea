"""Unevenness of counts below a node, and what one record changes of it.

Where a node is released whole, its count is shared evenly by the ``n_v`` leaves below it. The
leaves are then wrong, without noise, by

    D_v = ∑_(l below v) |c_l - (∑_(k below v) c_k)/n_v|

in all. One record more, at a leaf ``l``, changes ``D_v`` of the nodes above ``l`` alone, and of
these a cut has exactly one. So what it changes of the sums of two cuts differs by at most what
it changes of ``D_u`` and of ``D_v`` for two nodes on one path, where that of a leaf is 0.

**Theorem.** Of two nodes on one path, ``v`` below ``u``, the changes differ by at most
``4 - 2/n_v - 2 n_v/n_u``; of one node it is at most ``2 - 2/n_v``. *Proof.* Let ``c_l`` grow
by a real number. While ``j`` of the leaves of ``v`` are above their mean, ``D_v`` grows by
``2(1 - j/n_v)`` for each unit if ``l`` is one of them, and falls by ``2j/n_v`` if not; either
is at most ``2 - 2/n_v``. Let it grow in ``v`` and fall in ``u``. Then all leaves of ``v`` that
have at most ``c_l`` are not above the mean of ``u``, so at most ``n_u - n_v + j - 1`` leaves of
``u`` are: the rates differ by at most ``4 - 2j/n_v - 2(n_v - j + 1)/n_u``, which is largest for
``j = 1``. Let it fall in ``v`` and grow in ``u``. Then the ``j ≤ n_v - 1`` leaves of ``v`` that
are above their mean have more than ``c_l`` and are above the mean of ``u``, as ``l`` is: the
rates differ by at most ``2j/n_v + 2 - 2(j + 1)/n_u``, which is largest for ``j = n_v - 1``.
Both are the number above. ∎ It is largest for the root as ``u``, and below 4 always.

Unevenness is rounded down to multiples of 2^-10. So either change is off by less than one such
step, and their difference, an integer of steps, is at most one above the bound rounded up:
which is attained.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from dpselect.extend import Indices
from dpselect_applications.levels.hierarchy import Shape

STEPS = 2**10
"""Steps of one record."""


def unevenness(shape: Shape, counts: Indices) -> Indices:
    """Return the unevenness below each node, in steps, rounded down; private.

    Args:
        shape: The tree.
        counts: Count of each leaf, shape ``(leaves,)``, >= 0.
    """
    found = np.zeros(len(shape.children), dtype=np.int64)
    sizes = shape.leaves.tolist()
    for node in np.flatnonzero(shape.leaves > 1).tolist():
        below, size = counts[shape.first[node] : shape.last[node]], sizes[node]
        whole, rest = divmod(int(np.abs(size * below - below.sum()).sum()), size)
        found[node] = whole * STEPS + rest * STEPS // size
    return found


def largest_difference(shape: Shape) -> Fraction:
    """Return by how much one record changes two cuts differently, at most, in records."""
    sizes = sorted({int(one) for one in shape.leaves if one > 1})
    all_ = sizes[-1]
    pairs = (4 - Fraction(2, one) - Fraction(2 * one, all_) for one in sizes[:-1])
    return max([2 - Fraction(2, all_), *pairs])


def largest_step(shape: Shape) -> int:
    """Return the same of unevenness that is rounded, in steps."""
    return ceil(STEPS * largest_difference(shape)) + 1
