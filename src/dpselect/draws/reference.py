"""Choice of OpenDP's samplers in place of the library's own, which have the same laws."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_selected = False


@contextmanager
def drawn_by_opendp() -> Iterator[None]:
    """Draw every selection and all Laplace noise of this process by OpenDP in this block.

    The laws are the same. OpenDP's noise of a large table takes 60 times as long, and its
    choice among many similar scores up to seconds.
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
