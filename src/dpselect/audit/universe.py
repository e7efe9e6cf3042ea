"""A small universe of databases and its neighbour graph.

Every statement of differential privacy is about pairs of neighbouring databases, so on a
universe that can be listed every statement can be checked one pair at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import Neighbours
from dpselect.typing import Indices, Values

Relation: TypeAlias = Neighbours | Callable[[Hashable, Hashable], bool]
"""A neighbour relation, or a predicate that says whether two databases are neighbours."""


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
    if isinstance(neighbours, Neighbours):
        pairs = _PAIRS[neighbours](databases)
    elif callable(neighbours):
        pairs = _pairs_by_predicate(databases, neighbours)
    else:
        raise NeighboursError(
            "neighbours must be one of Neighbours, or a function (x, y) -> bool"
        )
    unordered = sorted({(min(pair), max(pair)) for pair in pairs})
    if not unordered:
        raise ParameterError("universe must hold at least two databases that are neighbours")
    left, right = np.array(unordered, dtype=np.int64).T
    return Universe(databases, left, right)


def _pairs_by_predicate(
    databases: tuple[Hashable, ...], predicate: Callable[[Hashable, Hashable], bool]
) -> Iterator[tuple[int, int]]:
    for (i, x), (j, y) in combinations(enumerate(databases), 2):
        if predicate(x, y) or predicate(y, x):
            yield i, j


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
