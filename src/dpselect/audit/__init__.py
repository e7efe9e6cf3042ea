"""Checks of privacy claims of one's own, by the package dpselect-conformance.

``check_admissible`` compares a sensitivity with its definition, and ``check_private`` an exact
distribution with its epsilon, by enumeration of small universes of databases; ``replay``
compares a release with its plan on two neighbouring databases, and ``check_spends_first`` with
its budget. All take synthetic databases and may show them in their reports; never give them
private data.
"""

from dpselect._optional import attach

# The names are listed in __init__.pyi.
__getattr__, __dir__, __all__ = attach(__name__)
