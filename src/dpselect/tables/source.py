"""Sources of rows: the files that a path stands for, or a frame, and which rows are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from glob import has_magic
from itertools import product
from os import R_OK, PathLike, access
from os.path import realpath
from pathlib import Path, PurePath
from typing import Any

from dpselect import validation
from dpselect.errors import ColumnError, DataError, ParameterError, no_file, possible
from dpselect.tables.dialect import Dialect
from dpselect.tables.formats import FORMATS, TEXTS, Format, refusal
from dpselect.tables.where import Comparison

COMPRESSED = {".gz", ".zst"}
LOGS = {"_delta_log": "a Delta", "metadata/*.metadata.json": "an Iceberg"}
"""What lists the current rows of tables, by their names."""


@dataclass(frozen=True)
class Source(Dialect):
    """Rows of a file or of a frame: all of them, or those selected by comparisons.

    It can be given wherever a path or a frame can. The number of selected rows is private, even
    if the number of all rows is not. Of a text file it states how it is written, too.

    Attributes:
        path: A file, a folder of files of one format, or a pattern of their names such as
            ``"part-*.parquet"``: Parquet, Arrow, text (also as ``.csv.gz`` or ``.csv.zst``),
            lines of JSON, Excel, Stata, SPSS or SAS.
        frame: Any frame that narwhals knows, instead of a path: polars, pandas, pyarrow,
            DuckDB, PySpark and others.
        streamed: Whether the rows of files stay there until they are counted, as those of a
            lazy frame.
        where: Comparisons such as ``"year >= 2024"`` or ``"ward = 'A'"``; all must hold.
            Public.

    Raises:
        ParameterError: There are a path and a frame; a comparison cannot be read; or the
            dialect is none, or that of a frame.
    """

    path: str | PathLike[str] | None = None
    frame: Any = field(default=None, compare=False, repr=False)
    where: Sequence[str] = ()
    streamed: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.path is not None and self.frame is not None:
            raise validation.one_of_two("path", "frame")
        if self.path is None:
            self.refuse_dialect("a frame")
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
    def stated_rows(self) -> dict[str, Any]:
        """The selection of rows, and how a text file is written; public."""
        where = {"where": list(self.where)} if self.where else {}
        return {**where, **self.stated_dialect}

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons of ``where``."""
        return tuple(map(Comparison.read, self.where))

    @property
    def is_csv(self) -> bool:
        """Whether the rows are those of text files, which declare no types."""
        return self.path is not None and {*map(self.kind, self.files())} <= TEXTS

    def kind(self, path: PurePath) -> str:
        """Return the stated format of a file, or else the ending of its name."""
        return ending(path) if self.format is None else f".{self.format.lower().lstrip('.')}"

    def reading(self) -> tuple[list[Path], Dialect, Format]:
        """Return the files, how they are written, and the one format that they have.

        Raises:
            DataError: There is none that is read, or there are several.
            ParameterError: Something is stated that does not go with it.
        """
        files = self.files()
        kinds = sorted({self.kind(file) for file in files} or {".csv"})
        if not FORMATS.keys() >= {*kinds}:
            raise refusal(str(self), kinds)
        forms, wholes = {FORMATS[kind] for kind in kinds}, [self.whole(kind) for kind in kinds]
        if len(forms) > 1 or len({one.marks for one in wholes}) > 1:
            raise DataError(
                f"{self} holds {' and '.join(kinds)} files, which are not written alike: name "
                f"those of one ending, as *{kinds[0]} (of texts state `separator` and `quote`)"
            )
        [form] = forms
        if files:
            self.refuse_dialect(form.name, form.stated)
        return files, wholes[0], form

    def refuse_dialect(self, what: str, known: Collection[str] = ()) -> None:
        """Refuse what is stated of text files for rows of something else.

        Raises:
            ParameterError: There is such a statement, which is not known of them, either.
        """
        if others := [name for name in self.stated_dialect if name not in known]:
            raise ParameterError(f"`{others[0]}` goes with other files, and not with {what}")

    def whole_file(self, is_one: Callable[[Path], bool], *, cure: str) -> Path | None:
        """Return the path of a file that is no table; None of anything else; no row is read.

        Args:
            is_one: Whether a path names such a file.
            cure: How else rows are selected.

        Raises:
            DataError: There is no such file.
            ParameterError: Rows are to be selected, or it is stated how text is written.
        """
        if self.path is None or not is_one(path := Path(self.path)):
            return None
        if self.where:
            raise ParameterError(f"`where` selects rows of tables, and {path} is none: {cure}")
        self.refuse_dialect(f"{ending(path)} files")
        if not path.is_file():
            raise no_file(path)
        return path

    def is_untyped(self, column: str) -> bool:
        """Whether a column is in text files and has no declared type."""
        return self.is_csv and column not in self.column_type

    def files(self) -> list[Path]:
        """Return the files that the path stands for, in order; a path need not be there.

        Each is there once, without links to others: rows count once, whatever names them.
        """
        named = sorted(self.names(), reverse=True)
        return sorted({identity(file): file for file in named}.values())

    def names(self) -> list[Path]:
        """Return all names of these files, several where there are links."""
        if self.path is None:
            return []
        path = possible(self.path)
        if path.is_dir():
            # Engines leave files such as _SUCCESS and .part.crc beside the parts they write.
            known = (file for file in path.rglob("*") if self.kind(file) in FORMATS)
            return [one for one in known if one.is_file() and one.name[0] not in "_."]
        if has_magic(str(path)) and not path.exists():
            return [*Path(path.anchor).glob(str(path.relative_to(path.anchor)))]
        return [path]

    def check_there(self) -> None:
        """Refuse a path that stands for no file, or for files that are not there to be read.

        In those of a table whose current rows are listed by a log beside them, deleted and
        replaced rows stay, and would be counted.

        Raises:
            DataError: It does, or the files are those of a Delta or Iceberg table.
        """
        found = self.files()
        parents = {parent for file in found for parent in file.parents}
        for folder, log in product({Path(self.path or ""), *parents}, LOGS):
            if any(folder.glob(log)):
                raise managed(self, log, "polars.scan_delta or scan_iceberg")
        if not found or not all(file.is_file() for file in found):
            raise no_file(self)
        if not all(access(file, R_OK) for file in found):
            raise DataError(f"{self} cannot be read: permission is denied")


def managed(table: object, log: str, reader: str) -> DataError:
    """Return the error of files that hold rows which a log beside them leaves out."""
    return DataError(
        f"{table} is {LOGS[log]} table; open it by its own reader, such as {reader}, and give "
        "the frame"
    )


def identity(file: Path) -> object:
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


def misnamed(native: object) -> ColumnError | None:
    """Return the error of a frame whose columns have no names of their own, which are public.

    None if each has one name, which no other has.
    """
    # A frame of Spark has an attribute for each name.
    is_arrow = type(native).__module__.startswith("pyarrow")
    columns = getattr(native, "column_names" if is_arrow else "columns", ())
    if getattr(columns, "nlevels", 1) > 1:
        return ColumnError(
            "the columns have names of several levels: give each one name, as "
            "frame.columns = frame.columns.map('_'.join)"
        )
    names = Counter(columns if hasattr(columns, "__iter__") else ())
    if names.total() > len(names):
        [(name, _)] = names.most_common(1)
        return ColumnError(f"two columns are named {name!r}: give each a name of its own")
    return None
