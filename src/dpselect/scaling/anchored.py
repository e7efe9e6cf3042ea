r"""Anchored local dampening: dampen the distance to a public anchor.

Plain dampening compares every score with 0, and near 0 it is most precise; but a draw must
tell the *best* candidates apart. With a public anchor at or above the best possible score it
is the distances to the anchor that are dampened.
"""

from __future__ import annotations

from dpselect import _validate
from dpselect.objective import Objective
from dpselect.scaling.dampened import dampen
from dpselect.typing import Scores


def anchored(objective: Objective, anchor: float) -> Scores:
    r"""Return :math:`-D(A - u)` for a public anchor :math:`A`.

    :math:`u - A` has the sensitivity of :math:`u`, so Lemma 4 holds for any anchor, also for
    one below some scores; it serves best just above the best score that can occur.

    Args:
        objective: Scores with an admissible sensitivity.
        anchor: Score units, finite. Public.

    Returns:
        Shape ``(n,)``. As private as the scores.
    """
    return -dampen(_validate.finite("anchor", anchor) - objective.scores, objective.sensitivity)
