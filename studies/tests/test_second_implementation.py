"""Example 8 of local dampening a second time, from the text alone: nothing of ours is used."""

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

RESULTS = Path(__file__).parents[1] / "results" / "farias-2023"


def stored(name, column, **where):
    """Return the mean of a column over rows of a stored run."""
    found = pl.read_parquet(RESULTS / f"{name}.parquet").filter(**where)
    return float(found[column].mean())


# Ego betweenness, Definition 19.


def betweenness(near, node):
    """Return the sum over pairs of neighbours of the share of their paths through a node."""
    total, around = 0.0, near[node]
    for first, second in combinations(sorted(around), 2):
        if second not in near[first]:
            # Paths of length two inside of the ego network; one of them is through the node.
            total += 1 / (1 + len(near[first] & near[second] & around))
    return total


def flipped(edges, some):
    return edges ^ frozenset(some)


def neighbourhoods(nodes, edges):
    near = {node: set() for node in nodes}
    for first, second in edges:
        near[first].add(second)
        near[second].add(first)
    return near


def test_example_8_by_enumeration():
    """All graphs up to three edges from the running example; the scores are shifted by -7."""
    nodes = ["a", "b", *(f"v{i}" for i in range(6))]
    text = "ab av0 av1 av2 av3 bv2 bv3 bv4 bv5 v0v1 v4v5"
    pairs = {first + second: (first, second) for first, second in combinations(nodes, 2)}
    running = frozenset(pairs[word] for word in text.split())
    kept = ["a", "v0", "v2"]  # b is as a; v1, v4 and v5 as v0; v3 as v2

    near_by = {
        frozenset(some): flipped(running, some)
        for k in range(4)
        for some in combinations(pairs.values(), k)
    }
    scores = {
        flips: [betweenness(neighbourhoods(nodes, edges), node) for node in kept]
        for flips, edges in near_by.items()
    }

    def sensitivity(distance):
        starts = [flips for flips in scores if len(flips) <= distance]
        changes = [
            np.abs(np.subtract(scores[flips], scores[flips ^ {pair}]))
            for flips in starts
            for pair in pairs.values()
        ]
        return np.max(changes, axis=0)

    steps = np.array([sensitivity(distance) for distance in range(3)])
    shifted = 7 - np.array(scores[frozenset()])
    dampened = [
        _inverted(value, column) for value, column in zip(shifted, steps.T, strict=True)
    ]
    weights = np.exp(-np.array(dampened))  # epsilon is 2
    a, v0, v2 = weights / (weights @ [2, 4, 2])

    assert steps.tolist() == [[3, 2, 1], [5, 3, 2], [5, 4, 3]]
    assert dampened == pytest.approx([1 / 6, 2.5, 3 + 1 / 7.5])
    assert (a, v0, v2) == pytest.approx((0.4015, 0.0389, 0.0207), abs=5e-5)
    for what, value in (("P(a)", a), ("largest P(v_i)", v0), ("least P(v_i)", v2)):
        assert stored("examples", "value", example=8, what=what) == pytest.approx(value)


def _inverted(value, steps, largest=7.5):
    """Return how many sensitivities a value is, the last in part; beyond them the largest."""
    for count, step in enumerate(steps):
        if value <= step:
            return count + value / step
        value -= step
    return len(steps) + value / largest
