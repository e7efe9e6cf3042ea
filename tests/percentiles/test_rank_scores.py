"""Scores by rank, of which few are computed: those of the definition, and all that are near."""

import numpy as np
import pytest

from dpselect.percentiles.objectives import OUT, RankScores
from dpselect.percentiles.reading import Counts
from support.placing import signed_scores

BOUND = 0.7


@pytest.mark.parametrize("seed", range(60))
def test_scores_are_those_of_the_definition_and_none_that_is_near_is_missed(seed):
    """Of groups with few numbers or none, some of which are beyond all candidates."""
    rng = np.random.default_rng(seed)
    size, groups, p = rng.integers(1, 12), rng.integers(1, 4), float(rng.integers(1, 101))
    points = np.sort(rng.choice(100, size, replace=False)).astype(float)
    ends = (-1, size + 1) if seed % 2 else (0, size)
    numbers = [rng.integers(*ends, rng.integers(0, 9)) for _ in range(groups)]
    held = np.array([np.bincount(one + 1, minlength=size + 2) for one in numbers])
    group, place = held.nonzero()
    counts = Counts(int(groups), int(size), group, place - 1, held[group, place])
    low = rng.integers(0, size, groups) if seed % 3 else np.zeros(groups, dtype=int)
    high = np.array([rng.integers(one, size) for one in low]) if seed % 3 else low + size - 1
    expected = np.array([signed_scores(one, p, points) for one in numbers])
    inside = (np.arange(size) >= low[:, None]) & (np.arange(size) <= high[:, None])
    best = np.where(inside, expected, -np.inf).max(axis=1, keepdims=True)

    found = RankScores(counts, p=p, points=points, bound=BOUND, drawn=(low, high))

    units = np.where(inside, (expected - best) / BOUND, OUT)
    np.testing.assert_allclose(np.asarray(found), units, atol=1e-9)
    reaches = [0, 0.01, 0.5, 3, 50, 1e12, np.inf]
    for reach, first, end in zip(reaches, *found.near(np.array(reaches)), strict=True):
        drawn = (np.arange(size) >= first[:, None]) & (np.arange(size) < end[:, None])
        assert (drawn <= inside).all()
        assert (drawn >= inside & (expected >= best - min(reach, 1e300) * BOUND)).all()
