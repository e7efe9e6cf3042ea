"""Just-in-time compilation of kernels: the one place that imports numba's decorator.

A kernel is compiled at its first call and cached on disk, and numba, which takes a while, is
imported then. It releases the interpreter lock,
and a division by zero gives an infinity or NaN, as in NumPy, instead of an exception: whether
an exception is raised must not depend on private values.

In a kernel ``x.fill(0)`` and loops are compiled quickly, ``x[:n] = y`` and ``np.argsort`` in
three to five seconds each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class _Kernel:
    """A kernel until it is called, when those that its module has are given to numba."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        update_wrapper(self, function)

    def __call__(self, *arguments: object) -> object:
        from numba import njit

        module = vars(sys.modules[self.function.__module__])
        for name, one in list(module.items()):
            if isinstance(one, _Kernel):
                make = njit(cache=True, nogil=True, error_model="numpy")
                module[name] = make(one.function)
        return module[self.function.__name__](*arguments)


def compiled(function: Function) -> Function:
    """Return a function as a kernel."""
    return _Kernel(function)  # type: ignore[return-value]
