"""Import of optional packages, with an error that names the extra to install."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from dpselect.errors import MissingDependencyError


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
            f"this needs {package}, which is not installed: pip install 'dpselect[{extra}]'"
        ) from None
