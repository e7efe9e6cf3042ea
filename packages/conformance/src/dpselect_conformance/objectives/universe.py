"""Small universes of databases: neighbour graph, scores and sensitivities as arrays.

Every statement of differential privacy is about pairs of neighbouring databases, so on a
universe that can be listed every statement can be checked one pair at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import TypeAlias

import numpy as np

from dpselect import Neighbours, Objective
from dpselect.errors import NeighboursError, ParameterError
from dpselect.extend import Indices, NeighboursLike, Twofold, Values, difference, validation
from dpselect_conformance.objectives.report import Finding, Witness

Relation: TypeAlias = NeighboursLike | Callable[[Hashable, Hashable], bool]
"""A neighbour relation, its name, or a predicate of two databases."""

TOLERANCE = 1e-9
"""Rounding error allowed in a condition, relative to the number compared with."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Universe:
    """Databases and all pairs of neighbours among them.

    Attributes:
        databases: Distinct; synthetic, hence public.
        left: Positions of one database of each unordered pair, shape ``(m,)``.
        right: Positions of the other.
    """

    databases: tuple[Hashable, ...]
    left: Indices
    right: Indices

    def __len__(self) -> int:
        return len(self.databases)

    @property
    def diameter(self) -> int:
        """The largest distance by neighbour steps; between connected databases only."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import shortest_path

        size = len(self.databases)
        graph = csr_array((np.ones(self.left.size), (self.left, self.right)), (size, size))
        distances = shortest_path(graph, directed=False, unweighted=True)
        return int(distances[np.isfinite(distances)].max())

    def one_step_further(self, values: Values) -> Values:
        """Return for every database the largest value at it or at a neighbour.

        Applied ``t`` times this is the maximum over all databases within distance ``t``:
        a breadth-first search from all databases at once.

        Args:
            values: One row per database, shape ``(N, ...)``.
        """
        wide = values.copy()
        np.maximum.at(wide, self.left, values[self.right])
        np.maximum.at(wide, self.right, values[self.left])
        return wide


def build(universe: Iterable[Hashable], neighbours: Relation) -> Universe:
    """List a universe and find the neighbours in it.

    Raises:
        ParameterError: A database is not hashable or of the wrong type for the relation,
            or no two databases are neighbours.
        NeighboursError: ``neighbours`` is neither a relation nor a predicate.
    """
    try:
        databases = tuple(dict.fromkeys(universe))
    except TypeError:
        raise ParameterError(
            "universe must be an iterable of hashable databases, such as tuples of records"
        ) from None
    if callable(neighbours):
        pairs: Iterable[tuple[int, int]] = (
            (i, j)
            for (i, x), (j, y) in combinations(enumerate(databases), 2)
            if neighbours(x, y) or neighbours(y, x)
        )
    else:
        try:
            relation = Neighbours(neighbours)
        except NeighboursError as error:
            raise NeighboursError(f"{error}, or a function (x, y) -> bool") from None
        pairs = _PAIRS[relation](databases)
    unordered = sorted({(min(pair), max(pair)) for pair in pairs})
    if not unordered:
        raise ParameterError("universe must hold at least two databases that are neighbours")
    left, right = np.array(unordered, dtype=np.int64).T
    return Universe(databases, left, right)


def _add_remove(databases: tuple[Hashable, ...]) -> Iterator[tuple[int, int]]:
    """Pairs of multisets of which one is the other less one record."""
    if all(isinstance(x, tuple) for x in databases):
        multisets = [Counter(x) for x in databases if isinstance(x, tuple)]
    else:
        multisets = [Counter(x) for x in _frozensets(databases, Neighbours.ADD_REMOVE)]
    position = {frozenset(records.items()): i for i, records in enumerate(multisets)}
    if len(position) < len(multisets):
        raise ParameterError(
            "universe must hold every multiset of records in one order only, as from "
            "itertools.combinations_with_replacement"
        )
    for i, records in enumerate(multisets):
        for record in records:
            j = position.get(frozenset((records - Counter([record])).items()))
            if j is not None:
                yield i, j


def _edge(databases: tuple[Hashable, ...]) -> Iterator[tuple[int, int]]:
    graphs = _frozensets(databases, Neighbours.EDGE)
    position = {graph: i for i, graph in enumerate(graphs)}
    for i, graph in enumerate(graphs):
        for edge in graph:
            if graph - {edge} in position:
                yield i, position[graph - {edge}]


def _substitute(databases: tuple[Hashable, ...]) -> Iterator[tuple[int, int]]:
    lists = [x for x in databases if isinstance(x, tuple)]
    if len(lists) < len(databases) or len({len(x) for x in lists}) > 1:
        raise ParameterError(
            "under substitute every database must be a tuple of records, all of one length"
        )
    rest: defaultdict[Hashable, list[int]] = defaultdict(list)
    for i, records in enumerate(lists):
        for place in range(len(records)):
            rest[place, records[:place], records[place + 1 :]].append(i)
    return _within_groups(rest.values())


def _swap(databases: tuple[Hashable, ...]) -> Iterator[tuple[int, int]]:
    subsets = _frozensets(databases, Neighbours.SWAP)
    if len({len(subset) for subset in subsets}) > 1:
        raise ParameterError("under swap every database must be a frozenset, all of one size")
    rest: defaultdict[Hashable, list[int]] = defaultdict(list)
    for i, subset in enumerate(subsets):
        for member in subset:
            rest[subset - {member}].append(i)
    return _within_groups(rest.values())


def _within_groups(groups: Iterable[list[int]]) -> Iterator[tuple[int, int]]:
    for group in groups:
        yield from combinations(group, 2)


def _frozensets(
    databases: tuple[Hashable, ...], relation: Neighbours
) -> list[frozenset[Hashable]]:
    sets = [x for x in databases if isinstance(x, frozenset)]
    if len(sets) < len(databases):
        kinds = "a tuple of records or " if relation is Neighbours.ADD_REMOVE else ""
        raise ParameterError(
            f"under {relation} every database must be {kinds}a frozenset, all of one type; "
            "give a function (x, y) -> bool for databases of another form"
        )
    return sets


_PAIRS: dict[Neighbours, Callable[[tuple[Hashable, ...]], Iterator[tuple[int, int]]]] = {
    Neighbours.ADD_REMOVE: _add_remove,
    Neighbours.SUBSTITUTE: _substitute,
    Neighbours.EDGE: _edge,
    Neighbours.SWAP: _swap,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tables:
    """Scores and sensitivities of a universe, as the conditions compare them.

    Attributes:
        universe: ``N`` databases.
        objectives: One per database, all of ``R`` candidates.
        scores: ``u(x, r)``, shape ``(N, R)``.
        deltas: ``δ(x, t, r)`` for ``t`` up to the largest distance ``T``, shape ``(T + 1, N,
            R)``.
        local: ``LS(x, t, r)`` by definition, shape ``(T + 1, N, R)``.
        bounds: ``Δ_r`` as each database states it, shape ``(N, R)``.
        steps: Change of every score by every neighbour step, shape ``(m, R)``.
    """

    universe: Universe
    objectives: tuple[Objective, ...]
    scores: Values
    deltas: Values
    local: Values
    bounds: Values
    steps: Values

    @property
    def max_distance(self) -> int:
        """The largest distance tabulated."""
        return len(self.deltas) - 1

    def witness(
        self,
        x: int,
        y: int | None = None,
        *,
        distance: int | None = None,
        candidate: int | None = None,
    ) -> Witness:
        """Return the databases and the candidate of a case given by positions."""
        names = self.universe.databases
        return Witness(
            x=names[x],
            y=None if y is None else names[y],
            distance=distance,
            candidate=None if candidate is None else self.objectives[x].candidates[candidate],
        )

    def of_pair(self, pair: int, candidate: int | None = None) -> Witness:
        """Return the databases of a pair of neighbours, and a candidate if there is one."""
        left, right = int(self.universe.left[pair]), int(self.universe.right[pair])
        return self.witness(left, right, candidate=candidate)


def evaluate(
    universe: Universe, objective_of: Callable[[Hashable], Objective]
) -> tuple[Objective, ...] | Finding:
    """Build every objective, once; or return where it could not be."""
    made = []
    for x in universe.databases:
        try:
            one = objective_of(x)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is found
            states = f"there is one of every database; {type(error).__name__}: {error}"
            return Finding("objective", states, ok=False, excess=inf, worst=Witness(x))
        made.append(validation.instance("what objective_of returns", one, Objective))
    return tuple(made)


def tabulate(
    universe: Universe, objectives: tuple[Objective, ...], max_distance: int
) -> Tables:
    """Evaluate sensitivities at all distances and the local sensitivity by definition.

    Args:
        universe: The databases.
        objectives: One per database, all of the same number of candidates.
        max_distance: The largest distance ``T``.
    """
    scores, rests = (
        np.array(part) for part in zip(*(o.scores_twofold for o in objectives), strict=True)
    )
    exact = Twofold(scores, rests)
    steps = difference(exact.at(universe.right), exact.at(universe.left))
    deltas = np.empty((max_distance + 1, *scores.shape))
    for i, one in enumerate(objectives):
        for t in range(max_distance + 1):
            deltas[t, i] = one.sensitivity.at(t)
    local = np.empty_like(deltas)
    local[0] = _largest_step(universe, steps)
    for t in range(max_distance):
        local[t + 1] = universe.one_step_further(local[t])
    bounds = np.array(
        [np.broadcast_to(one.sensitivity.bounds, scores.shape[1:]) for one in objectives]
    )
    return Tables(universe, objectives, scores, deltas, local, bounds, steps)


def _largest_step(universe: Universe, steps: Values) -> Values:
    """Return ``LS(x, 0, r)``: the largest change between ``x`` and a neighbour."""
    changes = np.abs(steps)
    largest = np.zeros((len(universe), steps.shape[1]))
    np.maximum.at(largest, universe.left, changes)
    np.maximum.at(largest, universe.right, changes)
    return largest
