"""The weighted sum of two rates against disjoint_sum and against its definition."""

from itertools import product

import numpy as np
import pytest

import dpselect as dp
from dpselect import trees


def both(hits, totals, weights, horizon=2**20):
    fast = trees.weighted_rates(hits, totals, weights, horizon=horizon)
    parts = [
        trees.true_positive_rate(np.array(hits)[:, k], totals[k], horizon=horizon)
        for k in (0, 1)
    ]
    return fast, dp.disjoint_sum(parts, weights)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (3.0, 2.0), (0.5, 7.0)])
@pytest.mark.parametrize("totals", [(0, 0), (1, 3), (5, 8), (9, 2)])
@pytest.mark.parametrize("horizon", [0, 4, 2**20])
def test_equals_the_disjoint_sum(weights, totals, horizon):
    hits = list(product(range(totals[0] + 1), range(totals[1] + 1)))
    fast, slow = both(hits, totals, weights, horizon)

    assert fast.scores == pytest.approx(slow.scores)
    for t in range(14):
        assert np.broadcast_to(fast.sensitivity.at(t), len(hits)) == pytest.approx(
            np.broadcast_to(slow.sensitivity.at(t), len(hits)), abs=1e-12
        )
    heights = np.linspace(0, 30, len(hits))
    for found, expected in zip(
        fast.sensitivity.locate(heights), slow.sensitivity.locate(heights), strict=True
    ):
        assert found == pytest.approx(expected, abs=1e-9)


def test_the_local_sensitivity_at_0_is_attained():
    def u(tp, fn, tn, fp):
        return 3 * (tp / (tp + fn) if tp + fn else 0) + 2 * (tn / (tn + fp) if tn + fp else 0)

    for cells in product(range(4), repeat=4):
        worst = 0.0
        for i, step in product(range(4), (1, -1)):
            near = list(cells)
            near[i] += step
            if near[i] >= 0:
                worst = max(worst, abs(u(*near) - u(*cells)))
        tp, fn, tn, fp = cells
        objective = trees.weighted_rates([[tp, tn]], (tp + fn, tn + fp), (3, 2))
        assert float(objective.sensitivity.at(0)[0]) == pytest.approx(worst)


@pytest.mark.parametrize(
    ("hits", "weights", "message"),
    [
        ([1, 2], (1, 1), "shape"),
        ([[1, 2]], (1, -1), "two numbers >= 0"),
        ([[1, 2]], (0, 0), "two numbers >= 0"),
        ([[1, 2]], (1, np.inf), "finite"),
        ([[9, 2]], (1, 1), "from 0 to their total"),
    ],
)
def test_bad_arguments_are_refused(hits, weights, message):
    with pytest.raises(ValueError, match=message):
        trees.weighted_rates(hits, (5, 5), weights)
