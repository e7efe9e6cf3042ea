"""Threads for compiled kernels, which release the interpreter lock.

Every piece of work writes only to its own places of the result, so no result depends on the
number of threads or on the order in which they finish.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the work done and the whole work, in the same unit; both are public."""


def processors() -> int:
    """Return how many processors this process may use; a container may have fewer than all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each_piece(
    work: Callable[[int], object], sizes: list[int], progress: Progress | None = None
) -> None:
    """Call ``work(piece)`` for every piece, on all processors.

    Args:
        work: Called once for each position of ``sizes``.
        sizes: The size of each piece, for ``progress``.
        progress: Called in the calling thread after each piece.
    """
    done, whole = 0, sum(sizes)
    threads = min(processors(), len(sizes))
    if threads <= 1:
        # A thread takes longer to start than a few rows to count.
        for piece, size in enumerate(sizes):
            work(piece)
            done += size
            if progress is not None:
                progress(done, whole)
        return
    with ThreadPoolExecutor(threads) as pool:
        pending = {pool.submit(work, piece): size for piece, size in enumerate(sizes)}
        for finished in as_completed(pending):
            finished.result()
            done += pending[finished]
            if progress is not None:
                progress(done, whole)


def each_stride(work: Callable[[int, int], object], size: int, *, least: int = 256) -> None:
    """Call ``work(first, step)`` so that ``range(first, size, step)`` cover ``range(size)``.

    Args:
        work: Called once for every thread.
        size: How many items there are.
        least: Items that are worth a thread.
    """
    step = max(1, min(processors(), size // least))
    each_piece(lambda first: work(first, step), [1] * step)
