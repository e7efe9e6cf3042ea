"""What has been spent of epsilon, and whether the next release still fits.

A :class:`Budget` is asked *before* a draw. It adds up what earlier releases cost by a
privacy filter (:mod:`~dpselect.budget.filter`), refuses a spend that does not fit, and
writes down one that does, in memory or in a ledger file that survives a crash.
"""

from dpselect.budget.accountant import Budget
from dpselect.budget.entry import Entry

__all__ = ["Budget", "Entry"]
