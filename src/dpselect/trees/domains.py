"""Public domains: the values that a column can have, independent of the data.

A split has one branch for every value of its column's domain, so the tree shows the domain,
which must not be read off private data. A value outside is repaired record by record, which is
part of the guarantee: numbers are clamped to their bounds, and a missing or unknown value
goes to the declared ``other``, or its record is dropped where there is none.

A domains file states the public claims about a table once, for all queries of it: a JSON object
with the column of the labels, the classes, a bound on the number of records and a domain for
every column that may be split on:

    {"label": "income", "classes": ["<=50K", ">50K"], "max_records": 50000,
     "columns": {"age": {"low": 17, "high": 90, "bins": 8},
                 "sex": {"values": ["Female", "Male"], "other": "not said"}}}
"""

from __future__ import annotations

import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, fields
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import DTypeLike

from dpselect import tables, validation
from dpselect._numbers import lines
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.tables.kinds import Kind, is_missing, rounded
from dpselect.tables.lists import text_of
from dpselect.tables.values import ColumnValues, number, places_of, plain_value
from dpselect.typing import Indices, Values
from dpselect.writing import once

OUTSIDE = -1
"""Code of a value that is outside of its domain and has nowhere to go."""


class _Domain(ABC):
    """A finite set of codes ``0, ..., size - 1`` for the values of one column."""

    ordered: ClassVar[bool]
    """Whether questions are ``code < k``; else they are ``code == k``."""

    other: Any
    """Where missing and unknown values go, if they go anywhere."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The name of each code."""

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.labels)

    @abstractmethod
    def of_text(self) -> Collection[bool]:
        """Return whether values are texts: of all, none or some of them."""

    def check(self, kind: Kind, name: str) -> None:
        """Raise a ``ColumnError`` if a column of this kind cannot hold such values."""
        texts = self.of_text()
        if (kind == Kind.TEXT and True not in texts) or (kind.is_number and False not in texts):
            raise ColumnError(
                f"column {name!r} and its domain are of different types: one holds text, "
                "the other numbers; texts have Categories([...]), numbers Bins or Categories"
            )

    def to_dict(self) -> dict[str, object]:
        """Return the domain as plain values, as in a domains file."""
        given = {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}
        if given.get("edges") is not None:  # from which these follow
            given |= dict.fromkeys(("low", "high", "bins"))
        plain = {
            name: list(one) if isinstance(one, tuple) else one for name, one in given.items()
        }
        return {name: one for name, one in plain.items() if one is not None}

    to_field = to_dict


@dataclass(frozen=True)
class Categories(_Domain):
    """The values of a categorical column.

    Attributes:
        values: All possible values, different from each other. Public.
        other: The category that missing and unknown values go to; may be one of
            ``values``. Without it their records are dropped. Public.

    Raises:
        ParameterError: There is no value, or one occurs twice.

    Examples:
        >>> Categories(["red", "green"], other="else").labels
        ('red', 'green', 'else')
    """

    values: Sequence[Hashable]
    other: Hashable | None = None
    ordered = False

    def __post_init__(self) -> None:
        kept = tuple(map(_plain, self.values))
        validation.different("values", kept)
        object.__setattr__(self, "values", kept)

    @property
    def listed(self) -> tuple[Hashable, ...]:
        """The values, and ``other`` if it is not one of them: one for each code."""
        if self.other is None or self.other in self.values:
            return tuple(self.values)
        return (*self.values, self.other)

    @property
    def unknown(self) -> int:
        """The code of ``other``; ``OUTSIDE`` if there is none."""
        return OUTSIDE if self.other is None else self.listed.index(self.other)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(str(value) for value in self.listed)

    def of_text(self) -> Collection[bool]:
        return {isinstance(value, str) for value in self.listed}

    def held(self, kind: np.dtype[Any], *, repaired: bool = True) -> tuple[Hashable, ...]:
        """Return the values, and ``other`` where it is used, as a type of NumPy has them."""
        listed = self.listed if repaired else self.values
        return tuple(rounded(value, kind) for value in listed)

    def codes(self, column: ColumnValues, *, repaired: bool = True) -> Indices:
        """Return the code of every value; ``OUTSIDE`` for one that has no place.

        Args:
            column: Private.
            repaired: Whether values that were not declared go where the domain says.
        """
        held = self.held(column.values.dtype, repaired=repaired)
        unknown = self.unknown if repaired else OUTSIDE
        if column.is_typed:
            codes = places_of(column.values, held, unknown)
            if column.missing is not None:
                codes[column.missing] = unknown
            return codes
        given, place = column.values.tolist(), {value: k for k, value in enumerate(held)}
        typed = column.kind != Kind.ANYTHING and column.values.dtype.kind != "S"
        # What a text means is found once for all that are equal.
        alike = {*map(type, given)} <= {str, type(None)}
        different = [*dict.fromkeys(given)] if alike else given
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an object may warn when it is asked for its text
            meant = [declared(value, place, typed=typed) for value in different]
        known = [place.get(value, unknown) for value in meant]
        if alike:
            known = [*map(dict(zip(different, known, strict=True)).__getitem__, given)]
        return np.array(known, dtype=np.int64)


@dataclass(frozen=True, repr=False)
class Bins(_Domain):
    """Numbers between public bounds, in bins of equal width or with edges of your own.

    A bin holds its lower edge; the last one holds both. Numbers beyond the bounds are
    clamped to them.

    Attributes:
        low: Lower bound; finite. Public.
        high: Upper bound; finite, > ``low``. Public.
        bins: Number of bins; >= 1. Public.
        other: Name of an additional bin for missing values. Without it their records are
            dropped. Public.
        edges: Edges of your own, ascending, from which ``low``, ``high`` and ``bins`` follow;
            None for bins of equal width. Public.

    Raises:
        ParameterError: The bounds or edges are not finite and ascending, or there is no bin.

    Examples:
        >>> Bins(0, 30, bins=3).labels
        ('[0, 10)', '[10, 20)', '[20, 30]')
        >>> Bins(edges=[0, 18, 65, 120]).labels
        ('[0, 18)', '[18, 65)', '[65, 120]')
    """

    low: float = None  # type: ignore[assignment] # given, or that of `edges`
    high: float = None  # type: ignore[assignment] # likewise
    bins: int = 8
    other: str | None = None
    _: KW_ONLY
    edges: Sequence[float] | None = None
    ordered = True

    def __post_init__(self) -> None:
        kept: dict[str, Any] = {"bins": validation.at_least("bins", self.bins, 1)}
        if self.edges is not None:
            if any(getattr(self, end) is not None for end in ("low", "high")):
                raise ParameterError("`edges` state `low` and `high`: give either")
            own = tuple(validation.finite("edges", edge) for edge in self.edges)
            if len(own) < 2 or any(a >= b for a, b in pairwise(own)):
                raise ParameterError("`edges` must be at least two numbers, ascending")
            kept = {"edges": own, "low": own[0], "high": own[-1], "bins": len(own) - 1}
        for name, value in kept.items():
            object.__setattr__(self, name, value)
        first, last = (validation.finite(end, getattr(self, end)) for end in ("low", "high"))
        if not first < last:
            raise ParameterError(f"`low` must be below `high`, got {first:g} and {last:g}")

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={one!r}" for name, one in self.to_dict().items())
        return f"Bins({fields})"

    @cached_property
    def lines(self) -> Values:
        """The ``bins + 1`` edges: the floats nearest to the decimal numbers."""
        if self.edges is not None:
            return np.array(self.edges, dtype=np.float64)
        return lines(self.low, self.high, np.arange(self.bins + 1), self.bins)

    def inner(self, dtype: DTypeLike) -> Values:
        """Return the edges between bins, as a column of a type of floats has them."""
        return self.lines[1:-1].astype(dtype).astype(np.float64)

    def of_text(self) -> Collection[bool]:
        return [False]

    @property
    def unknown(self) -> int:
        """The code of ``other``; ``OUTSIDE`` if there is none."""
        return OUTSIDE if self.other is None else self.bins

    @property
    def labels(self) -> tuple[str, ...]:
        bins = tuple(self.interval(k, k) for k in range(self.bins))
        return bins if self.other is None else (*bins, self.other)

    def interval(self, first: int, last: int) -> str:
        """Return the name of all codes from one to another."""
        if last >= self.bins:  # the bin of missing values is beside the others
            return f"{{{', '.join(self.labels[first : last + 1])}}}"
        low, high = (_number_text(self.lines[at]) for at in (first, last + 1))
        return f"[{low}, {high}{']' if last == self.bins - 1 else ')'}"

    def codes(self, column: ColumnValues, *, repaired: bool = True) -> Indices:
        """Return the code of every value; ``OUTSIDE`` for one that has no place.

        Args:
            column: Private.
            repaired: Whether values that were not declared go where the domain says.
        """
        numbers, held = column.numbers(), column.values.dtype
        inner = self.inner(held if held.kind == "f" else np.float64)
        found = np.searchsorted(inner, numbers, side="right").astype(np.int64)
        if not repaired:
            low, high = (rounded(end, held) for end in (self.low, self.high))
            return np.where((numbers >= low) & (numbers <= high), found, OUTSIDE)
        return np.where(np.isnan(numbers), self.unknown, found)


def _number_text(number: float) -> str:
    """Return a number for a reader; an integer with all of its digits."""
    whole = float(number).is_integer() and abs(number) < 2**53
    return str(int(number)) if whole else f"{number:.6g}"


Domain: TypeAlias = Categories | Bins
"""Either domain."""

DomainLike: TypeAlias = Domain | Mapping[str, Any] | Sequence[Hashable]
"""A domain, its plain values (``Domain.to_dict``), or a list of categories."""


def as_domain(name: str, given: object) -> Domain:
    """Return a domain.

    Args:
        name: The column.
        given: Any ``DomainLike``.

    Raises:
        ParameterError: It is none.
    """
    if isinstance(given, Domain):
        return given
    try:
        if isinstance(given, Mapping):
            return Categories(**given) if "values" in given else Bins(**given)
        if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
            return Categories(list(given))
    except TypeError:  # of other fields
        pass
    raise ParameterError(
        f"the domain of {name!r} must be Categories([...]), Bins(low, high, bins=...) or a "
        "list of categories; or by its fields: 'values' (a list), 'edges' (a list), or 'low', "
        "'high' and 'bins' (numbers), and perhaps 'other'"
    )


@dataclass(frozen=True)
class Schema:
    """The public columns of a table, their domains, and the classes.

    Attributes:
        names: Columns that may be split on, in order.
        domains: One for each.
        classes: The labels that can occur, in order; at least two.
    """

    names: tuple[str, ...]
    domains: tuple[Domain, ...]
    classes: tuple[Hashable, ...]

    @classmethod
    def of(
        cls,
        domains: object,
        classes: Sequence[Hashable] | None,
        columns: Sequence[str] | None = None,
    ) -> Schema:
        """Return the checked public claims.

        Args:
            domains: As for ``named_domains``.
            classes: At least two labels.
            columns: The names of the table's columns, if they are known.

        Raises:
            ParameterError: They are missing, or of the wrong kind.
            ColumnError: A domain names a column that is not there.
        """
        named = named_domains(domains, columns)
        if not named:
            raise ParameterError("`domains` must have at least one column to split on")
        kept = tuple(as_domain(name, domain) for name, domain in named.items())
        given = validation.listed("classes", classes) or ()
        labels = tuple(c.item() if isinstance(c, np.generic) else c for c in given)
        validation.different("classes", labels)
        if len(labels) < 2:
            raise ParameterError(
                "`classes` must be at least two: the labels that can occur, which must not be "
                "read off the data"
            )
        return cls(tuple(named), kept, labels)

    @cached_property
    def sizes(self) -> Indices:
        """The number of codes of each column."""
        return np.array([domain.size for domain in self.domains])

    @cached_property
    def ordered(self) -> Indices:
        """1 for each column whose domain is ordered, else 0."""
        return np.array([int(domain.ordered) for domain in self.domains])

    @property
    def named(self) -> dict[str, Domain]:
        """The domain of each column."""
        return dict(zip(self.names, self.domains, strict=True))


def named_domains(domains: object, columns: Sequence[str] | None) -> dict[str, object]:
    """Return the domain of each column that has one, by name, as it was given.

    Args:
        domains: A mapping from column names to domains; or one domain for every column; or a
            sequence of them in the columns' order.
        columns: The names of the table's columns; those of the mapping if not given.

    Raises:
        ParameterError: They are of none of these kinds.
        ColumnError: A domain names a column that is not there.
    """
    if isinstance(domains, Mapping):
        known = {str(name): one for name, one in domains.items()}
        missing = known.keys() - (known if columns is None else columns)
        # A table of declared columns alone may be a selection, as of PrivateSelectKBest; beside
        # a column without a domain a name is more likely misspelt.
        if missing and not set(columns or ()) <= known.keys():
            named = [*(columns or ())]
            keeps = "; set_output(transform='pandas') keeps names" if "x0" in named else ""
            raise ColumnError(
                f"`domains` name columns that the table does not have: {sorted(missing)}; it "
                f"has {named}{keeps}"
            )
        return {name: one for name, one in known.items() if name not in missing}
    if columns is not None and isinstance(domains, Domain):
        return dict.fromkeys(columns, domains)
    if columns is None or not isinstance(domains, Sequence) or isinstance(domains, str):
        raise ParameterError(
            "`domains` must be a mapping from column names to domains, such as "
            "{'age': Bins(0, 100), 'sex': ['female', 'male']}: the tree shows them, so they "
            "must not be read off the data"
        )
    if len(domains) != len(columns):
        raise ParameterError(
            f"`domains` must be one for each column: {len(columns)}, not {len(domains)}"
        )
    return dict(zip(columns, domains, strict=True))


def read_domains(path: str | Path) -> dict[str, Any]:
    """Return the fields of a query that a domains file states, by name.

    Returns:
        ``label``, ``classes``, ``max_records`` and ``domains``.

    Raises:
        DataError: There is no such file, it is not a JSON object, a part is missing, or the
            domain of a column is not filled in or is not a domain.
    """
    try:
        given = json.loads(text_of(path, "a domains file"), object_pairs_hook=once)
    except DataError as error:
        if Path(path).exists():
            raise
        raise error.adding(
            f"; make a template by 'dpselect domains DATA --out {path}'"
        ) from None
    except ValueError:
        raise DataError(f"{path} must be a domains file: a JSON object") from None
    columns = given.get("columns") if isinstance(given, dict) else None
    if not isinstance(columns, dict):
        raise DataError(f"{path}: fill in 'columns', the domain of each column, an object")
    parts = {name: given.get(name) for name in ("label", "classes", "max_records")}
    unfilled = [f"{name!r}" for name, one in parts.items() if not one]
    for name, domain in columns.items():
        try:
            as_domain(name, domain)
        except ParameterError as error:
            unfilled.append(f"column {name!r}: {error}")
    if unfilled:
        raise DataError(f"{path}: fill in, or delete to leave it out, {'; '.join(unfilled)}")
    return {**parts, "domains": columns}


def domains_template(data: object, label: str) -> dict[str, Any]:
    """Return a domains file to fill in, from column names and types; no value is read.

    Columns of dates and times are left out.

    Args:
        data: A path or any frame.
        label: The column of the classes.

    Returns:
        Null where a public value must be filled in.

    Raises:
        ColumnError: There is no column ``label``.
    """
    numbers: dict[str, Any] = {"low": None, "high": None, "bins": 8}
    texts: dict[str, Any] = {"values": [], "other": "other"}
    types = tables.check_columns(data, plain=[label]).collect_schema()
    columns = {
        name: dict(numbers if kind.is_numeric() else texts)
        for name, kind in types.items()
        if name != label and not kind.is_temporal()
    }
    return {"label": label, "classes": [], "max_records": None, "columns": columns}


def _plain(value: Hashable) -> Hashable:
    plain = value.item() if isinstance(value, np.generic) else value
    if is_missing(plain):
        raise ParameterError("a domain cannot hold missing values: they go to `other`=")
    return plain


def declared(value: object, listed: Collection[Hashable], *, typed: bool) -> Hashable:
    """Return the declared value that a value is, or one that is not declared.

    What declares no type is read as a field of a text file: a text as it is; a number in any
    notation; true and false in any case, which are also 1 and 0.

    Args:
        value: Private.
        listed: The declared values.
        typed: Whether it is of a declared type, so that ``"1"`` is not 1.
    """
    plain = plain_value(value)
    # A decimal number is compared as the float that it is.
    is_decimal = isinstance(plain, Decimal) and plain not in listed
    exact = number(plain) if is_decimal else plain
    if typed or exact in listed:
        return exact
    written = plain.decode(errors="replace") if isinstance(plain, bytes) else plain
    return next((one for one in _readings(written) if one in listed), None)


def _readings(written: Hashable) -> Iterator[Hashable]:
    """Yield what a field can mean, the most literal first."""
    field = Kind.TEXT.code(written)
    if not isinstance(field, str):
        return
    text = field.strip()
    yield from (field, text)
    if "_" not in text:  # Python reads 1_0 as 10, and no file writes so
        with suppress(ValueError):
            yield int(text)  # with all digits, where a float has 53 bits
        yield number(text)
    if text.lower() in {"true", "false"}:
        yield text.lower() == "true"
