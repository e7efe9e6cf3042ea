"""What a file is, before it is asked: ``dpselect look`` and ``domains``, for the curator.

``look`` shows records, and finds the dialect from them: what it says is for who may read the
file, to be copied into commands and policies, which then read every file by what they state.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect._optional import nw, pl
from dpselect.cli import options, output
from dpselect.cli.help import flag
from dpselect.errors import DataError
from dpselect.passes import replaced
from dpselect.tables.dialect import WORKBOOKS
from dpselect.tables.formats import sheets_of
from dpselect.tables.opening import open_table, unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpselect.tables import Source
    from dpselect.tables.dialect import Dialect, FieldType

LINES = 3
MOST = 1 << 20
"""Bytes that are looked at."""

ENCODINGS = ("utf-8", "cp1252", "latin-1")
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
BLANKS = ("'", " ", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}")
"""Marks of thousands beside any decimal mark."""

PLAIN: dict[str, Any] = {}
UNTYPED = ("text", "empty")
KINDS: tuple[tuple[FieldType, dict[str, Any]], ...] = (
    *((kind, PLAIN) for kind in ("integer", "number", "date", "time")),
    *(("time" if "%M" in form else "date", {"date_format": form}) for form in FORMS),
    ("time", {"time_zone": "UTC"}),
    *(("number", {"decimal": ".", "thousands": mark}) for mark in (",", *BLANKS)),
    ("number", {"decimal": ","}),
    *(("number", {"decimal": ",", "thousands": mark}) for mark in (".", *BLANKS)),
)
"""Types of fields with what reads them, the plainest first."""

ALIGNED = (
    "they seem to separate fields: say --separator ' ' of one blank each, else give the frame "
    'of pandas.read_csv(FILE, sep=r"\\s+") or read_fwf'
)

MISSING = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "-", ".", "?", r"\N")


def look(file: str, **dialect: Any) -> None:
    """Show the curator how a file is written; not private.

    It prints the dialect, the columns and the first records, and is for who may read the file;
    no policy lets anybody look. The options that it proposes are found from the rows: look at
    them, and state them as facts of the program that wrote the file.

    $ dpselect look stays.csv

    Args:
        file: The file.
    """
    from dpselect.tables import Source

    source = Source.of(options.rows_of(file, dialect))
    _, usual, form = source.reading()
    found = _fitting(source) if form.reads_lines else source
    found = _of_cells(source) if usual.format in WORKBOOKS else found
    rows = _rows_of(found)
    if form.reads_lines and found.header is True and _is_record(rows, found):
        found = replace(found, header=_by_place(rows.width))
        rows = _rows_of(found)
    if form.is_text and not found.missing:
        fields = {one for row in rows.rows() for one in row}
        found = replace(found, missing=[one for one in MISSING if one in fields])
        rows = _rows_of(found)
    declared = {name: (str(kind), PLAIN) for name, kind in rows.schema.items()}
    named = _types(rows, found) if form.is_text else declared
    found = _reading(rows, found, named)
    stated = found.stated_dialect
    if found.decimal == (separator := found.separator or usual.separator):
        stated["separator"] = separator
    kinds = []
    for name, (kind, more) in named.items():
        words = [_words(*one) for one in more.items() if getattr(found, one[0]) != one[1]]
        kinds.append(f"{name}: {kind}{' by ' * bool(words)}{' '.join(words)}")
    has_words = pl.first().str.contains(r"\S  +\S|\S +\S+ +\S").mean() >= 0.9
    is_aligned = form.reads_lines and rows.width == 1 and rows.select(has_words).item()
    # Python has no years beyond 9999.
    written = rows.head(LINES).with_columns(pl.selectors.temporal().cast(pl.String)).rows
    first = replaced(written, lambda: unreadable(found))
    facts = {
        "not private": "this shows records; it is for who may read the file",
        "format": form.name,
        "options": " \\\n".join(_words(*one) for one in stated.items()) or "none",
        "blanks": ALIGNED if is_aligned else None,
        "columns": "\n".join(kinds),
        "first rows": "\n".join(" | ".join(map(str, row)) for row in first),
    }
    output.print_facts(facts, whole="options")


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


def _rows_of(source: Source) -> Any:
    """Return the first rows."""
    rows = open_table(source).head(1000).lazy().collect
    return replaced(rows, lambda: unreadable(source)).to_native()


def _is_record(rows: Any, source: Source) -> bool:
    """Return whether names of columns are numbers and days where their fields are.

    Several years in order are names.
    """
    types = _types(rows.drop(_by_place(rows.width), strict=False), source)
    typed = [name for name, (kind, _) in types.items() if kind not in UNTYPED]
    years = [one for one in map(str, range(1800, 2200)) if one in typed]
    is_named = not typed or (len(typed) > 2 and typed == years)
    return not is_named and all(_are_typed(typed, source))


def _fitting(source: Source) -> Source:
    """Return a source whose dialect gives most lines as many fields as the header."""
    from dpselect.tables.text import unpacked

    source.check_there()
    with unpacked(source.files()[0]) as opened:
        head = replaced(lambda: opened.read(MOST), lambda: unreadable(source))
    encoding = source.encoding if "encoding" in source.stated_dialect else _encoding(head)
    text = head.decode(encoding, errors="replace").lstrip("\ufeff")
    lines = re.split("\r?\n|\r", text)[source.skip_lines :]
    lines = lines[:-1] if len(head) == MOST else lines
    comment = source.comment or next((one for one in "#%" if text.startswith(one)), "\n")
    marked = [one.startswith(comment) for one in lines]
    plain = [one for one in lines if not one.startswith(comment)]
    usual = replace(source, separator=None, quote=None).reading()[1]
    separators = source.separator or dict.fromkeys([str(usual.separator), *",;\t|"])
    marks = [source.quote] if source.quote else [str(usual.quote), "none", '"', "'"]
    quotes = {
        one: max(marks, key=lambda mark: _agreement(plain, one, mark)[:3]) for one in separators
    }
    fits = {one: _agreement(plain, one, mark) for one, mark in quotes.items()}
    separator = max(fits, key=lambda one: (fits[one][3] > 1, *fits[one][:2], fits[one][3]))
    quote, width = quotes[separator], fits[separator][3]
    # The first of the names may begin as a comment does.
    notes = comment if source.comment else (f"{comment} ", comment * 2)
    own = [[] if one.startswith(notes) else _split([one], separator, quote) for one in lines]
    records = [one[0] if one else [] for one in own]
    first = _first_filled([one if len(one) == width else [] for one in records])
    first, names = _names(records, first, source)
    is_name = not names and not source.comment and any(marked[first : first + 1])
    has_notes = not is_name and (any(marked[first:]) or (first > 0 and all(marked[:first])))
    return replace(
        source,
        separator=source.separator if separator == usual.separator else separator,
        quote=source.quote if quote == usual.quote else quote,
        encoding=encoding,
        comment=comment if has_notes else source.comment,
        skip_lines=source.skip_lines or first * (not has_notes or not all(marked[:first])),
        header=names or source.header,
    )


def _first_filled(rows: Sequence[Sequence[str]]) -> int:
    """Return the place of the first row with more than half as many fields as any has."""
    most = max((sum(map(bool, row)) for row in rows), default=0)
    return next((place for place, row in enumerate(rows) if 2 * sum(map(bool, row)) > most), 0)


def _of_cells(source: Source) -> Source:
    """Return a source that begins with a row of which more than half is filled.

    Raises:
        DataError: It has several sheets, and none is named.
    """
    source.check_there()
    sheets = replaced(lambda: sheets_of(source.files()[0]), lambda: unreadable(source))
    if source.sheet not in sheets and len(sheets) > 1:
        raise DataError(f"`sheet` must be one of {sheets}")
    found = _rows_of(replace(source, header=False)).fill_null("").rows()
    first, names = _names(found, _first_filled(found), source)
    return replace(source, skip_lines=source.skip_lines + first, header=names or source.header)


def _names(
    records: Sequence[Sequence[str]], first: int, source: Source
) -> tuple[int, Sequence[str]]:
    """Return how many lines are above the header or the records, and names if it has none.

    R writes no name above those of rows, and others leave out the last fields of records.
    """

    def is_text(place: int) -> bool:
        return not any(_are_typed(records[place], source))

    if not records or source.header is not True:
        return first, ()
    fields, end = records[first], first + 1
    if first and records[first - 1] and is_text(first - 1) and not is_text(first):
        missing = len(fields) - len(records[first - 1])
        # Some end each record, but not the header, with a separator.
        if missing < 0 or (missing == 1 and not fields[-1]):
            fields, first, end = records[first - 1], first - 1, first
        elif missing == 1:
            fields, end = ["", *records[first - 1]], first
    places = _by_place(len(fields))
    names = [one.strip().replace(",", " ") or places[at] for at, one in enumerate(fields)]
    if end > first and (len({*names}) == len(names) or not is_text(first)):
        return first, places if len({*names}) < len(names) else ()
    for place, one in enumerate(names):
        names[place] += f"_{place + 1}" * (one in names[:place])
    return end, names


def _by_place(width: int) -> list[str]:
    return [f"column_{place + 1}" for place in range(width)]


def _encoding(head: bytes) -> str:
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return "utf-16"
    for one in ENCODINGS:
        with suppress(UnicodeDecodeError):
            head[: head.rfind(b"\n") + 1].decode(one)
            break
    return one


def _split(lines: list[str], separator: str, quote: str) -> list[list[str]]:
    import csv

    csv.field_size_limit(MOST)
    how: Any = {"quoting": csv.QUOTE_NONE} if quote == "none" else {"quotechar": quote}
    return [row for row in csv.reader(lines, delimiter=separator, **how) if row]


def _agreement(lines: list[str], separator: str, quote: str) -> tuple[float, int, bool, int]:
    """Return which share of lines has the most common number of fields, and this.

    Between them how near the first line comes to it, of which R leaves out a name, and whether
    almost all fields that begin with the mark end with one.
    """
    widths = [len(row) for row in _split(lines, separator, quote)] or [0]
    [(width, rows)] = Counter(widths).most_common(1)
    begun = [one[1:] for line in lines for one in line.split(separator) if one[:1] == quote]
    is_around = sum(one.find(quote) + 1 == len(one) > 0 for one in begun) > 0.9 * len(begun)
    # Some odd lines don't speak against the usual marks.
    return round(rows / len(widths), 2), -min(abs(width - widths[0]), 2), is_around, width


def _types(rows: Any, dialect: Dialect) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return what nine fields in ten of each column are, and what is to be stated of them."""
    types: dict[str, tuple[str, dict[str, Any]]] = {}
    least, others = {}, {}
    for name in rows.columns:
        fields = rows[name].rename("field").drop_nulls()  # a name may be a pattern
        types[name] = ("text" if fields.len() else "empty", PLAIN)
        if fields.len() and fields.str.contains("[0-9]").mean() >= 0.9:
            # Integers and numbers lose none of what are days of digits alone, days no times.
            are_days = fields.str.contains(DIGITS).mean() >= 0.9
            are_times = fields.str.contains(":").any()
            others[name] = ["integer", "number"] if are_days else ["date"] * are_times
            least[name] = fields.len() // 10 + 1
    for kind, more in KINDS:
        asked = [name for name, most in least.items() if most and kind not in others[name]]
        if asked and _goes_with(dialect, more):
            lost = _lost(rows, dict.fromkeys(asked, kind), replace(dialect, **more))
            better = [(name, one) for name, one in lost.items() if one < least[name]]
            types |= dict.fromkeys(dict(better), (kind, more))
            least |= dict(better)
    return types


def _are_typed(fields: Sequence[str], dialect: Dialect) -> list[bool]:
    """Return which fields are numbers, days or times."""
    rows = pl.DataFrame([fields], schema=_by_place(len(fields)), orient="row")
    return [kind not in UNTYPED for kind, _ in _types(rows, dialect).values()]


def _lost(rows: Any, kinds: Mapping[str, Any], dialect: Dialect) -> dict[str, int]:
    """Return how many fields of columns are not what they are to be."""
    places = {name: str(place) for place, name in enumerate(kinds)}
    there = nw.from_native(rows[[*kinds]].rename(places).lazy())
    typed = dialect.typed(there, {places[name]: kind for name, kind in kinds.items()})
    read = typed.collect().to_native()
    return {one: read[at].null_count() - rows[one].null_count() for one, at in places.items()}


def _goes_with(dialect: Dialect, more: dict[str, Any]) -> bool:
    """Return whether nothing else is stated."""
    stated = dialect.stated_dialect.items()
    return all(name not in more or more[name] == value for name, value in stated)


def _reading(rows: Any, source: Source, named: dict[str, tuple[str, dict[str, Any]]]) -> Source:
    """Return a source that also states what reads a column, if no other is read worse."""
    kinds = {name: kind for name, (kind, _) in named.items() if kind not in UNTYPED}
    proposed = [more for _, more in named.values()]
    for place, more in enumerate(proposed):
        if more and more not in proposed[:place] and _goes_with(source, more):
            trial, before = replace(source, **more), _lost(rows, kinds, source)
            if all(one <= before[name] for name, one in _lost(rows, kinds, trial).items()):
                source = trial
    return source


def _words(name: str, value: Any) -> str:
    texts = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    shown = texts.replace("\t", r"\t")  # as a tab is typed
    # A comma alone needs no marks in a shell, but reads better in them.
    plain = shown.isalnum() or "'" in shown
    return f"{flag(name)} " + (shlex.quote(shown) if plain else f"'{shown}'")
