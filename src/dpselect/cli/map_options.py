"""Options of the commands on maps, and what stands behind them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dpselect.cli import options
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.spatial.box import Box

X: TypeAlias = Annotated[str, typer.Option(help="Column from west to east, such as lon.")]
Y: TypeAlias = Annotated[str, typer.Option(help="Column from south to north, such as lat.")]
Bounds: TypeAlias = Annotated[str, typer.Option(help="WEST,SOUTH,EAST,NORTH; public.")]
Crs: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Reference system; EPSG:4326 for longitudes and latitudes."),
]
Out: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        help="Where to write the cells: .parquet (GeoParquet, which 'map query' reads), .gpkg, "
        ".geojson or .tif; can be repeated.",
    ),
]
Neighbours: TypeAlias = Annotated[str, typer.Option(help="add-remove or substitute.")]
Clip: TypeAlias = Annotated[
    bool, typer.Option("--clip", help="Move points outside to the nearest cell, not drop.")
]
MaxPointsPerUser: TypeAlias = Annotated[
    int | None, typer.Option(help="How many points of one person count, with --user.")
]


def box_of(bounds: str, crs: str | None) -> Box:
    """Return the box of ``--bounds`` and ``--crs``."""
    from dpselect.spatial import Box

    return Box.of(rectangle("--bounds", bounds), crs=crs)


def rectangle(option: str, text: str) -> list[float]:
    """Return west, south, east and north.

    Raises:
        ParameterError: These are not four numbers.
    """
    numbers = options.numbers(option, text)
    if len(numbers) != 4:
        raise ParameterError(f"{option} must be four numbers: WEST,SOUTH,EAST,NORTH")
    return numbers


def check_outputs(paths: Sequence[Path], box: Box) -> None:
    """Raise if cells of a box could not be written to each path; nothing is written."""
    from dpselect.spatial.export import format_of

    for path in paths:
        writable(path)
        format_of(path, box)


def writable(path: Path) -> None:
    """Raise ParameterError if a file cannot be written, before anything is spent."""
    if path.is_dir() or not path.parent.is_dir():
        raise ParameterError(f"cannot write {path}: give a file in an existing folder")


def check_columns(points: object, x: str, y: str, user: str | None) -> None:
    """Raise unless the columns are there; no row is read."""
    from dpselect import tables

    tables.check_columns(points, numeric=[x, y], plain=[] if user is None else [user])
