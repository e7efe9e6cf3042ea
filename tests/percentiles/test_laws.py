"""Exact distributions of percentiles, against their draws."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpselect as dp
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.split_tree import parts_of, price_of_draw
from support.halves import Half

VALUES = np.array([1.0, 1, 1, 2, 2, 3, 5, 5, 5.5, 8])
ASKED = {
    "p": [25.0, 50.0, 90.0], "candidates": np.arange(7.0), "epsilon": 3.0,
    "mechanism": "permute-and-flip",
}  # fmt: skip


def simulated(node, half, records, rng):
    """Return candidates by the definition of the draws, with numpy's generator."""
    if node is None:
        return {}
    parts, relation = parts_of(node, 7), records if node.level == 1 else "add-remove"
    bound = rank_bound(node.fraction, dp.Neighbours(relation))
    scores = np.array(half.scores(node, parts), dtype=float) / bound
    price = price_of_draw(node, dp.Neighbours(records))
    noisy = scores + rng.exponential(2 / price, scores.size)
    place, part = divmod(int(noisy.argmax()), parts + 1)
    asked = half.first + place, Fraction(part, parts)
    below, above = half.split(*asked)
    return (
        {node.position: asked[0]}
        | simulated(node.below, below, records, rng)
        | simulated(node.above, above, records, rng)
    )


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", ["add-remove", "substitute"])
def test_the_recursion_follows_its_laws(neighbours):
    """False alarm 1 in 10^5 each; a shift of 10 % of mass is seen."""
    query = dp.Percentiles(method="recursive", neighbours=neighbours, **ASKED)
    laws, tree = query.probabilities(VALUES), query.design().method.tree
    half, rng = Half.of_all(VALUES, ASKED["candidates"]), np.random.default_rng(1)
    drawn = [simulated(tree, half, neighbours, rng) for _ in range(600)]
    rows = np.array([[one[i] for i in range(3)] for one in drawn])

    assert laws.sum(axis=1) == pytest.approx(1)
    for law, found in zip(laws, rows.T, strict=True):
        observed = np.bincount(found, minlength=7)
        assert stats.chisquare(observed, 600 * law).pvalue > 1e-5


def test_one_by_one_sorts_independent_draws():
    """Of two percentiles, against the sum over all pairs."""
    asked = ASKED | {"p": [40.0, 60.0]}
    both = dp.Percentiles(method="one-by-one", neighbours="add-remove", **asked)
    laws = both.probabilities(VALUES)
    alone = [
        replace(both, p=p, epsilon=1.5, method=None).probabilities(VALUES)[0]
        for p in asked["p"]
    ]
    pairs = np.outer(*alone)
    smaller = [pairs[i, i:].sum() + pairs[i + 1 :, i].sum() for i in range(7)]

    np.testing.assert_allclose(laws[0], smaller, atol=1e-14)
    np.testing.assert_allclose(laws.sum(axis=0), sum(alone), atol=1e-14)
