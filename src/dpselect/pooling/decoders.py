"""Combinatorial decoders: COMP, DD and SCOMP.

Each takes a design of shape ``(pools, people)`` and one outcome for each pool, and returns
one truth value for each person. Pools without a valid result are left out of both.

The noise-tolerant forms are the same with thresholds above their noiseless 0 and 1.

Source: Chan et al. 2011 (COMP and its noisy form); Aldridge, Baldassini and Johnson 2014,
arXiv:1306.6438 (DD, SCOMP); Scarlett and Johnson 2020, arXiv:1808.04457 (noisy DD).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import _validate
from dpselect.pooling import designs
from dpselect.pooling.assay import Outcomes, checked_outcomes
from dpselect.pooling.designs import Design

if TYPE_CHECKING:
    from dpselect.pooling.kernels import Links


def comp(
    design: ArrayLike, outcomes: ArrayLike, *, negative_allowed: int = 0
) -> NDArray[np.bool_]:
    """Return everybody who is in at most ``negative_allowed`` negative pools (COMP).

    Without noise and with 0, no positive is missed.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        negative_allowed: Negative pools of a positive person that are put down to noise; 0
            without noise.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    return _candidates(*_read(design, outcomes), negative_allowed)


def dd(
    design: ArrayLike, outcomes: ArrayLike, *, negative_allowed: int = 0, alone_needed: int = 1
) -> NDArray[np.bool_]:
    """Return those who are the only one left by COMP in some positive pool (DD).

    Without noise and with 0 and 1, there are no false positives.

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        negative_allowed: As in :func:`comp`.
        alone_needed: The least number of positive pools to be the only one left in; 1
            without noise.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    from dpselect.pooling.kernels import definite

    matrix, positive = _read(design, outcomes)
    candidates = _candidates(matrix, positive, negative_allowed)
    needed = _validate.at_least("alone_needed", alone_needed, 1)
    linked, everybody = _among(matrix, candidates)
    candidates[candidates] = definite(linked, positive, everybody, needed)
    return candidates


def scomp(
    design: ArrayLike,
    outcomes: ArrayLike,
    *,
    negative_allowed: int = 0,
    alone_needed: int = 1,
    gain_needed: int = 1,
) -> NDArray[np.bool_]:
    """Add to DD the person in most unexplained positive pools, until all are explained (SCOMP).

    Args:
        design: Shape ``(pools, people)``.
        outcomes: Shape ``(pools,)``.
        negative_allowed: As in :func:`comp`.
        alone_needed: As in :func:`dd`.
        gain_needed: A person who explains fewer positive pools is not added; 1 without
            noise.

    Raises:
        DataError: ``outcomes`` is not one truth value for each pool.
    """
    from dpselect.pooling.kernels import covered, definite

    matrix, positive = _read(design, outcomes)
    candidates = _candidates(matrix, positive, negative_allowed)
    alone = _validate.at_least("alone_needed", alone_needed, 1)
    gain = _validate.at_least("gain_needed", gain_needed, 1)
    linked, everybody = _among(matrix, candidates)
    sure = definite(linked, positive, everybody, alone)
    if everybody.size:
        candidates[candidates] = covered(linked, positive, everybody, sure, gain)
    return candidates


def _candidates(design: Design, positive: Outcomes, allowed: int) -> NDArray[np.bool_]:
    if _validate.at_least("negative_allowed", allowed, 0) == 0:
        return np.asarray(~design[~positive].any(axis=0))
    return np.asarray(design[~positive].sum(axis=0) <= allowed)


def _among(design: Design, candidates: NDArray[np.bool_]) -> tuple[Links, NDArray[np.bool_]]:
    """Return the design of the candidates alone, who are few, and a mark for each."""
    from dpselect.pooling.kernels import links

    among = np.ascontiguousarray(design[:, candidates])
    return links(among), np.ones(among.shape[1], dtype=np.bool_)


def _read(design: ArrayLike, outcomes: ArrayLike) -> tuple[Design, Outcomes]:
    matrix = designs.checked(design)
    return matrix, checked_outcomes(outcomes, matrix)
