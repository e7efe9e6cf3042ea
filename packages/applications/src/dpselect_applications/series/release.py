"""Released running counts: the top keys of every period so far, with their errors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import Release
from dpselect.errors import ParameterError
from dpselect.extend import Values, largest, needed

if TYPE_CHECKING:
    import polars as pl

ROWS = 40
"""Rows that are printed, at most, unless one period has more."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SeriesRelease(Release[Any]):
    """Noisy running counts of all candidates after each period so far; safe to publish.

    The answer has the ``k`` keys of the largest counts after the last of these periods, and
    ``noisy_scores`` these counts. All methods are post-processing.

    Attributes:
        sums: The noisy weighted sums of each period, one for each candidate, from which all
            running counts are computed.
    """

    sums: tuple[tuple[int, ...], ...]

    @property
    def periods(self) -> tuple[Hashable, ...]:
        """The periods so far."""
        return tuple(self._design.periods[: len(self.sums)])

    @cached_property
    def running(self) -> Values:
        """Noisy running counts: shape ``(t, n)``; in the order of periods and candidates."""
        found: Values = self._design.factors.running(np.array(self.sums))
        return found

    @property
    def standard_errors(self) -> tuple[float, ...]:
        """Standard deviation of the noise of one running count after each period."""
        errors = self._design.factors.standard_errors
        return tuple(errors[: len(self.sums)].tolist())

    @property
    def by_period(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The ``k`` keys of the largest counts after each period."""
        return {
            period: tuple(key for key, _ in self._top(place))
            for place, period in enumerate(self.periods)
        }

    def released(self) -> dict[str, Any]:
        return {**super().released(), "sums": [list(one) for one in self.sums]}

    def table(self) -> dict[str, list[Any]]:
        """Return a row for each of the ``k`` keys after each period, as columns."""
        return self._rows(0)

    def shown(self) -> dict[str, list[Any]]:
        """Return the rows of the last periods that are together few enough to print."""
        periods = max(1, ROWS // self._series.k)
        found = self._rows(max(0, len(self.sums) - periods))
        counts, errors = (
            [round(one, 1) for one in found.pop(name)]
            for name in ("noisy_count", "standard_error")
        )
        return {**found, "people, noisy": counts, "standard error": errors}

    def counts(self) -> pl.DataFrame:
        """Return the counts of all candidates after each period, as a polars frame.

        Raises:
            MissingDependencyError: polars is not installed.
        """
        needed("polars", extra="standard")
        import polars as pl

        keys, times = self._design.candidates, len(self.sums)
        columns = {
            self._series.period: [one for one in self.periods for _ in keys],
            self._key: list(keys) * times,
            "noisy_count": self.running.ravel(),
            "standard_error": np.repeat(self.standard_errors, len(keys)),
        }
        return pl.DataFrame(columns)

    def _rows(self, first: int) -> dict[str, list[Any]]:
        rows = [
            (period, key, count, error)
            for place, (period, error) in enumerate(
                zip(self.periods, self.standard_errors, strict=True)
            )
            if place >= first
            for key, count in self._top(place)
        ]
        names = (self._series.period, self._key, "noisy_count", "standard_error")
        return {name: [row[at] for row in rows] for at, name in enumerate(names)}

    def _top(self, place: int) -> list[tuple[Hashable, float]]:
        counts = self.running[place]
        best = largest(counts, self._series.k)
        return [(self._design.candidates[one], float(counts[one])) for one in best]

    @property
    def _key(self) -> str:
        return str(self._series.column)

    @property
    def _series(self) -> Any:  # noqa: ANN401 -- a Series, whose module imports this one
        if self.query is None:
            raise ParameterError("the release has no query, and so no periods")
        return self.query

    @property
    def _design(self) -> Any:  # noqa: ANN401 -- a SeriesDesign
        return self._series.made
