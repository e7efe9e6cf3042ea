"""What one individual can change of a grid's error: by enumeration, in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

import dpselect as dp
from dpselect.maps import ErrorMeasure, Weighted, grid_error, uniform_grid
from dpselect.maps.box import POSITIONS
from support.map_definitions import (
    ADD_REMOVE,
    ONE_QUERY,
    SEVERAL,
    SUBSTITUTE,
    Answered,
    claimed,
    largest_change,
    line,
    log_law,
    moves_within_bounds,
    queries,
    square,
)

ROUNDING = ErrorMeasure.rounding
UNIT = (0, 0, 1, 1)


def weighted(weights):
    """The weighted mean of gaps; the noise is public, and leaves no trace in a difference."""

    def error(gaps, *_):
        return sum(w * g for w, g in zip(weights, gaps, strict=True)) / Fraction(len(gaps))

    return error


@pytest.mark.slow
@pytest.mark.parametrize("universe", ONE_QUERY.values(), ids=ONE_QUERY)
@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE], ids=str)
def test_the_weighted_sensitivity_of_one_query_is_exact(universe, relation):
    change = largest_change(universe, weighted([Fraction(3)]), relation)
    form = Weighted(neighbours=relation, weights=3.0)

    assert claimed(universe, form, 1.0) == pytest.approx(change + 3 * ROUNDING, rel=1e-8)


@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE], ids=str)
@pytest.mark.parametrize("universe", SEVERAL.values(), ids=SEVERAL)
def test_the_weighted_sensitivity_covers_several_queries(universe, relation):
    weights = [Fraction(k, 2) for k in range(1, len(universe[1]) + 1)]
    change = largest_change(universe, weighted(weights), relation)
    bound = claimed(
        universe, Weighted(neighbours=relation, weights=[float(w) for w in weights]), 1.0
    )

    assert change <= bound <= 2 * change


@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE], ids=str)
@pytest.mark.parametrize("universe", ["apart", "apart, uneven"])
def test_the_weighted_sensitivity_is_exact_where_queries_cut_different_cells(
    universe, relation
):
    """Every query cuts one cell, and every cell is cut by at most one query."""
    change = largest_change(SEVERAL[universe], weighted([Fraction(1), Fraction(2)]), relation)
    form = Weighted(neighbours=relation, weights=[1.0, 2.0])

    assert claimed(SEVERAL[universe], form, 1.0) == pytest.approx(change + 1.5 * ROUNDING)


@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE], ids=str)
def test_a_query_that_cuts_two_cells_moves_by_their_largest_alone(relation):
    """The bound under substitution adds both loads: 1.8 for a point that moves across."""
    universe = (uniform_grid((2, 1)), queries([0.05, 0, 0.55, 1]), line(0.02, 0.3, 0.52, 0.8))
    change = largest_change(universe, weighted([Fraction(1)]), relation)
    bound = claimed(universe, Weighted(neighbours=relation), 1.0) - ROUNDING

    assert bound == pytest.approx(change)
    assert change == pytest.approx({ADD_REMOVE: 0.9, SUBSTITUTE: 1.8}[relation])


def test_a_query_that_cuts_no_cell_has_no_sensitivity():
    universe = (uniform_grid(4), queries([0.25, 0.5, 0.75, 1]), square(0.3, 0.8))

    assert largest_change(universe, weighted([Fraction(1)]), ADD_REMOVE) == 0
    assert claimed(universe, Weighted(neighbours=ADD_REMOVE), 1.0) == ROUNDING


def test_scores_are_minus_the_mean_error():
    rng = np.random.default_rng(3)
    points = rng.random((40, 2))
    rectangles = [[0.1, 0.2, 0.5, 0.9], [0.3, 0.0, 1.0, 0.45]]
    objective = grid_error(
        *points.T,
        bounds=UNIT,
        grids=[1, (2, 5), 7],
        queries=rectangles,
        scale=0.5,
        measure=Weighted(neighbours=ADD_REMOVE, weights=[2.0, 0.25]),
    )
    positions = [tuple(p) for p in np.floor(points * POSITIONS).astype(int).tolist()]
    expected = []
    for grid in (uniform_grid(1), uniform_grid((2, 5)), uniform_grid(7)):
        answered = Answered(grid, queries(*rectangles), positions)
        gaps, _ = answered.gaps_and_exact(positions)
        noise = [0.5 * (2 * float(sum(a * a for a in row))) ** 0.5 for row in answered.alpha]
        first, second = (float(gap) + one for gap, one in zip(gaps, noise, strict=True))
        expected.append(-(2 * first + second / 4) / 2)

    assert objective.scores == pytest.approx(expected)
    assert objective.candidates == [1, (2, 5), 7]


def test_it_loses_no_more_than_epsilon_where_the_published_form_does():
    form = Weighted(neighbours=ADD_REMOVE, weights=1 / 27)

    assert np.abs(log_law(form, 27, 29) - log_law(form, 27, 30)).max() <= 1


@pytest.mark.parametrize("scale", [1.0, 1e15, 1e25])
def test_noise_of_any_scale_leaves_what_one_point_changes(scale):
    """Before: 1.81 times the bound at a scale of 1e15, where rounding moves the sum by more."""
    assert moves_within_bounds(Weighted(neighbours=ADD_REMOVE), scale)


def test_more_points_than_a_measure_declares_are_refused():
    class Few(Weighted):
        most_records = 3

    budget = dp.Budget(2.0, neighbours="add-remove")
    query = dp.Map(
        bounds=(0, 0, 1, 1),
        grids=[2, 4],
        measure=Few(neighbours="add-remove"),
        epsilon=1.0,
        neighbours="add-remove",
    )

    with pytest.raises(dp.errors.PublicClaimError, match="more points") as refused:
        query.release([[0.5, 0.5]] * 4, budget=budget)
    assert "4" not in str(refused.value)
    assert budget.entries == ()
    assert query.release([[0.5, 0.5]] * 3, budget=budget).entry is not None
