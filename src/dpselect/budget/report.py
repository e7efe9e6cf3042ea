"""A budget in words, and as one printable HTML page for those who sign for its releases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from html import escape
from math import ceil, exp
from typing import TYPE_CHECKING

from dpselect._numbers import LARGEST_EXPONENT
from dpselect.budget import words
from dpselect.budget.entry import Entry
from dpselect.budget.totals import Totals
from dpselect.neighbours import Neighbours

if TYPE_CHECKING:
    from dpselect.budget.accountant import Budget

STYLE = """
body { font: 11pt/1.5 Georgia, serif; color: #111; max-width: 46rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin-bottom: .2rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .3rem; border-bottom: 2px solid #333; }
h3 { font-size: 1rem; margin: 0 0 .4rem; }
section.release { border: 1px solid #999; padding: .8rem 1rem; margin: 1rem 0;
                  break-inside: avoid; }
dl { display: grid; grid-template-columns: 10rem 1fr; gap: .15rem 1rem; margin: 0; }
dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.answer { font-weight: bold; } .in { font-size: .8rem; }
.spent { height: .9rem; border: 1px solid #333; margin: .4rem 0; }
.spent div { height: 100%; background: #555; print-color-adjust: exact; }
table.sign { width: 100%; border-collapse: collapse; margin-top: 1rem; }
table.sign td { border-bottom: 1px solid #333; height: 3.2rem; vertical-align: bottom;
                padding-right: 1rem; color: #555; font-size: .85rem; }
small, footer { color: #555; overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } }
"""


CELLS = "".join(f"<td>{word}</td>" for word in ("name and role", "date", "signature"))


def html(budget: Budget, *, name: str, first: str = "") -> str:
    """Return the report of a budget; self-contained, without any script or address.

    Args:
        budget: The budget.
        name: What to call it, such as the name of its file.
        first: HTML of a page that comes before.
    """
    entries, totals = budget.entries, budget.totals
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    digest = hashlib.sha256(budget.to_json().encode()).hexdigest()
    state = f"Made {made} by dpselect. State of the record (SHA-256 of its JSON): {digest}"
    share = min(100.0, 100 * budget.spent / totals.epsilon)
    body = [
        first,
        f"<h1>Privacy report: {escape(name)}</h1>",
        f"<small>{state}</small>",
        "<h2>The budget</h2>",
        f'<div class="spent"><div style="width: {share:.1f}%"></div></div>',
        _facts({**words.facts(budget), "releases": str(len(entries))}),
        *_promise(budget),
        "<h2>Releases</h2>",
        *(_release(entry, totals) for entry in entries),
        "" if entries else "<p>Nothing was released.</p>",
        "<h2>Approval</h2>",
        f'<table class="sign">{2 * f"<tr>{CELLS}</tr>"}</table>',
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Privacy report: {escape(name)}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(filter(None, body))
        + "\n</body></html>\n"
    )


def _promise(budget: Budget) -> Iterator[str]:
    totals = budget.totals
    yield "<h2>What is promised</h2>"
    every, listed = "those listed and those still to come", "those listed"
    if totals.period is not None:
        length = totals.period.length
        every, listed = f"of one {length}", f"those of the {length} of now"
    yield (
        "<p>Somebody who knows everything else may have a suspicion about "
        f"{escape(words.hidden(totals))}. All releases of this budget together, {every}, "
        f"change the odds of that suspicion, for one {escape(totals.unit)}, by a factor of at "
        f"most <b>{escape(words.odds(totals.epsilon))}</b> (e to the power of the granted "
        f"epsilon); {listed} by at most <b>{escape(words.odds(budget.spent))}</b>"
        f"{words.apart(totals.delta)}.</p>"
    )
    cells = [
        f"from {before:.0%} to at most "
        f"{ceil(1000 * words.suspicion(totals.epsilon, before)) / 10:g}%"
        for before in (0.01, 0.1, 0.5)
    ]
    yield f"<p>A suspicion can grow {'; '.join(cells)}{words.apart(totals.delta)}.</p>"
    if totals.neighbours is Neighbours.ADD_REMOVE:
        yield (
            f"<p>What the data say of one {escape(totals.unit)} that is known to be there is "
            "protected by half as much: the odds of two of its values change by a factor of at "
            f"most <b>{escape(words.odds(2 * totals.epsilon))}</b>"
            f"{words.apart(_of_two_steps(totals))}.</p>"
        )
    if totals.unit == "row":
        yield (
            "<p>Rows are protected one by one: a person with several rows is protected less, "
            "by the sum over them.</p>"
        )
    yield (
        "<p>What each question declares public is not protected. Other data about the same "
        "people need a budget of their own, added to this one.</p>"
    )


def _release(entry: Entry, totals: Totals) -> str:
    function = entry.question.get("query")
    name = words.question(function, {}, entry.source) if function else "spend"
    title = f"<h3>{entry.sequence}. {escape(name[:1].upper() + name[1:])}</h3>"
    facts = _facts(words.facts_of(entry, totals))
    return f'<section class="release">{title}{facts}</section>'


def _of_two_steps(totals: Totals) -> float:
    """Return the delta of two neighbour steps."""
    return min(1.0, totals.delta * (1 + exp(min(totals.epsilon, LARGEST_EXPONENT))))


def _facts(facts: Mapping[str, str]) -> str:
    rows = (
        f'<dt>{escape(name)}</dt><dd class="{name.partition(" ")[0]}">{escape(one)}</dd>'
        for name, one in facts.items()
        if one
    )
    return f"<dl>{''.join(rows)}</dl>"
