"""``dpselect map query``: how many points of a released map lie in rectangles or polygons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpselect._optional import needed
from dpselect._replacing import replaced
from dpselect.cli import map_options, options, output
from dpselect.errors import DataError, ParameterError

if TYPE_CHECKING:
    from dpselect.spatial import Answer


def register(group: typer.Typer) -> None:
    """Add the command to the group of maps."""
    group.command(
        "query", help="Estimate how many points of a released map lie in rectangles or areas."
    )(query)


def query(
    path: Annotated[Path, typer.Argument(help="A map that 'dpselect map' wrote, .parquet.")],
    rect: Annotated[
        list[str] | None,
        typer.Option("--rect", help="WEST,SOUTH,EAST,NORTH; can be repeated."),
    ] = None,
    areas: Annotated[
        Path | None,
        typer.Option(help="A file of polygons, such as districts.gpkg; needs dpselect[geo]."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="With --areas: the column of their names.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Query a released map; it costs no epsilon."""
    from dpselect.spatial import SpatialHistogram

    if bool(rect) == (areas is not None):
        raise ParameterError("give --rect or --areas, one of them")
    if name is not None and areas is None:
        raise ParameterError("--name goes with --areas")
    released = SpatialHistogram.from_parquet(path)
    rectangles = [map_options.rectangle("--rect", text) for text in rect or []]
    if areas is None:
        names = [", ".join(f"{edge:g}" for edge in one) for one in rectangles]
        asked: Any = rectangles
    else:
        asked, names = _polygons(areas, name)
    _print_answer(names, rectangles, released.query(asked), as_json=as_json)


def _polygons(path: Path, name: str | None) -> tuple[Any, list[str]]:
    """Return the polygons of a file, and what they are called."""
    geopandas = needed("geopandas", extra="geo")
    read = geopandas.read_parquet if path.suffix == ".parquet" else geopandas.read_file
    frame = replaced(lambda: read(path), lambda: DataError(f"cannot read polygons of {path}"))
    if name is not None and name not in frame.columns:
        raise ParameterError(f"{path} has no column {name!r}")
    names = [str(one) for one in (frame.index if name is None else frame[name])]
    if len(set(names)) < len(names):
        names = [f"{number}: {one}" for number, one in enumerate(names, 1)]
    return frame, names


def _print_answer(
    names: list[str], rectangles: list[list[float]], answer: Answer, *, as_json: bool
) -> None:
    columns = {
        "count": answer.values,
        "standard_error": answer.standard_errors,
        "noise_error": answer.noise_errors,
    }
    if as_json:
        asked: list[Any] = rectangles or names
        found = zip(asked, *(column.tolist() for column in columns.values()), strict=True)
        fields = ("rect" if rectangles else "area", *columns)
        output.print_json({"answers": [dict(zip(fields, row, strict=True)) for row in found]})
        return
    rows = zip(names, *columns.values(), answer.uniform_errors, strict=True)
    output.print_facts(
        {
            name: f"{count:,.1f} ± {error:,.1f} points "
            f"(standard error; noise {noise:,.1f}, uneven points in cut cells {uneven:,.1f})"
            for name, count, error, noise, uneven in rows
        }
    )
