"""What the library offers: its rooms, their public names, and its queries."""

import inspect
from functools import cache
from importlib import import_module
from pathlib import Path

import dpselect as dp
from dpselect.query import Query

SOURCE = Path(dp.__file__).parent
ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
ROOMS = [*(room for room in ROOMS if room not in {"cli", "extend"}), "errors"]
"""The folders of the package, whose names a user imports; not of a program, or extension."""


OURS = {"dpselect", "dpselect_applications", "dpselect_planner"}
"""The packages whose queries the library offers as its own."""


@cache
def every_name():
    """Return every public name of the package and its rooms with what it stands for."""
    found = {}
    for room in ROOMS:
        module = import_module(f"dpselect.{room}")
        found |= {f"{room}.{name}": getattr(module, name) for name in module.__all__}
    own = sorted(set(dp.__all__) - {*ROOMS, "__version__"})
    return found | {name: getattr(dp, name) for name in own if hasattr(dp, name)}


@cache
def every_query():
    """Return every class of queries of the library, once all that is public was imported."""
    every_name()
    ours = [one for one in Query.kinds.values() if one.__module__.partition(".")[0] in OURS]
    return sorted(ours, key=lambda kind: kind.__name__)


def functions():
    """Return every public function by its name."""
    return {name: found for name, found in every_name().items() if inspect.isfunction(found)}


def classes():
    """Return every public class by its name."""
    return {name: found for name, found in every_name().items() if inspect.isclass(found)}
