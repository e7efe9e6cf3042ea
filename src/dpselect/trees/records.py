"""Records of a table as codes of public domains, and the rule by which they are read.

A table in memory is read value by value: what one record becomes depends on that record alone.
Of a lazy frame only counts leave its engine (``dpselect.trees.engine``).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf, isnan
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dpselect import tables
from dpselect._optional import nw, pl
from dpselect.errors import DataError, ParameterError, PublicClaimError, no_column
from dpselect.tables import values
from dpselect.tables.kinds import Kind
from dpselect.tables.opening import are_in_header
from dpselect.tables.people import PeopleCap
from dpselect.tables.values import ColumnValues
from dpselect.trees.counts import Counts, MemoryCounts
from dpselect.trees.domains import OUTSIDE, Categories, Domain, Schema
from dpselect.typing import Indices, OnInvalid

Table: TypeAlias = Any
"""A frame (pandas, polars, arrow, ...), an array of shape ``(n, columns)``, or rows."""

Labels: TypeAlias = Any
"""A series or an array of shape ``(n,)``."""


@dataclass(frozen=True, repr=False)
class Columns:
    """Columns of a table, each read when it is asked for.

    Attributes:
        names: Their names, in order. Public.
        held: The container of each: a narwhals Series, an array or its values.
        rows: The number of records. Private.
        frame: The frame that they are of, if they are of one.
        fields: Those that are fields of a text file, which declare no type. Public.
    """

    names: tuple[str, ...]
    held: tuple[Any, ...]
    rows: int
    frame: Any = None
    fields: Collection[str] = ()

    def of(self, name: str) -> Any:  # noqa: ANN401 -- of any library
        """Return the container of a column.

        Raises:
            ColumnError: It is not there.
        """
        if name not in self.names:
            raise no_column(name, self.names)
        return self.held[self.names.index(name)]

    def kind(self, name: str) -> Kind:
        """Return what a column declares of its values; no value is looked at.

        Raises:
            ColumnError: It is not there, or of a type that holds neither numbers nor text.
        """
        held = self.of(name)
        if isinstance(held, nw.Series):
            if name in self.fields:
                return Kind.ANYTHING
            return values.kind_of(values.column_of(held.head(0)).dtype, name)
        return self.values(name)[0].kind

    def values(self, name: str) -> tuple[ColumnValues, Indices | None]:
        """Return the values of a column, and None; or each once, and where each record's is.

        So it is with declared texts and fields; the last one is missing.
        """
        held = self.of(name)
        if isinstance(held, ColumnValues):
            return held, None
        if isinstance(held, np.ndarray):
            return values.of_array(held), None
        if self.kind(name) != Kind.TEXT and name not in self.fields:
            return values.of_series(held), None
        texts = values.column_of(held).cast(pl.String)
        each = texts.unique().drop_nulls()
        places = texts.cast(pl.Enum(each)).to_physical().cast(pl.Int64).fill_null(-1)
        once = ColumnValues(values.objects([*each, None]), self.kind(name))
        return once, places.to_numpy()

    def codes(self, name: str, domain: Domain, *, repaired: bool = True) -> Indices:
        """Return the codes of a column."""
        held, places = self.values(name)
        found = domain.codes(held, repaired=repaired)
        return found if places is None else found[places]


def read(x: Table, *, fields: int = 0) -> Columns:
    """Return the columns of a frame (pandas, polars, arrow, ...), a 2-D array or rows.

    Columns of an array, and of a list of rows, are named ``x0``, ``x1``, ... A list declares
    no types, so each of its values is read by itself.

    Args:
        x: The table; columns that were read are returned. Private.
        fields: How many fields the rows of a list have, if that is known. Public; else the
            first row says it. A field that a row does not have is missing.

    Raises:
        DataError: It is none of those, is sparse or complex.
    """
    if isinstance(x, Columns):
        return x

    frame = nw.from_native(x, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        series = tuple(frame.get_column(name) for name in frame.columns)
        return Columns(tuple(map(str, frame.columns)), series, len(frame), x)
    if values.is_listed(x) and not hasattr(x, "tocsr"):
        rows: Sequence[Any] = list(x)
        if fields == 0 and rows and isinstance(rows[0], Sized):
            fields = len(rows[0])
        held: Iterable[Any] = values.of_rows(rows, fields)
    else:
        table: Any = values.matrix(x, "X")
        rows, held, fields = table, table.T, table.shape[1]
    return Columns(tuple(f"x{j}" for j in range(fields)), tuple(held), len(rows))


def codes(columns: Columns, public: Schema, *, repaired: bool = True) -> Indices:
    """Return the codes of the schema's columns, shape ``(rows, len(public.names))``.

    Args:
        columns: Private.
        public: Columns, domains and classes.
        repaired: Whether values that were not declared go where their domain says.

    Raises:
        ColumnError: A column is missing, or of another type than its domain.
    """
    # Written, and looked up by a tree, a column at a time.
    out = np.empty((columns.rows, len(public.names)), dtype=np.int64, order="F")
    for j, (name, domain) in enumerate(public.named.items()):
        domain.check(columns.kind(name), name)
        out[:, j] = columns.codes(name, domain, repaired=repaired)
    return out


def refuse_outside(public: Schema, found: Iterable[Any]) -> None:
    """Raise if any value is outside of its domain or any label not a class.

    For curators who declare that nothing is: then it is an error, as a repair is not.

    Args:
        public: Columns, domains and classes.
        found: Whether, or how often, that is so of each column and last of the labels. Private.

    Raises:
        PublicClaimError: With the column's name, and no value or number.
    """
    for name, outside in zip((*public.names, None), found, strict=True):
        if outside:
            named = f"column {name!r} has values outside of its domain"
            where = "y has labels outside of `classes`" if name is None else named
            raise PublicClaimError(
                f"{where}; declare them, or have them repaired with `on_invalid`='repair'"
            )


def _check_number(records: int, most: int) -> None:
    if records > most:
        raise PublicClaimError("the table has more records than `max_records` allows")


@dataclass(frozen=True, eq=False, repr=False)
class CodedTable:
    """Records that were read, for several trees of the same domains; private.

    Attributes:
        rows: How they were read. Public.
        columns: Names of the columns of the table. Public.
        frame: Whether it was a frame. Public.
        classes: The classes as the labels write them. Public.
        codes: Shape ``(n, columns with a domain)``.
        labels: Positions in the classes, shape ``(n,)``.
    """

    rows: Rows
    columns: tuple[str, ...]
    frame: bool
    classes: tuple[Hashable, ...]
    codes: Indices
    labels: Indices

    def take(self, positions: Indices) -> CodedTable:
        """Return some of the records."""
        return replace(self, codes=self.codes[positions], labels=self.labels[positions])


@dataclass(frozen=True)
class Rows:
    """Rule by which records are read; public.

    Attributes:
        schema: Columns, domains and classes.
        label: Column of the labels; None if they are given beside the table.
        users: The persons of the records, if one can have several.
        on_invalid: What happens to values and labels that were not declared.
        encoded: Whether an array of integers holds positions of classes that are text, as
            scikit-learn encodes labels.
    """

    schema: Schema
    label: str | None
    users: PeopleCap | None
    on_invalid: OnInvalid
    encoded: bool = field(default=False, compare=False)

    def check(self, data: object) -> None:
        """Check the columns of a table and their types; no value is looked at."""
        if isinstance(data, CodedTable):
            return
        path = data.path if isinstance(data, tables.Source) else data
        if self.label is not None and (isinstance(path, str | Path) or tables.is_lazy(data)):
            from dpselect.trees.engine import EngineCounts

            persons = [] if self.users is None else [self.users.user]
            named = [*self.schema.names, self.label, *persons]
            if not are_in_header(data, plain=named):
                tables.check_columns(data, plain=named)
                if tables.is_lazy(data) or not tables.Source.of(data).is_csv:
                    EngineCounts(data, self.label, self.schema, self.users, inf)
            return
        columns, labels = self._columns(data)
        for name, domain in self.schema.named.items():
            domain.check(columns.kind(name), name)
        self._classes(labels).check(labels.kind("y"), "y")

    @contextmanager
    def counts(self, data: object, max_records: int) -> Iterator[Counts]:
        """Read records, and hold them for counting while the block runs.

        Args:
            data: A table with the column of labels; a pair of a table and its labels; or
                records that were read. Private.
            max_records: The most records that may be counted.

        Raises:
            ColumnError: A column is missing, or of another type than its domain.
            DataError: It is no table, or the labels are not one for each record.
            PublicClaimError: There are more records than ``max_records``; with
                ``on_invalid="raise"``, a value or a label was not declared.
        """
        if isinstance(data, CodedTable) or self.label is None or not tables.is_lazy(data):
            coded = self.coded(data)
            _check_number(len(coded.labels), max_records)
            yield MemoryCounts.of_records(self.schema, coded.codes, coded.labels)
            return
        from dpselect.trees.engine import EngineCounts

        counts = EngineCounts(data, self.label, self.schema, self.users, max_records)
        if self.on_invalid == "raise":
            refuse_outside(self.schema, counts.outside())
        _check_number(counts.number(), max_records)
        with counts.held() as held:
            yield held

    def coded(self, data: object) -> CodedTable:
        """Return the records of a table in memory; those of a person limited.

        A record that has no place is dropped before, so that it does not displace another one.

        Args:
            data: As for ``counts``.
        """
        if isinstance(data, CodedTable):
            if data.rows != self:
                raise ParameterError("the records were read for other domains or classes")
            return data
        columns, given = self._columns(data)
        classes = self._classes(given)
        classes.check(given.kind("y"), "y")
        found, labels = codes(columns, self.schema), given.codes("y", classes)
        if self.on_invalid == "raise":
            strict = codes(columns, self.schema, repaired=False)
            every = np.column_stack([strict, labels])
            refuse_outside(self.schema, (every == OUTSIDE).any(axis=0))
        if self.users is not None:
            held = (labels != OUTSIDE) & (found != OUTSIDE).all(axis=1)
            users = values.column_of(columns.of(self.users.user)).filter(held)
            labels, *kept = self.users.of_arrays(users, [labels[held], *found[held].T])
            found = np.stack(kept, axis=1)
        return CodedTable(
            self, columns.names, columns.frame is not None, classes.listed, found, labels
        )

    def _classes(self, labels: Columns) -> Categories:
        """Return the classes as the type of the labels writes them."""
        classes = self.schema.classes
        texts = [one for one in classes if isinstance(one, str) and isnan(values.number(one))]
        if not self.encoded or len(texts) < len(classes):
            return Categories(classes)
        if labels.values("y")[0].values.dtype.kind not in "iu":
            return Categories(classes)
        return Categories([sorted(texts).index(one) for one in texts])

    def _columns(self, data: object) -> tuple[Columns, Columns]:
        """Return the columns of a table, or of a pair with its labels; and these, as ``y``."""
        if self.label is not None:
            columns = self._of_source(data, self.label)
            labels = columns.of(self.label)
        elif isinstance(data, tuple) and len(data) == 2 and not tables.is_lazy(data[0]):
            columns = read(data[0], fields=values.width(self.schema.named))
            _, labels = values.labels(data[1])
            values.check_rows(range(columns.rows), labels)
        else:
            raise DataError(
                "data must be a pair of a table in memory and its labels; or name the column "
                "of the labels by `label`"
            )
        if self.users is not None:
            if columns.frame is None:
                raise ParameterError("`user` names a column: X must be a frame")
            self.users.check(columns.frame)
        fields = ["y"] * (self.label in columns.fields)
        return columns, Columns(("y",), (labels,), columns.rows, fields=fields)

    def _of_source(self, data: object, label: str) -> Columns:
        """Return the columns of a file or a frame that has the labels, each once.

        The fields of a CSV file are text: each is read as the declared value that it writes, so
        that ``1``, ``1.0`` and ``True`` are all in the domain ``[0, 1]``.
        """
        source, domains = tables.Source.of(data), self.schema.named
        numbers = [c for c, one in domains.items() if not isinstance(one, Categories)]
        numbers = numbers if source.is_csv else []
        persons = [] if self.users is None else [self.users.user]
        plain = [c for c in (*domains, label, *persons) if c not in numbers]
        columns = read(tables.read_columns(data, numeric=numbers, plain=plain))
        if not source.is_csv:
            return columns
        fields = {c for c in plain if c not in persons and source.is_untyped(c)}
        return replace(columns, fields=fields)
