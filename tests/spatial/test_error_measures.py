"""What one individual can change of a grid's error: by enumeration, in exact fractions.

A universe is all multisets of at most three points out of a few positions that lie in every
kind of cell and query; the error of a database is computed from its definition.
"""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import NeighboursError, ParameterError, PublicClaimError
from dpselect.spatial import (
    RelativeCappedSize,
    RelativeClipped,
    RelativeKnownSize,
    Weighted,
    grid_error,
)
from dpselect.spatial.box import POSITIONS
from dpselect.spatial.error_measures import ROUNDING
from dpselect.spatial.overlap import Overlap
from dpselect.spatial.partition import nested, uniform_grid
from support.spatial_definitions import Answered

ADD_REMOVE, SUBSTITUTE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
MOST = 3
UNIT = (0, 0, 1, 1)


def line(*shares):
    return [(round(s * POSITIONS), POSITIONS // 3) for s in shares]


def square(*shares):
    return [(round(x * POSITIONS), round(y * POSITIONS)) for x in shares for y in shares]


def queries(*rectangles):
    return (np.array(rectangles) * POSITIONS).astype(np.int64).tolist()


FOUR_BLOCKS = nested(
    "blocks", 2, np.array([[0, 0, 1, 2], [0, 1, 1, 1], [1, 0, 1, 3], [1, 1, 1, 1]])
)
ONE_QUERY = {
    "the paper's line": (uniform_grid((2, 1)), queries([0, 0, 0.45, 1]), line(0.2, 0.47, 0.7)),
    "a line of five": (
        uniform_grid((5, 1)),
        queries([0.25, 0, 0.7, 1]),
        line(0.21, 0.3, 0.65, 0.75),
    ),
    "one cell": (uniform_grid(1), queries([0.1, 0.2, 0.7, 0.8]), square(0.05, 0.5)),
    "a corner": (uniform_grid(2), queries([0.3, 0.2, 0.9, 0.7]), square(0.1, 0.4, 0.6, 0.95)),
    "a thin one": (uniform_grid(3), queries([0.34, 0.4, 0.36, 0.6]), square(0.35, 0.5, 0.9)),
    "rows": (uniform_grid(4), queries([0.25, 0.125, 1, 0.775]), square(0.1, 0.3, 0.76, 0.9)),
    "blocks": (FOUR_BLOCKS, queries([0.1, 0.1, 0.9, 0.6]), square(0.05, 0.3, 0.55, 0.95)),
}
SEVERAL = {
    "apart": (
        uniform_grid((4, 1)),
        queries([0.05, 0, 0.2, 1], [0.5, 0, 0.9, 1]),
        line(0.1, 0.22, 0.8, 0.95),
    ),
    "apart, uneven": (
        uniform_grid((4, 1)),
        queries([0, 0, 0.225, 1], [0.5, 0, 0.65, 1]),
        line(0.1, 0.24, 0.3, 0.6, 0.7),
    ),
    "over each other": (
        uniform_grid(2),
        queries([0.1, 0.1, 0.4, 0.9], [0.3, 0, 0.8, 0.4], [0, 0, 0.45, 0.45]),
        square(0.05, 0.35, 0.6, 0.95),
    ),
}
one_query = pytest.mark.parametrize("universe", ONE_QUERY.values(), ids=ONE_QUERY)
every_universe = pytest.mark.parametrize(
    "universe", [*ONE_QUERY.values(), *SEVERAL.values()], ids=[*ONE_QUERY, *SEVERAL]
)
every_scale = pytest.mark.parametrize("scale", [0.5, 40.0])


def noise_by_definition(alpha, scale, norm):
    """The norm of the overlaps, times the scale, as floats."""
    if norm == "l1":
        return [scale * float(sum(row)) for row in alpha]
    return [scale * (2 * float(sum(a * a for a in row))) ** 0.5 for row in alpha]


def largest_change(universe, error, relation, most=MOST):
    """The largest change of the mean error between any two neighbours of the universe."""
    partition, rectangles, positions = universe
    answered = Answered(partition, rectangles, positions)
    values = {}
    for size in range(most + 1):
        for database in combinations_with_replacement(sorted(positions), size):
            gaps, exact = answered.gaps_and_exact(database)
            values[database] = error(gaps, exact, answered.alpha)
    worst = Fraction(0)
    for database, value in values.items():
        for new in positions:
            if relation is ADD_REMOVE:
                others = [(*database, new)]
            else:
                others = [
                    (*database[:i], *database[i + 1 :], new) for i in range(len(database))
                ]
            for other in others:
                key = tuple(sorted(other))
                if key in values:
                    worst = max(worst, abs(values[key] - value))
    return float(worst)


def claimed(universe, form, scale):
    partition, rectangles, _ = universe
    overlap = Overlap.of(partition, np.array(rectangles))
    return form.sensitivity(overlap, form.noise(overlap, scale))


def weighted(weights):
    """The weighted mean of gaps; the noise is public, and leaves no trace in a difference."""

    def error(gaps, *_):
        return sum(w * g for w, g in zip(weights, gaps, strict=True)) / Fraction(len(gaps))

    return error


def relative(floor, scale, norm, clip=None):
    def error(gaps, exact, alpha):
        noise = noise_by_definition(alpha, scale, norm)
        errors = [
            (g + Fraction(n)) / max(Fraction(q), Fraction(floor))
            for g, q, n in zip(gaps, exact, noise, strict=True)
        ]
        return sum(e if clip is None else min(e, Fraction(clip)) for e in errors) / len(errors)

    return error


@pytest.mark.slow
@one_query
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
    universe = (
        uniform_grid((2, 1)),
        queries([0.05, 0, 0.55, 1]),
        line(0.02, 0.3, 0.52, 0.8),
    )
    change = largest_change(universe, weighted([Fraction(1)]), relation)
    bound = claimed(universe, Weighted(neighbours=relation), 1.0) - ROUNDING

    assert bound == pytest.approx(change)
    assert change == pytest.approx({ADD_REMOVE: 0.9, SUBSTITUTE: 1.8}[relation])


def test_a_query_that_cuts_no_cell_has_no_sensitivity():
    universe = (uniform_grid(4), queries([0.25, 0.5, 0.75, 1]), square(0.3, 0.8))

    assert largest_change(universe, weighted([Fraction(1)]), ADD_REMOVE) == 0
    assert claimed(universe, Weighted(neighbours=ADD_REMOVE), 1.0) == ROUNDING


@pytest.mark.slow
@every_universe
@every_scale
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_clipped_relative_sensitivity_holds_without_a_bound_on_the_size(
    universe, scale, norm
):
    form = RelativeClipped(floor=1.5, clip=30.0, norm=norm)
    change = largest_change(universe, relative(1.5, scale, norm, clip=30), ADD_REMOVE)

    assert change <= claimed(universe, form, scale)


@pytest.mark.slow
@every_universe
@every_scale
def test_the_relative_sensitivity_holds_for_a_capped_size(universe, scale):
    form = RelativeCappedSize(floor=1.0, max_records=MOST)
    change = largest_change(universe, relative(1, scale, "l2"), ADD_REMOVE)

    assert change <= claimed(universe, form, scale)


@pytest.mark.slow
@every_universe
@every_scale
def test_the_relative_sensitivity_holds_for_a_known_size(universe, scale):
    form = RelativeKnownSize(floor=1.0, records=MOST)
    change = largest_change(universe, relative(1, scale, "l2"), SUBSTITUTE)

    assert change <= claimed(universe, form, scale)


@pytest.mark.parametrize(
    ("form", "relation", "clip"),
    [
        (RelativeCappedSize(floor=1.0, max_records=MOST), ADD_REMOVE, None),
        (RelativeKnownSize(floor=1.0, records=MOST), SUBSTITUTE, None),
        (RelativeClipped(floor=1.0, clip=38_000.0), ADD_REMOVE, 38_000),
    ],
    ids=["capped size", "known size", "clipped"],
)
def test_the_relative_sensitivities_are_reached_when_noise_dominates(form, relation, clip):
    universe = ONE_QUERY["a line of five"]
    change = largest_change(universe, relative(1, 20_000, "l2", clip), relation)
    bound = claimed(universe, form, 20_000)

    assert 0.97 * bound <= change <= bound


@pytest.mark.parametrize(
    ("form", "relation", "clip"),
    [
        (RelativeCappedSize(floor=100.0, max_records=MOST), ADD_REMOVE, None),
        (RelativeKnownSize(floor=100.0, records=MOST), SUBSTITUTE, None),
        (RelativeClipped(floor=100.0, clip=0.05), ADD_REMOVE, 0.05),
    ],
    ids=["capped size", "known size", "clipped"],
)
def test_the_relative_sensitivities_are_reached_where_the_floor_divides(form, relation, clip):
    universe = ONE_QUERY["the paper's line"]
    change = largest_change(universe, relative(100, 1e-9, "l2", clip), relation)

    assert 0.93 * claimed(universe, form, 1e-9) <= change <= claimed(universe, form, 1e-9)


def test_the_capped_size_covers_gaps_that_many_points_made():
    universe = ONE_QUERY["the paper's line"]
    change = largest_change(universe, relative(1, 1e-9, "l2"), ADD_REMOVE, most=6)
    bound = claimed(universe, RelativeCappedSize(floor=1.0, max_records=6), 1e-9)

    assert 0.5 * bound <= change <= bound


def test_without_a_bound_the_relative_change_grows_with_the_size():
    grid, rectangles = uniform_grid((2, 1)), queries([0, 0, 0.45, 1])
    universe = (grid, rectangles, line(0.2, 0.47))
    changes = [
        largest_change(universe, relative(1, 0, "l2"), ADD_REMOVE, most) for most in (4, 8, 16)
    ]

    assert changes[0] < changes[1] < changes[2]


def test_scores_are_minus_the_mean_error():
    rng = np.random.default_rng(3)
    points = rng.random((40, 2))
    rectangles = [[0.1, 0.2, 0.5, 0.9], [0.3, 0.0, 1.0, 0.45]]
    form = RelativeClipped(floor=2.0, clip=9.0, norm="l1")
    objective = grid_error(
        *points.T,
        bounds=UNIT,
        grids=[1, (2, 5), 7],
        queries=rectangles,
        scale=0.5,
        measure=form,
    )
    positions = [tuple(p) for p in np.floor(points * POSITIONS).astype(int).tolist()]
    expected = []
    for grid in (uniform_grid(1), uniform_grid((2, 5)), uniform_grid(7)):
        answered = Answered(grid, queries(*rectangles), positions)
        gaps, exact = answered.gaps_and_exact(positions)
        expected.append(-float(relative(2, 0.5, "l1", clip=9)(gaps, exact, answered.alpha)))

    assert objective.scores == pytest.approx(expected)
    assert objective.candidates == [1, (2, 5), 7]


@pytest.mark.parametrize(
    "form",
    [
        Weighted(neighbours=ADD_REMOVE, weights=1 / 27),
        RelativeClipped(floor=27.0, clip=500.0),
        RelativeCappedSize(floor=27.0, max_records=30),
    ],
    ids=lambda form: type(form).__name__,
)
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_no_form_loses_more_than_epsilon_where_the_published_one_does(form, norm):
    form = type(form)(**{**vars(form), "norm": norm})

    def log_law(inside, size):
        x = np.concatenate([np.linspace(0, 0.89, inside), np.full(size - inside, 0.95)])
        objective = grid_error(
            x,
            np.full(size, 0.5),
            bounds=UNIT,
            grids=[(10**4, 1), 1],
            queries=[0, 0, 0.9, 1],
            scale=1.0,
            measure=form,
        )
        halves = dp.ExponentialMechanism(epsilon=1.0).unit_scores(objective) / 2
        return halves - np.logaddexp.reduce(halves)

    assert np.abs(log_law(27, 29) - log_law(27, 30)).max() <= 1


def test_a_wrong_public_claim_is_refused_without_the_number():
    with pytest.raises(PublicClaimError, match="more points than the measure declares"):
        grid_error(
            [0.1, 0.2],
            [0.1, 0.2],
            bounds=UNIT,
            grids=[2],
            queries=[0, 0, 1, 0.3],
            scale=1.0,
            measure=RelativeCappedSize(floor=1.0, max_records=1),
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grids": []}, "at least one grid size"),
        ({"grids": [3, 3]}, "different from each other"),
        ({"grids": [3, (3, 3)]}, "different from each other"),
        ({"grids": 3}, "list of integers"),
        ({"scale": 0.0}, "scale must be finite and > 0"),
        (
            {"measure": Weighted(neighbours=ADD_REMOVE, weights=[1.0, 2.0])},
            "one for each query",
        ),
        ({"measure": "absolute"}, "measure must be an ErrorMeasure"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    valid = {
        "bounds": UNIT,
        "grids": [2, 3],
        "queries": [0, 0, 1, 0.3],
        "scale": 1.0,
        "measure": Weighted(neighbours=ADD_REMOVE),
    }

    with pytest.raises(ParameterError, match=message):
        grid_error([0.5], [0.5], **{**valid, **arguments})


@pytest.mark.parametrize(
    ("form", "arguments", "message"),
    [
        (Weighted, {"neighbours": ADD_REMOVE, "weights": [1.0, 0.0]}, "weights must be"),
        (Weighted, {"neighbours": ADD_REMOVE, "norm": "max"}, "norm must be"),
        (RelativeClipped, {"floor": 0.0, "clip": 1.0}, "floor must be"),
        (RelativeClipped, {"floor": 1.0, "clip": 0.0}, "clip must be"),
        (RelativeKnownSize, {"floor": 1.0, "records": -1}, "records must be"),
        (RelativeCappedSize, {"floor": 1.0, "max_records": 0}, "max_records must be"),
    ],
)
def test_forms_refuse_what_is_out_of_range(form, arguments, message):
    with pytest.raises(ParameterError, match=message):
        form(**arguments)


def test_points_have_no_edges():
    with pytest.raises(NeighboursError, match="neighbours of tables must be"):
        Weighted(neighbours=dp.Neighbours.EDGE)


@pytest.mark.parametrize("scale", [1.0, 1e15, 1e25])
@pytest.mark.parametrize(
    "form",
    [
        Weighted(neighbours="add-remove"),
        RelativeClipped(floor=5.0, clip=4.0),
        RelativeCappedSize(floor=5.0, max_records=40),
    ],
    ids=lambda form: type(form).__name__,
)
def test_noise_of_any_scale_leaves_what_one_point_changes(form, scale):
    """Before: 1.81 times the bound at a scale of 1e15, where rounding moves the sum by more."""
    points = np.random.default_rng(1).random((40, 2))
    rectangles = [[0, 0, 0.3, 0.7], [0.2, 0.1, 0.9, 0.6], [0.5, 0.5, 1, 1]]

    def objective(x, y):
        return grid_error(
            x, y, bounds=(0, 0, 1, 1), grids=[1, 2, 3, 5, 8], queries=rectangles,
            scale=scale, measure=form,
        )  # fmt: skip

    def fractions(one):
        digits = zip(one.scores.tolist(), one.rest.tolist(), strict=True)
        return [Fraction(score) + Fraction(rest) for score, rest in digits]

    whole = objective(*points.T)
    for left_out in range(len(points)):
        less = objective(*np.delete(points, left_out, axis=0).T)
        moved = zip(fractions(whole), fractions(less), whole.sensitivity.bounds, strict=True)
        assert all(abs(x - y) <= bound for x, y, bound in moved)
