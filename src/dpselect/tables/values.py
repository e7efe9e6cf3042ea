"""Values of columns in memory: as numbers, as plain Python values, or as names in polars.

They are read as their container declares them, or else one by one (``kinds``).
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set as AbstractSet,
    Sized,
)
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf, nan
from typing import Any, TypeGuard

from dpselect._optional import np, nw, pl
from dpselect.errors import ColumnError, DataError
from dpselect.passes import replaced
from dpselect.tables.kinds import Kind, Moment, moment_in, texts, type_name
from dpselect.tables.text import in_blocks
from dpselect.typing import Array, Bools, Indices, Values

PLAIN_NUMBERS = {float, int, bool, type(None)}

VALUE = "value"
"""The column of data that are the values themselves."""

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

    values: Array
    kind: Kind
    missing: Bools | None = None

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
        values = self.values.astype(object)
        if self.missing is not None:
            values[self.missing] = None
        return [*map(plain_value, values)]


def of_values(values: object, refusal: str) -> ColumnValues:
    """Return one value for each record from an array, a list, a Series or their like.

    Raises:
        DataError: As for ``as_column``.
        ColumnError: They are of a type that holds neither numbers nor text.
    """
    held = as_column(values, refusal)
    return of_array(held) if isinstance(held, np.ndarray) else of_series(held)


def as_column(values: object, refusal: str) -> nw.Series[Any] | Array:
    """Return one value for each record: as polars has a Series, or as an array.

    Where no type is declared it is an array of objects.

    Args:
        values: Private.
        refusal: What an error says that the values must be.

    Raises:
        DataError: They are not a column.
    """
    series = as_series(values)
    if isinstance(series, nw.Series):
        column = column_of(series)
        is_typed = column.dtype not in {pl.Object, pl.Null}
        return nw.from_native(column, series_only=True) if is_typed else objects(column)
    if is_listed(values):
        return objects(values)
    if not declares_type(values):
        raise DataError(refusal)
    array = as_array(values)
    if array.ndim != 1:
        raise DataError(f"{refusal}, not of {array.ndim} dimensions")
    return array


def as_table(values: object, refusal: str) -> nw.LazyFrame[Any]:
    """Return one value for each record as a table of polars, in the column ``value``.

    Raises:
        DataError: As for ``as_column``.
    """
    held: Any = as_column(values, refusal)
    column = of_typed(held) if isinstance(held, np.ndarray) else nw.to_native(held)
    return nw.from_native(pl.LazyFrame({VALUE: column}))


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


def matrix(x: object, what: str) -> Array:
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


def as_array(values: object) -> Array:
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
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(values, arrow.Array):
        values = arrow.chunked_array([values])
    return nw.from_native(values, allow_series=True, pass_through=True)


def in_polars(frame: nw.DataFrame[Any]) -> nw.LazyFrame[Any]:
    """Return a frame in memory as a lazy one of polars; columns are read when asked for."""
    if frame.implementation.is_polars():
        return frame.lazy()

    held = {str(name): frame.get_column(name) for name in frame.columns}

    def parts(wanted: list[str]) -> Iterator[pl.DataFrame]:
        yield pl.DataFrame({name: column_of(held[name]) for name in wanted})

    types = {name: _declared(held[name]) for name in held}
    if [*map(int, pl.__version__.split(".")[:2])] < [1, 37]:  # it streams no objects
        nothing = dict.fromkeys(held, pl.Series([None] * len(frame), dtype=pl.Null))
        [known] = parts([name for name in held if types[name] != pl.Null])
        return nw.from_native(pl.LazyFrame(nothing | known.to_dict()))
    return nw.from_native(in_blocks(types, parts))


def _declared(series: nw.Series[Any]) -> Any:  # noqa: ANN401 -- a type of polars
    """Return the type of a column in polars; that of nothing, if it has none."""
    none: Any = nw.to_native(series.head(0))
    if hasattr(none, "cat"):  # to pandas all categories are there
        none = none.cat.remove_unused_categories()
    with suppress(DataError):
        known = nw.from_native(none, series_only=True)
        return replaced(lambda: column_of(known).dtype, DataError)
    return pl.Null()


def column_of(series: nw.Series[Any]) -> pl.Series:
    """Return a column of any library in polars: of the type declared, or of objects.

    pandas declares no type of objects, nor of categories that are objects or truth values,
    of which 1 is one as well.
    """
    held, name = nw.to_native(series), str(series.name)
    if series.implementation.is_polars():
        return held
    stated: Any = getattr(held, "dtype", None)
    of_categories = str(getattr(getattr(stated, "categories", None), "dtype", ""))
    if isinstance(stated, np.dtype):
        return of_typed(held.to_numpy()).alias(name)
    if of_categories in {"object", "bool"}:
        return pl.Series(name, listed(series), dtype=pl.Object)
    if of_categories in {"str", "string"}:
        every = column_of(nw.from_native(stated.categories.to_series(), series_only=True))
        # That of a missing value is -1, which no unsigned integer is: it becomes null.
        codes = pl.Series(held.cat.codes.to_numpy()).cast(pl.UInt32, strict=False)
        return every.cast(pl.Categorical).gather(codes).alias(name)
    kind = Kind.of(series.dtype)
    if kind in {Kind.INTEGER, Kind.BOOLEAN} and not series.implementation.is_pyarrow():
        # A null would turn all integers into floats.
        known = series.fill_null(False if kind == Kind.BOOLEAN else 0).to_numpy()
        return pl.Series(name, known).set(pl.Series(series.is_null().to_numpy()), None)
    return _by_arrow(series, kind).alias(name)


def _by_arrow(series: nw.Series[Any], kind: Kind | None) -> pl.Series:
    """Return a column by Arrow; texts one by one where some are no UTF-8, or without it."""

    def found() -> pl.Series:
        column = series.to_arrow()
        held: Any = sys.modules["pyarrow"].types
        # What is wrong with a number or a moment is wrong with that one alone.
        is_one = held.is_primitive(column.type) or held.is_decimal(column.type)
        column.validate(full=not is_one)
        return pl.Series(column)

    if kind != Kind.TEXT:
        return replaced(found, partial(refused_type, series.name, series.dtype))
    with suppress(DataError):
        return replaced(found, DataError)
    return pl.Series(texts(listed(series)), dtype=pl.String)


def of_typed(array: Array) -> pl.Series:
    """Return an array of a type in polars; what has no microseconds of 64 bits is null."""
    if array.dtype.kind == "U":
        return pl.Series(texts(array.tolist()), dtype=pl.String)
    if array.dtype.kind == "O":
        return pl.Series(array.tolist(), dtype=pl.Object)
    if array.dtype.kind == "c":
        raise refused_type("", array.dtype)
    is_day, unit = array.dtype == np.dtype("M8[D]"), array.dtype.str[3:]
    if is_day or array.dtype.kind not in "mM" or unit in {"[us]", "[ns]"}:
        return pl.Series(array)
    micros, seconds = (f"{array.dtype.kind}8[{unit}]" for unit in ("us", "s"))
    held = array.astype(micros)
    is_held = held.astype(seconds) == array.astype(seconds)
    return pl.Series(held).set(pl.Series(~is_held), None)


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
    column = column_of(series)
    kind = kind_of(column.dtype, column.name)
    if kind != Kind.NUMBERS or column.dtype.is_decimal() or "128" in str(column.dtype):
        return ColumnValues(objects(column), kind)
    if column.null_count() == 0:
        return ColumnValues(column.to_numpy(), kind)
    # A null would turn all integers into floats.
    known = column.fill_null(False if column.dtype == pl.Boolean else 0)
    return ColumnValues(known.to_numpy(), kind, column.is_null().to_numpy())


def kind_of(dtype: Any, column: str = "") -> Kind:  # noqa: ANN401 -- of polars, or of NumPy
    """Return what a type declares of values, numbers of any type alike.

    Raises:
        ColumnError: It holds neither numbers nor text.
    """
    kind = Kind.ANYTHING if type(dtype).__name__ == "Null" else Kind.of(dtype)
    if kind is None or kind == Kind.DATE:
        raise refused_type(column, dtype)
    return Kind.NUMBERS if kind.is_number else kind


def of_array(array: Array) -> ColumnValues:
    """Return the values of an array of one dimension as its type declares them.

    Raises:
        ColumnError: Its type holds neither numbers nor text.
    """
    return ColumnValues(array, kind_of(array.dtype))


def of_objects(values: Sequence[object]) -> ColumnValues:
    """Return values that nothing is declared of."""
    return ColumnValues(objects(values), Kind.ANYTHING)


def as_kind(column: str, kind: Kind | Moment) -> pl.Expr:
    """Return a column of objects as texts, truth values, numbers or moments, one by one."""
    reads: dict[str, tuple[Callable[[Any], Any], Any]] = {
        "number": (_numbers, pl.Float64),
        Kind.TEXT: (texts, pl.String),
        Kind.BOOLEAN: (partial(map, Kind.BOOLEAN.code), pl.Boolean),
    }
    moment: Any = kind
    read, dtype = reads.get(kind, (partial(map, partial(moment_in, moment)), pl.Int64))
    return pl.col(column).map_batches(
        lambda given: pl.Series(read(given), dtype=dtype), dtype, is_elementwise=True
    )


def of_rows(rows: Iterable[object], width: int) -> list[ColumnValues]:
    """Return the columns of rows that declare no type: a list of lists, tuples, arrays.

    Args:
        rows: Private.
        width: The number of fields in a row. Public. Fields beyond it are not read; those
            that a row does not have, or all if it is no row, are missing.
    """
    filled = [(*_fields(row), *(None,) * width)[:width] for row in rows]
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
    named = f"column {column!r} is" if column else "the values are"
    return ColumnError(
        f"{named} of type {type_name(dtype)}: a column must hold numbers or text; cast it there"
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


def places_of(values: Array, listed: Sequence[Hashable], other: int = -1) -> Indices:
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


def _numbers(values: Iterable[Any]) -> Values:
    given = [*values]
    if set(map(type, given)) <= PLAIN_NUMBERS:
        with suppress(OverflowError):
            return np.array(given, dtype=np.float64)  # the same numbers, 20 times as fast
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([number(value) for value in given], dtype=np.float64)


def objects(values: Iterable[object]) -> Array:
    """Return values as an array of objects."""
    listed = list(values)
    return np.fromiter(listed, dtype=object, count=len(listed))
