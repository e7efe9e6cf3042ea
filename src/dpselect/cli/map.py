"""``dpselect map``: release a map of points, and query a released one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from dpselect.cli import engines, options, output
from dpselect.errors import DataError, ParameterError

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.spatial import Answer, SpatialHistogram
    from dpselect.spatial.box import Box
    from dpselect.typing import Values

HELP = """Release noisy counts of points in cells that were chosen privately.

The bounds, the grids and the queries are public; the points are not. Without --queries the
map is tuned for rectangles of several sizes all over the bounds. With --engine spark only
counts of cells and rectangles leave the cluster.

[bold]dpselect map pickups.parquet --x lon --y lat --bounds -74.1,40.6,-73.7,40.9 \
--grids 30,40,50,60,70,80 --epsilon 1 --out map.parquet --plot map.png[/bold]

[bold]dpselect map query map.parquet --rect -74.0,40.7,-73.9,40.8[/bold]
"""

RELEASE = "release"


class _ReleaseByDefault(TyperGroup):
    """Group whose default command is ``release``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 -- typer's own
        if args and args[0] not in {*self.commands, "--help"}:
            args = [RELEASE, *args]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- typer's own
        """Print the help of the group, and the options of its default command."""
        super().format_help(ctx, formatter)
        release = self.commands[RELEASE]
        release.format_help(
            typer.Context(release, info_name="map", parent=ctx.parent), formatter
        )


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(cls=_ReleaseByDefault, help=HELP, no_args_is_help=True)
    group.command(RELEASE, help="Release a map; the word can be left out.")(release)
    group.command(
        "query", help="Estimate how many points of a released map lie in rectangles."
    )(query)
    app.add_typer(group, name="map")


def release(
    points: engines.Data,
    x: Annotated[str, typer.Option(help="Column from west to east, such as lon.")],
    y: Annotated[str, typer.Option(help="Column from south to north, such as lat.")],
    bounds: Annotated[str, typer.Option(help="WEST,SOUTH,EAST,NORTH; public.")],
    epsilon: options.Epsilon,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write the map, such as map.parquet.")
    ] = None,
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
    neighbours: Annotated[str, typer.Option(help="add-remove or substitute.")] = "add-remove",
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
    crs: Annotated[str | None, typer.Option(help="Reference system, as EPSG:4326.")] = None,
    clip: Annotated[
        bool, typer.Option("--clip", help="Move points outside to the nearest cell, not drop.")
    ] = False,
    user: options.User = None,
    max_points_per_user: Annotated[
        int | None, typer.Option(help="How many points of one person count, with --user.")
    ] = None,
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
    points = engines.separated(points, separator)
    from dpselect.spatial import Box

    budget = options.open_ledger(ledger, source=points, note=note, analyst=analyst)
    box = Box.of(_rectangle("--bounds", bounds), crs=crs)
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
    if dry_run:
        _print_plan(table, public, budget, as_json=as_json)
        return
    if out is None:
        raise ParameterError("give --out, where to write the map, such as map.parquet")
    writable(out)
    if plot is not None:
        writable(plot)
    from dpselect.spatial import release_histogram

    with output.working("drawing the map"):
        released = release_histogram(table, budget=budget, **public)
        released.to_parquet(out)
    if plot is not None:
        output.save(released.plot(), plot)
    _print_map(released, out, budget, source=points, as_json=as_json)


def query(
    path: Annotated[Path, typer.Argument(help="A map that 'dpselect map' wrote.")],
    rect: Annotated[
        list[str], typer.Option("--rect", help="WEST,SOUTH,EAST,NORTH; can be repeated.")
    ],
    as_json: options.Json = False,
) -> None:
    """Query a released map; it costs no epsilon."""
    from dpselect.spatial import SpatialHistogram

    rectangles = [_rectangle("--rect", text) for text in rect]
    answer = SpatialHistogram.from_parquet(path).query(rectangles)
    _print_answer(rectangles, answer, as_json=as_json)


def writable(path: Path) -> None:
    """Raise ParameterError if a file cannot be written, before anything is spent."""
    if path.is_dir() or not path.parent.is_dir():
        raise ParameterError(f"cannot write {path}: give a file in an existing folder")


def _rectangle(option: str, text: str) -> list[float]:
    numbers = options.numbers(option, text)
    if len(numbers) != 4:
        raise ParameterError(f"{option} must be four numbers: WEST,SOUTH,EAST,NORTH")
    return numbers


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
    points: object, public: dict[str, Any], budget: Budget | None, *, as_json: bool
) -> None:
    """Print the plan, after a check that the columns are there; no row is read."""
    from dpselect import tables
    from dpselect.spatial import plan_histogram

    plan = plan_histogram(**public)
    plain = [] if public["user"] is None else [public["user"]]
    tables.check_columns(points, numeric=[public["x"], public["y"]], plain=plain)
    output.print_plan(plan, budget, as_json=as_json)


def _print_map(
    released: SpatialHistogram,
    out: Path,
    budget: Budget | None,
    *,
    source: str,
    as_json: bool,
) -> None:
    kept = output.recorded(budget, released.entry)
    facts = {
        "cells": released.chosen,
        "chosen among": len(released.candidates),
        "points, noisy": round(released.total),
        "standard deviation of a cell": round(released.standard_deviation, 4),
        "written to": str(out),
    }
    if as_json:
        output.print_json({"source": source, **released.plan.to_dict(), **facts, **kept})
        return
    output.print_facts(
        {
            "asked": output.asked(released.plan, source),
            **facts,
            "price": output.price(released.plan),
            **output.in_words(kept),
        }
    )


def _print_answer(rectangles: list[list[float]], answer: Answer, *, as_json: bool) -> None:
    rows = zip(rectangles, answer.values.tolist(), answer.standard_errors.tolist(), strict=True)
    if as_json:
        output.print_json(
            {"answers": [{"rect": r, "count": c, "standard_error": s} for r, c, s in rows]}
        )
        return
    output.print_facts(
        {", ".join(f"{n:g}" for n in r): f"{c:,.1f} ± {s:,.1f} points" for r, c, s in rows}
    )
