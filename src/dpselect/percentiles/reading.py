"""Private numbers of a release, repaired and limited, in memory or in the engine of a table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpselect.neighbours import Neighbours
from dpselect.percentiles.objectives import missing_value, no_records, with_missing
from dpselect.percentiles.ranks import Ranks, numbers_in_memory, numbers_of
from dpselect.tables.users import UserCap
from dpselect.typing import OnInvalid, Values


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Where the numbers are, and what is public about them.

    With persons of several records the number of records is private under either relation, so
    missing numbers are dropped, and a table without records is answered.

    Attributes:
        data: A frame, the path of a file, or the numbers.
        column: The numeric column, if ``data`` is a table.
        users: The persons of the records, if one can have several.
        neighbours: Add/remove or substitution.
        on_invalid: What happens to a record without a number.
    """

    data: object
    column: str | None
    users: UserCap | None
    neighbours: Neighbours
    on_invalid: OnInvalid
    _read: dict[bytes, Ranks] = field(default_factory=dict, init=False, repr=False)

    @property
    def drops_missing(self) -> bool:
        """Whether a missing number is dropped; it counts as 0 if not."""
        return self.neighbours is Neighbours.ADD_REMOVE or self.users is not None

    def ranks(self, points: Values) -> Ranks:
        """Return the ranks of public points, counted once; of a lazy frame no row is read.

        Raises:
            ColumnError, DataError: As for the release.
        """
        asked = points.tobytes()
        if asked not in self._read:
            self._read[asked] = numbers_of(self.data, self.column, self.users).ranks(points)
        ranks = self._read[asked]
        self._check(ranks.missing)
        relation = Neighbours.ADD_REMOVE if self.drops_missing else self.neighbours
        return with_missing(ranks, points, relation)

    def values(self) -> Values:
        """Return the numbers, read into memory.

        Raises:
            ColumnError, DataError: As for the release.
        """
        values = numbers_in_memory(self.data, self.column, self.users)
        missing = np.isnan(values)
        self._check(int(missing.sum()))
        if self.drops_missing:
            return values[~missing]
        if values.size == 0:
            raise no_records()
        return np.where(missing, 0.0, values)

    def _check(self, missing: int) -> None:
        if self.on_invalid == "raise" and missing > 0:
            raise missing_value()
