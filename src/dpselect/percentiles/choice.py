"""The method of a release of percentiles, chosen by public facts and a noisy number of records.

Let ``n`` be the number of records, ``N`` that of the candidates, and let the exponential choice
of a percentile have the epsilon ε and the sensitivity Δ. It can err by ``(2Δ/ε) ln N`` ranks:
where fewer records lie beyond the percentile, the empty candidates outweigh them, and the
answer is anything. Some ``1/SPREAD`` of the candidates are taken to be near enough. So it is
*drowned* if ``n t ε/(2Δ)`` is below ``DROWNED ln(N/SPREAD)``, with the share ``t`` of the
records beyond. AboveThreshold is *quiet* if the records that it looks for are ``LEAST_NOISES``
scales of its noise, and ``MARGIN ln N``: then no false alarm is likely before.

| percentiles | records | method |
| --- | --- | --- |
| several | beyond the outermost ones as many as are quiet | in parts (``sparse_vector``) |
| several, less than half near an end | fewer | bins (``methods``) |
| others | not drowned, nor quiet above ``100 - TAIL`` | each by rank |
| | else | each by AboveThreshold |

AboveThreshold comes from the side of the few, where its noise is half as large, if that is
quiet; else from that of the many, if that is; else upwards, since a false alarm there is off by
no more than the percentile itself. Bins err at any epsilon by a part of their width, so they
are not taken from ``EXACT`` on.

*The noisy number* costs ``SHARE`` of epsilon, twice that for several percentiles, and is
released. The method is that of the
nearest power of ``√2``, less ``CAUTION`` scales of the noise, so the distribution of the whole
is a sum over few methods. One step changes the number by at most the records of a person, and
discrete Laplace noise makes it private; the second step is private for every number. Their
epsilons add up.

*A range too long to list* is drawn from few cells that grow from 0 on, in which records count
as at a candidate; ``REFINED`` of epsilon then draws by rank among the candidates of the cell.
It is private for every cell, so its epsilon is added.

``benchmarks/percentiles_default.py`` compares the choice with each method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, log, log2
from typing import NamedTuple, get_args

import numpy as np

from dpselect import validation
from dpselect.draws.exact.noisy_counts import LARGEST_SCALE, scale_for
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, MechanismLike, PermuteAndFlip, by_name
from dpselect.objective import Facts
from dpselect.percentiles.candidates import Range
from dpselect.percentiles.intervals import laplace_upto
from dpselect.percentiles.methods import (
    EXACT as BY_SAMPLERS,
    ByBins,
    ByRank,
    Draws,
    Method,
    MethodName,
    OneByOne,
    Single,
    named,
    unit_scores,
)
from dpselect.percentiles.reading import Places, Ranks, Records
from dpselect.percentiles.sparse_vector import ByThreshold, InParts, parts_of_record
from dpselect.plan import Spend
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Indices, Probabilities, Values

DROWNED, SPREAD = 2.0, 10.0
"""Scores of the records beyond a percentile, in logarithms of the number of candidates over
``SPREAD``, up to which the exponential choice drowns."""

TAIL = 15.0
"""Percentiles that are as near to an end are near it."""

MANY = 1000.0
"""Records beyond a percentile times epsilon, from which on ranks are as good at the side."""

LEAST_NOISES, MARGIN = 10.0, 1.5
"""Records that AboveThreshold looks for, in scales of the noise on a count, from which on no
false alarm is likely before: at least ``LEAST_NOISES``, and ``MARGIN`` times the logarithm of
the number ``N`` of candidates. One at the far candidates then has a probability of about
``N ** -MARGIN``."""

EXACT = 4.0
"""Epsilon of each of the binary digits of the number of percentiles, per record of a person,
from which on no bins are taken: noise is then less than their width."""

SHARE = 0.06
"""Share of epsilon for the number of records, of one percentile; of several twice as much,
since ranks in parts are counted from the number."""

LARGEST = 96
"""Size (``size_of``) of the largest number of records that is told apart."""

CAUTION = 1.5
"""Scales of the noise that are taken off the number: what is wrong for too many records can be
off by the whole range, and what is wrong for too few by the distance from the end."""

NEGLIGIBLE = 1e-15
"""Numbers that are less likely are left out of distributions."""

REFINED = 0.25
"""Share of epsilon for the draw within a cell of a range."""

CELLS, AT_ONCE = 2**15, 2**19
"""Cells of a range on each side of 0, about, and candidates of one that are listed at once."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Choice:
    """Public arguments by which the method is chosen.

    Attributes:
        percents: The percentiles, increasing.
        points: The candidates, increasing.
        records: How records are read.
        epsilon: Epsilon of the percentiles.
        mechanism: How a value is drawn, if that is given.
    """

    percents: tuple[float, ...]
    points: Values
    records: Records
    epsilon: float
    mechanism: MechanismLike | None = None

    def __post_init__(self) -> None:
        if len(self.percents) > len(self.points):
            raise ParameterError(
                f"{len(self.percents)} percentiles need as many candidates, not "
                f"{len(self.points)}"
            )

    def method(self, name: MethodName | None) -> Method:
        """Return the method of a release: the one that was named, if one was.

        Raises:
            ParameterError: It is unknown or does not fit the other arguments.
        """
        if name is None and self.mechanism is None:
            return AfterCount.of(self)
        if name is not None:
            validation.one_of("method", name, get_args(MethodName))
        if name == "above-threshold":
            if self.mechanism is not None:
                raise ParameterError(f"`method`={name!r} has no other `mechanism`")
            return OneByOne(tuple(self._by_threshold(p, None) for p in self.percents))
        return OneByOne(tuple(map(self._by_rank, self.percents)))

    def of_number(self, records: float) -> Method:
        """Return the method for a number of records; a function of public numbers."""
        of, several = (self.points, self.records, self.epsilon, records), len(self.percents)
        if several > 1:
            in_parts = InParts(self.percents, *of)
            fewest = min(min(p, 100 - p) for p in self.percents) / 100 * records
            if fewest >= in_parts.noise_scale(is_last=False) * self._quiet:
                return in_parts
            near = sum(abs(p - 50) >= 50 - TAIL for p in self.percents)
            most = EXACT * several.bit_length() * self.records.per_user
            if 2 * near < several and self.epsilon < most:
                return ByBins(self.percents, *of)
        return OneByOne(tuple(self._single(p, records) for p in self.percents))

    @property
    def _each(self) -> float:
        """The epsilon of one percentile, one by one."""
        return self.epsilon / len(self.percents)

    @property
    def largest_scale(self) -> float:
        """A scale that no noise of the methods for any number of records exceeds.

        None has less epsilon than one percentile. Of that, noise in parts of a record
        (``ByThreshold``) has a scale of at most 3 times what one step moves.
        """
        parts = max(parts_of_record(p).denominator for p in self.percents)
        return scale_for(self._each, 3 * self.records.changed * parts)

    @property
    def _quiet(self) -> float:
        """Scales of noise that records must have for AboveThreshold to pass none of them by."""
        return max(LEAST_NOISES, MARGIN * log(len(self.points)))

    def _single(self, p: float, records: float) -> Single:
        """Return one percentile by rank or by AboveThreshold."""
        beyond = min(p, 100 - p) / 100 * records
        score = beyond * self._each / (2 * self.records.rank_bound(p))
        is_drowned = score < DROWNED * log(max(len(self.points) / SPREAD, 1.0))
        is_tail = 100 - p <= TAIL and beyond * self._each < MANY
        from_side = self._by_threshold(p, records)
        # From the side of the few, where that is quiet.
        if is_drowned or (is_tail and from_side.share < Fraction(1, 2)):
            return from_side
        return self._by_rank(p)

    def _by_rank(self, p: float) -> ByRank:
        return ByRank(p, self.points, self.records, self._mechanism(p))

    def _by_threshold(self, p: float, records: float | None) -> ByThreshold:
        """Return AboveThreshold of a percentile, from the side that suits it."""
        of = p, self.points, self.records, self._each
        beyond = None if records is None else min(p, 100 - p) / 100 * records
        upwards = ByThreshold(*of, upwards=True, beyond=beyond)
        if records is None or upwards.share == 1:
            return upwards
        few_first = sorted([upwards, replace(upwards, upwards=False)], key=lambda by: by.share)
        for by in few_first:
            if by.records_per_noise(float(by.share) * records) >= self._quiet:
                return by
        return upwards

    def _mechanism(self, p: float) -> Mechanism:
        """Return the mechanism of one percentile, by what a neighbour step moves its scores."""
        if self.mechanism is None:
            return PermuteAndFlip(epsilon=self._each)
        facts = Facts(
            candidates=len(self.points),
            sensitivity=GlobalSensitivity(self.records.rank_bound(p), self.records.neighbours),
            highest=0.0,
            direction="non-decreasing",
        )
        return by_name(self.mechanism, self._each).for_objective(facts)


class Drawn(NamedTuple):
    """Values of groups, shape ``(groups, m)``; with how each was drawn, if a number chose it.

    ``records`` are the noisy numbers of the groups, and ``chosen`` the mechanisms.
    """

    values: Values
    records: Sequence[int | None]
    chosen: Sequence[str | None]


@dataclass(frozen=True, eq=False)
class AfterCount(Method):
    """The method that a noisy number of records chooses, which is released.

    Attributes:
        choice: Choice of the methods, with what is left of epsilon.
        epsilon: Epsilon of the number of records.
    """

    choice: Choice
    epsilon: float

    @classmethod
    def of(cls, choice: Choice) -> AfterCount:
        """Return it with a share of epsilon for the number of records.

        Raises:
            ParameterError: Epsilon is too small.
        """
        epsilon = SHARE * min(len(choice.percents), 2) * choice.epsilon
        made = cls(replace(choice, epsilon=choice.epsilon - epsilon), epsilon)
        # Whatever the number is, the method can be drawn.
        if max(made.scale, made.choice.largest_scale) > LARGEST_SCALE:
            raise ParameterError("`epsilon` is too small for any number of records")
        return made

    @property
    def points(self) -> Values:  # type: ignore[override] # those of the choice
        return self.choice.points

    @property
    def scale(self) -> float:
        """Scale of the noise on the number."""
        return scale_for(self.epsilon, self.choice.records.per_user)

    @property
    def mechanism(self) -> str:
        return f"method chosen by a noisy number of records (scale={self.scale!r})"

    @property
    def spends(self) -> tuple[Spend, ...]:
        return (
            Spend("number of records", self.epsilon),
            Spend(named(self.choice.percents), self.choice.epsilon),
        )

    def probabilities(self, ranks: Ranks) -> Probabilities:
        chances = chances_of_sizes(int(ranks.numbers[0]), self.scale)
        return sum(
            chances[size] * self.of_size(size).probabilities(ranks)
            for size in np.flatnonzero(chances > NEGLIGIBLE).tolist()
        )

    def of_size(self, size: int) -> Method:
        """Return the method of numbers of a size."""
        return self.choice.of_number(max(2 ** (size / 2) - CAUTION * self.scale, 1.0))

    def draw(self, ranks: Ranks, records: Indices, by: Draws = BY_SAMPLERS) -> Values:  # noqa: ARG002
        return self.drawn(ranks, by).values

    def drawn(self, ranks: Ranks, by: Draws = BY_SAMPLERS) -> Drawn:
        """Draw the values of each group, with its noisy number and what that chose."""
        noisy = by.laplace(ranks.numbers, self.scale)
        sizes = np.array([size_of(one) for one in noisy.tolist()])
        values = np.empty((sizes.size, len(self.choice.percents)))
        chosen = np.empty(sizes.size, dtype=object)
        for size in np.unique(sizes).tolist():
            which = np.flatnonzero(sizes == size)
            method = self.of_size(size)
            values[which] = method.draw(ranks.some(which), noisy[which], by)
            chosen[which] = method.mechanism
        return Drawn(values, noisy.tolist(), chosen.tolist())


@dataclass(frozen=True, eq=False)
class Refined:
    """Percentiles among the candidates of cells of a range, by rank.

    Attributes:
        percents: The percentiles.
        points: The range.
        records: How records are read.
        epsilon: Epsilon of all of them.
    """

    percents: tuple[float, ...]
    points: Range
    records: Records
    epsilon: float

    @cached_property
    def edges(self) -> Indices:
        """The first position of each cell, and the number of all candidates."""
        return self.points.cells(CELLS)

    @property
    def first(self) -> Values:
        """The first candidate of each cell."""
        return self.points.at(self.edges[:-1])

    @property
    def each(self) -> float:
        """Epsilon of each draw: of as many for a percentile as the widest cell needs."""
        draws, width = 1, int(np.diff(self.edges).max())
        while width > AT_ONCE:
            draws, width = draws + 1, ceil(width / AT_ONCE)
        return self.epsilon / (len(self.percents) * draws)

    @property
    def spend(self) -> Spend:
        """What all of them cost."""
        return Spend("candidates of a cell, by rank", self.epsilon)

    def draw(self, cells: Values, places: Places, by: Draws = BY_SAMPLERS) -> Values:
        """Draw a candidate of each cell, ascending, for the first ones of the cells."""
        at = np.searchsorted(self.first, cells)
        drawn = [
            self._within(p, int(self.edges[one]), int(self.edges[one + 1]), places, by)
            for p, one in zip(self.percents, at.tolist(), strict=True)
        ]
        return self.points.at(sorted(drawn))

    def _within(self, p: float, low: int, high: int, places: Places, by: Draws) -> int:
        """Draw a position from ``low`` to before ``high``."""
        bound = self.records.rank_bound(p)
        while high - low > 1:
            edges = np.linspace(low, high, min(AT_ONCE, high - low) + 1).astype(np.int64)
            points = self.points.at(edges[:-1])
            scores = unit_scores(places.ranks(edges), p=p, points=points, bound=bound)
            [at] = by.largest(scores, self.each)
            low, high = int(edges[at]), int(edges[at + 1])
        return low


def size_of(records: int) -> int:
    """Return the logarithm of a number to the base ``√2``, rounded; 0 of less than one."""
    return min(round(2 * log2(max(records, 1))), LARGEST)


def chances_of_sizes(records: int, scale: float) -> Probabilities:
    """Return the probability of every size of a noisy number; shape ``(LARGEST + 1,)``.

    Args:
        records: The number.
        scale: Scale of its noise.
    """
    # The largest number of each size but the last, which has no bound.
    ends = 2.0 ** (np.arange(LARGEST) / 2 + 0.25)
    upto = laplace_upto(np.floor(ends) - records, scale)
    return np.diff(upto, prepend=0.0, append=1.0)
