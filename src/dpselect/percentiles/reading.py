"""Records of a percentile: their numbers, repaired and limited, in memory or in an engine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpselect import tables, validation
from dpselect.errors import ColumnError, DataError, ParameterError, missing_value
from dpselect.neighbours import Neighbours
from dpselect.percentiles.objectives import (
    no_records,
    rank_bound,
)
from dpselect.percentiles.placing import Float, unclear
from dpselect.percentiles.ranges import OPEN, Range
from dpselect.percentiles.ranks import Ranks, numbers_in_memory, ranks_among, ranks_in
from dpselect.tables.moments import NUMBERS, Measure
from dpselect.tables.people import PeopleCap, people_cap
from dpselect.typing import Indices, OnInvalid, Values


def records_cap(column: str | None, user: str | None, max_per_user: object) -> PeopleCap | None:
    """Return the limit of public arguments, None if every record is a person of its own.

    Raises:
        ParameterError: One of two arguments that go together is missing, or out of range.
    """
    if column is not None:
        validation.instance("column", column, str)
    cap = people_cap(user, max_per_user)
    if cap is None:
        return None
    if column is None:
        raise validation.needs("user", "column", of="numbers")
    if cap.user == column:
        raise ParameterError(f"column {user!r} cannot be the user and the number")
    return cap


def checked_column(data: object, column: str | None) -> str | None:
    """Return the column of the numbers, None where the data are the numbers themselves.

    Raises:
        ColumnError: The data are a table, and no column is named.
    """
    if column is None and tables.is_table(data):
        tables.numeric_column(data)
    return column


def checked_type(data: object, column: str | None, points: Values | Range) -> Float:
    """Return the type of floats that numbers are of, which tells all candidates apart.

    Without an end that is known no shorter type would, so all are read as float64.

    Args:
        data: A table that has the column, or numbers.
        column: The column.
        points: The candidates.

    Raises:
        ColumnError, DataError: Neighbouring candidates are the same number of that type.
    """
    if isinstance(points, Range) and len(points) >= OPEN:
        return np.float64
    kind = tables.declared_float(data, column)
    if kind is np.float64 or (one := unclear(points, kind)) is None:
        return kind
    said = (
        f"of {kind.__name__}, where candidates next to {one!r} are the same number: give a "
        "larger `step`, or cast to float64"
    )
    if column is None:
        raise DataError(f"the values are {said}")
    raise ColumnError(f"column {column!r} is {said}")


@dataclass(frozen=True, slots=True)
class Records:
    """How the records of a percentile are read; public.

    A missing number is dropped. How many there are is private under either relation; under
    substitution of a record the number of all records is public, and no record is an error.

    Attributes:
        neighbours: Add/remove or substitution.
        column: The numeric column, of a table.
        users: The persons of the records, if one can have several.
        on_invalid: What happens to a record without a number.
        measure: How its number is read.
    """

    neighbours: Neighbours
    column: str | None = None
    users: PeopleCap | None = None
    on_invalid: OnInvalid = "repair"
    measure: Measure = NUMBERS

    def __post_init__(self) -> None:
        validation.on_invalid(self.on_invalid)

    @property
    def per_user(self) -> int:
        """How many records a person has at most."""
        return 1 if self.users is None else self.users.most

    @property
    def are_public(self) -> bool:
        """Whether the number of all records is public; that of numbers never is."""
        return self.neighbours is Neighbours.SUBSTITUTE and self.users is None

    def rank_bound(self, p: float) -> float:
        """Return what one step changes of the distance of a rank from a percentile's."""
        return self.per_user * rank_bound(p / 100, self.neighbours)

    def check(self, data: object, points: Values | Range) -> None:
        """Make the checks of a release that read no private value.

        Raises:
            ColumnError, DataError: As for the release.
        """
        data = self.measure.of(data, self.column) if tables.is_table(data) else data
        if (column := checked_column(data, self.column)) is not None:
            tables.check_columns(data, numeric=[column])
            if self.users is not None:
                self.users.check(data)
            elif self.are_public and tables.count_records(data, numeric=[column]) == 0:
                raise no_records()
            checked_type(data, column, points)

    def of(self, data: object) -> Numbers:
        """Return the numbers of some data; private."""
        return Numbers(self.measure.of(data, self.column), self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Numbers:
    """The numbers of all records that are counted; private.

    Attributes:
        data: A frame, the path of a file, or the numbers.
        records: How they are read.
        kind: The type of floats that they are of; as the data declare it if not given.
    """

    data: object
    records: Records
    kind: Float | None = None
    _read: list[tuple[Values, Values, Ranks]] = field(default_factory=list, init=False)
    _values: list[Values] = field(default_factory=list, init=False)
    _places: dict[Range, Indices] = field(default_factory=dict, init=False)

    @classmethod
    def counted(cls, points: Values, ranks: Ranks, records: Records) -> Numbers:
        """Return numbers of which the ranks of points are known, and nothing else is asked."""
        made = cls((), records)
        made._read.append((points, points, ranks))
        return made

    def ranks(self, points: Values | Range, some: Values | None = None) -> Ranks:
        """Return the ranks of candidates, counted once; of a lazy frame no row is read.

        Args:
            points: All candidates; of a range the numbers are read.
            some: Those whose ranks are wanted, if not all; given of a range.

        Raises:
            ColumnError, DataError: As for the release.
        """
        if isinstance(points, Range):
            assert some is not None  # noqa: S101 -- a range is never listed
            return ranks_among(self.places(points), points, some)
        of, wanted = self.records, points if some is None else some
        ranks = self._known(points, wanted)
        if ranks is None:
            ranks = ranks_in(self.data, points, of.column, of.users, some)
            checked_type(self.data, of.column, points)
            self._read.append((points, wanted, ranks))
        self._check(ranks.records, ranks.missing)
        return ranks

    def values(self) -> Values:
        """Return the numbers, read into memory.

        Raises:
            ColumnError, DataError: As for the release.
        """
        if not self._values:
            of = self.records
            self._values.append(numbers_in_memory(self.data, of.column, of.users))
        [values] = self._values
        missing = np.isnan(values)
        self._check(values.size, int(missing.sum()))
        return values[~missing]

    def places(self, points: Range) -> Indices:
        """Return the positions in a range that the numbers count at, ascending.

        Raises:
            ColumnError, DataError: As for the release.
        """
        if points not in self._places:
            values = self.values()
            kind = self.kind or checked_type(self.data, self.records.column, points)
            self._places[points] = np.sort(points.places(values, kind))
        return self._places[points]

    def number(self, points: Values | Range) -> int:
        """Return how many records with a number there are."""
        if isinstance(points, Range):
            return self.places(points).size
        return int(self.ranks(points).numbers[0])

    def _known(self, points: Values, wanted: Values) -> Ranks | None:
        """Return ranks from those that were counted of the same candidates."""
        for of, counted, ranks in self._read:
            if np.array_equal(of, points) and np.isin(wanted, counted).all():
                return ranks.among(counted, wanted)
        return None

    def _check(self, records: int, missing: int) -> None:
        if self.records.are_public and records == 0:
            raise no_records()
        if self.records.on_invalid == "raise" and missing > 0:
            raise missing_value()
