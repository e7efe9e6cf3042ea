"""Division of a table into records to fit candidates on and records to score them on.

Each record's part depends on that record and a random key alone, so one neighbour step changes
one part by one record and leaves the other as it is. Under add/remove equal records are
numbered, and the number is hashed with the record: a step adds or removes the last of them.
Under substitution the number of records is public, and the position is hashed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sized
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import DataError
from dpselect.neighbours import Neighbours

DIGEST = 8
"""Bytes of a hash: shares are multiples of 2^-64."""


def validation_part(
    rows: Iterable[Hashable], neighbours: Neighbours, share: float, key: bytes
) -> NDArray[np.bool_]:
    """Return which records are for validation, shape ``(n,)``.

    Args:
        rows: A text of each record; equal ones have the same. Private.
        neighbours: Add/remove or substitution.
        share: The probability of each record over the key, in (0, 1). Public.
        key: At most 64 random bytes; may be public.
    """
    limit = int(share * 2 ** (8 * DIGEST))
    by_position = neighbours is Neighbours.SUBSTITUTE
    places = enumerate("" for _ in rows) if by_position else _numbered(rows)
    digests = (
        blake2b(repr(place).encode(errors="surrogatepass"), digest_size=DIGEST, key=key)
        for place in places
    )
    return np.array([int.from_bytes(d.digest()) < limit for d in digests], dtype=np.bool_)


def _numbered(rows: Iterable[Hashable]) -> Iterator[tuple[int, Hashable]]:
    """Yield every row after the number of equal ones before it."""
    seen: Counter[Hashable] = Counter()
    for row in rows:
        yield seen[row], row
        seen[row] += 1


def row_texts(x: Any, y: list[Any]) -> list[str]:  # noqa: ANN401 -- any table in memory
    """Return a text of each record, read value by value; private.

    Raises:
        DataError: ``x`` is no table, or ``y`` is not one label for each record.
    """
    rows = _rows(x)
    if len(rows) != len(y):
        raise DataError("X and y must have the same number of records")
    return [repr((row, label)) for row, label in zip(rows, y, strict=True)]


def as_table(x: Any) -> Any:  # noqa: ANN401
    """Return a table in memory: a frame, an array or a list of rows.

    Raises:
        DataError: It is none.
    """
    import narwhals as nw

    frame = nw.from_native(x, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise DataError("X must be a table in memory: collect the lazy frame")
    if hasattr(x, "tocsr"):
        raise DataError("X: sparse data was passed; a dense table is required")
    if isinstance(frame, nw.DataFrame) or isinstance(x, list | np.ndarray):
        return x
    return np.asarray(x)


def column_names(x: Any) -> list[str] | None:  # noqa: ANN401
    """Return the names of a table's columns, ``x0``, ... for an array or rows; public."""
    import narwhals as nw

    frame = nw.from_native(x, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [str(name) for name in frame.columns]
    if isinstance(x, np.ndarray):
        return [f"x{place}" for place in range(x.shape[1])] if x.ndim == 2 else None
    return (
        [f"x{place}" for place in range(len(x[0]))] if x and isinstance(x[0], Sized) else None
    )


def as_labels(y: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401
    """Return labels as a Series, an array or a list, and as a list of plain values; private.

    Raises:
        DataError: There are none.
    """
    import narwhals as nw

    if y is None:
        raise DataError("it requires y to be passed, but the target y is None")
    series = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        return y, series.to_list()
    if isinstance(y, list):
        return y, y
    array = np.asarray(y)
    return array, array.ravel().tolist()


def _rows(x: Any) -> list[Any]:  # noqa: ANN401
    import narwhals as nw

    frame = nw.from_native(x, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.rows()
    return x.tolist() if isinstance(x, np.ndarray) else list(x)
