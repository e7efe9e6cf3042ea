"""Who is positive, by looking at pools and samples: COMP, DD and SCOMP.

Each takes a design of shape ``(pools, people)`` and one outcome for each pool, and returns
one truth value for each person. Pools without a valid result are left out of both.

The noise-tolerant forms are the same with thresholds above their noiseless 0 and 1.

Source: Chan et al. 2011 (COMP and its noisy form); Aldridge, Baldassini and Johnson 2014,
arXiv:1306.6438 (DD, SCOMP); Scarlett and Johnson 2020, arXiv:1808.04457 (noisy DD).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import _validate
from dpselect.pooling import designs
from dpselect.pooling.assay import Outcomes, checked_outcomes
from dpselect.pooling.kernels import Links, covered, definite, links, possible


def comp(
    design: ArrayLike, outcomes: ArrayLike, *, negative_allowed: int = 0
) -> NDArray[np.bool_]:
    """Take everybody for positive who is in at most ``negative_allowed`` negative pools.

    Without noise and with 0 it misses nobody.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        negative_allowed: Negative pools that noise may explain away; 0 without noise.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    linked, positive = _read(design, outcomes)
    return possible(
        linked, positive, _validate.at_least("negative_allowed", negative_allowed, 0)
    )


def dd(
    design: ArrayLike, outcomes: ArrayLike, *, negative_allowed: int = 0, alone_needed: int = 1
) -> NDArray[np.bool_]:
    """Take those for positive whom COMP leaves as the only one in a positive pool.

    Without noise and with 0 and 1 it takes nobody who is negative.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        negative_allowed: As in :func:`comp`.
        alone_needed: In how many positive pools one must be alone; 1 without noise.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    linked, positive = _read(design, outcomes)
    allowed = _validate.at_least("negative_allowed", negative_allowed, 0)
    needed = _validate.at_least("alone_needed", alone_needed, 1)
    return definite(linked, positive, possible(linked, positive, allowed), needed)


def scomp(
    design: ArrayLike,
    outcomes: ArrayLike,
    *,
    negative_allowed: int = 0,
    alone_needed: int = 1,
    gain_needed: int = 1,
) -> NDArray[np.bool_]:
    """Begin with DD and add who explains most positive pools, until all are explained.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        negative_allowed: As in :func:`comp`.
        alone_needed: As in :func:`dd`.
        gain_needed: Fewer unexplained positive pools than that are left to noise; 1
            without noise.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    linked, positive = _read(design, outcomes)
    allowed = _validate.at_least("negative_allowed", negative_allowed, 0)
    alone = _validate.at_least("alone_needed", alone_needed, 1)
    gain = _validate.at_least("gain_needed", gain_needed, 1)
    candidates = possible(linked, positive, allowed)
    sure = definite(linked, positive, candidates, alone)
    return covered(linked, positive, candidates, sure, gain)


def _read(design: ArrayLike, outcomes: ArrayLike) -> tuple[Links, Outcomes]:
    matrix = designs.checked(design)
    return links(matrix), checked_outcomes(outcomes, matrix)
