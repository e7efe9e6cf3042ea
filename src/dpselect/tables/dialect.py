"""Dialects of text files: public statements about the program that wrote a file.

None of them is found out from rows. One person's characters would decide how others are read.
A text file declares no types either, so a column holds what it is declared, or asked, to hold.
Each field is read by itself; one that is none is null, and raises nothing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime
from functools import cache
from os.path import commonprefix
from typing import Annotated, Any, Literal, TypeAlias

from dpselect import validation
from dpselect._optional import nw, pl
from dpselect.errors import ColumnError, ParameterError, no_column
from dpselect.passes import note, replaced
from dpselect.tables.kinds import checked_names
from dpselect.validation import Check
from dpselect.writing import readable

FieldType: TypeAlias = Literal["text", "number", "integer", "date", "time"]
"""What the fields of a column are."""

WORKBOOKS = (".xlsx", ".xlsm")

WRITTEN: dict[str, tuple[str, str]] = {
    ".csv": (",", '"'),
    ".tsv": ("\t", "none"),
    ".tab": ("\t", "none"),
    ".txt": ("\t", "none"),
    ".dat": ("\t", "none"),
    ".psv": ("|", '"'),
}
"""Separators and quotation marks of text files by their endings, if no others are stated."""

MOST_EDITS = 2
"""Letters by which a field of a first line that is quoted differs, at most half of a name."""

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


def _text(words: str, pattern: str = ".*") -> Check:
    """Return the check of a statement that is one text, which a pattern matches."""

    def check(name: str, value: object) -> object:
        if not isinstance(value, str):
            raise ParameterError(f"`{name}` must be a text")
        if not re.fullmatch(pattern, value, re.DOTALL):
            raise validation.must_be(name, words, f"not {value!r}")
        return value

    return check


def _texts(name: str, values: Any) -> tuple[str, ...]:  # noqa: ANN401 -- of any type
    texts = (values,) if isinstance(values, str) else validation.listed(name, values) or ()
    if not all(isinstance(one, str) for one in texts):
        raise ParameterError(f"`{name}` must be one text or several")
    return texts


def _header(name: str, value: object) -> bool | tuple[str, ...]:
    return value if isinstance(value, bool) else checked_names(value, name)


def _types(name: str, value: Any) -> Mapping[str, FieldType]:  # noqa: ANN401 -- of any type
    for kind in validation.instance(name, value, Mapping).values():
        validation.one_of(name, kind, FieldType)
    return dict(sorted(value.items()))


@cache
def _zones() -> set[str]:
    from zoneinfo import available_timezones

    return available_timezones()


def _zone(name: str, value: object) -> str:
    if str(value) not in _zones():
        raise validation.must_be(name, "one such as Europe/Berlin", f"not {value!r}")
    return str(value)


def _encoding(name: str, value: Any) -> str:  # noqa: ANN401 -- of any type
    """Return the one name of an encoding in which characters stand for themselves."""
    try:
        found = codecs.lookup(value)
        known = found._is_text_encoding and "a".encode(value) is not None  # noqa: SLF001 -- nothing else tells
    except (LookupError, TypeError, ValueError):
        known = False
    if not known or "escape" in found.name or found.name.replace("-", "_").startswith(STATEFUL):
        words = "one such as utf-8, utf-16, cp1252 or latin-1"
        raise validation.must_be(name, words, f"not {value!r}")
    return "utf-8" if found.name in {"utf-8-sig", "ascii"} else found.name


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
            ``%z`` reads Z and offsets such as +02:00 or +02, and ``%y`` the years 1970 to 2069.
            If not given, 2026-01-31 and 2026-01-31T12:00, with seconds or without; in a
            workbook these are read beside it, since cells that hold dates have no other form.
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
        sheet: Sheet of a workbook; by default the only one.

    Raises:
        ParameterError: A value is out of its range, or two of them exclude each other.
    """

    format: Annotated[str | None, _text("a text")] = None
    separator: Annotated[
        str | None,
        _text("one ASCII character, such as ; or |", '(?!["\r\n])[\x01-\x7f]'),
    ] = None
    quote: Annotated[
        str | None,
        _text('one mark, such as ", or none', r"none|(?![\w\s])[\x01-\x7f]"),
    ] = None
    decimal: Literal[".", ","] = "."
    thousands: Annotated[str | None, _text("one mark, such as , or a space", r"[\W_]")] = None
    missing: Annotated[Sequence[str], _texts] = ()
    strip: Annotated[bool, validation.truth] = True
    date_format: Annotated[str | None, _text("a text")] = None
    time_zone: Annotated[str | None, _zone] = None
    encoding: Annotated[str, _encoding] = "utf-8"
    skip_lines: Annotated[int, validation.integers(0)] = 0
    comment: Annotated[
        str | None, _text("ASCII characters, such as #", '((?!["\r\n])[\0-\x7f])+')
    ] = None
    header: Annotated[bool | Sequence[str], _header] = True
    column_type: Annotated[Mapping[str, FieldType], _types] = field(
        default_factory=dict, hash=False
    )
    sheet: Annotated[str | None, _text("a text")] = None

    def __post_init__(self) -> None:
        if not self.stated_dialect:
            return
        validation.keep_checked(self)
        for one, other in (("quote", "separator"), ("thousands", "decimal")):
            if (mark := getattr(self, one)) is not None and mark == getattr(self, other):
                raise ParameterError(f"`{one}` and `{other}` must differ")
        words = "a form with a year, as %d/%m/%Y, and with minutes beside hours, as %H:%M"
        wrong = validation.must_be("date_format", words, f"not {self.date_format!r}")
        if self.date_format and replaced(self._year_of_2026, lambda: wrong) != 2026:
            raise wrong

    def _year_of_2026(self) -> object:
        """Return the year of a time of 2026 that is written and read by the stated form."""
        form, time = str(self.date_format), pl.lit(datetime(2026, 1, 31, 12, tzinfo=UTC))
        return pl.select(_by_form(time.dt.strftime(form), form, self).dt.year()).item()

    @property
    def stated_dialect(self) -> dict[str, Any]:
        """What is stated of how files are written, by name; public."""
        return {
            name: readable(getattr(self, name))
            for name, default in DEFAULTS.items()
            if getattr(self, name) != default
        }

    @property
    def marks(self) -> tuple[str, str | None]:
        """The separator, and the quotation mark or None, of one that is whole."""
        return str(self.separator), None if self.quote == "none" else self.quote

    def whole(self, kind: str) -> Dialect:
        """Return the dialect of files of an ending, with nothing that their ending says.

        Raises:
            ParameterError: One mark separates fields and decimals.
        """
        stated = {name: getattr(self, name) for name in DEFAULTS} | {"format": kind}
        for name, usual in zip(("separator", "quote"), WRITTEN.get(kind, ()), strict=False):
            stated[name] = stated[name] or usual
        # One that is stated separates what is quoted.
        if self.separator is None and stated["separator"] == self.decimal:
            raise ParameterError("with `decimal`=',' state the `separator`, such as ';'")
        return Dialect(**stated)

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
        readers = {"number": as_number, "integer": as_number, "date": _moment, "time": _moment}
        read = [readers[one](name, one, self) for name, one in types.items() if one != "text"]
        return nw.from_native(nw.to_native(table).with_columns(read))

    def note_reading(self, kinds: Iterable[str]) -> None:
        """Note how fields of some types are written, for the release that is made of them."""
        form = (
            self.date_format or f"2026-01-31 and 2026-01-31T12:00{'Z' * bool(self.time_zone)}"
        )
        number = f"numbers as 1{self.thousands or ''}200{self.decimal}5"
        said = {
            "text": "texts compared exactly: 1 is not 1.0 (`missing`, `encoding`)",
            "number": f"{number}, others missing (`thousands`, `decimal`)",
            "date": f"dates as {form}, others missing (`date_format`, `time_zone`)",
        }
        said |= {"integer": said["number"], "time": said["date"]}
        for kind in kinds:
            note(f"text file: {said[kind]}")


DEFAULTS: dict[str, Any] = {
    one.name: one.default if one.default is not MISSING else {} for one in fields(Dialect)
}
"""What is meant where nothing is stated."""


def as_number(column: str, kind: FieldType, dialect: Dialect) -> pl.Expr:
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
    field, stated = pl.col(column).str.strip_chars(), dialect.date_format
    found: list[pl.Expr] = []
    is_local = stated is None and (kind == "date" or not dialect.time_zone)
    # A cell that holds a day is text in the usual form, whatever is stated of others.
    usual: list[str] = [kind] if is_local or dialect.format in WORKBOOKS else []
    if stated is None and dialect.time_zone:
        usual.append("time in a zone")
    elif stated is not None:
        times = _by_form(field, stated, dialect)
        # It reads 24 as the year 24, which is %y.
        found.append(pl.when(times.dt.year() > 999).then(times) if "%Y" in stated else times)
    for one in usual:
        pattern, forms = _FORMS[one]
        plain: pl.Expr = pl.when(field.str.contains(pattern)).then(field)
        # The day of a time, as a stated form with hours gives it.
        plain = plain.str.head(10) if one == "date" else plain.str.replace("T", " ")
        found = [*(_by_form(plain, form, dialect) for form in forms), *found]
    found_first = pl.coalesce(found)
    return found_first.cast(pl.Date if kind == "date" else pl.Datetime("us")).alias(column)


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


def no_field(name: str, columns: Sequence[str]) -> ColumnError:
    """Return the error of a column that the first line of a text file does not name.

    That line may be a record: of its fields it quotes none that is not what was asked for but
    for two edits.

    Args:
        name: The column.
        columns: The fields of the first line.
    """
    some = "one column" if len(columns) == 1 else f"{len(columns)} columns"
    there = f"the first line, the header, names {some}"
    separator = next((one for one in ";\t|," if len(columns) == 1 and one in columns[0]), None)
    if separator is not None:
        there += f": does {separator!r} separate this file (`separator`={separator!r})?"
    elif any(one.startswith('"') for one in columns):
        there += ": do quotation marks stand around its fields (`quote`='\"')?"
    else:
        there += (
            ": is it the header? `skip_lines` and `comment` leave out what stands above it, "
            "`header` names the columns of a file without one, and `dpselect look` shows the "
            "lines to who may read the file"
        )
    asked = str(name).casefold()
    most = min(MOST_EDITS, len(asked) // 2)
    near = [one for one in columns if _within(most, asked, one.casefold())]
    return no_column(name, near, there, least=0)


def _within(edits: int, one: str, other: str) -> bool:
    """Return whether so many letters put in, left out or changed make one text the other."""
    same = len(commonprefix([one, other]))  # noqa: RUF071 -- no paths
    one, other = one[same:], other[same:]
    if one == other or not edits:
        return one == other
    rest = ((one[1:], other), (one, other[1:]), (one[1:], other[1:]))
    return any(_within(edits - 1, *some) for some in rest)
