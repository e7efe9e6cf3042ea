"""What tests anybody's objective, and anybody's release.

``check_admissible`` compares a sensitivity with its definition, and ``check_private`` an exact
distribution with its epsilon, on a small universe of databases. ``replay`` compares a release
with its plan on two neighbouring databases, and ``check_spends_first`` with its budget.
``pytest --pyargs dpselect_conformance --cases MODULE`` holds the queries of the ``ReleaseCase``
objects of a module to the contract. All take synthetic databases and may show them in their
reports; never give them private data.
"""

from dpselect.extend import attach

# The names are listed in __init__.pyi.
__getattr__, __dir__, __all__ = attach(__name__)
