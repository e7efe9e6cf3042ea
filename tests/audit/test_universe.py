from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

import dpselect as dp
from dpselect.audit.universe import build
from dpselect.errors import NeighboursError, ParameterError

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
    found = build(databases, relation)
    expected = {
        (i, j) for (i, x), (j, y) in combinations(enumerate(databases), 2) if predicate(x, y)
    }

    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected


def test_a_predicate_may_be_given_and_need_not_be_symmetric():
    chain = build(range(4), lambda x, y: y == x - 1)

    assert list(zip(chain.left.tolist(), chain.right.tolist(), strict=True)) == [
        (0, 1),
        (1, 2),
        (2, 3),
    ]
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


@pytest.mark.parametrize(
    ("relation", "databases"),
    [
        (dp.Neighbours.ADD_REMOVE, [("a",), frozenset("a")]),
        (dp.Neighbours.ADD_REMOVE, ["a", "ab"]),
        (dp.Neighbours.ADD_REMOVE, [("a", "b"), ("b", "a"), ("a",)]),
        (dp.Neighbours.SUBSTITUTE, [("a",), ("b", "c")]),
        (dp.Neighbours.SUBSTITUTE, ["a", "b"]),
        (dp.Neighbours.EDGE, [("a",), ()]),
        (dp.Neighbours.SWAP, [frozenset("a"), frozenset("bc")]),
        (dp.Neighbours.SWAP, [("a",), ("b",)]),
    ],
)
def test_databases_of_the_wrong_type_are_refused(relation, databases):
    with pytest.raises(ParameterError, match="every"):
        build(databases, relation)


@pytest.mark.parametrize("databases", [[], [()], [(), ("a", "b")]])
def test_a_universe_without_neighbours_proves_nothing(databases):
    with pytest.raises(ParameterError, match="at least two databases"):
        build(databases, dp.Neighbours.ADD_REMOVE)


def test_databases_must_be_hashable():
    with pytest.raises(ParameterError, match="hashable"):
        build([["a"], []], dp.Neighbours.ADD_REMOVE)


def test_the_relation_must_be_one():
    with pytest.raises(NeighboursError, match="function"):
        build([()], "add and remove")


def test_a_relation_may_be_named():
    databases = [(), ("a",)]
    named, given = build(databases, "add-remove"), build(databases, dp.Neighbours.ADD_REMOVE)

    assert named.left.tolist() == given.left.tolist() == [0]
