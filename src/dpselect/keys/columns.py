"""Columns of keys, and how candidates are matched with them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.tables.kinds import Kind, coded
from dpselect.typing import Indices

MISSING = "-"
"""Stands for a missing value in the encoded form of a key."""

GROUP = "group"
"""The column of groups in rows that are read."""

OTHER = None
"""Stands for the group of all rows whose group was not released."""


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """The columns that a key is made of, and how it is written in one column.

    One column whose missing values are dropped is grouped as it is. Several columns, or missing
    values that are a key of their own, are encoded as text: the length of every part, a colon,
    the part; or ``MISSING``.

    Attributes:
        names: The columns; empty where the data are the values themselves.
        kinds: What each holds.
        encoded: Whether keys are written as encoded text.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    encoded: bool

    def encode(self, candidate: Hashable) -> Hashable:
        """Return a public candidate as the engine has it.

        Raises:
            ParameterError: It is not of the column's kind, or has another number of parts.
        """
        parts = self._parts(candidate)
        plain = [_as_kind(part, kind) for part, kind in zip(parts, self.kinds, strict=True)]
        if not self.encoded:
            return plain[0]
        texts = (None if part is None else _as_text(part) for part in plain)
        return "".join(MISSING if one is None else f"{len(one)}:{one}" for one in texts)

    def decode(self, key: Any) -> Hashable:  # noqa: ANN401 -- a value of an engine
        """Return a key of the engine as plain Python values: one, or a tuple of them."""
        if not self.encoded:
            return key.item() if isinstance(key, np.generic) else key
        parts: list[Hashable] = []
        rest = str(key)
        for kind in self.kinds:
            if rest.startswith(MISSING):
                parts.append(None)
                rest = rest[len(MISSING) :]
                continue
            size, _, rest = rest.partition(":")
            parts.append(_of_text(rest[: int(size)], kind))
            rest = rest[int(size) :]
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _parts(self, candidate: Hashable) -> tuple[Hashable, ...]:
        if len(self.kinds) == 1:
            return (candidate,)
        if not isinstance(candidate, tuple) or len(candidate) != len(self.kinds):
            raise ParameterError(
                f"each candidate must be a tuple of {len(self.kinds)} values, one for each "
                "column"
            )
        return candidate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counted:
    """Some keys with the number of people who have each; private.

    Attributes:
        keys: As the engine has them.
        people: Shape ``(n,)``, integers >= 0.
        columns: How keys are written.
    """

    keys: Sequence[Any] | NDArray[Any]
    people: Indices
    columns: KeyColumns

    def key(self, position: int) -> Hashable:
        """Return a key as plain Python values."""
        return self.columns.decode(self.keys[position])

    def keys_at(self, positions: Indices) -> list[Hashable]:
        """Return several keys, for which ``key`` would take longer."""
        if self.columns.encoded:
            return [self.key(position) for position in positions.tolist()]
        keys: list[Hashable] = np.asarray(self.keys)[positions].tolist()
        return keys


def parsed(text: str, kind: Kind) -> Hashable:
    """Return a key of a kind that is written as text, as in a file of candidates.

    Raises:
        ParameterError: It is no such key.
    """
    try:
        key = _of_text(text, kind)
    except ValueError:
        key = None
    if key is None or (kind == "boolean" and text.lower() not in {"true", "false"}):
        raise ParameterError(f"the column holds {kind} values, and {text!r} is not one")
    return key


def checked_names(column: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the columns of a key.

    Raises:
        ParameterError: Not names, none, or the same one twice.
    """
    names = (column,) if isinstance(column, str) else validation.listed("column", column) or ()
    texts = all(isinstance(name, str) for name in names)
    if not texts or len(set(names)) < len(names) or (column is not None and not names):
        raise ParameterError("`column` must be the name of a column, or several different ones")
    return names


def _as_kind(value: Hashable, kind: Kind) -> Hashable:
    held = coded(value, kind)
    if held is None and value is not None:
        raise ParameterError(
            f"a candidate is a {type(value).__name__}, and the column holds {kind} values: "
            "give candidates of that type"
        )
    return held


def _as_text(part: Hashable) -> str:
    return str(part).lower() if isinstance(part, bool) else str(part)


def _of_text(text: str, kind: Kind) -> Hashable:
    if kind == "integer":
        return int(text)
    if kind == "boolean":
        return text.lower() == "true"
    return date.fromisoformat(text) if kind == "date" else text
