"""Other packages: their import, their version and their errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import (
    EntryPoint,
    PackageNotFoundError,
    entry_points,
    version as installed,
)
from types import ModuleType
from typing import TypeVar

from dpselect.errors import DPSelectError, MissingDependencyError

T = TypeVar("T")


@cache
def version() -> str:
    """Return the version of dpselect; its files may have been sent without being installed."""
    try:
        return installed("dpselect")
    except PackageNotFoundError:
        return "unknown: dpselect is not installed"


__version__ = version()


@cache
def stated(group: str) -> dict[str, EntryPoint]:
    """Return what the packages that are installed state for a group, by name."""
    return {
        one.name: one for one in sorted(entry_points(group=group), key=lambda one: one.name)
    }


def needed(module: str, *, extra: str) -> ModuleType:
    """Return a module of an optional package, imported.

    Args:
        module: Full name of the module, such as ``"polars"`` or ``"matplotlib.figure"``.
        extra: The extra of dpselect that installs it, such as ``"standard"``.

    Raises:
        MissingDependencyError: The package is not installed. A package that is installed but
            fails to import one of its own dependencies raises its own error.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingDependencyError(
            f"this needs {package}, which is not installed: pip install 'dpselect[{extra}]', "
            f"or '.[{extra}]' in a clone"
        ) from None


def of_an_engine(raised: BaseException) -> bool:
    """Return whether an engine may have raised it: a panic of polars is no Exception."""
    return isinstance(raised, Exception) or type(raised).__name__ == "PanicException"


def replaced(compute: Callable[[], T], refusal: Callable[[], DPSelectError]) -> T:
    """Return what a function returns, or raise another error in place of any but ours.

    Engines and NumPy quote values in their messages. ``raise ... from None`` hides such an
    error from tracebacks but keeps it as ``__context__``, which reporters of crashes send away;
    one that is raised after the first was dealt with has no context.

    Args:
        compute: The function, which may raise anything.
        refusal: Returns the error to raise.
    """
    try:
        return compute()
    except DPSelectError:
        raise
    except BaseException as raised:  # every engine has its own, and each may quote values
        if not of_an_engine(raised):
            raise
        error = refusal()
    raise error
