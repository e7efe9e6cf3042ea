"""Theorems 52 and 54 of the theory page: all graphs of four and five nodes."""

from itertools import combinations, permutations, product
from math import exp, log

import numpy as np
import pytest

from dpselect_studies.own_candidate import log_probability, loss


def law(scores, decay, k):
    """Log probabilities of all answers."""
    answers = permutations(range(len(scores)), k)
    return [log_probability(np.array(scores), decay, list(answer)) for answer in answers]


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_law_is_that_of_rounds(k):
    scores = np.array([0, 2, 1, 2])
    for answer, found in zip(permutations(range(4), k), law(scores, 0.7, k), strict=True):
        weights, chance = dict(enumerate(np.exp(0.7 * scores))), 1.0
        for place in answer:
            chance *= weights[place] / sum(weights.values())
            del weights[place]
        assert found == pytest.approx(log(chance))


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("decay", [0.05, 1.0, 6.0])
def test_no_step_loses_more_than_the_bound(decay, k):
    """Four candidates with scores of 0 to 2; one score moves by any amount, others by 1."""
    vectors = list(product(range(3), repeat=4))
    laws = np.array([law(one, decay, k) for one in vectors])
    moved = np.abs(np.array(vectors)[:, None] - np.array(vectors)[None])
    losses = [
        np.abs(laws[i] - laws[j]).max() for i, j in np.argwhere((moved > 1).sum(axis=2) <= 1)
    ]

    assert 0.3 * loss(decay, n=4, cap=2, k=k) < max(losses)
    assert max(losses) <= loss(decay, n=4, cap=2, k=k) * (1 + 1e-12)


def off_each_node(n, values):
    """Yield for each node how far values move between graphs that agree off its edges.

    Args:
        n: Number of nodes.
        values: Function of the degrees; an array for each graph.
    """
    pairs = list(combinations(range(n), 2))
    there = np.array(list(product([0, 1], repeat=len(pairs))))
    ends = np.array([[v in pair for v in range(n)] for pair in pairs], dtype=np.int64)
    of_graphs = np.array([values(degrees) for degrees in there @ ends])
    for v in range(n):
        others = there[:, ends[:, v] == 0]
        order = np.lexsort(others.T)
        groups = of_graphs[order].reshape(-1, 2 ** (n - 1), of_graphs.shape[1])
        yield np.ptp(groups, axis=1).max(axis=0)


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_edges_of_one_node_move_its_degree_by_the_cap_and_others_by_one(cap):
    for v, moved in enumerate(off_each_node(4, lambda degrees: np.minimum(degrees, cap))):
        assert moved.tolist() == [cap if node == v else 1 for node in range(4)]


@pytest.mark.parametrize(("n", "k"), [(4, 1), (4, 4), (5, 1), (5, 2)])
@pytest.mark.parametrize("cap", [1, 3])
def test_a_node_is_protected_on_all_graphs(n, k, cap):
    decay = 2.0
    stated = loss(decay, n=n, cap=cap, k=k)
    capped = off_each_node(n, lambda degrees: law(np.minimum(degrees, cap), decay, k))
    found = max(moved.max() for moved in capped)

    assert 0.2 * stated < found <= stated
    if (n, k, cap) == (5, 1, 1):  # planted: degrees that are not capped
        whole = off_each_node(n, lambda degrees: law(degrees, decay, k))
        assert max(moved.max() for moved in whole) > stated


def test_any_two_nodes_can_be_made_twins_in_one_step():
    """The step of Theorem 52: exchanged names leave the graph as it is."""
    pairs = list(combinations(range(4), 2))
    for there in product([False, True], repeat=len(pairs)):
        graph = {pair for pair, one in zip(pairs, there, strict=True) if one}
        for v, w in permutations(range(4), 2):
            others = {end for edge in graph if w in edge for end in edge} - {v, w}
            kept = {edge for edge in graph if v not in edge or w in edge}
            made = kept | {tuple(sorted((v, other))) for other in others}
            names = {v: w, w: v}
            swapped = {tuple(sorted(names.get(end, end) for end in edge)) for edge in made}
            assert swapped == made
            assert all(v in edge for edge in made ^ graph)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("decay", [0.05, 0.4])
def test_no_node_is_named_more_often_than_the_ceiling(k, decay):
    """Theorem 52, on every vector of five degrees."""
    answers = np.array(list(permutations(range(5), k)))
    bound = exp(2 * loss(decay, n=5, cap=4, k=k))
    for degrees in product(range(5), repeat=5):
        chances = np.repeat(np.exp(law(degrees, decay, k)), k)
        named = np.bincount(answers.ravel(), chances, minlength=5)
        assert named.max() <= k * bound / (bound + 4)
