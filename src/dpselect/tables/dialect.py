"""Dialects of text files: public statements about the program that wrote a file.

None of them is found out from rows. One person's characters would decide how others are read.
A text file declares no types either, so a column holds what it is declared, or asked, to hold.
Each field is read by itself; one that is none is null, and raises nothing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, TypeAlias

from dpselect import validation
from dpselect._optional import nw, pl
from dpselect.errors import ParameterError, no_field
from dpselect.passes import note

FieldType: TypeAlias = Literal["text", "number", "integer", "date", "time"]
"""What the fields of a column are."""

FIELD_TYPES: tuple[FieldType, ...] = ("text", "number", "integer", "date", "time")
TEXTS = ("format", "separator", "quote", "thousands", "date_format", "time_zone", "comment")
"""Statements that are one text."""

DECIMALS = (".", ",")
WRITTEN: dict[str, tuple[str, str]] = {
    ".csv": (",", '"'),
    ".tsv": ("\t", "none"),
    ".tab": ("\t", "none"),
    ".txt": ("\t", "none"),
    ".dat": ("\t", "none"),
    ".psv": ("|", '"'),
}
"""Separators and quotation marks of text files by their endings, if no others are stated."""

NO_QUOTE = "none"
STATEFUL = ("iso2022", "hz", "utf_7", "utf7", "idna", "punycode")
"""Encodings in which a byte changes the meaning of all that follow."""

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?"
_ZONE = "(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
# The parsers of polars take more than that, each something else.
_FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "date": (f"^{_DAY}({_CLOCK})?$", ("%Y-%m-%d",)),
    "time": (
        f"^{_DAY}({_CLOCK})?$",
        ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d"),
    ),
    "time in a zone": (
        f"^{_DAY}({_CLOCK}{_ZONE})$",
        ("%Y-%m-%d %H:%M:%S%.f%z", "%Y-%m-%d %H:%M%z"),
    ),
}
_HOURS = re.compile("%[-_0]?[HIMSTRpPrXfs]")
"""Parts of a form that say a time of day."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a text file is written; public.

    Attributes:
        format: Format of the files, such as ``"csv"``; by default what their names end in.
        separator: Separator of the fields: one character. If not given, ``,`` in ``.csv``
            files, ``|`` in ``.psv`` files, and tabs in ``.tsv``, ``.tab``, ``.txt`` and
            ``.dat`` files.
        quote: Quotation mark around fields that hold separators or line ends, or ``"none"``
            where marks are characters like others. If not given, ``'"'`` in ``.csv`` and
            ``.psv`` files and ``"none"`` in others.
        decimal: Decimal mark of numbers: ``"."`` or ``","``. A number with the other one is
            missing, since it might separate thousands.
        thousands: Separator of thousands in numbers, such as ``","`` in 1,200.50; none if not
            given.
        missing: Fields that stand for a missing value, such as ``("NA", "-", "999")``. Empty
            fields do in any case.
        strip: Whether spaces around a field are left out.
        date_format: Form of dates and times, such as ``"%d/%m/%Y"`` or ``"%m/%d/%y %H:%M"``;
            ``%z`` reads Z and offsets such as +02:00 or +02. If not given, 2026-01-31 and
            2026-01-31T12:00, with seconds or without.
        time_zone: Time zone, such as ``"Europe/Berlin"``, by whose clock times with Z or an
            offset are read. If not given, such times are missing unless ``date_format`` has
            ``%z``; then they are those of UTC.
        encoding: Encoding of the characters, such as ``"cp1252"`` or ``"utf-16"``.
        skip_lines: Number of lines above the header that are no part of the table.
        comment: First characters of lines that are no part of the table, such as ``"#"``.
        header: Whether the first line holds the names of the columns; or their names, where
            the file has none.
        column_type: Types of the columns, by name: ``"text"``, ``"number"``, ``"integer"``,
            ``"date"`` or ``"time"``. A field that is not of the type is missing. Public, and
            not to be read off the fields.

    Raises:
        ParameterError: A value is out of its range, or two of them exclude each other.
    """

    format: str | None = None
    separator: str | None = None
    quote: str | None = None
    decimal: str = "."
    thousands: str | None = None
    missing: Sequence[str] = ()
    strip: bool = True
    date_format: str | None = None
    time_zone: str | None = None
    encoding: str = "utf-8"
    skip_lines: int = 0
    comment: str | None = None
    header: bool | Sequence[str] = True
    column_type: Mapping[str, FieldType] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not self.stated_dialect:
            return
        for name in TEXTS:
            if not isinstance(getattr(self, name), str | None):
                raise ParameterError(f"`{name}` must be a text")
        if not isinstance(self.column_type, Mapping):
            raise ParameterError("`column_type` must be types by the names of columns")
        object.__setattr__(self, "missing", _texts("missing", self.missing))
        if not isinstance(self.header, bool):
            object.__setattr__(self, "header", _texts("header", self.header))
        object.__setattr__(self, "encoding", _encoding(self.encoding))
        validation.one_of("decimal", self.decimal, DECIMALS)
        validation.truth("strip", self.strip)
        validation.at_least("skip_lines", self.skip_lines, 0)
        for kind in self.column_type.values():
            validation.one_of("column_type", kind, FIELD_TYPES)
        for wrong, said in self._faults():
            if wrong:
                raise ParameterError(said)

    def _faults(self) -> Iterator[tuple[bool, str]]:
        """Yield what can be wrong with the marks, the names and the forms, in words."""
        one, mark, thousands = self.separator, self.quote, self.thousands
        names = () if isinstance(self.header, bool) else self.header
        is_wrong = one is not None and (len(one) != 1 or not one.isascii() or one in '"\r\n\0')
        yield is_wrong, "`separator` must be one ASCII character, such as ; or |"
        is_wrong = mark not in {None, NO_QUOTE} and not _is_mark(mark)
        yield is_wrong, '`quote` must be one mark, such as ", or none'
        yield mark is not None and mark == one, "`quote` and `separator` must differ"
        is_wrong = thousands is not None and (len(thousands) != 1 or thousands.isalnum())
        yield is_wrong, "`thousands` must be one mark, such as , or a space"
        yield thousands == self.decimal, "`thousands` and `decimal` must differ"
        is_wrong = "" in names or len(set(names)) < len(names)
        yield is_wrong, "`header` must be names of columns that differ"
        is_wrong = self.comment is not None and not _is_comment(self.comment)
        yield is_wrong, "`comment` must be ASCII characters, such as #"
        form, zone = self.date_format, self.time_zone
        is_wrong = form is not None and "%" not in form
        yield is_wrong, f"`date_format` must be such as %d/%m/%Y, with %H:%M, not {form!r}"
        is_wrong = zone is not None and not _is_zone(zone)
        yield is_wrong, f"`time_zone` must be one such as Europe/Berlin, not {zone!r}"

    @property
    def stated_dialect(self) -> dict[str, Any]:
        """What is stated of how files are written, by name; public."""
        return {
            name: _plain(getattr(self, name))
            for name, default in DEFAULTS.items()
            if getattr(self, name) != default
        }

    @property
    def has_plain_numbers(self) -> bool:
        """Whether numbers have points for decimals and nothing else that is stated."""
        return self.decimal == "." and self.thousands is None and not self.missing

    def separator_of(self, kind: str) -> str:
        """Return the separator of the fields of a text file by its ending.

        Raises:
            ParameterError: It is the decimal mark as well.
        """
        separator = self.separator or WRITTEN.get(kind, (",",))[0]
        if separator == self.decimal:
            raise ParameterError("with `decimal`=',' give another `separator`, such as ';'")
        return separator

    def quote_of(self, kind: str) -> str | None:
        """Return the quotation mark of a text file by its ending, None if there is none."""
        mark = self.quote or WRITTEN[kind][1]
        return None if mark == NO_QUOTE else mark

    def typed(self, table: Any, types: Mapping[str, FieldType]) -> Any:  # noqa: ANN401 -- narwhals' frames
        """Return a frame of polars with columns of text as other types.

        Dates are as in 2026-01-31 and times as in 2026-01-31T12:00 (ISO 8601), if no other form
        is stated.

        Args:
            table: The rows.
            types: By column; each is of text.

        Raises:
            ColumnError: There is no such column.
        """
        self.note_reading(types.values())
        if not types:
            return table
        there = table.collect_schema()
        if missing := [column for column in types if column not in there]:
            raise no_field(missing[0], there.names()).adding(" (`column_type`)")
        fields = [
            _number(column, kind, self)
            if kind in {"number", "integer"}
            else _moment(column, kind, self)
            for column, kind in types.items()
            if kind != "text"
        ]
        return nw.from_native(nw.to_native(table).with_columns(fields))

    def note_reading(self, kinds: Iterable[FieldType]) -> None:
        """Note how fields of some types are written, for the release that is made of them."""
        for kind in kinds:
            if kind in {"number", "integer"}:
                note(
                    f"text file: numbers as 1{self.thousands or ''}200{self.decimal}5, "
                    "others missing (`thousands`, `decimal`)"
                )
            elif kind == "text":
                note("text file: texts compared exactly: 1 is not 1.0 (`missing`, `encoding`)")
            else:
                zone = "Z" if self.time_zone else ""
                form = self.date_format or f"2026-01-31 and 2026-01-31T12:00{zone}"
                note(f"text file: dates as {form}, others missing (`date_format`, `time_zone`)")


DEFAULTS: dict[str, Any] = {
    one.name: one.default if one.default is not MISSING else {} for one in fields(Dialect)
}
"""What is meant where nothing is stated."""


def _number(column: str, kind: FieldType, dialect: Dialect) -> pl.Expr:
    """Return the numbers that fields of a column write."""
    field, mark = pl.col(column).str.strip_chars(), dialect.thousands
    if mark is not None:
        one, decimal = re.escape(mark), re.escape(dialect.decimal)
        grouped = f"^[+-]?[0-9]{{1,3}}({one}[0-9]{{2,3}})*{one}[0-9]{{3}}({decimal}[0-9]*)?$"
        is_read = field.str.contains(grouped) | ~field.str.contains(mark, literal=True)
        field = pl.when(is_read).then(field.str.replace_all(mark, "", literal=True))
    if kind == "integer":
        # pandas writes integers among which one is missing as 1.0.
        whole = field.str.replace(f"{re.escape(dialect.decimal)}0*$", "")
        return whole.cast(pl.Int64, strict=False).alias(column)
    if dialect.decimal != ".":
        plain = field.str.replace_all(dialect.decimal, ".", literal=True)
        field = pl.when(~field.str.contains(".", literal=True)).then(plain)
    return field.cast(pl.Float64, strict=False).alias(column)


def _moment(column: str, kind: FieldType, dialect: Dialect) -> pl.Expr:
    """Return the days, or the local times, that fields of a column write."""
    field = pl.col(column).str.strip_chars()
    forms: tuple[str, ...] = (dialect.date_format or "",)
    if dialect.date_format is None:
        is_zoned = kind == "time" and dialect.time_zone is not None
        pattern, forms = _FORMS["time in a zone" if is_zoned else kind]
        field = pl.when(field.str.contains(pattern)).then(field)
        # The day of a time, as a stated form with hours gives it.
        field = field.str.head(10) if kind == "date" else field.str.replace("T", " ")
    times = pl.coalesce(_by_form(field, form, dialect) for form in forms)
    if "%Y" in (dialect.date_format or ""):  # it reads 24 as the year 24, which is %y
        times = pl.when(times.dt.year() > 999).then(times)
    return times.cast(pl.Date if kind == "date" else pl.Datetime("us")).alias(column)


def _by_form(field: pl.Expr, form: str, dialect: Dialect) -> pl.Expr:
    """Return the local times that fields of one form stand for."""
    if not _HOURS.search(form):
        return field.str.to_date(form, strict=False).cast(pl.Datetime("us"))
    if "%z" not in form:
        return field.str.to_datetime(form, time_unit="us", strict=False)
    # That of offsets without minutes, as PostgreSQL writes them, reads all others, too.
    form = form.replace("%z", "%#z")
    moments = field.str.to_datetime(form, time_unit="us", time_zone="UTC", strict=False)
    zone = dialect.time_zone or "UTC"
    return moments.dt.convert_time_zone(zone).dt.replace_time_zone(None)


def _plain(value: Any) -> Any:  # noqa: ANN401 -- of any field
    if isinstance(value, Mapping):
        return dict(sorted(value.items()))
    return list(value) if isinstance(value, tuple) else value


def _texts(name: str, values: Sequence[str]) -> tuple[str, ...]:
    is_one = isinstance(values, str) or not isinstance(values, Iterable)
    texts: tuple[Any, ...] = (values,) if is_one else tuple(values)
    if not all(isinstance(one, str) for one in texts):
        raise ParameterError(f"`{name}` must be one text or several")
    return texts


def _is_mark(mark: str | None) -> bool:
    is_one = mark is not None and len(mark) == 1 and mark.isascii()
    return is_one and not str(mark).isalnum() and str(mark) not in "\r\n\0\t "


def _is_zone(name: str) -> bool:
    from zoneinfo import available_timezones

    return name in available_timezones()


def _is_comment(comment: str) -> bool:
    return bool(comment) and comment.isascii() and not set(comment) & set('\r\n"')


def _encoding(name: str) -> str:
    """Return the one name of an encoding in which characters stand for themselves."""
    try:
        found = codecs.lookup(name)
        known = found._is_text_encoding and "a".encode(name) is not None  # noqa: SLF001 -- nothing else tells
    except (LookupError, TypeError, ValueError):
        known = False
    if not known or "escape" in found.name or found.name.replace("-", "_").startswith(STATEFUL):
        raise ParameterError(
            f"`encoding` must be one such as utf-8, utf-16, cp1252 or latin-1, not {name!r}"
        )
    return "utf-8" if found.name in {"utf-8-sig", "ascii"} else found.name
