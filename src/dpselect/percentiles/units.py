"""Units of values that may be released: what public arguments are given as, answers are.

Dates, times and durations are counted as ``dpselect.tables.columns`` counts those of a column,
money in decimals is a number, and so are integers; what is released is turned back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from math import ceil
from typing import Any, Literal, TypeAlias

from dpselect.errors import ParameterError
from dpselect.tables.columns import CODES
from dpselect.tables.kinds import FIRST, ORIGINS, Moment

Quantity: TypeAlias = float | Decimal | date | timedelta
"""A value that may be released; a ``datetime`` is a ``date``."""


ENDS = ("lower", "upper", "step")
"""Fields that have the unit of the column."""

WORDS = {"d": "days", "h": "hours", "min": "minutes", "s": "seconds"}
SPAN = re.compile(r"(?P<number>-?(?:\d+[.]?\d*|[.]\d+))(?P<unit>d|h|min|s)", re.ASCII)
"""A duration as it is typed."""

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
        values = list(values[:1] if isinstance(values, range) else values)
        # One value of each type: of a hundred thousand candidates most are alike.
        some = {(type(one), getattr(one, "tzinfo", None) is None): one for one in values}
        kinds = {*map(_kind, some.values())} or {"duration" if _is_span(step) else "integer"}
        if kinds <= {"float", "integer", "decimal"}:
            if _is_span(step):
                raise ParameterError("`step` is a duration: give dates, times or durations")
            both = kinds | ({"integer"} if step is None else {_kind(step)})
            number = next(one for one in ("decimal", "float", "integer") if one in both)
            return cls("number", number)
        if len(kinds) > 1 or not (step is None or _is_span(step)):
            raise ParameterError(
                "`lower`, `upper`, `candidates` and `step` must be of one unit: numbers; or "
                "dates, times or durations, with a duration as `step`"
            )
        [moment] = kinds
        if moment == "day" and isinstance(step, timedelta) and step % timedelta(days=1):
            raise ParameterError("`step` must be whole days between dates")
        zones = {one.tzinfo for one in values if isinstance(one, datetime)}
        zone = zones.pop() if len(zones) == 1 else None
        return cls(moment, zone=zone)  # type: ignore[arg-type] # values that are not numbers are moments

    def coded(self, value: Any) -> Any:  # noqa: ANN401 -- a value, or what is checked later
        """Return a value as a number."""
        if self.moment == "number":
            return float(value) if isinstance(value, Decimal) else value
        return CODES[self.moment](value)

    def span(self, step: Any) -> Any:  # noqa: ANN401 -- as above
        """Return the distance of two values as a number."""
        if not isinstance(step, timedelta):
            return float(step) if isinstance(step, Decimal) else step
        return float(step.days if self.moment == "day" else step // timedelta(microseconds=1))

    def value(self, number: float) -> Any:  # noqa: ANN401 -- of the unit
        """Return a released number in its unit."""
        if self.moment == "number":
            return _numbers(number, self.number)
        if self.moment == "day":
            return FIRST + timedelta(days=round(number))
        span = timedelta(microseconds=round(number))
        if self.moment == "duration":
            return span
        time = ORIGINS[self.moment] + span
        return time if self.zone is None else time.astimezone(self.zone)

    def distance(self, number: float) -> float | timedelta:
        """Return a distance of two values in their unit, of times in whole seconds."""
        if self.moment == "number":
            return number
        seconds = number * 86_400 if self.moment == "day" else number / 1_000_000
        return timedelta(seconds=ceil(seconds))


def quantity(name: str, text: str) -> Quantity:
    """Return the number, the day, the time or the duration that somebody types.

    Args:
        name: The field, for an error.
        text: Such as 3.5, 2024-01-31, 2024-01-31T12:00 or 7d.

    Raises:
        ParameterError: The text is none of these.
    """
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
    ends: dict[str, Any] = {
        name: quantity(name, value)
        for name, value in fields.items()
        if name in ENDS and isinstance(value, str)
    }
    listed = fields.get("candidates")
    if isinstance(listed, Sequence) and not isinstance(listed, str):
        ends["candidates"] = [
            quantity("candidates", one) if isinstance(one, str) else one for one in listed
        ]
    return {**fields, **ends}


def _numbers(number: float, kind: str) -> float | Decimal:
    if kind == "integer":
        return int(number)
    return Decimal(repr(number)) if kind == "decimal" else number


def _is_span(value: object) -> bool:
    return isinstance(value, timedelta)


def _kind(value: object) -> str:
    if isinstance(value, datetime):
        return "local time" if value.tzinfo is None else "time"
    if isinstance(value, date):
        return "day"
    if isinstance(value, timedelta):
        return "duration"
    if isinstance(value, Decimal):
        return "decimal"
    return "integer" if isinstance(value, int) and not isinstance(value, bool) else "float"
