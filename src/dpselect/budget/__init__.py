"""Budgets: totals of epsilon and delta, and the spends recorded against them.

A :class:`Budget` is charged *before* a draw. It composes the costs of earlier releases by a
privacy filter (:mod:`~dpselect.budget.filter`), refuses a spend that does not fit, and
records one that does, in memory or in a ledger file that survives a crash.
"""

from dpselect._help import clean_room
from dpselect.budget.accountant import Budget
from dpselect.budget.entry import Entry
from dpselect.budget.totals import Period, Persons

__all__ = ["Budget", "Entry", "Period", "Persons"]

clean_room(__name__)


def __dir__() -> list[str]:
    return sorted(__all__)
