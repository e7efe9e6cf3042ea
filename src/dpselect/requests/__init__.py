"""Requests and policies: files with the queries of a table, and with their limits.

A ``Request`` is a file that others can review before it is run: the table, the unit, the ledger
and all queries by their fields. A ``Policy`` limits the requests of a table, and fills in what
they leave out.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
