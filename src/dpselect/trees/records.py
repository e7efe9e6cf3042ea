"""Tables in memory: columns by name from a frame, an array or rows, checked by their types."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from dpselect import validation
from dpselect.errors import (
    ColumnError,
    ParameterError,
    PublicClaimError,
    no_column,
)
from dpselect.tables import values
from dpselect.tables.values import ColumnValues
from dpselect.trees.domains import OUTSIDE, Categories, Domain, as_domain
from dpselect.typing import Indices

Table: TypeAlias = Any
"""A frame (pandas, polars, arrow, ...), an array of shape ``(n, columns)``, or rows."""

Labels: TypeAlias = Any
"""A series or an array of shape ``(n,)``."""

Domains: TypeAlias = Any
"""A mapping from names to domains, one for all columns, or one for each; see ``schema``."""


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

    @cached_property
    def sizes(self) -> Indices:
        """The number of codes of each column."""
        return np.array([domain.size for domain in self.domains])

    @cached_property
    def ordered(self) -> Indices:
        """1 for each column whose domain is ordered, else 0."""
        return np.array([int(domain.ordered) for domain in self.domains])

    def codes(self, table: Table) -> Indices:
        """Return the codes of its columns in a table, shape ``(n, len(names))``; private.

        Args:
            table: A frame, an array of shape ``(n, columns)``, or rows.

        Raises:
            ColumnError: A column is missing, or of another type than its domain.
            DataError: It is no table.
        """
        return codes(read(table), self)


@dataclass(frozen=True, repr=False)
class Columns:
    """Columns of a table, each read when it is asked for.

    Attributes:
        names: Their names, in order. Public.
        held: The container of each: a narwhals Series, an array or its values.
        rows: The number of records. Private.
        frame: The frame that they are of, if they are of one.
    """

    names: tuple[str, ...]
    held: tuple[Any, ...]
    rows: int
    frame: Any = None

    def values(self, position: int) -> ColumnValues:
        """Return the values of a column.

        Raises:
            ColumnError: It is of a type that holds neither numbers nor text.
        """
        held = self.held[position]
        if isinstance(held, ColumnValues):
            return held
        if isinstance(held, np.ndarray):
            return values.of_array(held)
        return values.of_series(held)


def read(x: Table, what: str = "X", *, fields: int = 0) -> Columns:
    """Return the columns of a frame (pandas, polars, arrow, ...), a 2-D array or rows.

    Columns of an array, and of a list of rows, are named ``x0``, ``x1``, ... A list declares
    no types, so each of its values is read by itself.

    Args:
        x: The table; columns that were read are returned. Private.
        what: Its name in errors.
        fields: How many fields the rows of a list have, if that is known. Public; else the
            first row says it. A field that a row does not have is missing.

    Raises:
        DataError: It is none of those, is sparse or complex.
    """
    if isinstance(x, Columns):
        return x
    import narwhals as nw

    frame = nw.from_native(x, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        series = tuple(frame.get_column(name) for name in frame.columns)
        return Columns(tuple(map(str, frame.columns)), series, len(frame), x)
    if values.is_listed(x) and not hasattr(x, "tocsr"):
        return _of_rows(x, fields)
    table = values.matrix(x, what)
    return Columns(_numbered(table.shape[1]), tuple(table.T), len(table))


def labels(y: Labels, rows: int) -> ColumnValues:
    """Return labels as one column, shape ``(rows,)``.

    Raises:
        DataError: They are not one for each record.
    """
    _, column = values.labels(y)
    values.check_rows(range(rows), column)
    return column


def schema(
    domains: Domains, classes: Sequence[Hashable] | None, columns: Sequence[str]
) -> Schema:
    """Return the checked public claims.

    Args:
        domains: A mapping from column names to domains; or one domain for every column; or
            a sequence of them in the columns' order.
        classes: At least two labels.
        columns: The names of the table's columns.

    Raises:
        ParameterError: They are missing, or of the wrong kind.
        ColumnError: A domain names a column that is not there.
    """
    named = named_domains(domains, columns)
    if not named:
        raise ParameterError("`domains` must have at least one column to split on")
    kept = tuple(as_domain(name, domain) for name, domain in named.items())
    return Schema(tuple(named), kept, _checked_classes(classes))


def named_domains(domains: Domains, columns: Sequence[str]) -> dict[str, object]:
    """Return the domain of each column that has one, by name, as it was given.

    Raises:
        ParameterError, ColumnError: As for ``schema``.
    """
    if domains is None:
        raise ParameterError(
            "`domains` must be given: the tree shows them, so they must not be read off the "
            "data; for example domains={'age': Bins(0, 100), 'sex': ['female', 'male']}"
        )
    if isinstance(domains, Mapping):
        missing = [name for name in domains if str(name) not in columns]
        # A table of declared columns alone may be a selection, as of PrivateSelectKBest; beside
        # a column without a domain a name is more likely misspelt.
        if missing and not set(columns) <= set(map(str, domains)):
            raise ColumnError(
                f"`domains` name columns that the table does not have: {missing}; it has "
                f"{list(columns)}"
            )
        return {str(name): one for name, one in domains.items() if str(name) in columns}
    if isinstance(domains, Domain):
        return dict.fromkeys(columns, domains)
    if isinstance(domains, Sequence) and not isinstance(domains, str):
        if len(domains) != len(columns):
            raise ParameterError(
                f"`domains` must be one for each column: {len(columns)}, not {len(domains)}"
            )
        return dict(zip(columns, domains, strict=True))
    raise no_domains(domains)


def no_domains(given: object) -> ParameterError:
    """Return the error of domains that name no columns."""
    return ParameterError(
        "`domains` must be a mapping from column names to domains, not a "
        f"{type(given).__name__}"
    )


def _checked_classes(classes: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    if classes is None or isinstance(classes, str):
        raise ParameterError(
            "`classes` must be given: the labels that can occur, for example "
            "classes=['no', 'yes']; they must not be read off the data"
        )
    given = validation.listed("classes", classes) or ()
    labels = tuple(c.item() if isinstance(c, np.generic) else c for c in given)
    validation.different("classes", labels)
    if len(labels) < 2:
        raise ParameterError("`classes` must be at least two labels, all different")
    return labels


def codes(columns: Columns, public: Schema) -> Indices:
    """Return the codes of the schema's columns, shape ``(rows, len(public.names))``.

    Raises:
        ColumnError: A column is missing, or of another type than its domain.
    """
    out = np.empty((columns.rows, len(public.names)), dtype=np.int64)
    for j, (name, domain) in enumerate(_named(public)):
        column = columns.values(position(columns, name))
        domain.check(column.kind, name)
        out[:, j] = domain.codes(column)
    return out


def label_codes(column: ColumnValues, classes: Sequence[Hashable]) -> Indices:
    """Return the position of each label in the classes, or ``OUTSIDE``.

    Raises:
        ColumnError: Labels are numbers and all classes text, or the other way round.
    """
    domain = Categories(classes)
    domain.check(column.kind, "y")
    return domain.codes(column)


def refuse_outside(columns: Columns, known: Indices, public: Schema) -> None:
    """Raise if any value is outside of its domain or any label not a class.

    For curators who declare that nothing is: then it is an error, as a repair is not.

    Args:
        columns: The table. Private.
        known: Codes of the labels. Private.
        public: Columns, domains and classes.

    Raises:
        PublicClaimError: With the column's name, and no value or number.
    """
    for name, domain in _named(public):
        if domain.outside(columns.values(position(columns, name))).any():
            raise outside(name)
    if (known == OUTSIDE).any():
        raise outside(None)


def outside(column: str | None) -> PublicClaimError:
    """Return the error for values of a column, or without one of labels, not declared."""
    if column is None:
        return PublicClaimError(
            "y has labels outside of `classes`; declare them, or have them dropped with "
            "`on_invalid`='repair'"
        )
    return PublicClaimError(
        f"column {column!r} has values outside of its domain; declare a wider domain, "
        "or have them repaired with `on_invalid`='repair'"
    )


def checked_bound(max_records: int | None) -> int:
    """Return the public bound on the number of records.

    Raises:
        ParameterError: It is missing, or below 2.
    """
    if max_records is None:
        raise ParameterError(
            "`max_records` must be given: a public bound on the number of records, which must "
            "not be read off the data"
        )
    return validation.at_least("max_records", max_records, 2, validation.EXACT)


def check_number(rows: int, max_records: int) -> None:
    """Refuse more records than declared.

    Raises:
        PublicClaimError: There are more; the message has no number.
    """
    if rows > max_records:
        raise PublicClaimError("the table has more records than `max_records` allows")


def _named(public: Schema) -> zip[tuple[str, Domain]]:
    return zip(public.names, public.domains, strict=True)


def position(columns: Columns, name: str) -> int:
    """Return where a column is.

    Raises:
        ColumnError: It is not there.
    """
    try:
        return columns.names.index(name)
    except ValueError:
        raise no_column(name, columns.names) from None


def _of_rows(x: Iterable[object], known: int) -> Columns:
    rows, fields = list(x), known
    if fields == 0 and rows and isinstance(rows[0], Sized):
        fields = len(rows[0])
    return Columns(_numbered(fields), tuple(values.of_rows(rows, fields)), len(rows))


def _numbered(fields: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(fields))
