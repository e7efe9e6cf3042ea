r"""Error measures of grids, and their sensitivities.

With the exact answer :math:`q_t`, the error that uniform cells make,
:math:`g_t = \sum_i \alpha_{ti} c_i - q_t`, and the bound on the noise
:math:`L_t = \lambda \sqrt 2 \|\alpha_t\|_2`, every measure is a mean over the queries of
some :math:`e_t`, and the score of a grid is minus that mean:

=======================  =====================================  ===========================
measure                  error of one query                     neighbour relation
=======================  =====================================  ===========================
``Weighted``             :math:`w_t (|g_t| + L_t)`              either
``RelativeKnownSize``    :math:`(|g_t| + L_t)/\max(q_t, \rho)`  substitution, ``n`` public
``RelativeClipped``      the same, at most :math:`C`            add/remove
``RelativeCappedSize``   the same                               add/remove, ``n`` <= ``N``
=======================  =====================================  ===========================

``Weighted`` with public weights :math:`1/\max(\tilde T_t, \rho)` from noisy counts is a
relative error too, and the recommended one: its denominator does not depend on the data. A
bound that depends on the number of points, as in Theorem 7.10 of Fanaeepour and Rubinstein, is
not private under add/remove.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.spatial.overlap import Overlap
from dpselect.typing import Values

Norm: TypeAlias = Literal["l2", "l1"]

ROUNDING = 2.0**-16
r"""What rounding on both databases can add to the change of :math:`g_t`, in points.

The sums behind :math:`g_t` have fewer than 16 roundings each, relative to themselves, so
with at most :math:`2^{31}` points :math:`g_t` errs by :math:`2^{-18}`, and the mean over the
queries by as much again.
"""

RELATIVE_ROUNDING = 2.0**-44
"""The same for the noise, which is part of what is divided by a private count."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorMeasure(ABC):
    r"""An error of grids, with what one neighbour step can change of it.

    Attributes:
        norm: ``"l2"`` for the noise bound :math:`\lambda\sqrt2\|\alpha\|_2`, which is at least
            the mean of the noise; ``"l1"`` for the paper's :math:`\lambda\|\alpha\|_1`, which
            is far above it for large queries and so prefers grids that are too coarse.
    """

    norm: Norm = "l2"

    def __post_init__(self) -> None:
        if self.norm not in {"l2", "l1"}:
            raise ParameterError(f"norm must be 'l2' or 'l1', not {self.norm!r}")

    @property
    @abstractmethod
    def relation(self) -> Neighbours:
        """The neighbour relation that the sensitivity holds for."""

    @abstractmethod
    def errors(self, gaps: Values, noise: Values, exact: Values) -> tuple[Values, Values]:
        """Return a private and a public term of the error of every query.

        Args:
            gaps: :math:`|g_t|`, shape ``(m,)``.
            noise: :math:`L_t`, shape ``(m,)``.
            exact: :math:`q_t`, shape ``(m,)``.

        Returns:
            What depends on the points, and what does not: two vectors to be added, apart
            since the noise may be so large that rounding their sums would move them by
            more than a point does.
        """

    @abstractmethod
    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        """Return what one neighbour step can change of the mean error of one grid."""

    @property
    def most_records(self) -> int | None:
        """How many points the measure declares to be the most; None if it declares nothing."""
        return None

    def noise(self, overlap: Overlap, scale: float) -> Values:
        """Return the bound on the noise of every query, for Laplace noise of ``scale``."""
        return scale * overlap.l1 if self.norm == "l1" else scale * sqrt(2) * overlap.l2


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighted(ErrorMeasure):
    r"""The absolute error, weighted by public numbers; with equal weights the absolute one.

    Guarantee:
        The sensitivity holds under ``neighbours``, for weights that are public: constants,
        or themselves released. It is the bound of
        :meth:`~dpselect.spatial.overlap.Overlap.added` over the number of queries, never above
        the mean of the weights times :math:`\kappa \le 1`; or, under substitution, that of
        :meth:`~dpselect.spatial.overlap.Overlap.moved`, never above the weighted mean of
        :math:`S_t`.

    Attributes:
        neighbours: ``"add-remove"`` or ``"substitute"``.
        weights: :math:`w_t`, one number or shape ``(m,)``; finite, > 0.
    """

    neighbours: NeighboursLike
    weights: ArrayLike = field(default=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "neighbours", _validate.table_neighbours(self.neighbours))
        weights = np.array(self.weights, dtype=np.float64)
        if weights.ndim > 1 or not (np.isfinite(weights) & (weights > 0)).all():
            raise ParameterError("weights must be finite and > 0: one, or one for each query")

    @property
    def relation(self) -> Neighbours:
        return _validate.table_neighbours(self.neighbours)

    def errors(self, gaps: Values, noise: Values, exact: Values) -> tuple[Values, Values]:
        weights = self._spread_over(exact.size)
        return weights * gaps, weights * noise

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        weights = self._spread_over(noise.size)
        moves = self.relation is Neighbours.SUBSTITUTE
        change = (overlap.moved if moves else overlap.added)(weights) / weights.size
        return change + ROUNDING * float(weights.mean())

    def _spread_over(self, queries: int) -> Values:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim == 1 and weights.size != queries:
            raise ParameterError(f"weights must be {queries}, one for each query")
        return np.broadcast_to(weights, queries).copy()


@dataclass(frozen=True, kw_only=True, eq=False)
class _Relative(ErrorMeasure):
    r"""Errors over the exact answer, or over a public floor where that is larger.

    Attributes:
        floor: :math:`\rho`, in points; finite, > 0. Public: not a share of the data's size.
    """

    floor: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "floor", _validate.positive("floor", self.floor))

    @property
    def relation(self) -> Neighbours:
        return Neighbours.ADD_REMOVE

    def errors(self, gaps: Values, noise: Values, exact: Values) -> tuple[Values, Values]:
        return (gaps + noise) / np.maximum(exact, self.floor), np.zeros(exact.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativeKnownSize(_Relative):
    r"""Relative error of a data set whose number of records is public.

    Guarantee:
        Under substitution, :math:`S/\rho + (n\kappa + L)/(\rho(\rho + 1))` a query: the
        spread moves the numerator, and the denominator by one.

    Attributes:
        records: ``n``; >= 0. Points that were dropped do not count against it.
    """

    records: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.at_least("records", self.records, 0)

    @property
    def relation(self) -> Neighbours:
        return Neighbours.SUBSTITUTE

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        rho = self.floor
        moved = (self.records * overlap.largest + noise) / (rho * (rho + 1))
        return float(np.mean(overlap.spread / rho + moved)) + _rounding(noise, rho)

    @property
    def most_records(self) -> int | None:
        return self.records


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativeClipped(_Relative):
    r"""Relative error, cut at a public ``clip``; needs no bound on the number of records.

    Guarantee:
        Under add/remove, :math:`\min(C, \kappa/\rho + C/(\rho + 1))` a query.

    Attributes:
        clip: :math:`C`, above which all relative errors count as equal; > 0.
    """

    clip: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "clip", _validate.positive("clip", self.clip))

    def errors(self, gaps: Values, noise: Values, exact: Values) -> tuple[Values, Values]:
        errors, none = super().errors(gaps, noise, exact)
        return np.minimum(errors, self.clip), none

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        rho = self.floor
        change = overlap.largest / rho + self.clip / (rho + 1)
        rounding = _rounding(np.minimum(noise, self.clip * rho), rho)
        return float(np.mean(np.minimum(self.clip, change))) + rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativeCappedSize(_Relative):
    r"""Relative error of a data set that has at most a public number of records.

    Guarantee:
        Under add/remove, :math:`\kappa/\rho + ((N - 1)\kappa + L)/(\rho(\rho + 1))` a query.

    Attributes:
        max_records: ``N``; >= 1.
    """

    max_records: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.at_least("max_records", self.max_records, 1)

    def sensitivity(self, overlap: Overlap, noise: Values) -> float:
        rho = self.floor
        moved = ((self.max_records - 1) * overlap.largest + noise) / (rho * (rho + 1))
        return float(np.mean(overlap.largest / rho + moved)) + _rounding(noise, rho)

    @property
    def most_records(self) -> int | None:
        return self.max_records


def _rounding(noise: Values, floor: float) -> float:
    """Return what rounding on both databases can add to a mean relative error."""
    return (ROUNDING + RELATIVE_ROUNDING * float(np.mean(noise))) / floor
