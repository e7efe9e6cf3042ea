"""People per key, counted where the rows are; few keys leave the engine.

Engines order by the count and then by the value, by which ties are broken: never by the order
of the rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpselect import tables
from dpselect._optional import needed
from dpselect.keys.question import Question
from dpselect.keys.release import KeyRelease
from dpselect.keys.rest import Rest
from dpselect.plan import Plan
from dpselect.query import Design
from dpselect.typing import Indices

if TYPE_CHECKING:
    import narwhals as nw

    from dpselect.keys.columns import KeyColumns
    from dpselect.keys.reading import Rows

ROWS_IN_ONE_PASS = 2**25
"""Rows of a file that are grouped at once."""

MOST_KEYS = 10**9
"""Keys that may leave an engine where all of them have to: those above a pre-threshold."""

MOST_WEIGHT = 2**60
"""Sums of weights are cut there."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counted:
    """Some keys with the number of people who have each; private.

    Attributes:
        keys: As the engine has them.
        people: Shape ``(n,)``, integers >= 0.
        columns: How keys are written.
    """

    keys: Sequence[Any] | NDArray[Any]
    people: Indices
    columns: KeyColumns

    def key(self, position: int) -> Hashable:
        """Return a key as plain Python values."""
        return self.columns.decode(self.keys[position])

    def keys_at(self, positions: Indices) -> list[Hashable]:
        """Return several keys, for which ``key`` would take longer."""
        if self.columns.encoded:
            return [self.key(position) for position in positions.tolist()]
        keys: list[Hashable] = np.asarray(self.keys)[positions].tolist()
        return keys


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PeoplePerKey:
    """Exact numbers of people who have a key; polars counts data in memory and files.

    Attributes:
        rows: One row for each key of a person that is counted.
    """

    rows: Rows

    def of(
        self, candidates: Sequence[Hashable], groups: Sequence[Hashable] = ()
    ) -> list[Indices]:
        """Return the counts of public candidates, for each group; one list without groups."""
        found = self._counted(most=len(candidates) * max(1, len(groups)))
        places = {self.rows.keys.encode(one): place for place, one in enumerate(candidates)}
        counts = np.zeros((max(1, len(groups)), len(candidates)), dtype=np.int64)
        columns = [places[_plain(key)] for key in found["key"]]
        counts[self._group_of(found, groups), columns] = tables.counts(found["people"])
        return list(counts)

    def from_count(self, least: int) -> Counted:
        """Return all keys of at least so many people, in order of the value."""
        found = self._counted("key", least=least)
        return Counted(found["key"], tables.counts(found["people"]), self.rows.keys)

    def in_groups(
        self, groups: Sequence[Hashable] = (), least: int = 1
    ) -> list[tuple[Hashable, Counted]]:
        """Return all keys of at least so many people, of each group.

        Groups are those that are given, or else those that have such a key, in order.
        """
        group, keys = self.rows.group, self.rows.keys
        assert group is not None  # noqa: S101 -- asked of rows with groups alone
        found = self._counted("group", "key", least=least)
        people, every = tables.counts(found["people"]), np.asarray(found["group"])
        firsts = np.flatnonzero(np.append(True, every[1:] != every[:-1])[: every.size])
        held = {
            _plain(every[first]): Counted(found["key"][first:end], people[first:end], keys)
            for first, end in zip(firsts, np.append(firsts, every.size)[1:], strict=True)
        }
        if not groups:
            return [(group.decode(one), counted) for one, counted in held.items()]
        nothing = Counted((), np.zeros(0, dtype=np.int64), keys)
        return [(one, held.get(group.encode(one), nothing)) for one in groups]

    def of_groups(self) -> PeoplePerKey:
        """Return the people per group: those with a key in it, of so many groups each."""
        return PeoplePerKey(self.rows.of_groups())

    def within(self, groups: tuple[Hashable, ...]) -> PeoplePerKey:
        """Return the people per key in some groups alone."""
        return PeoplePerKey(self.rows.within(groups))

    def weighed(self, weights: Indices, among: Sequence[Any] | None) -> Counted:
        """Return the keys that people have, in order, with the sums of their people's weights.

        A person's weight is that of the number of keys that are counted of this person and are
        ``among`` some, as the engine has them, if these are given.
        """
        import narwhals as nw

        table = self.rows.table
        if among is not None:
            table = self.rows.among([_plain(key) for key in among])
        together = nw.lit(1) if self.rows.question.cap is None else nw.len().over("user")
        by_size = (
            table.with_columns(together.cast(nw.Int64).alias("together"))
            .group_by("key", "together")
            .agg(nw.len().alias("people"))
        )
        found = tables.collect(by_size, self.rows.source, most=MOST_KEYS)
        keys, places = np.unique(np.asarray(found["key"]), return_inverse=True)
        each = weights[tables.counts(found["together"])]
        people = tables.counts(found["people"])
        sums = np.zeros(keys.size, dtype=np.int64)
        np.add.at(sums, places, each * people)
        # Floats show which sums are beyond the integers, before they are cut.
        about = np.bincount(places, each * people.astype(float), minlength=keys.size)
        sums = np.where(about < 2.0 * MOST_WEIGHT, sums.clip(max=MOST_WEIGHT), MOST_WEIGHT)
        return Counted(keys, sums, self.rows.keys)

    def _counted(self, *order_by: str, least: int = 1, most: int = MOST_KEYS) -> dict[str, Any]:
        """Return all keys of at least so many people, in as many passes as it takes."""
        import narwhals as nw

        source, by = self.rows.source, ["key"] if self.rows.group is None else ["group", "key"]

        def collected(rows: nw.LazyFrame[Any]) -> dict[str, Any]:
            return tables.collect(rows, source, most=most, order_by=order_by)

        found = [
            collected(
                part.group_by(*by)
                .agg(nw.len().alias("people"))
                .filter(nw.col("people") >= least)
            )
            for part in self._passes()
        ]
        if len(found) == 1:
            return found[0]
        needed("polars", extra="standard")
        import polars as pl

        parts = [{name: column.tolist() for name, column in one.items()} for one in found]
        together = pl.concat([pl.DataFrame(one) for one in parts], how="vertical_relaxed")
        return collected(nw.from_native(together.lazy()))

    def _passes(self) -> list[nw.LazyFrame[Any]]:
        """Return the rows in parts of different keys, as large files are grouped.

        polars keeps what it could not group at once until the end: of 10^8 rows with 10^6
        keys 1.2 GB in one pass.
        """
        rows = self.rows
        source = tables.Source.of(rows.source)
        if rows.question.cap is not None or source.path is None or source.is_csv:
            return [rows.table]
        needed("polars", extra="standard")
        import narwhals as nw
        import polars as pl

        size = tables.open_table(rows.source).lazy().select(nw.len().alias("rows"))
        [held] = tables.collect(size, rows.source, most=1)["rows"].tolist()
        passes = -(-held // ROWS_IN_ONE_PASS)
        if passes <= 1:
            return [rows.table]
        part = pl.col("key").hash() % passes
        table = nw.to_native(rows.table)
        return [nw.from_native(table.filter(part == number)) for number in range(passes)]

    def _group_of(self, found: dict[str, Any], groups: Sequence[Hashable]) -> list[int]:
        """Return the position of the group of every row that was collected."""
        if self.rows.group is None:
            return [0] * len(found["key"])
        places = {self.rows.group.encode(one): place for place, one in enumerate(groups)}
        return [places[_plain(one)] for one in found["group"]]


@dataclass(frozen=True, kw_only=True)
class KeyCounts(Design[KeyRelease]):
    """A release of keys that is drawn from the people per key.

    Attributes:
        question: What is read of the rows.
        rest: How the keys that are not released are counted.
    """

    question: Question
    rest: Rest = field(default_factory=Rest)

    def check(self, data: object) -> None:
        people_in(data, self.question)

    def prepare(self, data: object) -> Callable[[Plan], KeyRelease]:
        return self.drawing(people_in(data, self.question))

    @abstractmethod
    def drawing(self, people: PeoplePerKey) -> Callable[[Plan], KeyRelease]:
        """Return the draw of everything, after the first reading."""


def people_in(data: object, question: Question) -> PeoplePerKey:
    """Return the people per key of some data.

    Raises:
        ColumnError, DataError, ParameterError: As for ``reading.read``.
    """
    # narwhals takes as long to import as all of this room.
    from dpselect.keys import reading

    return PeoplePerKey(reading.read(data, question))


def _plain(key: Any) -> Any:  # noqa: ANN401 -- a value of an engine
    return key.item() if isinstance(key, np.generic) else key
