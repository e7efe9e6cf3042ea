"""The laws of the page are those of Python, in 10,000 cases."""

import json

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from dpselect_planner import assembly
from support import planner_laws

TOLERANCE = 1e-12


@pytest.fixture(scope="module")
def page():
    engine = MiniRacer()
    engine.eval(assembly.laws() + planner_laws.CALLS)
    return engine


def differences(page, cases):
    """Return the largest difference of each law from the page's."""
    asked, expected = zip(*cases, strict=True)
    answers = json.loads(page.call("answers", planner_laws.encoded(asked)))
    return [
        float(np.abs(np.subtract(ours, theirs)).max())
        for ours, theirs in zip(expected, answers, strict=True)
    ], [one["law"] for one in asked]


@pytest.mark.slow
def test_every_law_of_the_page_is_that_of_python(page, record_property):
    worst = {}
    found, names = differences(page, planner_laws.cases(np.random.default_rng(20)))
    for difference, law in zip(found, names, strict=True):
        worst[law] = max(worst.get(law, 0.0), difference)
    record_property("worst", worst)

    assert len(found) >= 10_000
    assert max(worst.values()) <= TOLERANCE, worst
