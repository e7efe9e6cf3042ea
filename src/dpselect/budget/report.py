"""A budget in words, and as one printable HTML page for those who sign for its releases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
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
.bar { height: .9rem; border: 1px solid #333; margin: .4rem 0; }
.bar div { height: 100%; background: #555; print-color-adjust: exact; }
table.list { border-collapse: collapse; font-size: .85rem; margin-top: 1rem; }
table.list :is(th, td) { border-bottom: 1px solid #999; padding: .2rem .5rem .2rem 0;
                         text-align: left; vertical-align: top; }
table.list th { white-space: nowrap; } table.list td { overflow-wrap: anywhere; }
h2.rest { break-before: page; }
table.sign { width: 100%; border-collapse: collapse; margin-top: 1rem; }
table.sign td { border-bottom: 1px solid #333; height: 3.2rem; vertical-align: bottom;
                padding-right: 1rem; color: #555; font-size: .85rem; }
small, footer { color: #555; overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } }
"""


SHORT = 90
"""Characters of a question or an answer on the first page."""

HEAD = ("", "released", "answer", "epsilon", "error", "asked by, when")
SIGNED = ("name and role", "date", "signature")
NOT_COVERED = (
    "what each question declares public; other data about the same people, which need a budget "
    "of their own, added to this one"
)


def html(budget: Budget, *, name: str, first: str = "") -> str:
    """Return the report of a budget; self-contained, without any script or address.

    The first page is for those who sign, on one sheet where there are few releases.

    Args:
        budget: The budget.
        name: What to call it, such as the name of its file.
        first: HTML of a page that comes before.
    """
    entries, totals = budget.entries, budget.totals
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    digest = hashlib.sha256(budget.to_json().encode()).hexdigest()
    state = f"Made {made} by dpselect. State of the record (SHA-256 of its JSON): {digest}"
    signed = f"<tr>{_cells('td', SIGNED)}</tr>"
    share = min(100.0, 100 * budget.spent / totals.epsilon)
    listed = "\n".join(_row(entry, totals) for entry in entries)
    body = [
        first,
        f"<h1>Privacy report: {escape(name)}</h1>",
        f'<div class="bar"><div style="width: {share:.1f}%"></div></div>',
        _facts({**words.facts(budget), **_promise(budget), "not covered": NOT_COVERED}),
        f'<table class="list"><tr>{_cells("th", HEAD)}</tr>{listed}</table>'
        if entries
        else "<p>Nothing was released.</p>",
        "<h2>Approval</h2>",
        f'<table class="sign">{2 * signed}</table>',
        '<h2 class="rest">Releases</h2>' if entries else "",
        *(_release(entry, totals) for entry in entries),
        f"<footer>{state}</footer>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Privacy report: {escape(name)}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(filter(None, body))
        + "\n</body></html>\n"
    )


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
    if totals.neighbours is Neighbours.ADD_REMOVE:
        said["if it is there"] = (
            f"the odds of two values of one {totals.unit} that is known to be there change by "
            f"a factor of at most {words.odds(2 * totals.epsilon)}"
            f"{words.apart(_of_two_steps(totals))}"
        )
    if totals.unit == "row":
        said["persons"] = "one with several rows is protected less, by the sum over them"
    return said


def _row(entry: Entry, totals: Totals) -> str:
    """Return the line of a release on the first page."""
    known = words.facts_of(entry, totals)
    asked, answer = (
        one if len(one) <= SHORT else f"{one[:SHORT]} ... (see below)"
        for one in (known["question"], known["answer"])
    )
    when = ", ".join(filter(None, [entry.analyst, entry.time[:10]]))
    cells = (str(entry.sequence), asked, answer, f"{entry.epsilon:.6g}", known["error"], when)
    return f"<tr>{_cells('td', cells)}</tr>"


def _cells(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{escape(one)}</{tag}>" for one in texts)


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
