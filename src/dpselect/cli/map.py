"""``dpselect map``: release a map of points, query a released one, or write it elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from dpselect import validation
from dpselect.cli import help as said, options, output
from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.cli.releases import BY
from dpselect.errors import DataError, MissingPackageError, ParameterError

if TYPE_CHECKING:
    from dpselect.maps import Map, MapRelease

RELEASE = "release"


def _rows(path: Path, _given: Given) -> list[list[float]]:
    """Return the rectangles of a table."""
    from dpselect import tables

    table = tables.read_columns(path, numeric=["west", "south", "east", "north"])
    if len(table) == 0:
        raise DataError(f"{path} holds no rectangle")
    columns = (tables.series_numbers(table[name]).tolist() for name in table.columns)
    return [list(row) for row in zip(*columns, strict=True)]


class _OfPoints(QueryCommand):
    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return the reference system that a file of geometries states, if none is given."""
        from dpselect.maps.geo import crs_of, geo_file

        if given.options["crs"] is not None or given.options["x"] is not None:
            return {}
        path = geo_file(given.source)
        return {} if path is None else {"crs": crs_of(path)}


class Released(_OfPoints):
    """Release a map; the word can be left out.

    $ dpselect map cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 --epsilon 1
    --neighbours add-remove --out map.parquet

    Args:
        queries: A table of rectangles to tune for: west, south, east, north.
        out: Where to write the cells: .parquet, which 'map query' reads, .csv, or with
            dpselect[geo] .geoparquet, .gpkg or .geojson; can be repeated.
    """

    name, query, draws = RELEASE, "Map", True
    options = {"queries": Option(read=_rows, kind=Path)}
    more = {"out": list[Path]}

    def check(self, query: Map, given: Given) -> None:
        """Check that the cells can be written."""
        from dpselect.maps.box import Box
        from dpselect.maps.release import check_file

        out = given.options["out"] or []
        for path in out:
            check_file(path, Box.of(query.bounds, query.crs))
        if not out:
            raise ParameterError("give `out`, where to write the map, such as map.parquet")

    def after(self, release: MapRelease, given: Given) -> Mapping[str, object]:
        """Write the cells, and return their noise and what the queries have of it."""
        from dpselect.maps.release import TABLE

        out, many = given.options["out"], len(release.candidates)
        for path in out:
            release.to_file(path)
        facts: dict[str, object] = {
            "chosen among": many if many > 1 else None,
            "noise": f"of a cell, standard deviation {release.standard_deviation:.4g} points",
        }
        if given.options["queries"] is not None:
            asked = release.estimate(_rows(given.options["queries"], given))
            noise, cut = asked.noise_errors.mean(), asked.non_uniformity_errors.mean()
            facts["queries"] = (
                f"standard error {noise:.4g} points by noise, {cut:.4g} by cut cells"
            )
        if all(path.suffix != TABLE for path in out):
            facts["beware"] = "'map query' reads .parquet alone: no --out has that suffix"
        return facts | {"written to": ", ".join(map(str, out))}


class Heavy(_OfPoints):
    """Release the k cells of a public grid that hold most points, or all --above.

    $ dpselect map heavy cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9
    --crs EPSG:4326 --grid 32 --k 5 --epsilon 1 --neighbours add-remove

    With --by the cells of each group are released, for one epsilon: of public groups
    (--groups), or of those that enough people are in, which need --delta.
    """

    name, query, options = "heavy", "HeavyCells", BY


class Maps(TyperGroup):
    """Release noisy counts of points in privately selected cells.

    With --grids and --queries this is E2EPriv, whose objective is repaired; --method guideline
    is its Heuristic, and 'map query' its Algorithm 2.

    The bounds, the grids and the queries are public; the points are private. A GeoParquet,
    GeoPackage, GeoJSON or shapefile of points needs no --x, --y and --crs. Without --queries
    the map is tuned for rectangles of several sizes within the bounds. With --engine spark only
    counts of cells and rectangles leave the cluster.

    $ dpselect map cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 --crs EPSG:4326
    --epsilon 1 --neighbours add-remove --out map.parquet --out map.gpkg --plot map.png

    $ dpselect map cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 --grids 16,32,64
    --queries areas.csv --measure relative-clipped --floor 100 --epsilon 1
    --neighbours add-remove --out map.parquet

    $ dpselect map query map.parquet --areas districts.gpkg --name district

    $ dpselect map heavy cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9
    --crs EPSG:4326 --grid 32 --k 5 --epsilon 1 --neighbours add-remove
    """

    default_command = RELEASE

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before its arguments."""
        if args and args[0] not in {*self.commands, "--help"}:
            if args[0] == Heavy.name:
                Heavy().kind()  # says what to install
            args = [self.default_command, *args]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the group, and the options of its default command."""
        super().format_help(ctx, formatter)
        release = self.commands[self.default_command]
        release.format_help(
            typer.Context(release, info_name="map", parent=ctx.parent), formatter
        )


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(cls=Maps, help=cleandoc(Maps.__doc__ or ""), no_args_is_help=True)
    Released().register(group)
    said.command(group, query)
    said.command(group, export)
    with suppress(MissingPackageError):
        Heavy().register(group)
    app.add_typer(group, name="map")


def export(path: Path, *, out: list[Path]) -> None:
    """Write a released map in another format; it costs no epsilon.

    Args:
        path: A map that 'dpselect map' wrote, .parquet.
        out: Where to write the cells: .parquet, .csv, or with dpselect[geo] .geoparquet,
            .gpkg or .geojson; can be repeated.
    """
    from dpselect.maps import MapRelease

    released = MapRelease.from_parquet(path)
    output.check_outputs({"out": out}, path)
    for one in out:
        released.to_file(one)
    output.print_facts({"cells": released.candidate, "written to": ", ".join(map(str, out))})


def query(
    path: Path,
    *,
    rect: list[str] | None = None,
    areas: Path | None = None,
    name: str | None = None,
    out: list[Path] | None = None,
    as_json: bool = False,
) -> None:
    """Estimate how many points of a released map lie in rectangles or areas, at no epsilon.

    Each answer has the two parts of its error, as in Theorem 7.1 of E2EPriv: by the noise,
    and by cut cells, which is estimated from the noisy counts.

    Of an area that leaves the map the part on it is answered, and the share of it is said.

    Args:
        path: A map that 'dpselect map' wrote, .parquet.
        rect: WEST,SOUTH,EAST,NORTH; can be repeated.
        areas: A file of polygons, such as districts.gpkg; needs dpselect[geo].
        name: With --areas: the column of their names; by default the only one of texts that all
            differ.
        out: Where to write the estimates: .csv, or with the areas .parquet, .gpkg or .geojson,
            which need dpselect[geo]; can be repeated.
    """
    from dpselect.maps import MapRelease
    from dpselect.maps.geo import check_suffix, geometries

    validation.one_given(rect=rect or None, areas=areas)
    if name is not None and areas is None:
        raise validation.goes_with("name", "areas")
    output.check_outputs({"out": out}, path, areas)
    released = MapRelease.from_parquet(path)
    for one in out or []:
        check_suffix(one, released.box.crs, ".csv")
    asked = [options.numbers("rect", text) for text in rect or []]
    if areas is None:
        names = [", ".join(f"{edge:g}" for edge in one) for one in asked]
        found = released.estimate(asked, names=names)
    else:
        found = released.estimate(geometries(areas), names=name)
    for one in out or []:
        found.to_file(one)
    if as_json:
        columns = found.table() | ({"rect": asked} if areas is None else {})
        rows = zip(*columns.values(), strict=True)
        output.print_json({"answers": [dict(zip(columns, row, strict=True)) for row in rows]})
    else:
        print(found)  # noqa: T201 -- a table as wide as it is
        if counted := released.plan.counted:
            print(f"The map counts {counted}.")  # noqa: T201
