"""A budget, its questions and its answers in words, for terminals, and as a page to sign."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from math import ceil, exp, log
from typing import TYPE_CHECKING, Any, cast

from dpselect import writing
from dpselect._numbers import LARGEST_EXPONENT
from dpselect.neighbours import Neighbours

if TYPE_CHECKING:
    from dpselect.budget.entry import Entry
    from dpselect.budget.store import Entries
    from dpselect.budget.totals import Pot, Totals

HIDDEN = {
    Neighbours.ADD_REMOVE: "whether one {unit} is in the data",
    Neighbours.SUBSTITUTE: "what one {unit} of the data says",
    Neighbours.EDGE: "whether one connection between two nodes is in the network",
    Neighbours.SWAP: "which of two people belongs to the subset",
}
"""Facts about records that each neighbour relation hides."""

HIDDEN_OF_PERSONS = {
    Neighbours.ADD_REMOVE: "whether one {unit} with all rows is in the data",
    Neighbours.SUBSTITUTE: "what all rows of one {unit} say",
}
"""Facts about persons that those of tables hide."""

COMPOSITIONS = {
    "sum": "epsilons and deltas add up",
    "zcdp": "zCDP composes, with all of delta",
    "either": "the cheaper of the sum and of zCDP, with half of delta each",
}
"""Composition, in words."""

RENEWAL = (
    "The totals are granted anew with each {length} of UTC, for the data of that {length} "
    "alone. "
)
"""How totals are granted anew."""

HONEST = {
    "each-period": "Protected is what one {unit} has in one {length}: who has data in n "
    "{length}s is protected by n times the totals.",
    "one-period": "Declared public is that all data of one {unit} lie in one {length}.",
}
"""What makes that honest."""

NO_FIELDS = ("dpselect", "query", "where")
"""Names of a written query that are none of its fields."""

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Between the words of a name such as TopKeys."""

BOUND = "at most {value} {unit} with probability {probability:g}, on any data"
"""Error of a release, in words."""

SHORT_BOUND = "at most {value} {unit} ({percent:g} %)"
"""The same in a list."""

MOST_ROWS = 200
"""Rows of an answer that are printed."""

SHORT = 60
"""Characters of a title or an answer in a list."""

LARGEST_FACTOR = 1e6
"""Odds that grow by more are written as such, without digits."""

MOST_LISTED = 1_000
"""Values of a list that are written one by one."""

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


def hidden(totals: Totals) -> str:
    """Return what the guarantee of a budget hides."""
    return hidden_by(totals.neighbours, totals.unit, persons=totals.persons is not None)


def hidden_by(neighbours: Neighbours, unit: str, *, persons: bool) -> str:
    """Return what a guarantee hides of one unit, which is a person with all rows or not."""
    known = HIDDEN_OF_PERSONS if persons else HIDDEN
    return known[neighbours].format(unit=unit)


def facts(totals: Totals, pots: Sequence[Pot]) -> dict[str, str]:
    """Return what a budget grants, protects and has left, by name; texts may be empty.

    Args:
        totals: What it grants.
        pots: The share of each, or the one of all.
    """
    persons, period = totals.persons, totals.period
    most = "" if persons is None or persons.rows is None else persons.rows
    now = "" if period is None else f" in the {period.length} of now"
    said = {
        "total": f"{amounts(totals)}{f' in each {period.length}' if period else ''}",
        "protects": f"{hidden(totals)} ({totals.neighbours})"
        + (f"; declared public: at most {most} rows each" if most else ""),
        "composition": COMPOSITIONS[totals.composition],
        "renewal": ""
        if period is None
        else (RENEWAL + HONEST[period.unit]).format(unit=totals.unit, length=period.length),
    }
    if totals.shares:
        said[f"shares{now}"] = "\n".join(
            f"{pot.share or 'all others'}: {amounts(pot)}: spent {pot.spent:.6g}, "
            f"{pot.remaining:.6g} is left"
            for pot in pots
        )
    else:
        said[f"spent{now}"] = f"{pots[0].spent:.6g}"
        said["remaining"] = f"{pots[0].remaining:.6g}"
    said["odds"] = (
        "all releases together change them by a factor of "
        f"{odds(totals.epsilon)}, for one {totals.unit}"
    )
    return said


def amounts(of: Any) -> str:  # noqa: ANN401 -- of all that has a price
    """Return epsilon and delta in words."""
    return f"epsilon {of.epsilon:.6g}{f', delta {of.delta:.3g}' if of.delta else ''}"


def facts_of(entry: Entry, totals: Totals) -> dict[str, str]:
    """Return what a ledger knows of a release beside its table; texts may be empty."""
    whole: Mapping[str, Any] = entry.question
    answer: Mapping[str, Any] = entry.answer or {}
    back = f" ({entry.refunded:.6g} of it given back)" if entry.refunded else ""
    share = f"the share of {entry.share or 'all others'}" if totals.shares else ""
    steps = [
        f"{one['times']} x epsilon {one['epsilon']:.6g}: {one['purpose']}"
        for one in whole.get("spends") or ()
    ]
    return {
        "answer": "" if entry.shown else answer_of(entry),
        "rows": str(answer.get("rows") or ""),
        "interval": str(answer.get("meaning") or ""),
        "question": ", ".join(asked(entry)),
        "source": ", ".join(filter(None, [entry.source, entry.source_version])),
        "rows where": " and ".join((whole.get("arguments") or {}).get("where") or ()),
        "price": f"{amounts(entry)}{back} ({entry.neighbours} neighbours), for one "
        f"{totals.unit}: odds change by a factor of {odds(entry.epsilon)}"
        f"{apart(entry.delta)}",
        "group privacy": ""
        if entry.steps == 1
        else f"asked by rows, and charged for the {entry.steps} rows of one {totals.unit}",
        "zCDP": "" if totals.composition == "sum" else f"rho {entry.rho:.6g}",
        "declared public": "; ".join(map(str, whole.get("public") or ())),
        "error": _bound(entry, BOUND),
        "mechanism": entry.mechanism,
        "in steps": "\n".join(steps),
        "composition": str(whole.get("composition") or ""),
        "asked by": entry.analyst,
        "paid by": ", ".join(filter(None, [share, entry.period])),
        "note": entry.note,
        "recorded": f"{entry.time}, by dpselect {entry.version}",
    }


def listed(entries: Sequence[Entry]) -> dict[str, list[object]]:
    """Return releases as a table, a row for each."""
    rows = list(map(in_short, entries))
    return {head: [row[head] for row in rows] for head in rows[0]} if rows else {}


def in_short(entry: Entry) -> dict[str, object]:
    """Return a release in a line of a list, by the head of each column."""
    error = "" if entry.shown is None or "interval" not in (entry.answer or {}) else "interval"
    error = _bound(entry, SHORT_BOUND) or error
    back = f" - {entry.refunded:.6g}" if entry.refunded else ""
    delta = f", delta {entry.delta:.3g}" if entry.delta else ""
    return {
        "": entry.sequence,
        "released": _cut(title(entry)),
        "answer": _answer_in_short(entry),
        "epsilon": f"{entry.epsilon:.6g}{back}{delta}",
        "error": error,
        "asked by, when": ", ".join(filter(None, [entry.analyst, entry.time[:10]])),
    }


def _bound(entry: Entry, form: str) -> str:
    """Return the bound on the error of a release, with the digits that its plan prints."""
    bound: Any = entry.question.get("error_bound")
    if not bound:
        return ""
    shown = {"value": writing.digits(bound["value"]), "percent": 100 * bound["probability"]}
    return form.format(**bound | shown)


def title(entry: Entry) -> str:
    """Return what was released: the query, its column and its groups."""
    given: Mapping[str, Any] = cast("Any", entry.question.get("arguments")) or {}
    named = {"of": given.get("column"), "by": given.get("by"), "less": given.get("minus")}
    more = [f" {word} {value_text(one)}" for word, one in named.items() if one]
    name = _in_words(entry.question.get("query") or entry.mechanism or "spend")
    return f"{name}{''.join(more)}"


def _answer_in_short(entry: Entry) -> str:
    if entry.answer is None:
        return "none was kept"
    if entry.shown is None:
        return _cut(answer_of(entry))
    rows = [[*map(writing.as_text, one)] for one in zip(*entry.shown.values(), strict=True)]
    text = "; ".join(": ".join([first, *more]) for first, *more in rows) or "none"
    return text if len(text) <= SHORT else f"table of {len(rows)} rows"


def _cut(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 4]} ..."


def apart(delta: float) -> str:
    """Return what a delta takes off a promise."""
    if not delta:
        return ""
    return f", apart from a case of probability {delta:.3g} (delta) where nothing is promised"


def _in_words(query: object) -> str:
    """Return the title of a query in words, TopKeys as top keys."""
    found = _BOUNDARY.sub(" ", str(query)).split()
    # In small letters, but for one such as ID3.
    return " ".join(one if len(one) > 1 and one.isupper() else one.lower() for one in found)


def asked(entry: Entry) -> Iterator[str]:
    """Yield every field of the query of an entry with its value, unless there is none."""
    stated: Any = entry.question.get("written") or entry.question.get("arguments") or {}
    for name, value in stated.items():
        if name not in NO_FIELDS and value not in (None, False, [], ""):
            yield f"{name} = {value_text(writing.from_json(name, value))}"


def answer_of(entry: Entry) -> str:
    """Return the answer of an entry, in one paragraph."""
    if entry.answer is None:
        return (
            "none was kept: the program ended between spend and answer, or only the spend was "
            "recorded"
        )
    shown = dict(entry.answer)
    return value_text(shown["answer"] if {*shown} == {"answer"} else shown)


def value_text(value: object) -> str:
    """Return a plain value as a person would write it."""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, range):
        by = "" if value.step == 1 else f" in steps of {value.step}"
        return f"{value[0]} to {value[-1]}{by}" if value else "none"
    if isinstance(value, Mapping):
        stated = [f"{key}: {value_text(one)}" for key, one in value.items() if key != "name"]
        more = f"({', '.join(stated)})" if "name" in value and stated else ", ".join(stated)
        return f"{value.get('name', '')} {more}".strip()
    if isinstance(value, str) or not isinstance(value, Sequence):
        return str(writing.readable(value))
    if len(value) > MOST_LISTED:
        return str(writing.summary(value))
    return ", ".join(
        f"({value_text(one)})" if isinstance(one, list | tuple) else value_text(one)
        for one in value
    )


def odds(epsilon: float) -> str:
    """Return the factor by which the odds of a suspicion can change, in words."""
    if epsilon > log(LARGEST_FACTOR):
        return "more than a million (no meaningful protection)"
    return f"at most {float(f'{exp(epsilon):.3g}'):,g}"


def suspicion(epsilon: float, before: float) -> float:
    """Return the largest probability that a suspicion of probability ``before`` can get."""
    return before / (before + (1 - before) * exp(-epsilon))


def html(
    budget: Any,  # noqa: ANN401 -- a Budget
    *,
    name: str,
    first: str = "",
    whole: Mapping[int, str] | None = None,
) -> str:
    """Return the report of a budget; self-contained, without any script or address.

    The first page is for those who sign, on one sheet where there are few releases.

    Args:
        budget: The budget.
        name: What to call it, such as the name of its file.
        first: HTML of a page that comes before.
        whole: Files with the whole answer, by the number of the entry.
    """
    import hashlib  # which loads OpenSSL
    from importlib.resources import files

    entries, totals = budget.entries, budget.totals
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    digest = hashlib.sha256(budget.to_json().encode()).hexdigest()
    state = f"Made {made} by dpselect. State of the record (SHA-256 of its JSON): {digest}"
    share = 100 * budget.spent / totals.epsilon
    granted = facts(totals, budget.pots)
    del granted["odds"]  # which the promise says for a board
    body = [
        first,
        f"<h1>Privacy report: {escape(name)}</h1>",
        f'<div class="bar"><div style="width: {share:.1f}%"></div></div>',
        _facts(granted | _promise(budget) | _of_all(entries) | {"not covered": NOT_COVERED}),
        _table(listed(entries)) if entries else "<p>Nothing was released.</p>",
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


def long_tables(
    budget: Any,  # noqa: ANN401 -- a Budget
) -> dict[int, Mapping[str, Sequence[object]]]:
    """Return the answers that a report does not print whole, by the number of the entry."""
    found = {one.sequence: one.shown for one in budget.entries if one.shown}
    return {at: one for at, one in found.items() if _rows(one) > MOST_ROWS}


def _rows(table: Mapping[str, Sequence[object]]) -> int:
    return len(next(iter(table.values()), ()))


def _promise(budget: Any) -> dict[str, str]:  # noqa: ANN401 -- a Budget
    """Return what the budget promises, for a board."""
    totals = budget.totals

    def most(epsilon: float) -> str:
        return f"{ceil(1000 * suspicion(epsilon, 0.5)) / 10:g} %"

    period = f" of one {totals.period.length}" if totals.period is not None else ""
    said = {
        "promise": f"a suspicion of 50 % about {hidden(totals)} can become at most "
        f"{most(budget.spent)} by the releases below, and {most(totals.epsilon)} by all that "
        f"the budget allows{period}{apart(totals.delta)}"
    }
    if totals.neighbours is Neighbours.ADD_REMOVE:  # of which a replacement is two steps
        twice = totals.delta * (1 + exp(min(totals.epsilon, LARGEST_EXPONENT)))
        said["if it is there"] = (
            f"the odds of two values of one {totals.unit} that is known to be there change by "
            f"a factor of {odds(2 * totals.epsilon)}"
            f"{apart(min(1.0, twice))}"
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
    marks = [
        ' class="number"' if writing.holds_numbers(one) else "" for one in columns.values()
    ]
    rows = zip(*(one[:MOST_ROWS] for one in columns.values()), strict=True)
    body = "".join(_row("td", marks, one) for one in rows)
    return f"<table><thead>{_row('th', marks, columns)}</thead>{body}</table>"


def _row(tag: str, marks: Iterable[str], cells: Iterable[object]) -> str:
    pairs = zip(marks, cells, strict=True)
    inside = (f"<{tag}{mark}>{escape(writing.as_text(one))}</{tag}>" for mark, one in pairs)
    return f"<tr>{''.join(inside)}</tr>"


def _release(entry: Entry, totals: Totals, file: str | None) -> str:
    name = title(entry)
    parts = [f"<h3>{entry.sequence}. {escape(name[:1].upper() + name[1:])}</h3>"]
    if entry.shown:
        parts.append(_table(entry.shown))
        if (more := _rows(entry.shown) - MOST_ROWS) > 0:
            parts.append(f"<p>{more} more rows are in {escape(file or 'the ledger')}.</p>")
    parts.append(_facts(facts_of(entry, totals)))
    return f'<section class="release">{"".join(parts)}</section>'


def _facts(known: Mapping[str, str]) -> str:
    rows = (
        f"<dt>{escape(name)}</dt><dd>{escape(one)}</dd>" for name, one in known.items() if one
    )
    return f"<dl>{''.join(rows)}</dl>"
