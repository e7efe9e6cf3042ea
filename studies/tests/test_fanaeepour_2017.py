"""The published choice of a grid is not private, and ours is; what the simulations stand on.

A pair of databases of the errata: one query of 0.9 of a line, a grid that it cuts nowhere and
a grid of one cell, 27 points in the query, and two or three more outside it.
"""

from fractions import Fraction

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect.spatial import (
    CoarseGrid,
    CountedCells,
    Points,
    RelativeClipped,
    Weighted,
    partition_error,
    uniform_grid,
)
from dpselect.spatial.box import POSITIONS
from dpselect_studies.fanaeepour_2017 import figure_11, methods, places
from dpselect_studies.fanaeepour_2017.published_not_private import (
    PublishedNotPrivate,
    QueryNotPrivate,
    published_not_private,
)
from support.real_data import or_skip

NINE_TENTHS = Fraction(9, 10)
INSIDE = 27
CELLS = 2**14
# As near to 0.9 of the box as cells of a power of two allow, so that the query cuts none.
COVERED = 14_746
QUERY = np.array([[0, 0, COVERED * (POSITIONS // CELLS), POSITIONS]])
GRID = uniform_grid(64)
LINE = (uniform_grid((CELLS, 1)), uniform_grid(1))


def pair_on_the_line():
    """Databases of 29 and 30 points as positions on the lattice."""
    for size in (29, 30):
        x = np.full(size, 0.95)
        x[:INSIDE] = np.linspace(0, 0.89, INSIDE)
        positions = (x * POSITIONS).astype(np.uint32)
        yield Points(positions, np.zeros(size, np.uint32))


def loss(first, second):
    return np.abs(np.log(first) - np.log(second)).max()


def published_in_fractions(size):
    """Errors and sensitivities of the pair, without a rounding."""
    aligned = QueryNotPrivate(
        gap=Fraction(0), noise=Fraction(9000), exact=Fraction(INSIDE), cut=0
    )
    one_cell = QueryNotPrivate(
        gap=abs(NINE_TENTHS * size - INSIDE), noise=NINE_TENTHS, exact=Fraction(INSIDE), cut=1
    )
    return [
        (query.error(size, NINE_TENTHS), query.sensitivity(size, NINE_TENTHS))
        for query in (aligned, one_cell)
    ]


def test_the_errors_and_sensitivities_of_the_pair_are_exact_fractions():
    low = Fraction(261, 10)

    assert published_in_fractions(29) == [
        (Fraction(9000, 27), Fraction(9000) / (low * 27)),
        (Fraction(18, 10) / 27, 1 / low + (30 + NINE_TENTHS) / (low * 27)),
    ]
    assert published_in_fractions(30)[1][0] == NINE_TENTHS / 27


@pytest.mark.parametrize(("epsilon", "ratio"), [(0.3, 1.075), (1.0, 1.096), (4.0, 1.096)])
def test_the_published_choice_loses_more_than_its_epsilon(epsilon, ratio):
    laws = [
        PublishedNotPrivate(*np.array(published_in_fractions(size), dtype=float).T).law(epsilon)
        for size in (29, 30)
    ]

    assert loss(*laws) / epsilon == pytest.approx(ratio, abs=5e-4)


def published_on_the_line(points):
    return published_not_private(
        points, LINE, QUERY, scale=1.0, size=points.x.size, delta=float(NINE_TENTHS)
    )


def test_the_published_choice_on_points_loses_more_than_its_epsilon_too():
    found = [published_on_the_line(points) for points in pair_on_the_line()]
    share = COVERED / CELLS

    assert found[0].errors == pytest.approx([COVERED / 27, (27 - 29 * share + share) / 27])
    assert found[0].sensitivities == pytest.approx(
        [COVERED / (26.1 * 27), 1 / 26.1 + (30 + share) / (26.1 * 27)]
    )
    assert loss(found[0].law(1.0), found[1].law(1.0)) > 1.09


@pytest.mark.parametrize(
    ("measure", "mechanism"),
    [
        (RelativeClipped(floor=floor, clip=clip, norm="l1"), dp.ExponentialMechanism)
        for floor in (1.0, 10.0, 27.0)
        for clip in (0.1, methods.CLIP, 600.0)
    ]
    + [
        (Weighted(neighbours=dp.Neighbours.ADD_REMOVE, weights=weight), dp.PermuteAndFlip)
        for weight in (1 / 300, 1 / 27, 1.0)
    ],
)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_repaired_and_the_default_choice_stay_within_theirs(measure, mechanism, epsilon):
    """Exact laws; of the default, for any weights that the coarse grid may give."""
    laws = [
        mechanism(epsilon=epsilon).probabilities(
            partition_error(points, partitions=LINE, queries=QUERY, scale=1.0, measure=measure)
        )
        for points in pair_on_the_line()
    ]

    assert 0 < loss(*laws) <= epsilon * (1 + 1e-9)


PRIVATE = {
    "repaired form": [0.6],
    "default, grids": [0.3, 0.3],
    "default, grids and rules": [0.3, 0.3],
    "guideline, noisy N": [0.04],
    "adaptive grid": [0.6],
    "quadtree": [0.6],
}


@pytest.mark.parametrize("name", PRIVATE)
def test_private_methods_cost_epsilon_in_all(name, monkeypatch):
    """One point is in one cell of the coarse grid, so noise of a scale costs its inverse."""
    asked = []
    simulate = dp.Mechanism.simulate

    def noise(size, scale, _rng):
        asked.append(1 / scale)
        return np.zeros(size)

    def draw(self, *arguments, **more):
        asked.append(self.epsilon)
        return simulate(self, *arguments, **more)

    monkeypatch.setattr(methods, "noise", noise)
    monkeypatch.setattr(dp.Mechanism, "simulate", draw)

    _, left = methods.METHODS[name](case_of_few(), 2.0, 0.3, np.random.default_rng(0))

    assert asked == pytest.approx(PRIVATE[name])
    assert sum(asked) + left == pytest.approx(2.0)


def test_nothing_can_be_released_with_the_published_choice():
    published = published_on_the_line(next(pair_on_the_line()))

    assert not isinstance(published, dp.Objective)
    for mechanism in (dp.PermuteAndFlip, dp.ExponentialMechanism, dp.GeneralizedExponential):
        with pytest.raises(ParameterError, match=r"must be an? Objective"):
            mechanism(epsilon=1.0).release(published)
    assert not hasattr(published, "release")


def case_of_few(grids=(1, 4, 16, 64), size=4000):
    rng = np.random.default_rng(0)
    points = Points(*places.BOX.locate(*_clustered(rng, size)))
    return places.case_of(points, grids, places.evenly())


def _clustered(rng, size):
    low, high = np.array(places.BOX.bounds).reshape(2, 2)
    return (low + (high - low) * rng.beta(2, 5, (size, 2))).T


@pytest.mark.parametrize("name", methods.METHODS)
def test_every_method_spends_no_more_than_epsilon_and_none_if_it_is_not_private(name):
    here = case_of_few()

    partition, left = methods.METHODS[name](here, 0.5, 0.2, np.random.default_rng(0))

    assert partition.cells >= 1
    if name.endswith("(not private)") and not name.startswith("published"):
        assert left == 0.5
    else:
        assert left == pytest.approx((0.98 if name == "guideline, noisy N" else 0.8) * 0.5)


def test_names_say_which_methods_are_not_private():
    private = [methods.METHODS[name] for name in PRIVATE]
    others = [choose for name, choose in methods.METHODS.items() if "(not private)" in name]

    assert len(others) + len(private) == len(methods.METHODS)
    assert all(choose.__name__.endswith("_not_private") for choose in others)
    assert not any("not_private" in choose.__name__ for choose in private)


def test_leaky_takes_the_least_published_error_and_the_heuristic_the_exact_number():
    here = case_of_few()
    errors = published_not_private(
        here.points, here.partitions, here.tuned, scale=2.0, size=here.size, delta=places.DELTA
    ).errors

    leaky, _ = methods.leaky_not_private(here, 0.5, 0.2, np.random.default_rng(0))
    heuristic, _ = methods.heuristic_not_private(here, 0.5, 0.2, np.random.default_rng(0))

    assert leaky is here.partitions[errors.argmin()]
    assert heuristic.shape == (15, 15)


def test_hindsight_is_at_least_as_good_as_every_candidate():
    here = case_of_few()
    rng = np.random.default_rng(1)

    def median(partition):
        return np.mean([
            np.median(methods.map_errors(here, partition, 0.5, rng)) for _ in range(20)
        ])  # fmt: skip

    best, _ = methods.best_in_hindsight_not_private(here, 0.5, 0.2, rng)

    assert median(best) <= 1.1 * min(median(partition) for partition in here.partitions)


@pytest.mark.parametrize(("epsilon", "best"), [(1e3, 400), (1e-4, 1)])
def test_hindsight_takes_fine_grids_without_noise_and_coarse_ones_with_much(epsilon, best):
    here = case_of_few(grids=(1, 400))

    chosen, _ = methods.best_in_hindsight_not_private(
        here, epsilon, 0.2, np.random.default_rng(0)
    )

    assert chosen.shape == (best, best)


@pytest.mark.parametrize("scale", [0.3, 2.0, 50.0])
def test_simulated_noise_has_the_moments_of_the_discrete_laplace_law(scale):
    drawn = methods.noise(200_000, scale, np.random.default_rng(0))
    q = np.exp(-1 / scale)
    variance = 2 * q / (1 - q) ** 2

    assert np.all(drawn == np.rint(drawn))
    assert abs(drawn.mean()) < 5 * np.sqrt(variance / drawn.size)
    assert drawn.var() == pytest.approx(variance, rel=0.03)
    assert np.mean(drawn == 0) == pytest.approx((1 - q) / (1 + q), abs=0.006)


def test_errors_are_taken_over_the_exact_answer_or_the_floor():
    here = case_of_few(grids=(1,), size=5000)
    found = methods.map_errors(here, GRID, 1e9, np.random.default_rng(0))
    exact = here.points.in_rectangles(here.measured)
    answers = CountedCells(GRID, here.points.in_cells(GRID)).answers(here.measured)

    assert here.floor == 5
    assert (exact < 5).any()
    assert found == pytest.approx(np.abs(answers - exact) / np.maximum(exact, 5))


def test_a_summary_is_of_medians_over_queries():
    found = methods.summary(np.array([[1.0, 2.0, 9.0], [3.0, 4.0, 5.0]]))

    assert found == pytest.approx({"error": 3.0, "standard_error": 1.0, "mean_error": 4.0})


def test_counts_are_remembered_and_right():
    here = case_of_few()
    plain = here.points.points

    for _ in range(2):
        for queries in (here.tuned, here.measured):
            assert np.array_equal(
                here.points.in_rectangles(queries), plain.in_rectangles(queries)
            )
        for partition in here.partitions:
            assert np.array_equal(here.points.in_cells(partition), plain.in_cells(partition))


def test_queries_are_tuned_for_and_measured_apart():
    here = case_of_few()
    tuned, measured = (set(map(tuple, rows.tolist())) for rows in (here.tuned, here.measured))

    assert len(tuned) == len(measured) == 600
    assert not tuned & measured
    widths = (here.measured[:, 2] - here.measured[:, 0]).reshape(6, -1) / POSITIONS
    assert widths == pytest.approx(np.repeat(places.SIDES, 100).reshape(6, -1), abs=1e-8)


def test_data_sets_hold_what_their_titles_say():
    sizes = or_skip(lambda: {name: places.case(name).size for name in places.PLACES})

    assert sizes == {"highways": 402_581, "markets": 8_520, "gowalla": 546_659}
    around = places.around_markets()
    west, south, east, north = np.moveaxis(around, -1, 0)
    assert around.shape == (6, 200, 4)
    assert west.min() >= -125.5
    assert south.min() >= 25.0
    assert east.max() <= -65.5
    assert north.max() <= 50.0
    assert (east - west)[:, 0] == pytest.approx(np.array(places.SIDES) * 60)
    # In the middle is a market, except where the rectangle was moved into the box.
    markets = np.unique(places._coordinates("points_us_farmers_markets")[0])
    middles = ((west + east) / 2)[0]
    nearest = np.abs(middles[:, None] - markets).min(axis=1)
    assert np.mean(nearest < 1e-9) > 0.95


def scores_of(here, scale, measure):
    return partition_error(
        here.points,
        partitions=here.partitions,
        queries=here.tuned,
        scale=scale,
        measure=measure,
    )


def test_sensitivities_of_figure_11_are_the_forms_own():
    cell = figure_11.Cell("", "repaired: error cut at 10", 0.01, 0.5, 0.2, 1)
    here = case_of_few(grids=(2, 7), size=1000)

    errors, bounds = figure_11._errors_and_bounds(here, cell, np.random.default_rng(0))

    measure = RelativeClipped(floor=10.0, clip=10.0, norm="l1")
    again = scores_of(here, 2.5, measure)
    assert np.array_equal(errors, again.scores)
    assert np.array_equal(bounds, again.sensitivity.bounds)
    assert np.all(bounds <= 1 / 10 + 10 / 11 + 1e-4)


def test_noise_for_substitution_is_twice_as_large():
    here = case_of_few(grids=(2, 7), size=1000)
    form = "repaired: n public, substitution"
    cell = figure_11.Cell("", form, 0.01, 0.5, 0.2, 1)
    found, _ = figure_11._errors_and_bounds(here, cell, np.random.default_rng(0))
    known = figure_11.known_size(here, cell, np.random.default_rng(0))

    again = scores_of(here, 5.0, known)

    assert np.array_equal(found, again.scores)


def test_the_coarse_grid_is_noisy_by_its_epsilon():
    here = case_of_few()
    coarse = methods.coarse_counts(here, 0.25, np.random.default_rng(0))

    assert isinstance(coarse, CoarseGrid)
    assert coarse.scale == 4.0
    assert abs(coarse.total - here.size) < 6 * 16 * np.sqrt(2) * 4
