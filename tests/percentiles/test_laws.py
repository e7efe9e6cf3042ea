"""Exact laws of percentiles, against their draws."""

from typing import get_args

import numpy as np
import pytest
from scipy import stats

from dpselect.errors import ParameterError
from dpselect.mechanisms import by_name
from dpselect.neighbours import Neighbours
from dpselect.percentiles import compare_percentiles, halves, methods, percentile_laws
from dpselect.percentiles.choosing import chosen
from dpselect.percentiles.ranks import NumbersInMemory

VALUES = np.array([1.0, 1, 1, 2, 2, 3, 5, 5, 5.5, 8])
ASKED = {
    "p": [25.0, 50.0, 90.0], "candidates": np.arange(7.0), "epsilon": 3.0,
    "mechanism": "permute-and-flip",
}  # fmt: skip


def simulated(drawn, ranks, size, rng):
    """Draw by the steps of the release, with numpy's generator."""

    def choose(objective, epsilon):
        mechanism = by_name("permute-and-flip", epsilon)
        return int(mechanism.simulate(objective, size=1, rng=rng).indices[0])

    for _ in range(size):
        branch = halves.Branch.of_all(ranks)
        positions = halves.draw_all(
            drawn.tree, branch, 7, neighbours=drawn.neighbours,
            per_user=1, draw=choose,
        )  # fmt: skip
        yield [positions[i] for i in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", ["add-remove", "substitute"])
def test_the_recursion_follows_its_laws(neighbours):
    """False alarm 1 in 10^5 each; a shift of 10 % of mass is seen."""
    laws = percentile_laws(VALUES, method="recursive", neighbours=neighbours, **ASKED)
    drawn = chosen(
        percents=tuple(ASKED["p"]), points=ASKED["candidates"], method="recursive",
        per_user=1, assumed_records=None, epsilon=ASKED["epsilon"],
        neighbours=Neighbours(neighbours),
        mechanism=ASKED["mechanism"],
    )  # fmt: skip
    ranks = NumbersInMemory(VALUES).ranks(ASKED["candidates"])
    rows = np.array(list(simulated(drawn, ranks, 600, np.random.default_rng(1))))

    assert laws.sum(axis=1) == pytest.approx(1)
    for law, found in zip(laws, rows.T, strict=True):
        observed = np.bincount(found, minlength=7)
        assert stats.chisquare(observed, 600 * law).pvalue > 1e-5


def test_one_by_one_sorts_independent_draws():
    """Of two percentiles, against the sum over all pairs."""
    asked = ASKED | {"p": [40.0, 60.0]}
    laws = percentile_laws(VALUES, method="one-by-one", neighbours="add-remove", **asked)
    alone = [
        percentile_laws(VALUES, neighbours="add-remove", **asked | {"p": p, "epsilon": 1.5})[0]
        for p in asked["p"]
    ]
    pairs = np.outer(*alone)
    smaller = [pairs[i, i:].sum() + pairs[i + 1 :, i].sum() for i in range(7)]

    np.testing.assert_allclose(laws[0], smaller, atol=1e-14)
    np.testing.assert_allclose(laws.sum(axis=0), sum(alone), atol=1e-14)


def test_methods_are_compared_by_their_laws():
    values, points = np.arange(40.0), np.arange(0.0, 40, 8)
    asked = {"p": [25, 75], "candidates": points, "neighbours": "add-remove"}
    table = compare_percentiles(values, epsilons=[0.5, 2], **asked)
    wanted = np.array([25, 75])[:, None] / 100 * 41
    far = np.maximum(0, np.maximum(points - wanted, wanted - points - 1))

    assert [row.mechanism for row in table.rows[::2]] == list(get_args(methods.Method))
    for row in table.rows:
        laws = percentile_laws(values, epsilon=row.epsilon, method=row.mechanism, **asked)
        assert row.expected_error == pytest.approx((laws * far).sum() / 2)
    assert table.uniform.expected_error == pytest.approx(far.mean())
    unordered = asked | {"candidates": points[::-1]}
    some = compare_percentiles(values, epsilons=[1], **unordered)
    assert [row.mechanism for row in some.rows] == ["one-by-one", "above-threshold"]
    with pytest.raises(ParameterError, match="epsilon must be"):
        compare_percentiles(values, epsilons=[0], **asked)
