"""All graphs of four nodes, as sets of their edges."""

from itertools import combinations

PAIRS = list(combinations(range(4), 2))
GRAPHS = [frozenset(edges) for size in range(7) for edges in combinations(PAIRS, size)]
