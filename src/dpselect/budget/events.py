"""Spends as events of ``dp_accounting``."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from dpselect._optional import needed
from dpselect.budget import zcdp
from dpselect.budget.store import Entries
from dpselect.errors import BudgetError

if TYPE_CHECKING:
    import dp_accounting


def composed(entries: Entries, *, delta: float) -> dp_accounting.ComposedDpEvent:
    """Return entries as one event; see :meth:`Budget.to_dp_events`.

    Args:
        entries: The spends.
        delta: Total delta of their budget.

    Raises:
        MissingDependencyError: ``dp_accounting`` is not installed.
        BudgetError: A spend has a delta of its own, for which it has no event.
    """
    needed("dp_accounting", extra="accounting")
    import dp_accounting

    # One event each: the PLD accountant of dp_accounting 0.6 takes a SelfComposedDpEvent of
    # randomised responses for a single one.
    events: list[dp_accounting.DpEvent] = []
    for entry in entries:
        if entry.delta > 0:
            raise BudgetError(
                f"dp_accounting has no event for entry {entry.sequence}, which has a delta of "
                "its own"
            )
        if delta > 0 and entry.laplace_rounds > 0:
            each = entry.epsilon / entry.laplace_rounds
            # Integer noise of 2^21 steps and more costs the last term (Theorem 3).
            each *= 1 + zcdp.SLACK + each * 2.0**-44
            events += [dp_accounting.LaplaceDpEvent(1 / each)] * entry.laplace_rounds
        elif delta > 0 and entry.rho < zcdp.rho_of_pure(entry.epsilon):
            events.append(dp_accounting.ZCDpEvent(entry.rho))
        else:
            noise = _noise_parameter(entry.epsilon)
            events.append(dp_accounting.RandomizedResponseDpEvent(noise, num_buckets=2))
    return dp_accounting.ComposedDpEvent(events)


def _noise_parameter(epsilon: float) -> float:
    # Two buckets, one of them drawn at random with probability p: the odds of the true one
    # are (1 - p/2) / (p/2) = e^epsilon. Less noise than that is the safe side of rounding.
    return 2 * exp(-epsilon) / (1 + exp(-epsilon)) * (1 - zcdp.SLACK)
