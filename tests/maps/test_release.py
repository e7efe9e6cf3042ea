"""Answers with their errors, post-processing, and the way out to other tools and back."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.maps import AdaptiveGrid, CoarseGrid, MapRelease, Quadtree, uniform_grid
from dpselect.maps.box import Box
from dpselect.maps.estimates import Estimates
from dpselect.maps.partition import standard_deviation
from dpselect.maps.postprocess import blocks, consistent, nonnegative
from dpselect.maps.release import areas_of

BOX = Box(5, 45, 15, 55, crs="EPSG:4326")
POINTS = np.random.default_rng(2).beta(2, 3, (4000, 2)) * 10 + [5, 45]
BOW_TIE = [(6, 46), (7, 47), (6, 47), (7, 46)]
LINE = [(6, 46), (7, 47), (8, 48)]
QUERIES = [[6.1, 46, 9, 50.3], [5, 45, 15, 55]]


def release(points=POINTS, **arguments):
    valid = {
        "bounds": BOX.bounds,
        "crs": BOX.crs,
        "grids": [32],
        "queries": QUERIES,
        "method": "uniform",
        "epsilon": 4.0,
        "neighbours": "add-remove",
    }
    return dp.Map(**{**valid, **arguments}).release(points)


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
    return release(corner, method=Quadtree(c=40.0), epsilon=40.0)


@pytest.fixture(params=["even", "uneven"])
def map_(request):
    return request.getfixturevalue(request.param)


def test_an_area_that_leaves_the_map_is_answered_by_its_part_inside(map_):
    shapely = pytest.importorskip("shapely")
    west, south, _, north = BOX.bounds
    middle = (south + north) / 2
    leaving, inside = [west - 3, south - 1, west + 1, middle], [west, south, west + 1, middle]
    outside = [west - 2, south, west - 1, north]
    rectangles = map_.estimate([leaving, inside, outside], names=["a", "b", "c"])
    polygons = map_.estimate([shapely.box(*one) for one in (leaving, inside, outside)])
    share = (middle - south) / (4 * (middle - south + 1))

    for found in (rectangles, polygons):
        assert found.values[0] == found.values[1] != 0
        assert found.noise_errors[0] == found.noise_errors[1]
        assert found.inside == pytest.approx([share, 1, 0])
        assert np.isnan([found.values[2], found.standard_errors[2]]).all()
    assert rectangles.names == ("a", "b", "c")
    with pytest.raises(ParameterError, match="names"):
        map_.estimate([leaving, inside], names=["a"])


def test_areas_are_called_by_their_only_column_of_texts_that_all_differ():
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    west, south, east, north = BOX.bounds
    shapes = [shapely.box(west, south, east, north), shapely.box(west, south, east, south + 1)]
    made = {"county": ["A", "A"], "code": [7, 8], "name": ["all", "edge"]}
    areas = geopandas.GeoDataFrame(made, geometry=shapes)
    map_ = release(grids=[12])

    def called(areas, names=None):
        return map_.estimate(areas, names=names).names

    assert called(areas) == called(areas.set_index("name")) == ("all", "edge")
    assert called(areas, "code") == ("7", "8")
    assert called(areas, ["x", "y"]) == ("x", "y")
    assert called(areas.assign(other=["p", "q"])) == called(areas.geometry) == ("0", "1")
    with pytest.raises(ColumnError):
        called(areas, "nam")


@pytest.mark.parametrize("cells", [1, 2, 3, 4, 5, 8, 20, 100, 400])
@pytest.mark.parametrize("scale", [0.25, 0.4, 0.8, 3.0, 40.0])
def test_sums_of_noise_are_within_intervals_by_their_law(scale, cells):
    """The law of the noise of whole cells, convolved with itself on a ring."""
    error = np.full(1, standard_deviation(scale) * np.sqrt(cells))
    far = int(20 * error[0]) + 60
    one = np.exp(-np.abs(np.arange(-far, far + 1)) / scale)
    law = np.fft.ifft(np.fft.fft(np.fft.ifftshift(one / one.sum())) ** cells).real
    counts = np.full(1, 1e6)
    found = Estimates(counts, counts, error, error * 0, counts, ("",), None, BOX)
    for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
        low, high = found.intervals(level)
        most = int(high[0] - 1e6)
        within = law[0] + 2 * law[1 : most + 1].sum()
        assert low[0] == 1e6 - most
        assert level < within
        assert within < level + 0.02 or error < 20 or level < 0.95


def test_intervals_hold_points_whose_counts_a_fit_has_made_smaller():
    """Nearly all cells are empty: 300 maps, four sigma; around the values .82 would hold."""
    corner = np.random.default_rng(11).random((5000, 2)) * 0.24
    query = dp.Map(
        bounds=(0, 0, 1, 1), method="guideline", epsilon=0.1, neighbours="add-remove"
    )
    maps = [query.release(corner).estimate([0, 0, 0.5, 0.5]) for _ in range(300)]
    low, high = np.transpose([one.intervals() for one in maps])[0]
    fitted = np.mean([one.values - one.unbiased for one in maps])

    assert fitted < -15
    assert ((low <= 5000) & (high >= 5000)).mean() > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 300)
    assert all(a <= one.values <= b for a, b, one in zip(low, high, maps, strict=True))


@pytest.mark.parametrize("suffix", ["csv", "parquet", "gpkg", "geojson"])
def test_estimates_are_written_with_their_areas(map_, tmp_path, suffix):
    geopandas = pytest.importorskip("geopandas")
    path = tmp_path / f"districts.{suffix}"
    found = map_.estimate(QUERIES, names=[f"district {one}" for one in range(len(QUERIES))])
    found.to_file(path)
    read = {"csv": pl.read_csv, "parquet": geopandas.read_parquet}.get(
        suffix, geopandas.read_file
    )
    back = read(path)

    assert list(back["area"]) == list(found.names)
    assert list(back["count"]) == pytest.approx(found.values)
    if suffix != "csv":
        assert back.geometry.total_bounds == pytest.approx(BOX.bounds, abs=1e-6)


def projected_on(totals, counts, weights):
    """The fit of Held et al. by bisection for its threshold."""
    if totals <= 0:
        return np.zeros_like(counts)
    low, high = (counts.min() - totals) / weights.min(), counts.max() / weights.min()
    for _ in range(200):
        middle = (low + high) / 2
        fits = np.maximum(counts - middle * weights, 0).sum() <= totals
        low, high = (low, middle) if fits else (middle, high)
    return np.maximum(counts - high * weights, 0)


@given(st.lists(st.integers(-50, 60), min_size=16, max_size=16))
def test_counts_are_fitted_from_the_whole_box_down(counts):
    """Four by four cells: the quarters first, then the cells of each."""
    cells = np.array(counts, dtype=float)
    fitted = nonnegative(uniform_grid(4), cells).reshape(4, 4)
    quarters = fitted.reshape(2, 2, 2, 2).sum(axis=(1, 3))
    given_ones = cells.reshape(2, 2, 2, 2)

    assert (fitted >= 0).all()
    assert quarters.ravel() == pytest.approx(
        projected_on(max(cells.sum(), 0), given_ones.sum(axis=(1, 3)).ravel(), np.full(4, 4)),
        abs=1e-6,
    )
    for a, b in np.ndindex(2, 2):
        assert fitted[2 * a : 2 * a + 2, 2 * b : 2 * b + 2].ravel() == pytest.approx(
            projected_on(quarters[a, b], given_ones[a, :, b, :].ravel(), np.ones(4)), abs=1e-6
        )


def test_consistent_counts_are_the_mean_of_both_measurements(map_):
    block, coarse_block = blocks(map_.partition)
    measured = np.random.default_rng(5).integers(0, 30, map_.partition.cells).astype(float)
    fitted = consistent(map_.partition, measured, scale=map_.scale, coarse=map_.coarse)
    fine, coarse = np.bincount(block, measured), np.bincount(coarse_block, map_.coarse.counts)
    v = np.bincount(block) * map_.standard_deviation**2
    w = np.bincount(coarse_block) * standard_deviation(map_.coarse.scale) ** 2
    means = (w * fine + v * coarse) / (v + w)
    total = (w.sum() * fine.sum() + v.sum() * coarse.sum()) / (v + w).sum()
    left = v * w / (v + w)

    assert np.bincount(block, fitted) == pytest.approx(
        means + (total - means.sum()) * left / left.sum()
    )
    assert fitted.sum() == pytest.approx(total)
    assert np.ptp((fitted - measured)[block == 7]) == pytest.approx(0, abs=1e-9)
    assert map_.processing == ("consistent", "nonnegative")


def test_blocks_of_a_tree_are_filled_by_cells_and_by_coarse_cells(tree):
    corners = []
    for partition, block in zip(
        (tree.partition, CoarseGrid.cells()), blocks(tree.partition), strict=True
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

    assert tree.candidate.startswith("quadtree")
    assert corners[0].tolist() == corners[1].tolist()
    widths = np.log2(corners[0][2] - corners[0][0])
    assert widths.min() == -4 < widths.max()
    assert tree.total == pytest.approx(4000, abs=10)


def test_a_map_comes_back_from_its_file(map_, tmp_path):
    path = tmp_path / "map.parquet"
    processed = map_.nonnegative()
    processed.to_file(path)
    back = MapRelease.from_parquet(path)

    assert back.estimate(QUERIES).values.tolist() == processed.estimate(QUERIES).values.tolist()
    names = (
        "box scale epsilon plan neighbours candidates processing non_uniformity version query "
        "answer standard_deviation"
    )
    for name in names.split():
        assert getattr(back, name) == getattr(processed, name)
    assert back.coarse.counts.tolist() == map_.coarse.counts.tolist()
    assert pl.read_parquet(path).columns == [
        "west", "south", "east", "north", "count", "unbiased"
    ]  # fmt: skip


def test_other_files_are_no_maps(even, tmp_path):
    path = tmp_path / "other.parquet"
    even.to_file(path)
    [kept, cells] = pl.read_parquet_metadata(path)["dpselect.maps"], pl.read_parquet(path)
    for frame, metadata in (
        (pl.DataFrame({"count": [1.0]}), None),
        (cells.head(5), {"dpselect.maps": kept}),
    ):
        frame.write_parquet(path, metadata=metadata)
        with pytest.raises(DataError):
            MapRelease.from_parquet(path)
    path.write_text("count")
    with pytest.raises(DataError):
        MapRelease.from_parquet(path)
    with pytest.raises(DataError):
        MapRelease.from_parquet(tmp_path / "none.parquet")


def test_a_raster_of_other_cells_needs_a_shape(even, uneven):
    assert even.raster().shape == even.partition.shape
    assert even.raster().sum() == even.total
    assert uneven.raster((40, 24)).shape == (40, 24)
    assert uneven.raster((40, 24)).sum() == pytest.approx(uneven.total)
    with pytest.raises(ParameterError):
        uneven.raster()


@pytest.mark.parametrize(
    ("crs", "bounds", "x", "per"),
    [
        ("EPSG:4326", BOX.bounds, "longitude (degrees)", "km²"),
        (None, BOX.bounds, "x (coordinate units)", "square with sides of 1 (coordinate units)"),
        ("EPSG:32633", (4e5, 5e6, 5e5, 5.1e6), "x (metre)", "km²"),
    ],
)
@pytest.mark.parametrize("method", ["uniform", "quadtree"])
def test_a_plot_has_units_and_the_points_of_the_map(crs, bounds, x, per, method):
    import matplotlib as mpl

    mpl.use("agg")
    low, high = np.reshape(bounds, (2, 2))
    points = low + (high - low) * np.random.default_rng(4).random((900, 2))
    asked = {"bounds": bounds, "crs": crs, "queries": None, "epsilon": 100.0}
    grids = [10] if method == "uniform" else []
    map_ = release(points, **asked, grids=grids, method=method)
    ax = map_.plot()
    (image,), (legend,) = ax.get_images(), ax.child_axes
    areas, _ = areas_of(map_.box, uniform_grid(image.get_array().T.shape).in_box(map_.box))

    assert (ax.get_xlabel(), legend.get_ylabel()) == (x, f"points per {per}")
    assert "ε = 100 (add-remove)" in ax.get_title()
    assert image.get_array().T.ravel() @ areas == pytest.approx(900, rel=0.1)


def test_areas_of_cells_sum_to_that_of_the_earth():
    world = release(bounds=(-180, -90, 180, 90), grids=[9])
    each, unit = areas_of(world.box, world.partition.in_box(world.box))

    assert each.sum() == pytest.approx(510.066e6, rel=1e-4)
    assert unit == "km²"


@pytest.mark.parametrize("areas", [[[]], "all", [9, 46, 6, 50], BOW_TIE, LINE], ids=str)
def test_what_is_no_area_is_refused(even, areas):
    if areas in (BOW_TIE, LINE):
        areas = pytest.importorskip("shapely").Polygon(areas)
    with pytest.raises(ParameterError):
        even.estimate(areas)


def test_areas_are_brought_into_the_system_of_the_map(even):
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    areas = geopandas.GeoSeries([shapely.box(7, 47, 9, 49)], crs="EPSG:4326")

    assert even.estimate(areas.to_crs("EPSG:3857")).values == pytest.approx(
        even.estimate([7, 47, 9, 49]).values, rel=1e-6
    )


def test_cells_are_written_as_text(tmp_path):
    map_ = release(POINTS, grids=[], method="quadtree", queries=None)
    map_.to_file(tmp_path / "map.csv")

    assert pl.read_csv(tmp_path / "map.csv").equals(map_.to_frame())


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:32633", None])
def test_every_vector_file_is_opened_by_geopandas(crs, tmp_path):
    geopandas = pytest.importorskip("geopandas")
    bounds = np.array(BOX.bounds) * (1e5 if crs == "EPSG:32633" else 1)
    points = POINTS * (1e5 if crs == "EPSG:32633" else 1)
    map_ = release(points, bounds=bounds, crs=crs, grids=[], method="quadtree", queries=None)
    for name in ("map.geoparquet", "map.gpkg", "map.geojson"):
        if crs is None and name == "map.geojson":
            with pytest.raises(ParameterError):
                map_.to_file(tmp_path / name)
            continue
        map_.to_file(tmp_path / name)
        read = geopandas.read_parquet if name == "map.geoparquet" else geopandas.read_file
        frame = read(tmp_path / name)

        assert frame["count"].to_numpy() == pytest.approx(map_.counts)
        assert frame.geometry.is_valid.all()
        if crs is not None:
            # GeoJSON is in its own system.
            found = frame.crs.to_string(), frame.crs.to_epsg(min_confidence=20)
            assert {"EPSG:4326" if name == "map.geojson" else crs, "OGC:CRS84"} & {
                found[0], f"EPSG:{found[1]}"
            }  # fmt: skip
            frame = frame.to_crs(crs)
        assert frame.total_bounds == pytest.approx(bounds, abs=1e-6)


def test_a_picture_is_as_fine_as_its_noise_allows():
    sides = [
        dp.Map(bounds=(5, 45, 15, 55), epsilon=epsilon, neighbours="add-remove")
        .release(POINTS)
        .plot()
        .images[0]
        .get_array()
        .shape[0]
        for epsilon in (0.05, 1.0, 1000.0)
    ]

    assert sides == sorted(sides)
    assert sides[0] < sides[-1]
