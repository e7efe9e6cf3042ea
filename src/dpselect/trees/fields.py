"""Values of a list, each read by itself as what a field of a text file writes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal

from dpselect.tables.kinds import texts
from dpselect.tables.values import number


def declared_values(
    given: Sequence[Hashable], listed: Sequence[Hashable], *, typed: bool
) -> list[Hashable]:
    """Return the declared value that each value is, or one that is not declared.

    What declares no type is read as a field of a text file: a text as it is; a number in any
    notation; true and false in any case, which are also 1 and 0.

    Args:
        given: Plain values. Private.
        listed: The declared values.
        typed: Whether the values are of a declared type, so that ``"1"`` is not 1.
    """
    value_of = {value: value for value in listed}
    exact = [value if value in value_of else _compared(value) for value in given]
    if typed:
        return exact
    fields = texts(
        None if known in value_of else _decoded(value)
        for known, value in zip(exact, given, strict=True)
    )
    meant = {
        field: next((value_of[one] for one in _readings(field) if one in value_of), None)
        for field in set(fields)
    }
    pairs = zip(exact, fields, strict=True)
    return [value_of.get(known, meant[field]) for known, field in pairs]


def _readings(field: str | None) -> Iterator[Hashable]:
    """Yield what a field can mean, the most literal first."""
    if field is None:
        return
    text = field.strip()
    yield from (field, text)
    if "_" not in text:  # Python reads 1_0 as 10, and no file writes so
        with suppress(ValueError):
            yield int(text)  # with all digits, where a float has 53 bits
        yield number(text)
    if text.lower() in {"true", "false"}:
        yield text.lower() == "true"


def _decoded(value: Hashable) -> Hashable:
    """Return bytes as the text that they code, others as they are."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _compared(value: Hashable) -> Hashable:
    """Return a decimal number as the float that it is compared as, others as they are."""
    return number(value) if isinstance(value, Decimal) else value
