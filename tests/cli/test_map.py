"""The commands that release a map and query it."""

import json

import numpy as np
import polars as pl
import pytest

from dpselect.maps import MapRelease
from dpselect.maps.rules import METHODS

COLUMNS = ("--x", "lon", "--y", "lat", "--bounds", "-5,40,5,50", "--neighbours", "add-remove")
MAP = (*COLUMNS, "--grids", "8,16,32", "--epsilon", 2)


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.parquet"
    rng = np.random.default_rng(0)
    lon, lat = rng.normal(0, 1, 2000), rng.normal(45, 1, 2000)
    pl.DataFrame({"lon": lon, "lat": lat, "who": np.arange(2000) // 2}).write_parquet(path)
    return path


def test_a_map_is_released_and_asked(run, points, tmp_path):
    out = tmp_path / "map.parquet"
    ran = run("map", points, *MAP, "--out", out, "--plot", tmp_path / "map.png", "--json")
    asked = run("map", "query", out, "--rect", "-5,40,5,50", "--rect", "-1,44,1,46", "--json")
    everything, middle = asked.json["answers"]

    assert ran.code == asked.code == 0
    assert ran.json["epsilon"] == 2
    assert ran.json["answer"] == list(MapRelease.from_parquet(out).answer)
    assert (tmp_path / "map.png").stat().st_size > 0
    assert everything["count"] == pytest.approx(ran.json["points"])
    assert middle["standard_error"] > middle["noise_error"] > 0
    assert abs(everything["count"] - 2000) < 12 * everything["standard_error"]
    assert 600 < middle["count"] < 1300


def test_people_read_it_too(run, points, tmp_path):
    out = tmp_path / "map.parquet"
    ran = run("map", points, *MAP, "--out", out, "--method", "uniform,adaptive,quadtree")
    asked = run("map", "query", out, "--rect", "-1,44,1,46")

    assert "chosen among" in ran.out
    assert asked.out.splitlines()[1].startswith("-1, 44, 1, 46")


def test_csv_is_read_and_people_are_capped(run, points, tmp_path):
    csv, out = tmp_path / "points.csv", tmp_path / "map.parquet"
    pl.read_parquet(points).write_csv(csv)
    people = ("--user", "who", "--max-per-user", 1)
    run("map", csv, *MAP, *people, "--epsilon", 50, "--out", out)

    assert MapRelease.from_parquet(out).total == pytest.approx(1000, abs=40)
    asked = run("map", "query", out, "--rect", "-1,44,1,46")
    assert "The map counts at most 1 of each 'who'; the rest is ignored." in asked.out


def test_queries_come_from_a_table(run, points, tmp_path):
    queries, out = tmp_path / "queries.csv", tmp_path / "map.parquet"
    queries.write_text("west,south,east,north\n-1,44,1,46\n0,45,4,49\n", encoding="utf-8")

    assert run("map", points, *MAP, "--queries", queries, "--out", out).code == 0


def test_a_map_is_written_in_several_formats_and_in_others_later(run, points, tmp_path):
    out, packed, again = (tmp_path / name for name in ("m.parquet", "m.gpkg", "m.geojson"))
    first = ("--epsilon", 1, "--crs", "EPSG:4326", "--out", packed)
    alone = run("map", points, *COLUMNS, *first).out
    both = run("map", points, *MAP, *first, "--out", out).out
    exported = run("map", "export", out, "--out", again)

    assert packed.read_bytes().startswith(b"SQLite format 3")
    assert "'map query' reads .parquet alone" in " ".join(alone.split())
    assert "map query" not in both
    assert exported.code == 0
    cells = json.loads(again.read_text())["features"]
    assert [cell["properties"]["count"] for cell in cells] == (
        MapRelease.from_parquet(out).counts.tolist()
    )
    assert "cannot write" in run("map", "export", out, "--out", tmp_path / "m.csv").error


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        (("--x", "lat", "--y", "lon"), "are x=lat and y=lon swapped?"),
        (("--bounds", "40.6,-74.1,40.9,-73.7", "--crs", "EPSG:4326"), "where few people"),
        (("--crs", "EPSG:4326"), ""),
    ],
)
def test_swapped_coordinates_are_a_warning(run, points, arguments, warning):
    """The public arguments decide: the points of all three are the same."""
    for command in (("map", points, *MAP), ("map", "heavy", points, *HEAVY)):
        ran = run(*command, *arguments, "--dry-run")

        assert ran.code == 0
        assert warning in ran.error
        assert bool(warning) == bool(ran.error)


HEAVY = (*COLUMNS, "--grid", "10", "--k", 2, "--epsilon", 2)


def test_heavy_cells_are_planned_and_told(run, points):
    planned = run("map", "heavy", points, *HEAVY, "--dry-run", "--json").json
    told = run("map", "heavy", points, *HEAVY, "--crs", "EPSG:4326").out
    above = run("map", "heavy", points, *HEAVY[:-4], "--epsilon", 2, "--above", 1500, "--json")

    assert planned["epsilon"] == 2
    assert planned["arguments"]["grid"] == 10
    assert "points, noisy" in told
    assert above.json["answer"] == []


def test_polygons_of_a_file_are_answered_by_name(run, points, tmp_path):
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    out, areas = tmp_path / "map.parquet", tmp_path / "districts.geojson"
    run("map", points, *MAP, "--crs", "EPSG:4326", "--out", out)
    shapes = [shapely.box(-1, 44, 1, 46), shapely.Polygon([(0, 43), (2, 43), (0, 47)])]
    geopandas.GeoDataFrame({"who": ["a", "b"]}, geometry=shapes, crs="EPSG:4326").to_file(areas)
    asked = run("map", "query", out, "--areas", areas, "--name", "who", "--json").json
    same = run("map", "query", out, "--rect", "-1,44,1,46", "--json").json

    assert [one["area"] for one in asked["answers"]] == ["a", "b"]
    assert asked["answers"][0]["count"] == pytest.approx(same["answers"][0]["count"], abs=0.01)
    for wrong, message in (
        (("--areas", areas, "--name", "x"), "there is no column 'x'"),
        (("--areas", tmp_path / "none.gpkg"), "there is no file"),
        (("--rect", "0,44,1,45", "--areas", areas), "one of them"),
        ((), "give --rect or --areas"),
    ):
        refused = run("map", "query", out, *wrong)
        assert refused.code == 2
        assert message in refused.error


def test_districts_are_a_table_and_a_file(run, points, tmp_path):
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    out, areas = tmp_path / "map.parquet", tmp_path / "districts.gpkg"
    run("map", points, *MAP, "--crs", "EPSG:4326", "--out", out)
    shapes = [shapely.box(-1, 44, 1, 46), shapely.box(-90, 44, 1, 46)]
    geopandas.GeoDataFrame({"who": ["a", "b"]}, geometry=shapes, crs="EPSG:4326").to_file(areas)
    asked = ("map", "query", out, "--areas", areas, "--name", "who")
    written = tmp_path / "answers.csv"
    shown = run(*asked, "--out", written, columns=80).out.splitlines()
    refused = run(*asked, "--out", tmp_path / "answers.xlsx")

    assert shown[0].split()[:4] == ["area", "points", "from", "to"]
    assert shown[1].startswith("a ")
    assert max(map(len, shown)) <= 80
    assert "% on the map" in shown[0]
    assert pl.read_csv(written)["area"].to_list() == ["a", "b"]
    assert refused.code == 2
    assert "suffix must be one of" in refused.error


def test_help_names_every_method(run):
    said = run("map", "release", "--help").out

    assert all(name in said for name in METHODS)
