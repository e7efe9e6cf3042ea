"""Budgets: totals of epsilon and delta, and the spends recorded against them.

A :class:`Budget` is charged *before* a draw. It composes the costs of earlier releases by a
privacy filter (:mod:`~dpselect.budget.filter`), refuses a spend that does not fit, and
records one that does, in memory or in a ledger file that survives a crash.
"""

from dpselect.budget.accountant import Budget
from dpselect.budget.entry import Entry

__all__ = ["Budget", "Entry"]


def __dir__() -> list[str]:
    return sorted(__all__)
