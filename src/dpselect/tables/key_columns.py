"""Columns of keys, groups and their public values, as one column of an engine."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpselect import validation
from dpselect._optional import nw
from dpselect.errors import ParameterError
from dpselect.tables.kinds import Kind, named

MISSING = "-"
"""Stands for a missing value in the encoded form of a key."""


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """The columns that a key is made of, and how it is written in one column.

    One column whose missing values are dropped is grouped as it is. Several columns, or missing
    values that are a key of their own, are encoded as text: the length of every part, a colon,
    the part; or ``MISSING``.

    Attributes:
        names: The columns.
        kinds: What each holds.
        missing: Whether a missing value is a part of a key, and no reason to drop the row.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    missing: bool = False

    @classmethod
    def of(
        cls, names: Sequence[str], kinds: Mapping[str, Kind], *, missing: bool = False
    ) -> KeyColumns:
        """Return the columns of some names, of a table whose columns are of some kinds."""
        return cls(tuple(names), tuple(kinds[name] for name in names), missing)

    @property
    def encoded(self) -> bool:
        """Whether keys are written as encoded text."""
        return len(self.names) > 1 or self.missing

    def expression(self, types: nw.Schema) -> nw.Expr:
        """Return the key of a row in one column; null if a part is, unless that is a part."""
        columns = [named(nw.col(name), types[name]) for name in self.names]
        if not self.encoded:
            return columns[0]
        return nw.concat_str([self._encoded(one.cast(nw.String)) for one in columns])

    def _encoded(self, text: nw.Expr) -> nw.Expr:

        size = text.str.len_chars().cast(nw.String)
        whole = nw.concat_str([size, nw.lit(":"), text])
        if not self.missing:
            return whole
        return nw.when(text.is_null()).then(nw.lit(MISSING)).otherwise(whole)

    def encode(self, candidate: Hashable) -> Hashable:
        """Return a public candidate as the engine has it.

        Raises:
            ParameterError: It is not of the column's kind, or has another number of parts.
        """
        parts = self._parts(candidate)
        plain = [_as_kind(part, kind) for part, kind in zip(parts, self.kinds, strict=True)]
        if not self.encoded:
            return plain[0]
        texts = [
            None if part is None else kind.to_text(part)
            for part, kind in zip(plain, self.kinds, strict=True)
        ]
        return "".join(MISSING if one is None else f"{len(one)}:{one}" for one in texts)

    def decode(self, key: Any) -> Hashable:  # noqa: ANN401 -- a value of an engine
        """Return a key of the engine as plain Python values: one, or a tuple of them."""
        if not self.encoded:
            return plain_value(key)
        parts: list[Hashable] = []
        rest = str(key)
        for kind in self.kinds:
            if rest.startswith(MISSING):
                parts.append(None)
                rest = rest[len(MISSING) :]
                continue
            size, _, rest = rest.partition(":")
            parts.append(kind.decode(rest[: int(size)]))
            rest = rest[int(size) :]
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _parts(self, candidate: Any) -> tuple[Hashable, ...]:  # noqa: ANN401 -- of any type
        check_parts("candidates", [candidate], self.kinds)
        return candidate if len(self.kinds) > 1 else (candidate,)


def check_parts(field: str, values: Iterable[object], columns: Sequence[object]) -> None:
    """Check that keys of several columns are tuples of as many values.

    Raises:
        ParameterError: One is not.
    """
    for one in values if len(columns) > 1 else ():
        if not isinstance(one, tuple) or len(one) != len(columns):
            raise ParameterError(
                f"each of the `{field}` must be {len(columns)} values, one for each column"
            )


def plain_value(key: Any) -> Any:  # noqa: ANN401 -- a value of an engine
    """Return a value of an engine as one of Python's."""
    return key.item() if isinstance(key, np.generic) else key


def checked_names(column: Any, field: str = "column") -> tuple[str, ...]:  # noqa: ANN401
    """Return the names of the columns of a key.

    Args:
        column: One name or several, as a query has them; None for none.
        field: The name of the field.

    Raises:
        ParameterError: Not names, none, or the same one twice.
    """
    names = (column,) if isinstance(column, str) else validation.listed(field, column) or ()
    texts = not isinstance(column, Mapping) and all(isinstance(name, str) for name in names)
    if not texts or len(set(names)) < len(names) or (column is not None and not names):
        raise ParameterError(
            f"`{field}` must be the name of a column, or several different ones"
        )
    return names


def _as_kind(value: Hashable, kind: Kind) -> Hashable:
    held = kind.code(value)
    if held is None and value is not None:
        raise ParameterError(
            f"a candidate is a {type(value).__name__}, and the column holds {kind} values: "
            "give candidates of that type"
        )
    return held
