"""Tuning of a map, against the paper's algorithm as written and against NumPy's histograms.

Run: ``python benchmarks/maps.py``. Each ratio is of two times measured in this run. What
would take too long is measured on a part and multiplied; the table says so.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import dpselect as dp
from dpselect.maps import (
    CountedCells,
    Overlap,
    Points,
    Quadtree,
    Weighted,
    even_queries,
    lattice_rectangles,
    partition_error,
    uniform_grid,
)
from dpselect.maps.box import Box
from dpselect.maps.rules import CoarseGrid
from dpselect.typing import Values

POINTS = 6_442_841
GRIDS = (300, 400, 500, 600, 700, 800)
BOX = Box(-180, -90, 180, 90)
MEASURE = Weighted(neighbours="add-remove")


def world(points: int) -> tuple[Values, Values]:
    """Return points in clusters of every width, as check-ins are."""
    rng = np.random.default_rng(0)
    towns = rng.integers(0, 2000, points)
    width = rng.pareto(1.5, 2000) / 2
    x = rng.uniform(-170, 170, 2000)[towns] + rng.standard_normal(points) * width[towns]
    y = rng.uniform(-60, 70, 2000)[towns] + rng.standard_normal(points) * width[towns]
    return np.clip(x, -180, 179.999), np.clip(y, -90, 89.999)


def seconds(call: Callable[[], object], *, repeat: int = 3) -> float:
    """Return the best of ``repeat`` times."""
    times = []
    for _ in range(repeat):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def phase_one(x: Values, y: Values, queries: Values, grids: tuple[int, ...] = GRIDS) -> Values:
    """Tune as we do: locate, count, answer, bound the sensitivities."""
    points = Points(*BOX.locate(x, y), BOX)
    edges = lattice_rectangles(queries, bounds=BOX.bounds)
    partitions = [uniform_grid(size) for size in grids]
    error = partition_error(
        points, partitions=partitions, queries=edges, scale=1.0, measure=MEASURE
    )
    return error.scores


def with_histogram2d(x: Values, y: Values, queries: Values, grids: tuple[int, ...]) -> Values:
    """Tune by numpy.histogram2d, masks for exact counts and explicit overlap sums."""
    exact = np.array(
        [((x >= w) & (x < e) & (y >= s) & (y < n)).sum() for w, s, e, n in queries]
    )
    scores = []
    for size in grids:
        counts, x_edges, y_edges = np.histogram2d(
            x, y, bins=size, range=[(BOX.west, BOX.east), (BOX.south, BOX.north)]
        )
        errors = []
        for (w, s, e, n), count in zip(queries, exact, strict=True):
            across, along = overlap(x_edges, w, e), overlap(y_edges, s, n)
            norm = np.linalg.norm(across) * np.linalg.norm(along)
            errors.append(abs(across @ counts @ along - count) + np.sqrt(2) * norm)
        scores.append(-np.mean(errors))
    return np.array(scores)


def overlap(edges: Values, low: float, high: float) -> Values:
    """Return the share of each interval that lies in [low, high)."""
    covered = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    return np.maximum(covered, 0) / np.diff(edges)


def as_written(x: Values, y: Values, query: Values, size: int) -> float:
    """Return the error of one query on one grid, cell by cell and point by point."""
    west, south, east, north = query
    count, answer, norm = 0, 0.0, 0.0
    columns = np.floor((x - BOX.west) / (BOX.east - BOX.west) * size).astype(int)
    rows = np.floor((y - BOX.south) / (BOX.north - BOX.south) * size).astype(int)
    held: dict[tuple[int, int], int] = {}
    for here, there, column, row in zip(x, y, columns, rows, strict=True):
        count += west <= here < east and south <= there < north
        held[column, row] = held.get((column, row), 0) + 1
    x_edges = np.linspace(BOX.west, BOX.east, size + 1)
    y_edges = np.linspace(BOX.south, BOX.north, size + 1)
    across, along = overlap(x_edges, west, east), overlap(y_edges, south, north)
    for column in range(size):
        for row in range(size):
            share = across[column] * along[row]
            answer += share * held.get((column, row), 0)
            norm += share * share
    return -(abs(answer - count) + float(np.sqrt(2 * norm)))


def against_others(table: Table, x: Values, y: Values, queries: Values) -> None:
    """Compare phase 1 with two other ways to the same scores."""
    ours = seconds(lambda: phase_one(x, y, queries))
    start = perf_counter()
    theirs = with_histogram2d(x, y, queries, GRIDS)
    taken = perf_counter() - start
    # The lattice moves an edge by at most 2**-32 of the box.
    if not np.allclose(theirs, phase_one(x, y, queries), rtol=1e-3):
        raise AssertionError("both must give the same scores")
    name = f"{len(GRIDS)} grids, {len(queries)} queries, {x.size:,} points"
    table.add_row(name, f"{ours:.3f}", "histogram2d, masks, overlaps", *_times(taken, ours))
    few, size = 20_000, GRIDS[0]
    start = perf_counter()
    as_written(x[:few], y[:few], queries[0], size)
    written = (perf_counter() - start) * x.size / few * len(queries) * len(GRIDS)
    how = f"the paper's loops (from {few:,} points, 1 query, 1 grid)"
    table.add_row(name, f"{ours:.3f}", how, *_times(written, ours))


def _times(theirs: float, ours: float) -> tuple[str, str]:
    return f"{theirs:,.1f}", f"{theirs / ours:,.0f}"


def many_queries(table: Table, x: Values, y: Values, each: int = 7680) -> None:
    """Compare counts and overlaps of many queries with NumPy, which does a few of them.

    Counts of points by a mask for each query; answers, norms and loads of a partition into
    squares of many sizes by the overlaps of every query with every cell.
    """
    points = Points(*BOX.locate(x, y), BOX)
    queries = even_queries(BOX.bounds, each=each)
    edges = lattice_rectangles(queries, bounds=BOX.bounds)
    few = np.linspace(0, len(edges) - 1, 20).astype(int)
    x0, y0, x1, y1 = edges[few].T
    start = perf_counter()
    inside = [
        ((points.x >= w) & (points.x < e) & (points.y >= s) & (points.y < n)).sum()
        for w, s, e, n in zip(x0, y0, x1, y1, strict=True)
    ]
    masks = (perf_counter() - start) * len(edges) / few.size
    if (points.in_rectangles(edges)[few] != inside).any():
        raise AssertionError("the counts differ")
    ours = seconds(lambda: points.in_rectangles(edges))
    name = f"exact counts of {len(edges):,} queries"
    table.add_row(name, f"{ours:.3f}", "masks, from 20", *_times(masks, ours))

    some = Points(points.x[::6].copy(), points.y[::6].copy(), BOX)
    coarse = CoarseGrid(some.in_cells(CoarseGrid.cells()).astype(float), 2.0)
    partition = Quadtree(10.0).partition(coarse, 1.0)
    counts, weights = some.in_cells(partition), np.full(few.size, 1.0)
    held = CountedCells(partition, counts)
    squares = partition.rectangles()
    start = perf_counter()
    alpha = np.array([_shares(squares, query) for query in edges[few] / 2**32])
    load = (
        weights @ np.where((alpha > 0) & (alpha < 1), np.maximum(alpha, 1 - alpha), 0)
    ).max()
    sums, norms = alpha @ counts, np.linalg.norm(alpha, axis=1)
    dense = (perf_counter() - start) * len(edges) / few.size
    overlap = Overlap.of(partition, edges[few])
    found = np.array([held.answers(edges[few]), overlap.l2])
    if not np.allclose(found, [sums, norms]) or not np.isclose(overlap.added(weights), load):
        raise AssertionError("the overlaps differ")

    def answer() -> None:
        held.answers(edges)
        Overlap.of(partition, edges).added(np.ones(len(edges)))

    ours = seconds(answer, repeat=1)
    name = f"{len(edges):,} queries on {partition.cells:,} squares of a quadtree"
    table.add_row(name, f"{ours:.3f}", "all overlaps, from 20", *_times(dense, ours))


def _shares(squares: Values, query: Values) -> Values:
    """Return the share of each square that a query covers, all as shares of the box."""
    across, along = (
        np.maximum(
            np.minimum(squares[:, i + 2], query[i + 2]) - np.maximum(squares[:, i], query[i]), 0
        )
        for i in (0, 1)
    )
    area = (squares[:, 2] - squares[:, 0]) * (squares[:, 3] - squares[:, 1])
    return across * along / area


def growth(table: Table, x: Values, y: Values) -> None:
    """Fit how the time of phase 1 grows: a power of points, of queries, of cells along a side.

    Each is at most 1 for points and for queries, 2 for cells; a fixed part makes it less.
    """
    base = even_queries(BOX.bounds, each=120)
    cases: dict[str, dict[int, Callable[[], object]]] = {
        "points": {
            x.size // part: partial(phase_one, x[::part], y[::part], base)
            for part in (8, 4, 2, 1)
        },
        "queries": {
            5 * each: partial(phase_one, x, y, even_queries(BOX.bounds, each=each))
            for each in (120, 480, 1920, 7680)
        },
        "cells along a side, of the largest of six grids": {
            GRIDS[-1] * times: partial(
                phase_one, x, y, base, tuple(size * times for size in GRIDS)
            )
            for times in (1, 2, 4)
        },
    }
    for name, calls in cases.items():
        times = [seconds(call) for call in calls.values()]
        power = np.polyfit(np.log(list(calls)), np.log(times), 1)[0]
        shown = " to ".join(f"{size:,}" for size in (min(calls), max(calls)))
        span = " to ".join(f"{taken:.2f}" for taken in (times[0], times[-1]))
        table.add_row(f"{shown} {name}", span, "time grows as the power", "", f"{power:.2f}")


def whole_release(table: Table, x: Values, y: Values, queries: Values) -> None:
    """Time a release from arrays to noisy counts, most of which is the exact noise."""
    points = np.column_stack([x, y])

    query = dp.Map(
        bounds=BOX.bounds,
        grids=GRIDS,
        queries=queries,
        epsilon=1.0,
        neighbours="add-remove",
    )
    taken = seconds(lambda: query.release(points), repeat=1)
    table.add_row("the whole release", f"{taken:.2f}", "", "", "")


def main() -> None:
    """Print the table."""
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    table = Table(title=f"{machine}, NumPy {np.__version__}, numba {version('numba')}")
    for column in ("what", "dpselect (s)", "against", "(s)", "ratio"):
        table.add_column(column, justify="left" if column in {"what", "against"} else "right")
    x, y = world(POINTS)
    queries = even_queries(BOX.bounds, each=120)
    phase_one(x[:10], y[:10], queries)
    against_others(table, x, y, queries)
    many_queries(table, x, y)
    growth(table, x, y)
    whole_release(table, x, y, queries)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
