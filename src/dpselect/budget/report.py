"""A budget in words, and as one printable HTML page for those who sign for its releases."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from math import ceil, exp, log
from typing import Protocol

from dpselect.budget.entry import Entry
from dpselect.budget.totals import Totals
from dpselect.neighbours import Neighbours

RELATIONS = {
    Neighbours.ADD_REMOVE: "whether one record is in the data at all",
    Neighbours.SUBSTITUTE: "what one record of the data says",
    Neighbours.EDGE: "whether one connection between two nodes is in the network",
    Neighbours.SWAP: "which of two people belongs to the subset",
}
"""What each neighbour relation hides."""

PERSON = "whether one person, with all rows, is in the data at all"
"""What a release hides whose question names a column of people, under add/remove."""

_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Between the words of a name such as TopKeys."""

LARGEST_FACTOR = 1e6
"""Odds that grow by more are written as such, without digits."""

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


class Reported(Protocol):
    """What a report says of a :class:`~dpselect.Budget`."""

    @property
    def epsilon(self) -> float: ...
    @property
    def delta(self) -> float: ...
    @property
    def neighbours(self) -> Neighbours: ...
    @property
    def totals(self) -> Totals: ...
    @property
    def spent(self) -> float: ...
    @property
    def remaining(self) -> float: ...
    @property
    def entries(self) -> Sequence[Entry]: ...
    def to_json(self) -> str: ...


def html(budget: Reported, *, name: str, first: str = "") -> str:
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
        *(part for entry in entries for part in _release(entry)),
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


def _state(budget: Reported) -> str:
    digest = hashlib.sha256(budget.to_json().encode()).hexdigest()
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f"Made {made} by dpselect. State of the record (SHA-256 of its JSON): {digest}"


def _summary(budget: Reported, number: int) -> Iterator[str]:
    share = min(100.0, 100 * budget.spent / budget.epsilon)
    delta = f", delta {budget.delta:.3g}" if budget.delta else ""
    yield "<h2>The budget</h2>"
    yield f'<div class="spent"><div style="width: {share:.1f}%"></div></div>'
    yield _facts(
        {
            "granted": f"epsilon {budget.epsilon:g}{delta}",
            "spent": f"epsilon {budget.spent:.6g} by {number} release"
            f"{'' if number == 1 else 's'} ({budget.totals.composition} composition)",
            "left": f"epsilon {budget.remaining:.6g}",
            "protects": f"{RELATIONS[budget.neighbours]} ({budget.neighbours})",
        }
    )


def _promise(budget: Reported) -> Iterator[str]:
    hidden = RELATIONS[budget.neighbours]
    yield "<h2>What is promised</h2>"
    yield (
        f"<p>Somebody who knows everything else may have a suspicion about {escape(hidden)}. "
        "All releases of this budget together, those listed and those still to come, change "
        "the odds of that suspicion by a factor of at most "
        f"<b>{escape(odds(budget.epsilon))}</b> (e to the power of the granted "
        f"epsilon); those listed by at most <b>{escape(odds(budget.spent))}</b>"
        f"{_apart(budget.delta)}.</p>"
    )
    cells = [
        f"from {before:.0%} to at most {ceil(1000 * suspicion(budget.epsilon, before)) / 10:g}%"
        for before in (0.01, 0.1, 0.5)
    ]
    yield f"<p>A suspicion can grow {'; '.join(cells)}{_apart(budget.delta)}.</p>"
    if budget.neighbours is Neighbours.ADD_REMOVE:
        yield (
            "<p>What a record says that is known to be there is protected by half as much: the "
            f"odds of two of its values change by a factor of at most "
            f"<b>{escape(odds(2 * budget.epsilon))}</b>{_apart(_of_two_steps(budget))}.</p>"
        )
    yield (
        "<p>A record is one row of the table, or one person where the question names a column "
        "of people (user). What each question declares public is not protected. Other data "
        "about the same people need a budget of their own, added to this one.</p>"
    )


def _release(entry: Entry) -> Iterator[str]:
    asked = entry.question
    yield f'<section class="release"><h3>{entry.sequence}. {escape(_title(entry))}</h3>'
    delta = f", delta {entry.delta:.3g}" if entry.delta else ""
    back = f" ({entry.refunded:.6g} of it given back)" if entry.refunded else ""
    yield _facts(
        {
            "question": question_of(entry),
            "answer": _Html(f'<span class="answer">{_answer(entry)}</span>'),
            "price": f"epsilon {entry.epsilon:.6g}{delta}{back}: odds change by a factor of "
            f"at most {odds(entry.epsilon)}{_apart(entry.delta)}",
            "protects": f"{protected_by(entry)} ({entry.neighbours})",
            "declared public": "; ".join(map(str, _list(asked.get("public")))) or None,
            "error": _error(asked.get("error_bound")),
            "mechanism": entry.mechanism,
            "steps": _steps(asked.get("spends")),
            "asked by": entry.analyst or None,
            "note": entry.note or None,
            "recorded": f"{entry.time}, dpselect {entry.version}",
        }
    )
    yield "</section>"


def _of_two_steps(budget: Reported) -> float:
    """Return the delta of two neighbour steps."""
    return min(1.0, budget.delta * (1 + exp(min(budget.epsilon, 700))))


def _apart(delta: float) -> str:
    if not delta:
        return ""
    return f", apart from a case of probability {delta:.3g} (delta) where nothing is promised"


def _title(entry: Entry) -> str:
    function = entry.question.get("query")
    what = question(function, {}, entry.source) if function else "spend"
    return what[:1].upper() + what[1:]


def _answer(entry: Entry) -> str:
    if entry.answer is None:
        return (
            "none was kept: the program ended between spend and answer, or only the spend "
            "was recorded"
        )
    text = answer_of(entry)
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


class _Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def _facts(facts: Mapping[str, str | None]) -> str:
    rows = (
        f"<dt>{name}</dt><dd>{value if isinstance(value, _Html) else escape(value)}</dd>"
        for name, value in facts.items()
        if value is not None
    )
    return f"<dl>{''.join(rows)}</dl>"


def _signatures() -> Iterator[str]:
    cells = "".join(f"<td>{word}</td>" for word in ("name and role", "date", "signature"))
    yield "<h2>Approval</h2>"
    yield f'<table class="sign">{2 * f"<tr>{cells}</tr>"}</table>'


def question(query: object, arguments: object, source: str = "") -> str:
    """Return a question: the query in words, the file, and the public arguments."""
    name = _BOUNDARY.sub(" ", str(query)).lower()
    of = f"{name} of {source}" if source else name
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    if where := given.pop("where", None):
        of = f"{of} where {' and '.join(map(str, where))}"
    stated = [
        f"{key} = {value_text(one)}" for key, one in given.items() if one not in (None, [])
    ]
    return f"{of}: {', '.join(stated)}" if stated else of


def question_of(entry: Entry) -> str:
    """Return what an entry says was asked, or its mechanism where it says no more."""
    if not entry.question:
        return entry.mechanism or "not stated"
    return question(entry.question.get("query"), entry.question.get("arguments"), entry.source)


def protected_by(entry: Entry) -> str:
    """Return what an entry hides: a record, or all records of a person."""
    given = entry.question.get("arguments")
    limited = isinstance(given, Mapping) and given.get("max_per_user") is not None
    of_person = limited and entry.neighbours is Neighbours.ADD_REMOVE
    return PERSON if of_person else RELATIONS[entry.neighbours]


def answer_of(entry: Entry) -> str:
    """Return the answer of an entry, in one paragraph."""
    if entry.answer is None:
        return "none was kept"
    if set(entry.answer) == {"answer"}:
        return value_text(entry.answer["answer"])
    return "; ".join(
        value_text(one) if name == "answer" else f"{name.replace('_', ' ')}: {value_text(one)}"
        for name, one in entry.answer.items()
        if one is not None
    )


def value_text(value: object) -> str:
    """Return a plain value as a person would write it."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Mapping):
        stated = [f"{key}: {value_text(one)}" for key, one in value.items() if key != "name"]
        more = f"({', '.join(stated)})" if "name" in value and stated else ", ".join(stated)
        return f"{value.get('name', '')} {more}".strip()
    if isinstance(value, Sequence):
        return ", ".join(
            f"({value_text(one)})" if isinstance(one, list | tuple) else value_text(one)
            for one in value
        )
    return str(value)


def odds(epsilon: float) -> str:
    """Return the factor by which the odds of a suspicion can change, in words."""
    if epsilon > log(LARGEST_FACTOR):
        return "more than a million (no meaningful protection)"
    return f"{exp(epsilon):.3g}"


def suspicion(epsilon: float, before: float) -> float:
    """Return the largest probability that a suspicion of probability ``before`` can get."""
    return before / (before + (1 - before) * exp(-epsilon))
