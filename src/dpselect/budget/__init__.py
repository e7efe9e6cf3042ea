"""Budgets: totals of epsilon and delta, and the spends recorded against them.

A ``Budget`` is charged *before* a draw. It composes the costs of earlier releases by a privacy
filter (``filter``), refuses a spend that does not fit, and records one that does, in memory or
in a ledger file that survives a crash.
"""

from dpselect.budget.accountant import Budget
from dpselect.budget.entry import Entry
from dpselect.budget.totals import Period, Persons

__all__ = ["Budget", "Entry", "Period", "Persons"]


def __dir__() -> list[str]:
    return sorted(__all__)
