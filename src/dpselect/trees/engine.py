"""Counts of records that stay in the engine that holds them (polars, DuckDB, PySpark, ...).

Each count is one query, written once as narwhals expressions; only the counts leave the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import narwhals as nw
import numpy as np

from dpselect import tables
from dpselect.tables.collecting import counts, sum_in_blocks
from dpselect.tables.users import UserCap, weight_of
from dpselect.tables.values import Kind, refused_type
from dpselect.trees import records
from dpselect.trees.candidates import Individual, branches
from dpselect.trees.counts import Branching, Target
from dpselect.trees.domains import Bins, Categories, Domain
from dpselect.trees.users import counted_rows
from dpselect.typing import Indices

LABEL = "label"


class EngineCounts:
    """Records coded by public domains, in a lazy frame.

    Its results equal those of :class:`~dpselect.trees.counts.MemoryCounts`, record by record.

    Args:
        data: The frame. Private.
        label: Its column of labels.
        public: Columns, domains and classes.
        users: The persons of the records, if one can have several.

    Raises:
        ColumnError: A column is missing, or of another type than its domain.
    """

    def __init__(
        self, data: object, label: str, public: records.Schema, users: UserCap | None = None
    ) -> None:
        self._data, self._label, self._public = data, label, public
        self._users = users
        self._table = tables.check_columns(data, plain=[*public.names, label])
        self._kinds = {
            name: _kind(name, kind)
            for name, kind in self._table.collect_schema().items()
            if name in {*public.names, label}
        }
        classes = Categories(public.classes)
        classes.check(self._kinds[label][0], "y")
        for name, domain in zip(public.names, public.domains, strict=True):
            domain.check(self._kinds[name][0], name)
        codes = {
            _name(j): self._code(name, domain)
            for j, (name, domain) in enumerate(zip(public.names, public.domains, strict=True))
        }
        known = [LABEL, *codes]
        taken = {LABEL: self._code(label, classes), **codes}
        if users is not None:
            users.check(data)
            kind = tables.schema(self._table, data)[users.column]
            taken["user"] = nw.col(users.column)
            taken["name_weight"] = weight_of(users.column, kind)
        coded = self._table.lazy().select(**taken)
        coded = coded.filter(*(~nw.col(name).is_null() for name in taken))
        if users is not None:
            coded = counted_rows(coded, users, known).select(*known)
        self._codes = coded

    def number(self) -> int:
        if self._users is None:
            return tables.count_records(self._data)
        row = tables.collect(self._codes.select(nw.len().alias("n")), self._data, most=1)
        return int(row["n"][0])

    def totals(self) -> Indices:
        [first] = self._count({_name(0): int(self._public.sizes[0])}, 0, 1)
        return np.asarray(first.sum(axis=0))

    def tables(self, splits: Target, leaves: int) -> list[list[Indices]]:
        sizes = {_name(j): int(size) for j, size in enumerate(self._public.sizes)}
        ends = np.cumsum(self._public.sizes)[:-1]
        return [np.split(leaf, ends) for leaf in self._count(sizes, splits, leaves)]

    def hits(self, trees: Sequence[Individual]) -> Indices:
        targets = [_target(tree, self._public) for tree in trees]
        return count_hits(self._codes, LABEL, len(self._public.classes), targets)

    def refuse_outside(self) -> None:
        """Raise as :func:`~dpselect.trees.records.refuse_outside` does."""
        declared: dict[str, Domain] = dict(
            zip(self._public.names, self._public.domains, strict=True)
        )
        inside = [self._is_declared(name, domain) for name, domain in declared.items()]
        inside.append(~self._code(self._label, Categories(self._public.classes)).is_null())
        sums = self._table.lazy().select(
            nw.when(known).then(nw.lit(0)).otherwise(nw.lit(1)).sum().alias(f"outside{j}")
            for j, known in enumerate(inside)
        )
        [row] = zip(*tables.collect(sums, self._data, most=1).values(), strict=True)
        for name, count in zip([*declared, None], row, strict=True):
            if count:
                raise records.outside(name)

    def _count(self, sizes: dict[str, int], splits: Target, leaves: int) -> Indices:
        classes = len(self._public.classes)
        return count_tables(self._codes, sizes, LABEL, classes, splits, leaves)

    def _code(self, column: str, domain: Domain) -> nw.Expr:
        """Return the code of every value, null for one that has no place."""
        if isinstance(domain, Bins):
            found = tables.position(tables.known(column), domain.edges[1:-1])
            return found if domain.other is None else found.fill_null(domain.bins)
        values = cast("Categories", domain)
        known = [*values.values]
        if values.other is not None and values.other not in known:
            known.append(values.other)
        return self._category(column, known, values.other)

    def _category(
        self,
        column: str,
        values: Sequence[Any],
        other: Any = None,  # noqa: ANN401
    ) -> nw.Expr:
        kind, dtype = self._kinds[column]
        value = nw.col(column)
        if kind == "text":
            value = value.cast(nw.String)
        elif dtype == nw.Boolean:
            value = value.cast(nw.Int64)
        elif not dtype.is_integer():
            value = tables.known(column)
        chosen = nw.lit(None, nw.Int64)
        if other is not None:
            chosen = nw.lit(list(values).index(other), nw.Int64)
        for code, known in enumerate(values):
            if isinstance(known, str) == (kind == "text"):
                goal = known if kind == "text" else _number(known)
                chosen = nw.when(value == goal).then(nw.lit(code, nw.Int64)).otherwise(chosen)
        return chosen

    def _is_declared(self, column: str, domain: Domain) -> nw.Expr:
        if isinstance(domain, Bins):
            value = tables.known(column)
            return (value >= domain.low) & (value <= domain.high)
        values = cast("Categories", domain).values
        return ~self._category(column, values).is_null()


def count_tables(
    codes: object,
    sizes: Mapping[str, int],
    label: str,
    classes: int,
    splits: Target,
    leaves: int,
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

    Returns:
        Shape ``(leaves, values of all columns, classes)``. Private.

    Raises:
        DataError: The engine refuses the query.
    """
    values = [(column, code) for column, size in sizes.items() for code in range(size)]
    placed = tables.open_table(codes).lazy().with_columns(_leaf(splits).alias("leaf"))
    counted = placed.filter(~nw.col("leaf").is_null())
    sums = [
        (nw.col(column) == code).cast(nw.Int64).sum().alias(f"value{position}")
        for position, (column, code) in enumerate(values)
    ]
    out = np.zeros((leaves, len(values), classes), dtype=np.int64)
    groups = ["leaf", label]
    for block in sum_in_blocks(counted, codes, sums, by=groups, most=leaves * classes):
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
    hits = [
        (_leaf(tree) == nw.col(label)).cast(nw.Int64).sum().alias(f"tree{position}")
        for position, tree in enumerate(trees)
    ]
    out = np.zeros((len(trees), classes), dtype=np.int64)
    table = tables.open_table(codes)
    for block in sum_in_blocks(table, codes, hits, by=[label], most=classes):
        group = counts(block.pop(label))
        for name, column in block.items():
            out[int(name.removeprefix("tree")), group] = counts(column)
    return out


def _leaf(target: Target) -> nw.Expr:
    """Return the number of the leaf that a record reaches; null for none."""
    if not isinstance(target, Branching):
        return nw.lit(target, nw.Int64)
    # Codes with the same target are one case.
    codes: dict[Target, list[int]] = {}
    for code, below in enumerate(target.targets):
        codes.setdefault(below, []).append(code)
    chosen = nw.lit(None, nw.Int64)
    value = nw.col(_name(target.column))
    for below, same in codes.items():
        holds = value == same[0] if len(same) == 1 else value.is_in(same)
        chosen = nw.when(holds).then(_leaf(below)).otherwise(chosen)
    return chosen


def _name(column: int) -> str:
    return f"code{column}"


def _number(value: Any) -> Any:  # noqa: ANN401 -- a number, or what is equal to none
    return int(value) if isinstance(value, bool) else value


def _kind(name: str, dtype: Any) -> tuple[Kind, Any]:  # noqa: ANN401 -- narwhals' types
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "numbers", dtype
    if dtype in {nw.String, nw.Categorical, nw.Enum} or isinstance(dtype, nw.Enum):
        return "text", dtype
    raise refused_type(name, dtype)


def _target(tree: Individual, public: records.Schema) -> Target:
    """Return a candidate as a partial tree whose leaves are numbered by their class."""
    column, value, size = tree[0].tolist()
    if size == 1:
        return int(value)
    domain = public.domains[column]
    yes, no = (_target(part, public) for part in branches(tree))
    holds = (
        (code < value) if domain.ordered else (code == value) for code in range(domain.size)
    )
    return Branching(column, tuple(yes if held else no for held in holds))
