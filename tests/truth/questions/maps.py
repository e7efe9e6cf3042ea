"""Maps: a point on an edge is in the upper cell, on the edge of the box in the last one."""

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import strategies as st

import dpselect as dp
from truth.question import RELATIONS, Rows, asked, close, runs

BOXES = [(0, 0, 1, 1), (0, 0, 100, 100), (-180, -90, 180, 90), (13, 52.5, 13.8, 52.9)]
LARGE = st.sampled_from([200.0, 1e3, 1e4, 1e6])


def exact(number):
    return Fraction(str(number))


def cell(value, low, high, n, outside):
    """Return the cell of a coordinate among ``n``, or None outside."""
    place = (exact(value) - exact(low)) * n / (exact(high) - exact(low))
    if not 0 <= place <= n and outside == "drop":
        return None
    return int(min(max(place // 1, 0), n - 1))


@st.composite
def points(draw, box, grid):
    """Runs of points: in cells, on their edges, at the corners of the box and beyond it."""

    def along(low, high, n):
        # Only edges that a decimal can name are asked for.
        parts = (
            [0, Fraction(1, 2), Fraction(1, 4)]
            if n in {1, 2, 4, 5, 10, 64}
            else [Fraction(1, 2)]
        )
        inside = st.tuples(st.integers(0, n - 1), st.sampled_from(parts)).map(sum)
        place = inside | st.sampled_from([0, n, -1, n + 1])
        low, high = exact(low), exact(high)
        return place.map(lambda at: float(low + (high - low) * at / n)) | st.none()

    sides = along(box[0], box[2], grid[0]), along(box[1], box[3], grid[1])
    return draw(runs(st.tuples(*sides), times=(1, 2, 3, 20, 500)))


def counts_of(rows, box, grid, outside):
    """Return points by cell (x, y)."""
    found = Counter()
    for (x, y), times in rows:
        if x is not None and y is not None:
            at = (
                cell(x, box[0], box[2], grid[0], outside),
                cell(y, box[1], box[3], grid[1], outside),
            )
            if None not in at:
                found[at] += times
    return found


@st.composite
def asked_of(draw, sizes=(1, 2, 3, 4, 5, 10, 64), *, grouped=False, persons=False):
    """A box, a grid, points in it, and the arguments that say so."""
    box = draw(st.sampled_from(BOXES))
    grid = draw(st.tuples(st.sampled_from(sizes), st.sampled_from(sizes)))
    outside = draw(st.sampled_from(["drop", "clip"]))
    names = ["n", "s"] if grouped else [None]
    groups = {one: draw(points(box, grid)) for one in names}
    kind = draw(st.sampled_from([float, float, pl.Float32]))
    if grouped:
        rows = Rows(
            ("x", "y", "g"),
            tuple(
                ((*point, one), times) for one, some in groups.items() for point, times in some
            ),
            {"x": kind, "y": kind, "g": str},
        )
    else:
        rows = Rows(
            ("x", "y"),
            tuple(groups[None]),
            {"x": kind, "y": kind},
            draw(st.integers(1, 3)) * persons,
        )
    given = {
        "x": "x", "y": "y", "bounds": box, "outside": outside,
        # A fifth of it, for so many points, shapes the cells of a default map.
        "epsilon": 1e4 if persons else draw(LARGE),
        "neighbours": draw(RELATIONS),
        **({"user": "who", "max_per_user": draw(st.integers(1, 3))} if persons else {}),
    }  # fmt: skip
    held = draw(st.sampled_from(["polars", "pandas"]))
    counts = {one: counts_of(some, box, grid, outside) for one, some in groups.items()}
    if persons:
        each = min(rows.each, given["max_per_user"])
        counts[None] = Counter({one: size * each for one, size in counts[None].items()})
    return box, grid, given, rows, held, counts


@st.composite
def map_asked(draw, *, persons=False, method=None, sizes=(4, 2, 1)):
    """The total and the estimates of rectangles that are unions of cells."""
    box, _, given, rows, held, _ = draw(asked_of(sizes, persons=persons))
    grid = max(sizes)
    if method == "uniform":
        given |= {"grids": [grid], "method": "uniform"}
    elif method is not None:
        given |= {"method": method, "epsilon": 200.0}
    outside = given["outside"]
    each = min(rows.each, given.get("max_per_user", 0)) or 1
    fine = counts_of(rows.runs, box, (grid, grid), outside)
    shape = (grid, grid) if method == "uniform" else (2, 2)
    wanted = counts_of(rows.runs, box, shape, outside)
    width, height = (box[2] - box[0]) / shape[0], (box[3] - box[1]) / shape[1]
    areas = [
        [
            box[0] + x * width,
            box[1] + y * height,
            box[0] + (x + 1) * width,
            box[1] + (y + 1) * height,
        ]
        for x in range(shape[0])
        for y in range(shape[1])
    ]
    truth = [wanted[x, y] * each for x in range(shape[0]) for y in range(shape[1])]

    def right(release):
        total = sum(fine.values()) * each
        if not abs(release.total - total) <= 0.75:
            return f"{release.total} points for {total}"
        found = release.estimate(areas)
        low, high = found.intervals()
        if not ((low <= truth) & (truth <= high)).all():
            return f"the intervals {low} to {high} miss {truth}"
        return close(found.values, truth, 0.75) if np.isfinite(found.values).all() else "NaN"

    return asked(dp.Map, given, rows, right, held=held)


QUESTIONS = {
    "map": map_asked(),
    "map, uniform": map_asked(method="uniform", sizes=(10, 5, 2)),
    "map, adaptive": map_asked(method="adaptive"),
    "map, persons": map_asked(persons=True),
}
