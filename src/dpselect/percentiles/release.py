"""What a release of percentiles says: values, their intervals and what their error may be."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import ceil, log
from typing import Any

from dpselect.release import Release
from dpselect.tables.groups import OTHER, columns_of_groups
from dpselect.tables.kinds import checked_names
from dpselect.writing import as_text

TOO_FEW = "too few rows"
"""What people read in place of a value that is noise; ``answer`` and ``table`` have it."""

WHOLE = "no interval: too few rows"
"""What people read in place of an interval that says nothing."""

MORE = "all of it is noise: ask with a larger epsilon, or for fewer percentiles or groups"


@dataclass(frozen=True, repr=False)
class PercentileRelease(Release[Any]):
    """Values at percentiles, ascending; with groups, pairs of a group and its values.

    Attributes:
        p: The percentile of each value.
        chosen: The method that was chosen by a noisy number of records; None with groups.
        records: That number, at most a public one of all records; with groups one for each, in
            their order.
        groups: The groups that are answered, public ones or those that were released; None
            without groups.
    """

    p: tuple[float, ...] = ()
    chosen: str | None = None
    records: int | tuple[int, ...] = 0
    groups: tuple[Hashable, ...] | None = None

    @property
    def facts(self) -> dict[str, object]:
        """What is said of the release beside its answer, by name, where there is something.

        A likely error assumes a shape of the data and the number of records that was released,
        of groups the least and the largest (``dpselect.percentiles.prediction``). Beside an
        interval, and of noise alone, there is none.
        """
        asked = self.query
        known: dict[str, object] = {"values": asked.ends_early, "rows": self._rows_said}
        if self.groups is None and asked.upper is not None and asked.upper in self.answer:
            hidden = ", and so does a 100th percentile that noise hides" * (100 in self.p)
            known["range"] = f"values above {as_text(asked.upper)} count as it{hidden}"
        usable = [one for one in self._numbers if any(self._method.are_usable(one))]
        if self.interval is None and usable:
            from dpselect.percentiles.prediction import expected

            numbers = dict.fromkeys((max(min(usable), 1), max(usable)))
            known["likely error"] = expected(asked, numbers)
        known |= super().facts
        if not usable:  # no value is printed, nor what it would mean
            known |= {"interval": None, "range": None, "warning": MORE}
        return {name: one for name, one in known.items() if one is not None}

    def __str__(self) -> str:
        chosen = "" if self.chosen is None else f"\nchosen: {self.chosen}"
        return f"{super().__str__()}{chosen}"

    @property
    def _method(self) -> Any:  # noqa: ANN401 -- that of a query of percentiles
        return self.query.each.method

    @property
    def usable(self) -> tuple[bool, ...]:
        """Whether each value is more than noise, one for each row of the table.

        The noisy number of records says so (``dpselect.percentiles.choice``).
        """
        return tuple(found for one in self._numbers for found in self._method.are_usable(one))

    @property
    def _numbers(self) -> tuple[int, ...]:
        """The noisy number of each group."""
        return self.records if isinstance(self.records, tuple) else (self.records,)

    @property
    def _rows_said(self) -> str:
        """The noisy number of records with its error, in words."""
        within = f"within {self.records_error:,} with probability 0.95"
        if isinstance(self.records, tuple):
            return f"noisy numbers of each group: {within}, each"
        rows = self._counted(self.records)
        if isinstance(rows, str):
            return f"{rows} with probability 0.95"
        return f"about {rows:,} ({within})"

    def _counted(self, number: int) -> int | str:
        """A noisy number as people read it: one that may be noise alone says what it bounds."""
        error = self.records_error
        return number if number > error else f"at most {max(number, 0) + error:,}"

    @property
    def records_error(self) -> int:
        """Distance of a noisy number from the true one with probability 0.95, in records."""
        return ceil(self._method.scale * log(1 / (1 - 0.95)))

    @property
    def meaning(self) -> str | None:
        """What an interval is, in words; None without intervals."""
        if self.interval is None:
            return None
        held = self.arguments["interval"]
        several = ", each" if len(self.usable) > 1 else ""
        return f"holds the percentile of {self._whose} with probability {held:g}{several}"

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        more = {} if self.chosen is None else {"chosen": self.chosen}
        records = self.records if self.groups is None else list(self._numbers)
        return {**super().released(), **more, "records": records, "rows": self._rows_said}

    @property
    def by_group(self) -> Mapping[Hashable, tuple[float, ...]]:
        """The values of each group, in the order of ``p``; None for the group of all others."""
        return dict(self.answer) if self.groups is not None else {}

    @property
    def _name(self) -> str:
        """The column of the values."""
        return "value" if self.query.column in {None, "p"} else str(self.query.column)

    def table(self, other: str | None = OTHER) -> dict[str, list[Any]]:
        """Return groups, if there are any, percentiles and values as columns, and the rest.

        The rest are the ends of intervals, whether a value is usable, and the noisy number of
        records of its group.

        Args:
            other: Stands for the group of all others.
        """
        values: Any = [self.answer] if self.groups is None else [of for _, of in self.answer]
        columns: dict[str, list[Any]] = {
            "p": list(self.p) * len(values),
            self._name: [one for of_group in values for one in of_group],
        }
        columns |= self.ends() | {"usable": list(self.usable)}
        if self.groups is None:
            return columns
        columns["records"] = [one for one in self._numbers for _ in self.p]
        by = checked_names(self.query.by, "by")
        names = tuple(f"group {one}" if one in columns else one for one in by)
        groups = [one for one in self.groups for _ in self.p]
        return columns_of_groups(names, groups, other=other) | columns

    def shown(self) -> dict[str, list[Any]]:
        """Return the table with each interval beside its value, and a line for each group."""
        table, times = self.table("(other)"), len(self.p)
        values = [*map(as_text, table.pop(self._name))]
        if self.interval is not None:
            del table["low"], table["high"]
            whole = self.query.each.ends
            said = (
                WHOLE if ends == whole else " to ".join(map(as_text, ends))
                for ends in self.interval
            )
            values = [f"{one} ({of})" for one, of in zip(values, said, strict=True)]
        pairs = zip(values, table.pop("usable"), strict=True)
        values = [one if fine else TOO_FEW for one, fine in pairs]
        if self.groups is None:
            return table | {self._name: values}
        del table["p"]
        records = [*map(self._counted, table.pop("records")[::times])]
        shown = {name: column[::times] for name, column in table.items()}
        shown |= {f"p{p:g}": values[at::times] for at, p in enumerate(self.p)}
        return shown | {"records, noisy": records}
