"""Compiled kernels, and the threads that run them: the one place that imports numba.

A kernel is compiled at its first call and cached on disk, and numba, which takes a while, is
imported then. It releases the interpreter lock, and a division by zero gives an infinity or
NaN, as in NumPy, instead of an exception: whether an exception is raised must not depend on
private values.

In a kernel ``x.fill(0)`` and loops are compiled quickly, ``x[:n] = y`` and ``np.argsort`` in
three to five seconds each.

Every piece of work of a thread writes only to its own places of the result, so no result
depends on the number of threads or on the order in which they finish.
"""

import os
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


def processors() -> int:
    """Return how many processors this process may use; a container may have fewer than all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each_piece(work: Callable[[int], object], pieces: int) -> None:
    """Call ``work(piece)`` for every piece, on all processors."""
    threads = min(processors(), pieces)
    if threads <= 1:
        # A thread takes longer to start than a few rows to count.
        for piece in range(pieces):
            work(piece)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(pieces)):
            pass


def each_stride(work: Callable[[int, int], object], size: int, *, least: int = 256) -> None:
    """Call ``work(first, step)`` so that ``range(first, size, step)`` cover ``range(size)``.

    Args:
        work: Called once for every thread.
        size: How many items there are.
        least: Items that are worth a thread.
    """
    step = max(1, min(processors(), size // least))
    each_piece(lambda first: work(first, step), step)
