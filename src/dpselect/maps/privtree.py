"""PrivTree: squares quartered where a biased, noisy count is large, however deep that goes.

A square ``v`` at depth ``h`` that holds ``c(v)`` points is quartered if

    max(θ - δ, c(v) - h δ) + Z > θ,

for discrete Laplace noise ``Z`` of scale λ. With the bias δ a whole path costs little more than
two decisions, whatever its depth.

Why it is private. Let ``θ, δ`` be integers, so that one point more raises the biased counts on
its path by one or not at all. With ``q = e^(-1/λ)``, a square whose raised biased count is
``θ + 1 + j`` is quartered likelier by

    ρ_j = ln((1 + q - q^(j+1))/(1 + q - q^j)) (j ≥ 0),
    ρ_j = 1/λ (j < 0),

which falls in ``j``, and is at most ``q^j/λ``, as it is convex in ``q^j``. Of the squares that
were raised the deepest costs at most ``1/λ``; the one above it has ``j ≥ 0``, and each further
one δ more. With ``n`` levels that can be split,

    ε = 1/λ + S_(n-1),
    S_k = ∑_(0 ≤ i < k) ρ_(iδ),

and there are counts that reach it. A square that is left whole costs ``1/λ``, in the other
direction only: so a point that moves costs ``2/λ + S_(n-2)``, as the two paths have at least
the root in common.

Source: Zhang, Xiao and Xie, "PrivTree: a differentially private algorithm for hierarchical
decompositions", SIGMOD 2016, Algorithm 2, where the noise is continuous and
``λ = (2β - 1)/((β - 1)ε)`` for the fanout β, by summing ``q^(iδ)/λ`` over all depths. Here the
sum is exact for the discrete noise that is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, expm1, log, log1p
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpselect import validation
from dpselect._numbers import boundary
from dpselect.maps.counting import Counts
from dpselect.maps.partition import Partition, nested, uniform_grid
from dpselect.neighbours import Neighbours
from dpselect.typing import Indices

FANOUT = 4
DEEPEST = 12
"""Largest depth: 4,096 cells along an axis, as for other rules."""


@dataclass(frozen=True, slots=True)
class SplitNoise:
    """Scale and bias of the noisy decisions of a tree; public.

    Attributes:
        scale: λ, points.
        decay: δ, points; an integer >= 1, at least ``λ ln 4``, so that empty squares are
            quartered less than once in four.
    """

    scale: float
    decay: int

    @classmethod
    def for_epsilon(
        cls, epsilon: float, *, depth: int, max_per_user: int, neighbours: Neighbours
    ) -> SplitNoise:
        r"""Return the least noise with which a tree is ``epsilon``-DP.

        Guarantee:
            The tree is ``epsilon``-DP under ``neighbours``, for individuals of at most
            ``max_per_user`` points each: as many steps of a share of ``epsilon``.
        """
        share = epsilon / max_per_user
        # One decision alone costs 1 / scale; the scale of the paper, and one decision more for
        # a point that moves, always suffices. In between the loss falls.
        _, high = boundary(
            lambda scale: loss(scale, scale * log(FANOUT), depth, neighbours) <= share,
            1 / share,
            ((2 * FANOUT - 1) / (FANOUT - 1) + 1) / share,
        )
        # The logarithms of the loss err by some 2**-50, relative to it.
        scale = high * (1 + 2.0**-40)
        return cls(scale, ceil(scale * log(FANOUT)))


def loss(scale: float, decay: float, depth: int, neighbours: Neighbours) -> float:
    """Return the exact privacy loss of a tree, for one point.

    Args:
        scale: Noise scale.
        decay: Decay of the counts, by level; at least 1.
        depth: How many levels can be split, >= 1.
        neighbours: ``ADD_REMOVE``, or ``SUBSTITUTE``: there an upper bound for a depth of 1.
    """
    if neighbours is Neighbours.ADD_REMOVE:
        return 1 / scale + _path(scale, decay, depth - 1)
    return 2 / scale + _path(scale, decay, depth - 2)


def _path(scale: float, decay: float, squares: int) -> float:
    """Return the loss of the squares above the deepest one that was raised."""
    if squares <= 0:
        return 0.0
    q = exp(-1 / scale)
    powers = (exp(-i * decay / scale) for i in range(1, squares))
    return 1 / scale + sum(log1p(-p * expm1(-1 / scale) / (1 + q - p)) for p in powers)


@dataclass(frozen=True)
class PrivTree:
    """Squares quartered by noisy decisions on the points.

    Unlike ``Quadtree``, which reads the coarse grid alone, it reads the points on every level
    and has a share of epsilon of its own.

    Guarantee:
        See ``SplitNoise.for_epsilon``.

    Attributes:
        depth: Number of levels that can be split, 1 to 12; cells are at least ``2**-depth`` of
            the box wide. Public.
        threshold: θ, in points, which a biased count must exceed. Public.

    Raises:
        ParameterError: ``depth`` or ``threshold`` is not an integer in its range.
    """

    depth: int = 10
    threshold: int = 0
    name: ClassVar[str] = "privtree"

    def __post_init__(self) -> None:
        validation.at_least("depth", self.depth, 1, DEEPEST)
        validation.at_least("threshold", self.threshold, 0)

    @property
    def label(self) -> str:
        """The rule with its parameters."""
        above = f" threshold={self.threshold}" if self.threshold else ""
        return f"{self.name} depth={self.depth}{above}"

    @property
    def most_rows(self) -> int:
        """The most groups by which an engine counts the leaves."""
        return 4**self.depth

    def grow(self, points: Counts, splits: SplitNoise) -> Partition:
        """Draw a tree and return its leaves as a partition; a release.

        Args:
            points: The points to count. Private.
            splits: The noise.
        """
        leaves = []
        squares = np.zeros((1, 2), np.int64)
        for level, counts in enumerate(self._levels(points)):
            split = self._split(counts[*squares.T], level, splits)
            leaves.append(squares[~split])
            squares = _quarters(squares[split])
            if len(squares) == 0:
                break
        leaves.append(squares)
        return _as_partition(self.label, leaves)

    def _levels(self, points: Counts) -> list[Indices]:
        """Return the counts of all squares, from the whole box down. Private."""
        side = 2 ** (self.depth - 1)
        finest = points.in_cells(uniform_grid(side)).astype(np.int64)
        levels = [finest.reshape(side, side)]
        while side > 1:
            side //= 2
            levels.append(levels[-1].reshape(side, 2, side, 2).sum(axis=(1, 3)))
        return levels[::-1]

    def _split(self, counts: Indices, level: int, splits: SplitNoise) -> NDArray[np.bool]:
        """Decide for each square whether it is quartered."""
        from dpselect.draws.exact.noisy_counts import exceeds

        biased = np.maximum(counts - level * splits.decay, self.threshold - splits.decay)
        return exceeds(biased, self.threshold, splits.scale)


def _quarters(squares: Indices) -> Indices:
    """Return the four squares that each is cut into, positions of the next level."""
    corners = np.array([(i, j) for i in (0, 1) for j in (0, 1)])
    return (2 * squares[:, None, :] + corners).reshape(-1, 2)


def _as_partition(label: str, leaves: list[Indices]) -> Partition:
    """Return the partition of leaves that are given level by level."""
    deepest = max(level for level, squares in enumerate(leaves) if len(squares))
    blocks = []
    for level, squares in enumerate(leaves[: deepest + 1]):
        span = 2 ** (deepest - level)
        sides = np.broadcast_to([span, 1], squares.shape)
        blocks.append(np.column_stack([squares * span, sides]))
    table = np.concatenate(blocks)
    return nested(f"{label} ({len(table):,} cells)", 2**deepest, table)
