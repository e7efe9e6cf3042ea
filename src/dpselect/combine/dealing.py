"""Work on all candidates, dealt to all cores.

Compiled kernels release the interpreter lock and write to places of their own, so plain
threads do.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

LEAST = 256
"""Candidates that are worth a thread."""


def deal(work: Callable[[int, int], object], size: int) -> None:
    """Call ``work(first, step)`` so that ``range(first, size, step)`` cover ``range(size)``.

    Args:
        work: Called once for every thread.
        size: The number of candidates.
    """
    step = max(1, min(os.cpu_count() or 1, size // LEAST))
    with ThreadPoolExecutor(step) as pool:
        for done in [pool.submit(work, first, step) for first in range(step)]:
            done.result()
