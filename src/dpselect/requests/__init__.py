"""Requests and policies: files that say what is asked of a table, and what may be.

A ``Request`` is a file that others read before it is run: the table, the unit, the ledger and
all queries by their fields. A ``Policy`` says what requests of a table must stay within; what
they leave out it fills in.
"""

from dpselect.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
