"""Answers with their errors, post-processing, and the way out to other tools and back."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dp
from dpselect.errors import DataError, MissingDependencyError, ParameterError
from dpselect.spatial import (
    AdaptiveGrid,
    Box,
    PrivTree,
    SpatialHistogram,
    export,
    release_histogram,
)
from dpselect.spatial.postprocess import nonnegative

BOX = Box(5, 45, 15, 55, crs="EPSG:4326")
POINTS = np.random.default_rng(2).beta(2, 3, (4000, 2)) * 10 + [5, 45]
QUERIES = [[6.1, 46, 9, 50.3], [5, 45, 15, 55]]


def release(points=POINTS, **arguments):
    valid = {"bounds": BOX, "grids": [32], "method": "uniform", "epsilon": 4.0}
    return release_histogram(
        points,
        queries=QUERIES,
        neighbours=dp.Neighbours.ADD_REMOVE,
        **{**valid, **arguments},
    )


@pytest.fixture(scope="module")
def even():
    """A uniform grid whose cells fill the coarse ones."""
    return release(grids=[32, (32, 48)])


@pytest.fixture(scope="module")
def uneven():
    """Cells of several sizes."""
    return release(grids=[], method=AdaptiveGrid(c=5))


@pytest.fixture(scope="module")
def tree():
    """Squares of several sizes, larger and smaller than the coarse cells."""
    corner = np.random.default_rng(3).beta(2, 9, (4000, 2)) * 3 + [5, 45]
    return release(corner, method=PrivTree(depth=8), grids=[1], epsilon=40.0)


@pytest.fixture(params=["even", "uneven"])
def map_(request):
    return request.getfixturevalue(request.param)


def test_the_standard_error_is_that_of_the_noise():
    """Two-sided 6 sigma of the sample variance: false alarm about 1 in 10^8."""
    query = [6.1, 46, 9, 50.3]
    answers = [release(grids=[12]).query(query) for _ in range(100)]
    values = np.array([answer.values[0] for answer in answers])
    expected = answers[0].standard_errors[0]

    assert values.std() == pytest.approx(expected, rel=6 / np.sqrt(2 * 100))


def test_many_queries_are_answered_as_one_by_one(map_):
    together = map_.query(QUERIES)

    for position, query in enumerate(QUERIES):
        assert map_.query(query).values[0] == together.values[position]
    assert together.values[1] == pytest.approx(map_.total)
    assert map_.query(pl.DataFrame(QUERIES, orient="row")).values.tolist() == (
        together.values.tolist()
    )
    assert together.to_frame().columns == ["count", "standard_error"]


@pytest.mark.parametrize("query", [[4.9, 46, 9, 50], [[]], "all", [9, 46, 6, 50]])
def test_queries_outside_the_map_are_refused(map_, query):
    with pytest.raises(ParameterError, match="queries must"):
        map_.query(query)


@given(st.lists(st.integers(-50, 60), min_size=1, max_size=30))
def test_nonnegative_counts_keep_the_total_and_are_nearest(counts):
    values = np.array(counts, dtype=float)
    nearest = nonnegative(values)

    assert (nearest >= 0).all()
    assert nearest.sum() == pytest.approx(max(values.sum(), 0), abs=1e-9)
    # Optimality: what is positive has moved by one amount, and the rest by at most that.
    if values.sum() > 0:
        moved = values - nearest
        assert moved[nearest > 0] == pytest.approx(moved.max(), abs=1e-9)


def test_consistent_counts_are_the_mean_of_both_measurements(map_):
    from dpselect.spatial.postprocess import blocks

    consistent = map_.consistent()
    block, coarse_block = blocks(map_.partition)
    cells, coarse_cells = np.bincount(block), np.bincount(coarse_block)
    fine, coarse = (
        np.bincount(block, map_.counts),
        np.bincount(coarse_block, map_.coarse.counts),
    )
    v = cells * map_.standard_deviation**2
    w = coarse_cells * dp.spatial.noise.standard_deviation(map_.coarse.scale) ** 2

    assert np.bincount(block, consistent.counts) == pytest.approx(
        (w * fine + v * coarse) / (v + w)
    )
    assert len(cells) == 256
    assert consistent.processing == ("consistent",)


def test_blocks_of_a_tree_are_filled_by_cells_and_by_coarse_cells(tree):
    from dpselect.spatial import coarse
    from dpselect.spatial.postprocess import blocks

    corners = []
    for partition, block in zip(
        (tree.partition, coarse.cells()), blocks(tree.partition), strict=True
    ):
        x0, y0, x1, y1 = partition.rectangles().T
        many = block.max() + 1
        low = np.full((2, many), np.inf)
        high = np.full((2, many), -np.inf)
        for axis, (first, last) in enumerate(((x0, x1), (y0, y1))):
            np.minimum.at(low[axis], block, first)
            np.maximum.at(high[axis], block, last)
        area = np.bincount(block, (x1 - x0) * (y1 - y0))
        assert area == pytest.approx((high - low).prod(axis=0))
        corners.append(np.concatenate([low, high]))

    assert tree.chosen.startswith("privtree")
    assert corners[0].tolist() == corners[1].tolist()
    assert set(np.log2(corners[0][2] - corners[0][0])) >= {-4.0, -3.0, -2.0}
    assert tree.consistent().total == pytest.approx(4000, abs=10)


def test_a_tree_comes_back_from_its_file(tree, tmp_path):
    tree.to_parquet(tmp_path / "tree.parquet")
    back = SpatialHistogram.from_parquet(tmp_path / "tree.parquet")

    assert back.shares == tree.shares
    assert back.shares.structure > 0
    assert back.query(QUERIES).values.tolist() == tree.query(QUERIES).values.tolist()


def test_grids_that_are_not_aligned_agree_in_the_total():
    map_ = release(grids=[10, 11])
    assert np.ptp(map_.consistent().counts - map_.counts) == pytest.approx(0, abs=1e-9)


def test_consistency_needs_a_second_measurement_and_comes_first(even):
    with pytest.raises(ParameterError, match="nothing was chosen"):
        release(grids=[8]).consistent()
    with pytest.raises(ParameterError, match="before any other processing"):
        even.nonnegative().consistent()


def test_a_map_comes_back_from_its_file(map_, tmp_path):
    path = tmp_path / "map.parquet"
    processed = map_.consistent().nonnegative()
    processed.to_parquet(path)
    back = SpatialHistogram.from_parquet(path)

    assert back.query(QUERIES).values.tolist() == processed.query(QUERIES).values.tolist()
    for name in (
        "box",
        "scale",
        "epsilon",
        "shares",
        "neighbours",
        "candidates",
        "processing",
        "version",
        "chosen",
        "points_per_user",
        "standard_deviation",
    ):
        assert getattr(back, name) == getattr(processed, name)
    assert back.coarse.counts.tolist() == map_.coarse.counts.tolist()
    assert pl.read_parquet(path).columns == ["west", "south", "east", "north", "count"]


def test_other_files_are_no_maps(tmp_path):
    path = tmp_path / "other.parquet"
    pl.DataFrame({"count": [1.0]}).write_parquet(path)
    with pytest.raises(DataError, match="is not a map"):
        SpatialHistogram.from_parquet(path)
    path.write_text("count")
    with pytest.raises(DataError, match="is not a map"):
        SpatialHistogram.from_parquet(path)
    with pytest.raises(DataError, match="there is no file"):
        SpatialHistogram.from_parquet(tmp_path / "none.parquet")


def test_a_file_whose_cells_and_counts_differ_is_no_map(even, tmp_path):
    path = tmp_path / "map.parquet"
    even.to_parquet(path)
    metadata = pl.read_parquet_metadata(path)
    pl.read_parquet(path).head(5).write_parquet(
        path, metadata={"dpselect.spatial": metadata["dpselect.spatial"]}
    )

    with pytest.raises(DataError, match="is not a map"):
        SpatialHistogram.from_parquet(path)


def test_cells_become_geojson(map_, tmp_path):
    path = tmp_path / "map.geojson"
    collection = map_.to_geojson(path)
    ring = collection["features"][0]["geometry"]["coordinates"][0]

    assert json.loads(path.read_text()) == collection
    assert len(collection["features"]) == map_.partition.cells
    assert ring[0] == ring[-1] == [5, 45]


def test_geojson_is_in_degrees():
    with pytest.raises(ParameterError, match="GeoJSON is in degrees"):
        release(bounds=Box(*BOX.bounds, crs="EPSG:32633"), grids=[8]).to_geojson()


def test_a_raster_of_a_uniform_grid_is_its_counts(even):
    assert even.raster().shape == even.partition.shape
    assert even.raster().sum() == even.total


def test_a_raster_of_other_cells_needs_a_shape(uneven):
    assert uneven.raster((40, 24)).shape == (40, 24)
    assert uneven.raster((40, 24)).sum() == pytest.approx(uneven.total)
    with pytest.raises(ParameterError, match="give the shape of the raster"):
        uneven.raster()


def test_a_plot_has_a_legend_and_units(map_):
    import matplotlib as mpl

    mpl.use("agg")
    ax = map_.plot()
    legend = ax.get_figure().axes[1]

    assert ax.get_xlabel() == "longitude (degrees)"
    assert legend.get_ylabel() == "points per km²"
    assert "ε = 4 (add-remove)" in ax.get_title()


def test_areas_of_cells_sum_to_that_of_the_earth():
    from dpselect.spatial.plot import _areas

    world = release(bounds=Box(-180, -90, 180, 90, crs="EPSG:4326"), grids=[9])
    areas, unit = _areas(world, export.cell_bounds(world))

    assert areas.sum() == pytest.approx(510.066e6, rel=1e-4)
    assert unit == "km²"


def test_a_plane_map_is_per_its_own_units():
    import matplotlib as mpl

    mpl.use("agg")
    ax = release(bounds=BOX.bounds, grids=[8]).plot()

    assert ax.get_xlabel() == "x (coordinate units)"
    assert ax.get_figure().axes[1].get_ylabel() == (
        "points per square of 1 in coordinate units"
    )


def test_a_missing_package_is_named(even, monkeypatch):
    monkeypatch.setattr(export, "import_module", lambda _: (_ for _ in ()).throw(ImportError))
    for call in (even.to_geopandas, even.to_xarray, lambda: even.to_geotiff("map.tif")):
        with pytest.raises(MissingDependencyError, match=r"install dpselect\[geo\]"):
            call()


def test_polygons_are_answered_by_the_area_of_cells(map_):
    shapely = pytest.importorskip("shapely")
    triangle = shapely.Polygon([(6, 46), (12, 47), (8, 53)])
    boxes = [shapely.box(*query) for query in QUERIES]
    answers, rectangles = map_.query([*boxes, triangle]), map_.query(QUERIES)
    cells = shapely.box(*export.cell_bounds(map_).T)
    alpha = shapely.area(shapely.intersection(cells, triangle)) / shapely.area(cells)

    assert answers.values[:2] == pytest.approx(rectangles.values, abs=1e-4)
    assert answers.standard_errors[:2] == pytest.approx(rectangles.standard_errors)
    assert answers.values[2] == pytest.approx(alpha @ map_.counts)
    assert answers.standard_errors[2] == pytest.approx(
        map_.standard_deviation * np.linalg.norm(alpha)
    )


@pytest.mark.parametrize(
    "corners", [[(6, 46), (7, 47), (6, 47), (7, 46)], [(0, 46), (7, 47), (6, 50)]]
)
def test_polygons_that_cannot_be_answered_are_refused(even, corners):
    shapely = pytest.importorskip("shapely")
    with pytest.raises(ParameterError, match="the first that is not is number 0"):
        even.query(shapely.Polygon(corners))


def test_areas_are_brought_into_the_system_of_the_map(even):
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    areas = geopandas.GeoSeries([shapely.box(7, 47, 9, 49)], crs="EPSG:4326")

    assert even.query(areas.to_crs("EPSG:3857")).values == pytest.approx(
        even.query([7, 47, 9, 49]).values, rel=1e-6
    )


def test_cells_become_geometries(map_):
    pytest.importorskip("geopandas")
    frame = map_.to_geopandas()

    assert frame.crs == "EPSG:4326"
    assert frame["count"].tolist() == map_.counts.tolist()
    assert frame.total_bounds.tolist() == list(BOX.bounds)


def test_cells_become_a_labelled_raster(even):
    pytest.importorskip("xarray")
    array = even.to_xarray()
    south_west = array.isel(x=0, y=0)

    assert float(south_west) == even.counts[0]
    assert array.attrs["crs"] == "EPSG:4326"
    assert float(array[-1, 0]) == even.raster()[0, -1]


def test_a_geotiff_lies_where_the_map_lies(even, tmp_path):
    rasterio = pytest.importorskip("rasterio")
    even.to_geotiff(tmp_path / "map.tif")
    with rasterio.open(tmp_path / "map.tif") as file:
        assert tuple(file.bounds) == pytest.approx(BOX.bounds)
        assert file.crs.to_string() == "EPSG:4326"
        assert (even.raster() == file.read(1)[::-1].T).all()


def test_a_projected_system_known_to_pyproj_may_hold_metres():
    pytest.importorskip("pyproj")
    with pytest.raises(ParameterError, match="is in degrees"):
        Box(4e5, 5e6, 5e5, 6e6, crs="EPSG:4230")
    with pytest.raises(ParameterError, match="not a reference system"):
        Box(4e5, 5e6, 5e5, 6e6, crs="EPSG:somewhere")
