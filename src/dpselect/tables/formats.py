"""Formats of files, by the endings of their names: how each is read, or what to do instead.

A schema is the file's own where it declares one. Where it does not, fields are text: no type is
found out from rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import curdir
from os.path import join
from pathlib import Path
from typing import Any

from dpselect._optional import needed, pl
from dpselect.errors import DataError
from dpselect.tables.dialect import DEFAULTS, WRITTEN, Dialect
from dpselect.tables.text import (
    CONTRADICTION,
    TextFiles,
    alike,
    cleaned,
    in_blocks,
    names_of,
)


@dataclass(frozen=True, kw_only=True)
class Format:
    """How files of a format are read.

    Attributes:
        name: What a file of it is, in words.
        scan: Returns the rows of files by their dialect, ending, and columns that are asked
            for as numbers, which text files are read as; none is read.
        stated: What a source can state of such files.
        is_text: Whether the fields are text, of which no type is declared.
    """

    name: str
    scan: Callable[[Sequence[Path], Dialect, str, Collection[str]], pl.LazyFrame]
    stated: frozenset[str] = frozenset({"format"})
    is_text: bool = False

    @property
    def reads_lines(self) -> bool:
        """Whether its records are lines, of which the first may name the columns."""
        return self.scan is _text

    @property
    def right(self) -> str:
        """What a file of it must be."""
        if self.reads_lines:
            return CONTRADICTION
        return f"it must be {self.name} that is complete, of columns with different names"


def literal(file: Path) -> str:
    """Return the name of a file as one that no engine takes for a home or a server."""
    return join(curdir, file)  # noqa: PTH118 -- a Path drops the dot


def _parquet(files: Sequence[Path], *_: object) -> pl.LazyFrame:

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


def _text(
    files: Sequence[Path], dialect: Dialect, kind: str, numbers: Collection[str]
) -> pl.LazyFrame:
    return TextFiles(files, dialect, kind, numbers).scan()


def _workbooks(files: Sequence[Path], dialect: Dialect, *_: object) -> pl.LazyFrame:
    """Return the cells of workbooks of one sheet as text, each by itself."""
    fastexcel: Any = needed("fastexcel", extra="formats")

    def sheet(file: Path, skip: int, most: int | None = None) -> pl.DataFrame:
        book = fastexcel.read_excel(file)
        if len(book.sheet_names) != 1:
            raise DataError(
                f"{file.name} has {len(book.sheet_names)} sheets: save the one to read as "
                "CSV UTF-8, or give the frame of polars.read_excel"
            )
        cells = {"header_row": None, "skip_rows": skip, "n_rows": most, "dtypes": "string"}
        found: pl.DataFrame = book.load_sheet(0, **cells).to_polars()
        return found

    def named(file: Path) -> list[str]:
        def first() -> list[str]:
            cells = sheet(file, dialect.skip_lines, 1).rows()
            return [str(one or "").strip() for row in cells for one in row]

        return names_of(dialect, first, file)

    names = alike(files, named)

    def frames(wanted: list[str]) -> Iterator[pl.DataFrame]:
        for file in files:
            found = sheet(file, dialect.skip_lines + (dialect.header is True))
            cells = {name: pl.lit(None, pl.String) for name in names}
            # A day is written by Excel as its midnight.
            cells |= {
                name: pl.col(place).str.replace(" 00:00:00$", "")
                for name, place in zip(names, found.columns, strict=False)
            }
            yield found.select(cleaned(cells[name], dialect).alias(name) for name in wanted)

    return in_blocks(dict.fromkeys(names, pl.String), frames)


_EVERY = frozenset(DEFAULTS)
_CELLS = _EVERY - {"separator", "quote", "encoding", "comment"}
_PARQUET = Format(name="a Parquet file", scan=_parquet)
_ARROW = Format(name="an Arrow IPC file (Feather 2)", scan=_arrow)
_EXCEL = Format(name="an Excel workbook", scan=_workbooks, stated=_CELLS, is_text=True)


def _by_ending(*groups: tuple[str, Any]) -> dict[str, Any]:
    return {ending: one for endings, one in groups for ending in endings.split()}


FORMATS: dict[str, Format] = {
    **dict.fromkeys(
        WRITTEN, Format(name="a text file", scan=_text, stated=_EVERY, is_text=True)
    ),
    **_by_ending(
        (".parquet .pq", _PARQUET),
        (".arrow .feather .ipc", _ARROW),
        (".xlsx .xlsm", _EXCEL),
    ),
}
"""The formats that are read, by ending."""

PARQUET = frozenset(kind for kind, one in FORMATS.items() if one is _PARQUET)

CURES: dict[str, str] = _by_ending(
    (".zip .zst .bz2 .xz .7z .rar .tar .tgz .z", "unpack it"),
    (".jsonl .ndjson .json", "give the frame of polars.read_ndjson or read_json, of a schema"),
    (".dta .sav .zsav .sas7bdat .xpt", "give the frame of pandas.read_stata, read_spss, ..."),
    (".xls .xlsb .ods .numbers", "save the sheet as .xlsx or CSV UTF-8"),
    (".rds .rda .rdata", "write it by arrow::write_parquet or write.csv of R"),
    (".duckdb .db", "read a table of DuckDB as clinic.duckdb::stays by --engine duckdb"),
    (".sqlite .sqlite3 .mdb .accdb .sql", "give the frame of polars.read_database"),
    (".shp .gpkg .geojson .fgb .kml .gml .gpx", "give the frame of geopandas.read_file"),
    (".graphml .gexf .net .mtx .graph", "for a network give the graph of networkx"),
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
    cure = cure or "say its `format`, such as csv, or rename it"
    return DataError(f"{named} must be a .csv, .tsv, .parquet or .xlsx file: {cure}")
