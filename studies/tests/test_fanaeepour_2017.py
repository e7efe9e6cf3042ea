"""The published choice of a grid is not private, and its simulations cost what they say.

A pair of databases of the errata: one query of 0.9 of a line, a grid that it cuts nowhere and
a grid of one cell, 27 points in the query, and two or three more outside it.
"""

import numpy as np
import pytest

import dpselect as dp
from dpselect import maps
from dpselect.maps.box import POSITIONS, Box
from dpselect_studies.fanaeepour_2017 import methods, places
from dpselect_studies.fanaeepour_2017.published_not_private import (
    PublishedNotPrivate,
    error,
    published_not_private,
    sensitivity,
)
from support.refusals import refused

NINE_TENTHS = 0.9
INSIDE = 27
CELLS = 2**14
# As near to 0.9 of the box as cells of a power of two allow, so that the query cuts none.
COVERED = 14_746
QUERY = np.array([[0, 0, COVERED * (POSITIONS // CELLS), POSITIONS]])
LINE = (maps.uniform_grid((CELLS, 1)), maps.uniform_grid(1))


def pair_on_the_line():
    """Databases of 29 and 30 points."""
    for size in (29, 30):
        x = np.full(size, 0.95)
        x[:INSIDE] = np.linspace(0, 0.89, INSIDE)
        yield maps.Points(x, np.zeros(size), Box(0, 0, 1, 1))


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
    assert dp.audit.privacy_loss(*(one.probabilities(1.0) for one in found)) > 1.09


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


def case_of_few():
    low, high = np.array(places.COUNTRY).reshape(2, 2)
    clustered = low + (high - low) * np.random.default_rng(0).beta(2, 5, (4000, 2))
    points = maps.Points.of(*clustered.T, bounds=places.COUNTRY)
    grids = 1, 4, 16, 64
    return places.case_of(points, grids, places.COUNTRY, delta=0.001, sides=places.SIDES)


def test_names_say_which_methods_are_not_private():
    private = [methods.METHODS[name] for name in PRIVATE]
    others = [choose for name, choose in methods.METHODS.items() if "(not private)" in name]

    assert len(others) + len(private) == len(methods.METHODS)
    assert all(choose.__name__.endswith("_not_private") for choose in others)
    assert not any("not_private" in choose.__name__ for choose in private)


def test_nothing_can_be_released_with_the_published_choice():
    published = published_on_the_line(next(pair_on_the_line()))

    assert not isinstance(published, dp.Objective)
    for mechanism in (dp.PermuteAndFlip, dp.ExponentialMechanism, dp.GeneralizedExponential):
        with refused("objective"):
            mechanism(epsilon=1.0).release(published)
    assert not hasattr(published, "release")
