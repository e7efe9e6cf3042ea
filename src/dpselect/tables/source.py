"""Sources of rows: the files that a path stands for, or a frame, and which rows are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from glob import has_magic
from os import PathLike, curdir
from os.path import join, realpath
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from dpselect import validation
from dpselect.errors import DataError, ParameterError
from dpselect.tables.fields import FIELD_TYPES, FieldType
from dpselect.tables.where import Comparison

if TYPE_CHECKING:
    import narwhals as nw

Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"

PARQUET = {".parquet", ".pq"}
CSV = {".csv", ".tsv"}
COMPRESSED = {".gz", ".zst"}
DECIMALS = (".", ",")
MANAGED = "open it by its own reader, such as {} or Spark's, and give the frame"


@dataclass(frozen=True)
class Source:
    """Rows of a file or of a frame: all of them, or those selected by comparisons.

    It can be given wherever a path or a frame can. The number of selected rows is private, even
    if the number of all rows is not.

    Attributes:
        path: Path of a Parquet, ``.csv`` or ``.tsv`` file, the latter two also as
            ``.csv.gz`` or ``.csv.zst``, of a folder of such files or a pattern of their names
            such as ``"part-*.parquet"``.
        frame: Any frame that narwhals knows, instead of a path: polars, pandas, pyarrow,
            DuckDB, PySpark and others.
        separator: Separator of the fields of a text file: one character. If not given, tabs in
            ``.tsv`` files and commas in others.
        decimal: The mark before the decimals of numbers in a text file: ``"."`` or ``","``. A
            number with the other one is missing, since it might separate thousands.
        where: Comparisons such as ``"year >= 2024"`` or ``"ward = 'A'"``; all must hold.
            Public.
        column_type: Types of the columns of a text file, by name: ``"text"``, ``"number"``,
            ``"integer"``, ``"date"`` as 2026-01-31 or ``"time"`` as 2026-01-31T12:00. A field
            that is not of the type is missing. Public, and not to be read off the fields.

    Raises:
        ParameterError: There are a path and a frame; the separator is not one character, or
            ends a line or quotes; the decimal mark is another, or the separator; there is no
            such type; or a comparison cannot be read.
    """

    path: str | PathLike[str] | None = None
    frame: Any = field(default=None, compare=False, repr=False)
    separator: str | None = None
    decimal: str = "."
    where: Sequence[str] = ()
    column_type: Mapping[str, FieldType] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.path is not None and self.frame is not None:
            raise validation.one_of_two("path", "frame")
        one = self.separator
        if one is not None and (len(one) != 1 or not one.isascii() or one in '"\r\n'):
            raise ParameterError("`separator` must be one ASCII character, such as ; or |")
        validation.one_of("decimal", self.decimal, DECIMALS)
        for kind in self.column_type.values():
            validation.one_of("column_type", kind, FIELD_TYPES)
        if self._says_how_to_read and self.path is None:
            raise ParameterError("`separator`, `decimal` and `column_type` go with `path`")
        where = (self.where,) if isinstance(self.where, str) else tuple(self.where)
        object.__setattr__(self, "where", where)
        self.comparisons  # noqa: B018 -- they are read

    @classmethod
    def of(cls, data: object) -> Source:
        """Return data as a source; data are a path, a frame or a source."""
        if isinstance(data, Source):
            return data
        return cls(data) if isinstance(data, str | PathLike) else cls(frame=data)

    def __str__(self) -> str:
        return "the table" if self.path is None else str(self.path)

    @property
    def stated_rows(self) -> dict[str, object]:
        """The selection of rows, and the options by which a text file is read; public."""
        decimal = None if self.decimal == "." else self.decimal
        given = {
            "where": list(self.where),
            "separator": self.separator,
            "decimal": decimal,
            "column_type": dict(sorted(self.column_type.items())),
        }
        return {name: one for name, one in given.items() if one}

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons of ``where``."""
        return tuple(map(Comparison.read, self.where))

    @property
    def is_csv(self) -> bool:
        """Whether the rows are those of text files, which declare no types."""
        return self.path is not None and all(ending(file) in CSV for file in self.files())

    @property
    def _says_how_to_read(self) -> bool:
        return self.separator is not None or self.decimal != "." or bool(self.column_type)

    def refuse_typed(self) -> None:
        """Refuse options of text files for files that are not text files.

        Raises:
            ParameterError: The source has such options.
        """
        if self._says_how_to_read:
            raise ParameterError(
                "`separator`, `decimal` and `column_type` go with .csv and .tsv files"
            )

    def is_untyped(self, column: str) -> bool:
        """Whether a column is in text files and has no declared type."""
        return self.is_csv and column not in self.column_type

    def separator_of(self, kind: str) -> str:
        """Return the separator of the fields of a text file.

        Raises:
            ParameterError: It is the decimal mark as well.
        """
        separator = self.separator or ("\t" if kind == ".tsv" else ",")
        if separator == self.decimal:
            raise ParameterError("with `decimal`=',' give another `separator`, such as ';'")
        return separator

    def files(self) -> list[Path]:
        """Return the files that the path stands for, each once; a path need not be there."""
        return _once(self.names())

    def names(self) -> list[Path]:
        """Return all names of these files, several where there are links."""
        path = Path(self.path or "")
        if path.is_dir():
            # Engines leave files such as _SUCCESS and .part.crc beside the parts they write.
            return [
                file
                for file in path.rglob("*")
                if ending(file) in PARQUET | CSV and not file.name.startswith(("_", "."))
            ]
        if has_magic(str(path)) and not path.exists():
            return [*Path(path.anchor).glob(str(path.relative_to(path.anchor)))]
        return [path]

    def refuse_managed(self) -> None:
        """Refuse the files of a table whose current rows are listed by a log beside them.

        Deleted and replaced rows stay in its files, and would be counted.

        Raises:
            DataError: The files are those of a Delta or Iceberg table.
        """
        parents = {parent for file in self.files() for parent in file.parents}
        for folder in {Path(self.path or ""), *parents}:
            if (folder / "_delta_log").is_dir():
                reader = "polars.scan_delta"
                raise DataError(f"{self} is a Delta table; {MANAGED.format(reader)}")
            if any((folder / "metadata").glob("*.metadata.json")):
                reader = "polars.scan_iceberg"
                raise DataError(f"{self} is an Iceberg table; {MANAGED.format(reader)}")


@dataclass(frozen=True)
class TextRows(Source):
    """Rows of text files as the frame of an engine, whose fields are still text.

    They are read as those of the files are: what a column is asked for as one thing does not
    change what it is asked for as another.

    Attributes:
        declared: The columns of which a type is declared.
    """

    declared: frozenset[str] = frozenset()

    @property
    def is_csv(self) -> bool:
        return True

    def is_untyped(self, column: str) -> bool:
        return column not in self.declared

    @property
    def _says_how_to_read(self) -> bool:
        return False


def literal(file: Path) -> str:
    """Return the name of a file as one that no engine takes for a home or a server."""
    return join(curdir, file)  # noqa: PTH118 -- a Path drops the dot


def _once(files: Iterable[Path]) -> list[Path]:
    """Return files in order, without links to others: rows count once, whatever names them."""
    return sorted({_identity(file): file for file in sorted(files, reverse=True)}.values())


def _identity(file: Path) -> object:
    """Return what all links to a file share, also the hard ones."""
    try:
        found = file.stat()
    except OSError:
        return realpath(file)
    return found.st_dev, found.st_ino


def ending(path: PurePath) -> str:
    """Return the ending of a file's name in small letters, without that of a compression."""
    name = PurePath(path.stem) if path.suffix.lower() in COMPRESSED else path
    return name.suffix.lower()
