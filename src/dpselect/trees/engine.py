"""Records that stay in the engine that holds them: only tables and hits come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import narwhals as nw
import numpy as np

from dpselect import tables
from dpselect.errors import ColumnError
from dpselect.trees import records
from dpselect.trees.domains import Bins, Categories, Domain, Kind
from dpselect.trees.evolution import Answer, Individual
from dpselect.typing import Indices

LABEL = "label"


class EngineRecords:
    """Records coded by public domains, in a lazy frame; each count is one query.

    What :class:`~dpselect.trees.patterns.Patterns` are in memory, with the same codes.
    Records with a code or a label that is outside are dropped.

    Args:
        data: The frame. Private.
        label: Its column of labels.
        public: Columns, domains and classes.

    Raises:
        ColumnError: A column is missing, or of another type than its domain.
    """

    def __init__(self, data: object, label: str, public: records.Schema) -> None:
        self._data, self._label, self._public = data, label, public
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
        coded = self._table.lazy().select(
            self._code(label, classes).alias(LABEL),
            *(code.alias(name) for name, code in codes.items()),
        )
        self._codes = coded.filter(*(~nw.col(name).is_null() for name in [LABEL, *codes]))

    def number(self) -> int:
        """Return how many records there are, also of those that are dropped; private."""
        return tables.count_records(self._data)

    def totals(self) -> Indices:
        """Return the records of each class, shape ``(classes,)``; private."""
        first = {_name(0): int(self._public.sizes[0])}
        return self._tables(first, 0, 1)[0].sum(axis=0)

    def tables(self, way: tables.Way, nodes: int) -> list[list[Indices]]:
        """Return a table of values by classes for each open node and column; private.

        Args:
            way: The tree so far, its open nodes numbered from 0.
            nodes: How many there are.
        """
        sizes = {_name(j): int(size) for j, size in enumerate(self._public.sizes)}
        ends = np.cumsum(self._public.sizes)[:-1]
        return [np.split(node, ends) for node in self._tables(sizes, way, nodes)]

    def hits(self, trees: Sequence[Individual]) -> Indices:
        """Return the records of each class that each tree assigns to it; private."""
        ways = [_way(tree, self._public) for tree in trees]
        return tables.count_hits(self._codes, LABEL, len(self._public.classes), ways)

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

    def _tables(self, sizes: dict[str, int], way: tables.Way, nodes: int) -> Indices:
        classes = len(self._public.classes)
        return tables.count_tables(self._codes, sizes, LABEL, classes, way, nodes)

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


def _name(column: int) -> str:
    return f"code{column}"


def _number(value: Any) -> Any:  # noqa: ANN401 -- a number, or what is equal to none
    return int(value) if isinstance(value, bool) else value


def _kind(name: str, dtype: Any) -> tuple[Kind, Any]:  # noqa: ANN401 -- narwhals' types
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "numbers", dtype
    if dtype in {nw.String, nw.Categorical, nw.Enum} or isinstance(dtype, nw.Enum):
        return "text", dtype
    raise ColumnError(
        f"column {name!r} is of type {dtype}: in a lazy frame a column must hold numbers or "
        "text; cast it to text there"
    )


def _way(tree: Individual, public: records.Schema) -> tables.Way:
    """Return where a tree sends the codes: to the number of a class."""
    if isinstance(tree, Answer):
        return tree.label
    domain = public.domains[tree.column]
    yes, no = _way(tree.yes, public), _way(tree.no, public)
    holds = (
        (code < tree.value) if domain.ordered else (code == tree.value)
        for code in range(domain.size)
    )
    return tables.Fork(_name(tree.column), tuple(yes if held else no for held in holds))
