"""Just-in-time compilation of kernels: the one place that imports numba's decorator.

A kernel is compiled at its first call and cached on disk. It releases the interpreter lock,
and a division by zero gives an infinity or NaN, as in NumPy, instead of an exception: whether
an exception is raised must not depend on private values.

In a kernel ``x.fill(0)`` and loops are compiled quickly, ``x[:n] = y`` and ``np.argsort`` in
three to five seconds each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

compiled: Callable[[Function], Function] = njit(cache=True, nogil=True, error_model="numpy")
