"""A budget, its questions and its answers in words, for pages and terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import exp, log

from dpselect import writing
from dpselect.budget import lists
from dpselect.budget.entry import Entry
from dpselect.budget.filter import Pot
from dpselect.budget.totals import Period, Totals
from dpselect.neighbours import Neighbours

HIDDEN = {
    Neighbours.ADD_REMOVE: "whether one {unit} is in the data at all",
    Neighbours.SUBSTITUTE: "what one {unit} of the data says",
    Neighbours.EDGE: "whether one connection between two nodes is in the network",
    Neighbours.SWAP: "which of two people belongs to the subset",
}
"""Facts about records that each neighbour relation hides."""

HIDDEN_OF_PERSONS = {
    Neighbours.ADD_REMOVE: "whether one {unit} with all rows is in the data at all",
    Neighbours.SUBSTITUTE: "what all rows of one {unit} say",
}
"""Facts about persons that those of tables hide."""

COMPOSITIONS = {
    "sum": "epsilons and deltas add up",
    "zcdp": "zCDP composes, with all of delta",
    "either": "the cheaper of the sum and of zCDP, with half of delta each",
}
"""Composition, in words."""

PERIODS = {
    "each-period": (
        "Protected is what one {unit} has in one {length}: who has data in n {length}s is "
        "protected by n times the totals."
    ),
    "one-period": "Declared public is that all data of one {unit} lie in one {length}.",
}
"""Conditions for a renewal."""

_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Between the words of a name such as TopKeys."""

LARGEST_FACTOR = 1e6
"""Odds that grow by more are written as such, without digits."""

MOST_LISTED = 1_000
"""Values of a list that are written one by one."""


def hidden(totals: Totals) -> str:
    """Return what the guarantee of a budget hides."""
    return hidden_by(totals.neighbours, totals.unit, persons=totals.persons is not None)


def hidden_by(neighbours: Neighbours, unit: str, *, persons: bool) -> str:
    """Return what a guarantee hides of one unit, which is a person with all rows or not."""
    known = HIDDEN_OF_PERSONS if persons else HIDDEN
    return known[neighbours].format(unit=unit)


def protected(totals: Totals) -> str:
    """Return what a budget protects, and what is said of its persons."""
    rows = None if totals.persons is None else totals.persons.rows
    most = "" if rows is None else f"; declared public: at most {rows} rows each"
    return f"{hidden(totals)} ({totals.neighbours}){most}"


def granted(totals: Totals) -> str:
    """Return epsilon, delta and how long they last."""
    delta = f", delta {totals.delta:.3g}" if totals.delta else ""
    each = "" if totals.period is None else f" in each {totals.period.length}"
    return f"epsilon {totals.epsilon:g}{delta}{each}"


def pot(of: Pot) -> str:
    """Return what a share has."""
    delta = f", delta {of.delta:.3g}" if of.delta else ""
    return f"epsilon {of.epsilon:g}{delta}: spent {of.spent:.6g}, {of.remaining:.6g} is left"


def renewal(period: Period, totals: Totals) -> str:
    """Return how a budget is granted anew, and what makes that honest."""
    said = PERIODS[period.unit].format(unit=totals.unit, length=period.length)
    return (
        f"The totals are granted anew with each {period.length} of UTC, for the data of that "
        f"{period.length} alone. {said}"
    )


def question(query: object, arguments: object, source: str = "") -> str:
    """Return a question: the query in words, the file, and the public arguments."""
    name = " ".join(map(_word, _BOUNDARY.sub(" ", str(query)).split()))
    of = f"{name} of {source}" if source else name
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    if where := given.pop("where", None):
        of = f"{of} where {' and '.join(map(str, where))}"
    stated = [
        f"{key} = {value_text(one)}" for key, one in given.items() if one not in (None, [])
    ]
    return f"{of}: {', '.join(stated)}" if stated else of


def _word(word: str) -> str:
    """Return a word of a name in small letters, but one such as ID3."""
    return word if len(word) > 1 and word.isupper() else word.lower()


def question_of(entry: Entry) -> str:
    """Return what an entry says was asked, or its mechanism where it says no more."""
    if not entry.question:
        return entry.mechanism or "not stated"
    return question(entry.question.get("query"), entry.question.get("arguments"), entry.source)


def whole_question(entry: Entry) -> Iterator[str]:
    """Yield every field of the query of an entry with its value, as it was given."""
    asked = entry.question.get("written")
    for name, value in asked.items() if isinstance(asked, Mapping) else ():
        if name not in {"dpselect", "query"}:
            kept = writing.from_json(name, lists.folded(value, {}, most=MOST_LISTED))
            yield f"{name} = {value_text(writing.readable(kept))}"


def answer_of(entry: Entry) -> str:
    """Return the answer of an entry, in one paragraph."""
    if entry.answer is None:
        return "none was kept"
    shown = lists.folded(dict(entry.answer), {}, most=MOST_LISTED)
    if set(shown) == {"answer"}:
        return value_text(shown["answer"])
    return "; ".join(
        value_text(one) if name == "answer" else f"{name.replace('_', ' ')}: {value_text(one)}"
        for name, one in shown.items()
        if one is not None
    )


def value_text(value: object) -> str:
    """Return a plain value as a person would write it."""
    if isinstance(value, float):
        return f"{value:.10g}"
    if lists.is_folded(value):
        ends = " to ".join(value_text(value[end]) for end in ("first", "last"))
        digest = f"SHA-256 of their JSON {value['sha256']}"
        return f"{value['count']} values from {ends} ({digest})"
    if isinstance(value, range):
        by = "" if value.step == 1 else f" in steps of {value.step}"
        return f"{value[0]} to {value[-1]}{by}" if value else "none"
    if isinstance(value, Mapping):
        stated = [f"{key}: {value_text(one)}" for key, one in value.items() if key != "name"]
        more = f"({', '.join(stated)})" if "name" in value and stated else ", ".join(stated)
        return f"{value.get('name', '')} {more}".strip()
    if isinstance(value, str) or not isinstance(value, Sequence):
        return str(value)
    return ", ".join(
        f"({value_text(one)})" if isinstance(one, list | tuple) else value_text(one)
        for one in value
    )


def odds(epsilon: float) -> str:
    """Return the factor by which the odds of a suspicion can change, in words."""
    if epsilon > log(LARGEST_FACTOR):
        return "more than a million (no meaningful protection)"
    return f"{exp(epsilon):.3g}"


def suspicion(epsilon: float, before: float) -> float:
    """Return the largest probability that a suspicion of probability ``before`` can get."""
    return before / (before + (1 - before) * exp(-epsilon))
