"""PrivTree's privacy by enumeration of all trees, and its draws against their law.

The law of a tree is computed from its definition: each decision of the discrete Laplace law
summed term by term, each tree the product of its decisions.
"""

from functools import cache, partial, reduce
from itertools import pairwise, product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect.maps import PrivTree
from dpselect.maps.box import Box
from dpselect.maps.counting import Points
from dpselect.maps.partition import MOST_CELLS
from dpselect.maps.privtree import SplitNoise, loss

ADD_REMOVE, SUBSTITUTE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
relations = pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE], ids=str)
PLACES = {2: [(0, 0), (1, 1)], 3: [(0, 0), (0, 1), (3, 2)]}
"""Of the finest squares whose counts matter, one apart and, on three levels, one beside."""


@cache
def split_probability(count, level, splits, threshold):
    """P[max(threshold - decay, count - level * decay) + Z > threshold], by summation."""
    biased = max(threshold - splits.decay, count - level * splits.decay)
    values = np.arange(-400, 401)
    weights = np.exp(-np.abs(values) / splits.scale)
    return float(weights[biased + values > threshold].sum() / weights.sum())


def law(database, depth, splits, threshold=0):
    """The probabilities of all trees, for points given as {finest square: how many}."""

    def subtrees(level, x, y):
        if level == depth:
            return np.ones(1)
        width = 2 ** (depth - 1 - level)
        count = sum(n for (i, j), n in database.items() if (i // width, j // width) == (x, y))
        p = split_probability(count, level, splits, threshold)
        quarters = [
            subtrees(level + 1, 2 * x + i, 2 * y + j) for i, j in product((0, 1), (0, 1))
        ]
        return np.concatenate([[1 - p], p * reduce(np.multiply.outer, quarters).ravel()])

    return subtrees(0, 0, 0)


def databases(depth, most):
    places = PLACES[depth]
    return list(product(range(most + 1), repeat=len(places)))


def steps(relation, database):
    """The databases one step away: a point more, or one that moved, or came from outside."""
    unit = np.eye(len(database), dtype=int)
    more = [database + one for one in unit]
    if relation is ADD_REMOVE:
        return more
    moved = [
        database - one + other
        for (i, one), (j, other) in product(enumerate(unit), repeat=2)
        if i != j and database[i] > 0
    ]
    return more + moved


def worst_loss(relation, depth, splits, threshold=0, most=5):
    laws = {
        counts: law(dict(zip(PLACES[depth], counts, strict=True)), depth, splits, threshold)
        for counts in databases(depth, most)
    }
    pairs = (
        (here, tuple(there.tolist()))
        for here in laws
        for there in steps(relation, np.array(here))
    )
    return max(
        dp.audit.privacy_loss(laws[here], laws[there]) for here, there in pairs if there in laws
    )


@pytest.mark.slow
@relations
@pytest.mark.parametrize(
    ("splits", "threshold", "depth", "most"),
    [
        (SplitNoise(1.3, 2), 0, 2, 8),
        (SplitNoise(4.0, 3), 2, 2, 8),
        (SplitNoise(0.8, 1), 0, 3, 4),
        (SplitNoise(1.3, 2), 2, 3, 5),
        (SplitNoise(4.0, 3), 0, 3, 5),
    ],
)
def test_the_loss_of_a_tree_is_exact(relation, splits, threshold, depth, most):
    """The worst count is threshold + 1 on the second level, and more by the bias below."""
    assert worst_loss(relation, depth, splits, threshold, most) == pytest.approx(
        loss(splits.scale, splits.decay, depth, relation), rel=1e-9
    )


def test_the_loss_of_one_decision_is_one_over_the_scale():
    splits = SplitNoise(1.7, 3)
    laws = [law({(0, 0): n}, 1, splits) for n in range(6)]
    worst = max(dp.audit.privacy_loss(p, q) for p, q in pairwise(laws))

    assert worst == pytest.approx(loss(1.7, 3, 1, ADD_REMOVE), rel=1e-9)
    assert worst <= loss(1.7, 3, 1, SUBSTITUTE)


@relations
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("max_per_user", [1, 2])
def test_a_tree_keeps_its_epsilon_for_a_whole_individual(relation, epsilon, max_per_user):
    splits = SplitNoise.for_epsilon(
        epsilon, depth=2, neighbours=relation, max_per_user=max_per_user
    )
    laws = {c: law(dict(zip(PLACES[2], c, strict=True)), 2, splits) for c in databases(2, 9)}
    near = {c: {c} for c in laws}
    for _ in range(max_per_user):
        near = {
            c: reached
            | {tuple(n.tolist()) for r in reached for n in steps(relation, np.array(r))}
            for c, reached in near.items()
        }

    worst = max(
        dp.audit.privacy_loss(laws[c], laws[n]) for c in laws for n in near[c] if n in laws
    )
    assert 0.8 * epsilon <= worst <= epsilon


@relations
@given(epsilon=st.floats(1e-4, 50), depth=st.integers(2, 12), most=st.integers(1, 20))
def test_the_noise_is_the_least_that_epsilon_pays_for(relation, epsilon, depth, most):
    splits = SplitNoise.for_epsilon(
        epsilon, depth=depth, neighbours=relation, max_per_user=most
    )
    least = partial(loss, depth=depth, neighbours=relation)

    assert least(splits.scale, splits.decay) * most <= epsilon
    assert least(splits.scale, splits.scale * log(4)) * most == pytest.approx(epsilon)
    assert splits.decay - 1 < splits.scale * log(4) <= splits.decay


@given(epsilon=st.floats(1e-3, 50), depth=st.integers(1, 12))
def test_the_noise_is_at_most_that_of_the_paper(epsilon, depth):
    splits = SplitNoise.for_epsilon(epsilon, depth=depth, neighbours=ADD_REMOVE, max_per_user=1)

    assert splits.scale <= 7 / 3 / epsilon * (1 + 1e-9)


def test_the_loss_falls_with_the_noise_and_with_the_bias():
    scales = np.geomspace(0.01, 1000, 200)
    of_scale = [loss(s, s * log(4), 10, ADD_REMOVE) for s in scales]
    of_decay = [loss(3.0, decay, 10, ADD_REMOVE) for decay in range(1, 40)]

    assert (np.diff(of_scale) < 0).all()
    assert (np.diff(of_decay) < 0).all()


def points_in(database, depth):
    """Points in the middle of the finest squares."""
    width = 2**32 // 2 ** (depth - 1)
    squares = [place for place, n in database.items() for _ in range(n)]
    x, y = (np.array(squares, dtype=np.int64).reshape(-1, 2) * width + width // 2).T
    return Points(x.astype(np.float64), y.astype(np.float64), Box(0, 0, 2**32, 2**32))


@pytest.mark.slow
def test_trees_are_drawn_by_their_law():
    """Unseeded: false alarm 1 in 10^6."""
    splits, draws, database = SplitNoise(1.5, 2), 1500, {(0, 0): 4, (1, 0): 1}
    points = points_in(database, 2)
    trees = [PrivTree(depth=2, threshold=1).grow(points, splits) for _ in range(draws)]
    # The law counts the subtrees of the four quarters as digits of two, the first one slowest.
    numbers = []
    for tree in trees:
        if tree.cells == 1:
            numbers.append(0)
            continue
        small = {(x // 2, y // 2) for x, y, span in tree.regions[:, :3].tolist() if span == 1}
        whole_quarters = tree.base == 2
        digits = [not whole_quarters and (i, j) in small for i in (0, 1) for j in (0, 1)]
        numbers.append(1 + int("".join(map(str, map(int, digits))), 2))
    expected = draws * law(database, 2, splits, threshold=1)
    observed = np.bincount(numbers, minlength=17)
    rare = expected < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())

    assert stats.chisquare(observed, expected).pvalue > 1e-6


def test_without_noise_squares_are_quartered_while_they_hold_more_than_the_bias():
    """exp(-1/scale) is below 1e-43: a decision never differs from the one without noise."""
    splits = SplitNoise(0.01, 1)
    crowd = points_in({(5, 6): 3, (0, 0): 1}, 4)
    tree = PrivTree(depth=4).grow(crowd, splits)
    spans = sorted(tree.regions[:, 2].tolist(), reverse=True)

    # Of the root and of two levels below, 4, 3 and 3 points exceed 0, 1 and 2; 3 not 3.
    assert exp(-1 / splits.scale) < 1e-43
    assert tree.base == 8
    assert spans == [4] * 3 + [2] * 3 + [1] * 4
    assert sorted(crowd.in_cells(tree).tolist())[-2:] == [1, 3]


def test_a_higher_threshold_makes_larger_cells():
    crowd = points_in({(5, 6): 30}, 4)
    fine, coarse = (
        PrivTree(depth=4, threshold=t).grow(crowd, SplitNoise(0.01, 1)) for t in (0, 28)
    )

    assert (fine.cells, coarse.cells) == (13, 7)


@pytest.mark.slow
@given(
    places=st.dictionaries(
        st.tuples(st.integers(0, 15), st.integers(0, 15)), st.integers(1, 40), max_size=6
    ),
    epsilon=st.floats(0.05, 5),
)
def test_cells_fill_the_box_and_hold_all_points(places, epsilon):
    splits = SplitNoise.for_epsilon(epsilon, depth=5, neighbours=ADD_REMOVE, max_per_user=1)
    points = points_in(places, 5)
    tree = PrivTree(depth=5).grow(points, splits)
    covered = np.zeros((tree.base, tree.base), dtype=int)
    for x, y, span in tree.regions[:, :3]:
        covered[x : x + span, y : y + span] += 1

    assert (covered == 1).all()
    assert (tree.regions[:, :2] % tree.regions[:, 2:3] == 0).all()
    assert points.in_cells(tree).sum() == sum(places.values())
    assert tree.cells <= 4**5 <= MOST_CELLS


@pytest.mark.parametrize(
    "arguments",
    [{"depth": 0}, {"depth": 13}, {"depth": 2.0}, {"threshold": -1}, {"threshold": 0.5}],
)
def test_trees_that_cannot_be_are_refused(arguments):
    with pytest.raises(ParameterError, match=r"depth must|threshold must"):
        PrivTree(**arguments)
