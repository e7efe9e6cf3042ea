"""Counts of records that stay in the engine that holds them (polars, DuckDB, PySpark, ...).

Only counts leave the engine. Where few rows of codes can be, all of them are counted by one
query, and the rest is done here, as of a table in memory. Of others each count is one query,
written once as SQL that all engines read; in Spark's own Java a record walks through its trees
by look-ups: nested conditions would be compiled to methods too long for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from dpselect import tables
from dpselect._optional import nw
from dpselect.passes import MOST_SUMS
from dpselect.tables.columns import counts
from dpselect.tables.engine import Engine, array_of, engine_of
from dpselect.tables.kinds import Kind, float_type, rounded
from dpselect.tables.people import PeopleCap
from dpselect.tables.values import refused_type
from dpselect.trees.candidates import Individual, depth
from dpselect.trees.counts import FEW_CELLS, Counts, MemoryCounts, Target, cells_of, flat
from dpselect.trees.domains import OUTSIDE, Bins, Categories, Schema
from dpselect.trees.tree import Split
from dpselect.typing import Indices

LABEL = "label"
TREE, NODE, LEAF, KEY = "tree", "node", "leaf", "key"


class EngineCounts(Counts):
    """Records coded by public domains, in a lazy frame.

    Its results equal those of ``MemoryCounts``, record by record.

    Args:
        data: The frame. Private.
        label: Its column of labels.
        public: Columns, domains and classes.
        users: The persons of the records, if one can have several.
        most: The most records that are counted. Public.

    Raises:
        ColumnError: A column is missing, or of another type than its domain.
    """

    def __init__(
        self, data: object, label: str, public: Schema, users: PeopleCap | None, most: float
    ) -> None:
        self._data, self._public, self._users = data, public, users
        self._classes, self._most = len(public.classes), most
        self._totals: Indices | None = None
        domains = {**public.named, label: Categories(public.classes)}
        untyped = tables.Source.of(data).is_untyped
        fields = [c for c, one in domains.items() if isinstance(one, Bins) and untyped(c)]
        plain = [name for name in domains if name not in fields]
        self._table = tables.check_columns(data, numeric=fields, plain=plain)
        types = self._table.collect_schema()
        for name, domain in domains.items():
            kind = Kind.of(types[name])
            if kind is None or not (kind == Kind.TEXT or kind.is_number):
                raise refused_type(name, types[name])
            domain.check(kind, "y" if name == label else name)
        self._names = [f"code{j}" for j in range(len(public.names))]
        self._coding = dict(zip([*self._names, LABEL], domains.items(), strict=True))
        self._codes = self._known(self._coded())
        if users is not None:
            users.check(data)
            self._table = engine_of(self._table).read([users.user], Kind.TEXT)
            rows = self._coded(more={"user": users.persons(self._table.collect_schema())})
            limited = users.limited(rows, order_by=[LABEL, *self._names])
            self._codes = limited.select(*self._coding)

    @contextmanager
    def held(self) -> Iterator[Counts]:
        """Hold the records for all counts while the block runs."""
        shape = cells_of(self._public)
        # Spark would repeat the codes in the conditions of rows that it filters.
        codes = self._coded() if self._users is None else self._codes
        if prod(shape) <= FEW_CELLS:
            cell = nw.lit(0)
            for name, size in zip(self._coding, shape, strict=True):
                cell = cell * size + nw.col(name)
            records = self._tallied(codes.select(cell.alias(KEY)), prod(shape))
            cells = np.flatnonzero(records)
            yield MemoryCounts.of_cells(self._public, cells, records[cells])
            return
        small = codes.select(nw.col(*self._coding).cast(nw.Int32))
        with engine_of(small).cached() as kept:
            self._codes = self._known(kept)
            # Reads all records: a file that cannot be read is an error before the spend.
            self._totals = self.totals()
            yield self

    def number(self) -> int:
        """Return the number of records; of those that are counted, if persons are limited."""
        if self._users is None:
            return tables.count_records(self._data)
        row = tables.collect(self._codes.select(nw.len().alias("n")), self._data, most=1)
        return int(row["n"][0])

    def totals(self) -> Indices:
        if self._totals is None:
            return self._tallied(self._codes.select(nw.col(LABEL).alias(KEY)), self._classes)
        return self._totals

    def tables(self, splits: Target, leaves: int) -> list[list[Indices]]:
        sizes = self._public.sizes
        starts = np.cumsum(sizes) - sizes
        width, classes = int(sizes.sum()), self._classes
        if self._looks_up:
            rows = self._reached([splits])
        else:
            leaf = f"CAST({_leaf(splits)} AS BIGINT)"
            rows = engine_of(self._codes).with_sql({LEAF: leaf})
        # Null for a record that no leaf counts: Spark would repeat the leaf in a filter.
        place = (nw.col(LEAF) * classes + nw.col(LABEL)) * width
        keys = rows.select(
            (place + start + nw.col(name)).alias(name)
            for name, start in zip(self._names, starts.tolist(), strict=True)
        )
        found = self._tallied(engine_of(keys).joined(KEY), leaves, classes, width)
        return [np.split(leaf.T, starts[1:]) for leaf in found]

    def hits(self, trees: Sequence[Individual]) -> Indices:
        blocks = (trees[first : first + MOST_SUMS] for first in range(0, len(trees), MOST_SUMS))
        return np.concatenate([self._right(some) for some in blocks])

    def _right(self, trees: Sequence[Individual]) -> Indices:
        """Return what ``hits`` does, by one query."""
        key = f"CASE WHEN {{}} = {LABEL} THEN {{}} * {self._classes} + {LABEL} END"
        if self._looks_up:
            rows, keys = self._reached(trees), {KEY: key.format(LEAF, TREE)}
        else:
            rows = self._codes
            keys = {f"tree{k}": key.format(_leaf(tree), k) for k, tree in enumerate(trees)}
        right = engine_of(rows).with_sql(keys).select(*keys)
        every = right if self._looks_up else engine_of(right).joined(KEY)
        return self._tallied(every, len(trees), self._classes)

    def outside(self) -> list[int]:
        """Return how many values of each column, and how many labels, were not declared."""
        sums = [nw.col(name).is_null().cast(nw.Int64).sum() for name in self._coding]
        coded = self._coded(repaired=False).select(*sums)
        row = tables.collect(coded, self._data, most=1)
        return [int(counts(one)[0]) for one in row.values()]

    def _known(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return the rows that have a code of every column."""
        return rows.filter(*(~nw.col(name).is_null() for name in self._coding))

    def _tallied(self, keys: nw.LazyFrame[Any], *shape: int) -> Indices:
        """Return how often each key occurs, as an array; null is not counted."""
        most = int(min(prod(shape), self._most * len(self._names))) + 1
        counted = engine_of(keys).grouped([KEY], "count")
        table = tables.collect(counted, self._data, most=most)
        known = np.array([key is not None for key in table[KEY].tolist()], dtype=bool)
        out = np.zeros(prod(shape), np.int64)
        out[counts(table[KEY][known])] = counts(table["count"][known])
        return out.reshape(shape)

    @property
    def _looks_up(self) -> bool:
        """Whether records walk through trees by look-ups."""
        return (engine := engine_of(self._codes)).f is not None and not engine.forgets

    def _reached(self, trees: Sequence[Target]) -> nw.LazyFrame[Any]:
        """Return records by tree, with the leaf that each reaches, null for none."""
        f = engine_of(self._codes).f
        node = f.col(NODE)
        columns, firsts, targets, roots = flat(*trees)
        none = columns.size  # nodes are splits before it and leaves after it
        targets, roots = (np.where(at < 0, none - 1 - at, at) for at in (targets, roots))
        native = nw.to_native(self._codes)
        native = native.select("*", f.posexplode(array_of(f, roots)).alias(TREE, NODE))
        column, first, target = (array_of(f, each) for each in (columns, firsts, targets))
        answers = f.array(*map(f.col, self._names))
        for _ in range(max(map(depth, trees))):
            # What is no split has no column, so its look-ups are null.
            answer = f.get(answers, f.get(column, node))
            below = f.get(target, f.get(first, node) + answer)
            native = native.withColumn(NODE, f.coalesce(below, node))
        leaf = f.when(node > none, node - none - 1).cast("bigint")
        return nw.from_native(native.withColumn(LEAF, leaf))

    def _coded(
        self, *, repaired: bool = True, more: Mapping[str, nw.Expr] | None = None
    ) -> nw.LazyFrame[Any]:
        """Return the codes of all records, null for a value that has no place.

        Args:
            repaired: Whether values that were not declared go where their domain says.
            more: Other columns to return, by name.
        """
        types, engine = self._table.collect_schema(), engine_of(self._table)
        edges, listed, values = {}, {}, list[nw.Expr]()
        for name, (column, domain) in self._coding.items():
            value, held = _value(engine, column, types[column]), float_type(types[column])
            if isinstance(domain, Bins):
                edges[name] = domain.inner(held)
                if not repaired:
                    low, high = (rounded(end, held) for end in (domain.low, domain.high))
                    value = nw.when((value >= low) & (value <= high)).then(value)
            elif isinstance(domain, Categories):
                listed[name] = domain.held(held, repaired=repaired)
            values.append(value.alias(name))
        rows = self._table.lazy().select(*values, **(more or {}))
        found = engine_of(engine_of(rows).placed(edges)).coded(listed)
        repairs = [
            nw.col(name).fill_null(domain.unknown)
            for name, (_, domain) in self._coding.items()
            if repaired and domain.unknown != OUTSIDE
        ]
        return found.with_columns(*repairs) if repairs else found


def _leaf(target: Target) -> str:
    """Return SQL for the number of the leaf that a record reaches; null for none."""
    if not isinstance(target, Split):
        return "NULL" if target is None else str(target)
    leaves = [*map(_leaf, target.branches)]
    return _below(f"code{target.column}", target.branch_of, leaves, 0, len(target.branch_of))


def _below(
    code: str, branch_of: Sequence[int], leaves: Sequence[str], first: int, last: int
) -> str:
    """Return SQL for the leaf below a code from ``first`` on and before ``last``, by halves.

    One case for each code would be nested as deep as there are codes. What is below a question
    stands there once: twice at each of five would be 32 times.
    """
    edges = [at for at in range(first + 1, last) if branch_of[at] != branch_of[at - 1]]
    if not edges:
        return leaves[branch_of[first]]
    here, there = (leaves[branch_of[at]] for at in (edges[0], first))
    if len(edges) == 2 and branch_of[first] == branch_of[last - 1]:
        asked = f"{code} BETWEEN {edges[0]} AND {edges[1] - 1}"
        return f"CASE WHEN {asked} THEN {here} ELSE {there} END"
    middle = edges[len(edges) // 2]
    above = _below(code, branch_of, leaves, middle, last)
    below = _below(code, branch_of, leaves, first, middle)
    return f"CASE WHEN {code} >= {middle} THEN {above} ELSE {below} END"


def _value(engine: Engine, column: str, dtype: Any) -> nw.Expr:  # noqa: ANN401 -- narwhals' types
    """Return a value as text, an integer or float64, null for what is missing."""
    if Kind.of(dtype) == Kind.TEXT:
        return nw.col(column).cast(nw.String)
    if dtype == nw.Boolean:
        return nw.col(column).cast(nw.Int64)
    return nw.col(column) if dtype.is_integer() else engine.without_nan(column)
