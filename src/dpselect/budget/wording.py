"""Entries and guarantees in words, for those who approve a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from dpselect.budget.entry import Entry
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

LARGEST_FACTOR = 1e6
"""Odds that grow by more are written as such, without digits."""


def question(function: object, arguments: object, source: str = "") -> str:
    """Return what was asked: the function in words, the file, and the public arguments."""
    name = str(function).removeprefix("release_").removeprefix("draw_").replace("_", " ")
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
    if not entry.asked:
        return entry.mechanism or "not stated"
    return question(entry.asked.get("function"), entry.asked.get("arguments"), entry.source)


def protected_by(entry: Entry) -> str:
    """Return what an entry hides: a record, or all records of a person."""
    given = entry.asked.get("arguments")
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
        return ", ".join(f"{name}: {value_text(one)}" for name, one in value.items())
    if isinstance(value, Sequence):
        return ", ".join(
            f"({value_text(one)})" if isinstance(one, list | tuple) else value_text(one)
            for one in value
        )
    return str(value)


def odds(epsilon: float) -> str:
    """Return the factor by which the odds of a suspicion can change, in words."""
    if epsilon > log(LARGEST_FACTOR):
        return "more than a million, which is hardly a protection"
    return f"{exp(epsilon):.3g}"


def suspicion(epsilon: float, before: float) -> float:
    """Return the largest probability that a suspicion of probability ``before`` can get."""
    return before / (before + (1 - before) * exp(-epsilon))
