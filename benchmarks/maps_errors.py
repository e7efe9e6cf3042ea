"""Post-processing of maps, and how often errors of answers are within their stated bounds.

Run: ``python benchmarks/maps_errors.py``, with the data sets in the folder of the
environment variable ``DPSELECT_DATA``. Cells are the quadtree of the default, whose coarse grid
has a fifth of epsilon; the uniform grid of the guideline; and for made-up points also 32 x 32
cells. Queries are squares in shares of the box, half of them at random and half around a random
point of the data. Results: ``benchmarks/results/maps_errors.csv``.

Mean absolute errors in points, of the quadtree alone, are those of the counts as measured, made
consistent with the coarse grid, then without negative counts: fitted from the whole box down,
or by one threshold for all cells. ``within_noise`` is the share of answers whose error is at
most 1.96 standard errors of the noise alone, ``within`` the share whose interval of level 0.95
holds the exact number. ``width`` is half the mean width of the intervals over the 95th
percentile of the errors. Errors of large squares are nearly one number for all squares of a
map, so that shares near 0.95 are known to 0.02.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.maps import (
    CoarseGrid,
    CountedCells,
    MapRelease,
    Points,
    Quadtree,
    lattice_rectangles,
)
from dpselect.maps.box import Box
from dpselect.maps.counting import noisy
from dpselect.maps.postprocess import consistent, nonnegative
from dpselect.typing import Indices, Values

Row: TypeAlias = dict[str, Any]

DATA = Path(os.environ["DPSELECT_DATA"])
RESULTS = Path(__file__).with_name("results") / "maps_errors.csv"
BOXES = {
    "us_highways": Box(-125.5, 25, -65.5, 50),
    "us_farmers_markets": Box(-125.5, 25, -65.5, 50),
    "nyc_uber_pickups": Box(-74.3, 40.5, -73.6, 41.0),
    "gowalla_u5628": Box(-180, -90, 180, 90),
}
MADE_UP = ("one_cluster", "thirty_clusters", "blocks", "even")
SIDES, EACH, EPSILONS = (0.02, 0.1, 0.3, 0.8), 60, (0.1, 1.0)
MAPS, OF_MANY, MANY = 80, 24, 10**5
"""Maps of each query, and of more points than that."""
FORMS = ("measured", "consistent", "nonnegative", "one_threshold")


def made_up(name: str, rng: np.random.Generator, many: int = 20_000) -> Values:
    """Return points of the unit square: normal clusters, even rectangles, or even points."""
    if name == "even":
        return rng.random((many, 2))
    if name == "blocks":
        corners = np.sort(rng.random((12, 2, 2)), axis=1)
        low, high = corners[rng.integers(12, size=many)].swapaxes(0, 1)
        return low + (high - low) * rng.random((many, 2))
    clusters, spread = (1, 0.1) if name == "one_cluster" else (30, 0.03)
    centres = 0.2 + 0.6 * rng.random((clusters, 2))
    points = centres[rng.integers(clusters, size=many)] + rng.normal(0, spread, (many, 2))
    return points[((points >= 0) & (points < 1)).all(axis=1)]


def points_of(name: str, box: Box, rng: np.random.Generator) -> Values:
    """Return the points inside the box."""
    if name in MADE_UP:
        return made_up(name, rng)
    table = pl.read_parquet(DATA / f"points_{name}.parquet")
    points = table.select("lon", "lat").to_numpy().astype(np.float64)
    if "count" in table.columns:
        points = np.repeat(points, table["count"].to_numpy(), axis=0)
    return points[box.holds(*points.T, outside="drop")]


def queries_of(points: Values, box: Box, side: float, rng: np.random.Generator) -> Values:
    """Return the queries of one size."""
    corner, size = np.array([box.west, box.south]), np.array(box.bounds[2:]) - box.bounds[:2]
    low = rng.random((EACH, 2)) * (1 - side)
    around = (points[rng.integers(len(points), size=EACH // 2)] - corner) / size
    low[: EACH // 2] = np.clip(around - side * rng.random((EACH // 2, 2)), 0, 1 - side)
    return np.hstack([corner + low * size, corner + (low + side) * size])


def one_threshold(counts: Values) -> Values:
    """Return counts >= 0 of the same total, all moved by one amount."""
    ordered = np.sort(counts)[::-1]
    thresholds = (np.cumsum(ordered) - counts.sum()) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(ordered > thresholds)[-1]
    return np.maximum(counts - thresholds[last], 0)


def processed(held: Points, epsilon: float) -> Iterator[tuple[str, CountedCells]]:
    """Yield the counts of one map after each form of post-processing."""
    scale, counts_scale = 1 / (0.2 * epsilon), 1 / (0.8 * epsilon)
    coarse = CoarseGrid(noisy(held.in_cells(CoarseGrid.cells()), scale), scale)
    part = Quadtree(c=10.0).partition(coarse, 0.8 * epsilon)
    measured = noisy(held.in_cells(part), counts_scale)
    fitted = consistent(part, measured, scale=counts_scale, coarse=coarse)
    yield "measured", CountedCells(part, measured)
    yield "consistent", CountedCells(part, fitted)
    yield "nonnegative", CountedCells(part, nonnegative(part, fitted))
    yield "one_threshold", CountedCells(part, one_threshold(fitted))


def bounds_of(map_: MapRelease, queries: Values, exact: Values) -> Values:
    """Return errors, whether they are within bounds, and half of widths; shape ``(4, m)``."""
    found = map_.estimate(queries)
    (low, high), errors = found.intervals(), np.abs(found.values - exact)
    within = errors <= 1.96 * found.noise_errors, (low <= exact) & (exact <= high)
    return np.stack([errors, *within, (high - low) / 2])


def errors_of_forms(
    held: Points, epsilon: float, edges: dict[float, Indices], maps: int
) -> Iterator[Row]:
    """Yield for each size of queries the mean absolute errors of each form."""
    forms = [dict(processed(held, epsilon)) for _ in range(maps)]
    for queries in edges.values():
        exact = held.in_rectangles(queries)
        yield {
            form: round(
                float(np.mean([np.abs(one[form].answers(queries) - exact) for one in forms])), 1
            )
            for form in FORMS
        }


def rows() -> Iterator[Row]:
    """Yield the results of all data sets, cells, epsilons and sizes."""
    for name in (*BOXES, *MADE_UP):
        box, rng = BOXES.get(name, Box(0, 0, 1, 1)), np.random.default_rng(16)
        points = points_of(name, box, rng)
        held = Points(*box.locate(*points.T), box)
        number = MAPS if len(points) < MANY else OF_MANY
        asked = {side: queries_of(points, box, side, rng) for side in SIDES}
        edges = {side: lattice_rectangles(asked[side], bounds=box.bounds) for side in SIDES}
        queries = np.vstack(list(asked.values()))
        exact = held.in_rectangles(np.vstack(list(edges.values())))
        kinds: dict[str, dict[str, Any]] = {
            "quadtree": {},
            "guideline": {"method": "guideline"},
        }
        if name in MADE_UP:
            kinds["32 x 32"] = {"grids": [32]}
        for (cells, given), epsilon in product(kinds.items(), EPSILONS):
            query = dp.Map(bounds=box.bounds, epsilon=epsilon, neighbours="add-remove", **given)
            maps = [query.release(points) for _ in range(number)]
            of_forms = [dict.fromkeys(FORMS, "")] * len(SIDES)
            if cells == "quadtree" and name in BOXES:
                of_forms = list(errors_of_forms(held, epsilon, edges, number))
            # All sizes at once: sums over cells are made once a map.
            every = np.stack([bounds_of(one, queries, exact) for one in maps])
            by_side = every.reshape(number, 4, len(SIDES), EACH).transpose(2, 1, 0, 3)
            for side, forms, found in zip(SIDES, of_forms, by_side, strict=True):
                noise, stated, width = found[1:].mean(axis=(1, 2)).round(3).tolist()
                width /= np.quantile(found[0], 0.95)
                yield {
                    "data": name, "points": len(points), "cells": cells, "epsilon": epsilon,
                    "side": side, **forms, "within_noise": noise, "within": stated,
                    "width": round(float(width), 2),
                }  # fmt: skip


def store(path: Path, rows: Iterable[Row]) -> None:
    """Write measured rows as a table."""
    found = list(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, found[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    store(RESULTS, rows())
