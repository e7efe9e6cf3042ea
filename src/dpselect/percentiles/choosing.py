r"""The method of a release of percentiles, chosen by public arguments alone.

Of one percentile, the exponential choice can err by :math:`(2 \Delta/\varepsilon) \ln N` ranks
with ``N`` candidates. Where fewer records than that lie beyond the percentile, the empty
candidates outweigh them, and the answer is anything. AboveThreshold visits logarithmically
many candidates, and from the side of the few records its noise is half as large, but it knows
no value between two visited ones. So with ``n`` assumed records and the share :math:`t` of
those beyond the percentile, AboveThreshold is taken if :math:`t` is at most ``TAIL`` or
:math:`n t \varepsilon / (2 \Delta) < \ln N`; from the side of the few, downwards for a high
percentile, if :math:`n t / b_2` is at least ``LEAST_NOISES`` and ``MARGIN`` :math:`\ln N` with
noise of scale :math:`b_2` on a count, and else from the side of the many.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import get_args

import numpy as np

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.mechanisms import (
    ExponentialMechanism,
    Mechanism,
    MechanismFactory,
    by_name,
)
from dpselect.neighbours import Neighbours
from dpselect.percentiles.joint import Joint
from dpselect.percentiles.methods import Method, OneByOne, Percentiles, Recursive
from dpselect.percentiles.objectives import by_rank, rank_bound
from dpselect.percentiles.ranges import OPEN, Range
from dpselect.percentiles.ranks import NumbersInMemory
from dpselect.percentiles.single import PROPORTIONAL, ByPieces, ByRank, Single
from dpselect.percentiles.thresholds import ByThreshold
from dpselect.typing import Values

RECURSIVE_FROM = 3
"""Percentiles from which on the levels of the recursion are fewer than the percentiles."""

TAIL = 0.15
"""Of the records beyond a percentile, up to which AboveThreshold is taken."""

LEAST_NOISES, MARGIN = 8.0, 1.15
"""Records beyond the percentile, in scales of the noise on a count, from which on it visits
them first: at least ``LEAST_NOISES``, and ``MARGIN`` times the logarithm of the number ``N`` of
candidates. A false alarm at one of the far candidates then has a probability of about
``N ** -MARGIN``. ``TAIL`` and these two were chosen on DPBench's HEPTH, PATENT and INCOME."""


def chosen(
    *,
    percents: tuple[float, ...],
    points: Values | Range,
    method: Method | None,
    per_user: int,
    assumed_records: int | None,
    epsilon: float,
    neighbours: Neighbours,
    mechanism: str | MechanismFactory | None,
) -> Percentiles:
    """Return the method of a release.

    Raises:
        ParameterError: The method is unknown or does not fit the other arguments.
    """
    if len(percents) > len(points):
        raise ParameterError(
            f"{len(percents)} percentiles need as many candidates, not {len(points)}"
        )
    if method is not None:
        method = _validate.one_of("method", method, get_args(Method))
    if assumed_records is not None:
        assumed_records = _validate.at_least("assumed_records", assumed_records, 1)
    asked = _Asked(
        points=points,
        per_user=per_user,
        assumed_records=assumed_records,
        whole=_validate.positive("epsilon", epsilon),
        epsilon=epsilon / len(percents),
        neighbours=neighbours,
    )
    if method in {"above-threshold", "joint"} and mechanism is not None:
        raise ParameterError(f"method={method!r} has no other mechanism")
    if method == "joint":
        return asked.joint(percents)
    if method == "above-threshold":
        return OneByOne(tuple(asked.by_threshold(p) for p in percents), "above-threshold")
    several = method is None and len(percents) >= RECURSIVE_FROM
    if method == "recursive" or (several and not isinstance(points, Range)):
        recursive = asked.recursive(percents, mechanism)
        if isinstance(recursive, Recursive):
            return recursive
        if method == "recursive":
            raise ParameterError(recursive)
    decided = method is None and mechanism is None
    return OneByOne(
        tuple(
            asked.by_threshold(p)
            if decided and asked.prefers_threshold(p)
            else asked.by_rank(p, mechanism)
            for p in percents
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Public arguments of each of several percentiles."""

    points: Values | Range
    per_user: int
    assumed_records: int | None
    whole: float
    epsilon: float
    neighbours: Neighbours

    def draw(self, mechanism: str | MechanismFactory | None) -> Mechanism:
        """Return the mechanism of one percentile."""
        if isinstance(self.points, Range):
            draw = by_name("exponential" if mechanism is None else mechanism, self.epsilon)
            if not isinstance(draw, ExponentialMechanism):
                raise ParameterError(
                    f"a range is drawn by the mechanism 'exponential', not {draw.name!r}"
                )
            return draw
        name = "permute-and-flip" if mechanism is None else mechanism
        example = by_rank(
            NumbersInMemory(np.zeros(1)).ranks(self.points),
            p=50,
            points=self.points,
            form="interpolated",
            neighbours=self.neighbours,
        )
        return by_name(name, self.epsilon).for_objective(example)

    def joint(self, percents: tuple[float, ...]) -> Joint:
        """Return the joint exponential mechanism."""
        if isinstance(self.points, Range) or not (np.diff(self.points) > 0).all():
            raise ParameterError("method='joint' needs listed candidates that increase")
        return Joint(percents, self.points, self.neighbours, self.per_user, self.whole)

    def recursive(
        self, percents: tuple[float, ...], mechanism: str | MechanismFactory | None
    ) -> Recursive | str:
        """Return the recursion of all percentiles, or why it does not fit."""
        if isinstance(self.points, Range):
            return "percentiles of a range are drawn one by one"
        draw = self.draw(mechanism)
        if not (np.diff(self.points) > 0).all():
            return "candidates must increase for method='recursive'"
        if type(draw) not in PROPORTIONAL:
            return (
                "method='recursive' needs the mechanism 'exponential', 'permute-and-flip' or "
                f"'noisy-max', not {draw.name!r}"
            )
        return Recursive(
            percents,
            self.points,
            self.neighbours,
            draw,
            "permute-and-flip" if mechanism is None else mechanism,
            self.whole,
            self.per_user,
        )

    def by_rank(self, p: float, mechanism: str | MechanismFactory | None) -> Single:
        """Return the exponential choice, or another mechanism, of a percentile."""
        draw = self.draw(mechanism)
        if isinstance(self.points, Range):
            assert isinstance(draw, ExponentialMechanism)  # noqa: S101 -- for type checkers
            return ByPieces(p, self.points, self.neighbours, self.per_user, draw)
        return ByRank(p, self.points, self.neighbours, self.per_user, draw)

    def by_threshold(self, p: float) -> ByThreshold:
        """Return AboveThreshold of a percentile, from the side that suits it."""
        beyond = self._beyond(p)
        if beyond is not None and p < 100:
            from_few = self._threshold(p, beyond, upwards=p <= 50)
            quiet = max(LEAST_NOISES, MARGIN * log(len(self.points)))
            if from_few.records_per_noise(beyond) >= quiet:
                return from_few
        return self._threshold(p, beyond, upwards=p > 50)

    def _threshold(self, p: float, beyond: float | None, *, upwards: bool) -> ByThreshold:
        return ByThreshold(
            p,
            self.points,
            self.neighbours,
            self.per_user,
            self.epsilon,
            upwards=upwards,
            beyond=beyond,
        )

    def prefers_threshold(self, p: float) -> bool:
        """Return whether AboveThreshold is expected to err less than the exponential choice."""
        beyond = self._beyond(p)
        if beyond is None:
            return isinstance(self.points, Range) and len(self.points) >= OPEN
        bound = self.per_user * rank_bound(p / 100, self.neighbours)
        drowned = beyond * self.epsilon / (2 * bound) < log(len(self.points))
        return drowned or min(p, 100 - p) / 100 <= TAIL

    def _beyond(self, p: float) -> float | None:
        """Return the assumed records beyond the percentile, on the side of the few."""
        if self.assumed_records is None:
            return None
        return min(p, 100 - p) / 100 * self.assumed_records
