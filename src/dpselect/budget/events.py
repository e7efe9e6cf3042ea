"""Spends as events of ``dp_accounting``.

Every pure release is randomised response with two buckets and the same epsilon, followed by
steps that do not see the data (Kairouz, Oh & Viswanath 2015, arXiv:1311.0776). In a budget with
``delta > 0`` a spend whose entry states rounds that the Laplace mechanism dominates is as many
``LaplaceDpEvent``, the exact trade-off curve of permute-and-flip; another spend with a better
rho than that of randomised response is a ``ZCDpEvent``, which only the RDP accountant takes.

Create the accountant with ``NeighboringRelation.REPLACE_ONE`` whatever the budget's relation
is: that pair of the two buckets stands for our neighbours. The PLD accountant takes a
``LaplaceDpEvent`` with ``ADD_OR_REMOVE_ONE`` alone, and so only a budget in which all spends
are such; never use ``REPLACE_SPECIAL``, for which randomised response is another pair.
"""

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
    """Return entries as one event.

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
