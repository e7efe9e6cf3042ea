"""A budget in words, and as one printable HTML page for those who sign for its releases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from html import escape
from math import ceil, exp
from typing import TYPE_CHECKING

from dpselect._numbers import LARGEST_EXPONENT
from dpselect.budget import words
from dpselect.budget.amount import exact
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
dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; }
.answer { font-weight: bold; } pre { white-space: pre-wrap; font-size: .8rem; margin: 0; }
.spent { height: .9rem; border: 1px solid #333; margin: .4rem 0; }
.spent div { height: 100%; background: #555; print-color-adjust: exact; }
table.sign { width: 100%; border-collapse: collapse; margin-top: 1rem; }
table.sign td { border-bottom: 1px solid #333; height: 3.2rem; vertical-align: bottom;
                padding-right: 1rem; color: #555; font-size: .85rem; }
small, footer { color: #555; overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } }
"""


def html(budget: Budget, *, name: str, first: str = "") -> str:
    """Return the report of a budget; self-contained, without any script or address.

    Args:
        budget: The budget.
        name: What to call it, such as the name of its file.
        first: HTML of a page that comes before.
    """
    entries = budget.entries
    body = [
        *([first] if first else []),
        f"<h1>Privacy report: {escape(name)}</h1>",
        f"<small>{_state(budget)}</small>",
        *_summary(budget, len(entries)),
        *_promise(budget),
        "<h2>Releases</h2>",
        *(part for entry in entries for part in _release(entry, budget.totals)),
        *([] if entries else ["<p>Nothing was released.</p>"]),
        *_signatures(),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Privacy report: {escape(name)}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _state(budget: Budget) -> str:
    digest = hashlib.sha256(budget.to_json().encode()).hexdigest()
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f"Made {made} by dpselect. State of the record (SHA-256 of its JSON): {digest}"


def _summary(budget: Budget, number: int) -> Iterator[str]:
    totals = budget.totals
    share = min(100.0, 100 * budget.spent / totals.epsilon)
    now = "" if totals.period is None else f" in the {totals.period.length} of now"
    left = sum(exact(pot.remaining) for pot in budget.pots)
    yield "<h2>The budget</h2>"
    yield f'<div class="spent"><div style="width: {share:.1f}%"></div></div>'
    yield _facts(
        {
            "granted": words.granted(totals),
            "protects": words.protected(totals),
            "composition": words.COMPOSITIONS[totals.composition],
            "releases": str(number),
            "spent": f"epsilon {budget.spent:.6g}{now}",
            "left": f"epsilon {float(left):.6g}{now}",
        }
    )
    if totals.shares:
        yield "<h3>Shares</h3>"
        yield _facts({pot.share or "all others": words.pot(pot) for pot in budget.pots})


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
        f"{_apart(totals.delta)}.</p>"
    )
    cells = [
        f"from {before:.0%} to at most "
        f"{ceil(1000 * words.suspicion(totals.epsilon, before)) / 10:g}%"
        for before in (0.01, 0.1, 0.5)
    ]
    yield f"<p>A suspicion can grow {'; '.join(cells)}{_apart(totals.delta)}.</p>"
    if totals.neighbours is Neighbours.ADD_REMOVE:
        yield (
            f"<p>What the data say of one {escape(totals.unit)} that is known to be there is "
            "protected by half as much: the odds of two of its values change by a factor of at "
            f"most <b>{escape(words.odds(2 * totals.epsilon))}</b>"
            f"{_apart(_of_two_steps(totals))}.</p>"
        )
    if totals.period is not None:
        yield f"<p>{escape(words.renewal(totals.period, totals))}</p>"
    if totals.unit == "row":
        yield (
            "<p>Rows are protected one by one: a person with several rows is protected less, "
            "by the sum over them.</p>"
        )
    yield (
        "<p>What each question declares public is not protected. Other data about the same "
        "people need a budget of their own, added to this one.</p>"
    )


def _release(entry: Entry, totals: Totals) -> Iterator[str]:
    asked = entry.question
    yield f'<section class="release"><h3>{entry.sequence}. {escape(_title(entry))}</h3>'
    delta = f", delta {entry.delta:.3g}" if entry.delta else ""
    back = f" ({entry.refunded:.6g} of it given back)" if entry.refunded else ""
    yield _facts(
        {
            "question": words.question_of(entry),
            "in full": _lines(words.whole_question(entry)),
            "answer": _Html(f'<span class="answer">{_answer(entry)}</span>'),
            "price": f"epsilon {entry.epsilon:.6g}{delta}{back}, for one {totals.unit}: odds "
            f"change by a factor of at most {words.odds(entry.epsilon)}{_apart(entry.delta)}",
            "group privacy": _by_rows(entry, totals),
            "declared public": "; ".join(map(str, _list(asked.get("public")))) or None,
            "error": _error(asked.get("error_bound")),
            "mechanism": entry.mechanism,
            "steps": _steps(asked.get("spends")),
            "asked by": entry.analyst or None,
            "paid by": _paid_by(entry, totals),
            "source": _source(entry),
            "note": entry.note or None,
            "recorded": f"{entry.time}, dpselect {entry.version}",
        }
    )
    yield "</section>"


def _by_rows(entry: Entry, totals: Totals) -> str | None:
    if entry.steps == 1:
        return None
    return f"asked by rows, and charged for the {entry.steps} rows of one {totals.unit}"


def _paid_by(entry: Entry, totals: Totals) -> str | None:
    share = f"the share of {entry.share}" if entry.share else "the share of all others"
    return ", ".join(filter(None, (share if totals.shares else "", entry.period))) or None


def _source(entry: Entry) -> str | None:
    version = f", {entry.source_version}" if entry.source_version else ""
    return f"{entry.source}{version}" or None


def _of_two_steps(totals: Totals) -> float:
    """Return the delta of two neighbour steps."""
    return min(1.0, totals.delta * (1 + exp(min(totals.epsilon, LARGEST_EXPONENT))))


def _apart(delta: float) -> str:
    if not delta:
        return ""
    return f", apart from a case of probability {delta:.3g} (delta) where nothing is promised"


def _title(entry: Entry) -> str:
    function = entry.question.get("query")
    what = words.question(function, {}, entry.source) if function else "spend"
    return what[:1].upper() + what[1:]


def _answer(entry: Entry) -> str:
    if entry.answer is None:
        return (
            "none was kept: the program ended between spend and answer, or only the spend "
            "was recorded"
        )
    text = words.answer_of(entry)
    return f"<pre>{escape(text)}</pre>" if "\n" in text else escape(text)


def _error(bound: object) -> str | None:
    if not isinstance(bound, Mapping):
        return None
    return (
        f"at most {bound['value']:.4g} {bound['unit']} with probability "
        f"{bound['probability']:g}, on any data"
    )


def _steps(spends: object) -> str | None:
    steps = [
        f"{one['times']} x epsilon {one['epsilon']:.6g}: {one['purpose']}"
        for one in _list(spends)
        if isinstance(one, Mapping)
    ]
    return "; ".join(steps) or None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _lines(lines: Iterable[str]) -> _Html | None:
    text = escape("\n".join(lines))
    return _Html(f"<pre>{text}</pre>") if text else None


class _Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def _facts(facts: Mapping[str, str | None]) -> str:
    rows = (
        f"<dt>{escape(name)}</dt><dd>{one if isinstance(one, _Html) else escape(one)}</dd>"
        for name, one in facts.items()
        if one is not None
    )
    return f"<dl>{''.join(rows)}</dl>"


def _signatures() -> Iterator[str]:
    cells = "".join(f"<td>{word}</td>" for word in ("name and role", "date", "signature"))
    yield "<h2>Approval</h2>"
    yield f'<table class="sign">{2 * f"<tr>{cells}</tr>"}</table>'
