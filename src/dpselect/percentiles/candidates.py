"""Candidates: listed or equally spaced, their units, and the one that each record counts at.

A candidate is what public arguments are given as, and so are answers. Dates, times and
durations are counted as ``dpselect.tables.columns`` counts those of a column, money in decimals
is a number, and so are integers; what is released is turned back.

A record counts at the nearest candidate, of two as near at the larger one. So a number beyond
the candidates counts at their end. Halfway between two candidates is taken of their decimal
digits (of listed ones, if they have up to 15), and rounded to the type of floats that the
numbers are of: the float of that type that is nearest to the digits of a candidate counts at
it.

Guarantee:
    Where a record counts depends on that record and on public candidates alone, so neighbours
    remain neighbours, under any relation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import inf, lcm, log
from typing import Any, Literal, TypeAlias

import numpy as np

from dpselect import validation
from dpselect._numbers import exact
from dpselect.errors import ParameterError
from dpselect.tables.kinds import FIRST, ORIGINS, Moment, code_of
from dpselect.typing import Indices, Values
from dpselect.validation import EXACT
from dpselect.writing import Numbers

Float: TypeAlias = type[np.floating]
"""A type of floats that a column declares."""

DIGITS = 16
"""Decimals, one more than are looked for in listed candidates."""

MOST = 2**52
"""Candidates beyond which floats could not tell neighbouring ones apart."""

MOST_SUM = 2**62
"""Integers below which sums are computed in 64 bits."""

UNKNOWN = (None, inf, -inf)
"""Ends that are not known."""

OPEN = 10**15
"""Steps from 0, or from the other end, to an end that is not given."""


def places_of(points: Values | Range, numbers: Values, kind: Float = np.float64) -> Indices:
    """Return the positions of the candidates that numbers count at.

    Of a candidate it is its own position, whatever candidates are next to it.

    Args:
        points: The candidates, increasing.
        numbers: None missing. Private.
        kind: The type of floats that they are of.
    """
    if isinstance(points, np.ndarray):
        return np.searchsorted(starts_of(points, kind), numbers, side="right")
    return points.places(numbers, kind)


def starts_of(points: Values, kind: Float = np.float64) -> Values:
    """Return the least number that counts at each of ascending candidates, but the first."""
    return least_above(_halfway(points), points[:-1], kind)


def least_above(halfway: Values, before: Values, kind: Float) -> Values:
    """Return the least numbers of a type from halfway on, other than the candidate before."""
    with np.errstate(over="ignore", under="ignore"):
        next_one = np.nextafter(before.astype(kind), kind(np.inf))
        return np.maximum(halfway.astype(kind), next_one).astype(np.float64)


def unclear(points: Values | Range, kind: Float) -> float | None:
    """Return a candidate that a type of floats may not tell from the next, if one is."""
    if not isinstance(points, np.ndarray):
        return points.unclear(kind)
    with np.errstate(over="ignore", under="ignore"):
        held = points.astype(kind)
    alike = np.flatnonzero(held[1:] == held[:-1])
    return float(points[alike[0]]) if alike.size else None


def _halfway(points: Values) -> Values:
    """Return the floats nearest to halfway between ascending candidates."""
    with np.errstate(all="ignore"):
        found = points[:-1] / 2 + points[1:] / 2
        left = np.ones(found.size, dtype=np.bool_)
        for scale in (10.0**digits for digits in range(DIGITS)):
            # Candidates of so few digits are integers by their scale, and sums of two exact.
            whole = np.rint(points * scale)
            exact = (np.abs(whole) < EXACT / 2) & (whole / scale == points)
            pairs = left & exact[:-1] & exact[1:]
            found[pairs] = (whole[:-1][pairs] + whole[1:][pairs]) / (2 * scale)
            left &= ~pairs
            if not left.any():
                break
    return found


class Range:
    """The candidates ``lower``, ``lower + step``, ... up to ``upper``; public.

    It is never listed: what is drawn from are few cells of it (``cells``).

    An end that is not known, None or infinite, is ``10**15`` steps from the other one; without
    both, the candidates go from ``-10**15`` to ``10**15`` steps.

    Attributes:
        lower: The smallest candidate; finite.
        upper: The end, above ``lower``; a candidate if it is a whole number of steps away.
        step: Distance of two candidates; > 0, at most ``2**52`` of them in all.

    Raises:
        ParameterError: An argument is out of range.

    Examples:
        >>> len(Range(0, 3_000_000, step=0.01))
        300000001
    """

    def __init__(self, lower: float | None, upper: float | None, step: float) -> None:
        step = validation.positive("step", step)
        # Where both ends are not known, they are as far from 0.
        no_lower, no_upper = lower in (None, -inf), upper in (None, inf)
        first = 0.0 if no_lower else validation.finite("lower", lower)
        last = 0.0 if no_upper else validation.finite("upper", upper)
        if no_upper:
            last = float(exact(first) + OPEN * exact(step))
        if no_lower:
            first = float((0 if no_upper else exact(last)) - OPEN * exact(step))
        if first == last and lower != upper:
            raise ParameterError(
                "`lower` and `upper` are one float: beyond 2**53 floats are more than 1 apart; "
                "subtract a public number from the column"
            )
        if not 0 < last - first < inf:
            raise ParameterError(
                f"`upper` must be finite and above `lower`, got {first!r} to {last!r}"
            )
        # Through the decimal digits: in floats 0.3 / 0.1 is below 3.
        low, each, end = [exact(one).as_integer_ratio() for one in (first, step, last)]
        parts = lcm(low[1], each[1])
        self._first, self._each = [over * (parts // under) for over, under in (low, each)]
        self._last = (end[0] * parts - self._first * end[1]) // (self._each * end[1])
        if not 0 < self._last < MOST:
            raise ParameterError(
                f"`step`={step!r} makes less than 2 candidates, or more than 2**52"
            )
        self.lower, self.upper, self.step, self._parts = first, last, step, parts
        if (far := self.unclear(np.float64)) is not None:
            raise ParameterError(
                f"`step`={step!r} is too small: floats next to {far!r} are further apart"
            )

    def __len__(self) -> int:
        return self._last + 1

    def __getitem__(self, positions: Any) -> Any:  # noqa: ANN401 -- integers, or one
        """Return the candidates at positions, the floats nearest to their decimal digits."""
        return self._at_halves(2 * np.asarray(positions, dtype=np.int64))

    def searchsorted(self, numbers: Values) -> Indices:
        """Return the positions of the nearest candidates."""
        return self.places(numbers.ravel()).reshape(numbers.shape)

    def _at_halves(self, halves: Indices) -> Values:
        """Return the floats nearest to ``lower`` and so many halves of a step."""
        first, parts = 2 * self._first, 2 * self._parts
        most = abs(first) + 2 * len(self) * self._each
        if parts > EXACT or most >= MOST_SUM:
            return ((first + halves.astype(object) * self._each) / parts).astype(np.float64)
        sums = first + halves * self._each
        found = sums / float(parts)
        if most > EXACT:
            # Where a sum is no float, the quotient of the integers is rounded once.
            sums, found = np.asarray(sums), np.asarray(found)
            far = np.abs(sums) > EXACT
            found[far] = [one / parts for one in sums[far].tolist()]
        return found

    def places(self, numbers: Values, kind: Float = np.float64) -> Indices:
        """Return the positions of the candidates that numbers count at.

        Args:
            numbers: None missing. Private.
            kind: The type of floats that they are of.
        """
        inside = np.clip(numbers, self.lower, self.upper)
        at = np.rint((inside - self.lower) / self.step).astype(np.int64)
        at = at.clip(0, self._last)
        # The division is rounded, and may be off by a step or two. Each record is put right by
        # itself, so that one record takes no time of others.
        left = np.arange(at.size)
        while left.size:
            here, some = at[left], numbers[left]
            up = (here < self._last) & (some >= self._starts(here + 1, kind))
            down = (here > 0) & (some < self._starts(here, kind))
            at[left] += up.astype(np.int64) - down
            left = left[up | down]
        return at

    def _starts(self, positions: Indices, kind: Float) -> Values:
        """Return the least number that counts at each candidate, but for those at the ends."""
        at = positions.clip(1, self._last)
        return least_above(self._at_halves(2 * at - 1), self._at_halves(2 * at - 2), kind)

    def unclear(self, kind: Float) -> float | None:
        """Return a candidate that a type of floats may not tell from the next, if one is."""
        return _unclear(self._first, self._each, self._parts, self._last, np.dtype(kind))


@lru_cache(maxsize=256)
def _unclear(
    first: int, each: int, parts: int, last: int, kind: np.dtype[np.floating]
) -> float | None:
    low, step = Fraction(first, parts), Fraction(each, parts)
    far = max(float(low), float(low + last * step), key=abs)
    if abs(far) > np.finfo(kind).max:
        return far
    apart = Fraction(float(np.spacing(np.nextafter(kind.type(abs(far)), kind.type(0)))))
    # Steps of just this size are told apart if all candidates are floats.
    return far if step < apart or (step == apart and low % apart) else None


def cells(below: int, above: int, most: int) -> Indices:
    """Return the edges of cells that grow from 0 on, in steps from ``-below`` to ``above``.

    Args:
        below: How many steps there are below 0.
        above: How many from 0 on; at least one.
        most: How many cells there are of each side, about.
    """
    up, down = (np.rint(growing(reach, most)).astype(np.int64) for reach in (above, below))
    # ``np.unique`` of nothing else would import masked arrays.
    return np.unique(np.concatenate([-down, up]), return_index=True)[0]


def growing(reach: float, most: int) -> Values:
    """Return so many distances, about, from 0 up to a reach, in steps.

    Up to 1/growth they are one step apart, and beyond they grow by that factor.
    """
    growth = 1.0 / most
    for _ in range(20):
        growth = (1 + log(max(1.0, growth * reach))) / most
    linear = np.arange(0, 1 / growth)
    number = int(log(max(1.0, growth * reach)) / growth) + 1
    far = np.append(linear, np.exp(growth * np.arange(number)) / growth)
    return np.append(far[far < reach], reach)


def around(points: Values, most: int) -> Indices:
    """Return the positions of ascending candidates at growing distances from 0; both ends.

    Args:
        points: At least one.
        most: How many, about; so many candidates are all there.
    """
    if points.size <= most:
        return np.arange(points.size)
    origin = min(max(0.0, points[0]), points[-1])
    apart = np.abs(points - origin)
    step, sides = apart[apart > 0].min(), 1 + bool(points[0] < 0 < points[-1])
    far = growing(float(apart.max() / step), most // sides) * step * (1 + 2.0**-40)
    below = np.searchsorted(points, origin - far)
    above = np.searchsorted(points, origin + far, side="right") - 1
    places = np.concatenate([below, above])
    return np.unique(np.append(places.clip(max=points.size - 1), [0, points.size - 1]))


Quantity: TypeAlias = float | Decimal | date | timedelta
"""A value that may be released; a ``datetime`` is a ``date``."""


ENDS = ("lower", "upper", "step")
"""Fields that have the unit of the column."""

WORDS = {"d": "days", "h": "hours", "min": "minutes", "s": "seconds"}
SPAN = re.compile(r"(?P<number>-?(?:\d+[.]?\d*|[.]\d+))(?P<unit>d|h|min|s)", re.ASCII)
"""A duration as it is typed."""

KINDS = {int: "integer", bool: "float", Decimal: "decimal", object: "float"}
KINDS |= {date: "day", datetime: "time", timedelta: "duration"}
"""What values are, by the first of the classes that they are of."""

READ: tuple[Callable[[str], Quantity], ...] = (
    int,
    float,
    date.fromisoformat,
    datetime.fromisoformat,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What values are given as, and what answers become.

    Attributes:
        moment: As a column holds them; numbers else.
        number: What a number is.
        zone: The time zone of all times, if they have one zone; UTC else.
    """

    moment: Moment
    number: Literal["float", "integer", "decimal"] = "float"
    zone: tzinfo | None = None

    @classmethod
    def of(cls, values: Iterable[object], step: object) -> Unit:
        """Return the unit of public values, other than open ends and a lower end of 0.

        Raises:
            ParameterError: They are of different units.
        """
        if isinstance(step, str):
            raise ParameterError(
                "`step` must be a number, or a duration such as timedelta(days=1), not a str"
            )
        values = [*(values[:1] if isinstance(values, range | Numbers) else values)]
        # One value of each type is enough, but of times: no loop of Python over many numbers.
        each = dict(zip(map(type, values), values, strict=True)).values()
        of = values if any(isinstance(one, datetime) for one in each) else each
        kinds = {*map(_kind, of)} or {"duration" if isinstance(step, timedelta) else "integer"}
        if kinds <= {"float", "integer", "decimal"}:
            if isinstance(step, timedelta):
                raise ParameterError("`step` is a duration: give dates, times or durations")
            both = kinds | ({"integer"} if step is None else {_kind(step)})
            number = next(one for one in ("decimal", "float", "integer") if one in both)
            return cls("number", number)
        if len(kinds) > 1 or not (step is None or isinstance(step, timedelta)):
            raise ParameterError(
                "`lower`, `upper`, `candidates` and `step` must be of one unit: numbers; or "
                "dates, times or durations, with a duration as `step`"
            )
        [moment] = kinds
        if moment == "day" and isinstance(step, timedelta) and step % timedelta(days=1):
            raise ParameterError("`step` must be whole days between dates")
        zones = {one.tzinfo for one in of if isinstance(one, datetime)}
        zone = zones.pop() if len(zones) == 1 else None
        return cls(moment, zone=zone)  # type: ignore[arg-type] # values that are not numbers are moments

    def coded(self, value: Any) -> Any:  # noqa: ANN401 -- a value, or what is checked later
        """Return a value as a number."""
        if self.moment == "number":
            return float(value) if isinstance(value, Decimal) else value
        return code_of(value, self.moment)

    def span(self, step: Any) -> Any:  # noqa: ANN401 -- as above
        """Return the distance of two values as a number."""
        if not isinstance(step, timedelta):
            return float(step) if isinstance(step, Decimal) else step
        return float(step.days if self.moment == "day" else step // timedelta(microseconds=1))

    def value(self, number: float) -> Any:  # noqa: ANN401 -- of the unit
        """Return a released number in its unit."""
        if self.moment == "number":
            if self.number == "integer":
                return int(number)
            return Decimal(repr(number)) if self.number == "decimal" else number
        if self.moment == "day":
            return FIRST + timedelta(days=round(number))
        span = timedelta(microseconds=round(number))
        if self.moment == "duration":
            return span
        time = ORIGINS[self.moment] + span
        return time if self.zone is None else time.astimezone(self.zone)


def quantity(name: str, text: Any) -> Any:  # noqa: ANN401 -- a text, or what is checked later
    """Return the number, the day, the time or the duration that somebody types.

    What is no text is returned as it is.

    Args:
        name: The field, for an error.
        text: Such as 3.5, 2024-01-31, 2024-01-31T12:00 or 7d.

    Raises:
        ParameterError: The text is none of these.
    """
    if not isinstance(text, str):
        return text
    if span := SPAN.fullmatch(text):
        return timedelta(**{WORDS[span["unit"]]: float(span["number"])})
    for read in READ:
        with suppress(ValueError):
            return read(text)
    raise ParameterError(
        f"`{name}` must be a number, a date such as 2024-01-31, a time such as "
        f"2024-01-31T12:00, or a duration such as 7d, 12h, 30min or 10s, got {text!r}"
    )


def typed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a query with quantities in place of texts, as a request has them."""
    read = {name: quantity(name, fields[name]) for name in ENDS if name in fields}
    if isinstance(listed := fields.get("candidates"), list | tuple):
        read["candidates"] = [quantity("candidates", one) for one in listed]
    return {**fields, **read}


def _kind(value: Any) -> str:  # noqa: ANN401 -- whatever is given
    kind = next(KINDS[one] for one in type(value).__mro__ if one in KINDS)
    return "local time" if kind == "time" and value.tzinfo is None else kind
