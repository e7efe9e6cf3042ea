"""Counts of coded records on Spark: one grouping by an integer for each value of a record.

Nested conditions and wide sums would be compiled to methods too long for Java. Trees are
arrays here instead, which a record walks through by look-ups, so that queries are as short for
a large tree as for a small one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from dpselect.passes import Pass
from dpselect.tables.collecting import collect, counts
from dpselect.tables.spark import array_of, functions
from dpselect.trees.counts import Branching, Target, flat
from dpselect.typing import Indices

NODE, PLACE, KEY = "node", "place", "key"


def count_tables(
    codes: nw.LazyFrame[Any],
    data: object,
    sizes: Mapping[str, int],
    label: str,
    classes: int,
    splits: Target,
    leaves: int,
    most: Pass,
) -> Indices:
    """Count as :func:`dpselect.trees.engine.count_tables` does.

    Args:
        codes: Columns of codes from 0, and the class. Private.
        data: What they were made from, to name in an error.
        sizes: The columns to count, each with the number of its codes. Public.
        label: The column of the class.
        classes: How many classes there are.
        splits: The partial tree.
        leaves: How many leaves there are.
        most: The most cells that hold records.
    """
    f = functions(codes)
    starts = np.cumsum([0, *sizes.values()]).tolist()
    forest = Forest([splits])
    native = nw.to_native(codes).withColumn(NODE, f.lit(int(forest.roots[0])))
    native = forest.walked(codes, native)
    # The place of a record that no leaf counts is null.
    leaf = f.when(f.col(NODE) >= forest.leaf, f.col(NODE) - forest.leaf).cast("bigint")
    native = native.withColumn(PLACE, (leaf * classes + f.col(label)) * starts[-1])
    keys = f.array(
        *(f.col(PLACE) + start + f.col(c) for c, start in zip(sizes, starts, strict=False))
    )
    counted = f.explode(f.when(f.col(PLACE).isNotNull(), keys))
    shape = leaves, classes, starts[-1]
    return _counted(native.select(counted.alias(KEY)), data, shape, most).transpose(0, 2, 1)


def count_hits(
    codes: nw.LazyFrame[Any],
    data: object,
    label: str,
    classes: int,
    trees: Sequence[Target],
    most: Pass,
) -> Indices:
    """Count as :func:`dpselect.trees.engine.count_hits` does, in one pass for all trees.

    Args:
        codes: Columns of codes from 0, and the class. Private.
        data: What they were made from, to name in an error.
        label: The column of the class.
        classes: How many classes there are.
        trees: The number of a leaf is a class. Public.
        most: The most hits that are not 0.
    """
    f = functions(codes)
    forest = Forest(trees)
    native = nw.to_native(codes)
    native = native.select("*", f.posexplode(array_of(codes, forest.roots)).alias(PLACE, NODE))
    native = forest.walked(codes, native)
    hit = f.col(NODE) == f.col(label) + forest.leaf
    key = f.when(hit, f.col(PLACE) * classes + f.col(label))
    return _counted(native.select(key.alias(KEY)), data, (len(trees), classes), most)


def _counted(keys: Any, data: object, shape: tuple[int, ...], most: Pass) -> Indices:  # noqa: ANN401
    """Return how often each key occurs, as an array of a shape; null is not counted."""
    [rows] = most.queries(spark=True)
    table = collect(nw.from_native(keys.groupBy(KEY).count()), data, most=int(rows))
    known = np.array([key is not None for key in table[KEY].tolist()], dtype=bool)
    out = np.zeros(int(np.prod(shape)), np.int64)
    out[counts(table[KEY][known])] = counts(table["count"][known])
    return out.reshape(shape)


class Forest:
    """Trees as arrays; a node is the position of a branching, or a number beyond them all.

    Args:
        trees: Partial trees. Public.

    Attributes:
        roots: The node that each tree begins with.
        leaf: The node of leaf 0; those of the others follow, and what is no leaf is before.
    """

    def __init__(self, trees: Sequence[Target]) -> None:
        self._columns, self._firsts, targets, roots = flat(*trees)
        self._depth = max(map(_depth, trees))
        last = self._columns.size
        self.leaf = last + 1
        self._targets, self.roots = (
            np.where(nodes < 0, last - 1 - nodes, nodes) for nodes in (targets, roots)
        )

    def walked(self, codes: nw.LazyFrame[Any], native: Any) -> Any:  # noqa: ANN401
        """Return rows with the node that they reach from theirs, all questions answered."""
        if not self._depth:
            return native
        f = functions(codes)
        node = f.col(NODE)
        arrays = (self._columns, self._firsts, self._targets)
        column, first, target = (array_of(codes, one) for one in arrays)
        answers = f.array(*(f.col(f"code{j}") for j in range(int(self._columns.max()) + 1)))
        for _ in range(self._depth):
            # What is no branching has no column, so its look-ups are null.
            answer = f.get(answers, f.get(column, node))
            below = f.get(target, f.get(first, node) + answer)
            native = native.withColumn(NODE, f.coalesce(below, node))
        return native


def _depth(tree: Target) -> int:
    if not isinstance(tree, Branching):
        return 0
    return 1 + max(map(_depth, tree.targets))
