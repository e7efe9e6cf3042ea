"""Several percentiles of few records from noisy counts of few bins.

Candidates at distances from 0 that grow by a public factor are the ends of bins, as many as a
number of records and epsilon can pay for. All counts get discrete Laplace noise, running sums
are made monotone, and a percentile is interpolated, up to the next candidate. The noise is the
same for one percentile and for a hundred.

Guarantee:
    A record is in one bin: one more changes one count by 1, and one that is replaced two. A
    person with up to ``m`` records changes ``m`` times as much in all. What is done with the
    noisy counts afterwards is public.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpselect.budget.zcdp import rho_of_pure
from dpselect.draws.exact.noisy_counts import check_scale, discrete_laplace, scale_for
from dpselect.neighbours import Neighbours
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import Answer, Method
from dpselect.percentiles.thresholds import growing
from dpselect.plan import Spend
from dpselect.typing import Indices, Values

FEWEST, MOST, RECORDS = 16, 256, 3.0
"""Bins: at least, at most, and how many records each has, in scales of its noise."""

ROUNDING = 1e-12
"""More than what floats lose of a value, as a part of it."""


@dataclass(frozen=True, eq=False)
class ByBins(Method):
    """Percentiles from noisy counts of bins.

    Attributes:
        percents: In [1, 100], increasing.
        points: The candidates, increasing.
        records: How records are read.
        epsilon: Epsilon of the whole release, in nats.
        assumed: About how many records there are.

    Raises:
        ParameterError: Epsilon is too small.
    """

    percents: tuple[float, ...]
    points: Values | Range
    records: Records
    epsilon: float
    assumed: float

    def __post_init__(self) -> None:
        check_scale(self.scale)

    @property
    def changed(self) -> int:
        """By how much one neighbour step changes all counts together."""
        replaced = self.records.neighbours is Neighbours.SUBSTITUTE
        return self.records.per_user * (2 if replaced else 1)

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return scale_for(self.epsilon, self.changed)

    @cached_property
    def ends(self) -> Values:
        """The upper ends of the bins, ascending; the last one has all that is above, too."""
        bins = int(np.clip(self.assumed / self.scale / RECORDS, FEWEST, MOST))
        grids = (growing(self.points, most) for most in range(2 * bins, 0, -(bins // 16)))
        return next(grid for grid in grids if grid.size <= bins)

    @property
    def ranked(self) -> tuple[Values | None, ...]:
        return (None if isinstance(self.points, Range) else self.ends,)

    @property
    def mechanism(self) -> str:
        return f"discrete Laplace noise (scale={self.scale!r}) on {self.ends.size} bins"

    @property
    def spends(self) -> tuple[Spend, ...]:
        # rho grows faster than epsilon: most if all records of a person are in one bin.
        most = self.records.per_user
        rho = self.changed / most * rho_of_pure(most / self.scale)
        return (Spend("noise on the counts of all bins", self.epsilon, rho=rho),)

    def answers(self, noisy: Indices) -> Values:
        """Return the percentiles of noisy counts, shape ``(groups, bins)``, a row for each."""
        sums = np.cumsum(noisy.astype(np.float64), axis=1)
        highest = np.maximum.accumulate(sums, axis=1)
        lowest = np.minimum.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
        parts = np.array(self.percents) / 100
        # Between the sums next to each: an empty bin has no part in it.
        found = [
            np.interp(0.5 + parts * max(row[-1] - 1, 0), row, self.ends)
            for row in (highest + lowest) / 2
        ]
        return self._upto(np.array(found))

    def _upto(self, values: Values) -> Values:
        """Return the first candidates that are not below; all records may have values of these.

        So a bin of one candidate has its records there, whatever part of them is wanted.
        """
        points, values = self.points, values - ROUNDING * np.abs(values)
        if isinstance(points, np.ndarray):
            return points[points.searchsorted(values).clip(max=points.size - 1)]
        places = points.places(values.ravel())
        places = (places + (points.at(places) < values.ravel())).clip(max=len(points) - 1)
        return points.at(places).reshape(values.shape)

    def counts(self, ranks: Ranks) -> Indices:
        """Return the counts of the bins, by ranks of their ends; private."""
        upto = np.concatenate([ranks.upto[:, :-1], ranks.numbers[:, None]], axis=1)
        return np.diff(upto, axis=1, prepend=0)

    def prepare(self, numbers: Numbers, records: int = 0) -> Callable[[], Answer]:  # noqa: ARG002
        counts = self.counts(numbers.ranks(self.points, self.ends))
        return lambda: tuple(self.answers(discrete_laplace(counts, self.scale))[0].tolist())

    def prepare_groups(self, ranks: Ranks, records: Indices) -> Callable[[], Values]:  # noqa: ARG002
        counts = self.counts(ranks.among(np.asarray(self.points), self.ends))
        return lambda: self.answers(discrete_laplace(counts, self.scale))
