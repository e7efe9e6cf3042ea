"""The published choice of a grid is not private, and ours is; what the simulations stand on.

A pair of databases of the errata: one query of 0.9 of a line, a grid that it cuts nowhere and
a grid of one cell, 27 points in the query, and two or three more outside it.
"""

import numpy as np
import pytest
from scipy import stats

import dpselect as dp
from dpselect.maps import (
    Points,
    RelativeClipped,
    Weighted,
    lattice_rectangles,
    partition_error,
    uniform_grid,
)
from dpselect.maps.box import POSITIONS, Box
from dpselect_studies.fanaeepour_2017 import figure_11c, methods, places
from dpselect_studies.fanaeepour_2017.published_not_private import (
    PublishedNotPrivate,
    error,
    published_not_private,
    sensitivity,
)
from support.real_data import or_skip
from support.refusals import refused

NINE_TENTHS = 0.9
INSIDE = 27
CELLS = 2**14
# As near to 0.9 of the box as cells of a power of two allow, so that the query cuts none.
COVERED = 14_746
QUERY = np.array([[0, 0, COVERED * (POSITIONS // CELLS), POSITIONS]])
LINE = (uniform_grid((CELLS, 1)), uniform_grid(1))


def pair_on_the_line():
    """Databases of 29 and 30 points."""
    for size in (29, 30):
        x = np.full(size, 0.95)
        x[:INSIDE] = np.linspace(0, 0.89, INSIDE)
        yield Points(x, np.zeros(size), Box(0, 0, 1, 1))


def loss(first, second):
    return np.abs(np.log(first) - np.log(second)).max()


def test_the_published_utility_fails_with_a_sensitivity_of_each_grid():
    """Theorem 7.11: 8,938 points beside the query, 25,000 aligned cells against one."""
    size, delta, scale, epsilon = 8938, 0.1, 1.25, 0.2
    floor = delta * size
    cover = np.array([0.9 * 25_000, 0.9])
    gap = np.array([0.0, 0.9 * size])
    published = PublishedNotPrivate(
        error(gap, scale * cover, np.zeros(2), floor), sensitivity(scale * cover, size, delta)
    )

    law = published.probabilities(epsilon)

    assert published.errors == pytest.approx([31.47, 9.00], abs=5e-3)
    assert published.sensitivities == pytest.approx([0.04746, 0.01230], abs=5e-6)
    assert law[0] > 0.998
    # Pr[error >= least + (2 max Delta / epsilon)(ln 2 + tau)] <= exp(-tau), as printed.
    largest = published.sensitivities.max()
    tau = epsilon * (31.47 - 9.00) / (2 * largest) - np.log(2)
    assert np.exp(-tau) < 1e-19
    with_one = PublishedNotPrivate(published.errors, np.full(2, largest)).probabilities(epsilon)
    assert with_one[0] <= np.exp(-tau)


def published_on_the_line(points):
    return published_not_private(
        points, LINE, QUERY, scale=1.0, size=points.x.size, delta=NINE_TENTHS
    )


def test_the_published_choice_on_points_loses_more_than_its_epsilon_too():
    found = [published_on_the_line(points) for points in pair_on_the_line()]
    share = COVERED / CELLS

    assert found[0].errors == pytest.approx([COVERED / 27, (27 - 29 * share + share) / 27])
    assert found[0].sensitivities == pytest.approx([
        1 / (0.9 * 27.1) + noise / (26.1 * 27.1) + 1 / 27 for noise in (COVERED, share)
    ])  # fmt: skip
    assert loss(found[0].probabilities(1.0), found[1].probabilities(1.0)) > 1.09


@pytest.mark.parametrize(
    ("measure", "mechanism"),
    [
        (
            RelativeClipped(
                neighbours=dp.Neighbours.ADD_REMOVE, floor=floor, largest=clip, norm="l1"
            ),
            dp.ExponentialMechanism,
        )
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
        with refused("objective"):
            mechanism(epsilon=1.0).release(published)
    assert not hasattr(published, "release")


def case_of_few(grids=(1, 4, 16, 64), size=4000):
    rng = np.random.default_rng(0)
    points = Points.of(*_clustered(rng, size), bounds=places.COUNTRY)
    return places.case_of(points, grids, places.COUNTRY, delta=0.001, sides=places.SIDES)


def _clustered(rng, size):
    low, high = np.array(places.COUNTRY).reshape(2, 2)
    return (low + (high - low) * rng.beta(2, 5, (size, 2))).T


def test_names_say_which_methods_are_not_private():
    private = [methods.METHODS[name] for name in PRIVATE]
    others = [choose for name, choose in methods.METHODS.items() if "(not private)" in name]

    assert len(others) + len(private) == len(methods.METHODS)
    assert all(choose.__name__.endswith("_not_private") for choose in others)
    assert not any("not_private" in choose.__name__ for choose in private)


def test_leaky_takes_the_best_noisy_map_and_the_heuristic_the_exact_number():
    here = case_of_few()

    def leaky(epsilon):
        rng = np.random.default_rng(0)
        return methods.leaky_not_private(here, epsilon, 0.2, rng)[0].shape

    heuristic, _ = methods.heuristic_not_private(here, 0.5, 0.2, np.random.default_rng(0))

    assert leaky(1e6) == (64, 64)
    assert leaky(1e-5) == (1, 1)
    assert heuristic.shape == (15, 15)


@pytest.mark.parametrize("scale", [0.3, 2.0, 50.0])
def test_simulated_noise_has_the_moments_of_the_discrete_laplace_law(scale):
    drawn = methods.noise(200_000, scale, np.random.default_rng(0))
    q = np.exp(-1 / scale)
    variance = 2 * q / (1 - q) ** 2

    assert np.all(drawn == np.rint(drawn))
    assert abs(drawn.mean()) < 5 * np.sqrt(variance / drawn.size)
    assert drawn.var() == pytest.approx(variance, rel=0.03)
    assert np.mean(drawn == 0) == pytest.approx((1 - q) / (1 + q), abs=0.006)


def test_a_summary_is_of_medians_over_queries_with_points_and_over_all():
    found = methods.summary(np.array([[1.0, 2.0, np.nan, 9.0], [3.0, 4.0, np.nan, 5.0]]))

    assert found == pytest.approx({
        "error": 3.0, "error_of_all": 5.0, "standard_error": 1.0, "without_points": 0.25
    })  # fmt: skip


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
    for first, last in ((0, 2), (1, 3)):
        extents = (here.measured[:, last] - here.measured[:, first]).reshape(6, -1) / POSITIONS
        assert extents == pytest.approx(np.repeat(places.SIDES, 100).reshape(6, -1), abs=1e-8)


def test_random_queries_are_of_the_sizes_asked_for_and_anywhere_that_fits():
    rng, bounds = np.random.default_rng(0), (0, 0, 2, 1)
    queries = places.random_queries(bounds, (0.1, 0.8), rng, each=500)
    corners = (queries[:, :2] / [2, 1]) / (1 - np.repeat([0.1, 0.8], 500))[:, None]

    assert queries[:, 2] - queries[:, 0] == pytest.approx(np.repeat([0.2, 1.6], 500))
    assert len(lattice_rectangles(queries, bounds=bounds)) == 1000
    for axis in (0, 1):
        assert stats.kstest(corners[:, axis], "uniform").pvalue > 1e-6


def test_data_sets_hold_what_their_titles_say():
    sizes = or_skip(lambda: {name: places.case(name).size for name in places.PLACES})

    assert sizes == {"highways": 402_581, "markets": 8_520, "gowalla": 620_683}


def test_the_three_forms_of_figure_11c_are_ordered_and_meet_at_the_largest_grid():
    rows = [
        row
        for cell in figure_11c.cells(figure_11c.FULL)
        for row in figure_11c.measure(cell, None)
    ]
    found = {
        (delta, grid): [
            row["sensitivity"] for row in rows if (row["delta"], row["grid"]) == (delta, grid)
        ]
        for delta in (0.002, 0.1)
        for grid in (40, 60, 80)
    }

    for (_, grid), (dependent, seven, eight, repaired) in found.items():
        assert repaired < dependent <= seven < eight
        assert (dependent == seven) == (grid == 80)
    assert found[0.002, 40] == pytest.approx([27.72, 31.25, 50.25, 0.586], abs=6e-3)
    assert found[0.1, 60][:3] == pytest.approx([0.0134, 0.0143, 0.0223], abs=6e-5)


def test_check_ins_are_counted_as_often_as_makes_them_as_many_as_the_papers():
    one = or_skip(lambda: places.case("gowalla", (0.5,)))
    many = places.case(places.SCALED, (0.5,))
    grid = one.partitions[0]

    assert many.size == places.PLACES["gowalla"].printed
    assert one.size == places.CHECK_INS
    ratio = many.size / one.size
    assert many.points.in_cells(grid) == pytest.approx(ratio * one.points.in_cells(grid))
    assert many.points.in_rectangles(many.tuned) == pytest.approx(
        ratio * one.points.in_rectangles(one.tuned)
    )
