"""Neighbour relations of sorted databases, as predicates for the audit."""

from collections import Counter

from dpselect.neighbours import Neighbours


def are_neighbours(relation):
    """Return the predicate of two multisets of records under add/remove or substitution."""
    steps = {(0, 1), (1, 0)} if relation is Neighbours.ADD_REMOVE else {(1, 1)}

    def predicate(x, y):
        removed, added = Counter(x) - Counter(y), Counter(y) - Counter(x)
        return (removed.total(), added.total()) in steps

    return predicate
