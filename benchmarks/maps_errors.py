"""Post-processing of maps, and how often errors of answers are within their stated bounds.

Run: ``python benchmarks/maps_errors.py``, with the data sets in the folder of the
environment variable ``DPSELECT_DATA``. Maps are those of the default, a quadtree whose coarse
grid has a fifth of epsilon. Queries are squares in shares of the box, half of them at random
and half around a random point of the data. Results: ``benchmarks/results/maps_errors.csv``.

Mean absolute errors in points are those of the counts as measured, made consistent with the
coarse grid, then without negative counts: fitted from the whole box down, or by one threshold
for all cells. ``within_noise`` and ``within`` are the shares of answers whose error is at most
1.96 standard errors, of the noise alone and with that of uniform cells.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.maps import (
    CoarseGrid,
    CountedCells,
    Estimates,
    Points,
    Quadtree,
    lattice_rectangles,
)
from dpselect.maps.box import Box
from dpselect.maps.counting import noisy
from dpselect.maps.postprocess import consistent, nonnegative
from dpselect.typing import Values

DATA = Path(os.environ["DPSELECT_DATA"])
RESULTS = Path(__file__).with_name("results") / "maps_errors.csv"
BOXES = {
    "us_highways": Box(-125.5, 25, -65.5, 50),
    "us_farmers_markets": Box(-125.5, 25, -65.5, 50),
    "nyc_uber_pickups": Box(-74.3, 40.5, -73.6, 41.0),
    "gowalla_u5628": Box(-180, -90, 180, 90),
}
SIDES, EACH, MAPS, EPSILONS = (0.02, 0.1, 0.3, 0.8), 200, 12, (0.1, 1.0)


def points_of(name: str, box: Box) -> Values:
    """Return the points inside the box."""
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


def shares(answers: list[Estimates], exact: Values) -> tuple[float, float]:
    """Return how many answers are within 1.96 standard errors, of noise and of both."""
    pairs = [
        (np.abs(one.values - exact), one.noise_errors, one.standard_errors) for one in answers
    ]
    noise = np.mean([error <= 1.96 * bound for error, bound, _ in pairs])
    both = np.mean([error <= 1.96 * bound for error, _, bound in pairs])
    return round(float(noise), 3), round(float(both), 3)


def rows() -> Iterator[dict[str, object]]:
    """Yield the results of all data sets, epsilons and sizes."""
    for name, box in BOXES.items():
        points, rng = points_of(name, box), np.random.default_rng(16)
        held = Points(*box.locate(*points.T))
        asked = {side: queries_of(points, box, side, rng) for side in SIDES}
        for epsilon in EPSILONS:
            query = dp.Map(bounds=box.bounds, epsilon=epsilon, neighbours="add-remove")
            maps = [query.release(points) for _ in range(MAPS)]
            forms = [dict(processed(held, epsilon)) for _ in range(MAPS)]
            for side, queries in asked.items():
                edges = lattice_rectangles(queries, bounds=box.bounds)
                exact = held.in_rectangles(edges)
                errors = {
                    form: round(
                        float(
                            np.mean([np.abs(one[form].answers(edges) - exact) for one in forms])
                        ),
                        1,
                    )
                    for form in forms[0]
                }
                noise, both = shares([one.estimate(queries) for one in maps], exact)
                yield {
                    "data": name, "points": len(points), "epsilon": epsilon, "side": side,
                    **errors, "within_noise": noise, "within": both,
                }  # fmt: skip


def main() -> None:
    """Measure, print and store."""
    found = list(rows())
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, found[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    for row in found:
        print(*row.values())


if __name__ == "__main__":
    main()
