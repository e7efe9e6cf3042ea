"""Text files as lazy frames of text columns, by one rule that no person's characters change.

A record ends with LF or CRLF. Where marks quote, a field is quoted if its first character is a
mark, up to the next single mark, and a doubled mark within is one; it may hold separators and
line ends. All other marks, lone carriage returns, NULs and bytes of no character belong to
their own field. polars splits the records: blocks that it would read otherwise are written
anew before it sees them (``kernels``). Errors come from the first line, or from one claim that
the file contradicts: that its writer closes marks as above.
"""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, Self, cast

import numpy as np

from dpselect._optional import needed
from dpselect._parallel import one_ahead
from dpselect.errors import DataError, PublicClaimError
from dpselect.tables.dialect import Dialect

if TYPE_CHECKING:
    import polars as pl

BLOCK = 1 << 25
"""Bytes that are read at a time."""

LONGEST_HEADER = 1 << 22
"""Bytes of a first line at most; a file of other line ends is one line."""

WRITTEN = b'"'
"""Quotation mark of blocks that are written anew where files have none."""

BOM = codecs.BOM_UTF8


CONTRADICTION = (
    "it is not written as stated: a field that begins with a quotation mark must end with one "
    "before the next separator or line end; `quote`=none reads marks as characters"
)
"""The one error of a file that is not written as stated; it says nothing of its rows."""


@dataclass(frozen=True)
class TextFiles:
    """Text files of one form.

    Attributes:
        files: Their paths.
        dialect: How they are written.
        kind: The ending of their names.

    Raises:
        DataError: The first line of a file is no header, or that of another file differs.
    """

    files: Sequence[Path]
    dialect: Dialect
    kind: str

    def scan(self) -> pl.LazyFrame:
        """Return the rows as text, null for a missing value; none is read."""
        needed("polars", extra="standard")
        import polars as pl

        names = self.names()
        check_alike(self.files, names, self._names_of)
        return in_blocks(dict.fromkeys(names, pl.String), partial(self._frames, names))

    def names(self) -> list[str]:
        """Return the names of the columns; public."""
        return self._names_of(self.files[0])

    def _names_of(self, file: Path) -> list[str]:
        stated = self.dialect.header
        if not isinstance(stated, bool):
            return list(stated)
        with self._opened(file) as lines:
            fields = self._header(lines, file)
        return checked(fields if stated else [""] * len(fields), file)

    def _opened(self, file: Path) -> _Lines:
        lines = _Lines(file, self.dialect.encoding)
        lines.skip(self.dialect.skip_lines)
        return lines

    def _header(self, lines: _Lines, file: Path) -> list[str]:
        """Return the fields of the first line, and leave the lines after it."""
        line = lines.first(self.dialect)
        name, stated = file.name, isinstance(self.dialect.header, bool) and self.dialect.header
        if line is None or (stated and not line.endswith(b"\n")):
            old = b"\r" in (line or lines.ahead(LONGEST_HEADER))
            raise DataError(
                f"{name}: its first line has no line end"
                + (": it has the line ends of old Macs (carriage returns)" if old else "")
                + "; the first line must be the header, and LF or CRLF end a line"
            )
        return header_fields(line, file, self.dialect, self.kind)

    def _frames(self, names: list[str], wanted: list[str]) -> Iterator[pl.DataFrame]:
        """Yield the columns that are wanted, block by block."""
        for file in self.files:
            # The next block is scanned while polars reads one.
            for block in one_ahead(self._blocks(file)):
                yield self._read(*block, names, wanted)

    def _read(
        self, block: bytes, quote: str, names: list[str], wanted: list[str]
    ) -> pl.DataFrame:
        needed("polars", extra="standard")
        import polars as pl

        separator = self.dialect.separator_of(self.kind)
        at = {name: str(place) for place, name in enumerate(names)}
        head = separator.join(at.values()).encode() + b"\n"
        found = pl.read_csv(
            head + block,
            columns=[at[name] for name in wanted],
            separator=separator,
            quote_char=quote or None,
            infer_schema=False,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
        )
        return found.select(cleaned(pl.col(at[one]), self.dialect).alias(one) for one in wanted)

    def _blocks(self, file: Path) -> Iterator[tuple[bytes, str]]:
        """Yield whole records as polars reads them by the rule, and what they quote by."""
        from dpselect.tables import text_kernels as kernels

        quote = (self.dialect.quote_of(self.kind) or "").encode()
        comment = np.frombuffer((self.dialect.comment or "").encode(), dtype=np.uint8)
        separator = self.dialect.separator_of(self.kind).encode()
        automaton = (kernels.classes_of(separator, quote), kernels.NEXT, comment)
        with self._opened(file) as lines:
            if self.dialect.header is True:
                self._header(lines, file)
            rest = b""
            for block, is_last in lines.blocks():
                held = rest + block if rest else block
                end, is_odd = held.rfind(b"\n") + 1, False
                if comment.size or (quote and quote in held):
                    end, is_odd, state = kernels.scan(
                        np.frombuffer(held, dtype=np.uint8), *automaton
                    )
                    if state == kernels.CONTRADICTED or (is_last and state == kernels.QUOTED):
                        raise PublicClaimError(f"{file} cannot be read: {CONTRADICTION}")
                end = len(held) if is_last else end
                part, rest = held[:end], held[end:]
                if is_odd:
                    array = np.frombuffer(part, dtype=np.uint8)
                    part = kernels.rewrite(array, *automaton, (quote or WRITTEN)[0]).tobytes()
                if part:
                    yield part, (quote or WRITTEN if is_odd else quote).decode()


def check_alike(files: Sequence[Path], first: object, of: Callable[[Path], object]) -> None:
    """Raise unless all files have the columns of the first.

    Args:
        files: The files.
        first: The columns of the first.
        of: Returns those of a file.

    Raises:
        DataError: Those of another file differ.
    """
    for file in files[1:]:
        if of(file) != first:
            raise DataError(f"{file.name}: its columns are not those of {files[0].name}")


def in_blocks(
    schema: Mapping[str, Any], frames: Callable[[list[str]], Iterator[pl.DataFrame]]
) -> pl.LazyFrame:
    """Return rows that are read when they are asked for.

    Args:
        schema: The types of the columns.
        frames: Yields the rows, of the columns that are asked for.
    """
    needed("polars", extra="standard")
    from polars.io.plugins import register_io_source

    def rows(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        _batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        wanted = list(schema) if with_columns is None else with_columns
        # A frame of no columns has no rows.
        for frame in frames(wanted or list(schema)[:1]):
            part = frame if n_rows is None else frame.head(n_rows)
            n_rows = None if n_rows is None else n_rows - part.height
            yield part if predicate is None else part.filter(predicate)
            if n_rows == 0:
                return

    return register_io_source(rows, schema=schema)


def header_fields(line: bytes, file: PurePath, dialect: Dialect, kind: str) -> list[str]:
    """Return the fields of a first line.

    Raises:
        DataError: It is not that of a text file of such a dialect.
    """
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    if b"\0" in line:
        raise DataError(
            f"{file.name}: its first line holds NUL characters; for UTF-16 say "
            "`encoding`=utf-16"
        )
    if b"\r" in line:
        raise DataError(
            f"{file.name}: its first line holds carriage returns; LF or CRLF must end a line"
        )
    quote = (dialect.quote_of(kind) or "").encode()
    fields = _fields(line, dialect.separator_of(kind).encode(), quote)
    if fields is None:
        raise DataError(
            f"{file.name}: a quotation mark in its first line is not closed before a "
            "separator; the first line must be the header, and `quote`=none reads marks as "
            "characters"
        )
    return [one.strip() for one in fields]


def cleaned(field: pl.Expr, dialect: Dialect) -> pl.Expr:
    """Return fields of text without the spaces around them, null for a missing value."""
    needed("polars", extra="standard")
    import polars as pl

    field = field.str.strip_chars() if dialect.strip else field
    return pl.when(~field.is_in(["", *dialect.missing])).then(field)


def first_line(file: Path, dialect: Dialect) -> bytes | None:
    """Return the first line that is no comment; None if there is none."""
    with _Lines(file, dialect.encoding) as lines:
        lines.skip(dialect.skip_lines)
        return lines.first(dialect)


class _Lines:
    """The bytes of a file in UTF-8, without compression and byte order mark."""

    def __init__(self, file: Path, encoding: str) -> None:
        self._raw = _decompressed(file)
        self._decoder = None
        if encoding != "utf-8":
            self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._held, self._is_last = b"", False
        self._fill()
        self._held = self._held.removeprefix(BOM)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def _fill(self) -> None:
        block = self._raw.read(BLOCK)
        self._is_last = not block
        if self._decoder is not None:
            block = self._decoder.decode(block, self._is_last).encode(errors="replace")
        self._held = self._held + block if self._held else block

    def ahead(self, most: int) -> bytes:
        """Return the bytes that come next, some at most."""
        return self._held[:most]

    def take(self) -> bytes | None:
        """Return the next line with its end; None if there is none that is not too long."""
        while (end := self._held.find(b"\n")) < 0:
            if self._is_last or len(self._held) > LONGEST_HEADER:
                end = len(self._held) - 1
                break
            self._fill()
        if end < 0 or end > LONGEST_HEADER:
            return None
        line, self._held = self._held[: end + 1], self._held[end + 1 :]
        return line

    def first(self, dialect: Dialect) -> bytes | None:
        """Return the next line that is no comment."""
        comment, line = (dialect.comment or "").encode(), self.take()
        while comment and line is not None and line.startswith(comment):
            line = self.take()
        return line

    def skip(self, lines: int) -> None:
        """Leave lines out."""
        for _ in range(lines):
            self.take()

    def blocks(self) -> Iterator[tuple[bytes, bool]]:
        """Yield what is left, each with whether it is the last."""
        while not self._is_last:
            block, self._held = self._held, b""
            self._fill()
            yield block, self._is_last and not self._held
        if self._held:
            yield self._held, True


def _decompressed(file: Path) -> IO[bytes]:
    suffix = file.suffix.lower()
    if suffix == ".gz":
        return cast("IO[bytes]", gzip.open(file))
    if suffix == ".zst":
        opened: Any = needed("zstandard", extra="standard")
        stream: IO[bytes] = opened.open(file, "rb")
        return stream
    return file.open("rb")


def _fields(line: bytes, separator: bytes, quote: bytes) -> list[str] | None:
    """Return the fields of a line by the rule; None if a mark is not closed."""
    fields: list[bytes] = []
    while True:
        if quote and line.startswith(quote):
            end = 1
            while line[end : end + 1] != quote or line[end + 1 : end + 2] == quote:
                if end >= len(line):
                    return None
                end += 2 if line[end : end + 1] == quote else 1
            fields.append(line[1:end].replace(2 * quote, quote))
            line = line[end + 1 :]
            if line and not line.startswith(separator):
                return None
            is_there, line = bool(line), line[1:]
        else:
            field, found, line = line.partition(separator)
            fields.append(field)
            is_there = bool(found)
        if not is_there:
            return [field.decode(errors="replace") for field in fields]


def checked(names: list[str], file: PurePath) -> list[str]:
    """Return the names of the columns, those that are empty by their place."""
    named = [name or f"column_{place + 1}" for place, name in enumerate(names)]
    twice = {name for name in named if named.count(name) > 1} if len(named) < 1e4 else set()
    if twice:
        raise DataError(
            f"{file.name}: two columns of its header have one name; give names that differ by "
            "`header`, and `skip_lines`=1 leaves its own out"
        )
    return named
