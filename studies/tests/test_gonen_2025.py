"""The bounds of subset retrieval: what agrees with the paper and what does not."""

import numpy as np
import polars as pl
import pytest

from dpselect_studies import compare
from dpselect_studies.comparison import AGREES
from dpselect_studies.gonen_2025 import theorem_3
from dpselect_studies.gonen_2025.theorem_1 import STUDY


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


def test_only_a_design_for_the_replaced_people_too_is_always_decoded():
    rng = np.random.default_rng(0)
    cells = theorem_3.cells(theorem_3.Setting(((100, 2, 3),), 100))
    both, members = (theorem_3.measure(cell, rng)[0] for cell in cells)

    assert both["decoded"] == 1
    assert members["decoded"] < 0.2
    assert both["members missed"] == members["members missed"] == 0
