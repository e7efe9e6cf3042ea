"""Partitions made from the coarse grid, and their place among the candidates."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dpselect.maps import AdaptiveGrid, Guideline, Quadtree, Weighted
from dpselect.maps.partition import COARSE, MOST_CELLS, CoarseGrid, rules_of, standard_deviation

RULES = [Guideline(c=10), AdaptiveGrid(c=5), Quadtree(c=10)]
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.label)


def coarse(*cells, rest=0.0, scale=0.01):
    counts = np.full(COARSE**2, rest)
    counts[: len(cells)] = cells
    return CoarseGrid(counts, scale)


@pytest.mark.slow
@every_rule
@settings(max_examples=25)
@given(
    counts=st.lists(st.integers(-(10**12), 10**12), min_size=COARSE**2, max_size=COARSE**2),
    epsilon=st.floats(1e-6, 100),
)
def test_cells_fill_the_box_whatever_the_noise_did(rule, counts, epsilon):
    partition = rule.partition(CoarseGrid(np.array(counts, dtype=float), 1.0), epsilon)
    corners = partition.regions[:, :3]
    covered = np.zeros((partition.base, partition.base), dtype=int)
    for x, y, span in corners:
        covered[x : x + span, y : y + span] += 1

    assert (covered == 1).all()
    assert (corners[:, :2] % corners[:, 2:] == 0).all()
    assert 1 <= partition.cells <= MOST_CELLS


def test_the_guideline_is_the_square_root_of_points_over_c():
    assert Guideline(c=10).partition(coarse(1000), 1.0).shape == (10, 10)
    assert Guideline(c=10).partition(coarse(1001), 1.0).shape == (11, 11)
    assert Guideline(c=10).partition(coarse(-5), 1.0).shape == (1, 1)


def test_the_adaptive_grid_cuts_each_coarse_cell_by_its_own_count():
    partition = AdaptiveGrid(c=5).partition(coarse(45, 0, 46, 20), 1.0)

    assert partition.regions[:4, 3].tolist() == [3, 1, 4, 2]
    assert (partition.regions[:, 2] == 1).all()


def test_the_quadtree_halves_what_holds_too_many():
    partition = Quadtree(c=10).partition(coarse(165), 1.0)

    # On the way to the coarse cell each of four levels leaves three squares whole; the cell
    # itself is halved until 165 / 4**k is at most 10.
    assert len(partition.regions) == 4 * 3 + 1
    assert partition.cells == 4 * 3 + 8**2
    assert sorted(set(partition.regions[:, 2].tolist())) == [1, 2, 4, 8]


def test_the_quadtree_keeps_a_square_that_holds_just_enough():
    assert Quadtree(c=10).partition(coarse(10), 1.0).shape == (1, 1)
    assert Quadtree(c=10).partition(coarse(10), 1.1).shape is None


def test_weights_are_one_over_noisy_answers_or_over_a_floor():
    edges = np.array([[0, 0, 2**32, 2**32], [0, 0, 2**28, 2**28]])

    def weights(*cells, least=0, queries=edges):
        grid = coarse(*cells, scale=4.0)
        return Weighted.relative(grid, queries, least=least, neighbours="add-remove").weights

    # The first cell holds 6 points and the noise deviates by 5.6.
    assert weights(6, 994) == pytest.approx([1 / 1000, 1 / 6])
    assert weights(6, 994, least=10) == pytest.approx([1 / 1000, 1 / 10])
    assert weights(2, queries=edges[1:]) == pytest.approx([1 / standard_deviation(4.0)])


def test_noise_alone_halves_no_square_of_a_quadtree():
    """Of 5,000 even points and noise that is larger than any cell: squares of one size."""
    noise = np.random.default_rng(1).laplace(scale=50.0, size=(20, COARSE**2))
    found = [
        Quadtree(c=10).partition(CoarseGrid(5000 / 256 + one, 50.0), 0.08) for one in noise
    ]
    planted = [
        Quadtree(c=10).partition(CoarseGrid(5000 / 256 + one, 0.01), 0.08) for one in noise
    ]

    assert np.mean([len({*one.regions[:, 2].tolist()}) for one in found]) < 1.5
    assert all(len({*one.regions[:, 2].tolist()}) > 2 for one in planted)


def test_methods_are_names_rules_or_several():
    assert rules_of("uniform") == ()
    assert rules_of(("guideline", AdaptiveGrid(3.0))) == (Guideline(10.0), AdaptiveGrid(3.0))
    assert rules_of({"name": "adaptive", "c": 3.0}) == (AdaptiveGrid(3.0),)
    assert len(rules_of(["adaptive", AdaptiveGrid(5.0)])) == 3
