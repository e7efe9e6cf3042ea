"""Values of columns in memory: as numbers, as plain Python values, or as names in polars.

They are read as their container declares them, or else one by one (``kinds``).
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set as AbstractSet, Sized
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf, nan
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from dpselect._optional import nw, pl
from dpselect.errors import ColumnError, DataError, replaced
from dpselect.tables.kinds import (
    Kind,
    declares_nothing,
    native_type,
    texts,
    type_name,
    with_known_types,
)
from dpselect.typing import Indices, Values

PLAIN_NUMBERS = {float, int, bool, type(None)}

SPAN = 2**16
"""Integers so far apart are found in a table of all between them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ColumnValues:
    """The values of one column; private.

    Attributes:
        values: Shape ``(n,)``, of the type declared; of objects, where none is.
        kind: What the container declares: ``"numbers"``, ``"text"`` or ``"anything"``.
        missing: Which of typed values are missing, if any is but for NaN; shape ``(n,)``.
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
        values = self.values.astype(object)
        values[self.absent()] = None
        return list(values)

    def absent(self) -> NDArray[np.bool_]:
        """Return which of typed values are missing, NaN among them; shape ``(n,)``."""
        absent: NDArray[np.bool_] = np.isnan(self.values)
        return absent if self.missing is None else absent | self.missing


def of_values(values: object, refusal: str) -> ColumnValues:
    """Return one value for each record from an array, a list, a Series or their like.

    Raises:
        DataError: As for ``as_column``.
        ColumnError: A Series is of a type that holds neither numbers nor text.
    """
    held = as_column(values, refusal)
    return of_array(held) if isinstance(held, np.ndarray) else of_series(held)


def as_column(values: object, refusal: str) -> nw.Series[Any] | NDArray[Any]:
    """Return one value for each record: as a Series or an array of the type declared.

    Where none is declared it is an array of objects.

    Args:
        values: Private.
        refusal: What an error says that the values must be.

    Raises:
        DataError: They are not a column.
    """
    series = as_series(values)
    if isinstance(series, nw.Series):
        return objects(listed(series)) if declares_nothing(series) else series
    if is_listed(values):
        return objects(values)
    if not declares_type(values):
        raise DataError(refusal)
    array = as_array(values)
    if array.ndim != 1:
        raise DataError(f"{refusal}, not of {array.ndim} dimensions")
    return array


def labels(y: object) -> tuple[object, ColumnValues]:
    """Return labels as one column, and its values.

    Raises:
        DataError: There are none, or they are not one for each record.
    """
    series: Any = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(series, nw.DataFrame) and len(series.columns) == 1:
        y = nw.to_native(series.get_column(series.columns[0]))
    if y is None:
        raise DataError("it requires y to be passed, but the target y is None")
    return y, of_values(y, "y should be a 1d array of one label for each record")


def check_rows(x: Sized, y: Sized) -> None:
    """Refuse a table and labels of different numbers of records."""
    if len(x) != len(y):
        raise DataError("X and y must have the same number of records")


def refuse_sparse(x: object, what: str) -> None:
    """Refuse a sparse matrix."""
    if hasattr(x, "tocsr"):
        raise DataError(f"{what}: sparse data was passed; a dense table is required")


def matrix(x: object, what: str) -> NDArray[Any]:
    """Return what is no frame as an array of rows and columns.

    Raises:
        DataError: It is not one, or of complex numbers.
    """
    refuse_sparse(x, what)
    table = as_array(x)
    if table.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {what} must hold numbers or text")
    if table.ndim != 2:
        raise DataError(
            f"{what}: expected a frame or a 2D array, got an array of {table.ndim} "
            "dimensions. Reshape your data: one row for each record"
        )
    return table


def as_array(values: object) -> NDArray[Any]:
    """Return an array, or what converts itself to one; None where values are masked."""
    array, masked = np.asarray(values), sys.modules.get("numpy.ma")
    if masked is not None and isinstance(values, masked.MaskedArray):
        array = array.astype(object)
        array[masked.getmaskarray(values)] = None
    return array


def as_series(values: object) -> Any:  # noqa: ANN401 -- of any library
    """Return a Series or an array of Arrow as one of narwhals, anything else as it is."""
    if isinstance(values, np.ndarray | list | tuple):
        return values  # narwhals takes long to say so
    return nw.from_native(with_known_types(values), allow_series=True, pass_through=True)


def listed(series: nw.Series[Any]) -> list[Any]:
    """Return values as a list, None for those that Python does not have.

    Those are text of Arrow that is no UTF-8, which nobody checks, and years after 9999.
    """
    with suppress(DataError):
        return replaced(series.to_list, DataError)
    found: list[Any] = [None] * len(series)
    for place in range(len(series)):
        with suppress(DataError):
            found[place] = replaced(partial(series.item, place), DataError)
    return found


def of_series(series: nw.Series[Any]) -> ColumnValues:
    """Return the values of a Series as its type declares them.

    Raises:
        ColumnError: Its type holds neither numbers nor text.
    """
    kind, dtype = kind_of(series), series.dtype
    if kind == Kind.NUMBERS and not dtype.is_decimal() and "Int128" not in str(dtype):
        return _of_numbers(series)
    return ColumnValues(objects(listed(series)), kind)


def kind_of(series: nw.Series[Any]) -> Kind:
    """Return what a Series declares of its values, numbers of any type alike.

    Raises:
        ColumnError: Its type holds neither numbers nor text.
    """
    if declares_nothing(series) or native_type(series).lower() == "null":
        return Kind.ANYTHING
    kind = Kind.of(series.dtype)
    if kind == Kind.TEXT:
        # Categories of pandas and Arrow may be of any type.
        sure = series.dtype == nw.String or series.implementation.is_polars()
        return Kind.TEXT if sure else Kind.ANYTHING
    if kind is None or not kind.is_number:
        raise refused_type(series.name, series.dtype)
    return Kind.NUMBERS


def of_array(array: NDArray[Any]) -> ColumnValues:
    """Return the values of an array of one dimension as its type declares them.

    Raises:
        DataError: Its type holds neither numbers nor text.
    """
    kind = Kind.of_array(array.dtype)
    if kind is None or kind == Kind.DATE:
        raise DataError(f"an array of {array.dtype.name} holds neither numbers nor text")
    return ColumnValues(array, Kind.NUMBERS if kind.is_number else kind)


def of_objects(values: Sequence[object]) -> ColumnValues:
    """Return values that nothing is declared of."""
    return ColumnValues(objects(values), Kind.ANYTHING)


def names_of_frame(
    frame: nw.DataFrame[Any], coded: Sequence[str] = ()
) -> tuple[nw.LazyFrame[Any], dict[str, pl.Series]]:
    """Return a frame in memory as a lazy one of polars, each value coded by itself.

    Args:
        frame: Private.
        coded: The columns that may be codes, if they are categories of pandas, or integers near
            each other.

    Returns:
        The frame; and of each column of codes the values that they stand for, in order.
    """
    columns: dict[str, pl.Series] = {}
    listed: dict[str, pl.Series] = {}
    for name in frame.columns:
        series = frame.get_column(name)
        if name in coded and is_categories(series):
            columns[name], listed[name] = _categories(series)
        else:
            columns[name] = column = names_of_series(series)
            if name in coded and (lowest := lowest_of(column)) is not None:
                columns[name] = codes = column.cast(pl.Int64) - lowest
                span: Any = codes.max()
                listed[name] = (pl.int_range(span + 1, eager=True) + lowest).cast(column.dtype)
    return nw.from_native(pl.DataFrame(columns).lazy()), listed


def lowest_of(column: pl.Series) -> int | None:
    """Return the least of integers that are near each other; None of other values."""
    if not column.dtype.is_signed_integer() or column.null_count() == column.len():
        return None
    ends: list[Any] = [column.min(), column.max()]
    lowest, highest = ends
    near = highest - lowest < min(4 * column.len(), 2**31)
    return lowest if near and abs(lowest) < 2**62 else None


def names_of_values(values: object, name: str) -> nw.LazyFrame[Any]:
    """Return an array, a list or a Series as such a frame of one column.

    Raises:
        ColumnError: A Series is of a type that names cannot have.
        DataError: They are not a column, or an array of such a type.
    """
    refusal = "data must be a table, or an array, list or Series of values"
    held = as_column([*values] if isinstance(values, AbstractSet) else values, refusal)
    if isinstance(held, nw.Series):
        named = names_of_series(held)
    elif held.dtype.kind in "UO":
        named = _of_texts(held.tolist())
    elif Kind.of_array(held.dtype) in {Kind.INTEGER, Kind.BOOLEAN, Kind.DATE}:
        named = pl.Series(held)
    else:
        raise DataError(
            "an array of values must be one-dimensional, of text, integers or booleans"
        )
    return nw.from_native(named.alias(name).to_frame().lazy())


def names_of_series(series: nw.Series[Any]) -> pl.Series:
    """Return keys, groups or persons as a column of polars, each value coded by itself.

    Raises:
        ColumnError: The type is one that they cannot have.
    """
    if declares_nothing(series):
        return _of_texts(listed(series))
    kind = Kind.of_names(series.dtype, str(series.name))
    if series.implementation.is_polars():
        return nw.to_native(series)
    if kind == Kind.TEXT:
        if is_categories(series):
            codes, texts = _categories(series)
            return texts[codes]
        return _of_declared_texts(series)
    if kind == Kind.DATE:
        # Arrow holds days that Python does not have.
        return pl.Series(series.to_arrow(), dtype=pl.Date)
    column = of_series(series)
    return pl.Series(column.values).set(pl.Series(column.absent()), None)


def _of_declared_texts(series: nw.Series[Any]) -> pl.Series:
    """Return texts by Arrow; one by one where some are no UTF-8, or there is no Arrow."""

    def found() -> pl.Series:
        column = series.to_arrow()
        column.validate(full=True)
        return pl.Series(column, dtype=pl.String)

    with suppress(DataError):
        return replaced(found, DataError)
    return _of_texts(listed(series))


def is_categories(series: nw.Series[Any]) -> bool:
    """Return whether a Series of pandas is one of categories."""
    return series.implementation.is_pandas() and native_type(series) == "category"


def _categories(series: nw.Series[Any]) -> tuple[pl.Series, pl.Series]:
    """Return the codes of categories, null where one is missing, and their texts in order."""
    held = nw.to_native(series).cat
    codes = pl.Series(held.codes.to_numpy(), dtype=pl.Int64)
    codes = codes.set(codes < 0, None)
    texts = _of_texts(held.categories.tolist())
    if texts.null_count() or not (texts[1:] > texts[:-1]).all():
        # Their order is anybody's, and several may be one text, or none.
        codes = (texts.rank("dense").cast(pl.Int64) - 1)[codes]
        texts = texts.drop_nulls().unique().sort()
    return codes, texts


def _of_texts(values: Iterable[object]) -> pl.Series:
    return pl.Series(texts(values), dtype=pl.String)


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


def width(domains: object) -> int:
    """Return how many fields of a row the domains are for; 0 if they do not say.

    Args:
        domains: A sequence of one for each field, or a mapping from names such as ``x0``.
    """
    if isinstance(domains, Mapping):
        numbers = (re.fullmatch("x(0|[1-9][0-9]*)", str(name)) for name in domains)
        return max((int(number[1]) + 1 for number in numbers if number), default=0)
    if isinstance(domains, Sequence) and not isinstance(domains, str):
        return len(domains)
    return 0


def fields(row: object, width: int) -> tuple[object, ...]:
    """Return as many fields of a row; None for those that it does not have."""
    given = _fields(row)
    return given if len(given) == width else (*given[:width], *(None,) * width)[:width]


def pair(row: object) -> tuple[object, object]:
    """Return the two fields of a row; None twice if the row is not a pair."""
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


def refused_type(column: str, dtype: object) -> ColumnError:
    """Return the error for a column of a type that holds neither numbers nor text."""
    return ColumnError(
        f"column {column!r} is of type {type_name(dtype)}: a column must hold numbers or "
        "text; cast it to text there"
    )


def plain_value(value: object) -> Hashable:
    """Return a value as plain Python, None if it is missing or cannot be hashed."""
    if isinstance(value, np.number | np.bool_):
        value = value.item()
    try:
        hash(value)
        # What does not compare with itself is no category either.
        return value if bool(value == value) else None  # noqa: PLR0124
    except Exception:  # noqa: BLE001 -- whatever is raised, it is no category and no name
        return None


def number(value: Any) -> float:  # noqa: ANN401 -- whatever it is, it is tried
    """Return a value as a float, NaN if it is not a number."""
    if isinstance(value, complex | np.complexfloating | np.datetime64 | np.timedelta64):
        return nan
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return nan
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        return nan  # Python reads 1_000 and other digits, too
    with suppress(Exception):  # whatever is raised, it is no number, or has no sign
        try:
            return float(value)
        except OverflowError:
            return inf if value > 0 else -inf
    return nan


def places_of(values: NDArray[Any], listed: Sequence[Hashable], other: int = -1) -> Indices:
    """Return the place of each number among those listed.

    Args:
        values: Numbers of one NumPy type. Private.
        listed: Public values, equal to a number if they are in Python.
        other: The place of numbers that are not listed, and of NaN.
    """
    ascending, places = _in_order(tuple(listed), values.dtype)
    if not places.size:
        return np.full(values.shape, other)
    if values.dtype.kind == "f" or int(ascending[-1]) - int(ascending[0]) >= SPAN:
        at = np.minimum(ascending.searchsorted(values), places.size - 1)
        return np.where(ascending[at] == values, places[at], other)
    # As integers without a sign, those below the least one are beyond the largest one.
    least = ascending[:1].astype(np.int64)
    among, steps = (each.astype(np.int64) - least for each in (ascending, values))
    table = np.full(among[-1] + 2, other)
    table[among] = places
    found: Indices = table[np.minimum(steps.view(np.uint64), table.size - 1)]
    return found


@lru_cache(maxsize=8)
def _in_order(listed: tuple[Hashable, ...], kind: np.dtype[Any]) -> tuple[Values, Indices]:
    """Return the listed values that a type holds, ascending, and their places.

    Once for all batches of a column, in each of which they are looked up.
    """
    known = dict[Any, int]()
    for place, one in enumerate(listed):
        with np.errstate(all="ignore"), suppress(ArithmeticError, TypeError, ValueError):
            if (held := kind.type(one).item()) == one:
                known[held] = place
    ascending = np.array(sorted(known), dtype=kind)
    return ascending, np.array([known[one] for one in ascending.tolist()], dtype=np.int64)


def places_among(edges: Values, numbers: Values) -> Indices:
    """Return how many of ascending edges each number is at least; all of them of NaN.

    Edges about equally far apart are counted by a division, sooner than they are searched, and
    numbers that it does not place between two edges are searched nevertheless.
    """
    steps = np.diff(edges)
    if steps.size == 0 or np.ptp(steps) > steps[0] / edges.size:
        return edges.searchsorted(numbers, side="right")
    with np.errstate(invalid="ignore", over="ignore"):
        at = ((numbers - edges[0]) / (edges[-1] - edges[0]) * steps.size + 1).astype(np.int64)
    np.clip(at, 0, edges.size, out=at)
    ends = np.concatenate([[-inf], edges, [inf]])
    wrong = np.flatnonzero(~((ends[at] <= numbers) & (numbers < ends[at + 1])))
    at[wrong] = edges.searchsorted(numbers[wrong], side="right")
    return at


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
    missing = None
    if series.null_count() > 0:
        missing = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
        # A null would turn all integers into floats.
        series = series.fill_null(False if series.dtype == nw.Boolean else 0)
    return ColumnValues(series.to_numpy(), Kind.NUMBERS, missing)


def objects(values: Iterable[object]) -> NDArray[Any]:
    """Return values as an array of objects."""
    listed = list(values)
    return np.fromiter(listed, dtype=object, count=len(listed))
