"""The bounds of subset retrieval: what agrees with the paper and what does not."""

from itertools import pairwise

import polars as pl
import pytest
from dpselect_studies.gonen_2025.theorems import NAMES, SPHERE, STUDY

from dpselect_studies import compare


@pytest.fixture(scope="module")
def frame():
    """The full setting: all of it takes a moment."""
    rows = [row for cell in STUDY.cells(STUDY.full) for row in STUDY.measure(cell, None)]
    return pl.DataFrame(rows)


def test_the_sphere_is_never_what_theorem_1_claims(frame):
    beside = compare(STUDY, frame)

    assert beside.height == 4
    assert (beside["ours"] > beside["printed"] + 0.02).all()
    assert not beside["agrees"].any()


def test_bounds_and_schemes_keep_their_order_at_every_beta(frame):
    wide = frame.pivot("what", index=["n", "d", "epsilon", "beta"], values="delta")
    order = [NAMES[name] for name in ("lower bound", "optimal", "ball (A1)")]
    order += [NAMES["upper bound of Theorem 1"], SPHERE]

    assert wide.height == 3 * (5 + 6 + 11 + 11)
    for lower, upper in pairwise(order):
        assert (wide[lower] <= wide[upper] + 1e-9).all()


def test_the_printed_claim_is_theorem_1_s_formula(frame):
    upper = frame.filter(pl.col("what") == NAMES["upper bound of Theorem 1"])
    for number in STUDY.printed:
        where = {key: value for key, value in number.where.items() if key != "what"}

        assert upper.filter(**where)["delta"].to_list() == pytest.approx(
            [number.value], abs=5e-5
        )


def test_the_ball_is_the_optimum_at_epsilon_0(frame):
    free = frame.filter(pl.col("epsilon") == 0)
    ball, optimum = (
        free.filter(pl.col("what") == NAMES[name])["delta"].to_numpy()
        for name in ("ball (A1)", "optimal")
    )

    assert ball == pytest.approx(optimum)
