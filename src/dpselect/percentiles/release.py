"""What a release of percentiles says: values, their intervals and what their error may be."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import ceil, log
from typing import Any

from dpselect.release import Release
from dpselect.tables.groups import OTHER
from dpselect.writing import as_text


@dataclass(frozen=True, repr=False)
class PercentileRelease(Release[Any]):
    """Values at percentiles, ascending; with groups, pairs of a group and its values.

    Attributes:
        p: The percentile of each value.
        chosen: The method that was chosen by a noisy number of records, if it was.
        records: That number, if it was paid for; with groups one for each, in their order.
    """

    p: tuple[float, ...] = ()
    chosen: str | None = None
    records: int | tuple[int, ...] | None = None

    def __str__(self) -> str:
        asked: Any = self.plan.query
        more = {
            "values": asked.ends_early,
            "records": self.records_in_words,
            "chosen": self.chosen,
        }
        lines = [f"\n{name}: {one}" for name, one in more.items() if one is not None]
        return "".join([super().__str__(), *lines])

    @property
    def records_error(self) -> int | None:
        """Distance of a noisy number from the true one with probability 0.95, in records."""
        if self.records is None:
            return None
        asked: Any = self.plan.query
        made = asked.design()
        return ceil(getattr(made, "each", made).method.scale * log(1 / (1 - 0.95)))

    @property
    def records_in_words(self) -> str | None:
        """The noisy number of records and its error; None if there is none, or one by group."""
        if not isinstance(self.records, int):
            return None
        near = f"within {self.records_error:,} with probability 0.95"
        return f"about {max(self.records, 0):,} ({near})"

    @property
    def expected_error(self) -> str | None:
        """Predicted distance of the values from their percentiles, in words; None if unknown.

        It assumes a shape of the data and the number of records that was released
        (``dpselect.percentiles.prediction``). Beside an interval there is none, and with
        groups, which have different numbers.
        """
        from dpselect.percentiles.prediction import expected

        asked: Any = self.plan.query
        if self.interval is not None or not isinstance(self.records, int):
            return None
        return expected(asked, [max(self.records, 1)])

    @property
    def meaning(self) -> str | None:
        """What an interval is, in words; None without intervals."""
        if self.interval is None:
            return None
        held = self.arguments["interval"]
        return f"holds the percentile of {self._whose} with probability {held:g}, each"

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        more: dict[str, Any] = {} if self.chosen is None else {"chosen": self.chosen}
        if self.records is not None:
            one = isinstance(self.records, int)
            more["records"] = self.records if one else list(self.records)  # type: ignore[arg-type]
        return {**super().released(), **more}

    @property
    def by_group(self) -> Mapping[Hashable, tuple[float, ...]]:
        """The values of each group, in the order of ``p``; None for the group of all others."""
        return dict(self.answer) if self._is_grouped else {}

    @property
    def _is_grouped(self) -> bool:
        return self.arguments.get("by") is not None

    @property
    def _name(self) -> str:
        """The column of the values."""
        column = self.arguments.get("column")
        return "value" if column in {None, "p"} else str(column)

    @property
    def _by(self) -> str:
        """The column of the groups."""
        by = str(self.arguments["by"])
        return "group" if by in {"p", self._name, "low", "high"} else by

    def table(self) -> dict[str, list[Any]]:
        """Return groups, if there are any, percentiles and their values as columns."""
        columns: dict[str, list[Any]] = {"p": list(self.p), self._name: list(self.answer)}
        if self._is_grouped:
            columns = {
                self._by: [group for group, _ in self.answer for _ in self.p],
                "p": [p for _ in self.answer for p in self.p],
                self._name: [one for _, values in self.answer for one in values],
            }
        return columns | self.ends()

    @property
    def unprinted(self) -> int:
        return 0  # a line for each group has all of its rows

    def shown(self) -> dict[str, list[Any]]:
        """Return the table with each interval beside its value, and a line for each group."""
        table = self.table()
        if self.interval is not None:
            values, low, high = (
                map(as_text, table.pop(name)) for name in (self._name, "low", "high")
            )
            parts = zip(values, low, high, strict=True)
            table[self._name] = [f"{one} ({a} to {b})" for one, a, b in parts]
        if not self._is_grouped:
            return table
        shown = ["(other)" if group is OTHER else group for group, _ in self.answer]
        every = {f"p{p:g}": table[self._name][at :: len(self.p)] for at, p in enumerate(self.p)}
        return {self._by if self._by not in every else "group": shown} | every
