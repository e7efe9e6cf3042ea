"""Fields of queries as values that can be compared, and as text that can be read again."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MappingView,
    Sequence,
    Set as AbstractSet,
)
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import ParameterError


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

ADDRESS = " at 0x"
"""In what Python prints of an object that does not say how."""

MAPPING = "mapping"
"""Holds a mapping of one key that looks like the name of a type."""


def frozen(value: object) -> Any:  # noqa: ANN401 -- of any field
    """Return a value as it is kept in a field.

    Arrays and lists become tuples of Python's numbers; a class of the library with a short
    name, or a partial of one, that name with the options; an object with a method
    ``to_field`` what that returns.
    """
    if type(value) in ATOMS:
        return value
    if isinstance(value, np.generic | np.ndarray):
        value = _whole_microseconds(value).tolist()
    if isinstance(value, type | partial):
        return _named(value)
    if (to_field := getattr(type(value), "to_field", None)) is not None:
        value = to_field(value)
    # The nodes of networkx are ordered keys, a set and a mapping: they are listed.
    if isinstance(value, Mapping) and not isinstance(value, AbstractSet):
        return {str(key): frozen(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return tuple(sorted(map(frozen, value), key=str))
    if isinstance(value, Iterable) and _is_list(value):
        return tuple(map(frozen, value))
    return value


def _whole_microseconds(array: np.generic | NDArray[Any]) -> NDArray[Any]:
    """Return an array of dates in microseconds; of finer ones NumPy makes lists of integers."""
    values = np.asarray(array)
    if values.dtype.kind not in "mM" or np.datetime_data(values.dtype)[0] not in FINER:
        return values
    coarser = values.astype(f"{values.dtype.kind}8[us]")
    if not np.array_equal(coarser, values, equal_nan=True):
        raise ParameterError("dates and durations must be of whole microseconds")
    return coarser


def real(value: object) -> object:
    """Return a number as a float, whatever its type; other values unchanged."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    try:
        return float(value)
    except OverflowError:
        return value


def _named(value: type | partial[Any]) -> object:
    if isinstance(value, type):
        return _short_name(value) or value
    name = _short_name(value.func)
    if name is None or value.args:
        return value
    return {"name": name, **{key: frozen(one) for key, one in value.keywords.items()}}


def _short_name(kind: object) -> str | None:
    """Return the name by which a class of the library is found again; None of any other."""
    name = getattr(kind, "name", None)
    ours = getattr(kind, "__module__", "").partition(".")[0] == "dpselect"
    return name if ours and isinstance(kind, type) and isinstance(name, str) else None


def _is_list(value: Iterable[object]) -> bool:
    """Return whether a value is a list of some kind, not an object that can be iterated too."""
    if isinstance(value, str | bytes | range):
        return False
    kinds = (Sequence, MappingView, AbstractSet, Iterator)
    return isinstance(value, kinds) or hasattr(value, "dtype")


def plain(value: object, otherwise: Callable[[object], object]) -> Any:  # noqa: ANN401
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
    if isinstance(value, bool | int | str | None) or _is_finite(value):
        return value
    if isinstance(value, tuple | list):
        return [plain(one, otherwise) for one in value]
    if isinstance(value, Mapping):
        made = {key: plain(one, otherwise) for key, one in value.items()}
        return {MAPPING: made} if len(made) == 1 and made.keys() <= {*TAGS, MAPPING} else made
    return _object(value, otherwise)


def _is_finite(value: object) -> bool:
    return isinstance(value, float) and isfinite(value)


def _object(value: object, otherwise: Callable[[object], object]) -> object:
    for title, tag in TAGS.items():
        if isinstance(value, tag.kind):
            return {title: tag.write(value)}
    name = _short_name(type(value))
    if not is_dataclass(value) or name is None:
        return otherwise(value)
    options = {}
    for one in fields(value):
        given = getattr(value, one.name)
        usual = one.default if one.default_factory is MISSING else one.default_factory()
        if given != usual:
            options[one.name] = plain(given, otherwise)
    return {"name": name, **options} if options else name


def readable(value: object) -> Any:  # noqa: ANN401 -- plain values
    """Return a kept value as people write it: without tags, and objects by their names."""
    if isinstance(value, tuple | list):
        return [readable(one) for one in value]
    if isinstance(value, Mapping):
        return {key: readable(one) for key, one in value.items()}
    if isinstance(value, timedelta):
        return duration(value)
    if isinstance(value, date | Decimal):
        return str(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no word for it
    return value if isinstance(value, float | range) else plain(value, label)


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


def in_short(value: object, most: int) -> str:
    """Return a kept value as it prints, a tuple of more than so many values as their number."""
    if isinstance(value, tuple | Mapping) and len(value) > most:
        return f"<{len(value)} values>"
    if isinstance(value, tuple):
        each = [in_short(one, most) for one in value]
        return f"({', '.join(each)}{',' * (len(value) == 1)})"
    if isinstance(value, Mapping):
        pairs = [f"{name!r}: {in_short(one, most)}" for name, one in value.items()]
        return f"{{{', '.join(pairs)}}}"
    shown = repr(str(value) if isinstance(value, Enum) else value)
    return label(value) if ADDRESS in shown else shown


def refused(name: str, value: object) -> object:
    """Refuse a value that has no written form.

    Raises:
        ParameterError: Always.
    """
    raise ParameterError(
        f"`{name}` is a {type(value).__name__}, which cannot be written down: give it by name"
    )


def read(name: str, value: object) -> Any:  # noqa: ANN401 -- of any field
    """Return the value of a field that ``plain`` wrote.

    Raises:
        ParameterError: An object that stands for another type holds none of it.
    """
    if isinstance(value, list | tuple):
        return tuple(read(name, one) for one in value)
    if not isinstance(value, Mapping):
        return value
    [tag, *more] = value or ("",)
    if tag == MAPPING and not more and isinstance(value[tag], Mapping):
        return {key: read(name, one) for key, one in value[tag].items()}
    if tag not in TAGS or more:
        return {key: read(name, one) for key, one in value.items()}
    try:
        return TAGS[tag].read(value[tag])
    except (TypeError, ValueError, ArithmeticError):
        raise ParameterError(f"`{name}` holds a value that is not a {tag}") from None
