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
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from mmap import ACCESS_READ, mmap
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, Self, cast

import numpy as np

from dpselect._optional import needed
from dpselect._parallel import one_ahead
from dpselect.errors import DataError, PublicClaimError
from dpselect.tables.dialect import Dialect, FieldType
from dpselect.tables.fields import typed

if TYPE_CHECKING:
    import polars as pl

BLOCK = 1 << 24
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
        numbers: The columns that are asked for as numbers.

    Raises:
        DataError: The first line of a file is no header, or that of another file differs.
    """

    files: Sequence[Path]
    dialect: Dialect
    kind: str
    numbers: Collection[str] = ()

    def scan(self) -> pl.LazyFrame:
        """Return the rows as text and numbers, null for a missing value; none is read."""
        needed("polars", extra="standard")
        import polars as pl

        names = self.names()
        check_alike(self.files, names, self._names_of)
        kinds = {name: pl.Float64 if name in self.numbers else pl.String for name in names}
        return in_blocks(kinds, partial(self._frames, names))

    def names(self) -> list[str]:
        """Return the names of the columns; public."""
        return self._names_of(self.files[0])

    def _names_of(self, file: Path) -> list[str]:
        stated = self.dialect.header
        if not isinstance(stated, bool):
            return list(stated)
        with opened(file, self.dialect) as lines:
            fields = self._header(lines, file)
        return checked(fields if stated else [""] * len(fields), file)

    def _header(self, lines: _Lines, file: Path) -> list[str]:
        """Return the fields of the first line, and leave the lines after it."""
        line = lines.first(self.dialect)
        name, stated = file.name, isinstance(self.dialect.header, bool) and self.dialect.header
        if line is None or (stated and not line.endswith(b"\n")):
            old = b"\r" in (line or lines.held[lines.at : lines.at + LONGEST_HEADER])
            raise DataError(
                f"{name}: its first line has no line end"
                + (": it has the line ends of old Macs (carriage returns)" if old else "")
                + "; the first line must be the header, and LF or CRLF end a line"
            )
        return header_fields(line, file, self.dialect, self.kind)

    def _frames(self, names: list[str], wanted: list[str]) -> Iterator[pl.DataFrame]:
        """Yield the columns that are wanted, block by block."""
        plain = self.dialect.has_plain_numbers
        for file in self.files:
            # The next block is scanned while polars reads one.
            for block in one_ahead(self._blocks(file, len(names))):
                direct = {*wanted} & {*self.numbers} if plain else set()
                frame = self._read(*block, names, wanted, direct)
                if any(frame[one].null_count() for one in direct):
                    # Its own reader of numbers knows no blank after one.
                    plain, frame = False, self._read(*block, names, wanted, set())
                yield frame

    def _read(
        self, block: bytes, quote: str, names: list[str], wanted: list[str], direct: set[str]
    ) -> pl.DataFrame:
        """Return the columns that are wanted, some of them as polars reads numbers."""
        needed("polars", extra="standard")
        import narwhals as nw
        import polars as pl

        at = {name: str(place) for place, name in enumerate(names)}
        found = pl.read_csv(
            block,
            schema={at[one]: pl.Float64 if one in direct else pl.String for one in names},
            columns=[at[one] for one in wanted],
            separator=self.dialect.separator_of(self.kind),
            quote_char=quote or None,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
            ignore_errors=True,
        )
        fields = {one: pl.col(at[one]) for one in wanted}
        clean = {one: cleaned(fields[one], self.dialect) for one in {*wanted} - direct}
        texts = found.select(**fields | clean)
        late: dict[str, FieldType] = dict.fromkeys(
            {*wanted} & {*self.numbers} - direct, "number"
        )
        numbered: pl.DataFrame = typed(nw.from_native(texts), late, self.dialect).to_native()
        return numbered

    def _blocks(self, file: Path, width: int) -> Iterator[tuple[bytes, str]]:
        """Yield whole records as polars reads them by the rule, and what they quote by."""
        quote, size = (self.dialect.quote_of(self.kind) or "").encode(), BLOCK
        # A header of its own: else the first record decides how many fields the others have.
        head = self.dialect.separator_of(self.kind).join(map(str, range(width))).encode()
        with opened(file, self.dialect) as lines:
            if self.dialect.header is True:
                self._header(lines, file)
            while (stop := lines.ahead(size)) > lines.at:
                is_last = lines.is_last and stop == len(lines.held)
                mark = quote if quote and lines.held.find(quote, lines.at, stop) >= 0 else b""
                if mark or self.dialect.comment is not None:
                    block = lines.held[lines.at : stop]
                    taken, part, mark = self._by_rule(file, block, quote, is_last=is_last)
                    end = lines.at + taken
                else:
                    end = stop if is_last else lines.held.rfind(b"\n", lines.at, stop) + 1
                    part = memoryview(lines.held)[lines.at : max(lines.at, end)]
                if end > lines.at:
                    yield b"\n".join((head, part)), mark.decode()
                # A record that is longer than the block is in the next one.
                size = BLOCK if end > lines.at else 2 * size
                lines.at = max(lines.at, end)

    def _by_rule(
        self, file: Path, block: bytes, quote: bytes, *, is_last: bool
    ) -> tuple[int, memoryview, bytes]:
        """Return the size of the whole records, these, and what they quote by.

        They are written anew where readers may disagree.
        """
        from dpselect.tables import text_kernels as kernels

        comment = np.frombuffer((self.dialect.comment or "").encode(), dtype=np.uint8)
        separator = self.dialect.separator_of(self.kind).encode()
        automaton = (kernels.classes_of(separator, quote), kernels.NEXT, comment)
        array = np.frombuffer(block, dtype=np.uint8)
        end, is_odd, state = kernels.scan(array, *automaton)
        if state == kernels.CONTRADICTED or (is_last and state == kernels.QUOTED):
            raise PublicClaimError(f"{file} cannot be read: {CONTRADICTION}")
        records = array[: array.size if is_last else end]
        if not is_odd:
            return records.size, records.data, quote
        mark = quote or WRITTEN
        return records.size, kernels.rewrite(records, *automaton, mark[0]).data, mark


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
    separator, quote = dialect.separator_of(kind), dialect.quote_of(kind)
    # A separator before the first field, so that no match is empty.
    pattern, text = field_pattern(separator, quote), separator + line.decode(errors="replace")
    if not re.fullmatch(f"(?:{pattern})*", text):
        raise DataError(
            f"{file.name}: a quotation mark in its first line is not closed before a "
            "separator; the first line must be the header, and `quote`=none reads marks as "
            "characters"
        )
    fields = re.findall(pattern, text)
    if quote is not None:
        quoted = (one.startswith(quote) for one in fields)
        fields = [
            one[1:-1].replace(2 * quote, quote) if is_quoted else one
            for one, is_quoted in zip(fields, quoted, strict=True)
        ]
    return [one.strip() for one in fields]


def cleaned(field: pl.Expr, dialect: Dialect) -> pl.Expr:
    """Return fields of text without the spaces around them, null for a missing value."""
    needed("polars", extra="standard")
    import polars as pl

    field = field.str.strip_chars() if dialect.strip else field
    return pl.when(~field.is_in(["", *dialect.missing])).then(field)


def first_line(file: Path, dialect: Dialect) -> bytes | None:
    """Return the first line that is no comment; None if there is none."""
    with opened(file, dialect) as lines:
        return lines.first(dialect)


def opened(file: Path, dialect: Dialect) -> _Lines:
    """Return the lines of a file from its header on."""
    lines = _Lines(file, dialect.encoding)
    for _ in range(dialect.skip_lines):
        lines.take()
    return lines


class _Lines:
    """The bytes of a file in UTF-8, without compression and byte order mark.

    Attributes:
        held: Bytes of the file: all, or some that come next.
        at: How many of them are done with.
        is_last: Whether the file has no more.
    """

    def __init__(self, file: Path, encoding: str) -> None:
        self._raw = _decompressed(file)
        self._decoder = None
        if encoding != "utf-8":
            self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self.held: bytes | mmap = b""
        self.at, self.is_last = 0, False
        if (
            encoding == "utf-8"
            and isinstance(self._raw, BufferedReader)
            and file.stat().st_size
        ):
            self.held, self.is_last = mmap(self._raw.fileno(), 0, access=ACCESS_READ), True
        else:
            self._fill()
        self.at = len(BOM) if self.held[: len(BOM)] == BOM else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def _fill(self) -> None:
        block = self._raw.read(BLOCK)
        self.is_last = not block
        if self._decoder is not None:
            block = self._decoder.decode(block, self.is_last).encode(errors="replace")
        self.held, self.at = self.held[self.at :] + block, 0

    def ahead(self, size: int) -> int:
        """Return where so many bytes that come next end, or all that there are."""
        while not self.is_last and len(self.held) - self.at < size:
            self._fill()
        return min(self.at + size, len(self.held))

    def take(self) -> bytes | None:
        """Return the next line with its end; None if there is none that is not too long."""
        size = end = 0
        while end == 0 and size <= LONGEST_HEADER:
            size += 1 << 12
            stop = self.ahead(size)
            end = self.held.find(b"\n", self.at, stop) + 1
            if end == 0 and self.is_last and stop == len(self.held):
                end = stop
        if end == 0:
            return None
        line, self.at = self.held[self.at : end], end
        return line or None

    def first(self, dialect: Dialect) -> bytes | None:
        """Return the next line that is no comment."""
        comment, line = (dialect.comment or "").encode(), self.take()
        while comment and line is not None and line.startswith(comment):
            line = self.take()
        return line


def _decompressed(file: Path) -> IO[bytes]:
    suffix = file.suffix.lower()
    if suffix == ".gz":
        return cast("IO[bytes]", gzip.open(file))
    if suffix == ".zst":
        opened_by: Any = needed("zstandard", extra="standard")
        stream: IO[bytes] = opened_by.open(file, "rb")
        return stream
    return file.open("rb")


def field_pattern(separator: str, quote: str | None) -> str:
    """Return the pattern of a separator and a field by the rule, its one group."""
    one, mark = f"\\x{ord(separator):02x}", f"\\x{ord(quote or separator):02x}"
    if quote is None:
        return f"{one}([^{one}]*)"
    return f"{one}({mark}(?:[^{mark}]|{mark}{mark})*{mark}|[^{mark}{one}][^{one}]*|)"


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
