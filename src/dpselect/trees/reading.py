"""Records of a table as codes of public domains, in memory or in the engine that holds them.

A table is read value by value: what one record becomes depends on that record alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect import tables
from dpselect._optional import needed
from dpselect.errors import DataError, ParameterError
from dpselect.tables.people import PeopleCap
from dpselect.tables.values import ColumnValues, number, width
from dpselect.trees import records
from dpselect.trees.counts import Counts, MemoryCounts, limited
from dpselect.trees.domains import Categories, Domain
from dpselect.trees.records import Columns, Schema
from dpselect.typing import Indices, OnInvalid

if TYPE_CHECKING:
    import narwhals as nw


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

    def truth(self) -> list[Hashable | None]:
        """Return the class of each record, None for another label."""
        known = (*self.classes, None)  # which OUTSIDE is the last of
        return [known[label] for label in self.labels.tolist()]


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
        if self.label is not None and (isinstance(data, str | Path) or tables.is_lazy(data)):
            self._check_table(data, self.label)
            return
        columns, labels = self._columns(data)
        for name, domain in zip(self.schema.names, self.schema.domains, strict=True):
            domain.check(columns.values(records.position(columns, name)).kind, name)
        given = records.labels(labels, columns.rows)
        Categories(self._classes(given)).check(given.kind, "y")

    def _check_table(self, data: object, label: str) -> None:
        from dpselect.trees.engine import EngineCounts

        persons = () if self.users is None else (self.users.user,)
        tables.check_columns(data, plain=[*self.schema.names, label, *persons])
        if tables.is_lazy(data) or not tables.Source.of(data).is_csv:
            EngineCounts(data, label, self.schema, self.users)

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
            records.check_number(len(coded.codes), max_records)
            yield MemoryCounts.of_records(self.schema, coded.codes, coded.labels)
            return
        from dpselect.trees.engine import EngineCounts

        counts = EngineCounts(data, self.label, self.schema, self.users, max_records)
        records.check_number(counts.number(), max_records)
        if self.on_invalid == "raise":
            counts.refuse_outside()
        with counts.held():
            yield counts

    def coded(self, data: object) -> CodedTable:
        """Return the records of a table in memory; those of a person limited.

        Args:
            data: As for ``counts``.
        """
        if isinstance(data, CodedTable):
            if data.rows != self:
                raise ParameterError("the records were read for other domains or classes")
            return data
        columns, given = self._columns(data)
        labels = records.labels(given, columns.rows)
        codes, classes = records.codes(columns, self.schema), self._classes(labels)
        known = records.label_codes(labels, classes)
        if self.on_invalid == "raise":
            records.refuse_outside(columns, known, self.schema)
        if self.users is not None:
            place = records.position(columns, self.users.user)
            codes, known = limited(codes, known, columns.held[place], self.users)
        return CodedTable(self, columns.names, columns.frame is not None, classes, codes, known)

    def _classes(self, labels: ColumnValues) -> tuple[Hashable, ...]:
        """Return the classes as the type of the labels writes them."""
        classes = self.schema.classes
        texts = [one for one in classes if isinstance(one, str) and isnan(number(one))]
        if (
            not self.encoded
            or len(texts) < len(classes)
            or labels.values.dtype.kind not in "iu"
        ):
            return classes
        return tuple(sorted(texts).index(one) for one in texts)

    def _columns(self, data: object) -> tuple[Columns, object]:
        """Return the columns and the labels of a table, or of a pair of both."""
        if self.label is not None:
            persons = [] if self.users is None else [self.users.user]
            x, y = labelled(data, self.schema, self.label, persons)
        elif isinstance(data, tuple) and len(data) == 2 and not tables.is_lazy(data[0]):
            x, y = data
        else:
            raise DataError(
                "data must be a pair of a table in memory and its labels; or name the column "
                "of the labels by `label`"
            )
        columns = records.read(x, fields=width(dict.fromkeys(self.schema.names)))
        if self.users is not None:
            if columns.frame is None:
                raise ParameterError("`user` names a column: X must be a frame")
            self.users.check(columns.frame)
        return columns, y


def labelled(
    data: object, schema: Schema, label: str, others: Sequence[str] = ()
) -> tuple[nw.DataFrame[Any], nw.Series[Any]]:
    """Return the columns of a schema and the labels of a table in memory; private.

    Args:
        data: The path of a Parquet or CSV file, or any frame. The fields of a CSV file are
            text: each is read as the declared value that it writes, so that ``1``, ``1.0``
            and ``True`` are all in the domain ``[0, 1]``.
        schema: Columns, domains and classes.
        label: The column of the labels.
        others: Columns that are returned as they are.

    Raises:
        ColumnError: A column is missing, or is not of the type of its bins.
        DataError: The table cannot be read.
    """
    domains = dict(zip(schema.names, schema.domains, strict=True))
    domains[label] = Categories(schema.classes)
    if tables.Source.of(data).is_csv:
        table = _of_text(data, domains, others)
    else:
        table = tables.read_columns(data, numeric=[], plain=[*domains, *others])
    return table.select(*schema.names, *others), table.get_column(label)


def _of_text(
    path: object, domains: Mapping[str, Domain], others: Sequence[str]
) -> nw.DataFrame[Any]:
    """Return the columns of a CSV file, of fields that declare no type."""
    needed("polars", extra="standard")
    import narwhals as nw
    import polars as pl

    untyped = tables.Source.of(path).is_untyped
    numbers = [name for name, d in domains.items() if not isinstance(d, Categories)]
    plain = [name for name in domains if name not in numbers]
    table = tables.read_columns(path, numeric=numbers, plain=[*plain, *others])
    # Objects declare nothing, so that each field is read as what it writes.
    fields = [
        pl.Series(name, table.get_column(name).to_list(), dtype=pl.Object)
        for name in plain
        if untyped(name)
    ]
    return nw.from_native(nw.to_native(table).with_columns(fields))
