"""Budgets: totals of epsilon and delta, and the spends recorded against them.

A ``Budget`` is charged *before* a draw. It composes the costs of earlier releases by a privacy
filter (``totals``), refuses a spend that does not fit, and records one that does, in memory or
in a ledger file that survives a crash.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
