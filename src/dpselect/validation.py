"""Checks of public arguments, made before any budget is spent.

Each returns the value in the form that the library uses, or raises a ``ParameterError`` that
names the argument in backquotes. NumPy stays out, so that a process that only spends starts at
once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields
from functools import cache, partial
from math import inf, isfinite
from numbers import Integral, Real
from sys import float_info
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeGuard,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from dpselect.errors import DPSelectError, NeighboursError, ParameterError, nearest
from dpselect.neighbours import Neighbours
from dpselect.passes import replaced

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpselect.typing import Values

T = TypeVar("T", bound=object)

Check: TypeAlias = Callable[[str, object], object]
"""Raises if a field of a name does not have a right value."""

EXACT = 2**53
"""Integers up to here are floats."""

TINY = float_info.min
"""The least float that is not subnormal."""


@cache
def checks_of(kind: type[Any]) -> list[tuple[str, Check, bool]]:
    """Return the checks that the annotations of a dataclass state, and whether None has one.

    ``Literal`` states texts, and ``Annotated`` functions such as ``positive``; a None that is a
    default needs no check.
    """
    usual = {one.name: one.default for one in fields(kind)}
    found: list[tuple[str, Check, bool]] = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        stated, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        parts = get_args(stated) if NoneType in get_args(stated) else [stated]
        texts, *others = [one for one in parts if one is not NoneType]
        if get_origin(texts) is Literal and not others:
            marks.append(partial(one_of, known=get_args(texts)))
        found += [(name, one, usual[name] is not None) for one in marks if callable(one)]
    return found


def checked(made: Any) -> dict[str, Any]:  # noqa: ANN401 -- a dataclass
    """Return what the checks of fields return, by name."""
    return {
        name: check(name, given)
        for name, check, of_none in checks_of(made.__class__)
        if (given := getattr(made, name)) is not None or of_none
    }


def keep_checked(made: Any, **more: Any) -> None:  # noqa: ANN401 -- a dataclass, and its fields
    """Keep in a frozen dataclass what the checks of its fields return, and more."""
    for name, value in (checked(made) | more).items():
        object.__setattr__(made, name, value)


def must_be(name: str, words: str, given: str) -> ParameterError:
    """Return the error of an argument that is not what it must be."""
    return ParameterError(f"`{name}` must be {words}, {given}")


def _type_of(value: object) -> str:
    # Anything else of a value may be data that were given by mistake.
    return f"not {one(type(value).__name__)}"


def one(name: str) -> str:
    """Return the name of a class behind its article."""
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def _number(words: str, fits: Callable[[float], bool], name: str, value: object) -> float:
    """Return ``value`` as a float that fits; a negative zero is zero, and is printed so."""
    if type(value) not in {float, int} and (type(value) is bool or not isinstance(value, Real)):
        raise must_be(name, "a number", _type_of(value))
    try:
        number = float(value) + 0.0  # type: ignore[arg-type] # it is Real
    except OverflowError:
        raise must_be(name, "a number", "and this is too large for a float") from None
    if fits(number):
        return number
    raise must_be(name, words, f"got {number!r}")


finite = partial(_number, "a finite number", isfinite)

positive = partial(_number, "finite and > 0", lambda one: TINY <= one < inf)
"""Finite, > 0 and not subnormal."""

non_negative = partial(
    _number, "0, or finite and > 0", lambda one: one == 0 or TINY <= one < inf
)
"""The same, or 0."""

probability = partial(
    _number, "at least 0 and below 1", lambda one: one == 0 or TINY <= one < 1
)
"""0, or not subnormal and below 1."""

share = partial(_number, "above 0 and below 1", lambda one: 0 < one < 1)


def numbers(low: float, high: float) -> Callable[[str, object], float]:
    """Return the check of a field, in ``typing.Annotated``, that is ``within``."""
    return partial(_number, f"between {low:g} and {high:g}", lambda one: low <= one <= high)


def within(name: str, value: object, low: float, high: float) -> float:
    """Return ``value`` as a float in the closed interval from ``low`` to ``high``."""
    return numbers(low, high)(name, value)


def is_integer(value: object) -> TypeGuard[Integral]:
    """Return whether a value is an integer: no truth value, and no duration of NumPy's."""
    kind = type(value)
    if kind is int:  # at once: to ask for Integral takes as long as all else
        return True
    return isinstance(value, Integral) and kind.__name__ not in {"bool", "timedelta64"}


def at_least(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return ``value`` as an int that is at least ``least``, and at most ``most`` if given."""
    if not is_integer(value):
        raise must_be(name, "an integer", _type_of(value))
    if value < least:
        raise must_be(name, f"at least {least}", f"got {int(value)}")
    if most is not None and int(value) > most:
        raise must_be(name, f"at most {most}", f"got {int(value)}")
    return int(value)


def integers(least: int, most: int | None = None) -> Check:
    """Return the check of a field, in ``typing.Annotated``, that is ``at_least``."""
    return partial(at_least, least=least, most=most)


def some_of(name: str, value: object, number: int, of: str = "candidates") -> int:
    """Return ``value`` as an int from 1 to the number of what there is."""
    if (some := at_least(name, value, 1)) > number:
        raise must_be(name, f"at most the number of {of}, {number}", f"not {some}")
    return some


def one_of_two(one: str, other: str) -> ParameterError:
    """Return the error of two arguments that replace each other."""
    return ParameterError(f"give `{one}` or `{other}`, one of them")


def one_given(**values: object) -> None:
    """Check that of two arguments one is given, and the other is None."""
    if sum(one is None for one in values.values()) != 1:
        raise one_of_two(*values)


def candidates_and_range() -> ParameterError:
    """Return the error of values that are both listed and given as a range."""
    return ParameterError(
        "`candidates` replace the range: leave out `lower`, `upper` and `step`"
    )


def goes_with(name: str, other: str) -> ParameterError:
    """Return the error of an argument that is given without another."""
    return ParameterError(f"`{name}` goes with `{other}`")


def left_out(asked: Any, *names: str, why: str) -> None:  # noqa: ANN401 -- a query
    """Check that fields have their defaults, or say why they are to be left out."""
    held, kind = vars(asked), type(asked)
    for name in names:
        if held[name] != getattr(kind, name):
            raise ParameterError(f"`{name}` {why}")


def some(name: str, values: Collection[object]) -> None:
    """Check that there is at least one value."""
    if not values:
        raise must_be(name, "at least one", "and none is given")


def different(name: str, values: Collection[object]) -> None:
    """Check that there is at least one value, and none twice; values are public."""
    some(name, values)
    try:
        [(value, number)] = Counter(values).most_common(1)
    except TypeError:
        raise must_be(name, "values that can be hashed", "and one is not") from None
    if number > 1:
        raise must_be(name, "different values", f"and {value!r} is there twice")


def needs(name: str, *columns: str, of: str) -> ParameterError:
    """Return the error of a field that goes with the columns of something."""
    s = "s" * (len(columns) - 1)
    given = "` and `".join(columns)
    return ParameterError(f"`{name}` needs `{given}`, the name{s} of the column{s} of {of}")


def different_columns(**columns: str | None) -> None:
    """Check that no two fields name one column."""
    given = {name: instance(name, one, str) for name, one in columns.items() if one is not None}
    if len({*given.values()}) < len(given):
        [*names, last] = given
        raise ParameterError(f"`{'`, `'.join(names)}` and `{last}` must be different columns")


def one_of(name: str, value: object, known: Any) -> Any:  # noqa: ANN401 -- texts or a type
    """Return ``value`` as the one of the known texts, or those of a ``Literal``, that it is."""
    options = known if type(known) is tuple else get_args(known) or tuple(known)
    for option in options:
        if isinstance(value, str) and value == option:
            return option
    which = (
        " or ".join(map(repr, options)) if len(options) < 3 else f"one of {', '.join(options)}"
    )
    if not isinstance(value, str):
        raise must_be(name, which, _type_of(value))
    raise must_be(name, which, f"not {value!r}{nearest(value, options)}")


def listed(name: str, value: Iterable[T] | None) -> tuple[T, ...] | None:
    """Return several values, None for none given."""
    if value is None:
        return None
    one = isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0
    if one or not isinstance(value, Iterable):
        raise must_be(name, "several values", _type_of(value))
    return tuple(value)


def floats(of: str, values: ArrayLike, error: type[DPSelectError] = ParameterError) -> Values:
    """Return numbers as float64; the error says what they are ``of``, and none of them."""
    import numpy as np

    return replaced(
        lambda: np.asarray(values, dtype=np.float64),
        lambda: error(f"{of} must be numbers that floats can hold"),
    )


def instance(name: str, value: object, kind: type[T]) -> T:
    """Return ``value`` if it is a ``kind``."""
    if not isinstance(value, kind):
        raise must_be(name, one(kind.__name__), _type_of(value))
    return value


def truth(name: str, value: object) -> bool:
    """Return ``value`` as a bool."""
    kind = type(value)  # bool, or one of NumPy's, whose name depends on its version
    if kind is not bool and (kind.__module__, kind.__name__.strip("_")) != ("numpy", "bool"):
        raise must_be(name, "True or False", _type_of(value))
    return bool(value)


def neighbours(value: object) -> Neighbours:
    """Return a neighbour relation, given as itself or by its name."""
    # Lookup in an enumeration compares: a value that is not text may refuse that in its own
    # way.
    if type(value) is Neighbours:
        return value
    return Neighbours(value if isinstance(value, str) else None)


def table_neighbours(value: object) -> Neighbours:
    """Return ``ADD_REMOVE`` or ``SUBSTITUTE``, the relations between tables of records."""
    if (given := neighbours(value)) not in (Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE):
        raise NeighboursError(
            f"`neighbours` of tables must be 'add-remove' or 'substitute', not '{given}'"
        )
    return given


def one_relation(of: str, given: Iterable[Neighbours]) -> None:
    """Check that several parts of one guarantee are stated for one relation."""
    if len(found := {*given}) > 1:
        names = " and ".join(sorted(map(str, found)))
        raise NeighboursError(f"{of} must be for one neighbour relation, not {names}")
