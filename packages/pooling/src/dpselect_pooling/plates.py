"""Plates of samples and pools: places that a file states, and a view to print."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from string import ascii_uppercase

from dpselect.errors import DataError
from dpselect_pooling.files import read_csv

PLATES = {96: (8, 12), 384: (16, 24)}

_WELL = re.compile(r"([A-Za-z])0*([1-9]\d?)")

STYLE = """
body { font: 10pt/1.3 sans-serif; } h2 { font-size: 12pt; break-after: avoid; }
table { border-collapse: collapse; break-inside: avoid; margin-bottom: 2rem; }
td, th { border: 1px solid #888; padding: .15rem .3rem; font-size: 7pt; min-width: 2.4rem;
         text-align: center; overflow-wrap: anywhere; }
th { background: #eee; print-color-adjust: exact; }
@page { size: landscape; }
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A well on a numbered plate, such as plate 1, well ``A01``."""

    plate: int | str
    well: str


def place(position: int, wells: int) -> Place:
    """Return where the sample or pool at a position goes: along rows, plate after plate."""
    _, columns = PLATES[wells]
    plate, on_plate = divmod(position, wells)
    row, column = divmod(on_plate, columns)
    return Place(plate + 1, f"{ascii_uppercase[row]}{column + 1:02d}")


def read_places(path: str, samples: Sequence[str], wells: int) -> tuple[Place, ...] | None:
    """Return the plates and wells that a file of samples states; None if it has neither column.

    Args:
        path: A CSV file.
        samples: Its column ``sample``.
        wells: 96 or 384 on each plate.

    Raises:
        DataError: There is a plate without a well or a well without a plate, a well that
            such a plate does not have, or a well with two samples.
    """
    try:
        rows = read_csv(path, ("plate", "well"))
    except DataError:
        for column in ("plate", "well"):
            if _has(path, column):
                raise DataError(
                    f"{path} has a column {column} and not both plate and well: give both, or "
                    "neither, and places are assigned"
                ) from None
        return None
    places = tuple(_place(path, row["plate"], row["well"], wells) for row in rows)
    if len(set(places)) < len(samples):
        raise DataError(f"{path} states one well for two samples")
    return places


def _has(path: str, column: str) -> bool:
    try:
        read_csv(path, (column,))
    except DataError:
        return False
    return True


def _place(path: str, plate: str, well: str, wells: int) -> Place:
    rows, columns = PLATES[wells]
    found = _WELL.fullmatch(well)
    if not plate or found is None:
        raise DataError(f"{path} must state a plate and a well such as A01 in every row")
    row, column = ascii_uppercase.index(found[1].upper()), int(found[2])
    if row >= rows or column > columns:
        raise DataError(f"{path} states well {well}, which a plate of {wells} does not have")
    return Place(int(plate) if plate.isdecimal() else plate, f"{found[1].upper()}{column:02d}")


def plate_view(title: str, held: Mapping[str, Mapping[Place, str]], wells: int) -> str:
    """Return plates as one printable HTML page.

    Args:
        title: Title of the page.
        held: What is in which well, by the kind of the plate.
        wells: 96 or 384 on each plate.
    """
    parts = [
        _plate(f"{kind}, plate {plate}", of_kind, plate, wells)
        for kind, of_kind in held.items()
        for plate in dict.fromkeys(place.plate for place in of_kind)
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{STYLE}</style></head>\n<body>\n{''.join(parts)}</body></html>\n"
    )


def _plate(title: str, held: Mapping[Place, str], plate: int | str, wells: int) -> str:
    rows, columns = PLATES[wells]
    head = "".join(f"<th>{column}</th>" for column in range(1, columns + 1))
    body = []
    for letter in ascii_uppercase[:rows]:
        texts = (
            held.get(Place(plate, f"{letter}{column:02d}"), "")
            for column in range(1, columns + 1)
        )
        cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
        body.append(f"<tr><th>{letter}</th>{cells}</tr>")
    return (
        f"<h2>{escape(title)}</h2>\n<table><tr><th></th>{head}</tr>\n"
        + "\n".join(body)
        + "</table>\n"
    )
