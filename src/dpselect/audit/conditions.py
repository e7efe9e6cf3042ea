r"""The conditions that make a sensitivity admissible and a public claim true.

Each function looks at a whole universe and reports the worst case of one condition.
"""

from __future__ import annotations

from math import inf

import numpy as np

from dpselect.audit.report import Finding, Tightness, Witness
from dpselect.audit.tables import Tables
from dpselect.audit.universe import Universe
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.typing import Values


def public_parts(
    universe: Universe, objectives: tuple[Objective, ...], relation: Neighbours | None
) -> Finding:
    """Compare everything declared public between all databases.

    Args:
        universe: The databases.
        objectives: One per database.
        relation: The relation that the universe was enumerated under, if it is a named one.
    """
    states = "candidates, bounds, horizon, neighbours and monotone are those of every database"
    check = "public parts"
    if relation not in {None, objectives[0].neighbours}:
        return Finding(
            check,
            f"the objective is stated for {objectives[0].neighbours}, the universe is "
            f"enumerated under {relation}",
            ok=False,
            excess=inf,
            worst=Witness(universe.databases[0]),
        )
    for x, one in zip(universe.databases, objectives, strict=True):
        private = _differing_part(objectives[0], one)
        if private:
            return Finding(
                check,
                f"{states}; {private} not",
                ok=False,
                excess=inf,
                worst=Witness(universe.databases[0], x),
            )
    return Finding(check, states, ok=True, excess=0.0)


def _differing_part(first: Objective, other: Objective) -> str:
    a, b = first.sensitivity, other.sensitivity
    same = {
        "the number of candidates is": len(first) == len(other),
        "the candidates are": list(first.candidates) == list(other.candidates),
        "the bound is": np.array_equal(a.bounds, b.bounds) and a.bound == b.bound,
        "the horizon is": a.horizon == b.horizon,
        "the neighbour relation is": a.neighbours is b.neighbours,
        "the monotone claim is": first.monotone == other.monotone,
    }
    return next((name for name, equal in same.items() if not equal), "")


def condition_one(tables: Tables) -> Finding:
    r"""Check :math:`\delta(x, 0, r) \ge LS(x, 0, r)`."""
    excess = tables.local[0] - tables.deltas[0]
    x, r = _position_of_max(excess)
    return Finding(
        "condition (i)",
        "delta(x, 0, r) >= LS(x, 0, r)",
        ok=bool(excess[x, r] <= tables.tolerance),
        excess=float(excess[x, r]),
        worst=tables.witness(x, _farthest_neighbour(tables, x, r), distance=0, candidate=r),
    )


def _farthest_neighbour(tables: Tables, x: int, r: int) -> int | None:
    left, right = tables.universe.left, tables.universe.right
    around = np.concatenate([right[left == x], left[right == x]])
    if around.size == 0:
        return None
    return int(around[np.abs(tables.scores[around, r] - tables.scores[x, r]).argmax()])


def condition_two(tables: Tables) -> Finding:
    r"""Check :math:`\delta(x, t + 1, r) \ge \delta(y, t, r)` for :math:`d(x, y) \le 1`."""
    everywhere = np.arange(len(tables.universe))
    xs = np.concatenate([everywhere, tables.universe.left, tables.universe.right])
    ys = np.concatenate([everywhere, tables.universe.right, tables.universe.left])
    excess = tables.deltas[:-1, ys] - tables.deltas[1:, xs]
    t, pair, r = _position_of_max(excess)
    return Finding(
        "condition (ii)",
        "delta(x, t + 1, r) >= delta(y, t, r)",
        ok=bool(excess[t, pair, r] <= tables.tolerance),
        excess=float(excess[t, pair, r]),
        worst=tables.witness(int(xs[pair]), int(ys[pair]), distance=t, candidate=r),
    )


def bounded(tables: Tables) -> Finding:
    r"""Check that :math:`\delta \le \Delta_r` up to the horizon, and :math:`\Delta` from there.

    Without the jump to :math:`\Delta` the limit of the shifted mechanism may not exist.
    """
    worst, where = -inf, Witness(tables.universe.databases[0])
    for x, one in enumerate(tables.objectives):
        sensitivity = one.sensitivity
        for t in (
            *range(tables.max_distance + 1),
            sensitivity.horizon,
            sensitivity.horizon + 1,
        ):
            delta = np.broadcast_to(sensitivity.at(t), one.scores.shape)
            if t < sensitivity.horizon:
                excess = delta - sensitivity.bounds
            else:
                excess = np.abs(delta - sensitivity.bound)
            r = int(excess.argmax())
            if excess[r] > worst:
                worst, where = float(excess[r]), tables.witness(x, distance=t, candidate=r)
    return Finding(
        "bounded",
        "delta(x, t, r) <= bound_r before the horizon, = bound from there on",
        ok=worst <= tables.tolerance,
        excess=worst,
        worst=where,
    )


def global_bound(tables: Tables) -> Finding:
    r"""Check :math:`LS(x, 0, r) \le \Delta_r` for every database and candidate."""
    excess = tables.local[0] - tables.bounds
    x, r = _position_of_max(excess)
    return Finding(
        "global bound",
        "LS(x, 0, r) <= bound_r",
        ok=bool(excess[x, r] <= tables.tolerance),
        excess=float(excess[x, r]),
        worst=tables.witness(x, _farthest_neighbour(tables, x, r), candidate=r),
    )


def monotone(tables: Tables) -> Finding:
    """Check that every neighbour step moves all scores in one direction, if so claimed."""
    states = "a neighbour step moves all scores in one direction"
    if not tables.objectives[0].monotone:
        return Finding("monotone", f"{states} (not claimed)", ok=True, excess=0.0)
    steps = tables.steps
    excess = np.minimum(steps.max(axis=1), -steps.min(axis=1))
    pair = int(excess.argmax())
    return Finding(
        "monotone",
        states,
        ok=bool(excess[pair] <= tables.tolerance),
        excess=float(excess[pair]),
        worst=tables.witness(int(tables.universe.left[pair]), int(tables.universe.right[pair])),
    )


def tightness(tables: Tables, incomplete: Values) -> Tightness:
    r"""Compare :math:`\delta(x, t, r)` with :math:`LS(x, t, r)` below the horizon.

    Args:
        tables: The universe.
        incomplete: 1.0 for databases that have neighbours outside the universe, else 0.0;
            shape ``(N,)``.
    """
    gaps = tables.deltas - tables.local
    compared = np.zeros(gaps.shape, dtype=bool)
    beyond = incomplete
    for t in range(min(tables.objectives[0].sensitivity.horizon, len(gaps))):
        compared[t] = (beyond == 0)[:, None]
        beyond = tables.universe.one_step_further(beyond)
    if not compared.any():
        return Tightness(0, 0, 0.0)
    gaps = np.where(compared, gaps, -inf)
    t, x, r = _position_of_max(gaps)
    return Tightness(
        cells=int(compared.sum()),
        exact=int((compared & (np.abs(gaps) <= tables.tolerance)).sum()),
        gap=float(gaps[t, x, r]),
        worst=tables.witness(x, distance=t, candidate=r),
    )


def _position_of_max(values: Values) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(values.argmax(), values.shape))
