"""The one door for tables: a path or any frame in, plain columns out.

polars is the embedded engine and reads files; narwhals is the one language for everybody
else's frames. Whatever holds the rows keeps them: only the columns asked for come out. The
schema of a table is public and is quoted in errors, its values are private and are not:
engines quote the field that they could not read, so their errors end here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.typing import Values

Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"

PARQUET = {".parquet", ".pq"}
CSV = {".csv"}


def open_table(data: object) -> Frame:
    """Return a table as a narwhals frame, without reading its rows.

    Args:
        data: A path (``str`` or ``Path``) of a Parquet or CSV file, or any frame that
            narwhals knows: polars, pandas, pyarrow, DuckDB, PySpark and others.

    Returns:
        Lazy where the source is. All columns of a CSV file are text: it declares no types,
        and a type guessed from some fields would hang on private values.

    Raises:
        DataError: There is no such file, it cannot be read, or ``data`` is no table.
    """
    if isinstance(data, str | Path):
        return _scan(Path(data))
    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise DataError(
            "data must be a frame (polars, pandas, pyarrow, DuckDB, ...) or the path of a "
            f".parquet or .csv file, not a {type(data).__name__}"
        )
    return frame


def check_columns(
    data: object, *, numeric: Sequence[str] = (), plain: Sequence[str] = ()
) -> Frame:
    """Return the opened table if it has these columns; no row is read.

    Args:
        data: As for :func:`open_table`.
        numeric: Columns that must hold numbers. Any may in a CSV file.
        plain: Columns of any type.

    Raises:
        ColumnError: A column is missing or not numeric.
        DataError: As for :func:`open_table`.
    """
    table = open_table(data)
    schema = _schema(table, data)
    for column in [*numeric, *plain]:
        if column not in schema:
            raise ColumnError(f"there is no column {column!r}; {_choices(schema, data)}")
    for column in numeric:
        if not is_csv(data) and not schema[column].is_numeric():
            raise ColumnError(
                f"column {column!r} is of type {schema[column]}, which is not numeric; "
                f"{_choices(schema, data)}"
            )
    return table


def count_records(
    data: object, *, numeric: Sequence[str] = (), plain: Sequence[str] = ()
) -> int:
    """Return the number of rows of a table that has these columns; no value is read.

    It is private unless the neighbour relation is substitution.

    Raises:
        ColumnError, DataError: As for :func:`check_columns`.
    """
    table = check_columns(data, numeric=numeric, plain=plain)
    return int(_collect(table.select(nw.len().alias("records")), data)["records"][0])


def read_columns(
    data: object, *, numeric: Sequence[str], plain: Sequence[str] = ()
) -> nw.DataFrame[Any]:
    """Return some columns of a table, row by row as they belong together.

    Args:
        data: As for :func:`open_table`.
        numeric: Columns to return as float64, a missing number as null or NaN. A field of
            a CSV file that is not a number is a missing one.
        plain: Columns to return as they are.

    Returns:
        An eager frame of the columns, in the order named. Private.

    Raises:
        ColumnError: A column is missing or not numeric.
        DataError: As for :func:`open_table`, or the rows cannot be read.
    """
    table = check_columns(data, numeric=numeric, plain=plain)
    numbers = _parsed(table, numeric) if is_csv(data) else _as_floats(table, numeric)
    frame = _collect(numbers.select(*dict.fromkeys([*numeric, *plain])), data)
    if is_csv(data):
        _refuse_text(frame, numeric)
    return frame


def numeric_column(data: object, column: str | None = None) -> Values:
    """Return one column of numbers.

    Args:
        data: As for :func:`open_table`; or, without ``column``, the numbers themselves: an
            array, a list or a Series of any kind.
        column: The name of the column.

    Returns:
        Shape ``(n,)``, float64, a missing number as NaN. Private.

    Raises:
        ColumnError: The column is missing, not numeric, or not named.
        DataError: As for :func:`read_columns`.
    """
    if _is_table(data):
        if column is None:
            table = open_table(data)
            raise ColumnError(
                f"data is a table: name the column; {_choices(_schema(table, data), data)}"
            )
        return series_numbers(read_columns(data, numeric=[column])[column])
    if column is not None:
        raise ParameterError(
            f"column is for tables, and data is a {type(data).__name__}: leave it out"
        )
    series = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        if not series.dtype.is_numeric():
            raise DataError(f"the values are of type {series.dtype}, which is not numeric")
        return series_numbers(series)
    return _numbers(data)


def series_numbers(series: nw.Series[Any]) -> Values:
    """Return a numeric Series as float64, a missing number as NaN."""
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def is_csv(data: object) -> bool:
    """Return whether data is the path of a CSV file, whose fields are all text."""
    return isinstance(data, str | Path) and Path(data).suffix.lower() in CSV


def _is_table(data: object) -> bool:
    if isinstance(data, str | Path):
        return True
    frame = nw.from_native(data, pass_through=True)
    return isinstance(frame, nw.DataFrame | nw.LazyFrame)


def _scan(path: Path) -> nw.LazyFrame[Any]:
    import polars as pl

    kind = path.suffix.lower()
    if kind not in PARQUET | CSV:
        raise DataError(f"{path} must be a .parquet or a .csv file")
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    if kind in PARQUET:
        return nw.from_native(pl.scan_parquet(path))
    return nw.from_native(pl.scan_csv(path, infer_schema=False))


def _schema(table: Frame, data: object) -> nw.Schema:
    try:
        return table.collect_schema()
    except Exception:  # noqa: BLE001 -- every engine has its own, and each may quote values
        raise DataError(f"{_name(data)} cannot be read: {_what_is_right(data)}") from None


def _collect(table: Frame, data: object) -> nw.DataFrame[Any]:
    if isinstance(table, nw.DataFrame):
        return table
    try:
        return table.collect()
    except Exception:  # noqa: BLE001 -- every engine has its own, and each may quote values
        raise DataError(f"{_name(data)} cannot be read: {_what_is_right(data)}") from None


def _name(data: object) -> str:
    return str(data) if isinstance(data, str | Path) else f"the {type(data).__name__}"


def _what_is_right(data: object) -> str:
    if is_csv(data):
        return "it must be UTF-8 text with a header and as many fields in every line"
    if isinstance(data, str | Path):
        return "it must be a Parquet file that is complete"
    return "its engine refused the query"


def _choices(schema: nw.Schema, data: object) -> str:
    if is_csv(data):
        return f"the columns are: {', '.join(schema)}"
    numeric = [name for name, kind in schema.items() if kind.is_numeric()]
    return f"the numeric columns are: {', '.join(numeric) or '(none)'}"


def _as_floats(table: Frame, columns: Sequence[str]) -> Frame:
    return table.with_columns(nw.col(column).cast(nw.Float64) for column in columns)


def _parsed(table: Frame, columns: Sequence[str]) -> Frame:
    import polars as pl

    trimmed = (pl.col(column).str.strip_chars() for column in columns)
    numbers = [text.cast(pl.Float64, strict=False) for text in trimmed]
    return nw.from_native(nw.to_native(table).with_columns(numbers))


def _refuse_text(frame: nw.DataFrame[Any], columns: Sequence[str]) -> None:
    # One field more or less decides this only in a column with a single number.
    for column in columns:
        if len(frame) > 0 and frame[column].is_null().all():
            raise ColumnError(f"column {column!r} holds no numbers; name a numeric column")


def _numbers(values: Any) -> Values:  # noqa: ANN401 -- whatever numpy takes
    array = np.asarray(values)
    refusal = "the values must be numbers, one for each record"
    if array.dtype.kind not in "iufO":
        raise DataError(refusal)
    try:
        numbers = array.astype(np.float64)  # a missing number, None, becomes NaN
    except (TypeError, ValueError, OverflowError):
        raise DataError(refusal) from None
    if numbers.ndim != 1:
        raise DataError(
            f"the values must be one number for each record, not of {numbers.ndim} dimensions"
        )
    return numbers
