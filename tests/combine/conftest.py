"""Kernels are compiled before the clock of a test starts."""

import numpy as np
import pytest

import dpselect as dp
from dpselect.combine import dominance


@pytest.fixture(scope="session", autouse=True)
def compiled():
    scores = np.zeros((4, 2))
    dominance.count_at_least(scores, scores)
    dominance._in_two(scores[:2], scores[:2])
    dominance._in_three(scores[:3], scores[:3])
    each = dp.GlobalSensitivity([1.0, 2.0], dp.Neighbours.EDGE, horizon=3)
    part = dp.Objective([1.0, 2.0], each)
    dp.pareto([part]).sensitivity.shortfall()
    dp.margin([part])
    dp.combine.local_margin([part])
