"""Threads for compiled kernels, which release the interpreter lock.

Every piece of work writes only to its own places of the result, so no result depends on the
number of threads or on the order in which they finish.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


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
