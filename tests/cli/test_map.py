"""The commands that release a map and query it."""

import json

import numpy as np
import polars as pl
import pytest

from dpselect.maps import MapRelease

COLUMNS = ("--x", "lon", "--y", "lat", "--bounds", "-5,40,5,50", "--neighbours", "add-remove")
MAP = (*COLUMNS, "--grids", "8,16,32", "--crs", "EPSG:4326", "--epsilon")


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.parquet"
    rng = np.random.default_rng(0)
    lon, lat = rng.normal(0, 1, 2000), rng.normal(45, 1, 2000)
    pl.DataFrame({"lon": lon, "lat": lat, "who": np.arange(2000) // 2}).write_parquet(path)
    return path


@pytest.fixture
def released(run, points, tmp_path):
    """The file of a map."""
    out = tmp_path / "map.parquet"
    ran = run("map", points, *MAP, 2, "--out", out, "--json")
    assert ran.json["answer"] == list(MapRelease.from_parquet(out).answer)
    return out


def test_a_dry_run_needs_the_file_that_a_release_does(run, points):
    refused = run("map", points, *MAP, 1, "--dry-run")
    proposed = run("map", points)

    assert (refused.code, refused.out) == (2, "")
    assert "give --out, where to write the map" in refused.error
    assert "--out map.parquet --dry-run" in " ".join(proposed.error.split())


def test_a_map_is_written_in_several_formats_and_in_others_later(run, points, tmp_path):
    out, packed, again = (tmp_path / name for name in ("m.parquet", "m.gpkg", "m.geojson"))
    alone = run("map", points, *MAP, 1, "--out", packed).out
    both = run("map", points, *MAP, 1, "--out", packed, "--out", out).out
    exported = run("map", "export", out, "--out", again)

    assert packed.read_bytes().startswith(b"SQLite format 3")
    assert "'map query' reads .parquet alone" in " ".join(alone.split())
    assert "map query" not in both
    assert exported.code == 0
    cells = json.loads(again.read_text())["features"]
    assert [cell["properties"]["count"] for cell in cells] == (
        MapRelease.from_parquet(out).counts.tolist()
    )


@pytest.mark.parametrize("kind", ["geojson", "gpkg"])
def test_polygons_of_a_file_are_answered_by_name(run, released, tmp_path, kind):
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    areas, written = tmp_path / f"districts.{kind}", tmp_path / "answers.csv"
    shapes = [shapely.box(-1, 44, 1, 46), shapely.box(-90, 44, 1, 46)]
    geopandas.GeoDataFrame({"who": ["a", "b"]}, geometry=shapes, crs="EPSG:4326").to_file(areas)
    asked = ("map", "query", released, "--areas", areas, "--name", "who")
    found = run(*asked, "--json").json["answers"]
    [same] = run("map", "query", released, "--rect", "-1,44,1,46", "--json").json["answers"]
    shown = run(*asked, "--out", written, columns=80).out.splitlines()

    assert [one["area"] for one in found] == ["a", "b"]
    assert found[0]["count"] == pytest.approx(same["count"], abs=0.01)
    assert 600 < same["count"] < 1300
    assert shown[0].split()[:4] == ["area", "points", "from", "to"]
    assert "% on the map" in shown[0]
    assert max(map(len, shown)) <= 80
    assert pl.read_csv(written)["area"].to_list() == ["a", "b"]
    for wrong in (
        ("--areas", areas, "--name", "x"),
        ("--areas", tmp_path / "none.gpkg"),
        ("--rect", "0,44,1,45", "--areas", areas),
        ("--areas", areas, "--out", tmp_path / "answers.xlsx"),
    ):
        assert run("map", "query", released, *wrong).code == 2
