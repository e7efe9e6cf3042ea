"""What a command says where its question is not whole yet: the next line to type.

No row is read. The names of a file that states its types are public with its schema; those of a
text file stand in its first row, which may be a person's, so they are not shown here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dpselect.cli.help import EXAMPLE, flag
from dpselect.errors import ColumnError

if TYPE_CHECKING:
    from dpselect.tables import Source

MOST_NAMES = 12
"""Columns of one type that are listed."""

UNKNOWN = (
    *("--column", "--upper", "--lower", "--candidates", "--nodes", "--by", "--groups"),
    *("--user", "--label", "--x", "--y", "--positive", "--domains", "--bounds", "--tree"),
)
"""Options whose value in the example is of its own file."""


def notes(
    text: str, source: str | Source, table: object, given: Mapping[str, str], *, numeric: bool
) -> list[str]:
    """Return what is known of the file, and a line that asks the question.

    Args:
        text: The help of the command, whose first example is filled in.
        source: The file.
        table: As the engine holds it.
        given: The options that were given, as typed.
        numeric: Whether it asks for a column of numbers, not of texts.
    """
    file, columns = shlex.quote(str(source)), _columns(source, table)
    lines = [
        f"{kind}: {', '.join(names[:MOST_NAMES])}{', ...' * (len(names) > MOST_NAMES)}"
        for kind, names in columns.items()
        if names
    ] or [f"columns: dpselect look {file} shows them"]
    name, asked = _example(text)
    likely = columns["numbers" if numeric else "texts"]
    if likely and "--column" in asked:
        asked["--column"] = shlex.quote(likely[0])
    if not name:
        return lines
    words = (" ".join(filter(None, one)) for one in {**asked, **given}.items())
    return [*lines, f"for example: {' '.join(['dpselect', *name, file, *words, '--dry-run'])}"]


def _columns(source: str | Source, table: object) -> dict[str, list[str]]:
    """Return the columns of a file by what they hold, where the file states its types.

    Raises:
        DataError: It cannot be opened.
    """
    from dpselect import tables

    found: dict[str, list[str]] = {"numbers": [], "texts": [], "other columns": []}
    with suppress(ColumnError):
        frame = tables.open_table(table)
        if tables.Source.of(source).is_csv:
            return found
        for column, kind in tables.schema(frame, table).items():
            is_number = kind.is_numeric() or kind.is_temporal()
            is_text = str(kind) in {"String", "Categorical"} or "Enum" in str(kind)
            of = "numbers" if is_number else "texts" if is_text else "other columns"
            found[of].append(column)
    return found


def _example(text: str) -> tuple[list[str], dict[str, str]]:
    """Return the command of the first example of a help, and its options.

    Words stand for what it cannot know.
    """
    found = next(filter(None, map(EXAMPLE.fullmatch, text.strip().split("\n\n"))), None)
    words = shlex.split(found["command"]) if found else []
    first = next((at for at, one in enumerate(words) if one.startswith("--")), len(words))
    options = {
        flag: flag[2:].upper() if flag in UNKNOWN else shlex.quote(one) if one else ""
        for flag, one in _pairs(words[first:])
        if flag != "--plot"  # which a dry run refuses
    }
    return words[1 : first - 1], options


def _pairs(words: list[str]) -> Iterable[tuple[str, str]]:
    """Yield each option with its value; a flag has none."""
    for at, word in enumerate(words):
        if word.startswith("--"):
            after = words[at + 1] if at + 1 < len(words) else "--"
            yield word, "" if after.startswith("--") else after


def typed(given: Mapping[str, Any]) -> dict[str, str]:
    """Return options of the question as they would be typed, by flag."""
    return {
        flag(name): shlex.quote(",".join(map(str, one)) if isinstance(one, list) else f"{one}")
        for name, one in given.items()
        if one not in (None, False, [], "")
    }
