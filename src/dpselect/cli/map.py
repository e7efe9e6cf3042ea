"""``dpselect map``: release a map of points, query a released one, or write it elsewhere.

``MAP`` and ``HEAVY`` are the commands that release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer.core import TyperGroup

from dpselect import validation
from dpselect.cli import options, output
from dpselect.cli.command import Given, Option, QueryCommand, reading
from dpselect.cli.keys import BY
from dpselect.errors import DataError, ParameterError, no_file
from dpselect.writing import lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.maps import Estimates, Map, MapRelease
    from dpselect.maps.box import Box

HELP = """Release noisy counts of points in privately selected cells.

With --grids and --queries this is E2EPriv, whose objective is repaired; --method guideline is
its Heuristic, and 'map query' its Algorithm 2.

The bounds, the grids and the queries are public; the points are private. A GeoParquet,
GeoPackage, GeoJSON or shapefile of points needs no --x, --y and --crs. Without --queries the
map is tuned for rectangles of several sizes within the bounds. With --engine spark only counts
of cells and rectangles leave the cluster.

[bold]dpselect map cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 --crs EPSG:4326 \
--epsilon 1 --neighbours add-remove --out map.parquet --out map.gpkg --plot map.png[/bold]

[bold]dpselect map cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 --grids 16,32,64 \
--queries areas.csv --measure relative-clipped --floor 100 --epsilon 1 --neighbours add-remove \
--out map.parquet[/bold]

[bold]dpselect map query map.parquet --areas districts.gpkg --name district[/bold]

[bold]dpselect map heavy cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 \
--crs EPSG:4326 --grid 32 --k 5 --epsilon 1 --neighbours add-remove[/bold]
"""

RELEASE = "release"
QUERIED = (".parquet", ".geoparquet")

Out: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        help="Where to write the cells: .parquet (GeoParquet, which 'map query' reads), "
        ".geojson, or with dpselect\\[geo] .gpkg or .tif; can be repeated.",
        rich_help_panel="Output",
    ),
]
Released: TypeAlias = Annotated[
    Path, typer.Argument(help="A map that 'dpselect map' wrote, .parquet.")
]


def rectangle(name: str, text: str) -> list[float]:
    """Return west, south, east and north.

    Raises:
        ParameterError: These are not four numbers.
    """
    numbers = options.numbers(name, text)
    if len(numbers) != 4:
        raise ParameterError(f"`{name}` must be four numbers: WEST,SOUTH,EAST,NORTH")
    return numbers


def _rows(path: Path, _given: Given) -> list[list[float]]:
    """Return the rectangles of a table."""
    from dpselect import tables

    table = tables.read_columns(path, numeric=["west", "south", "east", "north"])
    if len(table) == 0:
        raise DataError(f"{path} holds no rectangle")
    columns = (tables.series_numbers(table[name]).tolist() for name in table.columns)
    return [list(row) for row in zip(*columns, strict=True)]


def _grid(text: str, _given: Given) -> int | list[int]:
    numbers = options.integers("grid", text)
    return numbers[0] if len(numbers) == 1 else numbers


BOUNDS = Option(
    read=lambda text, _given: rectangle("bounds", text),
    help="WEST,SOUTH,EAST,NORTH of the map.",
)


def check_outputs(paths: Sequence[Path], box: Box) -> None:
    """Raise if cells of a box could not be written to each path; nothing is written."""
    from dpselect.maps.export import format_of

    for path in paths:
        format_of(path, box)


def _declared(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the reference system that a file of geometries states, if no other is given."""
    from dpselect.maps.geo import crs_of, geo_file

    if given["crs"] is not None or given["x"] is not None:
        return {}
    path = geo_file(options.rows_of(given["data"], **reading(given)))
    return {} if path is None else {"crs": crs_of(path)}


def _before(query: Map, given: Given) -> None:
    from dpselect.maps.box import Box

    out, plot, dry_run = (given.options[name] for name in ("out", "plot", "dry_run"))
    check_outputs(out or [], Box.of(query.bounds, query.crs))
    if dry_run and plot is not None:
        raise ParameterError("`plot` draws the released map: leave it out of a dry run")
    if not out and not dry_run:
        raise ParameterError("give `out`, where to write the map, such as map.parquet")


def _after(release: MapRelease, given: Given) -> Mapping[str, object]:
    out = given.options["out"]
    for path in out:
        release.to_file(path)
    many = len(release.candidates)
    facts: dict[str, object] = {"chosen among": many} if many > 1 else {}
    facts["noise"] = f"of a cell, standard deviation {release.standard_deviation:.4g} points"
    facts["written to"] = _listed(out)
    if given.options["queries"] is not None:
        asked = release.estimate(_rows(given.options["queries"], given))
        noise, cut = asked.noise_errors.mean(), asked.non_uniformity_errors.mean()
        facts["queries"] = f"standard error {noise:.4g} points by noise, {cut:.4g} by cut cells"
    if all(path.suffix not in QUERIED for path in out):
        facts["queries"] = "'map query' reads .parquet alone: no --out has that suffix"
    return facts


def _plot(_query: Map, release: MapRelease, _given: Given) -> Axes:
    return release.plot()


MAP = QueryCommand(
    name=RELEASE,
    query="Map",
    help="Release a map; the word can be left out.",
    options={
        "bounds": BOUNDS,
        "grids": Option(
            read=lambda text, _given: options.integers("grids", text),
            help="Uniform grids to choose from: cells along a side, as 30,40,50.",
        ),
        "queries": Option(
            read=_rows,
            kind=Path,
            help="A table of rectangles to tune for: west, south, east, north.",
        ),
        "method": Option(
            read=lambda text, _given: [name.strip() for name in text.split(",")],
            help="One or several of uniform, guideline, adaptive, quadtree; "
            "without it and --grids the quadtree, which needs no choice.",
        ),
    },
    more={"out": Out},
    declared=_declared,
    numeric=("x", "y"),
    before=_before,
    after=_after,
    plot=_plot,
)

HEAVY = QueryCommand(
    name="heavy",
    query="HeavyCells",
    help="""Release the k cells of a public grid that hold most points, or all --above.

[bold]dpselect map heavy cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 \
--crs EPSG:4326 --grid 32 --k 5 --epsilon 1 --neighbours add-remove[/bold]

With --by the cells of each group are released, for one epsilon: of public groups (--groups), or
of those that enough people are in, which need --delta.
""",
    options={
        "bounds": BOUNDS,
        **BY,
        "grid": Option(
            read=_grid, help="Cells along a side, as 32; or along x and y, as 48,32."
        ),
    },
    declared=_declared,
    numeric=("x", "y"),
)


class _ReleaseByDefault(TyperGroup):
    """Group whose default command is ``release``."""

    default_command = RELEASE

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 -- typer's own
        if args and args[0] not in {*self.commands, "--help"}:
            args = [self.default_command, *args]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- typer's own
        """Print the help of the group, and the options of its default command."""
        super().format_help(ctx, formatter)
        release = self.commands[self.default_command]
        release.format_help(
            typer.Context(release, info_name="map", parent=ctx.parent), formatter
        )


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(cls=_ReleaseByDefault, help=HELP, no_args_is_help=True)
    MAP.register(group)
    group.command("query")(query)
    group.command("export")(export)
    HEAVY.register(group)
    app.add_typer(group, name="map")


def export(path: Released, out: Out) -> None:
    """Write a released map in another format; it costs no epsilon."""
    from dpselect.maps import MapRelease

    released, paths = MapRelease.from_parquet(path), out or []
    output.check_outputs({"out": paths}, path)
    check_outputs(paths, released.box)
    for one in paths:
        released.to_file(one)
    output.print_facts({"cells": released.candidate, "written to": _listed(paths)})


def query(
    path: Released,
    rect: Annotated[
        list[str] | None,
        typer.Option("--rect", help="WEST,SOUTH,EAST,NORTH; can be repeated."),
    ] = None,
    areas: Annotated[
        Path | None,
        typer.Option(help="A file of polygons, such as districts.gpkg; needs dpselect\\[geo]."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="With --areas: the column of their names; by default the only one of texts "
            "that all differ."
        ),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Where to write the estimates: .csv, or with the areas .parquet, .gpkg or "
            ".geojson, which need dpselect\\[geo]; can be repeated.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Estimate how many points of a released map lie in rectangles or areas, at no epsilon.

    Each answer has the two parts of its error, as in Theorem 7.1 of E2EPriv: by the noise,
    and by cut cells, which is estimated from the noisy counts.

    Of an area that leaves the map the part on it is answered, and the share of it is said.
    """
    from dpselect.maps import MapRelease
    from dpselect.maps.estimates import check_suffix

    validation.one_given(rect=rect or None, areas=areas)
    if name is not None and areas is None:
        raise validation.goes_with("name", "areas")
    for one in out or []:
        check_suffix(one)
    output.check_outputs({"out": out}, path, areas)
    released = MapRelease.from_parquet(path)
    asked = [rectangle("rect", text) for text in rect or []]
    if areas is None:
        names = [", ".join(f"{edge:g}" for edge in one) for one in asked]
        found = released.estimate(asked, names=names)
    else:
        found = released.estimate(_polygons(areas), names=name)
    for one in out or []:
        found.to_file(one)
    if as_json:
        columns = found.table() | ({"rect": asked} if areas is None else {})
        rows = zip(*columns.values(), strict=True)
        output.print_json({"answers": [dict(zip(columns, row, strict=True)) for row in rows]})
    else:
        _print_estimates(found)
        if counted := released.plan.counted:
            print(f"The map counts {counted}.")  # noqa: T201


def _polygons(path: Path) -> Any:  # noqa: ANN401 -- geopandas has no types
    """Return the polygons of a file."""
    if not path.exists():
        raise no_file(path)
    from dpselect.maps.geo import geometries

    return geometries(path)


def _print_estimates(found: Estimates) -> None:
    from dpselect.maps.estimates import LEVEL

    low, high = found.intervals()
    numbers = {
        "points": found.values,
        "from": low,
        "to": high,
        "error of noise": found.noise_errors,
        "of cut cells": found.non_uniformity_errors,
    }
    columns: dict[str, list[object]] = {
        "area": list(found.names),
        # An area off the map has no numbers.
        **{
            name: ["" if isnan(one) else round(one) for one in column.tolist()]
            for name, column in numbers.items()
        },
    }
    if (found.inside < 1).any():
        columns["% on the map"] = [round(100 * one) for one in found.inside.tolist()]
    print("\n".join(lines(columns)))  # noqa: T201 -- a table as wide as it is
    print(  # noqa: T201
        f"Points on the map, with intervals of level {LEVEL:g} and standard errors, in points."
    )


def _listed(paths: list[Path]) -> str:
    return ", ".join(map(str, paths))
