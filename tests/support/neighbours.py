"""Neighbour relations of sorted databases: predicates for the audit, and pairs."""

from collections import Counter
from itertools import combinations, combinations_with_replacement

from dpselect.neighbours import Neighbours


def are_neighbours(relation):
    """Return the predicate of two multisets of records under add/remove or substitution."""
    steps = {(0, 1), (1, 0)} if relation is Neighbours.ADD_REMOVE else {(1, 1)}

    def predicate(x, y):
        removed, added = Counter(x) - Counter(y), Counter(y) - Counter(x)
        return (removed.total(), added.total()) in steps

    return predicate


def pairs_of_rows(relation, rows, most):
    """Return the neighbouring databases of at most so many of these rows."""
    fewer = [some for n in range(most) for some in combinations_with_replacement(rows, n)]
    if relation is Neighbours.ADD_REMOVE:
        return [(some, (*some, one)) for some in fewer for one in rows]
    return [((*some, a), (*some, b)) for some in fewer for a, b in combinations(rows, 2)]


def pairs_of_persons(relation, sets):
    """Return neighbouring databases of up to two persons, each with one of these sets."""
    bases = [(), *((one,) for one in sets[1::3])]
    if relation is Neighbours.ADD_REMOVE:
        return [(base, (*base, one)) for base in bases for one in sets]
    return [((*base, a), (*base, b)) for base in bases for a, b in combinations(sets, 2)]
