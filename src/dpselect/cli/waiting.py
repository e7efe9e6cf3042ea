"""What a terminal shows while a command works: one line, which ends with the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from dpselect.passes import watching


@contextmanager
def working(doing: str) -> Iterator[None]:
    """Show on a terminal that something is going on, and which pass an engine makes."""
    with Console(stderr=True).status(f"{doing} ...") as line:

        def show(done: int, whole: int) -> None:
            step = f"{doing}, pass {done + 1} of {whole}" if done < whole else doing
            line.update(f"{step} ...")

        with watching(show):
            yield
