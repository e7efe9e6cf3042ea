"""People per key, counted where the rows are; few keys leave the engine.

Engines order by the count and then by the value, by which ties are broken: never by the order
of the rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dpselect.keys.question import Question
from dpselect.keys.release import KeyRelease
from dpselect.plan import Plan
from dpselect.query import Design
from dpselect.tables.groups import NoisyNumbers

if TYPE_CHECKING:
    from dpselect.keys.reading import Rows


@dataclass(frozen=True, kw_only=True)
class KeyCounts(Design[KeyRelease]):
    """A release of keys that is drawn from the people per key.

    Attributes:
        question: What is read of the rows.
        rest: How the keys that are not released are counted.
    """

    question: Question
    rest: NoisyNumbers = field(default_factory=NoisyNumbers)

    def check(self, data: object) -> None:
        people_in(data, self.question)

    def prepare(self, data: object) -> Callable[[Plan], KeyRelease]:
        return self.drawing(people_in(data, self.question))

    @abstractmethod
    def drawing(self, people: Rows) -> Callable[[Plan], KeyRelease]:
        """Return the draw of everything, after the first reading."""


def people_in(data: object, question: Question) -> Rows:
    """Return the people per key of some data.

    Raises:
        ColumnError, DataError, ParameterError: As for ``reading.read``.
    """
    # narwhals takes as long to import as all of this room.
    from dpselect.keys import reading

    return reading.read(data, question)
