"""Every query of the library, with data to release from, for contract tests.

Each module of this folder lists the ``ReleaseCase`` of one room as ``CASES``.
"""

from importlib import import_module
from pkgutil import iter_modules


def all_cases():
    """Return the cases of every room."""
    rooms = [module.name for module in iter_modules(__path__)]
    return [case for room in rooms for case in import_module(f"{__name__}.{room}").CASES]
