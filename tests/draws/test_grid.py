"""Scores on grids: what one neighbour step moves of them is what the noise is made for."""

from math import floor

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpselect.draws import grid
from dpselect.draws.grid import to_grid, to_steps

unit_scores = st.floats(-(2.0**31), 2.0**31)


@given(unit_scores, st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1))
def test_the_grid_pays_for_rounding_and_for_the_errors_of_scaling(score, step, error, other):
    """Two databases' computed scores are at most SENSITIVITY grid steps apart."""
    clip = np.clip([score, score + step], -grid.LIMIT, grid.LIMIT)
    worst = 2.0**-49 * (np.abs(clip) + 1) * [error, other]

    here, there = to_grid(clip + worst)

    assert abs(int(there) - int(here)) <= grid.SENSITIVITY


@pytest.mark.parametrize("sign", [1, -1])
def test_the_sensitivity_on_the_grid_is_that_of_the_largest_move(sign):
    """20,000 neighbours with the largest errors of a scaling, which are 2 steps of the grid."""
    rng = np.random.default_rng(0)
    scores = grid.LIMIT * (1 - rng.random(20_000) * 2.0**-12) - 3
    error = 2.0**-49 * grid.LIMIT
    here, there = to_grid(sign * scores + error), to_grid(sign * scores - 1 - error)
    moved = int((here - there).max())

    assert moved == 2**20 + 4 <= grid.SENSITIVITY


@pytest.mark.parametrize("step", [1, 3, 5, 7, 10, 100, 1000, 0.1, 0.7, 1.1])
def test_multiples_of_a_step_stay_what_they_are_up_to_the_limit(step):
    """Their quotient and they themselves are rounded, together by less than half a step."""
    rng = np.random.default_rng(1)
    multiples = np.concatenate(
        [
            [int(grid.LARGEST_COUNT) - one for one in (0, 1, 2, 3)],
            rng.integers(-int(grid.LARGEST_COUNT), int(grid.LARGEST_COUNT), 20_000),
        ]
    )
    exact = [float(one * step) for one in multiples.tolist()]

    assert (to_steps(np.array(exact), 1.0, step).counts == multiples).all()


@given(
    scores=st.lists(st.floats(-1e300, 1e300), min_size=5, max_size=5),
    l1=st.sampled_from([1e-3, 1.0, 3.0, 1e7]),
    step=st.sampled_from([None, 1e-3, 0.5]),
)
def test_the_unit_of_steps_is_public(scores, l1, step):
    """It depends on the number of scores, on l1 and on the step alone."""
    here, there = (to_steps(np.array(one), l1, step) for one in (scores, [0.0] * 5))

    assert (here.unit, here.l1) == (there.unit, there.l1)
    if step is not None:
        assert here.unit == step
        assert here.l1 == max(1, floor(l1 / step * (1 + 2.0**-40)))
