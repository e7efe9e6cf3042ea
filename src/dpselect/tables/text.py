"""Text files as lazy frames of text columns, by one rule that no person's characters change.

A record ends with LF or CRLF. Where marks quote, a field is quoted if its first character is a
mark, up to the next single mark, and a doubled mark within is one; it may hold separators and
line ends. All other marks, lone carriage returns, NULs and bytes of no character belong to
their own field. Of a record with more fields than names all is missing. polars toggles at each
mark, so fields to which that is another rule are quoted for it. Errors come from the first
line, or from one claim that the file contradicts: that its writer closes marks as above.
"""

from __future__ import annotations

import csv
import gzip
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from io import BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path, PurePath
from typing import IO, Any, TypeVar

from dpselect._compiled import compiled
from dpselect._optional import needed, np, pl
from dpselect.errors import DataError, PublicClaimError
from dpselect.passes import replaced
from dpselect.tables.dialect import Dialect, as_number
from dpselect.typing import Array, Bools, Words

BLOCK = 1 << 23
"""Bytes that are read at a time."""

LONGEST = 1 << 22
"""Bytes of a first line at most; a file of other line ends is one line."""

PART = 1 << 19
"""Bytes that are compared at a time; a multiple of 64."""

LF, CR = 10, 13

BEYOND = "\n"
"""The field after those that have a name, which holds no line end."""

MARKED, LEFT_OUT = 1, 2

OLD_MAC = r"it has the line ends of old Macs, which `tr '\r' '\n'` replaces"
"""What is said of lines that carriage returns end."""

Columns = TypeVar("Columns")

CONTRADICTION = (
    "it is not written as stated: a field that begins with a quotation mark must end with one "
    "before the next separator or line end; `quote`=none reads marks as characters"
)
"""The one error of a file that is not written as stated; it says nothing of its rows."""


def scan_text(
    files: Sequence[Path], dialect: Dialect, numbers: Collection[str] = ()
) -> pl.LazyFrame:
    """Return the rows of text files, null for a missing value; none is read.

    Args:
        files: Their paths.
        dialect: How they are written, whatever they end in.
        numbers: The columns that are asked for as numbers, which they are if numbers are
            written as usual; others are text.

    Raises:
        DataError: The first line of a file is no header, or that of another file differs.
    """
    names = columns_of(files, dialect)
    is_usual = dialect.decimal == "." and dialect.thousands is None and not dialect.missing
    direct = {*numbers} if is_usual else set()
    kinds = {name: pl.Float64 if name in direct else pl.String for name in names}
    return in_blocks(kinds, partial(_frames, files, dialect, direct, names))


def columns_of(files: Sequence[Path], dialect: Dialect) -> list[str]:
    """Return the names of the columns of text files; public.

    Raises:
        DataError: As for ``scan_text``.
    """
    return alike(files, lambda file: names_of(dialect, partial(_header, dialect, file), file))


def _header(dialect: Dialect, file: Path) -> list[str]:
    """Return the fields of the first line."""
    with opened(file, dialect) as held:
        line = first_line(held, dialect)
    may_end = dialect.header is not True and 0 < len(line) < LONGEST
    is_whole = line.endswith(b"\n") or may_end
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    for is_wrong, said in (
        (b"\0" in line, "holds NUL characters; for UTF-16 say `encoding`=utf-16"),
        (b"\r" in line, f"holds carriage returns: {OLD_MAC}"),
        (not is_whole, "has no line end; the first line must be the header"),
    ):
        if is_wrong:
            raise DataError(f"{file.name}: its first line {said}; LF or CRLF end a line")
    separator, mark = dialect.marks
    # Of one line Python's reader has the same rule.
    how: Any = {"quotechar": mark} if mark else {"quoting": csv.QUOTE_NONE}
    text = line.decode(errors="replace")
    reader = csv.reader([text], delimiter=separator, strict=True, **how)
    refusal = DataError(
        f"{file.name}: a quotation mark in its first line is not closed before a separator; "
        "the first line must be the header, and `quote`=none reads marks as characters"
    )
    return [one.strip() for one in replaced(lambda: next(reader), lambda: refusal) or [""]]


def _frames(
    files: Sequence[Path],
    dialect: Dialect,
    numbers: set[str],
    names: list[str],
    wanted: list[str],
) -> Iterator[pl.DataFrame]:
    """Yield the columns that are wanted, block by block."""
    separator, _ = dialect.marks
    at = {name: str(place) for place, name in enumerate([*names, BEYOND])}
    direct = numbers & {*wanted}

    def read(block: bytes, mark: str | None) -> pl.DataFrame:
        found = pl.read_csv(
            block,
            schema={at[one]: pl.Float64 if one in direct else pl.String for one in at},
            columns=[at[one] for one in (*wanted, BEYOND)],
            separator=separator,
            quote_char=mark,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
            ignore_errors=True,
        )
        if dialect.header is not False and found[at[BEYOND]].null_count() < found.height:
            # Nobody knows which of too many fields has no name, whatever the last one holds.
            is_known = cleaned(pl.col(at[BEYOND]), replace(dialect, missing=())).is_null()
            found = found.with_columns(pl.when(is_known).then(pl.all()))
        fields = {one: cleaned(pl.col(at[one]), dialect) for one in wanted}
        fields |= {one: as_number(at[one], "number", dialect) for one in numbers & {*wanted}}
        return found.select(**fields | {one: pl.col(at[one]) for one in direct})

    # A header of its own: else the first record decides how many fields there are.
    head, room = separator.join(at.values()).encode() + b"\n", bytearray(BLOCK)
    for file in files:
        with opened(file, dialect) as held:
            if dialect.header is True:
                first_line(held, dialect)
            rest, is_last, has_lines = b"", False, dialect.header is True
            while not is_last:
                # No block is held beside the next one: new memory takes longer to get.
                block = part = b""
                more = memoryview(room)[: held.readinto(room)]
                block = b"".join((head, rest, more, held.readline(LONGEST)))
                is_last = len(block) == len(head) + len(rest)
                block += b"\n" if is_last and block[-1] != LF else b""
                part, mark, end = _records(dialect, block, len(head))
                if end < 0 or (is_last and end < len(block)):
                    raise PublicClaimError(f"{file} cannot be read: {CONTRADICTION}")
                if is_last and not has_lines and b"\r" in rest:
                    raise PublicClaimError(f"{file}: no LF ends a line: {OLD_MAC}")
                has_lines |= end > len(head)
                if end > len(head):
                    found = read(part, mark)
                    if any(found[one].null_count() for one in direct):
                        # Its own reader of numbers knows no blank after one.
                        direct = set()
                        found = read(part, mark)
                    yield found
                # A record that is longer than the block is in the next one.
                rest = block[end:]


def _records(dialect: Dialect, block: bytes, first: int) -> tuple[bytes, str | None, int]:
    """Return whole records for polars, the mark that it reads them by, and their end.

    Args:
        dialect: How they are written.
        block: A header, and after it records.
        first: Where these begin.
    """
    (separator, mark), comment = dialect.marks, (dialect.comment or "").encode()
    end = block.rfind(b"\n") + 1
    held = np.frombuffer(block, dtype=np.uint8)[:end]
    if not comment or b"\n" + comment not in block:
        if mark is None or mark.encode() not in block:
            return block[:end], None, end
        if regular := _regular_end(held, first, ord(separator), ord(mark)):
            return block[:regular], mark, regular
    edits, begins = np.zeros(end, dtype=np.uint8), np.frombuffer(comment, dtype=np.uint8)
    end = _edited(held, edits, first, ord(separator), ord(mark) if mark else -1, begins)
    kept = edits[:end] != LEFT_OUT
    before = np.flatnonzero(edits[:end][kept] == MARKED)
    made = np.insert(held[:end][kept], before, ord(mark or " "))
    return made.tobytes(), mark, end


def _regular_end(block: Array, first: int, separator: int, quote: int) -> int:
    """Return where whole records end, 0 if readers that toggle at each mark read others.

    By toggling a mark opens or closes. They read the same if each that opens is the first of a
    field, and the next after one that closes is no more of it, but for marks that are doubled.
    In bits this takes a third of the time of a loop, and no compiler.

    Args:
        block: A header, and after it records; LF is the last byte.
        first: Where the records begin.
        separator: Between fields.
        quote: The mark.
    """
    end, found = first, 1
    while found and end < block.size:
        # Arrays that fit the cache: new memory takes longer than all of this.
        part = block[end - 1 : end - 1 + PART]
        mark, line, other = (_bits(part == one) for one in (quote, LF, separator))
        within, edge = mark.copy(), mark | line | other
        for step in (1, 2, 4, 8, 16, 32):
            within ^= within << step
        within[1:] ^= -np.bitwise_xor.accumulate(within >> 63)[:-1]
        wrong, after = mark & within & ~_next(edge), _next(mark & ~within) & ~edge
        if np.any(after):
            wrong |= (after & ~_bits(part == CR)) | (_next(after) & ~line)
        if np.any(wrong):
            return 0
        line &= ~within
        last = np.flatnonzero(line)[-1]
        found = 64 * int(last) + int(line[last]).bit_length() - 1
        end += found
    # What is left is one record that is not whole, or longer than a part.
    return end if block.size - end < PART else 0


def _bits(each: Bools) -> Words:
    """Return truth values as bits of integers, the first as the lowest."""
    packed = np.packbits(each, bitorder="little").tobytes()
    return np.frombuffer(bytearray(packed + bytes(-len(packed) % 8)), "<u8")


def _next(places: Words) -> Words:
    """Return the places that follow."""
    found: Words = np.left_shift(places, 1)
    found[1:] |= places[:-1] >> 63
    return found


def alike(files: Sequence[Path], of: Callable[[Path], Columns]) -> Columns:
    """Return the columns that all files have.

    Args:
        files: The files.
        of: Returns the columns of one.

    Raises:
        DataError: Those of a file differ from those of the first.
    """
    first = of(files[0])
    for file in files[1:]:
        if of(file) != first:
            raise DataError(f"{file.name}: its columns are not those of {files[0].name}")
    return first


def in_blocks(
    schema: Mapping[str, Any], frames: Callable[[list[str]], Iterator[pl.DataFrame]]
) -> pl.LazyFrame:
    """Return rows that are read when they are asked for.

    Args:
        schema: The types of the columns.
        frames: Yields the rows, of the columns that are asked for.
    """

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

    return pl.io.plugins.register_io_source(rows, schema=schema)


def cleaned(field: pl.Expr, dialect: Dialect) -> pl.Expr:
    """Return fields of text without the spaces around them, null for a missing value."""
    field = field.str.strip_chars() if dialect.strip else field
    return field.replace(["", *dialect.missing], None)


def unpacked(file: Path) -> Any:  # noqa: ANN401 -- a file of bytes
    """Open a file, without compression."""
    suffix = file.suffix.lower()
    read: Any = _zstandard().open if suffix == ".zst" else gzip.open
    return read(file, "rb") if suffix in {".gz", ".zst"} else file.open("rb")


@contextmanager
def opened(file: Path, dialect: Dialect) -> Iterator[Any]:
    """Open a file in UTF-8, without compression, a byte order mark and the lines to skip."""
    with unpacked(file) as raw:
        is_utf8 = dialect.encoding == "utf-8"
        held = raw if is_utf8 else BufferedReader(_InUTF8(raw, dialect.encoding))
        if held.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
            held.read(len(BOM_UTF8))
        for _ in range(dialect.skip_lines):
            held.readline(LONGEST)
        yield held


class _InUTF8(RawIOBase):
    """The bytes of a file of another encoding in UTF-8."""

    def __init__(self, held: IO[bytes], encoding: str) -> None:
        self._held = TextIOWrapper(held, encoding, errors="replace", newline="\n")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 -- any bytes
        # A character has four bytes at most.
        part = self._held.read(len(buffer) // 4).encode(errors="replace")
        buffer[: len(part)] = part
        return len(part)


def first_line(held: IO[bytes], dialect: Dialect) -> bytes:
    """Return the next line that is no comment, or the beginning of one that is too long."""
    line = held.readline(LONGEST)
    while dialect.comment is not None and line.startswith(dialect.comment.encode()):
        line = held.readline(LONGEST)
    return line


def _zstandard() -> Any:  # noqa: ANN401 -- a module
    if sys.version_info >= (3, 14):
        return import_module("compression.zstd")
    return needed("backports.zstd", extra="standard")


@compiled
def _edited(
    block: Array, edits: Array, first: int, separator: int, quote: int, comment: Array
) -> int:
    """Return where whole records end, -1 if text follows a quotation.

    Args:
        block: A header, and after it records; LF is the last byte.
        edits: Zeros, which become MARKED where a mark more is needed before the byte by readers
            that toggle at each, and LEFT_OUT in lines that are left out.
        first: Where the records begin.
        separator: Between fields.
        quote: The mark; -1 if there is none.
        comment: How lines that are left out begin; empty if none are.
    """
    at = end = first
    while at < block.size:
        begin, marks, left_out = at, 0, comment.size > 0 and at == end
        for i in range(comment.size):
            left_out &= block[min(at + i, block.size - 1)] == comment[i]
        if block[at] == quote and not left_out:
            at += 1
            while at < block.size and (block[at] != quote or block[at + 1] == quote):
                at += 1 + (block[at] == quote)
            if at >= block.size:
                return end
            at += 1
            at += block[at] == CR and block[at + 1] == LF
            if block[at] != LF and block[at] != separator:
                return -1
        while block[at] != LF and (left_out or block[at] != separator):
            edits[at] = LEFT_OUT if left_out else MARKED * (block[at] == quote)
            marks += edits[at] == MARKED
            at += 1
        if left_out:
            edits[at] = LEFT_OUT
        elif marks:
            edits[begin] = edits[at - (block[at] == LF and block[at - 1] == CR)] = MARKED
        end = at + 1 if block[at] == LF else end
        at += 1
    return end


def names_of(dialect: Dialect, first: Callable[[], list[str]], file: PurePath) -> list[str]:
    """Return the names of the columns: those stated, or of the first record; or by place."""
    if not isinstance(dialect.header, bool):
        return list(dialect.header)
    names = first() if dialect.header else [""] * len(first())
    if dialect.separator == " " and "" in names:
        raise DataError(
            f"{file.name}: `separator` is one blank, and its header has several in a row; "
            'read it by pandas.read_csv(FILE, sep=r"\\s+"), or write it with one between fields'
        )
    named = [name or f"column_{place + 1}" for place, name in enumerate(names)]
    if len(set(named)) < len(named):
        raise DataError(
            f"{file.name}: two columns of its header have one name; give names that differ by "
            "`header`, and `skip_lines`=1 leaves its own out"
        )
    return named
