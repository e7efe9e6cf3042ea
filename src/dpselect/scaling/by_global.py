r"""Scores divided by the global sensitivity: :math:`s_r = (u_r - u_*)/\Delta`."""

from __future__ import annotations

from dpselect.objective import Objective
from dpselect.scaling.finite import finite
from dpselect.typing import Scores


@finite
def by_global(objective: Objective) -> Scores:
    r"""Return :math:`s_r = (u_r - u_*)/\Delta`, doubled if the objective is monotone.

    If all scores move in the same direction, each by at most :math:`\Delta`, then no
    difference moves by more than :math:`\Delta`, and the doubled scores are still unit
    scores. The best score :math:`u_*` is subtracted because differences of large scores are
    exact where their quotients are not; a common translation changes no draw.

    Returns:
        Shape ``(n,)``, <= 0. As private as the scores.

    Source: McSherry and Talwar 2007; the monotone case: Dwork and Roth 2014, section 3.4.
    """
    share = 2.0 if objective.monotone else 1.0
    return share * objective.gaps().high / objective.sensitivity.bound
