"""Released tables of codes: noisy counts of a cut of their tree, and all sums above it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, expm1, sqrt
from typing import Any

import numpy as np

from dpselect import Release
from dpselect.errors import ParameterError
from dpselect.extend import Indices
from dpselect_applications.levels.hierarchy import Hierarchy

ROWS = 40
"""Rows that are printed, at most."""

INDENT = "  "


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LevelsRelease(Release[str]):
    """Noisy counts of cells, such that every leaf of the tree is in one cell; safe to publish.

    The answer has the codes of the cells, in the order of the tree. All methods are
    post-processing.

    Attributes:
        counts: Noisy counts of the cells, in their order; can be negative.
        scale: Scale of their discrete Laplace noise.
    """

    counts: tuple[int, ...]
    scale: float

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same answer of equal queries."""
        if not isinstance(other, LevelsRelease):
            return NotImplemented
        return (self.released(), self.query) == (other.released(), other.query)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The public tree."""
        found = getattr(self.query, "hierarchy", None)
        if not isinstance(found, Hierarchy):
            raise ParameterError("the release has no query, and so no tree")
        return found

    @cached_property
    def standard_deviation(self) -> float:
        """Standard deviation of the noise in one cell."""
        return sqrt(2 * exp(-1 / self.scale)) / -expm1(-1 / self.scale)

    def released(self) -> dict[str, Any]:
        more = {"counts": list(self.counts), "scale_of_counts": self.scale}
        return {**super().released(), **more}

    def table(self) -> dict[str, list[Any]]:
        """Return a row for each cell and every code above one, with its level from 0 on.

        A code above cells has the sum of their counts; ``cells`` is their number, and
        ``standard_error`` the standard deviation of their noise together.
        """
        every = range(len(self._cells))
        return self._rows([node for node in every if self._cells[node] > 0])

    def shown(self) -> dict[str, list[Any]]:
        """Return the rows of the finest levels that are together few enough to print."""
        found = self._rows(self._printed.tolist())
        levels = found.pop("level")
        found["code"] = [
            INDENT * level + code for level, code in zip(levels, found["code"], strict=True)
        ]
        errors = [round(one, 1) for one in found.pop("standard_error")]
        return {**found, "standard error": errors}

    def leaves(self) -> dict[str, float]:
        """Return an estimate of the count of each leaf: an even share of its cell's count."""
        shape = self.hierarchy.shape
        found = np.empty(int(shape.leaves[0]))
        for code, count in zip(self.answer, self.counts, strict=True):
            node = self.hierarchy.places[code]
            found[shape.first[node] : shape.last[node]] = count / shape.leaves[node]
        codes = (self.hierarchy.codes[node] for node in np.flatnonzero(shape.leaves == 1))
        codes = (one for one in codes if not shape.children[self.hierarchy.places[one]])
        return dict(zip(codes, found.tolist(), strict=True))

    @cached_property
    def _sums(self) -> Indices:
        """Sums of the counts below each node, then the numbers of cells; shape ``(2, n)``."""
        shape, places = self.hierarchy.shape, self.hierarchy.places
        sums = np.zeros((2, len(shape.children)), dtype=np.int64)
        at = [places[code] for code in self.answer]
        sums[:, at] = self.counts, [1] * len(at)
        for node in range(len(shape.children) - 1, -1, -1):
            if shape.children[node]:
                sums[:, node] += sums[:, list(shape.children[node])].sum(axis=1)
        return sums

    @cached_property
    def _printed(self) -> Indices:
        """The nodes whose rows are printed."""
        depths = self.hierarchy.shape.depths
        rows = (
            np.flatnonzero((self._cells > 0) & (depths <= level))
            for level in range(int(depths.max()), -1, -1)
        )
        return next((one for one in rows if one.size <= ROWS), np.array([0]))

    @property
    def _cells(self) -> Indices:
        return self._sums[1]

    def _rows(self, nodes: list[int]) -> dict[str, list[Any]]:
        cells = self._cells[nodes].tolist()
        return {
            "code": [self.hierarchy.codes[node] for node in nodes],
            "level": self.hierarchy.shape.depths[nodes].tolist(),
            "count": self._sums[0][nodes].tolist(),
            "cells": cells,
            "standard_error": [sqrt(one) * self.standard_deviation for one in cells],
        }
