"""A count that may be noise is said to be: rows where nothing is, and where all is."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.trees import Bins, ID3Tree

AR = {"neighbours": "add-remove"}
SEQUENCE = {"mechanism": "noisy-sequence"}
PEOPLE = pl.DataFrame({"code": ["a"] * 900 + ["b"] * 600, "ward": ["x"] * 900 + ["y"] * 600})
FOUND = {"column": "code", "candidates": ["a", "b", *map(str, range(98))], "k": 2, **AR}
NOBODY = PEOPLE.with_columns(code=pl.lit("no candidate"))
POINTS = [[0.1, 0.1]] * 900 + [[0.9, 0.9]] * 600
STAR = [(0, other) for other in range(2, 400)] + [(1, other) for other in range(400, 800)]
RECORDS = pl.DataFrame({"age": [20, 70] * 500, "label": ["no", "yes"] * 500})
TREE = {"domains": {"age": Bins(0, 90, bins=3)}, "label": "label", "max_records": 2000, **AR}

CASES = {
    "TopKeys": (dp.TopKeys, FOUND, PEOPLE, NOBODY),
    "TopKeys, Gaussian": (dp.TopKeys, {**FOUND, "delta": 1e-6}, PEOPLE, NOBODY),
    "TopKeys with fresh counts": (dp.TopKeys, {**FOUND, "counts_share": 0.5}, PEOPLE, NOBODY),
    "TopKeys in groups": (
        dp.TopKeys, {**FOUND, "k": 1, **SEQUENCE, "by": "ward", "groups": ["x", "y"]},
        PEOPLE, NOBODY
    ),
    "HeavyCells": (
        dp.HeavyCells, {"bounds": (0, 0, 1, 1), "grid": 8, "k": 2, **AR}, POINTS, [[7.0, 7.0]]
    ),
    "TopNodes": (
        dp.TopNodes, {"metric": "degree", "nodes": 900, "k": 2, **SEQUENCE}, STAR, [(7, 7)]
    ),
    "ID3Tree": (ID3Tree, {"classes": ["no", "yes"], **TREE}, RECORDS, RECORDS.head(0)),
}  # fmt: skip


@pytest.mark.parametrize(("query", "asked", "much", "little"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("epsilon", [1.0, 1000.0])
def test_what_is_noise_is_said_to_be_and_nothing_else(query, asked, much, little, epsilon):
    made = query(epsilon=epsilon, **asked)
    found, nothing = made.release(much), made.release(little)

    assert set(found.usable) == {True}
    assert "warning" not in found.facts
    assert not any(nothing.usable)
    assert nothing.facts["warning"].startswith("all of it may be noise alone")


@pytest.mark.parametrize("candidates", [1, 10, 1000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("more", [{}, {"noise": "gaussian", "delta": 1e-6}], ids=str)
def test_noise_alone_is_as_small_as_is_said(candidates, epsilon, more):
    """By the exact distribution of the largest noise: half of the bound on the error."""
    mechanism = dp.NoisySequence(epsilon=epsilon, l1=1, bound=1, step=1, **more)
    most = mechanism.largest_gap(candidates, 1, 0.05) / 2
    noise = mechanism.intervals(candidates, 1, 0.95).noise

    below = float(noise.log_at_most(np.array([most]))[0])
    assert np.exp(candidates * below) >= 0.95
