"""A private query for the shift: a noisy bound of the scores, then a draw anchored at it."""

from itertools import combinations
from math import exp

import numpy as np

import dpselect as dp
from dpselect.networks import Graph, ego_betweenness

PAIRS = list(combinations(range(4), 2))
GRAPHS = [edges for size in range(7) for edges in combinations(PAIRS, size)]
SHIFT, DRAW = 0.5, 1.0
"""What the noisy degree and the draw cost."""
NOISY = range(-3, 9)


def law(edges, noise):
    """Return the joint distribution of the noisy largest degree and of the drawn node."""
    graph = Graph.from_edges(list(edges), nodes=4)
    objective = ego_betweenness(graph, sensitivity="degree")
    largest = int(graph.degrees.max())
    rows = []
    for noisy in NOISY:
        chance = (1 - exp(-noise)) / (1 + exp(-noise)) * exp(-noise * abs(noisy - largest))
        anchored = dp.AnchoredLocalDampening(epsilon=DRAW, anchor=noisy * (noisy - 1) / 2)
        rows.append(chance * anchored.probabilities(objective))
    return np.array(rows)


def largest_loss(noise):
    """Return the largest logarithm of a ratio of two neighbours' probabilities."""
    laws = {edges: law(edges, noise) for edges in GRAPHS}
    return max(
        np.log(laws[edges] / laws[tuple(sorted({*edges} ^ {pair}))]).max()
        for edges in GRAPHS
        for pair in PAIRS
    )


def test_the_noisy_shift_and_the_draw_cost_their_sum():
    assert DRAW < largest_loss(SHIFT) <= SHIFT + DRAW


def test_noise_of_another_epsilon_is_found():
    assert largest_loss(2 * SHIFT) > SHIFT + DRAW
