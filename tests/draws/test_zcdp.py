"""The zCDP that draws claim, against the Rényi divergences of their exact laws.

rho must be at least D_alpha / alpha for every alpha > 1 on every pair of unit scores that one
neighbour step may turn into each other: here all moves by one, of up to three groups of
candidates at any distance from each other, with up to hundreds of candidates in a group.
"""

from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp

ORDERS = [1, 1 + 1e-6, 1.01, 1.3, 2, 4, 16, 256, inf]
EPSILONS = [0.05, 0.3, 1.0, 3.0, 8.0]
DRAWS = [dp.draws.Exponential(), dp.draws.PermuteAndFlip(), dp.draws.LaplaceNoisyMax()]


def worst_share(draw, epsilon, before, after):
    """The largest D_alpha / alpha of a pair, in units of the claimed rho."""
    p, q = (
        draw.probabilities(np.array(scores, dtype=float), epsilon) for scores in (before, after)
    )
    divergences = [
        dp.audit.renyi(a, b, order) / order for order in ORDERS for a, b in ((p, q), (q, p))
    ]
    return max(divergences) / draw.rho(epsilon)


def two_groups(sizes, gap):
    """Scores in which the first group leads by ``gap`` and then moves against the second."""
    before = np.repeat([gap, 0.0], sizes)
    return before, before + np.repeat([-1.0, 1.0], sizes)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_rho_bounds_two_groups_that_cross(draw, epsilon):
    sizes = [(1, 1), (1, 2), (2, 1), (1, 30), (30, 1), (1, 400), (200, 200)]
    if isinstance(draw, dp.draws.LaplaceNoisyMax):
        sizes = [(1, 1), (1, 30)]
    gaps = np.concatenate([np.linspace(-2, 4, 13), [1 + 8 / epsilon, 1 - 8 / epsilon]])
    shares = [
        worst_share(draw, epsilon, *two_groups(*family)) for family in product(sizes, gaps)
    ]

    assert max(shares) <= 1 + 1e-6


@given(
    epsilon=st.floats(0.01, 12),
    steps=st.lists(
        st.tuples(st.floats(-6, 6), st.floats(-1, 1) | st.sampled_from([-1.0, 1.0])),
        min_size=2,
        max_size=6,
    ),
)
@pytest.mark.parametrize("draw", DRAWS[:2], ids=str)
def test_rho_bounds_any_scores(draw, epsilon, steps):
    before = np.array([score for score, _ in steps])
    after = before + [move for _, move in steps]

    assert worst_share(draw, epsilon, before, after) <= 1 + 1e-6


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rho_of_permute_and_flip_bounds_all_that_are_best_before_or_after(epsilon):
    """The pairs that all others are mixtures of (Theorem 5)."""
    draw = dp.draws.PermuteAndFlip()
    shares = []
    for sizes in product([1, 2, 5], [1, 2, 5], [0, 1, 2, 5]):
        for part in (0.1, 0.3, 0.5, 0.7):
            before = np.repeat([0.0, 2 * part - 2, 0.0], sizes)
            after = np.repeat([-2 * part, 0.0, 0.0], sizes)
            shares.append(worst_share(draw, epsilon, before, after))

    assert max(shares) <= 1 + 1e-9
