"""Values in writing: as JSON that can be read again, as text, and as cards of notebooks.

NumPy is imported where arrays are read, so that a process that only spends starts at once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MappingView,
    Sequence,
    Set as AbstractSet,
)
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from math import isfinite
from textwrap import indent
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from dpselect.errors import DataError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Numbers(tuple[Any, ...]):  # noqa: SLOT001 -- what it holds has no slot in a tuple
    """Numbers of one type, with the vector of NumPy that holds them, too."""

    array: NDArray[Any]


class Tag(NamedTuple):
    """JSON form of a type that JSON does not have: an object of one name."""

    kind: type
    write: Callable[[Any], object]
    read: Callable[[Any], object]


TAGS = {
    "datetime": Tag(datetime, datetime.isoformat, datetime.fromisoformat),
    "date": Tag(date, date.isoformat, date.fromisoformat),
    "microseconds": Tag(
        timedelta,
        lambda one: one // timedelta(microseconds=1),
        lambda one: timedelta(microseconds=one),
    ),
    "decimal": Tag(Decimal, str, Decimal),
    "range": Tag(range, lambda one: [one.start, one.stop, one.step], lambda one: range(*one)),
    "float": Tag(float, str, float),
}
"""By name; of two types that fit the first. Floats here are those that are not finite."""

FINER = ("ns", "ps", "fs", "as")
"""Units of NumPy's dates that Python has no dates for."""

ATOMS = frozenset({bool, int, str, type(None)})
"""Types that are written unchanged; a matrix may have millions of them."""

KEPT = ATOMS | {float, Numbers}
"""Types that are kept unchanged: of floats only finite ones are written so."""

ADDRESS = " at 0x"
"""In what Python prints of an object that does not say how."""

SHOWN = 8
"""Values of a longer sequence are summarised where it is printed, or stored with a plan."""

MOST_NAMES = 32
"""Names of a longer mapping are summarised likewise."""

DIGITS = 6
"""Significant digits of an epsilon that is shown."""

_LONG = re.compile(r"(?<![\w.])\d+\.\d{6,}(?:e[-+]?\d+)?")

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)

FRAME = (
    "border:1px solid #8886;border-radius:6px;padding:.6em .9em;display:inline-block;"
    "max-height:30em;overflow:auto"
)

MOST_VALUES = 1_000_000
"""Values of a written query, with those of its ranges, where nobody states another number; and
of one range, which planning takes about 100 bytes each for."""

MOST_DEPTH = 32
"""Lists in lists of a written query."""

MAPPING = "mapping"
"""Holds a mapping of one key that looks like the name of a type."""


def frozen(value: object) -> Any:  # noqa: ANN401 -- of any field
    """Return a value as it is kept in a field.

    Arrays and lists become tuples of Python's numbers; a class of the library with a short
    name, or a partial of one, that name with the options; an object with a method
    ``to_field`` what that returns.
    """
    if type(value) in {list, tuple}:
        return _frozen_list(value)
    if type(value) not in KEPT and _is_array(value):
        value = _of_array(value)
    if type(value) in KEPT:
        return value
    if isinstance(value, type | partial):
        return _named(value)
    if (to_field := getattr(type(value), "to_field", None)) is not None:
        value = to_field(value)
    if isinstance(value, range) and value[MOST_VALUES:]:
        raise ParameterError(
            f"a range of a query has at most {MOST_VALUES:,} values: 60 bytes would take all "
            "memory; list them, if there is enough"
        )
    if isinstance(value, Decimal) and value.is_snan():
        raise ParameterError("a signaling NaN is no number")
    # The nodes of networkx are ordered keys, a set and a mapping: they are listed.
    if isinstance(value, Mapping) and not isinstance(value, AbstractSet):
        return {str(key): frozen(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return tuple(sorted(map(frozen, value), key=str))
    return _frozen_list(value) if isinstance(value, Iterable) and _is_list(value) else value


def _frozen_list(values: Any) -> tuple[Any, ...]:  # noqa: ANN401 -- of any type
    held = (*values,)
    kinds = {*map(type, held)}
    if len(held) > SHOWN and kinds in ({int}, {float}):  # once for all who compute with them
        import numpy as np

        with suppress(OverflowError):  # integers of more than 64 bits
            return _numbers(held, np.array(held, np.int64 if int in kinds else np.float64))
    return held if kinds <= KEPT else (*map(frozen, held),)


def _is_array(value: Any) -> bool:  # noqa: ANN401 -- of any type
    """Return whether a value is an array or a number of NumPy."""
    return type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist")


def _of_array(value: Any) -> Any:  # noqa: ANN401 -- of NumPy
    array = _whole_microseconds(value)
    held: Any = array.tolist()
    if array.ndim != 1 or array.dtype.kind not in "iuf" or array.itemsize > 8:
        return held
    return _numbers(held, array.copy())


def _numbers(held: Iterable[Any], array: NDArray[Any]) -> Numbers:
    made = Numbers(held)
    made.array = array
    return made


def _whole_microseconds(array: Any) -> NDArray[Any]:  # noqa: ANN401 -- of NumPy
    """Return an array of dates in microseconds; of finer ones NumPy makes lists of integers."""
    import numpy as np

    values = np.asarray(array)
    if values.dtype.kind not in "mM" or np.datetime_data(values.dtype)[0] not in FINER:
        return values
    coarser = values.astype(f"{values.dtype.kind}8[us]")
    if not np.array_equal(coarser, values, equal_nan=True):
        raise ParameterError("dates and durations must be of whole microseconds")
    return coarser


def _named(value: type | partial[Any]) -> object:
    if isinstance(value, type):
        return _short_name(value) or value
    name = _short_name(value.func)
    if name is None or value.args:
        return value
    return {"name": name, **{key: frozen(one) for key, one in value.keywords.items()}}


def _short_name(kind: object) -> str | None:
    """Return the name by which a class of our packages is found again; None of any other."""
    name = getattr(kind, "name", None)
    ours = getattr(kind, "__module__", "").startswith(("dpselect.", "dpselect_"))
    return name if ours and isinstance(kind, type) and isinstance(name, str) else None


def _is_list(value: Iterable[object]) -> bool:
    """Return whether a value is a list of some kind, not an object that can be iterated too."""
    if isinstance(value, str | bytes | range):
        return False
    kinds = (Sequence, MappingView, AbstractSet, Iterator)
    return isinstance(value, kinds) or hasattr(value, "dtype")


def to_json(value: object, otherwise: Callable[[object], object]) -> Any:  # noqa: ANN401
    """Return a kept value as JSON and TOML can hold it.

    An instance of a dataclass with a short name becomes that name, with the options that are
    not at their defaults.

    Args:
        value: From ``frozen``.
        otherwise: Called with what has no such form.
    """
    if type(value) in ATOMS:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, tuple | list):
        return [to_json(one, otherwise) for one in value]
    if isinstance(value, Mapping):
        made = {key: to_json(one, otherwise) for key, one in value.items()}
        return {MAPPING: made} if len(made) == 1 and made.keys() <= {*TAGS, MAPPING} else made
    return _object(value, otherwise)


def _object(value: object, otherwise: Callable[[object], object]) -> object:
    for title, tag in TAGS.items():
        if isinstance(value, tag.kind):
            return {title: tag.write(value)}
    name = _short_name(type(value))
    if not is_dataclass(value) or name is None:
        return otherwise(value)
    options = {}
    for one in fields(value):
        usual = one.default if one.default_factory is MISSING else one.default_factory()
        given = to_json(getattr(value, one.name), otherwise)
        # As they are written: an array is neither equal to another nor not.
        if usual is MISSING or given != to_json(usual, otherwise):
            options[one.name] = given
    return {"name": name, **options} if options else name


def readable(value: object) -> Any:  # noqa: ANN401 -- plain values
    """Return a value as JSON holds it and people read it: without tags, objects by names."""
    if type(value) in ATOMS:
        return value
    if _is_array(value):
        value = value.tolist()  # type: ignore[attr-defined] # as an array has it
    if isinstance(value, tuple | list | range):
        # One by one, a hundred thousand candidates would cost more than their release.
        kinds = {*map(type, value[:1] if isinstance(value, Numbers) else value)}
        plain = kinds <= ATOMS or (kinds == {float} and all(map(isfinite, value)))
        return [*value] if plain else [*map(readable, value)]
    if isinstance(value, Mapping):
        return {str(key): readable(one) for key, one in value.items()}
    if isinstance(value, timedelta):
        return duration(value)
    # JSON has no word for a float that is not finite.
    if isinstance(value, date | Decimal) or (isinstance(value, float) and not isfinite(value)):
        return str(value)
    return value if isinstance(value, float) else to_json(value, label)


def duration(value: timedelta) -> str:
    """Return a duration in words; whole days without a time."""
    return str(value).removesuffix(", 0:00:00")


def label(value: object) -> str:
    """Return the name of an object without a written form; never its address."""
    if isinstance(value, partial):
        options = ", ".join(f"{name}={one!r}" for name, one in value.keywords.items())
        return f"{label(value.func)}({', '.join([*map(repr, value.args), options])})"
    text = str(getattr(value, "__qualname__", None) or value)
    return type(value).__qualname__ if ADDRESS in text else text


def refused(name: str, value: object) -> object:
    """Refuse a value that has no written form.

    Raises:
        ParameterError: Always.
    """
    raise ParameterError(
        f"`{name}` is a {type(value).__name__}, which cannot be written down: give it by name"
    )


def check_size(value: object, most: int = MOST_VALUES) -> None:
    """Refuse a written value that takes much memory once it is read, before it is.

    Args:
        value: From JSON or TOML. A range counts with all its values, and so does a number of
            ``nodes``, of which a plan keeps about 100 bytes each.
        most: How many values it may hold.

    Raises:
        ParameterError: It holds more, or lists in lists without end.
    """
    if _size(value) > most:
        raise ParameterError(
            f"a query in writing holds at most {most:,} values, those of its ranges and its "
            "nodes included, and there are more: a policy grants another number by "
            "`most_values`"
        )


def _size(value: object, depth: int = 0) -> int:
    """Return how many values a written one holds once it is read."""
    if not isinstance(value, Mapping | list | tuple) or not value:
        return 0
    if depth == MOST_DEPTH:
        raise ParameterError(f"a query in writing has at most {MOST_DEPTH} lists in lists")
    found, inner = len(value), value
    if isinstance(value, Mapping):
        inner, nodes = [*value.values()], value.get("nodes")
        found += _length(value.get("range")) if len(value) == 1 else 0
        found += nodes if isinstance(nodes, int) else 0
    return found + sum(_size(one, depth + 1) for one in inner if not isinstance(one, str | int))


def _length(ends: object) -> int:
    """Return how long a written range is; 0 if it is none."""
    try:
        made = range(*ends)  # type: ignore[misc] # whatever it is, it is tried
    except (TypeError, ValueError):
        return 0
    # Of more than 2**63 Python does not say the length.
    return max(0, -((made.start - made.stop) // made.step))


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return what is said of each name, as in an object of JSON; of none twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(one for one in found if names.count(one) > 1)
        raise DataError(f"the key {twice!r} stands twice")
    return found


def from_json(name: str, value: object) -> Any:  # noqa: ANN401 -- of any field
    """Return the value of a field that ``to_json`` wrote.

    Raises:
        ParameterError: An object that stands for another type holds none of it.
    """
    if isinstance(value, list | tuple):
        return tuple(from_json(name, one) for one in value)
    if not isinstance(value, Mapping):
        return value
    [tag, *more] = value or ("",)
    if tag == MAPPING and not more and isinstance(value[tag], Mapping):
        return {key: from_json(name, one) for key, one in value[tag].items()}
    if tag not in TAGS or more:
        return {key: from_json(name, one) for key, one in value.items()}
    try:
        return TAGS[tag].read(value[tag])
    except (TypeError, ValueError, ArithmeticError):
        raise ParameterError(f"`{name}` holds a value that is not a {tag}") from None


def summary(value: object) -> object:
    """Return a public argument as ``readable``, a long sequence as its length and ends."""
    if isinstance(value, Mapping):
        if len(value) > MOST_NAMES:
            return _ends([*value])
        return {name: summary(one) for name, one in value.items()}
    if isinstance(value, str) or not isinstance(value, Sequence):
        return readable(value)
    return [*map(summary, value)] if len(value) <= SHOWN else _ends(value)


def _ends(values: Sequence[object]) -> str:
    first, last = values[0], values[-1]
    if isinstance(first, Sequence) and not isinstance(first, str):
        return f"{len(values)} rows of {len(first)} values"
    ends = [f"{end:.10g}" if isinstance(end, float) else summary(end) for end in (first, last)]
    return f"{len(values)} values from {ends[0]} to {ends[1]}"


def six_digits(text: str) -> str:
    """Return a text whose decimal numbers have six significant digits at most.

    What floating point adds to a share of epsilon, as in 0.7999999999999999, says nothing.
    """
    return _LONG.sub(lambda found: repr(float(f"{float(found[0]):.{DIGITS}g}")), text)


def digits(number: float) -> str:
    """Return a number with four significant digits, a large one with all before the point."""
    if 1000 <= abs(number) < 1e15:
        return f"{float(f'{number:.4g}'):,.0f}"
    return f"{number:.4g}"


def stated(facts: Mapping[str, object]) -> list[str]:
    """Return names and values as lines of text; what has several begins below its name.

    What is empty is left out.
    """
    texts = {name: str(value) for name, value in facts.items() if value not in (None, "")}
    return [
        f"{name}:\n{indent(text, '  ')}" if "\n" in text else f"{name}: {text}"
        for name, text in texts.items()
    ]


def lines(columns: Mapping[str, list[Any]]) -> list[str]:
    """Return columns as lines of text: a head, and a line for each row."""
    padded = []
    for name, column in columns.items():
        cells = [name, *map(as_text, column)]
        width, pad = max(map(len, cells)), str.rjust if holds_numbers(column) else str.ljust
        padded.append([pad(cell, width) for cell in cells])
    return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]


def as_text(value: object) -> str:
    """Return a value as it stands in a table."""
    if isinstance(value, timedelta):
        return duration(value)
    return f"{value:.15g}" if isinstance(value, float) else in_a_cell(str(value))


def visible(text: str) -> str:
    """Return a text whose control characters and marks of direction are spelled out.

    A terminal obeys the former, and the latter show a text in another order than it has. Ends
    of lines and tabs stay.
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def in_a_cell(text: str) -> str:
    """Return what ``visible`` does, on one line."""
    return visible(text).replace("\n", r"\n").replace("\t", r"\t")


class Card:
    """What a notebook shows as it is printed: the same text, in a frame."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre style="{FRAME}">{escape(str(self))}</pre>'


def holds_numbers(column: Iterable[object]) -> bool:
    """Return whether a column of a table holds numbers, or blanks."""
    return all(
        (isinstance(one, int | float) and not isinstance(one, bool))
        or (isinstance(one, str) and not one)
        for one in column
    )


_CODE = re.compile(r"``([^`]*)``")
_ENTRY = re.compile(r"^ {4}(?P<name>\w+): (?P<text>.*(?:\n {8}.*)*)", re.MULTILINE)


def documented(of: object, word: Callable[[str], str] = str, title: str = "") -> dict[str, str]:
    """Return the first sentence about each attribute of a class, by name, as plain text.

    Args:
        of: The class; or a function, or a module.
        word: What stands for the name of another attribute.
        title: Another section, such as ``Args``, of which all sentences are returned.
    """
    found: dict[str, str] = {}
    for one in reversed(getattr(of, "__mro__", (of,))):
        text = inspect.cleandoc(one.__doc__ or "")
        section = text.partition(f"{title or 'Attributes'}:\n")[2]
        for entry in _ENTRY.finditer(re.split(r"\n\n(?=\S)", section)[0]):
            text = " ".join(entry["text"].split())
            first = re.split(r"(?<=[.]) (?=[A-Z`])", text, maxsplit=1)[0]
            found[entry["name"]] = text if title else first

    def plain(code: re.Match[str]) -> str:
        return word(code[1]) if code[1] in found else code[1]

    return {name: _CODE.sub(plain, text) for name, text in found.items()}


def members(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 -- types
    """Yield what a field can be, ``Literal`` for names and ``Sequence`` for several.

    The types of what a sequence holds follow it.
    """
    origin = get_origin(annotation)
    if origin is Literal:
        yield Literal
    elif origin is None:
        yield annotation
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield Mapping
    else:
        if isinstance(origin, type) and hasattr(origin, "__iter__"):
            yield Sequence
        of_array = getattr(origin, "__name__", "") == "ndarray"
        for one in get_args(annotation)[of_array:]:  # the first of an array is its shape
            yield from members(one)


def words(annotation: Any) -> list[str]:  # noqa: ANN401 -- a type
    """Return the texts of the literals in an annotation."""
    if get_origin(annotation) is Literal:
        return [one for one in get_args(annotation) if isinstance(one, str)]
    return list(dict.fromkeys(word for one in get_args(annotation) for word in words(one)))
