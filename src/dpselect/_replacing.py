"""Replacement of foreign errors, which quote private values, by ones that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dpselect.errors import DPSelectError

T = TypeVar("T")


def replaced(compute: Callable[[], T], refusal: Callable[[], DPSelectError]) -> T:
    """Return what a function returns, or raise another error in place of any but ours.

    Engines and NumPy quote values in their messages. ``raise ... from None`` hides such an
    error from tracebacks but keeps it as ``__context__``, which reporters of crashes send away;
    one that is raised after the first was dealt with has no context.

    Args:
        compute: The function, which may raise anything.
        refusal: Returns the error to raise.
    """
    try:
        return compute()
    except DPSelectError:
        raise
    except Exception:  # noqa: BLE001 -- every engine has its own, and each may quote values
        error = refusal()
    raise error
