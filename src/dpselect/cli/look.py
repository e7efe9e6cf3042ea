"""What a file is, before it is asked: ``dpselect look`` and ``domains``, for the curator.

``look`` shows records, and finds the dialect from them: what it says is for who may read the
file, to be copied into commands and policies, which then read every file by what they state.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect._optional import nw, pl
from dpselect.cli import options, output
from dpselect.cli.help import flag

if TYPE_CHECKING:
    from dpselect.tables import Source
    from dpselect.tables.dialect import Dialect, FieldType

LINES = 3
MOST = 1 << 20
"""Bytes that are looked at."""

ENCODINGS = ("utf-8", "cp1252")
DAYS = ("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d")
CLOCKS = ("%H:%M", "%H:%M:%S", "%I:%M %p")
COMPACT = ("%Y%m%d", "%Y%m%d%H%M", "%Y%m%d%H%M%S")
DIGITS = (
    "^(19|20)[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])"
    "(([01][0-9]|2[0-3])[0-5][0-9]([0-5][0-9])?)?$"
)
"""Days and times of digits alone."""

FORMS = (
    *(*DAYS, *COMPACT, "%d-%b-%Y", "%d%b%Y", "%d %b %Y", "%b %d, %Y"),
    *(f"{day} {clock}" for clock in CLOCKS for day in DAYS),
)
BLANKS = (".", " ", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}")
"""Marks of thousands beside decimal commas."""

PLAIN: dict[str, Any] = {}
KINDS: tuple[tuple[FieldType, dict[str, Any]], ...] = (
    *((kind, PLAIN) for kind in ("integer", "number", "date", "time")),
    *(("time" if "%M" in form else "date", {"date_format": form}) for form in FORMS),
    ("time", {"time_zone": "UTC"}),
    ("number", {"thousands": ","}),
    ("number", {"decimal": ","}),
    ("number", {"thousands": "'"}),
    *(("number", {"decimal": ",", "thousands": mark}) for mark in BLANKS),
)
"""Types of fields with what reads them, the plainest first."""

TAB = r"\t"
"""How a tab is typed."""

MISSING = ("NA", "N/A", "NULL", "null", "nan", "-", ".", "n/a")


def look(file: str, **dialect: Any) -> None:
    """Show the curator how a file is written; not private.

    It prints the dialect, the columns and the first records, and is for who may read the file;
    no policy lets anybody look. The options that it proposes are found from the rows: look at
    them, and state them as facts of the program that wrote the file.

    $ dpselect look stays.csv

    Args:
        file: The file.
    """
    from dpselect import tables

    source = tables.Source.of(options.rows_of(file, dialect))
    _, _, form = source.reading()
    stated = dict(source.stated_dialect)
    if form.reads_lines:
        stated = _fitting(source, stated)
    found = tables.Source(file, **stated)
    rows: Any = tables.open_table(found).head(1000).lazy().collect().to_native()
    named = {name: _type_of(rows[name], found) for name in rows.columns}
    typed = [name for name, (one, _) in named.items() if one not in {"text", "empty"}]
    named_so = [_type_of(pl.Series([name]), found)[0] for name in typed]
    if form.reads_lines and typed and "text" not in named_so:
        # Names that are numbers and days are those of a record.
        dialect["header"] = ",".join(f"column_{place + 1}" for place in range(rows.width))
        look(file, **dialect)
        return
    for _, more in named.values():
        stated = {**more, **stated}
    if form.is_text and "missing" not in stated:
        fields = {one for name in rows.columns for one in rows[name].unique().to_list()}
        if marks := [one for one in MISSING if one in fields]:
            stated["missing"] = marks
    output.print_facts(
        {
            "not private": "this shows records; it is for who may read the file",
            "format": form.name,
            "options": " \\\n".join(_words(*one) for one in stated.items()) or "none",
            "columns": "\n".join(f"{name}: {one}" for name, (one, _) in named.items()),
            "first rows": "\n".join(
                " | ".join(map(str, row)) for row in rows.head(LINES).rows()
            ),
        }
    )


def domains(
    data: str,
    *,
    label: str,
    out: Path | None = None,
    **dialect: Any,
) -> None:
    """Write a template of a domains file from column names and types.

    No value is read. Columns of dates and times are left out.

    $ dpselect domains adult.parquet --label income > adult.json

    Args:
        data: The file of the records.
        label: The column of the labels.
        out: The file to write, such as domains.json; by default it is printed.
    """
    from dpselect.trees import domains_template

    source = options.rows_of(data, dialect)
    output.check_outputs({"out": out}, source)
    text = json.dumps(domains_template(source, label), indent=2)
    if out is None:
        print(text)  # noqa: T201 -- rich would fold it
        return
    with output.writing(out, "a file such as domains.json"):
        out.write_text(f"{text}\n", encoding="utf-8")
    output.print_facts({"domains file": out, "next": "fill in what is empty or null"})


def _fitting(source: Source, stated: dict[str, Any]) -> dict[str, Any]:
    """Return the dialect by which most lines have as many fields as the header."""
    from dpselect.tables.text import unpacked

    source.check_there()
    raw = source.files()[0]
    with unpacked(raw) as opened:
        head = opened.read(MOST)
    if "encoding" not in stated:
        stated |= _encoding(head)
    text = head.decode(stated.get("encoding", "utf-8"), errors="replace").lstrip("\ufeff")
    lines = text.splitlines()
    lines = lines[:-1] if len(head) == MOST else lines
    if "comment" not in stated and lines and lines[0].startswith(("#", "%")):
        stated["comment"] = lines[0][0]
    lines = [one for one in lines if not one.startswith(stated.get("comment", "\0"))]
    usual = replace(source, separator=None, quote=None).reading()[1]
    marks = dict.fromkeys([str(usual.quote), "none", '"'])
    found = max(
        product(source.separator or ",;\t|", marks),
        key=lambda one: _agreement(lines, *one),
    )
    if found[0] != usual.separator:
        stated["separator"] = found[0]
    if any('"' in one for one in lines) and found[1] != usual.quote:
        stated["quote"] = found[1]
    width = _agreement(lines, *found)[1]
    widths = [len(next(iter(_split([one], *found)), ())) for one in lines]
    if "skip_lines" not in stated and width in widths and (above := widths.index(width)):
        stated["skip_lines"] = above
    return stated


def _encoding(head: bytes) -> dict[str, str]:
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return {"encoding": "utf-16"}
    for one in ENCODINGS:
        try:
            head[: head.rfind(b"\n") + 1].decode(one)
        except UnicodeDecodeError:
            continue
        return {} if one == "utf-8" else {"encoding": one}
    return {"encoding": "latin-1"}


def _split(lines: list[str], separator: str, quote: str) -> list[list[str]]:
    import csv

    if quote == "none":
        return [one.split(separator) for one in lines if one]
    return [row for row in csv.reader(lines, delimiter=separator) if row]


def _agreement(lines: list[str], separator: str, quote: str) -> tuple[float, int]:
    """Return which share of lines has the most common number of fields, if it is above one."""
    widths = Counter(map(len, _split(lines, separator, quote)))
    if not widths:
        return 0.0, 0
    width, rows = widths.most_common(1)[0]
    return (rows / widths.total() if width > 1 else 0.0), width


def _type_of(fields: Any, dialect: Dialect) -> tuple[str, dict[str, Any]]:
    """Return what nine fields in ten are at least, and what is to be stated of them."""
    if fields.dtype != pl.String:
        return str(fields.dtype), PLAIN
    there = fields.drop_nulls().rename("field").to_frame().lazy()

    def unread(kind: FieldType, more: dict[str, Any]) -> int:
        read = replace(dialect, **more).typed(nw.from_native(there), {"field": kind})
        return int(read.collect()["field"].null_count())

    size = fields.len() - fields.null_count()
    if not size:
        return "empty", PLAIN
    # Integers and numbers lose none of what are days of digits alone.
    are_days = fields.str.contains(DIGITS).sum() >= size * 0.9
    kinds = [one for one in KINDS if one[0] in {"date", "time"} or not are_days]
    lost = [unread(*one) for one in kinds]
    best = lost.index(min(lost))
    return ("text", PLAIN) if lost[best] > size / 10 else kinds[best]


def _words(name: str, value: Any) -> str:
    texts = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    shown = texts.replace("\t", TAB)
    # A comma alone needs no marks in a shell, but reads better in them.
    plain = shown.isalnum() or "'" in shown
    return f"{flag(name)} " + (shlex.quote(shown) if plain else f"'{shown}'")
