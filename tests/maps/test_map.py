"""Maps: what they cost, and what their partition is chosen by."""

import numpy as np
import pytest

import dpselect as dp

ADD_REMOVE, SUBSTITUTE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
relations = pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE], ids=str)
UNIT = (0, 0, 1, 1)
QUERIES = [[0.1, 0.1, 0.43, 0.3], [0.5, 0.2, 0.9, 0.95]]
SAMPLE = np.random.default_rng(5).beta(2, 5, (3000, 2))


VALID = {
    "bounds": UNIT,
    "grids": [4, 9, 20],
    "queries": QUERIES,
    "epsilon": 2.0,
    "neighbours": ADD_REMOVE,
}


def release(points=SAMPLE, *, budget=None, **arguments):
    return dp.Map(**{**VALID, **arguments}).release(points, budget=budget)


def plan(**arguments):
    return dp.Map(**{**VALID, **arguments}).plan


def parts(plan):
    """Epsilon of every step, by its purpose."""
    return {spend.purpose: spend.epsilon for spend in plan.spends}


COUNTS = "counts of the cells"


def test_a_single_candidate_leaves_all_to_the_counts():
    assert parts(plan(grids=[6], epsilon=0.5)) == {COUNTS: 0.5}
    assert release(grids=[6]).coarse is None
    assert release(grids=[6]).scale == pytest.approx(1 / 2.0)


def test_without_queries_a_map_is_tuned_for_even_ones_and_only_where_something_is_tuned():
    even = {**VALID, "queries": dp.maps.even_queries(UNIT)}
    none = {**VALID, "queries": None}

    assert dp.Map(**none).design().queries.tolist() == dp.Map(**even).design().queries.tolist()
    assert "the queries" not in dp.Map(**none).plan.public
    assert len(dp.Map(**{**none, "grids": [4]}).design().queries) == 0
    assert len(dp.Map(**{**none, "grids": []}).design().queries) == 0


@relations
def test_the_choice_has_the_rho_of_its_draw_and_noisy_counts_that_of_pure_steps(relation):
    stated = plan(neighbours=relation)
    coarse, choice, counts = (spend.epsilon for spend in stated.spends)
    draw = dp.PermuteAndFlip(epsilon=choice).spend("").rho_of_all

    assert stated.neighbours is relation
    assert stated.rho == pytest.approx(draw + sum(e * np.tanh(e / 2) for e in (coarse, counts)))
