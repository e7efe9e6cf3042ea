from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

import dpselect as dp
from dpselect_conformance.objectives.universe import build

MULTISETS = [x for n in range(4) for x in combinations_with_replacement("abc", n)]
SUBSETS = [frozenset(x) for n in range(5) for x in combinations("abcd", n)]
LISTS = list(product("abc", repeat=3))
PAIRS = [frozenset(x) for x in combinations("abcde", 2)]


def differ_by_one_record(x, y):
    short, long = sorted((x, y), key=len)
    return any(sorted(short) == sorted(long[:i] + long[i + 1 :]) for i in range(len(long)))


MEANINGS = {
    "multisets": (dp.Neighbours.ADD_REMOVE, MULTISETS, differ_by_one_record),
    "subsets": (dp.Neighbours.ADD_REMOVE, SUBSETS, lambda x, y: len(x ^ y) == 1),
    "lists": (
        dp.Neighbours.SUBSTITUTE,
        LISTS,
        lambda x, y: sum(a != b for a, b in zip(x, y, strict=True)) == 1,
    ),
    "graphs": (dp.Neighbours.EDGE, SUBSETS, lambda x, y: len(x ^ y) == 1),
    "swaps": (dp.Neighbours.SWAP, PAIRS, lambda x, y: len(x ^ y) == 2),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_a_relation_means_what_its_predicate_says(name):
    relation, databases, predicate = MEANINGS[name]
    found = build(databases, str(relation))
    expected = {
        (i, j) for (i, x), (j, y) in combinations(enumerate(databases), 2) if predicate(x, y)
    }

    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected


def test_a_predicate_may_be_given_and_need_not_be_symmetric():
    chain = build(range(4), lambda x, y: y == x - 1)

    assert np.array([chain.left, chain.right]).T.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert chain.diameter == 3


def test_repeated_steps_reach_everything_within_a_distance():
    cube = build(product((0, 1), repeat=4), dp.Neighbours.SUBSTITUTE)
    values = np.random.default_rng(1).random((16, 2))
    distance = [
        [sum(a != b for a, b in zip(x, y, strict=True)) for y in cube.databases]
        for x in cube.databases
    ]

    assert cube.diameter == 4
    wide = values
    for t in range(5):
        near = np.array(distance) <= t
        assert np.array_equal(wide, [values[row].max(axis=0) for row in near])
        wide = cube.one_step_further(wide)
