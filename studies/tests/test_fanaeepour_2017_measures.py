"""Repaired sensitivities of the published errors of a grid: by enumeration, in fractions."""

from fractions import Fraction

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import DPSelectError, PublicClaimError
from dpselect.maps import grid_error, lattice_rectangles
from dpselect.maps.partition import uniform_grid
from dpselect_studies.fanaeepour_2017.error_measures import (
    RelativeCappedSize,
    RelativeKnownSize,
    error_parts,
)
from dpselect_studies.fanaeepour_2017.figure_4 import BOUNDS, QUERY, points
from support.map_definitions import (
    ADD_REMOVE,
    MOST,
    ONE_QUERY,
    SEVERAL,
    SUBSTITUTE,
    claimed,
    largest_change,
    line,
    log_law,
    moves_within_bounds,
    queries,
)
from support.refusals import refused

UNIT = (0, 0, 1, 1)
every_universe = pytest.mark.parametrize(
    "universe", [*ONE_QUERY.values(), *SEVERAL.values()], ids=[*ONE_QUERY, *SEVERAL]
)
every_scale = pytest.mark.parametrize("scale", [0.5, 40.0])


def noise_by_definition(alpha, scale, norm):
    """The norm of the overlaps, times the scale, as floats."""
    if norm == "l1":
        return [scale * float(sum(row)) for row in alpha]
    return [scale * (2 * float(sum(a * a for a in row))) ** 0.5 for row in alpha]


def relative(floor, scale, norm):
    def error(gaps, exact, alpha):
        noise = noise_by_definition(alpha, scale, norm)
        errors = [
            (g + Fraction(n)) / max(Fraction(q), Fraction(floor))
            for g, q, n in zip(gaps, exact, noise, strict=True)
        ]
        return sum(errors) / len(errors)

    return error


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
    ("form", "relation"),
    [
        (RelativeCappedSize(floor=1.0, max_records=MOST), ADD_REMOVE),
        (RelativeKnownSize(floor=1.0, records=MOST), SUBSTITUTE),
    ],
    ids=["capped size", "known size"],
)
def test_the_relative_sensitivities_are_reached_when_noise_dominates(form, relation):
    universe = ONE_QUERY["a line of five"]
    change = largest_change(universe, relative(1, 20_000, "l2"), relation)
    bound = claimed(universe, form, 20_000)

    assert 0.97 * bound <= change <= bound


@pytest.mark.parametrize(
    ("form", "relation"),
    [
        (RelativeCappedSize(floor=100.0, max_records=MOST), ADD_REMOVE),
        (RelativeKnownSize(floor=100.0, records=MOST), SUBSTITUTE),
    ],
    ids=["capped size", "known size"],
)
def test_the_relative_sensitivities_are_reached_where_the_floor_divides(form, relation):
    universe = ONE_QUERY["the paper's line"]
    change = largest_change(universe, relative(100, 1e-9, "l2"), relation)

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


FORMS = pytest.mark.parametrize(
    "form",
    [
        RelativeCappedSize(floor=5.0, max_records=40),
        RelativeCappedSize(floor=27.0, max_records=40, norm="l1"),
    ],
    ids=lambda form: f"{type(form).__name__} {form.norm}",
)


@FORMS
def test_no_form_loses_more_than_epsilon_where_the_published_one_does(form):
    assert np.abs(log_law(form, 27, 29) - log_law(form, 27, 30)).max() <= 1


@FORMS
@pytest.mark.parametrize("scale", [1.0, 1e15, 1e25])
def test_noise_of_any_scale_leaves_what_one_point_changes(form, scale):
    assert moves_within_bounds(form, scale)


@pytest.mark.parametrize(
    ("form", "arguments", "message"),
    [
        (RelativeKnownSize, {"floor": 1.0, "records": -1}, "records"),
        (RelativeCappedSize, {"floor": 1.0, "max_records": 0}, "max_records"),
    ],
)
def test_forms_refuse_what_is_out_of_range(form, arguments, message):
    with refused(message):
        form(**arguments)


QUERIES = [[0.1, 0.1, 0.43, 0.3], [0.5, 0.2, 0.9, 0.95]]
SAMPLE = np.random.default_rng(5).beta(2, 5, (3000, 2))
ASKED = {"bounds": UNIT, "grids": [4, 9, 20], "queries": QUERIES, "epsilon": 2.0}
RELATION = pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE], ids=str)


def measure_under(relation):
    if relation is SUBSTITUTE:
        return RelativeKnownSize(floor=3.0, records=len(SAMPLE), norm="l1")
    return RelativeCappedSize(floor=3.0, max_records=len(SAMPLE), norm="l1")


@RELATION
@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [
        ("exponential", dp.ExponentialMechanism),
        ("generalized", dp.GeneralizedExponential),
        (dp.ReportNoisyMax, dp.ReportNoisyMax),
    ],
)
def test_the_repaired_phase_1_of_the_paper_is_drawn(relation, mechanism, kind, monkeypatch):
    """The measure and the mechanism are those that were asked for, on the exact counts."""
    asked = []
    draw = kind.draw_positions
    monkeypatch.setattr(kind, "draw_positions", lambda *of: asked.append(of) or draw(*of))
    measure = measure_under(relation)
    query = dp.Map(**ASKED, measure=measure, mechanism=mechanism, neighbours=relation)
    made = query.release(SAMPLE)
    [(used, objective)] = asked
    expected = grid_error(
        *SAMPLE.T,
        bounds=UNIT,
        grids=[4, 9, 20],
        queries=QUERIES,
        scale=made.scale,
        measure=measure,
    )

    assert used.epsilon == 0.4
    assert used.name in made.plan.mechanism
    assert objective.scores.tolist() == expected.scores.tolist()
    assert objective.sensitivity.bounds.tolist() == expected.sensitivity.bounds.tolist()


@RELATION
def test_it_is_charged_once_and_has_no_coarse_grid(relation):
    query = dp.Map(**ASKED, measure=measure_under(relation), neighbours=relation)
    budget = dp.Budget(2.0, neighbours=relation)
    made = query.release(SAMPLE, budget=budget)

    assert [round(spend.epsilon, 6) for spend in query.plan.spends] == [0.4, 1.6]
    assert [entry.epsilon for entry in budget.entries] == [2.0]
    assert made.coarse is None


def test_a_map_whose_query_has_no_text_keeps_its_plan(tmp_path):
    query = dp.Map(**ASKED, measure=measure_under(ADD_REMOVE), neighbours=ADD_REMOVE)
    query.release(SAMPLE).to_file(tmp_path / "map.parquet")
    back = dp.maps.MapRelease.from_parquet(tmp_path / "map.parquet")

    assert back.query is None
    assert back.plan == query.plan


@pytest.mark.parametrize(
    "arguments",
    [
        {"measure": RelativeKnownSize(floor=1.0, records=9)},
        {"measure": RelativeCappedSize(floor=1.0, max_records=9)},
        {
            "measure": RelativeCappedSize(floor=1.0, max_records=len(SAMPLE)),
            "x": "x",
            "y": "y",
            "user": "who",
            "max_per_user": 2,
        },
    ],
)
def test_what_is_refused_is_refused_before_anything_is_spent(arguments):
    budget = dp.Budget(9.0, neighbours=ADD_REMOVE)
    with pytest.raises(DPSelectError):
        dp.Map(**ASKED, neighbours=ADD_REMOVE, **arguments).release(SAMPLE, budget=budget)

    assert budget.entries == ()


def test_a_wrong_public_claim_is_refused_without_the_number():
    with refused("measure", error=PublicClaimError):
        grid_error(
            [0.1, 0.2],
            [0.1, 0.2],
            bounds=UNIT,
            grids=[2],
            queries=[0, 0, 1, 0.3],
            scale=1.0,
            measure=RelativeCappedSize(floor=1.0, max_records=1),
        )


def test_the_two_parts_of_theorem_7_1_on_the_grids_of_figure_4():
    """A quarter of four cells, 96 points too many; or four whole cells, and none too many."""
    query = lattice_rectangles(QUERY, bounds=BOUNDS)
    grids = [uniform_grid(4), uniform_grid(8)]

    printed = error_parts(points(), grids, query, scale=2.0)
    ours = error_parts(points(), grids, query, scale=2.0, norm="l2")

    assert printed.aggregation[:, 0] == pytest.approx([96, 0])
    assert printed.noise[:, 0] == pytest.approx([2 * 1, 2 * 4])
    assert ours.noise[:, 0] == pytest.approx([2 * np.sqrt(2 * 4 / 16), 2 * np.sqrt(2 * 4)])
