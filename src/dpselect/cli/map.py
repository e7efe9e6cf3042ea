"""``dpselect map``: release a map of points, query a released one, or write it elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from dpselect.cli import engines, heavy_cells, map_options, map_query, options, output, waiting
from dpselect.errors import DataError, ParameterError

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.spatial import SpatialHistogram
    from dpselect.spatial.box import Box
    from dpselect.typing import Values

HELP = """Release noisy counts of points in cells that were chosen privately.

The bounds, the grids and the queries are public; the points are not. Without --queries the
map is tuned for rectangles of several sizes all over the bounds. With --engine spark only
counts of cells and rectangles leave the cluster.

[bold]dpselect map cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 --crs EPSG:4326 \
--epsilon 1 --out map.parquet --out map.gpkg --plot map.png[/bold]

[bold]dpselect map query map.parquet --areas districts.gpkg --name district[/bold]

[bold]dpselect map heavy cases.csv --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 \
--crs EPSG:4326 --grid 32 --k 5 --epsilon 1[/bold]
"""

RELEASE = "release"
QUERIED = (".parquet", ".geoparquet")


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
    group.command(RELEASE, help="Release a map; the word can be left out.")(release)
    map_query.register(group)
    group.command(
        "export", help="Write a released map in another format, for a geographic program."
    )(export)
    heavy_cells.register(group)
    app.add_typer(group, name="map")


def release(
    points: engines.Data,
    x: map_options.X,
    y: map_options.Y,
    bounds: map_options.Bounds,
    epsilon: options.Epsilon,
    out: map_options.Out = None,
    crs: map_options.Crs = None,
    grids: Annotated[
        str, typer.Option(help="Uniform grids to choose from: cells along a side, as 30,40,50.")
    ] = "",
    method: Annotated[
        str | None,
        typer.Option(
            help="One or several of uniform, guideline, adaptive, quadtree, privtree; "
            "without it and --grids the quadtree, which needs no tuning."
        ),
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(help="A table of rectangles to tune for: west, south, east, north."),
    ] = None,
    neighbours: map_options.Neighbours = "add-remove",
    tuning_share: Annotated[float, typer.Option(help="Share of epsilon for the tuning.")] = 0.2,
    sanity: Annotated[
        float, typer.Option(help="Share of all points below which errors count as absolute.")
    ] = 0.001,
    error: Annotated[
        str, typer.Option(help="To choose cells for: relative, or absolute in points.")
    ] = "relative",
    mechanism: Annotated[
        str | None, typer.Option(help="What draws the cells; permute-and-flip if not given.")
    ] = None,
    clip: map_options.Clip = False,
    user: options.User = None,
    max_points_per_user: map_options.MaxPointsPerUser = None,
    where: engines.Where = None,
    separator: engines.Separator = None,
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    plot: options.Plot = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Release a map."""
    points = engines.rows_of(points, separator, where, neighbours)
    budget = options.open_ledger(ledger, source=points, note=note, analyst=analyst)
    box = map_options.box_of(bounds, crs)
    public: dict[str, Any] = {
        "x": x,
        "y": y,
        "user": user,
        "bounds": box,
        "grids": _sizes(grids),
        "queries": _queries(queries, box),
        "method": method and [name.strip() for name in method.split(",")],
        "tuning_share": tuning_share,
        "sanity": sanity,
        "measure": error,
        "mechanism": mechanism,
        "max_points_per_user": max_points_per_user,
        "epsilon": epsilon,
        "neighbours": options.relation("--neighbours", neighbours),
        "outside": "clip" if clip else "drop",
    }
    table = engines.opened(points, engine, master, numeric=[x, y])
    map_options.check_outputs(out or [], box)
    if plot is not None:
        map_options.writable(plot)
    if dry_run:
        _print_plan(table, public, budget, source=points, as_json=as_json, engine=engine)
        return
    if not out:
        raise ParameterError("give --out, where to write the map, such as map.parquet")
    from dpselect.spatial import release_histogram

    with waiting.working("drawing the map"):
        released = release_histogram(table, budget=budget, **public)
        for path in out:
            released.to_file(path)
    if plot is not None:
        output.save(released.plot(), plot)
    _print_map(released, out, budget, source=points, as_json=as_json)


def export(
    path: Annotated[Path, typer.Argument(help="A map that 'dpselect map' wrote, .parquet.")],
    out: map_options.Out,
) -> None:
    """Write a released map in another format; it costs no epsilon."""
    from dpselect.spatial import SpatialHistogram

    released = SpatialHistogram.from_parquet(path)
    paths = out or []
    map_options.check_outputs(paths, released.box)
    for one in paths:
        released.to_file(one)
    output.print_facts({"cells": released.chosen, "written to": _listed(paths)})


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text else []
    except ValueError:
        raise ParameterError("--grids must be integers such as 30,40,50") from None


def _queries(path: Path | None, box: Box) -> Values:
    from dpselect.spatial import even_queries

    if path is None:
        return even_queries(box)
    from dpselect import tables

    table = tables.read_columns(path, numeric=["west", "south", "east", "north"])
    if len(table) == 0:
        raise DataError(f"{path} holds no rectangle")
    import numpy as np

    return np.column_stack([tables.series_numbers(table[name]) for name in table.columns])


def _print_plan(
    points: object,
    public: dict[str, Any],
    budget: Budget | None,
    *,
    source: str,
    as_json: bool,
    engine: str,
) -> None:
    """Print the plan, after a check that the columns are there; no row is read."""
    from dpselect.spatial import plan_histogram

    plan = plan_histogram(**public)
    map_options.check_columns(points, public["x"], public["y"], public["user"])
    output.print_plan(plan, budget, source=source, as_json=as_json, engine=engine)


def _print_map(
    released: SpatialHistogram,
    out: list[Path],
    budget: Budget | None,
    *,
    source: str,
    as_json: bool,
) -> None:
    kept = output.recorded(budget, released.entry)
    facts: dict[str, object] = {
        "cells": released.chosen,
        "number of cells": released.partition.cells,
        "chosen among": len(released.candidates),
        "points, noisy": round(released.total),
        "noise of a cell, standard deviation": round(released.standard_deviation, 4),
        "written to": _listed(out),
    }
    if all(path.suffix not in QUERIED for path in out):
        facts["queries"] = "'map query' reads .parquet alone: no --out has that suffix"
    if as_json:
        stated = {"source": source, **output.rows(source)}
        output.print_json({**stated, **released.plan.to_dict(), **facts, **kept})
        return
    if len(released.candidates) == 1:
        del facts["chosen among"]
    output.print_facts(
        {
            "asked": output.asked(released.plan, source),
            **facts,
            "price": output.price(released.plan),
            **output.in_words(kept),
        }
    )


def _listed(paths: list[Path]) -> str:
    return ", ".join(map(str, paths))
