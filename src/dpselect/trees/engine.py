"""Counts of records that stay in the engine that holds them (polars, DuckDB, PySpark, ...).

Each count is one query, written once as narwhals expressions; only the counts leave the engine.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, cast

import narwhals as nw
import numpy as np

from dpselect import tables
from dpselect.tables.collecting import counts, sum_in_blocks
from dpselect.tables.engine import engine_of
from dpselect.tables.kinds import Kind, declared, float_type, rounded
from dpselect.tables.lookup import with_codes, with_positions, without_nan
from dpselect.tables.people import PeopleCap
from dpselect.tables.spark_engine import Spark
from dpselect.tables.values import refused_type
from dpselect.trees import records
from dpselect.trees.candidates import Individual, as_split
from dpselect.trees.counts import Target, flat
from dpselect.trees.domains import Bins, Categories
from dpselect.trees.tree import Split
from dpselect.typing import Indices, Values

LABEL = "label"
NODE, PLACE, KEY = "node", "place", "key"


class EngineCounts:
    """Records coded by public domains, in a lazy frame.

    Its results equal those of ``MemoryCounts``, record by record.

    Args:
        data: The frame. Private.
        label: Its column of labels.
        public: Columns, domains and classes.
        users: The persons of the records, if one can have several.
        most_records: The most records that are counted. Public.

    Raises:
        ColumnError: A column is missing, or of another type than its domain.
    """

    def __init__(
        self,
        data: object,
        label: str,
        public: records.Schema,
        users: PeopleCap | None = None,
        most_records: float = inf,
    ) -> None:
        self._data, self._public, self._users = data, public, users
        self._most_records = most_records
        self._totals: Indices | None = None
        table = tables.check_columns(data, plain=[*public.names, label])
        binned = zip(public.names, public.domains, strict=True)
        fields = [name for name, one in binned if not isinstance(one, Categories)]
        fields = [name for name in fields if tables.Source.of(data).is_untyped(name)]
        self._table = tables.as_numbers(table, data, fields)
        self._columns = (*public.names, label)
        self._domains = (*public.domains, Categories(public.classes))
        types = self._table.collect_schema()
        for name, shown, domain in zip(
            self._columns, (*public.names, "y"), self._domains, strict=True
        ):
            domain.check(_kind(name, types[name]), shown)
        self._codes = _known(self._coded(), self._names)
        if users is not None:
            users.check(data)
            rows = self._coded(more={"user": users.persons(types)})
            order_by = [LABEL, *self._names[:-1]]
            self._codes = users.limited(rows, order_by=order_by).select(*self._names)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the codes in the engine while the block runs, for all counts."""
        before = self._codes
        # Spark would repeat the codes in the conditions of rows that it filters.
        codes = self._coded() if self._users is None else before
        small = codes.select(
            nw.col(name).cast(_width(domain.size))
            for name, domain in zip(self._names, self._domains, strict=True)
        )
        with engine_of(small).cached() as kept:
            self._codes = _known(kept, self._names)
            try:
                # Reads all records: a file that cannot be read is an error before the spend.
                self._totals = self.totals()
                yield
            finally:
                self._codes, self._totals = before, None

    def number(self) -> int:
        if self._users is None:
            return tables.count_records(self._data)
        row = tables.collect(self._codes.select(nw.len().alias("n")), self._data, most=1)
        return int(row["n"][0])

    def totals(self) -> Indices:
        if self._totals is not None:
            return self._totals
        [first] = self._count({_name(0): int(self._public.sizes[0])}, 0, 1)
        return np.asarray(first.sum(axis=0))

    def tables(self, splits: Target, leaves: int) -> list[list[Indices]]:
        sizes = {_name(j): int(size) for j, size in enumerate(self._public.sizes)}
        ends = np.cumsum(self._public.sizes)[:-1]
        return [np.split(leaf, ends) for leaf in self._count(sizes, splits, leaves)]

    def hits(self, trees: Sequence[Individual]) -> Indices:
        targets = [as_split(tree, self._public, int) for tree in trees]
        return count_hits(self._codes, LABEL, len(self._public.classes), targets)

    def refuse_outside(self) -> None:
        """Raise as ``refuse_outside`` does."""
        coded = self._coded(repaired=False)
        sums = coded.select(nw.col(c).is_null().cast(nw.Int64).sum() for c in self._names)
        [row] = zip(*tables.collect(sums, self._data, most=1).values(), strict=True)
        for name, count in zip((*self._public.names, None), row, strict=True):
            if count:
                raise records.outside(name)

    @property
    def _names(self) -> tuple[str, ...]:
        """The columns of the codes, that of the labels last."""
        return (*map(_name, range(len(self._public.names))), LABEL)

    def _count(self, sizes: dict[str, int], splits: Target, leaves: int) -> Indices:
        classes = len(self._public.classes)
        return count_tables(
            self._codes, sizes, LABEL, classes, splits, leaves, self._most_records
        )

    def _coded(
        self, *, repaired: bool = True, more: Mapping[str, nw.Expr] | None = None
    ) -> nw.LazyFrame[Any]:
        """Return the codes of all records, null for a value that has no place.

        Args:
            repaired: Whether values outside of their domain go where it says.
            more: Other columns to return, by name.
        """
        types = self._table.collect_schema()
        edges: dict[str, Values] = {}
        listed: dict[str, Sequence[Hashable]] = {}
        others: dict[str, int] = {}
        values: list[nw.Expr] = []
        for name, column, domain in zip(self._names, self._columns, self._domains, strict=True):
            value = _value(column, types[column])
            if isinstance(domain, Bins):
                if not repaired:
                    held = float_type(types[column])
                    low, high = (rounded(end, held) for end in (domain.low, domain.high))
                    inside = (value >= low) & (value <= high)
                    value = nw.when(inside).then(value)
                edges[name] = domain.inner(float_type(types[column]))
                other = domain.bins
            else:
                known = cast("Categories", domain)
                every = known.held(float_type(types[column]))
                listed[name] = every if repaired else every[: len(known.values)]
                other = known.listed.index(known.other) if known.other is not None else 0
            values.append(value.alias(name))
            if repaired and domain.other is not None:
                others[name] = other
        found = with_codes(
            with_positions(self._table.lazy().select(*values, **(more or {})), edges),
            listed,
        )
        repairs = [nw.col(c).fill_null(other) for c, other in others.items()]
        return found.with_columns(*repairs) if repairs else found


def count_tables(
    codes: object,
    sizes: Mapping[str, int],
    label: str,
    classes: int,
    splits: Target,
    leaves: int,
    most_records: float = inf,
) -> Indices:
    """Count records by leaf of a partial tree, value of each column and class.

    One wide grouping by leaf and class, a sum for every value: rows are never turned into
    one for each column, which takes four times as long at the least and up to 600 times.

    Args:
        codes: A frame with columns of codes from 0, and the class. Private.
        sizes: The columns to count, each with the number of its codes. Public.
        label: The column of the class, ``0`` to ``classes - 1``.
        classes: How many classes there are.
        splits: The partial tree, its leaves numbered from 0.
        leaves: How many leaves there are.
        most_records: The most records that are counted. Public.

    Returns:
        Shape ``(leaves, values of all columns, classes)``. Private.

    Raises:
        DataError: The engine refuses the query.
    """
    table = tables.open_table(codes).lazy()
    size = sum(sizes.values())
    engine = engine_of(table)
    if isinstance(engine, Spark):
        # One number for each value of a record.
        f, forest = engine.f, _Forest([splits])
        native = nw.to_native(table).withColumn(NODE, f.lit(int(forest.roots[0])))
        native = forest.walked(engine, native)
        # The place of a record that no leaf counts is null.
        leaf = f.when(f.col(NODE) >= forest.leaf, f.col(NODE) - forest.leaf).cast("bigint")
        native = native.withColumn(PLACE, (leaf * classes + f.col(label)) * size)
        starts = np.cumsum([0, *sizes.values()]).tolist()
        keys = f.array(
            *(f.col(PLACE) + start + f.col(c) for c, start in zip(sizes, starts, strict=False))
        )
        counted = f.explode(f.when(f.col(PLACE).isNotNull(), keys))
        # A row for each cell of a record, and one for the records that are not counted.
        most = int(min(leaves * classes * size, most_records * len(sizes))) + 1
        shape = leaves, classes, size
        found = _spark_counts(native.select(counted.alias(KEY)), codes, shape, most)
        return found.transpose(0, 2, 1)
    values = [(column, code) for column, size in sizes.items() for code in range(size)]
    counted = table.with_columns(_leaf(splits).alias("leaf"))
    counted = counted.filter(~nw.col("leaf").is_null())
    sums = [
        (nw.col(column) == code).cast(nw.Int64).sum().alias(f"value{position}")
        for position, (column, code) in enumerate(values)
    ]
    out = np.zeros((leaves, len(values), classes), dtype=np.int64)
    groups = ["leaf", label]
    most = int(min(leaves * classes, most_records))
    for block in sum_in_blocks(counted, codes, sums, by=groups, most=most):
        leaf, group = counts(block.pop("leaf")), counts(block.pop(label))
        for name, column in block.items():
            out[leaf, int(name.removeprefix("value")), group] = counts(column)
    return out


def count_hits(codes: object, label: str, classes: int, trees: Sequence[Target]) -> Indices:
    """Count the records that each tree assigns to the class that they have.

    Args:
        codes: A frame with columns of codes from 0, and the class. Private.
        label: The column of the class, ``0`` to ``classes - 1``.
        classes: How many classes there are.
        trees: The number of a leaf is a class. Public.

    Returns:
        Shape ``(trees, classes)``. Private.

    Raises:
        DataError: The engine refuses the query.
    """
    table = tables.open_table(codes).lazy()
    engine = engine_of(table)
    if isinstance(engine, Spark):
        # In one pass for all trees.
        f, forest = engine.f, _Forest(trees)
        each = f.posexplode(engine.array(forest.roots)).alias(PLACE, NODE)
        native = forest.walked(engine, nw.to_native(table).select("*", each))
        hit = f.col(NODE) == f.col(label) + forest.leaf
        key = f.when(hit, f.col(PLACE) * classes + f.col(label))
        shape, most = (len(trees), classes), len(trees) * classes + 1
        return _spark_counts(native.select(key.alias(KEY)), codes, shape, most)
    hits = [
        (_leaf(tree) == nw.col(label)).cast(nw.Int64).sum().alias(f"tree{position}")
        for position, tree in enumerate(trees)
    ]
    out = np.zeros((len(trees), classes), dtype=np.int64)
    for block in sum_in_blocks(table, codes, hits, by=[label], most=classes):
        group = counts(block.pop(label))
        for name, column in block.items():
            out[int(name.removeprefix("tree")), group] = counts(column)
    return out


def _leaf(target: Target) -> nw.Expr:
    """Return the number of the leaf that a record reaches; null for none."""
    if not isinstance(target, Split):
        return nw.lit(target, nw.Int64)
    code, below = nw.col(_name(target.column)), [_leaf(one) for one in target.branches]
    found = _below(code, target.branch_of, below, 0, len(target.branch_of))
    return nw.when(~code.is_null()).then(found)


def _below(
    code: nw.Expr, branch_of: Sequence[int], leaves: Sequence[nw.Expr], first: int, last: int
) -> nw.Expr:
    """Return the leaf below a code from ``first`` on and before ``last``, by halves.

    One case for each code would be nested as deep as there are codes.
    """
    if len(set(branch_of[first:last])) == 1:
        return leaves[branch_of[first]]
    middle = (first + last) // 2
    return (
        nw.when(code >= middle)
        .then(_below(code, branch_of, leaves, middle, last))
        .otherwise(_below(code, branch_of, leaves, first, middle))
    )


def _name(column: int) -> str:
    return f"code{column}"


def _known(rows: nw.LazyFrame[Any], columns: Sequence[str]) -> nw.LazyFrame[Any]:
    """Return the rows that have a value in all columns."""
    return rows.filter(*(~nw.col(column).is_null() for column in columns))


def _width(codes: int) -> type[nw.Int8 | nw.Int16 | nw.Int64]:
    """Return the smallest type that holds so many codes."""
    return nw.Int8 if codes <= 2**7 else nw.Int16 if codes <= 2**15 else nw.Int64


def _value(column: str, dtype: Any) -> nw.Expr:  # noqa: ANN401 -- narwhals' types
    """Return a value as text, an integer or float64, null for what is missing."""
    if _kind(column, dtype) == "text":
        return nw.col(column).cast(nw.String)
    if dtype == nw.Boolean:
        return nw.col(column).cast(nw.Int64)
    return nw.col(column) if dtype.is_integer() else without_nan(column)


def _kind(name: str, dtype: Any) -> Kind:  # noqa: ANN401 -- narwhals' types
    kind = declared(dtype)
    if kind in {"integer", "boolean", "numbers"}:
        return "numbers"
    if kind == "text":
        return kind
    raise refused_type(name, dtype)


def _spark_counts(keys: Any, data: object, shape: tuple[int, ...], most: int) -> Indices:  # noqa: ANN401
    """Return how often each key occurs, as an array of a shape; null is not counted."""
    table = tables.collect(nw.from_native(keys.groupBy(KEY).count()), data, most=most)
    known = np.array([key is not None for key in table[KEY].tolist()], dtype=bool)
    out = np.zeros(int(np.prod(shape)), np.int64)
    out[counts(table[KEY][known])] = counts(table["count"][known])
    return out.reshape(shape)


class _Forest:
    """Trees as arrays; a node is the position of a split, or a number beyond them all.

    For Spark, where nested conditions and wide sums would be compiled to methods too long for
    Java. A record walks through the arrays by look-ups, so that queries are as short for a
    large tree as for a small one.

    Args:
        trees: Partial trees. Public.

    Attributes:
        roots: The node that each tree begins with.
        leaf: The node of leaf 0; those of the others follow, and inner nodes come before.
    """

    def __init__(self, trees: Sequence[Target]) -> None:
        self._columns, self._firsts, targets, roots = flat(*trees)
        self._depth = max(map(_depth, trees))
        last = self._columns.size
        self.leaf = last + 1
        self._targets, self.roots = (
            np.where(nodes < 0, last - 1 - nodes, nodes) for nodes in (targets, roots)
        )

    def walked(self, spark: Spark, native: Any) -> Any:  # noqa: ANN401
        """Return rows with the node that they reach from theirs, all questions answered."""
        if not self._depth:
            return native
        f = spark.f
        node = f.col(NODE)
        arrays = (self._columns, self._firsts, self._targets)
        column, first, target = (spark.array(one) for one in arrays)
        answers = f.array(*(f.col(f"code{j}") for j in range(int(self._columns.max()) + 1)))
        for _ in range(self._depth):
            # What is no split has no column, so its look-ups are null.
            answer = f.get(answers, f.get(column, node))
            below = f.get(target, f.get(first, node) + answer)
            native = native.withColumn(NODE, f.coalesce(below, node))
        return native


def _depth(tree: Target) -> int:
    return 1 + max(map(_depth, tree.branches)) if isinstance(tree, Split) else 0
