"""Growing a tree level by level, where a pass over the records is dear.

What is drawn, at which price and in which law, is what
:meth:`~dpselect.trees.growth.Growth.grow` draws; only the order of the draws differs, and they
are independent. All open nodes of a level are counted in one pass, and the counts of a child
are a row of its parent's table: a tree of depth :math:`d` takes :math:`d + 1` passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpselect.tables import Fork, Way
from dpselect.trees.engine import EngineRecords
from dpselect.trees.growth import Growth
from dpselect.trees.sampling import Sampler
from dpselect.trees.structure import Leaf, Node, Split
from dpselect.typing import Indices


@dataclass(eq=False)
class _Place:
    """A node that is growing.

    Attributes:
        columns: What may be asked for below it.
        counts: Records of each class; private.
        chosen: The column that was drawn, if it is a split.
        below: The place of each code, if it is a split.
        leaf: What is released, if it is a leaf.
    """

    columns: Indices
    counts: Indices
    chosen: int = -1
    below: list[_Place] = field(default_factory=list)
    leaf: Leaf | None = None


def grow(plan: Growth, held: EngineRecords, sampler: Sampler) -> Node:
    """Return the root of a tree drawn from records in an engine."""
    root = _Place(np.arange(len(plan.schema.names)), held.totals())
    level, units = [root], 2 * (plan.depth + 1)
    while level:
        split = [place for place in level if _is_split(plan, place, units, sampler)]
        level = []
        if split:
            tables = held.tables(_way(root, split), len(split))
            for place, counted in zip(split, tables, strict=True):
                level += _branch(plan, place, counted, sampler)
        units -= 2
    return _node(root)


def _is_split(plan: Growth, place: _Place, units: int, sampler: Sampler) -> bool:
    """Ask whether a place has enough records, and make it a leaf if not."""
    if units > 2:
        if plan.is_enough(place.counts, place.columns, sampler):
            return True
        units -= 1
    place.leaf = plan.leaf(place.counts, units, sampler)
    return False


def _branch(
    plan: Growth, place: _Place, tables: list[Indices], sampler: Sampler
) -> list[_Place]:
    chosen = plan.choose(tables, place.columns, sampler)
    left = place.columns[place.columns != chosen]
    place.chosen = chosen
    place.below = [_Place(left, counts) for counts in tables[chosen]]
    return place.below


def _way(place: _Place, split: list[_Place]) -> Way:
    if place in split:
        return split.index(place)
    if place.leaf is not None:
        return None
    return Fork(f"code{place.chosen}", tuple(_way(below, split) for below in place.below))


def _node(place: _Place) -> Node:
    if place.leaf is not None:
        return place.leaf
    below = tuple(_node(child) for child in place.below)
    return Split(place.chosen, tuple(range(len(below))), below)
