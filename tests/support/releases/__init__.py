"""Every query of the library, with data to release from, for contract tests.

Each module of this folder lists the ``ReleaseCase`` of one room as ``CASES``, and so do
packages that are installed.
"""

from importlib import import_module
from pkgutil import iter_modules

from support.packages import brought


def all_cases():
    """Return the cases of every room."""
    rooms = [import_module(f"{__name__}.{room.name}") for room in iter_modules(__path__)]
    every = [*rooms, *brought("releases").values()]
    return [case for module in every for case in module.CASES]
