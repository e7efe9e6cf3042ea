"""Points from frames, engines, arrays and geometries."""

import numpy as np
import polars as pl
import pytest

from dpselect.maps import counting, lattice_rectangles
from dpselect.maps.box import Box
from dpselect.maps.partition import uniform_grid
from dpselect.maps.points import PointRows
from support.refusals import refused

BOX = Box(-10, 40, 20, 60)
QUERIES = lattice_rectangles(
    [[-10, 40, 20, 60], [-3.3, 41, 4, 50], [0, 40, 1, 59.9]], bounds=BOX.bounds
)
AWKWARD = [np.nan, np.inf, -np.inf, -10.0, 20.0, 0.0]
X = np.concatenate([np.random.default_rng(0).uniform(-12, 22, 300), AWKWARD, [0.0] * 6])
Y = np.concatenate([np.random.default_rng(1).uniform(39, 61, 300), [50.0] * 6, AWKWARD])
PARTITIONS = [uniform_grid(1), uniform_grid((3, 5)), uniform_grid(64)]


def read(points, x="x", y="y", outside="drop"):
    return PointRows(BOX, x, y, outside=outside).read(points)


@pytest.fixture(scope="module")
def expected():
    return {
        outside: counting.Points(*BOX.locate(X, Y, outside=outside), BOX)
        for outside in ("drop", "clip")
    }


def duck(frame):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(frame.to_arrow())


FRAMES = {
    "polars": lambda f: f,
    "pandas": lambda f: f.to_pandas(),
    "pyarrow": lambda f: f.to_arrow(),
    "polars lazy": lambda f: f.lazy(),
    "duckdb": duck,
}


@pytest.mark.parametrize("outside", ["drop", "clip"])
@pytest.mark.parametrize("convert", FRAMES.values(), ids=FRAMES)
def test_every_frame_gives_the_same_counts(convert, outside, expected):
    points = read(convert(pl.DataFrame({"x": X, "y": Y})), outside=outside)

    for partition in PARTITIONS:
        assert (points.in_cells(partition) == expected[outside].in_cells(partition)).all()
    assert (points.in_rectangles(QUERIES) == expected[outside].in_rectangles(QUERIES)).all()


def test_an_array_of_pairs_is_read(expected):
    points = PointRows(BOX).read(np.column_stack([X, Y]))

    assert points.x.tolist() == expected["drop"].x.tolist()


def test_geometries_are_read_in_their_own_system():
    geopandas = pytest.importorskip("geopandas")
    points = geopandas.GeoDataFrame(
        geometry=geopandas.points_from_xy([0.0, 5.0, 99.0], [50.0, 41.0, 50.0]), crs="EPSG:4326"
    )
    box = Box(*BOX.bounds, crs="EPSG:4326")

    assert PointRows(box).read(points).x.size == 2
    with refused("bounds"):
        PointRows(Box(*BOX.bounds, crs="EPSG:3857")).read(points)
