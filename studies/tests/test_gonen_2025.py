"""The bounds of subset retrieval: what agrees with the paper and what does not."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from dpselect_studies import compare
from dpselect_studies.comparison import AGREES
from dpselect_studies.gonen_2025 import theorem_2, theorem_3
from dpselect_studies.gonen_2025.theorem_1 import BALL, LOWER, OPTIMUM, SPHERE, STUDY, UPPER


@pytest.fixture(scope="module")
def frame():
    """The full setting: all of it takes a moment."""
    rows = [row for cell in STUDY.cells(STUDY.full) for row in STUDY.measure(cell, None)]
    return pl.DataFrame(rows)


def test_the_ball_keeps_theorem_1_and_the_sphere_never_does(frame):
    beside = compare(STUDY, frame)
    sphere = beside["where"].str.contains("sphere")

    assert beside.height == 8
    assert (beside["ours"] > beside["printed"] + 0.02).to_list() == sphere.to_list()
    assert (beside["verdict"] == AGREES).to_list() == (~sphere).to_list()
    assert set(beside["kind"]) == {"formula"}


def test_bounds_and_schemes_keep_their_order_at_every_beta(frame):
    wide = frame.pivot("what", index=["n", "d", "epsilon", "beta"], values="delta")
    order = [LOWER, OPTIMUM, BALL, UPPER, SPHERE]

    assert wide.height == 3 * (5 + 6 + 11 + 11)
    for lower, upper in pairwise(order):
        assert (wide[lower] <= wide[upper] + 1e-9).all()


def test_delta_falls_with_beta(frame):
    of_one = frame.filter(pl.col("what").is_in([LOWER, OPTIMUM, BALL, UPPER])).sort("beta")
    for _, curve in of_one.group_by("n", "d", "epsilon", "what", maintain_order=True):
        assert (np.diff(curve["delta"].to_numpy()) <= 1e-12).all()


def test_the_printed_claim_is_theorem_1_s_formula(frame):
    upper = frame.filter(pl.col("what") == UPPER)
    for number in STUDY.printed:
        where = {key: value for key, value in number.where.items() if key != "what"}

        assert upper.filter(**where)["delta"].to_list() == pytest.approx(
            [number.value], abs=5e-5
        )


def test_the_ball_is_the_optimum_at_epsilon_0(frame):
    free = frame.filter(pl.col("epsilon") == 0)
    ball, optimum = (
        free.filter(pl.col("what") == name)["delta"].to_numpy() for name in (BALL, OPTIMUM)
    )

    assert ball == pytest.approx(optimum)


def test_theorem_2_holds_within_its_condition_and_up_to_n_over_d():
    study = theorem_2.STUDY
    rows = [row for cell in study.cells(study.full) for row in study.measure(cell, None)]
    wide = pl.DataFrame(rows).pivot("what", index=["n", "d", "epsilon", "beta"], values="delta")
    holds = wide[theorem_2.EXACT] <= wide[theorem_2.UPPER] + 1e-12

    assert (holds == (wide["n"] >= wide["beta"] * wide["d"])).all()
    assert (wide[theorem_2.LOWER] <= wide[theorem_2.EXACT] + 1e-12).all()


def test_only_a_design_for_the_replaced_people_too_is_always_decoded():
    rng = np.random.default_rng(0)
    cells = theorem_3.cells(theorem_3.Setting(((100, 2, 3),), 100))
    both, members = (theorem_3.measure(cell, rng)[0] for cell in cells)

    assert both["decoded"] == 1
    assert members["decoded"] < 0.2
    assert both["members missed"] == members["members missed"] == 0
