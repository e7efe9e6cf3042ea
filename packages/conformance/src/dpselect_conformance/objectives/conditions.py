"""Conditions that make a sensitivity admissible, its sums exact and scaled scores unit scores.

Each condition covers a whole universe and reports its worst case. Scalings read a sensitivity
only through its sums, so closed forms are compared with sums of ``at``.

Draws depend on differences of unit scores only, so it suffices that no difference moves by more
than 2: ``max_r (s_r(y) - s_r(x)) - min_r (s_r(y) - s_r(x)) ≤ 2``. Of scalings that do not
subtract the best score it is also checked that no score moves by more than 1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from math import inf
from typing import TypeAlias

import numpy as np

from dpselect import Neighbours, Objective, Sensitivity, scaling
from dpselect.extend import Scores, Values
from dpselect_conformance.objectives.report import Finding, Tightness, Witness
from dpselect_conformance.objectives.universe import TOLERANCE, Tables, Universe

LONGEST = 4096
"""Horizons up to here are summed term by term."""

Scaling: TypeAlias = Callable[[Objective], Scores]
"""From an objective to its unit scores, as in ``dpselect.scaling``."""

MOVES_EACH_BY_ONE = frozenset({"dampened", "anchored", "pairwise", "generalized"})
"""Names of the scalings of which every score, not only every difference, is checked."""


def public_parts(
    universe: Universe, objectives: tuple[Objective, ...], relation: Neighbours | None
) -> Finding:
    """Compare everything declared public between all databases.

    Args:
        universe: The databases.
        objectives: One per database.
        relation: The relation that the universe was enumerated under, if it is a named one.
    """
    states = "candidates, bounds and all other claims are those of every database"
    first = universe.databases[0]

    def failed(states: str, x: Hashable, y: Hashable = None, *, excess: float = inf) -> Finding:
        return Finding("public parts", states, ok=False, excess=excess, worst=Witness(x, y))

    if relation not in {None, objectives[0].neighbours}:
        stated = f"the objective is stated for {objectives[0].neighbours}"
        return failed(f"{stated}, the universe is enumerated under {relation}", first)
    for x, one in zip(universe.databases, objectives, strict=True):
        private = _differing_part(objectives[0], one)
        if private:
            return failed(f"{states}; {private} not", first, x)
        if one.highest is not None and one.scores.max() > one.highest:
            excess = float(one.scores.max()) - one.highest
            return failed("no score is above the highest", x, excess=excess)
    return Finding("public parts", states, ok=True, excess=0.0)


def _differing_part(first: Objective, other: Objective) -> str:
    a, b = first.sensitivity, other.sensitivity
    same = {
        "the number of candidates is": len(first) == len(other),
        "the candidates are": list(first.candidates) == list(other.candidates),
        "the bound is": np.array_equal(a.bounds, b.bounds) and a.bound == b.bound,
        "the l1 bound is": a.l1 == b.l1,
        "the horizon is": a.horizon == b.horizon,
        "the neighbour relation is": a.neighbours is b.neighbours,
        "the monotone claim is": first.monotone == other.monotone,
        "the highest score is": first.highest == other.highest,
        "the direction is": first.direction == other.direction,
        "the step is": first.step == other.step,
    }
    return next((name for name, equal in same.items() if not equal), "")


def condition_one(tables: Tables) -> Finding:
    """Check ``δ(x, 0, r) ≥ LS(x, 0, r)``."""
    return _compared(
        "condition (i)",
        "delta(x, 0, r) >= LS(x, 0, r)",
        tables.local[0] - tables.deltas[0],
        tables.deltas[0],
        partial(_with_neighbour, tables, distance=0),
    )


def _with_neighbour(tables: Tables, x: int, r: int, distance: int | None = None) -> Witness:
    """Return a candidate of a database, and the neighbour that changes it most."""
    left, right = tables.universe.left, tables.universe.right
    around = np.concatenate([right[left == x], left[right == x]])
    changes = np.abs(tables.scores[around, r] - tables.scores[x, r])
    y = int(around[changes.argmax()]) if around.size else None
    return tables.witness(x, y, distance=distance, candidate=r)


def condition_two(tables: Tables) -> Finding:
    """Check ``δ(x, t + 1, r) ≥ δ(y, t, r)`` for ``d(x, y) ≤ 1``."""
    everywhere = np.arange(len(tables.universe))
    xs = np.concatenate([everywhere, tables.universe.left, tables.universe.right])
    ys = np.concatenate([everywhere, tables.universe.right, tables.universe.left])
    return _compared(
        "condition (ii)",
        "delta(x, t + 1, r) >= delta(y, t, r)",
        tables.deltas[:-1, ys] - tables.deltas[1:, xs],
        tables.deltas[1:, xs],
        lambda t, pair, r: tables.witness(
            int(xs[pair]), int(ys[pair]), distance=t, candidate=r
        ),
    )


def bounded(tables: Tables) -> Finding:
    """Check that ``δ ≤ Δ_r`` up to the horizon, and Δ from there.

    Without the jump to Δ the limit of the shifted mechanism may not exist.
    """
    one = tables.objectives[0].sensitivity
    distances = (*range(tables.max_distance + 1), one.horizon, one.horizon + 1)
    excess = np.empty((len(distances), *tables.scores.shape))
    for x, objective in enumerate(tables.objectives):
        sensitivity = objective.sensitivity
        for i, t in enumerate(distances):
            delta = sensitivity.at(t)
            if t < sensitivity.horizon:
                excess[i, x] = delta - sensitivity.bounds
            else:
                excess[i, x] = np.abs(delta - sensitivity.bound)
    return _compared(
        "bounded",
        "delta(x, t, r) <= bound_r before the horizon, = bound from there on",
        excess,
        tables.bounds,
        lambda i, x, r: tables.witness(x, distance=distances[i], candidate=r),
    )


def global_bound(tables: Tables) -> Finding:
    """Check ``LS(x, 0, r) ≤ Δ_r`` for every database and candidate."""
    return _compared(
        "global bound",
        "LS(x, 0, r) <= bound_r",
        tables.local[0] - tables.bounds,
        tables.bounds,
        partial(_with_neighbour, tables),
    )


def monotone(tables: Tables) -> Finding:
    """Check that every neighbour step moves all scores in one direction, if so claimed."""
    states = "a neighbour step moves all scores in one direction"
    if not tables.objectives[0].monotone:
        return Finding("monotone", f"{states} (not claimed)", ok=True, excess=0.0)
    # In units of the sensitivity, which a factor of 2 is gained for.
    left, right = tables.universe.left, tables.universe.right
    widths = np.minimum(tables.deltas[0, left], tables.deltas[0, right])
    steps = tables.steps
    moved = np.divide(steps, widths, out=np.copysign(inf, steps), where=widths > 0)
    moved[steps == 0] = 0
    against = np.minimum(moved.max(axis=1), -moved.min(axis=1))
    pair = int(against.argmax())
    return Finding(
        "monotone",
        states,
        ok=bool(against[pair] <= TOLERANCE),
        excess=float(np.minimum(steps[pair].max(), -steps[pair].min())),
        worst=tables.of_pair(pair),
    )


def l1_bound(tables: Tables) -> Finding:
    """Check ``∑_r |u(x, r) - u(y, r)| ≤ l_1`` for all neighbours, if so claimed."""
    states = "one neighbour step changes all scores by at most l1 together"
    l1 = tables.objectives[0].sensitivity.l1
    if l1 is None:
        return Finding("l1", f"{states} (not claimed)", ok=True, excess=0.0)
    excess = np.abs(tables.steps).sum(axis=1) - l1
    return _compared("l1", states, excess, l1, tables.of_pair)


def multiples(tables: Tables) -> Finding:
    """Check that all scores are integer multiples of the step, if so claimed."""
    states = "all scores are integer multiples of the step"
    step = tables.objectives[0].step
    if step is None:
        return Finding("step", f"{states} (not claimed)", ok=True, excess=0.0)
    excess = np.abs(tables.scores - np.rint(tables.scores / step) * step)
    return _compared("step", states, excess, step, lambda x, r: tables.witness(x, candidate=r))


def tightness(tables: Tables, incomplete: Values) -> Tightness:
    """Compare ``δ(x, t, r)`` with ``LS(x, t, r)`` below the horizon.

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
        exact=int((compared & (np.abs(gaps) <= TOLERANCE * tables.deltas)).sum()),
        gap=float(gaps[t, x, r]),
        worst=tables.witness(x, distance=t, candidate=r),
    )


def _compared(
    check: str,
    states: str,
    excess: Values,
    allowed: Values | float,
    witness: Callable[..., Witness],
) -> Finding:
    """Return the finding that no excess is above rounding, with the position of the worst case.

    Rounding is measured by the number that each comparison is with: by the bound of all, a
    sensitivity thousands of times too small would pass beside a large one.
    """
    broken = ~(excess <= TOLERANCE * np.broadcast_to(allowed, excess.shape))
    worst = _position_of_max(np.where(broken, excess, -inf) if broken.any() else excess)
    return Finding(
        check, states, ok=not broken.any(), excess=float(excess[worst]), worst=witness(*worst)
    )


def _position_of_max(values: Values) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(values.argmax(), values.shape))


def sums(tables: Tables) -> Finding:
    """Compare ``cumulative``, ``shortfall`` and ``locate`` with sums of ``at``.

    And the number of first values that are 0 with them.
    """
    errors = [
        np.maximum.reduce(
            [
                _error_of_cumulative(one, tables.max_distance),
                _error_of_shortfall(one),
                _error_of_locate(one),
                _error_of_zeros(one),
            ]
        )
        for one in tables.objectives
    ]
    return _compared(
        "sums",
        "cumulative, shortfall, locate and leading_zeros are those of at (relative to sums)",
        np.array(errors),
        1.0,
        lambda x, r: tables.witness(x, candidate=r),
    )


def overrides(sensitivity: Sensitivity, method: str) -> bool:
    """Return whether a sensitivity has a form of its own for one of the sums."""
    return getattr(type(sensitivity), method) is not getattr(Sensitivity, method)


def _error_of_cumulative(one: Objective, max_distance: int) -> Values:
    """Compare one distance for all candidates, and a different one for each."""
    sensitivity, shape = one.sensitivity, one.scores.shape
    error = np.zeros(shape)
    if not overrides(sensitivity, "cumulative"):
        return error
    last = max_distance + 1
    if sensitivity.horizon <= LONGEST:
        last = max(last, sensitivity.horizon + 1)
    values = [np.broadcast_to(sensitivity.at(t), shape) for t in range(last)]
    expected = np.concatenate([np.zeros((1, *shape)), np.cumsum(values, axis=0)])
    everyone = np.arange(shape[0])
    for t in range(last + 1):
        each = (t + everyone) % (last + 1)
        apart = np.abs(sensitivity.cumulative(t) - expected[t])
        error = np.maximum(error, _relative(apart, expected[t]))
        apart = np.abs(sensitivity.cumulative(each) - expected[each, everyone])
        error = np.maximum(error, _relative(apart, expected[each, everyone]))
    return error


def _error_of_shortfall(one: Objective) -> Values:
    sensitivity = one.sensitivity
    if not overrides(sensitivity, "shortfall") or sensitivity.horizon > LONGEST:
        return np.zeros(one.scores.shape)
    apart = np.abs(sensitivity.shortfall() - Sensitivity.shortfall(sensitivity))
    unit = sensitivity.bound * max(1, sensitivity.horizon)
    return np.broadcast_to(apart / unit, one.scores.shape)


def _error_of_locate(one: Objective) -> Values:
    """Compare the intervals that the scores themselves fall into."""
    sensitivity = one.sensitivity
    heights = np.abs(one.scores)
    at = sensitivity.locate(heights)
    steps = at.steps.astype(np.int64)
    start, end = sensitivity.cumulative(steps), sensitivity.cumulative(steps + 1)
    error = np.maximum(np.abs(at.start - start), np.abs(at.start + at.width - end))
    error = np.maximum(error, start - heights)
    inside = steps < sensitivity.horizon
    error = np.maximum(error, np.where(inside, heights - end, 0.0))
    # What an error changes of a dampened score, by the steps that this has; beyond the
    # horizon by the height.
    return _relative(error, np.maximum((end - start) * (steps + 1), heights * ~inside))


def _error_of_zeros(one: Objective) -> Values:
    """Compare at how many distances a sensitivity is 0 before it is not."""
    sensitivity, everyone = one.sensitivity, np.arange(one.scores.size)
    if not overrides(sensitivity, "leading_zeros"):
        return np.zeros(one.scores.shape)
    expected = Sensitivity.leading_zeros(sensitivity, everyone, LONGEST)
    return np.abs(sensitivity.leading_zeros(everyone, LONGEST) - expected).astype(np.float64)


def _relative(error: Values, unit: Values) -> Values:
    """Return errors in units, where 0 of 0 is 0."""
    return np.divide(error, unit, out=np.where(error > 0, inf, 0.0), where=unit > 0)


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
    long = [one.sensitivity for one in tables.objectives if one.sensitivity.horizon > LONGEST]
    if not all(one.flat or overrides(one, "shortfall") for one in long):
        why = f"the horizon is above {LONGEST} and the shortfall has no closed form"
        cure = "see dpselect.sensitivity.jump_to_bound"
        return scalings, (f"unit scores: shifted, as {why}; {cure}",)
    scalings["shifted, non-decreasing"] = partial(scaling.shifted, direction="non-decreasing")
    scalings["shifted, non-increasing"] = partial(scaling.shifted, direction="non-increasing")
    return scalings, ()


CONDITIONS = (
    condition_one,
    condition_two,
    bounded,
    global_bound,
    l1_bound,
    multiples,
    monotone,
    sums,
)
"""The conditions on scores and sensitivities, in the order of a report."""


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
    return _compared(
        f"unit scores: {name}",
        states,
        excess,
        1.0,
        lambda pair: tables.of_pair(pair, candidate=int(np.abs(steps[pair]).argmax())),
    )
