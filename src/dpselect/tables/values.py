"""Values of columns in memory, read as their container declares them, or else one by one.

A typed frame or array declares what a column holds. A list, an array of objects or a pandas
column of objects declares nothing: a type found from its values would hang on every one of
them, so each value is read by itself, and what it is does not depend on any other.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import ColumnError, DataError
from dpselect.typing import Indices, Values

if TYPE_CHECKING:
    import narwhals as nw

Kind: TypeAlias = Literal["numbers", "text", "anything"]
"""The kind of values that the type of a column, which is public, allows."""

NOBODY = -1
"""The identity of a value that is missing."""

PLAIN_NUMBERS = {float, int, bool, type(None)}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ColumnValues:
    """The values of one column; private.

    Attributes:
        values: Shape ``(n,)``, of the type declared; of objects, where none is.
        kind: What the container declares.
        missing: Which of typed values are missing, if any is; shape ``(n,)``.
    """

    values: NDArray[Any]
    kind: Kind
    missing: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def is_typed(self) -> bool:
        """Whether the values are numbers of one NumPy type."""
        return self.values.dtype.kind in "biuf"

    def numbers(self) -> Values:
        """Return float64, NaN for what is missing or no number."""
        if not self.is_typed:
            return _numbers(self.values)
        with np.errstate(all="ignore"):
            numbers = self.values.astype(np.float64)
        if self.missing is not None:
            numbers[self.missing] = nan
        return numbers

    def plain(self) -> list[Hashable]:
        """Return plain Python values, exact, None for what is missing or cannot be hashed."""
        if not self.is_typed:
            return [plain_value(value) for value in self.values.tolist()]
        values: list[Hashable] = self.values.tolist()
        for position in np.flatnonzero(self.absent()).tolist():
            values[position] = None
        return values

    def absent(self) -> NDArray[np.bool_]:
        """Return which of typed values are missing, NaN among them; shape ``(n,)``."""
        if self.missing is not None:
            return self.missing
        if self.values.dtype.kind == "f":
            return np.isnan(self.values)
        return np.zeros(len(self), dtype=np.bool_)


def of_values(values: object, refusal: str) -> ColumnValues:
    """Return one value for each record from an array, a list, a Series or their like.

    Args:
        values: Private.
        refusal: What an error says that the values must be.

    Raises:
        DataError: They are not a column.
        ColumnError: A Series is of a type that holds neither numbers nor text.
    """
    import narwhals as nw

    series = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        return of_series(series)
    if is_listed(values):
        return of_objects(list(values))
    if not declares_type(values):
        raise DataError(refusal)
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"{refusal}, not of {array.ndim} dimensions")
    return of_array(array)


def of_series(series: nw.Series[Any]) -> ColumnValues:
    """Return the values of a Series as its type declares them.

    Raises:
        ColumnError: Its type holds neither numbers nor text.
    """
    import narwhals as nw

    if declares_nothing(series):
        return of_objects(series.to_list())
    dtype = series.dtype
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
        return _of_numbers(series)
    if dtype.is_decimal():
        return ColumnValues(_objects(series.to_list()), "numbers")
    if dtype == nw.String:
        return ColumnValues(_objects(series.to_list()), "text")
    if dtype == nw.Categorical or isinstance(dtype, nw.Enum) or dtype == nw.Enum:
        # Categories of pandas and Arrow may be of any type.
        text = series.implementation.is_polars()
        return ColumnValues(_objects(series.to_list()), "text" if text else "anything")
    if _native_type(series).lower() == "null":
        return of_objects([None] * len(series))
    raise refused_type(series.name, dtype)


def of_array(array: NDArray[Any]) -> ColumnValues:
    """Return the values of an array of one dimension as its type declares them.

    Raises:
        DataError: Its type holds neither numbers nor text.
    """
    if array.dtype.kind in "biuf":
        return ColumnValues(array, "numbers")
    if array.dtype.kind in "US":
        return ColumnValues(array, "text")
    if array.dtype.kind != "O":
        raise DataError(f"an array of {array.dtype.name} holds neither numbers nor text")
    return of_objects(list(array))


def of_objects(values: Sequence[object]) -> ColumnValues:
    """Return values that nothing is declared of."""
    return ColumnValues(_objects(values), "anything")


def identities(column: ColumnValues) -> Indices:
    """Return an integer for each value, the same for equal ones; ``NOBODY`` if missing."""
    if column.is_typed:
        _, found = np.unique(column.values, return_inverse=True)
        return np.where(column.absent(), NOBODY, found)
    numbered: dict[Hashable, int] = {None: NOBODY}
    return np.array(
        [numbered.setdefault(value, len(numbered)) for value in column.plain()], dtype=np.int64
    )


def of_rows(rows: Iterable[object], width: int) -> list[ColumnValues]:
    """Return the columns of rows that declare no type: a list of lists, tuples, arrays.

    Args:
        rows: Private.
        width: The number of fields in a row. Public. Fields beyond it are not read; those
            that a row does not have, or all if it is no row, are missing.
    """
    filled = [fields(row, width) for row in rows]
    columns = zip(*filled, strict=True) if filled else ((),) * width
    return [of_objects(column) for column in columns]


def fields(row: object, width: int) -> tuple[object, ...]:
    """Return as many fields of a row; None for those that it does not have."""
    given = _fields(row)
    return given if len(given) == width else (*given[:width], *(None,) * width)[:width]


def pair(row: object) -> tuple[object, object]:
    """Return the two fields of a row; None twice for what is no pair."""
    given = _fields(row)
    return given if len(given) == 2 else (None, None)


def _fields(row: object) -> tuple[object, ...]:
    if type(row) is tuple:
        return row
    if isinstance(row, str | bytes | Mapping | AbstractSet):
        return ()
    try:
        return tuple(row)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 -- whatever is raised, it is no row
        return ()


def is_listed(values: object) -> TypeGuard[Iterable[object]]:
    """Return whether values are a list or its like, which declares no type."""
    if isinstance(values, list | tuple | range):
        return True
    if isinstance(values, str | bytes | Mapping | AbstractSet) or declares_type(values):
        return False
    return isinstance(values, Iterable)


def declares_type(values: object) -> bool:
    """Return whether values are an array, or convert themselves to one."""
    if hasattr(values, "__array__") or hasattr(values, "__array_interface__"):
        return True
    try:
        memoryview(values)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def declares_nothing(series: nw.Series[Any]) -> bool:
    """Return whether a Series holds objects of any type.

    narwhals says of objects of pandas what the first hundred are, so it is not asked.
    """
    import narwhals as nw

    if series.implementation.is_pandas_like():
        return _native_type(series) == "object"
    return series.dtype == nw.Object


def refused_type(column: str, dtype: object) -> ColumnError:
    """Return the error for a column of a type that holds neither numbers nor text."""
    return ColumnError(
        f"column {column!r} is of type {dtype}: a column must hold numbers or text; cast it to "
        "text there"
    )


def plain_value(value: object) -> Hashable:
    """Return a value as plain Python, None if it is missing or cannot be hashed."""
    if isinstance(value, np.number | np.bool_):
        value = value.item()
    try:
        hash(value)
        # NaN, NaT and their like differ from themselves, or do not say.
        return value if bool(value == value) else None  # noqa: PLR0124
    except Exception:  # noqa: BLE001 -- whatever is raised, it is no category and no name
        return None


def number(value: Any) -> float:  # noqa: ANN401 -- whatever it is, it is tried
    """Return a value as a float, NaN for what is no number."""
    if isinstance(value, complex | np.complexfloating | np.datetime64 | np.timedelta64):
        return nan
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return nan
    try:
        return float(value)
    except OverflowError:
        return _infinity(value)
    except Exception:  # noqa: BLE001 -- whatever is raised, it is no number
        return nan


def _infinity(value: Any) -> float:  # noqa: ANN401 -- a number too large for a float
    try:
        return inf if value > 0 else -inf
    except Exception:  # noqa: BLE001 -- it has no sign
        return nan


def _native_type(series: nw.Series[Any]) -> str:
    import narwhals as nw

    native = nw.to_native(series)
    return str(getattr(native, "dtype", getattr(native, "type", "")))


def _numbers(values: NDArray[Any]) -> Values:
    given = values.tolist()
    if set(map(type, given)) <= PLAIN_NUMBERS:
        try:
            return np.array(given, dtype=np.float64)  # the same numbers, 20 times as fast
        except OverflowError:
            pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([number(value) for value in given], dtype=np.float64)


def _of_numbers(series: nw.Series[Any]) -> ColumnValues:
    import narwhals as nw

    if str(series.dtype) in {"Int128", "UInt128"}:
        return ColumnValues(_objects(series.to_list()), "numbers")
    absent = None
    if series.null_count() > 0:
        absent = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
        # A null would turn all integers into floats.
        series = series.fill_null(False if series.dtype == nw.Boolean else 0)
    values = series.to_numpy()
    if absent is not None and values.dtype.kind == "f":
        values = np.where(absent, nan, values)
        absent = None
    return ColumnValues(values, "numbers", absent)


def _objects(values: Iterable[object]) -> NDArray[Any]:
    listed = list(values)
    return np.fromiter(listed, dtype=object, count=len(listed))
