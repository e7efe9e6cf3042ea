"""Comparison of the outcomes of two releases, attribute by attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpselect import Plan
from dpselect.budget import Budget


def difference(
    here: Any,  # noqa: ANN401 -- any attribute of an outcome
    there: Any,  # noqa: ANN401
    path: str = "the outcome",
    seen: set[tuple[int, int]] | None = None,
) -> str | None:
    """Return the first part that differs, by its name and never by its value.

    Budgets are not part of an outcome. Objects are compared by ``==`` where their class
    defines it without attributes, else attribute by attribute.
    """
    seen = set() if seen is None else seen
    same_kind = type(here) is type(there)
    if (
        here is there
        or (id(here), id(there)) in seen
        or (same_kind and isinstance(here, Budget))
    ):
        return None
    seen.add((id(here), id(there)))
    if not same_kind:
        return path
    if isinstance(here, np.ndarray):
        return _of_arrays(here, there, path, seen)
    one, other = (None, None) if isinstance(here, Plan) else (_parts(here), _parts(there))
    if one is None or other is None:
        return None if _equal(here, there) else path
    if one.keys() != other.keys():
        return path
    found = (difference(one[name], other[name], f"{path}{name}", seen) for name in one)
    return next((part for part in found if part is not None), None)


def _of_arrays(
    here: np.ndarray, there: np.ndarray, path: str, seen: set[tuple[int, int]]
) -> str | None:
    if here.dtype != there.dtype or here.shape != there.shape:
        return path
    if here.dtype == object:
        return difference(here.tolist(), there.tolist(), path, seen)
    floating = here.dtype.kind in "fc"
    return None if np.array_equal(here, there, equal_nan=floating) else path


def _parts(value: Any) -> dict[str, Any] | None:  # noqa: ANN401
    """Return the parts of a value by name; None where it has none."""
    if isinstance(value, str | bytes | int | float | complex | type | set | frozenset):
        return None
    if isinstance(value, Mapping):
        # Keys of an outcome are public or part of it: they are compared with it.
        keys = {f"[{position}].key": key for position, key in enumerate(value)}
        return keys | {f"[{position}]": one for position, one in enumerate(value.values())}
    if isinstance(value, Sequence):
        return {f"[{position}]": one for position, one in enumerate(value)}
    names = dict.fromkeys(_attributes(value))
    return {f".{name}": getattr(value, name) for name in names} or None


def _attributes(value: object) -> Iterator[str]:
    yield from getattr(value, "__dict__", ())
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(value, name):
                yield name


def _equal(here: Any, there: Any) -> bool:  # noqa: ANN401
    if isinstance(here, float) and here != here:  # noqa: PLR0124 -- NaN
        return bool(there != there)  # noqa: PLR0124
    equals = getattr(here, "equals", None)
    # Frames have a method for it; their == compares cell by cell.
    return bool(equals(there) if callable(equals) else here == there)
