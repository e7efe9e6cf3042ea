"""The cap on the rows of a person, chosen by a part of epsilon before the release.

A release at every cap costs the same. A part of epsilon draws one of the caps by
permute-and-flip, and the rest pays for the release at that cap. Every cap is scored by what is
counted at it, and all scores are integers that one person moves by at most the same bound.

**How precise a count is**, for keys, tops, cells and maps. At the cap ``m`` let a count ``c``
that one person moves by up to ``d_m`` have noise ``b_m``, and a sampling error of the variance
``λ c``. Its relative error is ``1/f_m(c)`` and

    f_m(c) = c/√(b_m^2 + λ c),
    g_b(f) = (λ f^2 + f √(λ^2 f^2 + 4 b^2))/2,

where ``g_b`` is the inverse for noise ``b``: the count that is as precise there. The score is
the count which is as precise at a reference with ``d = max_m d_m`` and ``b = d min_m b_m/d_m``,
in what one person can move there:

    q_m = g_b(f_m(c))/d.

What is counted is what one person moves least, for its size:

- Which keys there are: the people of each key above an eighth of the threshold, summed over
  keys; ``d_m = m``, ``b_m`` is the threshold, and ``λ = 0``.
- The ``k`` most common keys: the mean of the ``k`` largest counts; ``d_m = min(m, k)/k``, and
  ``λ = 2``. The heaviest cells: the same of points; ``d_m = m/k``.
- Maps: points in a district with one ``n``-th of them; ``d_m = m/n``, and ``λ = 1``.

If the number of keys of ``c`` people falls as a power of ``c``, the first is in proportion to
the number of keys above the threshold, whichever power it is; where the distribution of the
noise has its steep part, a person moves their expected number several times as much. The second
has a factor 2, as the error is of persons and of their rows that are chosen.

**How far a rank can be off**, for percentiles. Of ``n`` rows let ``n_m`` be counted, and of a
value let ``F_m`` be the share of these that are up to it, ``G`` that of the others and ``F``
that of all: ``n F = n_m F_m + (n - n_m) G``. If it answers for the share ``a``,

    n (F - a) = n_m (F_m - a) + (n - n_m)(G - a),

which is at most ``e_m + w (n - n_m)`` rows, where ``e_m`` is the first term's error, of noise,
and ``w`` the larger of ``a`` and ``1 - a``. Rows that are missing shift the answer by no more,
whatever they hold, and ``n`` is the same at every cap. So with ``d = max_m m`` the score is

    q_m = (n_m - e_m/w)/d.

**Sensitivity.** One person moves a score by at most 1, also where she replaces another. A sum
of counts above a limit moves by at most the number of counts that move, each by 1; so does the
sum of the ``k`` largest, and by at most ``k``. With ``s = √(λ^2 f^2 + 4 b^2)`` the slope
``g_b'(f) = (2 λ f + s + λ^2 f^2/s)/2`` grows with ``b``, as ``λ f ≤ s``. For ``b = β d`` the
quotient ``g_b'(f)/d`` falls with ``d``: so do ``f/d``, ``s/d`` and ``f^2/(s d)``. Let β be
``min_m b_m/d_m``. Then ``g_(b_m)'(f)/d_m ≥ g_(β d_m)'(f)/d_m ≥ g_b'(f)/d``, and as ``f_m`` is
the inverse of ``g_(b_m)``, the slope of ``q_m`` in ``c`` is at most ``1/d_m``. The second
score moves by at most ``m/d``, as ``n_m`` by ``m``. Under add/remove all move in one direction.

**What is not in it.** Of all but percentiles, rows above a cap enter as rows that are missing.
If persons with many rows have other values, a cap shifts these, and no score sees by how much.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import floor, fsum, sqrt
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, PermuteAndFlip
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.plan import SEQUENTIAL, ErrorBound, Plan, Spend
from dpselect.query import Design, Query
from dpselect.release import Release
from dpselect.sensitivity import GlobalSensitivity
from dpselect.tables.people import MOST
from dpselect.typing import Indices, Values

Out = TypeVar("Out", bound=Release[Any])

SHARE = 0.04
"""Share of epsilon for the choice, if not given."""

MOST_CAPS = 100
"""Caps to choose from, at most."""

STEPS = 2**10
"""Steps of a score for one unit; scores are rounded down to them."""

LARGEST = 2.0**32
"""No score is further from 0, so that the rounding of floats is far below a step."""


@dataclass(frozen=True)
class Choose:
    """A cap on the rows of a person that is chosen from the data, for a part of epsilon.

    Given as ``max_per_user``; every cap has the same price.

    Attributes:
        caps: The caps to choose from: at least two, increasing. Not to be read off the data.
        share: Share of epsilon for the choice; in (0, 1).

    Raises:
        ParameterError: ``caps`` do not increase, are out of range or too many; or ``share`` is
            out of range.

    Examples:
        >>> import dpselect as dp
        >>> pages = dp.Keys(
        ...     column="page", user="person", max_per_user=dp.Choose([1, 5]), epsilon=1.0,
        ...     delta=1e-6, neighbours="add-remove",
        ... )
        >>> [(spend.purpose, round(spend.epsilon, 3)) for spend in pages.plan.spends]
        [('choice of the cap', 0.04), ('release at the cap', 0.96)]
    """

    caps: Sequence[int]
    share: float = SHARE

    def __post_init__(self) -> None:
        caps = validation.listed("max_per_user", self.caps) or ()
        caps = tuple(validation.at_least("max_per_user", one, 1, MOST) for one in caps)
        if not 2 <= len(caps) <= MOST_CAPS or any(low >= up for low, up in pairwise(caps)):
            raise ParameterError(
                f"`max_per_user` to choose must be 2 to {MOST_CAPS} caps that increase"
            )
        share = validation.within("share", self.share, 0, 1)
        if share in {0, 1}:
            raise ParameterError("the `share` of a choice must be above 0 and below 1")
        object.__setattr__(self, "caps", caps)
        object.__setattr__(self, "share", share)

    @classmethod
    def of(cls, given: object) -> Self | None:
        """Return the choice that a field holds; None if it is a number or None.

        Raises:
            ParameterError: It is a mapping of something else.
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            return None
        if not {"caps"} <= given.keys() <= {"caps", "share"}:
            raise ParameterError("`max_per_user` to choose must be `caps`, and a `share`")
        return cls(**given)

    def to_field(self) -> dict[str, object]:
        """Return the plain values that a query keeps."""
        return {"caps": list(self.caps), "share": self.share}


CapLike: TypeAlias = int | Choose | Mapping[str, Any]
"""A cap, or what one is chosen from."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How precise a count is at a cap; public.

    Attributes:
        noise: Standard deviation of its noise; > 0.
        moved: What one person moves it by, at most.
        sampling: Variance of its sampling error, for each that is counted; the same at every
            cap.
    """

    noise: float
    moved: float = 1.0
    sampling: float = 1.0

    def score(self, count: float, caps: Sequence[Precision]) -> float:
        """Return the count that is as precise at the reference of all caps."""
        moved = max(one.moved for one in caps)
        noise = moved * min(one.noise / one.moved for one in caps)
        return self.equivalent(count, noise) / moved

    def equivalent(self, count: float, noise: float) -> float:
        """Return the count that is as precise with other noise."""
        if count <= 0:
            return 0.0
        precise = count / sqrt(self.noise**2 + self.sampling * count)
        scaled = self.sampling * precise
        return precise * (scaled + sqrt(scaled**2 + 4 * noise**2)) / 2


@dataclass(frozen=True, slots=True)
class RankNoise:
    """How far the noise at a cap moves a rank; public.

    Attributes:
        noise: ``e_m/w``: error of the rank, in rows; > 0.
        moved: How many rows of one person are counted.
    """

    noise: float
    moved: float

    def score(self, count: float, caps: Sequence[RankNoise]) -> float:
        """Return the rows that are counted, less those that noise is worth."""
        return (count - self.noise) / max(one.moved for one in caps)


@dataclass(frozen=True, slots=True)
class CapScores:
    """Scores of caps by what is counted at each.

    Attributes:
        caps: The noise at each cap, of one kind.
    """

    caps: Sequence[Precision] | Sequence[RankNoise]

    @property
    def bound(self) -> int:
        """A score that moves by 1 moves by one more step than its own when it is rounded."""
        return STEPS + 1

    def of(self, counted: Sequence[float]) -> list[int]:
        """Return the score of each cap; they grow with what is counted."""
        caps: Any = self.caps
        scores = (one.score(count, caps) for one, count in zip(caps, counted, strict=True))
        return [floor(STEPS * min(max(one, -LARGEST), LARGEST)) for one in scores]


def mean_of_largest(counts: Indices | Values, k: int) -> float:
    """Return the sum of the ``k`` largest counts over ``k``; private.

    One person who moves ``c`` counts by at most 1 moves it by at most ``min(c, k)/k``.
    """
    largest = np.partition(counts, -k)[-k:] if counts.size > k else counts
    return float(largest.sum()) / k


class CapDesign(Design[Out], ABC):
    """A release at one cap, which can say how much is counted at it."""

    @property
    @abstractmethod
    def precision(self) -> Precision | RankNoise:
        """How precise what is counted is; public.

        Raises:
            ParameterError: Nothing is counted by which a cap of such a release is chosen.
        """

    @abstractmethod
    def counted(self, data: Any) -> tuple[float, Callable[[Plan], Out]]:  # noqa: ANN401
        """Read and count; return what is scored, and the draw of the release."""


@dataclass(frozen=True, kw_only=True)
class ChosenCap(Design[Out]):
    """The choice of a cap, and the release at the one that is chosen.

    Attributes:
        caps: The caps.
        designs: The release at each.
        choice: How the cap is drawn.
    """

    caps: tuple[int, ...]
    designs: tuple[CapDesign[Out], ...]
    choice: Mechanism

    @classmethod
    def of(cls, query: Query[Out]) -> Self | None:
        """Return the design of a query whose ``max_per_user`` is to be chosen, if it is.

        Raises:
            ParameterError: There is no score for such a query.
        """
        choose = Choose.of(query.max_per_user)  # type: ignore[attr-defined] # of persons
        if choose is None:
            return None
        epsilon = validation.positive("epsilon", query.epsilon)  # type: ignore[attr-defined]
        choice = PermuteAndFlip(epsilon=epsilon * choose.share)
        rest = epsilon - choice.epsilon
        made = [
            query._with(max_per_user=cap, epsilon=rest).design()  # noqa: SLF001 -- a copy
            for cap in choose.caps
        ]
        designs = [one for one in made if isinstance(one, CapDesign)]
        if len(designs) < len(made):
            raise ParameterError(
                f"a {type(query).__name__} of these fields has no score to choose "
                "`max_per_user` by: give one number"
            )
        first = designs[0]
        _ = first.precision  # refused before anything is charged
        listed = ", ".join(map(str, choose.caps))
        delta = max(one.delta for one in designs)
        return cls(
            mechanism=(
                f"{choice!r} of the caps {listed}, then from {first.mechanism} "
                f"up to {designs[-1].mechanism}"
            ),
            composition=f"{SEQUENTIAL}, and the release costs the same at every cap",
            spends=(choice.spend("choice of the cap"), _dearest(designs, delta)),
            epsilon=epsilon,
            delta=delta,
            neighbours=first.neighbours,
            public=("the caps", *first.public),
            error=_largest([one.error for one in designs]),
            passes=tuple(one for design in designs for one in design.passes),
            exact=all(one.exact for one in designs),
            caps=tuple(choose.caps),
            designs=tuple(designs),
            choice=choice,
        )

    def check(self, data: object) -> None:
        self.designs[0].check(data)

    def chances(self) -> tuple[Any, ...]:
        """Return the chances of a value at each cap, where there are any."""
        return tuple(
            one._replace(of=f"{one.of} at the cap {cap}")
            for cap, design in zip(self.caps, self.designs, strict=True)
            for one in design.chances()  # type: ignore[attr-defined] # of keys
        )

    def prepare(self, data: object) -> Callable[[Plan], Out]:
        counted, draws = zip(*(one.counted(data) for one in self.designs), strict=True)
        objective = self.objective(counted)

        def draw(plan: Plan) -> Out:
            [place] = self.choice.draw_positions(objective)
            return replace(draws[place](plan), cap=self.caps[place])

        return draw

    def objective(self, counted: Sequence[float]) -> Objective:
        """Return the scores of the caps, private, with what one person moves them by."""
        caps: Any = [one.precision for one in self.designs]
        scores = CapScores(caps)
        # Who comes has rows at every cap, and displaces nobody's.
        return Objective(
            scores.of(counted),
            GlobalSensitivity(scores.bound, self.neighbours),
            self.caps,
            monotone=self.neighbours is Neighbours.ADD_REMOVE,
            step=1,
        )


def _dearest(designs: Sequence[Design[Any]], delta: float) -> Spend:
    """Return a price that covers the release at each cap."""
    return Spend(
        "release at the cap",
        max(one.epsilon for one in designs),
        delta=delta,
        rho=max(fsum(spend.rho_of_all for spend in one.spends) for one in designs),
    )


def _largest(errors: Sequence[ErrorBound | None]) -> ErrorBound | None:
    """Return a bound that holds at every cap, if there is one."""
    known = [one for one in errors if one is not None]
    return max(known, key=lambda one: one.value) if len(known) == len(errors) else None
