"""The picture of a front shows all candidates, the front and what was drawn."""

import matplotlib as mpl
import numpy as np

import dpselect as dp
from dpselect.combine import plot_front

mpl.use("Agg")


def parts(*scores):
    one = dp.GlobalSensitivity(1, dp.Neighbours.EDGE)
    return [dp.Objective(u, one, candidates=["a", "b", "c", "d"]) for u in scores]


def test_candidates_front_and_draws_are_where_their_scores_are():
    axes = plot_front(parts([3, 1, 2, 0], [0, 4, 2, 2]), drawn=["c", "d"])
    (front,) = axes.get_lines()
    everyone, drawn = axes.collections

    assert np.array(front.get_data()).tolist() == [[1, 2, 3], [4, 2, 0]]
    assert everyone.get_offsets().tolist() == [[3, 0], [1, 4], [2, 2], [0, 2]]
    assert drawn.get_offsets().tolist() == [[2, 2], [0, 2]]
