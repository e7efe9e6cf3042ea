"""The published error of a grid, over the exact answer, with private sensitivities.

With the error of uniform cells ``g_t``, the bound on the noise ``L_t`` and the exact answer
``q_t`` (``dpselect.maps.error_measures``):

======================  =============================  ==========================
measure                 error of one query             neighbour relation
======================  =============================  ==========================
``RelativeKnownSize``   ``(|g_t| + L_t)/max(q_t, ρ)``  substitution, ``n`` public
``RelativeClipped``     the same, at most ``C``        add/remove
``RelativeCappedSize``  the same                       add/remove, ``n`` <= ``N``
======================  =============================  ==========================

Each goes as ``measure=`` with ``dpselect.Map`` and ``dpselect.maps.grid_error``.
``RelativeClipped`` is the repaired form of the figures, whose errors are about those of the
library's own ``measure="relative"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from dpselect import Neighbours
from dpselect.errors import ParameterError
from dpselect.maps import CountedCells, Counts, ErrorMeasure, Overlap, Partition
from dpselect.typing import Indices, Values

Norm: TypeAlias = Literal["l2", "l1"]
"""Of the weights of cells, in the bound on the noise of an answer."""

RELATIVE_ROUNDING = 2.0**-44
"""What rounding can add to the noise, which is part of what is divided by a private count."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Relative(ErrorMeasure):
    """Errors over the exact answer, or over a public floor where that is larger.

    Attributes:
        floor: ρ, in points; finite, > 0. Public: not a share of the data's size.
        norm: ``"l2"`` for the noise bound ``λ√2‖α‖_2``, which is at least the mean of the
            noise; ``"l1"`` for the paper's ``λ‖α‖_1``, which is far above it for large queries
            and so prefers grids that are too coarse.

    Raises:
        ParameterError: A number is out of its range.
    """

    floor: float
    norm: Norm = "l2"

    def __post_init__(self) -> None:
        _check("floor", self.floor, 0 < self.floor < inf)
        _check("norm", self.norm, self.norm in {"l2", "l1"})

    @property
    def relation(self) -> Neighbours:
        return Neighbours.ADD_REMOVE

    def noise(self, overlap: Overlap, scale: float) -> Values:
        return scale * overlap.l1 if self.norm == "l1" else super().noise(overlap, scale)

    def errors(self, gaps: Values, noise: Values, exact: Values) -> tuple[Values, Values]:
        return (gaps + noise) / np.maximum(exact, self.floor), np.zeros(exact.shape)

    def _rounding(self, noise: Values) -> float:
        """Return what rounding on both databases can add to a mean relative error."""
        return (self.rounding + RELATIVE_ROUNDING * float(np.mean(noise))) / self.floor


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativeKnownSize(_Relative):
    """Relative error of a data set whose number of records is public.

    Guarantee:
        Under substitution, ``S/ρ + (nκ + L)/(ρ(ρ + 1))`` a query: the spread moves the
        numerator, and the denominator by one.

    Attributes:
        records: ``n``; >= 0. Points that were dropped do not count against it.
    """

    records: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _check("records", self.records, self.records >= 0)

    @property
    def relation(self) -> Neighbours:
        return Neighbours.SUBSTITUTE

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        rho = self.floor
        moved = (self.records * overlap.largest + noise) / (rho * (rho + 1))
        return float(np.mean(overlap.spread / rho + moved)) + self._rounding(noise)

    @property
    def most_records(self) -> int | None:
        return self.records


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativeClipped(_Relative):
    """Relative error, cut at a public ``clip``; needs no bound on the number of records.

    Guarantee:
        Under add/remove, ``min(C, κ/ρ + C/(ρ + 1))`` a query.

    Attributes:
        clip: ``C``, above which all relative errors count as equal; > 0.
    """

    clip: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _check("clip", self.clip, 0 < self.clip < inf)

    def errors(self, gaps: Values, noise: Values, exact: Values) -> tuple[Values, Values]:
        errors, none = super().errors(gaps, noise, exact)
        return np.minimum(errors, self.clip), none

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        rho = self.floor
        change = overlap.largest / rho + self.clip / (rho + 1)
        rounding = self._rounding(np.minimum(noise, self.clip * rho))
        return float(np.mean(np.minimum(self.clip, change))) + rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativeCappedSize(_Relative):
    """Relative error of a data set that has at most a public number of records.

    Guarantee:
        Under add/remove, ``κ/ρ + ((N - 1)κ + L)/(ρ(ρ + 1))`` a query.

    Attributes:
        max_records: ``N``; >= 1.
    """

    max_records: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _check("max_records", self.max_records, self.max_records >= 1)

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        rho = self.floor
        moved = ((self.max_records - 1) * overlap.largest + noise) / (rho * (rho + 1))
        return float(np.mean(overlap.largest / rho + moved)) + self._rounding(noise)

    @property
    def most_records(self) -> int | None:
        return self.max_records


class Parts(NamedTuple):
    """The two parts of Theorem 7.1, by partition and query.

    Attributes:
        aggregation: ``|g_t|``, what uniform cells make; shape ``(partitions, m)``. Private.
        noise: ``L_t``, what the noise adds at most; the same shape. Public.
    """

    aggregation: Values
    noise: Values


def error_parts(
    points: Counts,
    partitions: Sequence[Partition],
    queries: Indices,
    *,
    scale: float,
    norm: Norm = "l1",
) -> Parts:
    """Return what aggregation and noise make of the expected error of each query.

    Their sum bounds the mean absolute error of an answer from noisy counts.

    Args:
        points: What counts the points.
        partitions: The candidates.
        queries: Lattice edges, shape ``(m, 4)``.
        scale: λ, of the Laplace noise.
        norm: ``"l1"`` for the printed ``λ‖α‖_1``, ``"l2"`` for the smaller ``λ√2‖α‖_2``.

    Source: Fanaeepour and Rubinstein, Theorem 7.1.
    """
    exact = points.in_rectangles(queries)
    measure = RelativeClipped(floor=1.0, clip=1.0, norm=norm)
    gaps, noises = [], []
    for partition in partitions:
        answers = CountedCells(partition, points.in_cells(partition)).answers(queries)
        gaps.append(np.abs(answers - exact))
        noises.append(measure.noise(Overlap.of(partition, queries), scale))
    return Parts(np.array(gaps), np.array(noises))


def _check(name: str, value: object, holds: bool) -> None:  # noqa: FBT001 -- the condition
    if not holds:
        raise ParameterError(f"`{name}` must not be {value!r}")
