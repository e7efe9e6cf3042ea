"""Checks of privacy claims by enumeration of small universes of databases.

``check_admissible`` compares a sensitivity with its definition, and ``check_private`` an exact
distribution with its epsilon. The package dpselect-conformance adds ``replay``, which compares
a release with its plan on two neighbouring databases, and ``check_spends_first``. All take
synthetic databases and may show them in their reports; never give them private data.
"""

from dpselect.lazy import attach

# The names are listed in __init__.pyi.
__getattr__, __dir__, __all__ = attach(__name__)
