"""Every combination, on whole universes of databases with arbitrary scores.

A universe is a connected graph of up to four databases, neighbours joined; a table gives
every database a score per objective and candidate; the objectives' sensitivities are the
exact local sensitivities of Definition 5, found by enumeration.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import dpselect as dp

EDGE = dp.Neighbours.EDGE
SHAPES = {
    "pair": [(0, 1)],
    "line": [(0, 1), (1, 2)],
    "long line": [(0, 1), (1, 2), (2, 3)],
    "cycle": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "star": [(0, 1), (0, 2), (0, 3)],
    "complete": [(0, 1), (0, 2), (1, 2)],
}


@dataclass(frozen=True)
class Universe:
    """Databases, neighbours among them, and ``table[database, objective, candidate]``."""

    steps: list
    table: np.ndarray
    kinds: tuple
    monotone: bool = False

    @property
    def size(self):
        return len(self.table)

    @cached_property
    def distance(self):
        d = np.where(np.eye(self.size, dtype=bool), 0, 9)
        for a, b in self.steps:
            d[a, b] = d[b, a] = 1
        for via in range(self.size):
            d = np.minimum(d, d[:, [via]] + d[[via]])
        return d

    @cached_property
    def changes(self):
        """``changes[step, objective, candidate]``."""
        return np.array([np.abs(self.table[a] - self.table[b]) for a, b in self.steps])

    def local_sensitivity(self, database, objective, t):
        """LS(x, t, r) of Definition 5, for every candidate."""
        near = self.distance[database] <= t
        return self.changes[[near[a] or near[b] for a, b in self.steps], objective].max(axis=0)

    def objective(self, database, i):
        everywhere = self.local_sensitivity(database, i, 9)
        bound = max(everywhere.max(), 0.25)
        kind = self.kinds[i]
        if kind == "element":
            sensitivity = dp.ElementSensitivity(
                lambda t: self.local_sensitivity(database, i, t),
                bound,
                EDGE,
                horizon=4,
            )
        elif kind == "flat":
            sensitivity = dp.LocalSensitivity(
                lambda t: self.local_sensitivity(database, i, t).max(), bound, EDGE, horizon=3
            )
        elif kind == "global each":
            each = np.maximum(everywhere, 0.25)
            sensitivity = dp.GlobalSensitivity(each, EDGE, horizon=2)
        else:
            sensitivity = dp.GlobalSensitivity(bound, EDGE)
        return dp.Objective(self.table[database, i], sensitivity, monotone=self.monotone)

    def objectives(self, database):
        return [self.objective(database, i) for i in range(self.table.shape[1])]

    def everywhere(self, combine):
        return [combine(self.objectives(database)) for database in range(self.size)]


kinds = st.sampled_from(["element", "flat", "global", "global each"])


@st.composite
def universes(draw, *, most_objectives=3):
    steps = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
    m, n = draw(st.integers(1, most_objectives)), draw(st.integers(1, 4))
    shape = (max(map(max, steps)) + 1, m, n)
    table = draw(hnp.arrays(float, shape, elements=st.integers(-3, 3).map(float)))
    return Universe(steps, table, tuple(draw(kinds) for _ in range(m)))


@st.composite
def monotone_universes(draw, *, together=False):
    """Every step moves all scores of an objective, or of all, in one direction."""
    steps = SHAPES[draw(st.sampled_from(["pair", "line", "long line", "star"]))]
    size, m, n = max(map(max, steps)) + 1, draw(st.integers(1, 3)), draw(st.integers(1, 4))
    moves = hnp.arrays(float, (m, n), elements=st.integers(0, 3).map(float))
    signs = hnp.arrays(float, (1 if together else m, 1), elements=st.sampled_from([-1.0, 1.0]))
    table = np.zeros((size, m, n))
    table[0] = draw(hnp.arrays(float, (m, n), elements=st.integers(-3, 3).map(float)))
    for a, b in steps:
        table[b] = table[a] + draw(signs) * draw(moves)
    return Universe(steps, table, tuple(draw(kinds) for _ in range(m)), monotone=True)


def assert_admissible(universe, combined):
    """Definition 6 for every neighbour (and a database with itself), beyond all horizons."""
    n = len(combined[0])
    pairs = [*universe.steps, *((b, a) for a, b in universe.steps)]
    for a, b in pairs:
        change = np.abs(combined[a].scores - combined[b].scores)
        assert (combined[a].sensitivity.at(0) >= change).all()
    for t in range(6):
        for a, b in [*pairs, *((x, x) for x in range(universe.size))]:
            further = np.broadcast_to(combined[a].sensitivity.at(t + 1), n)
            assert (further >= combined[b].sensitivity.at(t)).all()


def assert_private(universe, combined, mechanism):
    laws = [mechanism.probabilities(objective) for objective in combined]
    for a, b in universe.steps:
        assert np.abs(np.log(laws[a] / laws[b])).max() <= mechanism.epsilon * (1 + 1e-9)


anything = st.one_of(universes(), monotone_universes())


dominances = st.sampled_from(["standard", "weak", "strict"])


@pytest.mark.slow
@given(anything, dominances)
def test_the_pareto_sensitivity_is_admissible(universe, dominance):
    combined = universe.everywhere(lambda parts: dp.pareto(parts, dominance=dominance))

    assert_admissible(universe, combined)


@pytest.mark.slow
@given(anything)
def test_margins_are_unit_scores(universe):
    combined = universe.everywhere(dp.margin)
    for a, b in universe.steps:
        assert np.abs(combined[a].scores - combined[b].scores).max() <= 1 + 1e-9


@pytest.mark.slow
@given(anything)
def test_laws_of_combinations_are_private(universe):
    local = dp.LocalDampening(epsilon=1.5)
    shifted = dp.ShiftedLocalDampening(epsilon=1.5, direction="non-increasing")
    assert_private(universe, universe.everywhere(dp.pareto), local)
    assert_private(universe, universe.everywhere(dp.pareto), shifted)
    assert_private(universe, universe.everywhere(dp.margin), dp.PermuteAndFlip(epsilon=1.5))


weight = st.sampled_from([-2.0, -0.5, 0.0, 1.0, 3.0])


@given(universes(), st.lists(weight, min_size=3, max_size=3))
def test_weighted_sums_are_admissible(universe, weights):
    weights = np.array([*weights[: universe.table.shape[1]]])
    weights[0] = weights[0] or 1.0

    assert_admissible(
        universe, universe.everywhere(lambda parts: dp.weighted_sum(parts, weights))
    )


@pytest.mark.slow
@given(monotone_universes(), st.data())
def test_disjoint_sums_are_admissible_and_monotone_whatever_the_signs(universe, data):
    """Each step is given to one objective: the others stand still."""
    weights = np.array([data.draw(weight) or 1.0 for _ in range(universe.table.shape[1])])
    table = universe.table.copy()
    for a, b in universe.steps:
        mover = data.draw(st.integers(0, len(weights) - 1))
        table[b] = table[a]
        table[b, mover] += universe.table[b, mover] - universe.table[a, mover]
    universe = replace(universe, table=table)
    combined = universe.everywhere(lambda parts: dp.disjoint_sum(parts, weights))

    assert_admissible(universe, combined)
    assert all(each.monotone for each in combined)
    for a, b in universe.steps:
        moves = combined[a].scores - combined[b].scores
        assert (moves >= 0).all() or (moves <= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("unit", [0.1, 1 / 3, 0.7, 1e-9, 1e9])
def test_rounding_does_not_break_admissibility(unit):
    """Ties in exact arithmetic, of numbers that floating point cannot tie.

    The databases are a line; in each step one candidate rises and one falls by the unit in
    one objective, added up one by one or multiplied, as different code would.
    """
    rng = np.random.default_rng(3)
    for _ in range(8):
        walk = np.cumsum(rng.integers(-1, 2, (12, 2, 5)), axis=0)
        added = np.cumsum(np.diff(walk, axis=0, prepend=walk[:1]) * unit, axis=0)
        table = np.where(rng.random(walk.shape) < 0.5, walk * unit, added + walk[0] * unit)
        sensitivities = [
            dp.GlobalSensitivity(unit, EDGE),
            dp.LocalSensitivity(lambda _: unit, unit, EDGE),
        ]
        combined = [
            dp.pareto([dp.Objective(u, s) for u, s in zip(scores, sensitivities, strict=True)])
            for scores in table
        ]
        universe = Universe([(i, i + 1) for i in range(11)], table, ())
        assert_admissible(universe, combined)
