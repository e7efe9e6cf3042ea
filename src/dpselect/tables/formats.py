"""Formats of files, by the endings of their names: how each is read, or what to do instead.

A schema is the file's own where it declares one. Where it does not, fields are text: no type is
found out from rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import curdir
from os.path import join
from pathlib import Path
from typing import Any, TypeVar

from dpselect._optional import needed, pl
from dpselect.errors import DataError, ParameterError
from dpselect.passes import replaced
from dpselect.tables.dialect import DEFAULTS, WORKBOOKS, WRITTEN, Dialect
from dpselect.tables.text import (
    CONTRADICTION,
    alike,
    cleaned,
    first_line,
    in_blocks,
    names_of,
    opened,
    scan_text,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Format:
    """How files of a format are read.

    Attributes:
        name: What a file of it is, in words.
        scan: Returns the rows of files by their dialect, and columns that are asked for as
            numbers, which text files are read as; none is read.
        stated: What a source can state of such files.
        is_text: Whether the fields are text, of which no type is declared.
    """

    name: str
    scan: Callable[[Sequence[Path], Dialect, Collection[str]], pl.LazyFrame]
    stated: frozenset[str] = frozenset({"format"})
    is_text: bool = False

    @property
    def reads_lines(self) -> bool:
        """Whether its records are lines, of which the first may name the columns."""
        return self.scan is scan_text

    @property
    def right(self) -> str:
        """What a file of it must be."""
        if self.reads_lines:
            return CONTRADICTION
        return (
            f"it must be {self.name}, of columns with different names and of "
            f"types that polars has{' (`engine`=duckdb has others)' * (self.scan is _parquet)}"
        )


def literal(file: Path) -> str:
    """Return the name of a file as one that no engine takes for a home or a server."""
    return join(curdir, file)  # noqa: PTH118 -- a Path drops the dot


def check_clocks(files: Sequence[Path]) -> None:
    """Refuse local times beside those of a zone: engines take them for each other.

    Raises:
        DataError: A column of Parquet files holds both.
    """

    def local(file: Path) -> dict[str, bool]:
        types = pl.read_parquet_schema(literal(file)).items()
        return {one: of.time_zone is None for one, of in types if isinstance(of, pl.Datetime)}

    if len(files) > 1 and local(files[0]):
        alike(files, local)


def _parquet(files: Sequence[Path], *_: object) -> pl.LazyFrame:
    check_clocks(files)
    # Types guessed from folders' names would depend on values: they are text.
    keys = dict.fromkeys(_folder_keys(files), pl.String)
    how: Any = {"hive_partitioning": True, "hive_schema": keys} if keys else {}
    return pl.scan_parquet([*map(literal, files)], glob=False, **how)


def _folder_keys(files: Sequence[Path]) -> list[str]:
    """Return the columns that folders named ``column=value`` hold, those of all files."""
    keys = [[part.split("=")[0] for part in file.parts[:-1] if "=" in part] for file in files]
    return keys[0] if keys and all(one == keys[0] for one in keys) else []


def _arrow(files: Sequence[Path], *_: object) -> pl.LazyFrame:

    return pl.scan_ipc([*map(literal, files)], glob=False)


def _json_lines(files: Sequence[Path], dialect: Dialect, *_: object) -> pl.LazyFrame:
    """Return objects of one line each; the keys of the first name the columns."""
    # No character that JSON allows separates the only field.
    line = replace(
        dialect, separator="\1", quote="none", header=["line"], missing=(), strip=True
    )
    names = dialect.header
    if isinstance(names, bool):
        with opened(files[0], line) as held:
            names = replaced(
                lambda: list(json.loads(first_line(held, line)).keys()),
                lambda: DataError(
                    f"{files[0].name}: its first line must be an object of JSON, whose keys "
                    "name the columns; of UTF-16 and the like say `encoding`"
                ),
            )
    whole = pl.col("line")

    def field(name: str) -> pl.Expr:
        path = f"${json.dumps([name], ensure_ascii=False)}"
        return cleaned(whole.str.json_path_match(path), dialect).alias(name)

    return scan_text(files, line).filter(whole.is_not_null()).select(map(field, names))


def sheets_of(file: Path) -> list[str]:
    """Return the names of the sheets of a workbook."""
    names: list[str] = needed("fastexcel", extra="formats").read_excel(file).sheet_names
    return names


def _workbooks(files: Sequence[Path], dialect: Dialect, *_: object) -> pl.LazyFrame:
    """Return the cells of a sheet of workbooks as text, each by itself."""
    fastexcel: Any = needed("fastexcel", extra="formats")

    def sheet(file: Path, skip: int, most: int | None = None) -> pl.DataFrame:
        book = fastexcel.read_excel(file)
        sheets = book.sheet_names if dialect.sheet is None else [dialect.sheet]
        if len(sheets) != 1 or sheets[0] not in book.sheet_names:
            raise DataError(
                f"{file.name} has {len(book.sheet_names)} sheets: name one by `sheet`; "
                "`dpselect look` lists them for who may read the file"
            )
        cells = {"header_row": None, "skip_rows": skip, "n_rows": most, "dtypes": "string"}
        found: pl.DataFrame = book.load_sheet(sheets[0], **cells).to_polars()
        return found

    def named(file: Path) -> list[str]:
        def first() -> list[str]:
            cells = sheet(file, dialect.skip_lines, 1).rows()
            return [str(one or "").strip() for row in cells for one in row]

        return names_of(dialect, first, file)

    names = alike(files, named)
    none = pl.DataFrame(schema=dict.fromkeys(names, pl.String))

    def frames(wanted: list[str]) -> Iterator[pl.DataFrame]:
        for file in files:
            found = sheet(file, dialect.skip_lines + (dialect.header is True))
            found = found.rename(dict(zip(found.columns, names, strict=False)))
            # Rows may have fewer cells than there are names.
            cells = pl.concat([none, found], how="diagonal")
            # A day is written by Excel as its midnight, and a name may be a pattern.
            texts = (pl.lit(cells[one]).str.replace(" 00:00:00$", "") for one in wanted)
            yield cells.select(cleaned(text, dialect) for text in texts)

    return in_blocks(none.schema, frames)


_DAY = 86_400_000_000
_STATA = ((r"%-?t[cC]", "time", 1000), (r"%-?t?d", "date", _DAY))
_SPSS = ((r"DATETIME|YMDHMS", "time", 1_000_000), (r"[AES]?DATE", "date", 1_000_000))
_SAS = (
    (r"DATETIME|E8601DT|DATEAMPM", "time", 1_000_000),
    (r"DATE|DDMMYY|MMDDYY|YYMMDD|E8601DA", "date", _DAY),
)
_MOMENTS = {
    **dict.fromkeys((".sav", ".zsav"), (-141_428 * _DAY, _SPSS)),  # since 14 October 1582
    **dict.fromkeys((".sas7bdat", ".xpt"), (-3_653 * _DAY, _SAS)),  # since 1960
    ".dta": (-3_653 * _DAY, _STATA),
}
"""Since when columns of moments count; their forms, what they are, and their microseconds."""

_YEARS = (-62_135_596_800_000_000, 253_402_300_799_000_000)
"""The years 1 to 9999, in microseconds."""

_READERS = {".zsav": "sav", ".xpt": "xport"}


def _statistics(files: Sequence[Path], dialect: Dialect, *_: object) -> pl.LazyFrame:
    """Return tables of Stata, SPSS or SAS: texts, moments, and numbers as float64.

    The smaller types of Stata are those that the values of one version of the table fit in.
    """
    pyreadstat: Any = needed("pyreadstat", extra="formats")
    kind = str(dialect.format)
    read = partial(
        getattr(pyreadstat, f"read_{_READERS.get(kind, kind[1:])}"),
        output_format="dict",
        disable_datetime_conversion=True,
        encoding=None if dialect.encoding == "utf-8" else dialect.encoding,
    )

    def schema_of(file: Path) -> dict[str, Any]:
        stored, made = _fields_of(read(file, metadataonly=True)[1], dialect)
        return dict(pl.DataFrame(schema=stored).select(made.values()).schema)

    schema = alike(files, schema_of)
    if other := [one for one in dialect.column_type.values() if one not in {"integer", "text"}]:
        raise ParameterError(
            f"`column_type` of such a file must be integer, or text (labels), not {other[0]!r}"
        )

    def frames(wanted: list[str]) -> Iterator[pl.DataFrame]:
        for file in files:
            values, meta = read(file, usecols=wanted)
            stored, made = _fields_of(meta, dialect)
            found = {one: pl.Series(values[one], dtype=stored[one]) for one in wanted}
            yield pl.DataFrame(found).select(made[one] for one in wanted)

    return in_blocks(schema, frames)


def _fields_of(meta: Any, dialect: Dialect) -> tuple[dict[str, Any], dict[str, pl.Expr]]:  # noqa: ANN401 -- of pyreadstat
    """Return the types of columns as they are stored, and what is read of them."""
    stored: dict[str, Any] = {}
    made: dict[str, pl.Expr] = {}
    for column, kept in meta.readstat_variable_types.items():
        held, stated = pl.col(column), dialect.column_type.get(column)
        form = str(meta.original_variable_types[column] or "")
        since, moments = _MOMENTS[str(dialect.format)]
        _, moment, unit = next((one for one in moments if re.match(one[0], form)), ("", "", 0))
        stored[column] = pl.String if kept == "string" else pl.Float64
        if kept == "string":
            held = pl.when(held != "").then(held)
        elif stated == "text":
            held = _labelled(held, meta.variable_value_labels.get(column, {}))
        elif unit:
            micros = (held * unit + since).round()
            held = pl.when(micros.is_between(*_YEARS)).then(micros).cast(pl.Int64)
            held = held.cast(pl.Datetime("us"))
            held = held.cast(pl.Date) if moment == "date" else held
        elif stated == "integer":
            held = pl.when(held == held.round()).then(held).cast(pl.Int64, strict=False)
        made[column] = held.alias(column)
    return stored, made


def _labelled(held: pl.Expr, labels: Mapping[float, str]) -> pl.Expr:
    """Return the labels of numbers, which a file states; of others their digits."""
    digits = held.cast(pl.String).str.replace("[.]0$", "")
    if not labels:
        return digits
    old = pl.Series([*map(float, labels)], dtype=pl.Float64)
    return held.replace_strict(old, [*labels.values()], default=digits, return_dtype=pl.String)


_EVERY = frozenset(DEFAULTS) - {"sheet"}
_MARKS = frozenset({"separator", "quote"})
_CELLS = frozenset(DEFAULTS) - _MARKS - {"encoding", "comment"}
_OF_STATISTICS = frozenset({"format", "encoding", "column_type"})


def _by_ending(*groups: tuple[str, T]) -> dict[str, T]:
    return {ending: one for endings, one in groups for ending in endings.split()}


FORMATS: dict[str, Format] = _by_ending(
    (" ".join(WRITTEN), Format("a text file", scan_text, _EVERY, is_text=True)),
    (".parquet .pq", Format("a Parquet file", _parquet)),
    (".arrow .feather .ipc", Format("an Arrow IPC file (no stream, Feather 2)", _arrow)),
    (".jsonl .ndjson", Format("lines of JSON", _json_lines, _EVERY - _MARKS, is_text=True)),
    (" ".join(WORKBOOKS), Format("an Excel workbook", _workbooks, _CELLS, is_text=True)),
    (".dta", Format("a Stata file", _statistics, _OF_STATISTICS)),
    (".sav .zsav", Format("an SPSS file", _statistics, _OF_STATISTICS)),
    (".sas7bdat .xpt", Format("a SAS file", _statistics, _OF_STATISTICS)),
)
"""The formats that are read, by ending."""

TEXTS = frozenset(kind for kind, one in FORMATS.items() if one.is_text)
PARQUET = frozenset(kind for kind, one in FORMATS.items() if one.scan is _parquet)

OTHERS = "`engine`=polars reads other files that are here; elsewhere write them as Parquet"
"""What to do with files that an engine does not read."""

CURES: dict[str, str] = _by_ending(
    (".zip .bz2 .xz .7z .rar .tar .tgz .z", "unpack it"),
    (".json", "write it as .jsonl, name GeoJSON .geojson, or give polars.read_json(FILE)"),
    (".xls .xlsb .ods .numbers", "save the sheet as .xlsx or CSV UTF-8"),
    (".rds .rda .rdata", "write it by arrow::write_parquet or write.csv of R"),
    (".duckdb .db", "read a table of DuckDB as clinic.duckdb::stays by --engine duckdb"),
    (".sqlite .sqlite3 .mdb .accdb .sql", "give the frame of polars.read_database"),
    (".shp .gpkg .geojson .geojsonl .fgb .kml .gml .gpx", "give geopandas.read_file(FILE)"),
    (".graphml .gexf .net .mtx .graph .dot .gv", "for a network give the graph of networkx"),
    (".orc .h5 .hdf5 .hdf .pkl .pickle", "give the frame of pandas.read_orc or its like"),
    (".avro .por .html .xml", "give the frame of its reader, such as pandas.read_xml"),
)
"""What to do with a file that is not read, by ending."""


def refusal(named: str, kinds: Iterable[str]) -> DataError:
    """Return the error of files that are not read, with what to do.

    Args:
        named: The files.
        kinds: Their endings.
    """
    found = {kind.partition("::")[0] for kind in kinds}
    cure = next((CURES[kind] for kind in sorted(found) if kind in CURES), None)
    cure = cure or "say its `format`, such as csv, or rename it (a list of edges: .edges)"
    return DataError(f"{named} must be a .csv, .tsv, .parquet, .jsonl or .xlsx file: {cure}")
