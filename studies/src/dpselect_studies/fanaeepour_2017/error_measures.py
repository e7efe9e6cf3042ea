"""The published error of a grid, over the exact answer, for numbers of points that are bounded.

With the error of uniform cells ``g_t``, the bound on the noise ``L_t`` and the exact answer
``q_t`` (``dpselect.maps.error_measures``), the error of one query is
``(|g_t| + L_t)/max(q_t, ρ)``:

======================  ==========================
measure                 neighbour relation
======================  ==========================
``RelativeKnownSize``   substitution, ``n`` public
``RelativeCappedSize``  add/remove, ``n`` <= ``N``
======================  ==========================

Each goes as ``measure=`` with ``dpselect.Map`` and ``dpselect.maps.grid_error``. The repaired
form of the figures is the library's ``RelativeClipped``, which needs no such bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from dpselect import Neighbours
from dpselect.errors import ParameterError
from dpselect.maps import CountedCells, Counts, Overlap, Partition, RelativeClipped
from dpselect.typing import Indices, Values

UNCUT = 1e300
"""A relative error that no query has."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativeKnownSize(RelativeClipped):
    """Relative error of a data set whose number of records is public.

    Guarantee:
        Under substitution, ``S/ρ + (nκ + L)/(ρ(ρ + 1))`` a query: the spread moves the
        numerator, and the denominator by one.

    Attributes:
        records: ``n``; >= 0. Points that were dropped do not count against it.
    """

    neighbours: Neighbours = Neighbours.SUBSTITUTE
    largest: float = UNCUT
    records: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _check("records", self.records, self.records >= 0)

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        rho = self.floor
        moved = (self.records * overlap.largest + noise) / (rho * (rho + 1))
        return float(np.mean(overlap.spread / rho + moved)) + self.rounded(noise)

    @property
    def most_records(self) -> int | None:
        return self.records


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativeCappedSize(RelativeClipped):
    """Relative error of a data set that has at most a public number of records.

    Guarantee:
        Under add/remove, ``κ/ρ + ((N - 1)κ + L)/(ρ(ρ + 1))`` a query.

    Attributes:
        max_records: ``N``; >= 1.
    """

    neighbours: Neighbours = Neighbours.ADD_REMOVE
    largest: float = UNCUT
    max_records: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _check("max_records", self.max_records, self.max_records >= 1)

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        rho = self.floor
        moved = ((self.max_records - 1) * overlap.largest + noise) / (rho * (rho + 1))
        return float(np.mean(overlap.largest / rho + moved)) + self.rounded(noise)

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
    norm: Literal["l2", "l1"] = "l1",
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
    measure = RelativeClipped(neighbours=Neighbours.ADD_REMOVE, floor=1.0, norm=norm)
    gaps, noises = [], []
    for partition in partitions:
        answers = CountedCells(partition, points.in_cells(partition)).answers(queries)
        gaps.append(np.abs(answers - exact))
        noises.append(measure.noise(Overlap.of(partition, queries), scale))
    return Parts(np.array(gaps), np.array(noises))


def _check(name: str, value: object, holds: bool) -> None:  # noqa: FBT001 -- the condition
    if not holds:
        raise ParameterError(f"`{name}` must not be {value!r}")
