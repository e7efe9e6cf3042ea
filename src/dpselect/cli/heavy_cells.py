"""``dpselect map heavy``: release the cells of a grid that hold most points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpselect.cli import engines, map_options, options, output, waiting
from dpselect.cli.choices import ListsNames
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.release import Release


def register(group: typer.Typer) -> None:
    """Add the command to the group of maps."""
    group.command(
        "heavy",
        help="Release the k cells of a public grid that hold most points, or all --above.",
        cls=ListsNames,
    )(heavy)


def heavy(
    points: engines.Data,
    x: map_options.X,
    y: map_options.Y,
    bounds: map_options.Bounds,
    grid: Annotated[
        str, typer.Option(help="Cells along a side, as 32; or along x and along y, as 48,32.")
    ],
    epsilon: options.Epsilon,
    k: Annotated[int | None, typer.Option("--k", help="How many cells.")] = None,
    above: options.Above = None,
    crs: map_options.Crs = None,
    neighbours: map_options.Neighbours = "add-remove",
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="One of {mechanisms}. Without it the one that resolves more: for --k of 2 or "
            "more noisy counts, which are released too."
        ),
    ] = None,
    clip: map_options.Clip = False,
    user: options.User = None,
    max_points_per_user: map_options.MaxPointsPerUser = None,
    where: engines.Where = None,
    separator: engines.Separator = None,
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Release the cells with most points."""
    points = engines.rows_of(points, separator, where, neighbours)
    budget = options.open_ledger(ledger, source=points, note=note, analyst=analyst)
    public: dict[str, Any] = {
        "k": k,
        "above": above,
        "x": x,
        "y": y,
        "user": user,
        "bounds": map_options.box_of(bounds, crs),
        "grid": _size(grid),
        "max_points_per_user": max_points_per_user,
        "epsilon": epsilon,
        "neighbours": options.relation("--neighbours", neighbours),
        "mechanism": mechanism,
        "outside": "clip" if clip else "drop",
    }
    table = engines.opened(points, engine, master, numeric=[x, y])
    from dpselect.spatial import plan_heavy_cells, release_heavy_cells

    if dry_run:
        plan = plan_heavy_cells(**public)
        map_options.check_columns(table, x, y, user)
        output.print_plan(plan, budget, source=points, as_json=as_json, engine=engine)
        return
    with waiting.working("counting and choosing"):
        release = release_heavy_cells(table, budget=budget, **public)
    _print_cells(release, budget, source=points, as_json=as_json)


def _size(text: str) -> int | tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ParameterError("--grid must be integers such as 32 or 48,32") from None
    return numbers[0] if len(numbers) == 1 else numbers


def _print_cells(
    release: Release, budget: Budget | None, *, source: str, as_json: bool
) -> None:
    kept = output.recorded(budget, release.entry)
    if as_json:
        stated = {"source": source, **output.rows(source)}
        output.print_json({**stated, **release.to_dict(), **kept})
        return
    cells: list[Any] = list(release.answer)
    lines = [",".join(f"{edge:.8g}" for edge in cell) for cell in cells]
    if release.noisy_scores is not None:
        lines = [
            f"{line}  {count:,.0f} points, noisy"
            for line, count in zip(lines, release.noisy_scores, strict=True)
        ]
    output.print_facts(
        {
            "asked": output.asked(release.plan, source),
            "cells, most points first": "\n".join(lines) or "none",
            "mechanism": release.mechanism,
            "error": release.plan.error,
            "price": output.price(release.plan),
            **output.in_words(kept),
        }
    )
