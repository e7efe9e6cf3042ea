"""What an application outside of dpselect is made of, beside what the rooms offer.

A package imports the rooms, such as ``dpselect.keys``, and this module alone. Its commands and
queries are entry points of the groups ``dpselect.commands`` and ``dpselect.queries``.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
