"""Exponential mechanism over all cuts of a tree.

A *cut* is a set of nodes such that every leaf is below, or is, exactly one of them. The cut
``C`` has probability ``∝ π(C) e^(-η ∑_(v ∈ C) c_v)`` for the costs ``c_v`` of its nodes. The
public prior π is that of a choice at the root, which may be passed on: at a node of height
``h > 1`` one half goes to its levels 0 to ``h`` in equal parts, where level ``d`` is all nodes
``d`` below it and the leaves above these; the other half leaves it to each child to choose for
itself. At height 1 that would be level 1 again: levels 0 and 1 have one half each.

Sums over all cuts are made from the leaves up: over those below a node they are the sum of the
weights of its levels and of the product of its children's sums.

**Theorem.** With the least cost ``c_d`` of a fixed level ``d``, and the height ``h > 1`` of the
root, the expected cost is at most ``min_d c_d + ln(2 (h + 1)) / η``. *Proof.* Let ``Z`` be the
sum of ``π(C) e^(-η c(C))``, and ``P(C) = π(C) e^(-η c(C)) / Z``. Then the mean of ``η c`` is
``-ln Z - KL(P, π) ≤ -ln Z``, and ``Z`` is at least the term of any one level, whose prior is at
least ``1 / (2 (h + 1))``. ∎

The draw needs no floats: costs are integers, sums are enclosed by integers times a power of
two, and every choice is drawn by inversion (``dpselect.draws.exact.inversion``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from math import inf, log
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dpselect.extend import LOSSES, Indices, Loss, Weights, inversion, name_of, sampler

T = TypeVar("T")

FIRST_BITS = 128

COST_BITS = 63
"""Bits of a cost."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cuts:
    """A tree with the cost of each node in a cut.

    Attributes:
        children: Children of each node; the root is node 0, and a parent comes before its
            children. Public.
        costs: Shape ``(n,)``, int64, >= 0. Private.
    """

    children: Sequence[Sequence[int]]
    costs: Indices

    @property
    def upwards(self) -> range:
        """All nodes, children before their parents."""
        return range(len(self.children) - 1, -1, -1)

    def level(self, node: int, depth: int) -> list[int]:
        """Return the nodes of a level below a node."""
        found = [node]
        for _ in range(depth):
            found = [below for one in found for below in self.children[one] or (one,)]
        return found


def prior(height: int) -> tuple[Fraction, Fraction]:
    """Return the prior of each level of a node, and of a choice by each child.

    Args:
        height: Height of the node, >= 1.
    """
    if height == 1:
        return Fraction(1, 2), Fraction(0)
    return Fraction(1, 2 * (height + 1)), Fraction(1, 2)


def excess(height: int, decay: float) -> float:
    """Return by how much the expected cost exceeds that of the best level, at most.

    Args:
        height: Height of the root, >= 1.
        decay: Nats for each unit of cost.
    """
    return -log(prior(height)[0]) / decay


def log_probability(cuts: Cuts, decay: float, cut: Iterable[int]) -> float:
    """Return the natural logarithm of the probability of a cut; ``-inf`` if it is not a cut.

    Args:
        cuts: The tree. Private.
        decay: Nats for each unit of cost.
        cut: Nodes in any order.
    """
    chosen = set(cut)
    size = len(cuts.children)
    every: list[list[float]] = [[]] * size
    whole, drawn = np.zeros(size), np.zeros(size)
    # Which levels of a node the cut is, and whether it has nodes below.
    levels: list[list[bool]] = [[]] * size
    held = np.zeros(size, dtype=np.bool_)
    for node in cuts.upwards:
        below = cuts.children[node]
        here = -decay * float(cuts.costs[node])
        under = bool(held[list(below)].any())
        held[node] = under or node in chosen
        height = max((len(every[child]) for child in below), default=0)
        every[node], levels[node] = [here], [node in chosen and not under]
        for depth in range(height):
            every[node].append(sum(_at(every[child], depth) for child in below))
            same = all(_at(levels[child], depth) for child in below)
            levels[node].append(same and node not in chosen)
        if height == 0:
            whole[node], drawn[node] = here, here if node in chosen else -inf
            continue
        of_level, of_children = (float(one) for one in prior(height))
        terms = [one + log(of_level) for one in every[node]]
        fits = list(levels[node])
        by_child = drawn[list(below)].sum() if node not in chosen else -inf
        ways = [one for one, fit in zip(terms, fits, strict=True) if fit]
        if of_children:
            terms.append(log(of_children) + whole[list(below)].sum())
            ways.append(log(of_children) + by_child)
        whole[node] = np.logaddexp.reduce(terms)
        drawn[node] = np.logaddexp.reduce(ways) if ways else -inf
    return float(drawn[0] - whole[0])


def _at(levels: Sequence[T], depth: int) -> T:
    """Return what a child has at a depth: its leaves are at all depths below them."""
    return levels[min(depth, len(levels) - 1)]


def _loss(here: Cuts, there: Cuts, public: Mapping[str, Any], cut: list[int]) -> Loss | None:
    """Return the loss of a cut, at the one that was drawn."""
    if here.children != there.children:
        return None
    logs = [log_probability(cuts, float(public["decay"]), cut) for cuts in (here, there)]
    return Loss(0.0, drawn=logs[0] - logs[1])


@sampler
def draw_cut(cuts: Cuts, decay: Fraction) -> list[int]:
    """Draw a cut, exactly.

    Guarantee:
        ``ηΔ``-DP where one neighbour step adds numbers to the costs of cuts of which the
        largest and the least differ by at most Δ.

    Args:
        cuts: The tree, which is public, and the costs, which are private.
        decay: η > 0, in nats for each unit of cost. Public.

    Returns:
        Nodes, ascending; a release.
    """
    sums = cache(partial(_Sums, cuts, decay))

    def option(node: int) -> int:
        return inversion.draw(lambda bits: sums(bits).weights(node), FIRST_BITS)

    cut: list[int] = []
    open_ = [0]
    while open_:
        node = open_.pop()
        below = cuts.children[node]
        if not below:
            cut.append(node)
            continue
        chosen = option(node)
        if chosen < len(sums(FIRST_BITS).levels[node]):
            cut += cuts.level(node, chosen)
        else:
            open_ += below
    return sorted(cut)


LOSSES[name_of(draw_cut)] = _loss


class _Enclosed(NamedTuple):
    """A number between ``low`` and ``high`` times ``2**exponent``."""

    low: int
    high: int
    exponent: int

    def cut(self, digits: int) -> _Enclosed:
        """Return it with so many binary digits."""
        more = digits - self.high.bit_length()
        if more >= 0:
            return _Enclosed(self.low << more, self.high << more, self.exponent - more)
        return _Enclosed(self.low >> -more, -(-self.high >> -more), self.exponent - more)

    def times(self, other: _Enclosed) -> _Enclosed:
        exponent = self.exponent + other.exponent
        return _Enclosed(self.low * other.low, self.high * other.high, exponent)


class _Sums:
    """Sums of weights over all cuts below each node, enclosed by integers.

    Attributes:
        levels: By node, the weight of each of its levels, without the prior.
    """

    def __init__(self, cuts: Cuts, decay: Fraction, bits: int) -> None:
        """Sum up from the leaves, close enough for so many bits."""
        size = len(cuts.children)
        # Every squaring and product of a power doubles its error, and so do sums of all nodes.
        halvings = max(0, (decay.numerator // decay.denominator).bit_length())
        self._digits = bits + 2 * COST_BITS + halvings + 2 * size.bit_length()
        self._powers = self._squares(decay, halvings)
        self._children = cuts.children
        self.levels: list[list[_Enclosed]] = [[]] * size
        self._whole: list[_Enclosed] = [_Enclosed(0, 0, 0)] * size
        for node in cuts.upwards:
            below = cuts.children[node]
            height = max((len(self.levels[child]) for child in below), default=0)
            found = [self._power(int(cuts.costs[node]))]
            found += [
                self._product(_at(self.levels[child], depth) for child in below)
                for depth in range(height)
            ]
            self.levels[node] = found
            self._whole[node] = found[0] if height == 0 else self._sum(node)

    def _squares(self, decay: Fraction, halvings: int) -> list[_Enclosed]:
        """Return e to minus the decay times each power of two."""
        low, high = inversion.exp_minus(decay / 2**halvings, self._digits)
        power = _Enclosed(low, high, -self._digits)
        found = []
        for place in range(halvings + COST_BITS):
            if place >= halvings:
                found.append(power)
            power = power.times(power).cut(self._digits)
        return found

    def _power(self, cost: int) -> _Enclosed:
        ones = (place for place in range(cost.bit_length()) if cost >> place & 1)
        return self._product(self._powers[place] for place in ones)

    def _product(self, factors: Iterable[_Enclosed]) -> _Enclosed:
        found = _Enclosed(1, 1, 0).cut(self._digits)
        for one in factors:
            found = found.times(one).cut(self._digits)
        return found

    def _options(self, node: int) -> tuple[list[tuple[int, int]], int]:
        """Return bounds of the weights of all choices at a node, and their exponent."""
        height = len(self.levels[node]) - 1
        of_level, of_children = prior(height)
        over = of_level.denominator
        terms = [(one, int(of_level * over)) for one in self.levels[node]]
        if of_children:
            by_child = self._product(self._whole[child] for child in self._children[node])
            terms.append((by_child, int(of_children * over)))
        top = max(one.exponent for one, _ in terms)
        bounds = [
            (times * one.low >> top - one.exponent, -(-times * one.high >> top - one.exponent))
            for one, times in terms
        ]
        return bounds, top

    def _sum(self, node: int) -> _Enclosed:
        bounds, exponent = self._options(node)
        over = prior(len(self.levels[node]) - 1)[0].denominator
        low, high = (sum(ends) for ends in zip(*bounds, strict=True))
        # Digits that the division keeps.
        more = over.bit_length()
        low, high = (low << more) // over, -(-(high << more) // over)
        return _Enclosed(low, high, exponent - more).cut(self._digits)

    def weights(self, node: int) -> Weights:
        """Return bounds of the weights of all choices at a node: its levels, its children."""
        return Weights.of(self._options(node)[0])
