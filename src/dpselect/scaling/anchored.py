r"""Anchored local dampening: dampened distances of the scores to a public anchor.

Plain dampening compares every score with 0 and is most precise near 0, while a draw needs
precision among the *best* candidates. Here the distances to a public anchor, at or above the
best possible score, are dampened instead.
"""

from __future__ import annotations

import numpy as np

from dpselect import validation
from dpselect._twofold import Twofold
from dpselect.objective import Objective
from dpselect.scaling.by_global import finite
from dpselect.scaling.dampened import dampen_near
from dpselect.typing import Scores


@finite
def anchored(objective: Objective, anchor: float) -> Scores:
    """Return ``D(u - A)`` for a public anchor ``A``: the paper's shift by a finite number.

    ``u - A`` has the sensitivity of ``u``, so Lemma 4 holds for any anchor, even one below some
    scores; the error is smallest with an anchor just above the best score that can occur. The
    default is the ``highest`` of the objective. A score that is the anchor leads by the
    distances at which its sensitivity is 0, as a score of 0 does in ``dampened``.

    Args:
        objective: Scores with an admissible sensitivity.
        anchor: Score units, finite. Public.

    Returns:
        Shape ``(n,)``, less a common translation where the best one is further than 2^29 from
        0. As private as the scores.

    Source: Farias et al., VLDB J. 2023, Definition 12 and section 4.2.
    """
    highest = np.array([validation.finite("anchor", anchor), 0.0])
    heights = objective.less(Twofold(*highest[:, None]))
    return dampen_near(heights, objective)
