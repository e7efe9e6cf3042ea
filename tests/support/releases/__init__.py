"""Every query of the library, with data to release from, for contract tests.

Each module of this folder lists the ``ReleaseCase`` of one room as ``CASES``, and so do
packages that are installed.
"""

from importlib import import_module
from pkgutil import iter_modules

from dpselect.errors import ParameterError
from support.packages import brought


def can_be_written(query):
    """Return whether no field is a function or an object of one's own."""
    try:
        query.to_dict()
    except ParameterError as error:
        assert "cannot be written down" in str(error)  # noqa: PT017 -- not what is tested
        return False
    return True


def all_cases():
    """Return the cases of every room."""
    rooms = [import_module(f"{__name__}.{room.name}") for room in iter_modules(__path__)]
    every = [*rooms, *brought("releases").values()]
    return [case for module in every for case in module.CASES]
