"""Point sets of the figures, each a substitute that is named as one, and their queries.

Queries are of six sizes. A map is tuned for one hundred of each and measured on a hundred
others. All are public: spread evenly over the box, or around farmers' markets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import numpy as np
import polars as pl

from dpselect.spatial import (
    Box,
    Counts,
    Partition,
    Points,
    even_queries,
    lattice_rectangles,
    uniform_grid,
)
from dpselect.typing import Indices, Values
from dpselect_studies import datasets

BOX = Box(-125.5, 25.0, -65.5, 50.0)
"""The contiguous United States; degrees."""
SIDES = tuple(2.0**-k for k in range(7, 1, -1))
"""Sides of queries over sides of the box."""
EACH = 100
DELTA = 0.001
"""Share of all points that relative errors are taken over at least."""


@dataclass(frozen=True)
class Place:
    """A point set and its settings.

    Attributes:
        data: The data set.
        title: Its name in figures, with the paper's set that it stands for.
        grids: Candidates, cells along both axes.
        queries: Where the queries lie.
    """

    data: str
    title: str
    grids: tuple[int, ...]
    queries: Literal["evenly", "around markets"] = "evenly"


COARSE = (4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384)
PLACES = {
    "highways": Place("points_us_highways", "US highways (for US Landmarks)", COARSE),
    "markets": Place(
        "points_us_farmers_markets", "farmers' markets (for US storage facilities)", COARSE
    ),
    "gowalla": Place(
        "points_gowalla_u5628",
        "5,628 users in the USA (for Gowalla)",
        (16, 32, 64, 96, 128, 192, 256, 300, 400, 500, 600, 700, 800),
        "around markets",
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class CachedCounts:
    """Points that are counted once for each uniform grid and each set of queries."""

    points: Points
    _cells: dict[str, Values] = field(default_factory=dict)
    _rectangles: dict[bytes, Values] = field(default_factory=dict)

    def in_cells(self, partition: Partition) -> Values:
        if partition.shape is None:
            return self.points.in_cells(partition)
        if partition.label not in self._cells:
            self._cells[partition.label] = self.points.in_cells(partition)
        return self._cells[partition.label]

    def in_rectangles(self, queries: Indices) -> Values:
        key = queries.tobytes()
        if key not in self._rectangles:
            self._rectangles[key] = self.points.in_rectangles(queries)
        return self._rectangles[key]


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """Points, candidates and queries; private, and simulated with only.

    Attributes:
        points: What counts the points.
        size: The number of points.
        partitions: The uniform candidates.
        tuned: Queries that a map is tuned for, lattice edges, shape ``(m, 4)``.
        measured: Queries that errors are taken of, as many, in the order of ``SIDES``.
    """

    points: Counts
    size: int
    partitions: tuple[Partition, ...]
    tuned: Indices
    measured: Indices

    @property
    def floor(self) -> float:
        """What relative errors are taken over at least, points."""
        return DELTA * self.size


@cache
def case(name: str) -> Case:
    """Return a point set of ``PLACES``.

    Raises:
        DataError: The data set cannot be had.
    """
    place = PLACES[name]
    points = Points(*BOX.locate(*_coordinates(place.data)))
    several = evenly() if place.queries == "evenly" else around_markets()
    return case_of(points, place.grids, several)


def case_of(points: Points, grids: Sequence[int], several: Values) -> Case:
    """Return points with grids, and with queries of which every other one is tuned for.

    Args:
        points: The points.
        grids: Cells along both axes.
        several: Rectangles, shape ``(6, 2 * EACH, 4)``, by size.
    """
    return Case(
        CachedCounts(points),
        points.x.size,
        tuple(uniform_grid(size) for size in grids),
        lattice_rectangles(several[:, ::2].reshape(-1, 4), bounds=BOX),
        lattice_rectangles(several[:, 1::2].reshape(-1, 4), bounds=BOX),
    )


def _coordinates(data: str) -> tuple[Values, Values]:
    frame = datasets.load(data)
    if "count" in frame.columns:
        # One row for each check-in: each is an individual here.
        frame = frame.select(pl.col("lon", "lat").repeat_by("count").explode())
    return frame["lon"].to_numpy(), frame["lat"].to_numpy()


def evenly() -> Values:
    """Return rectangles spread evenly, shape ``(6, 2 * EACH, 4)``, by size."""
    return even_queries(BOX, sides=SIDES, each=2 * EACH).reshape(len(SIDES), -1, 4)


def around_markets() -> Values:
    """Return rectangles around farmers' markets, moved into the box; shaped alike."""
    places = np.column_stack(_coordinates("points_us_farmers_markets"))
    rng = np.random.default_rng(0)
    centres = rng.permutation(places)[: len(SIDES) * 2 * EACH].reshape(len(SIDES), -1, 2)
    low, high = np.array(BOX.bounds).reshape(2, 2)
    extents = np.array(SIDES)[:, None, None] * (high - low)
    corners = np.clip(centres - extents / 2, low, high - extents)
    return np.concatenate([corners, np.minimum(corners + extents, high)], axis=2)
