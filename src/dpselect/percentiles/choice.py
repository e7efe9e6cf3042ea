"""The method of a release of percentiles, chosen by public facts and a noisy number of records.

Let ``n`` be the number of records, ``N`` that of the candidates, and let the exponential choice
of a percentile have the epsilon ε and the sensitivity Δ. It can err by ``(2Δ/ε) ln N`` ranks:
where fewer records lie beyond the percentile, the empty candidates outweigh them, and the
answer is anything. Some ``1/SPREAD`` of the candidates are taken to be near enough. So it is
*drowned* if ``n t ε/(2Δ)`` is below ``DROWNED ln(N/SPREAD)``, with the share ``t`` of the
records beyond. AboveThreshold visits logarithmically many candidates.

The first of these that holds is taken:

1. One percentile, candidates that do not increase, or ``EXACT`` Δ of epsilon for each: *one by
   one*, each by rank, but by AboveThreshold if it is drowned, or quiet above ``100 - TAIL``.
2. Some are within ``TAIL`` of an end, so many records beyond these that no false alarm is
   likely before them, none between drowns, and the error is less than one by one, and by
   halves: *from both ends* (``ends_first``). It is ``PARTS`` times the levels of those
   between, where by halves it is ``GAINS`` times the levels of all, and one by one their
   number.
3. Three or more, and no draw drowns: *by halves* (``binary_tree``).
4. Three or more, of which less than half are near an end: *bins* (``bins``).
5. Others: one by one.

AboveThreshold comes from the side of the few, where its noise is half as large, if the records
there are ``_quiet`` many noises; else from that of the many, if these are; else upwards, since
a false alarm there is off by no more than the percentile itself.

No method is taken where it cannot be right: shares of the recursion, and bins, err at any
epsilon by a part of the records of a place, and parts from both ends are visited candidates. So
from ``EXACT`` on all are drawn one by one, and ranges that are not listed have no parts.

*The noisy number* costs ``SHARE`` of epsilon, and is released. The method is that of the
nearest power of ``√2``, less ``CAUTION`` scales of the noise, so the distribution of the whole
is a sum over few methods. One step changes the number by at most the records of a person, and
discrete Laplace noise makes it private; the second step is private for every number. Their
epsilons add up.

The constants of the ends were chosen by exact distributions over five shapes (even, normal,
exponential, lognormal and a heavier one) in ranges that are 1, 10 and 300 times as wide; those
of the number, of what drowns and of bins by releases of 15 to 1,000 normal, gamma, Pareto,
zero-inflated and Likert values. ``benchmarks/percentiles_default.py`` has none of these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, log, log2
from typing import get_args

import numpy as np

from dpselect import validation
from dpselect.draws.exact.noisy_counts import LARGEST_SCALE, discrete_laplace, scale_for
from dpselect.errors import ParameterError
from dpselect.mechanisms import (
    ExponentialMechanism,
    Mechanism,
    MechanismLike,
    PermuteAndFlip,
    by_name,
)
from dpselect.neighbours import Neighbours
from dpselect.objective import Facts
from dpselect.percentiles.binary_tree import Recursive
from dpselect.percentiles.bins import ByBins
from dpselect.percentiles.ends_first import EndsFirst
from dpselect.percentiles.intervals import laplace_upto
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.range_halves import RecursiveOfRange
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.ranks import Ranks
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import (
    PROPORTIONAL,
    Answer,
    ByPieces,
    ByRank,
    Method,
    MethodName,
    OneByOne,
    Single,
    named,
)
from dpselect.percentiles.split_tree import price_of_draw, split_tree
from dpselect.percentiles.thresholds import ByThreshold, parts_of_record
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

PARTS = 1.5
"""The error from both ends inwards, of one level, relative to that of a percentile alone."""

GAINS = ((1.0, 1.7), (5.0, 1.5), (TAIL, 1.2))
"""Error by ranks of percentiles up to so near to 100, relative to that from the side."""

EXACT = 4.0
"""Epsilon of each percentile, per rank that one step moves, from which on all are drawn one by
one: noise is then about a record, and less than the parts of a place in the recursion."""

RECURSIVE_FROM = 3
"""Percentiles from which on the levels of the recursion are fewer than the percentiles."""

SHARE = 0.06
"""Share of epsilon for the number of records."""

LARGEST = 96
"""Size (``size_of``) of the largest number of records that is told apart."""

CAUTION = 1.5
"""Scales of the noise that are taken off the number: what is wrong for too many records can be
off by the whole range, and what is wrong for too few by the distance from the end."""

NEGLIGIBLE = 1e-15
"""Numbers that are less likely are left out of distributions."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Choice:
    """Public arguments by which the method is chosen.

    Attributes:
        percents: The percentiles, increasing.
        points: The candidates.
        records: How records are read.
        epsilon: Epsilon of the percentiles.
        mechanism: How a value is drawn, if that is given.
    """

    percents: tuple[float, ...]
    points: Values | Range
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
            if name == "above-threshold" and self.mechanism is not None:
                raise ParameterError(f"`method`={name!r} has no other `mechanism`")
        if name == "above-threshold":
            return OneByOne(tuple(self._by_threshold(p, None) for p in self.percents))
        if name == "recursive":
            if not self._increase:
                raise ParameterError(f"`candidates` must increase for `method`={name!r}")
            if type(self._mechanism(self.percents[0])) not in PROPORTIONAL:
                raise ParameterError(
                    "`method`='recursive' needs the `mechanism` 'exponential', "
                    "'permute-and-flip' or 'noisy-max'"
                )
            return self._halves()
        return OneByOne(tuple(map(self._by_rank, self.percents)))

    def of_number(self, records: float) -> Method:
        """Return the method for a number of records; a function of public numbers."""
        several = len(self.percents)
        singles = tuple(self._single(p, records) for p in self.percents)
        exact = all(self._each >= EXACT * self.records.rank_bound(p) for p in self.percents)
        if several == 1 or exact or not self._increase:
            return OneByOne(singles)
        if (ends := self._from_ends(records)) is not None:
            return ends
        if several >= RECURSIVE_FROM:
            if not self._drowned(self.percents, records):
                return self._halves()
            near = sum(abs(p - 50) >= 50 - TAIL for p in self.percents)
            exact = self.epsilon >= EXACT * several.bit_length() * self.records.per_user
            if 2 * near < several and not exact:
                return ByBins(self.percents, self.points, self.records, self.epsilon, records)
        return OneByOne(singles)

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
        return scale_for(self._each, 3 * self.records.per_user * parts)

    @property
    def _increase(self) -> bool:
        """Whether the candidates increase."""
        return isinstance(self.points, Range) or bool((np.diff(self.points) > 0).all())

    def _halves(self) -> Method:
        of = self.records, self.epsilon
        if isinstance(self.points, Range):
            return RecursiveOfRange(self.percents, self.points, *of)
        return Recursive(self.percents, self.points, *of, self.mechanism or "permute-and-flip")

    def _from_ends(self, records: float) -> EndsFirst | None:
        """Return the method from both ends, if it is quiet and nothing between them drowns."""
        if isinstance(self.points, Range):
            return None
        # Where records are dense, ranks are as good from the side of the many.
        low = sum(
            p <= TAIL and _beyond(p, records) * self.epsilon < MANY for p in self.percents
        )
        high = len(self.percents) - sum(p >= 100 - TAIL for p in self.percents)
        below, middle, above = (
            self.percents[:low],
            self.percents[low:high],
            self.percents[high:],
        )
        if not (below or above):
            return None
        by_halves = inf
        if len(self.percents) >= RECURSIVE_FROM and not self._drowned(self.percents, records):
            by_halves = _levels(self.percents) * self._gain(records)
        if PARTS * max(_levels(middle), 1) >= min(by_halves, len(self.percents)):
            return None
        by = EndsFirst(below, middle, above, self.points, self.records, self.epsilon, records)
        outermost = [*below[:1], *above[-1:]]
        if any(_beyond(p, records) < by.noise_scale * self._quiet for p in outermost):
            return None
        open_to = (not below, not above)
        return None if self._drowned(middle, records, open_to) else by

    def _gain(self, records: float) -> float:
        """Return how many times the error by ranks of the highest is that from the side."""
        last = self.percents[-1]
        if _beyond(last, records) * self.epsilon >= MANY:
            return 1.0
        return next((gain for near, gain in GAINS if 100 - last <= near), 1.0)

    @property
    def _needed(self) -> float:
        """The score of the records beyond a percentile up to which its draw by rank drowns."""
        return DROWNED * log(max(len(self.points) / SPREAD, 1.0))

    @property
    def _quiet(self) -> float:
        """Scales of noise that records must have for AboveThreshold to pass none of them by."""
        return max(LEAST_NOISES, MARGIN * log(len(self.points)))

    def _drowned(
        self,
        percents: tuple[float, ...],
        records: float,
        open_to: tuple[bool, bool] = (True, True),
    ) -> bool:
        """Return whether a draw by halves drowns.

        Args:
            percents: Those by halves.
            records: The number of records.
            open_to: Whether candidates reach to the lowest, and to the highest of all.
        """
        if not percents:
            return False
        needed, of = self._needed, self.records
        tree = split_tree(tuple(p / 100 for p in percents), self.epsilon)
        low_open, high_open = open_to
        for node, low, high in tree.ends(low=low_open, high=high_open):
            p = percents[node.position]
            relation = of.neighbours if node.level == 1 else Neighbours.ADD_REMOVE
            moved = 2 * of.per_user * rank_bound(node.fraction, relation)
            share = min(p if low else 100.0, 100 - p if high else 100.0) / 100
            if share * records * price_of_draw(node, of.neighbours) / moved < needed:
                return True
        return False

    def _single(self, p: float, records: float) -> Single:
        """Return one percentile by rank or by AboveThreshold."""
        beyond = _beyond(p, records)
        score = beyond * self._each / (2 * self.records.rank_bound(p))
        # Of a range AboveThreshold visits few candidates: it is taken only where ranks drown.
        is_listed = not isinstance(self.points, Range)
        is_tail = is_listed and 100 - p <= TAIL and beyond * self._each < MANY
        from_side = self._by_threshold(p, records)
        # From the side of the few, where that is quiet.
        return (
            from_side
            if score < self._needed or (is_tail and from_side.share < Fraction(1, 2))
            else self._by_rank(p)
        )

    def _by_rank(self, p: float) -> Single:
        draw = self._mechanism(p)
        if isinstance(self.points, Range):
            return ByPieces(p, self.points, self.records, draw)
        return ByRank(p, self.points, self.records, draw)

    def _by_threshold(self, p: float, records: float | None) -> ByThreshold:
        """Return AboveThreshold of a percentile, from the side that suits it."""
        of = p, self.points, self.records, self._each
        beyond = None if records is None else _beyond(p, records)
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
        if isinstance(self.points, Range):
            draw = by_name(self.mechanism or "exponential", self._each)
            if not isinstance(draw, ExponentialMechanism):
                raise ParameterError(
                    f"a range of so many values is drawn by the `mechanism` 'exponential', not "
                    f"{draw.name!r}"
                )
            return draw
        if self.mechanism is None:
            return PermuteAndFlip(epsilon=self._each)
        bound = GlobalSensitivity(self.records.rank_bound(p), self.records.neighbours)
        facts = Facts(
            candidates=len(self.points),
            sensitivity=bound,
            highest=0.0,
            direction="non-decreasing",
        )
        return by_name(self.mechanism, self._each).for_objective(facts)


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
        epsilon = SHARE * choice.epsilon
        made = cls(replace(choice, epsilon=choice.epsilon - epsilon), epsilon)
        # Whatever the number is, the method can be drawn.
        if max(made.scale, made.choice.largest_scale) > LARGEST_SCALE:
            raise ParameterError("`epsilon` is too small for any number of records")
        return made

    @property
    def points(self) -> Values | Range:  # type: ignore[override] # those of the choice
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

    def probabilities(self, numbers: Numbers) -> Probabilities:
        points = np.asarray(self.points)
        chances = chances_of_sizes(int(numbers.ranks(points).numbers[0]), self.scale)
        law = np.zeros((len(self.choice.percents), points.size))
        for size in np.flatnonzero(chances > NEGLIGIBLE).tolist():
            law += chances[size] * self.of_size(size).probabilities(numbers)
        return law

    def of_size(self, size: int) -> Method:
        """Return the method of numbers of a size."""
        return self.choice.of_number(max(2 ** (size / 2) - CAUTION * self.scale, 1.0))

    def choosing(self, numbers: Numbers) -> Callable[[], tuple[Method, int]]:
        """Count all that any method needs, and return the draw of the method and of the number.

        Raises:
            ColumnError, DataError: As for the release.
        """
        records = np.array([numbers.number(self.points)])

        def choose() -> tuple[Method, int]:
            noisy = int(discrete_laplace(records, self.scale)[0])
            return self.of_size(size_of(noisy)), noisy

        return choose

    def prepare(self, numbers: Numbers, records: int = 0) -> Callable[[], Answer]:  # noqa: ARG002
        choose = self.choosing(numbers)

        def draw() -> Answer:
            chosen, noisy = choose()
            return chosen.prepare(numbers, noisy)()

        return draw

    def prepare_groups(self, ranks: Ranks, records: Indices) -> Callable[[], Values]:  # noqa: ARG002
        return lambda: self.of_groups(ranks)[0]

    def of_groups(self, ranks: Ranks) -> tuple[Values, Indices]:
        """Draw the values of each group, shape ``(groups, m)``, and its noisy number."""
        noisy = discrete_laplace(ranks.numbers, self.scale)
        sizes = np.array([size_of(one) for one in noisy.tolist()])
        found = np.empty((sizes.size, len(self.choice.percents)))
        for size in np.unique(sizes).tolist():
            which = np.flatnonzero(sizes == size)
            method = self.of_size(size)
            found[which] = method.prepare_groups(ranks.some(which), noisy[which])()
        return found, noisy


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


def _beyond(p: float, records: float) -> float:
    """Return the records beyond a percentile, on the side of the few."""
    return min(p, 100 - p) / 100 * records


def _levels(percents: tuple[float, ...]) -> int:
    """Return the levels of percentiles by halves."""
    return len(percents).bit_length()
