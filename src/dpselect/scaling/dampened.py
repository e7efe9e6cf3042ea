"""Local dampening: scores measured in accumulated sensitivities.

With ``b_i = ∑_(j<i) δ(x, j, r)``, the dampened score is the piecewise linear function with
``D(±b_i) = ±i``: by the sensitivity function, the least number of neighbour steps to a database
with score 0.
"""

from __future__ import annotations

import numpy as np

from dpselect.objective import Objective
from dpselect.scaling.by_global import finite
from dpselect.sensitivity import Sensitivity
from dpselect.typing import Scores, Values


@finite
def dampened(objective: Objective) -> Scores:
    """Return the dampened scores ``D_(u,δ)(x, r)``.

    They move by at most 1 under one neighbour step if the sensitivity is admissible, for scores
    of either sign (Lemma 4). With ``δ = Δ`` they are ``u/Δ``.

    Returns:
        Shape ``(n,)``, of the scores' signs. As private as the scores.

    Source: Farias et al., VLDB J. 2023, Definition 12. Where the sensitivity is 0 up to some
        distance, ``D(0) = 0`` and larger scores start beyond it; the paper leaves 0/0
        undefined.
    """
    return dampen(objective.scores, objective.sensitivity)


def dampen(values: Values, sensitivity: Sensitivity) -> Values:
    """Dampen any values that one neighbour step moves as the sensitivity says.

    Args:
        values: Shape ``(n,)``, finite.
        sensitivity: For ``n`` candidates, or flat.
    """
    heights = np.abs(values)
    at = sensitivity.locate(heights)
    # A zero width means a zero height: nothing else ends on a flat stretch of the sums.
    width = np.where(at.width > 0, at.width, 1.0)
    return np.where(
        heights > 0, np.sign(values) * (at.steps + (heights - at.start) / width), 0.0
    )
