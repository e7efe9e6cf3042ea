"""Choice of OpenDP's samplers in place of the library's own, which have the same laws."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_selected = False


@contextmanager
def drawn_by_opendp() -> Iterator[None]:
    """Draw every selection and all Laplace noise of this process by OpenDP in this block.

    The laws are the same. ``benchmarks/draws.py`` compares the times: OpenDP's noise of a
    large table takes about 20 times as long, and its choice among a million scores that are far
    apart up to 40 times; among equal ones it takes less.
    """
    global _selected  # noqa: PLW0603 -- as in door: thread pools have no context of ours
    before, _selected = _selected, True
    try:
        yield
    finally:
        _selected = before


def selected() -> bool:
    """Return whether OpenDP's samplers are selected."""
    return _selected
