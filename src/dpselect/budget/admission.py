"""From the arguments of spends to entries: checked once, decided on the state of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, NamedTuple

from dpselect._optional import version
from dpselect.budget import filter as stopping, lists
from dpselect.budget.entry import Cost, Entry, Sums, cost
from dpselect.budget.group import grouped
from dpselect.budget.origin import Asked, Origin
from dpselect.budget.store import State
from dpselect.budget.totals import Totals, part
from dpselect.errors import InsufficientBudgetError


class Checked(NamedTuple):
    """A spend that goes with the totals, whether it fits or not."""

    cost: Cost
    facts: dict[str, Any]
    """Other fields of the entry."""


def checked(
    asked: Asked, totals: Totals, origin: Origin, files: dict[str, str] | None
) -> Checked:
    """Return a spend that is made for what the totals protect.

    Args:
        asked: The arguments of the spend.
        totals: What is granted.
        origin: Who asks.
        files: Where long lists of the question are put; None if the entry keeps them whole.

    Raises:
        ParameterError: An argument is out of its range.
        NeighboursError: It protects another relation or unit.
    """
    user = origin.user if asked.user is None else asked.user
    steps = totals.steps(asked.neighbours, user)
    new = cost(asked.epsilon, asked.delta, asked.rho, asked.laplace_rounds)
    facts = asked.stated(origin)
    if files is not None:
        facts["question"] = lists.folded(facts["question"], files)
    facts |= {"neighbours": totals.neighbours, "version": version()}
    return Checked(grouped(new, steps), facts)


def decided(
    asked: Sequence[Checked], totals: Totals, analyst: str, state: State
) -> list[tuple[Entry, Sums]]:
    """Admit spends, add them to the state, and return their entries with the sums.

    Raises:
        InsufficientBudgetError: They do not fit together.
    """
    time, share = now(), totals.share_of(analyst)
    period = period_at(time, totals, state)
    granted, made = part(totals, share), []
    for new, facts in asked:
        try:
            sums = stopping.admit(granted, state.sums(period, share), new)
        except InsufficientBudgetError as error:
            raise error.adding(_of(totals, share, period)) from None
        place = {"sequence": state.number + 1, "time": time, "period": period, "share": share}
        entry = Entry(**asdict(new), **{**facts, **place})
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
