"""The method of a release of percentiles, chosen by public facts alone.

Let ``n`` be the number of records, assumed or noisy, ``N`` that of the candidates, and let the
exponential choice of a percentile have the epsilon ε and the sensitivity Δ. It can err by
``(2Δ/ε) ln N`` ranks: where fewer records lie beyond the percentile, the empty candidates
outweigh them, and the answer is anything. So it is *drowned* if ``n t ε/(2Δ)`` is below
``DROWNED`` ``ln N``, with the share ``t`` of the records beyond. AboveThreshold visits
logarithmically many candidates.

*One by one*, a percentile that is drowned is found by AboveThreshold from the lowest candidate
upwards, since a false alarm there is off by no more than the percentile itself; a high one is
found from the side of the few if the noise allows it. So are those above ``100 - TAIL``, where
the noise is half as large from that side. All others are drawn by rank.

*By halves*, ``m`` percentiles cost the ``⌈log_2(m + 1)⌉`` levels of a binary tree. Only draws
at an end of the candidates can drown; others are between two released values. Percentiles that
would are taken out and drawn one by one, and so are high ones where that is less. With ``u``
levels and percentiles that are taken out, each pays for ``ε/u``, and errs about ``u`` times as
much as it would alone, a high one ``GAINS`` times more by halves. The split with the least of
the worst of these is taken.

*From both ends inwards* (``ends_first``), of listed candidates, each record pays for one
percentile near an end or for the halves between, so each has the whole epsilon, less what noisy
counts of the parts take: in all ``PARTS`` times the error alone. It is taken where enough
records lie beyond the outermost percentile that no false alarm is likely before them.

*Noisy counts* are taken where many percentiles drown: their error does not grow with the
number of percentiles.

No method is taken where it cannot be right: shares of the recursion, and bins, err at any
epsilon by a part of the records of a place, and parts from both ends are visited candidates. So
from ``EXACT`` on all are drawn one by one, and ranges that are not listed have no parts.

*A noisy number* of records chooses where none is assumed and none is public: a small share of
epsilon pays for it, and what is left for the method. The number is rounded to a power of two,
by which methods differ little, so that the distribution of the whole is a sum over few methods.
One step changes the number by at most the records of a person, and discrete Laplace noise makes
it private; the second step is private for every number. Their epsilons add up.

All constants were chosen by exact distributions over five shapes (even, normal, exponential,
lognormal and a heavier one) in ranges that are 1, 10 and 300 times as wide
(``benchmarks/percentiles_default.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log, log2
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
from dpselect.percentiles.count_tree import ByCounts
from dpselect.percentiles.ends_first import EndsFirst
from dpselect.percentiles.intervals import laplace_upto
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.range_halves import RecursiveOfRange
from dpselect.percentiles.ranges import OPEN, Range
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
    Parts,
    Single,
)
from dpselect.percentiles.split_tree import price_of_draw, split_tree
from dpselect.percentiles.thresholds import ByThreshold, parts_of_record
from dpselect.plan import Spend
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Probabilities, Values

DROWNED = 1.7
"""Scores of the records beyond a percentile, in logarithms of the number of candidates, up to
which the exponential choice drowns."""

TAIL = 15.0
"""Percentiles that are as near to 100 are found from that side."""

MANY = 1000.0
"""Records beyond a percentile times epsilon, from which on ranks are as good at the side."""

LEAST_NOISES, MARGIN = 10.0, 1.5
"""Records beyond the percentile, in scales of the noise on a count, from which on
AboveThreshold visits them first: at least ``LEAST_NOISES``, and ``MARGIN`` times the logarithm
of the number ``N`` of candidates. A false alarm at one of the far candidates then has a
probability of about ``N ** -MARGIN``."""

GAINS = ((1.0, 1.7), (5.0, 1.5), (TAIL, 1.2))
"""Error by ranks of percentiles up to so near to 100, relative to that from the side."""

RECURSIVE_FROM = 3
"""Percentiles from which on the levels of the recursion are fewer than the percentiles."""

PARTS = 1.5
"""The error from both ends inwards, of one level, relative to that of a percentile alone."""

EXACT = 4.0
"""Epsilon of each percentile, per rank that one step moves, from which on all are drawn one by
one: noise is then about a record, and less than the parts of a place in the recursion."""

COUNTS_FROM = 6
"""Percentiles that drown from which on the tree of noisy counts errs less."""

CENTRAL = 25.0
"""One or two percentiles as far from both ends are drawn by rank if no number is assumed: they
drown among very few records alone, and a noisy number would cost them more than it gains."""


SHARE = 0.04
"""Share of epsilon for the noisy number."""

LARGEST = 48
"""Binary logarithm of the largest number of records that is told apart."""

NEGLIGIBLE = 1e-15
"""Numbers that are less likely are left out of distributions."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Choice:
    """Public arguments by which the method is chosen.

    Attributes:
        percents: The percentiles, increasing.
        points: The candidates.
        records: How records are read.
        epsilon: Epsilon of the whole release.
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

    def method(self, name: MethodName | None, assumed_records: int | None) -> Method:
        """Return the method of a release: the one that was named, if one was.

        Raises:
            ParameterError: It is unknown or does not fit the other arguments.
        """
        if assumed_records is not None:
            validation.at_least("assumed_records", assumed_records, 1, validation.EXACT)
        if name is not None:
            return self._named_method(name, assumed_records)
        if self.mechanism is not None:
            several = len(self.percents) >= RECURSIVE_FROM
            halves = several and self._is_proportional and self._increase
            return self._halves(self.percents, self.epsilon) if halves else self._one_by_one()
        if assumed_records is not None:
            return self.of_number(assumed_records)
        central = all(CENTRAL <= p <= 100 - CENTRAL for p in self.percents)
        if len(self.percents) < RECURSIVE_FROM and central:
            is_open = isinstance(self.points, Range) and len(self.points) >= OPEN
            single = self._by_threshold if is_open else self._by_rank
            return OneByOne(tuple(single(p, self._each, None) for p in self.percents))
        return AfterCount.of(self)

    def of_number(self, records: float) -> Method:
        """Return the method for a number of records."""
        if all(self._each >= EXACT * self.records.rank_bound(p) for p in self.percents):
            return OneByOne(tuple(self._single(p, self._each, records) for p in self.percents))
        taken, middle, ends = self._split(records)
        if middle:
            levels = _levels(middle, ends)
            units = len(taken) + levels
            halves = self._from_ends(middle, ends, self.epsilon * levels / units, records)
            each = {p: self._single(p, self.epsilon / units, records) for p in taken}
            below = tuple(each[p] for p in taken if p < middle[0])
            above = tuple(each[p] for p in taken if p > middle[-1])
            return Parts(below, halves, above) if taken else halves
        singles = tuple(self._single(p, self._each, records) for p in self.percents)
        drowned = [one for one in singles if isinstance(one, ByThreshold)]
        if len(drowned) >= COUNTS_FROM and self._increase:
            return ByCounts(self.percents, self.points, self.records, self.epsilon)
        return OneByOne(singles)

    @property
    def _each(self) -> float:
        """The epsilon of one percentile, one by one."""
        return self.epsilon / len(self.percents)

    @property
    def largest_scale(self) -> float:
        """A scale that no noise of the methods for any number of records exceeds.

        None has less epsilon than one percentile. Of that, noise in parts of a record
        (``ByThreshold``) has a scale of at most 3 times what one step moves, and the number of
        records (``EndsFirst``) one of 16 times that.
        """
        parts = max(parts_of_record(p).denominator for p in self.percents)
        return scale_for(self._each, 16 * self.records.per_user * parts)

    @property
    def _increase(self) -> bool:
        """Whether the candidates increase."""
        return isinstance(self.points, Range) or bool((np.diff(self.points) > 0).all())

    def _named_method(self, name: MethodName, assumed: int | None) -> Method:
        validation.one_of("method", name, get_args(MethodName))
        if name in {"above-threshold", "noisy-counts"} and self.mechanism is not None:
            raise ParameterError(f"`method`={name!r} has no other `mechanism`")
        if name in {"recursive", "noisy-counts"} and not self._increase:
            raise ParameterError(f"`candidates` must increase for `method`={name!r}")
        if name == "noisy-counts":
            return ByCounts(self.percents, self.points, self.records, self.epsilon)
        if name == "above-threshold":
            singles = (self._by_threshold(p, self._each, assumed) for p in self.percents)
            return OneByOne(tuple(singles))
        if name == "recursive":
            if not self._is_proportional:
                raise ParameterError(
                    "`method`='recursive' needs the `mechanism` 'exponential', "
                    "'permute-and-flip' or 'noisy-max'"
                )
            return self._halves(self.percents, self.epsilon)
        return self._one_by_one()

    @property
    def _is_proportional(self) -> bool:
        return type(self._mechanism(self.percents[0], self._each)) in PROPORTIONAL

    def _one_by_one(self) -> Method:
        return OneByOne(tuple(self._by_rank(p, self._each) for p in self.percents))

    def _halves(self, percents: tuple[float, ...], epsilon: float) -> Method:
        if isinstance(self.points, Range):
            return RecursiveOfRange(percents, self.points, self.records, epsilon)
        factory = self._named("permute-and-flip")
        return Recursive(percents, self.points, self.records, epsilon, factory)

    def _split(
        self, records: float
    ) -> tuple[tuple[float, ...], tuple[float, ...], tuple[int, int]]:
        """Return the percentiles drawn one by one, all others, and how many of these by parts.

        Returns:
            The percentiles one by one; those by halves or parts, if any; and how many of them
            are found by parts, from below and from above.
        """
        nothing: tuple[float, ...] = ()
        best, found = float(len(self.percents)), (self.percents, nothing, (0, 0))
        if not self._increase:
            return found
        for high in range(sum(p >= 100 - TAIL for p in self.percents) + 1):
            middle = self.percents[: len(self.percents) - high]
            ends = self._quiet_ends(middle, high, records)
            loss = PARTS * (high + _levels(middle, ends))
            if any(ends) and loss < best:
                best, found = loss, (self.percents[len(middle) :], middle, ends)
            while len(middle) >= max(RECURSIVE_FROM, len(self.percents) / 2):
                units = len(self.percents) - len(middle) + _levels(middle)
                drowned = self._drowned(middle, self.epsilon * _levels(middle) / units, records)
                if drowned:
                    middle = middle[1:] if drowned < 50 else middle[:-1]
                    continue
                loss = units * max(self._gain(p, records) for p in middle)
                if loss < best:
                    taken = tuple(p for p in self.percents if p not in middle)
                    best, found = loss, (taken, middle, (0, 0))
                break
        return found

    def _quiet_ends(
        self, percents: tuple[float, ...], taken: int, records: float
    ) -> tuple[int, int]:
        """Return how many percentiles are found by parts, from below and from above.

        Args:
            percents: All but those that are drawn one by one.
            taken: How many these are.
            records: The number of records.
        """
        # Where records are dense, ranks are as good from the side of the many.
        low = [p for p in percents if p <= TAIL and _beyond(p, records) * self.epsilon < MANY]
        ends = len(low), sum(p >= 100 - TAIL for p in percents)
        epsilon = self.epsilon / (taken + 1)
        by = self._from_ends(percents, ends, epsilon, records)
        if not isinstance(by, EndsFirst):
            return 0, 0
        outermost = [percents[0]] * bool(ends[0]) + [percents[-1]] * bool(ends[1])
        fewest = min(_beyond(p, records) for p in outermost)
        open_to = (not ends[0], not ends[1])
        drowned = self._drowned(by.middle, epsilon, records, open_to)
        return (0, 0) if drowned or fewest < by.noise_scale * self._quiet else ends

    @property
    def _quiet(self) -> float:
        """Scales of noise that records beyond a percentile must have, to be visited first."""
        return max(LEAST_NOISES, MARGIN * log(len(self.points)))

    def _from_ends(
        self, percents: tuple[float, ...], ends: tuple[int, int], epsilon: float, records: float
    ) -> Method:
        """Return the method of percentiles, of which some are found by parts."""
        if not any(ends) or isinstance(self.points, Range):
            return self._halves(percents, epsilon)
        low, high = ends[0], len(percents) - ends[1]
        return EndsFirst(
            below=percents[:low],
            middle=percents[low:high],
            above=percents[high:],
            points=self.points,
            records=self.records,
            epsilon=epsilon,
            assumed=records,
        )

    def _gain(self, p: float, records: float) -> float:
        """Return how many times the error by ranks is that of the best single method."""
        if (100 - p) / 100 * records * self.epsilon >= MANY:
            return 1.0
        return next((gain for near, gain in GAINS if 100 - p <= near), 1.0)

    def _drowned(
        self,
        percents: tuple[float, ...],
        epsilon: float,
        records: float,
        open_to: tuple[bool, bool] = (True, True),
    ) -> float:
        """Return the percentile nearest to an end that drowns by halves; 0 if none does.

        Args:
            percents: Those by halves.
            epsilon: Epsilon of all of them.
            records: The number of records.
            open_to: Whether candidates reach to the lowest, and to the highest of all.
        """
        needed, of = DROWNED * log(len(self.points)), self.records
        found = 0.0
        if not percents:
            return found
        tree = split_tree(tuple(p / 100 for p in percents), epsilon)
        low_open, high_open = open_to
        for node, low, high in tree.ends(low=low_open, high=high_open):
            p = percents[node.position]
            relation = of.neighbours if node.level == 1 else Neighbours.ADD_REMOVE
            moved = 2 * of.per_user * rank_bound(node.fraction, relation)
            share = min(p if low else 100.0, 100 - p if high else 100.0) / 100
            score = share * records * price_of_draw(node, of.neighbours) / moved
            if score < needed and abs(p - 50) >= abs((found or 50) - 50):
                found = p
        return found

    def _single(self, p: float, epsilon: float, records: float) -> Single:
        """Return one percentile by rank or by AboveThreshold."""
        beyond = _beyond(p, records)
        score = beyond * epsilon / (2 * self.records.rank_bound(p))
        # Of a range AboveThreshold visits few candidates: it is taken only where ranks drown.
        is_listed = not isinstance(self.points, Range)
        is_tail = is_listed and 100 - p <= TAIL and beyond * epsilon < MANY
        if score < DROWNED * log(len(self.points)) or is_tail:
            return self._by_threshold(p, epsilon, records)
        return self._by_rank(p, epsilon)

    def _by_rank(self, p: float, epsilon: float, _records: float | None = None) -> Single:
        draw = self._mechanism(p, epsilon)
        if isinstance(self.points, Range):
            return ByPieces(p, self.points, self.records, draw)
        return ByRank(p, self.points, self.records, draw)

    def _by_threshold(self, p: float, epsilon: float, records: float | None) -> ByThreshold:
        """Return AboveThreshold of a percentile, from the side that suits it."""
        beyond = None if records is None else _beyond(p, records)
        of = p, self.points, self.records, epsilon
        usual = ByThreshold(*of, upwards=True, beyond=beyond)
        if beyond is None or p <= 50 or usual.share == 1:
            return usual
        from_few = replace(usual, upwards=False)
        return from_few if from_few.records_per_noise(beyond) >= self._quiet else usual

    def _named(self, usual: str) -> MechanismLike:
        return usual if self.mechanism is None else self.mechanism

    def _mechanism(self, p: float, epsilon: float) -> Mechanism:
        """Return the mechanism of one percentile, by what a neighbour step moves its scores."""
        if isinstance(self.points, Range):
            draw = by_name(self._named("exponential"), epsilon)
            if not isinstance(draw, ExponentialMechanism):
                raise ParameterError(
                    f"a range of so many values is drawn by the `mechanism` 'exponential', not "
                    f"{draw.name!r}"
                )
            return draw
        if self.mechanism is None:
            return PermuteAndFlip(epsilon=epsilon)
        bound = GlobalSensitivity(self.records.rank_bound(p), self.records.neighbours)
        facts = Facts(
            candidates=len(self.points),
            sensitivity=bound,
            highest=0.0,
            direction="non-decreasing",
        )
        return by_name(self.mechanism, epsilon).for_objective(facts)


@dataclass(frozen=True, eq=False)
class AfterCount(Method):
    """The method that the number of records chooses.

    Attributes:
        choice: Choice of the methods, with what is left of epsilon.
        epsilon: Epsilon of the number of records; 0 if it is public.
    """

    choice: Choice
    epsilon: float

    @classmethod
    def of(cls, choice: Choice) -> AfterCount:
        """Return it with a share of epsilon for the number of records, unless it is public.

        Raises:
            ParameterError: Epsilon is too small.
        """
        epsilon = 0.0 if choice.records.are_public else SHARE * choice.epsilon
        made = cls(replace(choice, epsilon=choice.epsilon - epsilon), epsilon)
        # Whatever the number is, the method can be drawn.
        if max(made.scale, made.choice.largest_scale) > LARGEST_SCALE:
            raise ParameterError("`epsilon` is too small for any number of records")
        return made

    @property
    def scale(self) -> float:
        """Scale of the noise; 0 if the number is public."""
        return scale_for(self.epsilon, self.choice.records.per_user) if self.epsilon else 0.0

    @property
    def ranked(self) -> tuple[Values | None, ...]:
        points = self.choice.points
        return (None if isinstance(points, Range) else points,)

    @property
    def mechanism(self) -> str:
        if not self.epsilon:
            return "the method that the public number of records chooses"
        return f"method chosen by a noisy number of records (scale={self.scale!r})"

    @property
    def spends(self) -> tuple[Spend, ...]:
        left = self.choice.epsilon
        percentiles = Spend(
            f"percentiles {', '.join(f'{p:g}' for p in self.choice.percents)}", left
        )
        if not self.epsilon:
            return (percentiles,)
        number = Spend("number of records, to choose the method by", self.epsilon)
        return number, percentiles

    def probabilities(self, numbers: Numbers) -> Probabilities:
        points = np.asarray(self.choice.points)
        ranks = numbers.ranks(points)
        # How many records have no number is private, where that of all is public.
        records = int(ranks.numbers[0]) if self.epsilon else ranks.records
        chances = chances_of_sizes(records, self.scale)
        law = np.zeros((len(self.choice.percents), points.size))
        for size in np.flatnonzero(chances > NEGLIGIBLE).tolist():
            law += chances[size] * self.choice.of_number(2.0**size).probabilities(numbers)
        return law

    def choosing(self, numbers: Numbers) -> Callable[[], tuple[Method, int]]:
        """Count all that any method needs, and return the draw of the method and of the number.

        Raises:
            ColumnError, DataError: As for the release.
        """
        records = numbers.number(self.choice.points)

        def choose() -> tuple[Method, int]:
            noisy = records
            if self.epsilon:
                noisy = int(discrete_laplace(np.array([records]), self.scale)[0])
            found = 2 ** size_of(noisy)
            return self.choice.of_number(float(found)), found

        return choose

    def prepare(self, numbers: Numbers) -> Callable[[], Answer]:
        choose = self.choosing(numbers)

        def draw() -> Answer:
            chosen, _ = choose()
            return chosen.prepare(numbers)()

        return draw

    def prepare_groups(self, ranks: Ranks) -> Callable[[], Values]:
        def draw() -> Values:
            noisy, held = np.unique(
                discrete_laplace(ranks.numbers, self.scale), return_inverse=True
            )
            sizes = np.array([size_of(one) for one in noisy.tolist()])[held]
            found = np.empty((sizes.size, len(self.choice.percents)))
            for size in np.unique(sizes).tolist():
                which = np.flatnonzero(sizes == size)
                method = self.choice.of_number(2.0**size)
                found[which] = method.prepare_groups(ranks.some(which))()
            return found

        return draw


def size_of(records: int) -> int:
    """Return the binary logarithm of a number of records, rounded; 0 of less than one."""
    return min(round(log2(max(records, 1))), LARGEST)


def chances_of_sizes(records: int, scale: float) -> Probabilities:
    """Return the probability of every size of a noisy number; shape ``(LARGEST + 1,)``.

    Args:
        records: The number.
        scale: Scale of its noise; 0 for none.
    """
    # The largest number of each size but the last, which has no bound.
    beyond = np.floor(2.0 ** (np.arange(LARGEST) + 0.5)) - records
    upto = laplace_upto(beyond, scale) if scale else (beyond >= 0).astype(np.float64)
    return np.diff(upto, prepend=0.0, append=1.0)


def _beyond(p: float, records: float) -> float:
    """Return the records beyond a percentile, on the side of the few."""
    return min(p, 100 - p) / 100 * records


def _levels(percents: tuple[float, ...], ends: tuple[int, int] = (0, 0)) -> int:
    """Return the levels of those percentiles that are by halves, or 1 if all are by parts."""
    return max((len(percents) - sum(ends)).bit_length(), 1)
