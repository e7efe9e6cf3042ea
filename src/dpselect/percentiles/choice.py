r"""The method of a release of percentiles, chosen by public facts alone.

Let ``n`` be the number of records, assumed or noisy, ``N`` that of the candidates, and let the
exponential choice of a percentile have the epsilon :math:`\varepsilon` and the sensitivity
:math:`\Delta`. It can err by :math:`(2\Delta/\varepsilon) \ln N` ranks: where fewer records
lie beyond the percentile, the empty candidates outweigh them, and the answer is anything. So it
is *drowned* if :math:`n t \varepsilon/(2\Delta)` is below ``DROWNED`` :math:`\ln N`, with the
share :math:`t` of the records beyond. AboveThreshold visits logarithmically many candidates.

*One by one*, a percentile that is drowned is found by AboveThreshold from the lowest candidate
upwards, since a false alarm there is off by no more than the percentile itself; a high one is
found from the side of the few if the noise allows it. So are those above ``100 - TAIL``, where
the noise is half as large from that side. All others are drawn by rank.

*By halves*, ``m`` percentiles cost the :math:`\lceil\log_2(m + 1)\rceil` levels of a binary
tree. Only draws at an end of the candidates can drown; others are between two released values.
Percentiles that would are taken out and drawn one by one, and so are high ones where that is
less. With :math:`u` levels and percentiles that are taken out, each pays for
:math:`\varepsilon/u`, and errs about :math:`u` times as much as it would alone, a high one
``GAINS`` times more by halves. The split with the least of the worst of these is taken.

*Noisy counts* are taken where many percentiles drown: their error does not grow with the
number of percentiles.

All constants were chosen by exact laws over five shapes (even, normal, exponential, lognormal
and a heavier one) in ranges that are 1, 10 and 300 times as wide
(``benchmarks/percentiles_default.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import get_args

import numpy as np

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.mechanisms import ExponentialMechanism, Mechanism, MechanismLike, by_name
from dpselect.neighbours import Neighbours
from dpselect.percentiles.binary_tree import Recursive, price_of_draw, split_tree
from dpselect.percentiles.count_tree import ByCounts
from dpselect.percentiles.first_count import AfterCount
from dpselect.percentiles.joint import Joint
from dpselect.percentiles.objectives import by_rank, rank_bound
from dpselect.percentiles.parts import Parts
from dpselect.percentiles.range_halves import RecursiveOfRange
from dpselect.percentiles.ranges import OPEN, Range
from dpselect.percentiles.ranks import ranks_of
from dpselect.percentiles.reading import Records
from dpselect.percentiles.single import (
    PROPORTIONAL,
    ByPieces,
    ByRank,
    Method,
    MethodName,
    OneByOne,
    Single,
)
from dpselect.percentiles.thresholds import ByThreshold
from dpselect.typing import Values

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
"""Of percentiles up to so near to 100: the error by ranks, relative to that from the side."""

RECURSIVE_FROM = 3
"""Percentiles from which on the levels of the recursion are fewer than the percentiles."""

COUNTS_FROM = 6
"""Percentiles that drown from which on the tree of noisy counts errs less."""

CENTRAL = 25.0
"""One or two percentiles as far from both ends are drawn by rank if no number is assumed: they
drown among very few records alone, and a noisy number would cost them more than it gains."""


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
            return self._by_mechanism()
        if assumed_records is not None:
            return self.of_number(assumed_records)
        if len(self.percents) < RECURSIVE_FROM and self._central:
            is_open = isinstance(self.points, Range) and len(self.points) >= OPEN
            single = self._by_threshold if is_open else self._by_rank
            return OneByOne(tuple(single(p, self._each, None) for p in self.percents))
        return AfterCount.of(self)

    def of_number(self, records: float) -> Method:
        """Return the method for a number of records."""
        taken, middle = self._split(records)
        if middle:
            units = len(taken) + _levels(middle)
            halves = self._halves(middle, self.epsilon * _levels(middle) / units)
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
    def _central(self) -> bool:
        return all(CENTRAL <= p <= 100 - CENTRAL for p in self.percents)

    @property
    def _increase(self) -> bool:
        """Whether the candidates increase."""
        return isinstance(self.points, Range) or bool((np.diff(self.points) > 0).all())

    def _named_method(self, name: MethodName, assumed: int | None) -> Method:
        validation.one_of("method", name, get_args(MethodName))
        if name in {"above-threshold", "joint", "noisy-counts"} and self.mechanism is not None:
            raise ParameterError(f"`method`={name!r} has no other `mechanism`")
        if name in {"joint", "recursive", "noisy-counts"} and not self._increase:
            raise ParameterError(f"`candidates` must increase for `method`={name!r}")
        if name == "joint":
            if isinstance(self.points, Range):
                raise ParameterError("`method`='joint' needs fewer values: give `candidates`")
            return Joint(self.percents, self.points, self.records, self.epsilon)
        if name == "noisy-counts":
            return ByCounts(self.percents, self.points, self.records, self.epsilon)
        if name == "above-threshold":
            singles = (self._by_threshold(p, self._each, assumed) for p in self.percents)
            return OneByOne(tuple(singles), name)
        if name == "recursive":
            if type(draw := self._mechanism(self._each)) not in PROPORTIONAL:
                raise ParameterError(
                    "`method`='recursive' needs the `mechanism` 'exponential', "
                    f"'permute-and-flip' or 'noisy-max', not {draw.name!r}"
                )
            return self._halves(self.percents, self.epsilon)
        return self._one_by_one()

    def _by_mechanism(self) -> Method:
        """Return the method for a mechanism that is given: by halves where it can be."""
        proportional = type(self._mechanism(self._each)) in PROPORTIONAL
        if len(self.percents) >= RECURSIVE_FROM and proportional and self._increase:
            return self._halves(self.percents, self.epsilon)
        return self._one_by_one()

    def _one_by_one(self) -> Method:
        return OneByOne(tuple(self._by_rank(p, self._each) for p in self.percents))

    def _halves(self, percents: tuple[float, ...], epsilon: float) -> Method:
        if isinstance(self.points, Range):
            return RecursiveOfRange(percents, self.points, self.records, epsilon)
        factory = self._named("permute-and-flip")
        return Recursive(percents, self.points, self.records, epsilon, factory)

    def _split(self, records: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the percentiles that are drawn one by one, and those by halves, if any."""
        nothing: tuple[float, ...] = ()
        best, found = float(len(self.percents)), (self.percents, nothing)
        if not self._increase:
            return found
        for high in range(sum(p >= 100 - TAIL for p in self.percents) + 1):
            middle = self.percents[: len(self.percents) - high]
            while len(middle) >= max(RECURSIVE_FROM, len(self.percents) / 2):
                units = len(self.percents) - len(middle) + _levels(middle)
                drowned = self._drowned(middle, self.epsilon * _levels(middle) / units, records)
                if drowned:
                    middle = middle[1:] if drowned < 50 else middle[:-1]
                    continue
                loss = units * max(self._gain(p, records) for p in middle)
                if loss < best:
                    taken = tuple(p for p in self.percents if p not in middle)
                    best, found = loss, (taken, middle)
                break
        return found

    def _gain(self, p: float, records: float) -> float:
        """Return how many times the error by ranks is that of the best single method."""
        if (100 - p) / 100 * records * self.epsilon >= MANY:
            return 1.0
        return next((gain for near, gain in GAINS if 100 - p <= near), 1.0)

    def _drowned(self, percents: tuple[float, ...], epsilon: float, records: float) -> float:
        """Return the percentile nearest to an end that drowns by halves; 0 if none does."""
        needed, of = DROWNED * log(len(self.points)), self.records
        found = 0.0
        tree = split_tree(tuple(p / 100 for p in percents), epsilon)
        for node, low, high in tree.ends():
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
        is_tail = 100 - p <= TAIL and beyond * epsilon < MANY
        if score < DROWNED * log(len(self.points)) or is_tail:
            return self._by_threshold(p, epsilon, records)
        return self._by_rank(p, epsilon)

    def _by_rank(self, p: float, epsilon: float, _records: float | None = None) -> Single:
        draw = self._mechanism(epsilon)
        if isinstance(self.points, Range):
            return ByPieces(p, self.points, self.records, draw)
        return ByRank(p, self.points, self.records, draw)

    def _by_threshold(self, p: float, epsilon: float, records: float | None) -> ByThreshold:
        """Return AboveThreshold of a percentile, from the side that suits it."""
        beyond = None if records is None else _beyond(p, records)
        of = p, self.points, self.records, epsilon
        usual = ByThreshold(*of, upwards=True, beyond=beyond)
        if beyond is None or not 50 < p < 100:
            return usual
        from_few = replace(usual, upwards=False)
        quiet = max(LEAST_NOISES, MARGIN * log(len(self.points)))
        return from_few if from_few.records_per_noise(beyond) >= quiet else usual

    def _named(self, usual: str) -> MechanismLike:
        return usual if self.mechanism is None else self.mechanism

    def _mechanism(self, epsilon: float) -> Mechanism:
        """Return the mechanism of one percentile."""
        if isinstance(self.points, Range):
            draw = by_name(self._named("exponential"), epsilon)
            if not isinstance(draw, ExponentialMechanism):
                raise ParameterError(
                    f"a range of so many values is drawn by the `mechanism` 'exponential', not "
                    f"{draw.name!r}"
                )
            return draw
        example = by_rank(
            ranks_of(np.zeros(1), self.points),
            p=50,
            points=self.points,
            form="interpolated",
            neighbours=self.records.neighbours,
        )
        return by_name(self._named("permute-and-flip"), epsilon).for_objective(example)


def _beyond(p: float, records: float) -> float:
    """Return the records beyond a percentile, on the side of the few."""
    return min(p, 100 - p) / 100 * records


def _levels(percents: tuple[float, ...]) -> int:
    return len(percents).bit_length()
