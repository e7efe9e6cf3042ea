"""Options of the commands that release keys: which column, whose rows, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from dpselect._searching import least
from dpselect.errors import DataError, ParameterError

if TYPE_CHECKING:
    from dpselect.categories import KeyRelease
    from dpselect.categories.asked import Missing
    from dpselect.typing import Indices, Probabilities

Columns: TypeAlias = Annotated[
    list[str], typer.Option("--column", help="The column of the key; several for tuples.")
]
MaxPerUser: TypeAlias = Annotated[
    int | None,
    typer.Option("--max-per-user", help="With --user: how many keys of a person count."),
]
Neighbours: TypeAlias = Annotated[
    str, typer.Option("--neighbours", help="add-remove or substitute: of a row or a person.")
]
MissingIsKey: TypeAlias = Annotated[
    bool, typer.Option("--missing-is-key", help="Count rows without a key as a key.")
]

ChancesOf: TypeAlias = "Callable[[Indices], Probabilities]"
"""The probability of a release as a function of the number of people."""

MOST_PEOPLE = 10**12
"""Beyond it no number of people is shown."""

AssumedPeople: TypeAlias = Annotated[
    int | None,
    typer.Option("--assumed-people", help="Refuse a delta of one over so many, or more."),
]

SHOWN = (0.01, 0.1, 0.5, 0.9, 0.99)
"""Probabilities for which a dry run says how many people they take."""


def missing(is_key: bool) -> Missing:
    """Return what happens to a row without a key."""
    return "key" if is_key else "drop"


def column_of(columns: Sequence[str]) -> str | list[str]:
    """Return the one column, or all of them."""
    return columns[0] if len(columns) == 1 else list(columns)


def listed(option: str, text: str | None, table: object, columns: Sequence[str]) -> Any:  # noqa: ANN401
    """Return the public keys of a text file, one on a line, or of a list such as ``a,b,c``.

    Raises:
        ParameterError: A key is not of the column's type, or there are several columns.
    """
    if text is None:
        return None
    if len(columns) > 1:
        raise ParameterError(f"{option} is for one column: in Python it takes tuples")
    from dpselect import tables
    from dpselect.categories.columns import kind_of, parsed

    frame = tables.check_columns(table, plain=columns)
    kind = kind_of(tables.schema(frame, table)[columns[0]], columns[0])
    keys: list[Hashable] = [parsed(one, kind) for one in _lines(option, text)]
    return keys


def people_for(chances: ChancesOf, *, more_than: str = "") -> dict[str, str]:
    """Return how many people it takes until a key is released with some probabilities."""
    needed = {f"P(released) >= {share:g}": _people_at(share, chances) for share in SHOWN}
    return {
        name: f"{'from' if people < MOST_PEOPLE else 'above'} {people} people{more_than}"
        for name, people in needed.items()
    }


def people_shown(*chances: ChancesOf) -> Indices:
    """Return numbers of people until all releases are all but sure, for a picture."""
    import numpy as np

    end = max(64, *(_people_at(0.999, one) for one in chances))
    return np.unique(np.linspace(0, end, 500).astype(np.int64))


def _people_at(share: float, chances: ChancesOf) -> int:
    import numpy as np

    def enough(people: int) -> bool:
        return people >= MOST_PEOPLE or float(chances(np.array([people]))[0]) >= share

    return min(least(enough), MOST_PEOPLE)


def besides(release: KeyRelease) -> dict[str, str]:
    """Return noisy counts and the refund of a release in words, if it has any."""
    facts: dict[str, str] = {}
    if release.groups is not None:
        facts["groups"] = ", ".join(map(str, release.groups)) or "(none)"
    if release.counts is not None:
        pairs = zip(release.answer, release.counts, strict=True)
        facts["noisy counts"] = ", ".join(f"{key}: {count}" for key, count in pairs)
    if release.refunded:
        facts["refunded"] = f"epsilon {release.refunded:.6g}, of draws that were not made"
    return facts


def _lines(option: str, text: str) -> list[str]:
    path = Path(text)
    if not path.is_file():
        if "," in text:
            return text.split(",")
        raise DataError(
            f"{option} must be a list such as a,b,c or a text file; there is no {path}"
        )
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{option} must be a text file with one key per line") from None
    return [line for line in lines if line]
