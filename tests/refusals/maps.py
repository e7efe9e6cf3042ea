"""Refusals of maps."""

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.errors import ColumnError, DataError, NeighboursError
from dpselect.maps import (
    Quadtree,
    RelativeClipped,
    Weighted,
    even_queries,
    grid_error,
    lattice_rectangles,
    uniform_grid,
)
from dpselect.maps.box import Box
from dpselect.maps.partition import rules_of
from dpselect.maps.points import PointRows
from dpselect.tables.people import PeopleCap
from support.refusals import Each, refusing, releasing

ADD_REMOVE, SUBSTITUTE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
AR = {"epsilon": 2.0, "neighbours": ADD_REMOVE}
UNIT = (0, 0, 1, 1)
TWO = [[0.1, 0.1, 0.43, 0.3], [0.5, 0.2, 0.9, 0.95]]
BOX = Box(-10, 40, 20, 60)
WITHOUT = pl.DataFrame({"x": [1.0], "y": [50.0]})
METRES = (4e5, 5e6, 5e5, 6e6)


def read(points, x="x", y="y", cap=None):
    PointRows(BOX, x, y, cap).read(points)


def interval(level):
    release = dp.Map(bounds=UNIT, grids=[2], **AR).release([[0.5, 0.5]])
    release.estimate(UNIT).intervals(level)


MAP = releasing(dp.Map, data=[[0.5, 0.5]], bounds=UNIT, grids=[4, 9, 20], queries=TWO, **AR)
BOUNDS = refusing(Box.of)
IN_METRES = refusing(Box, *METRES)
LOCATED = refusing(Box(*UNIT).locate, [0.5])
RECTANGLES = refusing(lattice_rectangles, bounds=UNIT)
GRID = refusing(uniform_grid)
EVEN = refusing(even_queries, UNIT)
RULES = refusing(rules_of)
READ = refusing(read)
ERROR = refusing(
    grid_error, [0.5], [0.5], bounds=UNIT, grids=[2, 3], queries=[0, 0, 1, 0.3], scale=1.0,
    measure=Weighted(neighbours=ADD_REMOVE),
)  # fmt: skip

CLIPPED = refusing(RelativeClipped, neighbours=ADD_REMOVE, floor=1.0)

ROWS = [
    refusing(PointRows(BOX).check)("give geopandas", DataError, data="cases.kml"),
    refusing(interval)("level", level=Each([0, 1, float("nan")])),
    CLIPPED("norm", norm="max"),
    CLIPPED("floor", floor=0.0),
    CLIPPED("largest", largest=np.inf),
    MAP("floor", measure="relative-clipped", floor=Each([None, 0])),
    MAP("floor", floor=-1.0),
    MAP("floor", measure=Each(["absolute", Weighted(neighbours=ADD_REMOVE)]), floor=5),
    MAP("different columns", x="a", y="b", user=Each(["a", "b"]), max_per_user=2),
    MAP("bounds", bounds=Each([(0, 0, 0, 1), (1, 0, 0, 1)])),
    MAP("grid size must be at least 1", grids=Each([[0, 3], [-3]])),
    MAP("different from each other", grids=Each([[3, 3], [3, (3, 3)]])),
    MAP("sizes of uniform grids", grids=[], method="uniform"),
    MAP("900,000,000 cells, 6.7 GiB of counts; at most 67,108,864", grids=[3, 30_000]),
    MAP("at least one rectangle", queries=[]),
    MAP("bounds", queries=[[0, 0, 2, 2]]),
    MAP("epsilon", epsilon=Each([0.0, float("nan"), 1e-18])),
    MAP("tuning_share", tuning_share=Each([0, 1.0, -0.1])),
    MAP("method", method="best"),
    MAP("must be above 0 and below 1", method="quadtree", grids=[], tuning_share=0),
    MAP("epsilon", method="quadtree", tuning_share=1e-17),
    MAP("bounds", bounds=(4e5, 5e6, 5e5, 6e6), crs="EPSG:32633", queries=[4e5, 0, 5e5, 1]),
    MAP("neighbours", NeighboursError, neighbours=Each([dp.Neighbours.EDGE, "near"])),
    MAP("outside", outside="wrap"),
    MAP("sanity", sanity=2),
    MAP("measure", measure="squared"),
    MAP("one neighbour relation", NeighboursError, measure=Weighted(neighbours=SUBSTITUTE)),
    MAP("weights", measure=Weighted(neighbours=ADD_REMOVE, weights=[1, 2, 3])),
    MAP("direction", mechanism="shifted"),
    MAP("mechanism", mechanism="best"),
    MAP("keep to", mechanism=lambda epsilon: dp.PermuteAndFlip(epsilon=2 * epsilon)),
    MAP("go together", user="who"),
    MAP("max_per_user", user="who", max_per_user=0),
    MAP("user", user="who", max_per_user=2),
    MAP("x", x="lon"),
    MAP("data must be a frame", DataError, x="lon", y="lat"),
    BOUNDS("bounds", bounds=Each([(0, 0, 0, 1), (0, 1, 1, 0), (0, 0, np.nan, 1)])),
    BOUNDS("four numbers", bounds=Each([(0, 0, 1), "here"])),
    refusing(Box, *UNIT)("crs", crs=""),
    IN_METRES("EPSG:4326 is in degrees", crs="EPSG:4326"),
    IN_METRES("is in degrees", crs="EPSG:4230"),
    refusing(Box, *UNIT)("not a reference system", crs="EPSG:somewhere"),
    LOCATED("same length", DataError, y=[0.5, 0.5]),
    LOCATED("outside", y=[0.5], outside="wrap"),
    RECTANGLES("at least one rectangle", queries=Each([[], np.empty((0, 4)), [[0, 0, 1]]])),
    RECTANGLES("at least one rectangle", queries=[["a", 0, 1, 1]]),
    RECTANGLES("finite numbers; the first that is", queries=[[0, 0, 1, 1], [0, 0, np.nan, 1]]),
    RECTANGLES("from a lower to a higher", queries=[[0.5, 0, 0.5, 1]]),
    RECTANGLES("from a lower to a higher", queries=[[0, 0.5, 1, 0.2]]),
    RECTANGLES("bounds", queries=Each([[[-0.1, 0, 1, 1]], [[0, 0, 1, 1.1]]])),
    RECTANGLES("wider than", queries=[[0.5, 0, 0.5 + 1e-12, 1]]),
    GRID("a grid", size=Each([0, -3, 2.5, True, (2, 0), (2, 2, 2)])),
    GRID("400,000,000 cells", size=20_000),
    ERROR("sizes of uniform grids", grids=[]),
    ERROR("different from each other", grids=Each([[3, 3], [3, (3, 3)]])),
    ERROR("list of integers", grids=3),
    ERROR("scale", scale=0.0),
    ERROR("one for each query", measure=Weighted(neighbours=ADD_REMOVE, weights=[1.0, 2.0])),
    ERROR("measure", measure="absolute"),
    refusing(Weighted, neighbours=ADD_REMOVE)("weights", weights=[1.0, 0.0]),
    refusing(Weighted)("neighbours", NeighboursError, neighbours=dp.Neighbours.EDGE),
    EVEN("sides", sides=Each([(), (1.0,)])),
    EVEN("each", each=0),
    RULES("method", method=Each(["best", 3, ["uniform", None], {}, {"name": "quadtree"}])),
    RULES("method", method={"name": "quadtree", "d": 3}),
    refusing(Quadtree)("c", c=0),
    READ("no column 'x'", ColumnError, points=pl.DataFrame({"a": [1.0]})),
    READ("is not numeric", ColumnError, points=pl.LazyFrame({"x": ["a"], "y": [1]})),
    READ("need the", ColumnError, points=WITHOUT, x=None, y=None),
    READ("shape (n, 2)", DataError, points=Each([np.zeros((3, 3)), 7]), x=None, y=None),
    READ("shape (n, 2)", DataError, points=np.array([["a", "b"]]), x=None, y=None),
    READ("no column 'who'", ColumnError, points=WITHOUT, cap=PeopleCap("who", 1)),
]
