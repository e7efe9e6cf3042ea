"""Conditions on what is claimed of all scores together: their l1, and their common step."""

from __future__ import annotations

import numpy as np

from dpselect.audit.report import Finding
from dpselect.audit.universe import TOLERANCE, Tables


def l1_bound(tables: Tables) -> Finding:
    r"""Check :math:`\sum_r |u(x, r) - u(y, r)| \le l_1` for all neighbours, if so claimed."""
    states = "one neighbour step changes all scores by at most l1 together"
    l1 = tables.objectives[0].sensitivity.l1
    if l1 is None:
        return Finding("l1", f"{states} (not claimed)", ok=True, excess=0.0)
    excess = np.abs(tables.steps).sum(axis=1) - l1
    pair = int(excess.argmax())
    return Finding(
        "l1",
        states,
        ok=bool(excess[pair] <= TOLERANCE * l1),
        excess=float(excess[pair]),
        worst=tables.witness(int(tables.universe.left[pair]), int(tables.universe.right[pair])),
    )


def multiples(tables: Tables) -> Finding:
    """Check that all scores are integer multiples of the step, if so claimed."""
    states = "all scores are integer multiples of the step"
    step = tables.objectives[0].step
    if step is None:
        return Finding("step", f"{states} (not claimed)", ok=True, excess=0.0)
    excess = np.abs(tables.scores - np.rint(tables.scores / step) * step)
    x, r = (int(i) for i in np.unravel_index(excess.argmax(), excess.shape))
    return Finding(
        "step",
        states,
        ok=bool(excess[x, r] <= TOLERANCE * step),
        excess=float(excess[x, r]),
        worst=tables.witness(x, candidate=r),
    )
