"""Maps of files that hold geometries, in the reference system that they state."""

import geopandas as gpd
import pandas as pd
import pyogrio
import pytest
from shapely import LineString, MultiPoint, Point, box

import dpselect as dp
from dpselect.errors import DataError, ParameterError
from dpselect.maps import HeavyCells, Map
from dpselect.tables import Source
from support.program import run  # noqa: F401 -- a fixture
from support.refusals import refused

BOUNDS = (13, 52, 14, 53)
POINTS = [Point(13.1 + k / 1000, 52.4) for k in range(98)]
ASKED = {"epsilon": 500.0, "neighbours": "add-remove"}
TOP = HeavyCells(bounds=BOUNDS, grid=10, k=1, **ASKED)


def write(path, shapes, crs="EPSG:4326"):
    frame = gpd.GeoDataFrame({"name": range(len(shapes))}, geometry=shapes, crs=crs)
    if path.suffix in {".parquet", ".geoparquet"}:
        frame.to_parquet(path)
    else:
        frame.to_file(path)
    return path


@pytest.mark.parametrize("ending", ["parquet", "geoparquet", "gpkg", "geojson", "shp", "fgb"])
def test_points_of_a_file_are_those_of_its_frame(tmp_path, ending):
    path = write(tmp_path / f"points.{ending}", POINTS)

    released = Map(bounds=BOUNDS, grids=[2], **ASKED).release(path)

    assert released.total == len(POINTS)
    assert released.box.crs == "EPSG:4326"
    assert TOP.release(str(path)).answer == ((13.1, 52.4, 13.2, 52.5),)


@pytest.mark.parametrize("ending", ["parquet", "gpkg", "geojson"])
def test_what_is_no_point_is_dropped_and_a_collection_of_one_point_is_one(tmp_path, ending):
    odd = [None, LineString([(13, 52), (14, 53)]), MultiPoint(POINTS[:2]), Point()]
    path = write(tmp_path / f"points.{ending}", [*odd, *(MultiPoint([p]) for p in POINTS)])

    assert Map(bounds=BOUNDS, grids=[2], **ASKED).release(path).total == len(POINTS)


@pytest.mark.parametrize("ending", ["gpkg", "shp", "fgb"])
def test_a_file_that_declares_areas_is_refused(tmp_path, ending):
    path = write(tmp_path / f"areas.{ending}", [box(*BOUNDS)])
    with pytest.raises(DataError):
        Map(bounds=BOUNDS, grids=[2], **ASKED).release(path)


def test_the_system_of_a_file_is_that_of_the_bounds(tmp_path):
    path = write(tmp_path / "points.parquet", POINTS)
    metres = {"bounds": (3e5, 5e6, 5e5, 6e6), "crs": "EPSG:32633"}

    with refused("bounds"):
        Map(grids=[2], **metres, **ASKED).check(path)
    with refused("bounds"):
        Map(grids=[2], bounds=metres["bounds"], **ASKED).check(path)
    far = gpd.GeoSeries(POINTS, crs="EPSG:4326").to_crs("EPSG:32633").to_frame("geometry")
    with refused("bounds"):
        Map(grids=[2], bounds=BOUNDS, **ASKED).check(far)
    unstated = write(tmp_path / "unstated.parquet", POINTS, crs=None)
    assert Map(bounds=BOUNDS, grids=[2], **ASKED).release(unstated).box.crs is None


def test_the_order_of_axes_that_a_system_states_is_not_that_of_a_file(tmp_path):
    path = write(tmp_path / "points.parquet", POINTS, crs="OGC:CRS84")

    assert Map(bounds=BOUNDS, crs="EPSG:4326", grids=[2], **ASKED).release(path).total == 98


def test_a_file_of_two_layers_is_refused_and_their_styles_are_none(tmp_path):
    path = write(tmp_path / "points.gpkg", POINTS)
    pyogrio.write_dataframe(pd.DataFrame({"style": ["x"]}), path, layer="layer_styles")
    assert TOP.release(path).answer == ((13.1, 52.4, 13.2, 52.5),)

    gpd.GeoDataFrame(geometry=POINTS[:1], crs="EPSG:4326").to_file(path, layer="more")
    for asked in (TOP.check, TOP.release):
        with pytest.raises(DataError):
            asked(path)


def test_a_file_that_cannot_be_read_is_refused_before_the_charge(tmp_path):
    budget = dp.Budget(900.0, neighbours="add-remove")
    for ending, text in (("gpkg", "x"), ("geojson", '{"type":')):
        path = tmp_path / f"points.{ending}"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError):
            TOP.release(path, budget=budget)
        with pytest.raises(DataError):
            TOP.release(tmp_path / f"other.{ending}", budget=budget)
    with refused("where"):
        TOP.release(Source(path, where="name = 1"), budget=budget)
    assert budget.remaining == 900


def test_commands_read_points_and_areas(run, tmp_path):  # noqa: F811 -- a fixture
    points = write(tmp_path / "points.geojson", POINTS)
    areas = write(tmp_path / "areas.geoparquet", [box(*BOUNDS), box(20, 52, 21, 53)])
    bounds, out = "13,52,14,53", tmp_path / "map.parquet"
    price = ("--epsilon", 500, "--neighbours", "add-remove")

    made = run("map", points, "--bounds", bounds, *price, "--out", out, "--json")
    heavy = run("map", "heavy", points, "--bounds", bounds, "--grid", 10, "--k", 1, *price)
    asked = run("map", "query", out, "--areas", areas, "--json")
    shown = run("map", "query", out, "--areas", areas)

    assert made.json["arguments"]["crs"] == "EPSG:4326"
    assert heavy.code == 0
    inside, outside = asked.json["answers"]
    assert inside["count"] == pytest.approx(len(POINTS))
    assert outside["count"] is None
    # The map knows nothing there.
    assert shown.out.splitlines()[2].split() == ["1", "0"]


def test_a_frame_states_its_own_system():
    frame = gpd.GeoDataFrame({"person": range(len(POINTS))}, geometry=POINTS, crs="EPSG:4326")

    assert Map(bounds=BOUNDS, grids=[2], **ASKED).release(frame).box.crs == "EPSG:4326"
    with pytest.raises(ParameterError, match=r"frame\.assign"):
        Map(bounds=BOUNDS, grids=[2], user="person", max_per_user=1, **ASKED)
    columns = frame.assign(x=frame.geometry.x, y=frame.geometry.y)
    limited = {"x": "x", "y": "y", "user": "person", "max_per_user": 1}
    assert Map(bounds=BOUNDS, grids=[2], **limited, **ASKED).release(columns).total == len(
        POINTS
    )
