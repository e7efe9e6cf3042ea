"""What tests a release of anybody's: replays, spends, and the contract of every query.

``replay`` compares a release with its plan on two neighbouring databases, and
``check_spends_first`` with its budget. ``pytest --pyargs dpselect_conformance --cases MODULE``
holds the queries of the ``ReleaseCase`` objects of a module to the contract. They take
synthetic databases and may show them in their reports; never give them private data.
"""

from dpselect.extend import attach

# The names are listed in __init__.pyi.
__getattr__, __dir__, __all__ = attach(__name__)
