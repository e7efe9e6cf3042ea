"""What is imported when it is used: names of our packages, and other packages.

The names of a package are listed once, in its stub ``__init__.pyi``, which type checkers and
editors read too. The stub is read by the package's own loader, so that a package in a zip
archive, as Spark sends it, works as well.

``np``, ``nw`` and ``pl`` are NumPy, narwhals and polars, imported when a name of them is first
used: they take long to import, a plan may need none of them, and polars may not be installed.
Functions that Numba compiles need NumPy itself.
``Axes`` are those of matplotlib, for type checkers alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from pkgutil import get_data
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

__all__ = [
    "Axes",
    "attach",
    "needed",
    "new_axes",
    "np",
    "nw",
    "pl",
    "silent",
    "stated",
    "version",
]


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Args:
        package: Its full name. In the stub all imports are ``from .module import name as name``
            or ``from . import module as module``; or of a package that may not be installed,
            ``from other_package import name as name``.
    """
    stub = ast.parse(get_data(package, "__init__.pyi") or b"")
    homes = {
        name.name: f"{package}.{one.module or ''}".rstrip(".") if one.level else str(one.module)
        for one in stub.body
        if isinstance(one, ast.ImportFrom)
        for name in one.names
    }

    def look_up(name: str) -> Any:  # noqa: ANN401 -- the modules' own names have types
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if home == package:
            return import_module(f"{package}.{name}")
        try:
            module = import_module(home)
        except ModuleNotFoundError as error:
            if error.name != home or home.startswith(f"{package}."):
                raise
            from dpselect.errors import not_installed

            raise not_installed(f"{package}.{name}", home) from None
        value = (
            getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")
        )
        # Kept, so that later accesses do not come back to this function.
        setattr(sys.modules[package], name, value)
        return value

    return look_up, lambda: sorted(homes), sorted(homes)


@cache
def version() -> str:
    """Return the version of dpselect; its files may have been sent without being installed."""
    from importlib.metadata import PackageNotFoundError, version as installed

    try:
        return installed("dpselect")
    except PackageNotFoundError:
        return "unknown: dpselect is not installed"


@cache
def stated(group: str) -> dict[str, EntryPoint]:
    """Return what the packages that are installed state for a group, by name."""
    from importlib.metadata import entry_points

    return dict(sorted((one.name, one) for one in entry_points(group=group)))


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
        if error.name not in {package, module}:
            raise
        from dpselect.errors import MissingDependencyError

        raise MissingDependencyError(
            f"this needs {module}, which is not installed: pip install 'dpselect[{extra}]', "
            f"or '.[{extra}]' in a clone"
        ) from None


def _deferred(package: str) -> ModuleType:
    """Return a package that is imported when a name of it is used."""
    module = ModuleType(
        package
    )  # no class of ours, in which looking up takes three times as long

    def look_up(name: str) -> Any:  # noqa: ANN401 -- of any package
        value = getattr(needed(package, extra="standard"), name)
        setattr(module, name, value)  # later uses do not come back to this function
        return value

    vars(module)["__getattr__"] = look_up
    return module


if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import narwhals as nw
    import numpy as np
    import polars as pl
    from matplotlib.axes import Axes
else:
    np, nw, pl = map(_deferred, ("numpy", "narwhals", "polars"))
    Axes = Any


P = ParamSpec("P")
Output = TypeVar("Output")


def silent(function: Callable[P, Output]) -> Callable[P, Output]:
    """Return a function in which NumPy warns of nothing: that it does may tell of the data."""
    made = cache(lambda: np.errstate(all="ignore")(function))

    @wraps(function)
    def quiet(*args: P.args, **given: P.kwargs) -> Output:
        return made()(*args, **given)

    return quiet


def new_axes(size: tuple[float, float] | None = None) -> Axes:
    """Return the axes of a new figure, which notebooks show; its size is in inches."""
    needed("matplotlib", extra="standard")
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]
