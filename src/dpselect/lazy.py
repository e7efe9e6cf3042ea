"""Lazily imported names of a package.

They are listed once, in the package's stub ``__init__.pyi``, which type checkers and editors
read too. The stub is read by the package's own loader, so that a package in a zip archive, as
Spark sends it, works as well.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pkgutil import get_data
from typing import Any


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
