"""From the arguments of spends to entries: checked once, decided on the state of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from dpselect._optional import version
from dpselect.budget import filter as stopping
from dpselect.budget.entry import Entry, Question, priced
from dpselect.budget.filter import Sums
from dpselect.budget.group import grouped
from dpselect.budget.origin import Origin, text
from dpselect.budget.store import State
from dpselect.budget.totals import Totals, part
from dpselect.errors import InsufficientBudgetError
from dpselect.neighbours import NeighboursLike
from dpselect.writing import strict


def asked(  # noqa: PLR0913 -- the arguments of a spend
    totals: Totals,
    origin: Origin,
    *,
    epsilon: float,
    neighbours: NeighboursLike,
    delta: float = 0.0,
    rho: float | None = None,
    user: str | None = None,
    mechanism: str = "",
    note: str = "",
    laplace_rounds: int = 0,
    question: Mapping[str, object] | Callable[[], Mapping[str, object]] | None = None,
    repeatable: bool = False,
) -> Entry:
    """Return the entry of a spend that goes with the totals, whether it fits or not.

    The keywords are the arguments of ``dpselect.Budget.spend_all``. Nothing of the question is
    written down before somebody reads it.

    Raises:
        ParameterError: An argument is out of its range.
        NeighboursError: It protects another relation or unit.
    """
    steps = totals.steps(neighbours, origin.user if user is None else user)
    alone = priced(epsilon, delta, rho, laplace_rounds, neighbours=totals.neighbours)
    price = grouped(alone, steps)

    def written() -> Mapping[str, object]:
        found = question() if callable(question) else question
        return origin.stated(strict(found or {}))

    whole = Question(written)
    return replace(
        price,
        mechanism=text("mechanism", mechanism),
        question=whole,
        note=text("note", note) or origin.note,
        source=origin.source,
        source_version=origin.version,
        analyst=origin.analyst,
        key=origin.key(whole.get("written")) if repeatable and origin.source else "",
        version=version(),
    )


class Decision(NamedTuple):
    """Sums of the spends of a share that were admitted in a period."""

    period: str
    before: Sums
    after: tuple[Sums, ...]


def decided(
    spends: Sequence[Entry],
    totals: Totals,
    share: str,
    state: State,
    known: Decision | None = None,
) -> Decision:
    """Admit spends to a share.

    Args:
        spends: What ``asked`` returned.
        totals: What is granted.
        share: Which share pays.
        state: The state of the store; it is not changed.
        known: An earlier decision on them, which stands if nothing was spent in between.

    Raises:
        InsufficientBudgetError: They do not fit together.
    """
    period = period_at(now(), totals, state)
    before = sums = state.sums(period, share)
    if known is not None and known[:2] == (period, before):
        return known
    granted, after = part(totals, share), []
    for new in spends:
        try:
            sums = stopping.admit(granted, sums, new)
        except InsufficientBudgetError as error:
            raise error.adding(_of(totals, share, period)) from None
        after.append(sums)
    return Decision(period, before, tuple(after))


def entries_of(
    spends: Sequence[Entry], share: str, decision: Decision, state: State
) -> list[tuple[Entry, Sums]]:
    """Add admitted spends to the state, and return their entries with the sums."""
    time, made = now(), []
    for new, sums in zip(spends, decision.after, strict=True):
        entry = replace(
            new, sequence=state.number + 1, time=time, period=decision.period, share=share
        )
        state.add(entry, sums)
        made.append((entry, sums))
    return made


def _of(totals: Totals, share: str, period: str) -> str:
    """Return whose totals did not suffice, where they are not those of all."""
    whose = f"the share of {share}" if share else "what is in nobody's share"
    terms = [whose if totals.shares else "", f"in {period}" if period else ""]
    return f" ({' '.join(filter(None, terms))})" if any(terms) else ""


def period_now(totals: Totals, state: State) -> str:
    """Return the period that a spend would be charged to now."""
    return period_at(now(), totals, state)


def period_at(time: str, totals: Totals, state: State) -> str:
    """Return the period that a spend is charged to, which is never an earlier one."""
    return "" if totals.period is None else max(totals.period.at(time), state.period)


def now() -> str:
    """Return the time, as entries have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
