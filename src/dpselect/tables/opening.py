"""Opening of tables: a path or any frame becomes a narwhals frame, and no row is read.

polars is the embedded engine and reads files; narwhals is the common interface to all frames.
The schema of a table is public and is quoted in errors. Its values are private and are not:
engines quote the field that they could not read, so their errors are replaced here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from glob import has_magic
from pathlib import Path, PurePath
from typing import Any, Self, TypeAlias

import narwhals as nw

from dpselect._optional import needed
from dpselect._replacing import replaced
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.tables.values import declares_nothing
from dpselect.tables.where import FilteredFile, kept

Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"

PARQUET = {".parquet", ".pq"}
CSV = {".csv", ".tsv"}
MANAGED = "open it by its own reader, such as {} or Spark's, and give the frame"
COMPRESSED = {".gz", ".zst"}


class SeparatedFile(str):
    """The path of a text file, a folder or a pattern, whose fields a given character separates.

    Without it a ``.tsv`` file is separated by tabs and a ``.csv`` file by commas.

    Attributes:
        separator: One character.

    Raises:
        ParameterError: It is not one character, or one that ends a line or quotes.
    """

    __slots__ = ("separator",)
    separator: str

    def __new__(cls, path: str | Path, separator: str) -> Self:
        if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
            raise ParameterError("separator must be one ASCII character, such as ; or |")
        made = super().__new__(cls, str(path))
        made.separator = separator
        return made


def open_table(data: object) -> Frame:
    """Return a table as a narwhals frame, without reading its rows.

    Args:
        data: A path (``str``, ``Path`` or :class:`SeparatedFile`) of a Parquet, ``.csv`` or
            ``.tsv`` file, the latter two also as ``.csv.gz`` or ``.csv.zst``, of a folder of
            such files or a pattern of their names such as ``"part-*.parquet"``; or any
            frame that narwhals knows: polars, pandas, pyarrow, DuckDB, PySpark and others.

    Returns:
        Lazy where the source is. All columns of a CSV file are text: it declares no types,
        and a type guessed from some fields would hang on private values.

    Raises:
        DataError: There is no such file, it cannot be read, or ``data`` is no table.
    """
    if isinstance(data, FilteredFile):
        rows = open_table(data.file)
        return kept(rows, data.comparisons, untyped=is_csv(data))
    if isinstance(data, str | Path):
        return _scan(data)
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
        numeric: Columns that must hold numbers. Any may in a CSV file, and any of objects in
            a frame in memory.
        plain: Columns of any type.

    Raises:
        ColumnError: A column is missing or not numeric.
        DataError: As for :func:`open_table`.
    """
    table = open_table(data)
    types = schema(table, data)
    for column in [*numeric, *plain]:
        if not isinstance(column, str):
            raise ColumnError(f"a column is named by a text, not by a {type(column).__name__}")
        if column not in types:
            near = get_close_matches(column, list(types), n=1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            raise ColumnError(f"there is no column {column!r}; {meant}{choices(types, data)}")
    eager = isinstance(table, nw.DataFrame)
    for column in numeric:
        # Values that nothing is declared of are read one by one.
        if not is_csv(data) and not (
            types[column].is_numeric() or (eager and types[column] == nw.Object)
        ):
            raise ColumnError(
                f"column {column!r} is of type {types[column]}, which is not numeric; "
                f"{choices(types, data)}"
            )
    return table


def is_table(data: object) -> bool:
    """Return whether data are a path or a frame, not the values themselves."""
    if isinstance(data, str | Path):
        return True
    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)


def is_lazy(data: object) -> bool:
    """Return whether data are a frame whose rows stay in their engine until collected."""
    if isinstance(data, str | Path):
        return False
    return isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)


def is_csv(data: object) -> bool:
    """Return whether data are a path of CSV files, which declare no types."""
    if not isinstance(data, str | Path):
        return False
    return all(kind_of(file) in CSV for file in _files(data))


def kind_of(path: PurePath) -> str:
    """Return the ending of a file's name in small letters, without that of a compression."""
    name = PurePath(path.stem) if path.suffix.lower() in COMPRESSED else path
    return name.suffix.lower()


def separator_of(data: object, kind: str) -> str:
    """Return what separates the fields of a text file of a kind."""
    path = data.file if isinstance(data, FilteredFile) else data
    if isinstance(path, SeparatedFile):
        return path.separator
    return "\t" if kind == ".tsv" else ","


def schema(table: Frame, data: object) -> nw.Schema:
    """Return the columns and their types; of those that declare none, ``Object``."""
    types = replaced(table.collect_schema, lambda: unreadable(data))
    if isinstance(table, nw.DataFrame):
        nothing = {c for c in table.columns if declares_nothing(table.get_column(c))}
        return nw.Schema({c: nw.Object() if c in nothing else k for c, k in types.items()})
    return types


def unreadable(data: object) -> DataError:
    """Return the error that says what a table must be like, and nothing of what it holds."""
    if is_csv(data):
        right = "it must have a header, and every quotation mark must be closed"
    elif isinstance(data, str | Path):
        right = "it must be a Parquet file that is complete"
    else:
        right = "its engine refused the query"
        if _is_of_spark(data):
            right = (
                "Spark stopped the query, as it does for a file that is incomplete, not of "
                "the types it declares or not where its executors look for it, and when "
                "executors or its server are lost; their logs say which"
            )
    name = str(data) if isinstance(data, str | Path) else "the table"
    return DataError(f"{name} cannot be read: {right}")


def _is_of_spark(data: object) -> bool:
    frame = nw.from_native(data, pass_through=True)
    return isinstance(frame, nw.LazyFrame) and frame.implementation.is_spark_like()


def choices(types: nw.Schema, data: object) -> str:
    """Return which columns there are to choose from."""
    if is_csv(data):
        return f"the columns are: {', '.join(types)}"
    numeric = [name for name, kind in types.items() if kind.is_numeric()]
    return f"the numeric columns are: {', '.join(numeric) or '(none)'}"


def _scan(data: str | Path) -> nw.LazyFrame[Any]:
    needed("polars", extra="standard")
    import polars as pl

    found = _files(data)
    kinds = {kind_of(file) for file in found}
    if not kinds <= PARQUET | CSV:
        raise DataError(f"{data} must be a .parquet, .csv or .tsv file")
    if not (kinds <= PARQUET or len(kinds) == 1):
        raise DataError(f"{data} must be files of one kind: .parquet, .csv or .tsv")
    if kinds <= PARQUET and isinstance(data, SeparatedFile):
        raise ParameterError("a separator goes with .csv and .tsv files")
    refuse_managed(data, found)
    missing = [file for file in found if not file.is_file()]
    if missing or not found:
        raise DataError(f"there is no file {data}")
    if kinds <= PARQUET:
        names = _folder_keys(found)
        if not names:
            return nw.from_native(pl.scan_parquet(found, glob=False))
        # Types guessed from folders' names would hang on values: they are text.
        text = dict.fromkeys(names, pl.String)
        return nw.from_native(
            pl.scan_parquet(found, glob=False, hive_partitioning=True, hive_schema=text)
        )
    # What one record has too much or in another encoding is repaired there.
    return nw.from_native(
        pl.scan_csv(
            found,
            separator=separator_of(data, next(iter(kinds))),
            infer_schema=False,
            glob=False,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
        )
    )


def refuse_managed(data: str | Path, files: Iterable[Path]) -> None:
    """Refuse the files of a table whose live rows are named by a log beside them.

    Deleted and replaced rows stay in its files, and would be counted.

    Raises:
        DataError: The files are those of a Delta or Iceberg table.
    """
    folders = {folder for file in files for folder in [Path(data), *file.parents]}
    for folder in folders:
        if (folder / "_delta_log").is_dir():
            raise DataError(f"{data} is a Delta table; {MANAGED.format('polars.scan_delta')}")
        if any((folder / "metadata").glob("*.metadata.json")):
            reader = "polars.scan_iceberg"
            raise DataError(f"{data} is an Iceberg table; {MANAGED.format(reader)}")


def _folder_keys(files: Sequence[Path]) -> list[str]:
    """Return the columns that folders named ``column=value`` hold, those of all files."""
    keys = [[part.split("=")[0] for part in file.parts[:-1] if "=" in part] for file in files]
    return keys[0] if keys and all(one == keys[0] for one in keys) else []


def _files(data: str | Path) -> list[Path]:
    """Return the files that a path, a folder or a pattern stands for; a path need not be."""
    path = Path(data)
    if path.is_dir():
        # Engines leave files such as _SUCCESS and .part.crc beside the parts they write.
        return sorted(
            file
            for file in path.rglob("*")
            if kind_of(file) in PARQUET | CSV and not file.name.startswith(("_", "."))
        )
    if has_magic(str(path)) and not path.exists():
        return sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    return [path]
