"""Point sets of the figures, each a substitute that is named as one, and their queries.

Queries are of six sizes at random positions: a hundred of each that a map is tuned for, and a
hundred others that it is measured on. They are public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from dpselect.maps import Counts, Partition, Points, lattice_rectangles, uniform_grid
from dpselect.typing import Indices, Values
from dpselect_studies import datasets

Bounds: TypeAlias = tuple[float, float, float, float]
"""West, south, east and north; degrees."""
COUNTRY = (-125.5, 25.0, -65.5, 50.0)
"""The contiguous United States."""
WORLD = (-160.0, -60.0, 180.0, 80.0)
"""The bounds of the check-ins; the paper prints its two ranges exchanged."""
SIDES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.8)
"""Sides of queries over sides of the box: 1, 4, 9, 16, 25 and 64 % of its area."""
EACH = 100


@dataclass(frozen=True)
class Place:
    """A point set and the paper's settings for what it stands for.

    Attributes:
        data: The data set.
        title: Its name in figures, with the paper's set that it stands for.
        bounds: Of its map.
        grids: Candidates, cells along both axes.
        delta: Share of all points that relative errors are taken over at least.
        printed: The number of points of the paper's set.
        weight: How often each point counts.
    """

    data: str
    title: str
    bounds: Bounds
    grids: tuple[int, ...]
    delta: float
    printed: int
    weight: float = 1.0


PLACES = {
    "markets": Place(
        "points_us_farmers_markets",
        "farmers' markets (for Storage)",
        COUNTRY,
        (30, 40, 50, 60, 70, 80),
        0.1,
        8_938,
    ),
    "highways": Place(
        "points_us_highways",
        "US highways (for Landmark)",
        COUNTRY,
        (200, 250, 300, 350, 400),
        0.01,
        869_976,
    ),
    "gowalla": Place(
        "points_gowalla_u5628",
        "check-ins of 5,628 users (for Gowalla)",
        WORLD,
        (300, 400, 500, 600, 700, 800),
        0.001,
        6_442_841,
    ),
}


CHECK_INS = 620_683
"""Of the substitute."""
SCALED = "gowalla-scaled"
OTHERS = {
    SCALED: replace(
        PLACES["gowalla"],
        title="check-ins counted 10.4 times (for Gowalla)",
        weight=PLACES["gowalla"].printed / CHECK_INS,
    )
}
"""The check-ins, each counted as often as makes them as many as the paper has."""


@dataclass(frozen=True, eq=False, repr=False)
class CachedCounts(Counts):
    """Points that are counted once for each uniform grid and each set of queries.

    Attributes:
        points: The points.
        weight: How often each counts.
    """

    points: Points
    weight: float = 1.0
    _cells: dict[str, Values] = field(default_factory=dict)
    _rectangles: dict[bytes, Values] = field(default_factory=dict)

    @property
    def box(self) -> Any:  # type: ignore[override]  # noqa: ANN401 -- that of the points
        return self.points.box

    def between(self, x_lines: Values, y_lines: Values) -> Indices:
        return self.points.between(x_lines, y_lines)

    def in_cells(self, partition: Partition) -> Values:
        if partition.shape is None:
            return self.points.in_cells(partition)
        if partition.label not in self._cells:
            self._cells[partition.label] = self.weight * self.points.in_cells(partition)
        return self._cells[partition.label]

    def in_rectangles(self, queries: Indices) -> Values:
        key = queries.tobytes()
        if key not in self._rectangles:
            self._rectangles[key] = self.weight * self.points.in_rectangles(queries)
        return self._rectangles[key]


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """Points, candidates and queries; private, and simulated with only.

    Attributes:
        points: What counts the points.
        size: The number of points.
        partitions: The uniform candidates.
        delta: Share of all points that relative errors are taken over at least, in tuning.
        tuned: Queries that a map is tuned for, lattice edges, shape ``(m, 4)``.
        measured: Queries that errors are taken of, as many, in the order of the sides.
    """

    points: Counts
    size: int
    partitions: tuple[Partition, ...]
    delta: float
    tuned: Indices
    measured: Indices

    @property
    def floor(self) -> float:
        """What relative errors are taken over at least in tuning, points."""
        return self.delta * self.size


@cache
def case(name: str, sides: tuple[float, ...] = SIDES, positions: int = 0) -> Case:
    """Return a point set of ``PLACES`` or ``OTHERS`` with queries of these sides.

    Args:
        name: Which.
        sides: Of the queries, over sides of the box.
        positions: Seed of their random positions.

    Raises:
        DataError: The data set cannot be had.
    """
    place = (PLACES | OTHERS)[name]
    points = CachedCounts(_points(name), place.weight)
    queries = _queries(place.bounds, sides, positions)
    partitions = tuple(uniform_grid(size) for size in place.grids)
    size = round(points.points.x.size * place.weight)
    return Case(points, size, partitions, place.delta, *queries)


@cache
def _points(name: str) -> Points:
    place = (PLACES | OTHERS)[name]
    return Points.of(*_coordinates(place.data), bounds=place.bounds)


def _queries(
    bounds: Bounds, sides: tuple[float, ...], positions: int
) -> tuple[Indices, Indices]:
    """Return the queries that a map is tuned for, and as many others."""
    rng = np.random.default_rng(positions)
    tuned, measured = (
        lattice_rectangles(random_queries(bounds, sides, rng), bounds=bounds) for _ in range(2)
    )
    return tuned, measured


def case_of(
    points: Points,
    grids: Sequence[int],
    bounds: Bounds,
    *,
    delta: float,
    sides: tuple[float, ...],
) -> Case:
    """Return points with grids, and with two sets of queries at random positions."""
    partitions = tuple(uniform_grid(size) for size in grids)
    queries = _queries(bounds, sides, 0)
    return Case(CachedCounts(points), points.x.size, partitions, delta, *queries)


def random_queries(
    bounds: Bounds, sides: tuple[float, ...], rng: np.random.Generator, *, each: int = EACH
) -> Values:
    """Return rectangles of a few sizes at uniformly random positions inside of the bounds.

    Args:
        bounds: Of the map.
        sides: Sides of the rectangles over sides of the box, each between 0 and 1.
        rng: The generator of the positions.
        each: Number of rectangles of each size.

    Returns:
        West, south, east and north, shape ``(len(sides) * each, 4)``, by size.

    Source: Fanaeepour and Rubinstein, section 8.
    """
    widths = np.repeat(sides, each)[:, None]
    shares = rng.random((widths.size, 2)) * (1 - widths)
    low, high = np.array(bounds).reshape(2, 2)
    corners = (low + (high - low) * share for share in (shares, shares + widths))
    return np.hstack([np.clip(corner, low, high) for corner in corners])


def _coordinates(data: str) -> tuple[Values, Values]:
    frame = datasets.load(data)
    if "count" in frame.columns:
        # One row for each check-in: each is an individual here.
        frame = frame.select(pl.col("lon", "lat").repeat_by("count").explode())
    return frame["lon"].to_numpy(), frame["lat"].to_numpy()
