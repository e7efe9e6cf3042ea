r"""Whether scaled scores are unit scores: one neighbour step moves them by at most 1.

Draws see differences between unit scores only, so it is enough, and this is what is checked,
that no difference moves by more than 2:
:math:`\max_r (s_r(y) - s_r(x)) - \min_r (s_r(y) - s_r(x)) \le 2`. Scalings that do not
subtract the best score promise more, that no score moves by more than 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np

from dpselect import _validate, scaling
from dpselect.audit.report import Finding
from dpselect.audit.sums import LONGEST, overrides
from dpselect.audit.tables import TOLERANCE, Tables
from dpselect.errors import ParameterError
from dpselect.objective import Objective
from dpselect.typing import Scores

Scaling: TypeAlias = Callable[[Objective], Scores]
"""From an objective to its unit scores, as in :mod:`dpselect.scaling`."""

_TOO_LONG = (
    f"the horizon is above {LONGEST} and the shortfall has no closed form; see "
    "dpselect.sensitivity.jump_to_bound"
)

MOVES_EACH_BY_ONE = frozenset({"dampened", "anchored", "pairwise", "generalized"})
"""Names of the scalings of which every score, not only every difference, is checked."""


def default_scalings(tables: Tables) -> tuple[dict[str, Scaling], tuple[str, ...]]:
    """Return all scalings of the library by name, and those that would take too long.

    The anchor is the best score of the whole universe, and hence public.
    """
    scalings: dict[str, Scaling] = {
        "by_global": scaling.by_global,
        "dampened": scaling.dampened,
        "anchored": partial(scaling.anchored, anchor=float(tables.scores.max())),
        "pairwise": scaling.pairwise,
        "generalized": partial(scaling.generalized, t=1),
    }
    if any(_too_long(one) for one in tables.objectives):
        return scalings, (f"unit scores: shifted, as {_TOO_LONG}",)
    scalings["shifted, non-decreasing"] = partial(scaling.shifted, direction="non-decreasing")
    scalings["shifted, non-increasing"] = partial(scaling.shifted, direction="non-increasing")
    return scalings, ()


def _too_long(one: Objective) -> bool:
    sensitivity = one.sensitivity
    closed = sensitivity.flat or overrides(sensitivity, "shortfall")
    return not closed and sensitivity.horizon > LONGEST


def checked_scalings(scalings: Mapping[str, Scaling]) -> Mapping[str, Scaling]:
    """Return scalings that are named functions.

    Raises:
        ParameterError: They are not.
    """
    _validate.instance("scalings", scalings, Mapping)
    if not all(map(callable, scalings.values())):
        raise ParameterError("scalings must map names to functions of an Objective")
    return scalings


def unit_scores(tables: Tables, name: str, scale: Scaling) -> Finding:
    """Check one scaling on all pairs of neighbours."""
    scores = np.array([scale(one) for one in tables.objectives])
    left, right = tables.universe.left, tables.universe.right
    steps = scores[right] - scores[left]
    excess = np.ptp(steps, axis=1) / 2 - 1
    states = "no difference of two scores moves by more than 2"
    if name in MOVES_EACH_BY_ONE:
        excess = np.maximum(excess, np.abs(steps).max(axis=1) - 1)
        states = "no score moves by more than 1"
    pair = int(excess.argmax())
    return Finding(
        f"unit scores: {name}",
        states,
        ok=bool(excess[pair] <= TOLERANCE),
        excess=float(excess[pair]),
        worst=tables.witness(
            int(left[pair]), int(right[pair]), candidate=int(np.abs(steps[pair]).argmax())
        ),
    )
