"""A budget in words, and as one printable HTML page for those who sign for its releases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from math import ceil, exp
from typing import TYPE_CHECKING, Any

from dpselect._numbers import LARGEST_EXPONENT
from dpselect.budget import words
from dpselect.budget.entry import Entry
from dpselect.budget.store import Entries
from dpselect.budget.totals import Totals
from dpselect.neighbours import Neighbours
from dpselect.writing import as_text, holds_numbers

if TYPE_CHECKING:
    from dpselect.budget.accountant import Budget

SIGNED = ("name and role", "date", "signature")
CHECKED = (
    "the unit of protection is right",
    "what is declared public is public",
    "all releases from these data are listed",
)
NOT_COVERED = (
    "what each question declares public; other data about the same people, which need a budget "
    "of their own, added to this one"
)


def html(
    budget: Budget, *, name: str, first: str = "", whole: Mapping[int, str] | None = None
) -> str:
    """Return the report of a budget; self-contained, without any script or address.

    The first page is for those who sign, on one sheet where there are few releases.

    Args:
        budget: The budget.
        name: What to call it, such as the name of its file.
        first: HTML of a page that comes before.
        whole: Files with the whole answer, by the number of the entry.
    """
    entries, totals = budget.entries, budget.totals
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    digest = hashlib.sha256(budget.to_json().encode()).hexdigest()
    state = f"Made {made} by dpselect. State of the record (SHA-256 of its JSON): {digest}"
    share = min(100.0, 100 * budget.spent / totals.epsilon)
    granted = words.facts(totals, budget.pots)
    del granted["odds"]  # which the promise says for a board
    body = [
        first,
        f"<h1>Privacy report: {escape(name)}</h1>",
        f'<div class="bar"><div style="width: {share:.1f}%"></div></div>',
        _facts(granted | _promise(budget) | _of_all(entries) | {"not covered": NOT_COVERED}),
        _table(words.listed(entries)) if entries else "<p>Nothing was released.</p>",
        f"<h2>Approval</h2><p>{'<br>'.join(f'&#9744; {one}' for one in CHECKED)}</p>",
        f'<table class="sign">{2 * _row("td", [""] * len(SIGNED), SIGNED)}</table>',
        '<h2 class="rest">Releases</h2>' if entries else "",
        *(_release(entry, totals, (whole or {}).get(entry.sequence)) for entry in entries),
        f"<footer>{state}</footer>",
    ]
    style = files("dpselect.budget").joinpath("report.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Privacy report: {escape(name)}</title><style>{style}</style></head>\n<body>\n"
        + "\n".join(filter(None, body))
        + "\n</body></html>\n"
    )


def long_tables(budget: Budget) -> dict[int, Mapping[str, Sequence[object]]]:
    """Return the answers that a report does not print whole, by the number of the entry."""
    found = {one.sequence: one.shown for one in budget.entries if one.shown}
    return {at: one for at, one in found.items() if _rows(one) > words.MOST_ROWS}


def _rows(table: Mapping[str, Sequence[object]]) -> int:
    return len(next(iter(table.values()), ()))


def _promise(budget: Budget) -> dict[str, str]:
    """Return what the budget promises, for a board."""
    totals = budget.totals

    def most(epsilon: float) -> str:
        return f"{ceil(1000 * words.suspicion(epsilon, 0.5)) / 10:g} %"

    period = f" of one {totals.period.length}" if totals.period is not None else ""
    said = {
        "promise": f"a suspicion of 50 % about {words.hidden(totals)} can become at most "
        f"{most(budget.spent)} by the releases below, and {most(totals.epsilon)} by all that "
        f"the budget allows{period}{words.apart(totals.delta)}"
    }
    if totals.neighbours is Neighbours.ADD_REMOVE:  # of which a replacement is two steps
        twice = totals.delta * (1 + exp(min(totals.epsilon, LARGEST_EXPONENT)))
        said["if it is there"] = (
            f"the odds of two values of one {totals.unit} that is known to be there change by "
            f"a factor of {words.odds(2 * totals.epsilon)}"
            f"{words.apart(min(1.0, twice))}"
        )
    if totals.unit == "row":
        said["persons"] = "one with several rows is protected less, by the sum over them"
    return said


def _of_all(entries: Entries) -> dict[str, str]:
    """Return what was read for all releases, and what is public by all of them."""
    read = (" ".join(filter(None, [one.source, one.source_version])) for one in entries)
    stated: list[Any] = [one.question.get("public") for one in entries]
    public = (str(fact) for one in stated for fact in one or ())
    known = {"data": read, "declared public": public}
    return {name: "; ".join(dict.fromkeys(filter(None, one))) for name, one in known.items()}


def _table(columns: Mapping[str, Sequence[object]]) -> str:
    """Return a table of at most so many rows as are printed."""
    marks = [' class="number"' if holds_numbers(one) else "" for one in columns.values()]
    rows = zip(*(one[: words.MOST_ROWS] for one in columns.values()), strict=True)
    body = "".join(_row("td", marks, one) for one in rows)
    return f"<table><thead>{_row('th', marks, columns)}</thead>{body}</table>"


def _row(tag: str, marks: Iterable[str], cells: Iterable[object]) -> str:
    pairs = zip(marks, cells, strict=True)
    inside = (f"<{tag}{mark}>{escape(as_text(one))}</{tag}>" for mark, one in pairs)
    return f"<tr>{''.join(inside)}</tr>"


def _release(entry: Entry, totals: Totals, file: str | None) -> str:
    name = words.title(entry)
    parts = [f"<h3>{entry.sequence}. {escape(name[:1].upper() + name[1:])}</h3>"]
    if entry.shown:
        parts.append(_table(entry.shown))
        if (more := _rows(entry.shown) - words.MOST_ROWS) > 0:
            parts.append(f"<p>{more} more rows are in {escape(file or 'the ledger')}.</p>")
    parts.append(_facts(words.facts_of(entry, totals)))
    return f'<section class="release">{"".join(parts)}</section>'


def _facts(facts: Mapping[str, str]) -> str:
    rows = (
        f"<dt>{escape(name)}</dt><dd>{escape(one)}</dd>" for name, one in facts.items() if one
    )
    return f"<dl>{''.join(rows)}</dl>"
