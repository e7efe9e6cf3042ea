"""The margin against its definition, and its utility theorem against exact laws."""

from math import log

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from support.strategies import several_objectives

EDGE = dp.Neighbours.EDGE


def definition(objectives, candidate, lead):
    """The worst rival's least lead in any objective, with its sign turned."""
    rivals = [r for r in range(len(objectives[0])) if r != candidate]
    leads = [min(lead(part, r, candidate) for part in objectives) for r in rivals]
    return -max(leads, default=0.0)


def in_global_steps(part, rival, candidate):
    bounds = np.broadcast_to(part.sensitivity.bounds, len(part))[[rival, candidate]]
    width = bounds.max() if part.monotone else bounds.sum()
    return (part.scores[rival] - part.scores[candidate]) / width


@pytest.mark.slow
@given(several_objectives())
def test_the_margin_equals_its_definition(objectives):
    expected = [definition(objectives, r, in_global_steps) for r in range(len(objectives[0]))]

    assert dp.margin(objectives).scores == pytest.approx(expected)


@pytest.mark.parametrize("ties", [7, 10_000])
def test_the_sweep_equals_the_comparison_of_all_pairs(ties):
    rng = np.random.default_rng(2)
    pair = [rng.integers(0, ties, 900).astype(float) for _ in range(2)]
    flat = [dp.Objective(u, dp.GlobalSensitivity(0.5, EDGE), monotone=True) for u in pair]
    each = [
        dp.Objective(u, dp.GlobalSensitivity(np.full(900, 0.5), EDGE), monotone=True)
        for u in pair
    ]

    assert (dp.margin(flat).scores == dp.margin(each).scores).all()


@pytest.mark.slow
@given(
    several_objectives(),
    st.floats(0.05, 8),
    st.floats(0.01, 0.9),
    st.sampled_from(["em", "pf"]),
)
def test_a_draw_is_beaten_by_little_in_all_objectives_at_once(
    objectives, epsilon, beta, mechanism
):
    """The theorem of the docstring, on the exact law."""
    chosen = dp.ExponentialMechanism if mechanism == "em" else dp.PermuteAndFlip
    law = chosen(epsilon=epsilon).probabilities(dp.margin(objectives))
    n = law.size
    allowed = {
        part: (2 if part.monotone else 4)
        * part.sensitivity.bounds.max()
        / epsilon
        * log(n / beta)
        for part in objectives
    }
    beaten = [
        any(
            all(part.scores[rival] - part.scores[r] > allowed[part] for part in objectives)
            for rival in range(n)
        )
        for r in range(n)
    ]

    assert law[beaten].sum() <= beta
