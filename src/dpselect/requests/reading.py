"""Columns that queries of a table read, and values that they may release."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from dpselect.errors import ColumnError, ParameterError
from dpselect.percentiles.units import Quantity
from dpselect.query import Query
from dpselect.tables.groups import listed_groups
from dpselect.tables.key_columns import checked_names


@dataclass(frozen=True, slots=True)
class Released:
    """Values of a column that a query may release; public.

    Attributes:
        listed: These values alone.
        low: Numbers, dates, times or durations from this one on.
        high: Those up to this one.
        step: Those that are whole steps above ``low``; any between if None.
        anything: Whatever the column holds. Nothing at all, if neither this nor another
            attribute says more.
    """

    listed: tuple[Hashable, ...] | None = None
    low: Quantity | None = None
    high: Quantity | None = None
    step: Quantity | None = None
    anything: bool = False


NOTHING, ANYTHING = Released(), Released(anything=True)


Columns: TypeAlias = tuple[tuple[str, Released], ...]
"""Every column that a query reads, with what may be released of it."""


def columns_of(query: Query[Any]) -> Columns:
    """Return what a query reads.

    Raises:
        ParameterError: It is no query of a table.
        ColumnError: It does not name a column.
    """
    name = type(query).__name__
    if name not in READERS:
        raise ParameterError(
            f"a {name} is no question of a table: a request holds {', '.join(sorted(READERS))}"
        )
    found = READERS[name](query)
    by, groups, user = (getattr(query, field, None) for field in ("by", "groups", "user"))
    names = checked_names(by, "by")
    listed: Any = listed_groups(names, groups)
    parts = zip(*([one] if len(names) == 1 else one for one in listed or ()), strict=True)
    of_parts = [Released(listed=tuple(dict.fromkeys(part))) for part in parts]
    more = list(zip(names, of_parts or [ANYTHING] * len(names), strict=True))
    if user is not None:
        more.append((user, NOTHING))
    return (*found, *more)


def _named(query: Any, field: str) -> str:  # noqa: ANN401 -- a query with that field
    column: str | None = getattr(query, field)
    if column is None:
        raise ColumnError(f"a {type(query).__name__} of a table needs `{field}`")
    return column


def _percentiles(query: Any) -> Columns:  # noqa: ANN401
    columns: tuple[str, ...] = (_named(query, "column"),)
    made = query.design()
    design = getattr(made, "each", made)
    if query.minus is not None:
        # Bounds of two columns do not bound their difference.
        columns, released = (query.minus, *columns), ANYTHING
    elif query.candidates is not None:
        released = Released(listed=query.candidates)
    else:
        ends = float(design.points[0]), float(design.points[len(design.points) - 1])
        low, high = ends if design.unit.moment == "number" else map(design.unit.value, ends)
        released = Released(low=low, high=high, step=query.step)
    return tuple((one, released) for one in columns)


def _record(query: Any) -> Columns:  # noqa: ANN401
    column = _named(query, "column")
    label = () if query.label is None else ((query.label, ANYTHING),)
    return ((column, NOTHING), *label)


def _keys(query: Any) -> Columns:  # noqa: ANN401
    column: Any = _named(query, "column")
    names = (column,) if isinstance(column, str) else tuple(column)
    candidates = getattr(query, "candidates", None)
    released: list[tuple[str, Released]]
    if candidates is None:
        released = [(name, ANYTHING) for name in names]
    elif len(names) == 1:
        released = [(names[0], Released(listed=tuple(candidates)))]
    else:
        parts = zip(*candidates, strict=True)
        released = [
            (name, Released(listed=part)) for name, part in zip(names, parts, strict=True)
        ]
    return tuple(released)


def _levels(query: Any) -> Columns:  # noqa: ANN401
    return ((_named(query, "column"), Released(listed=query.hierarchy.values)),)


def _points(query: Any) -> Columns:  # noqa: ANN401
    x, y = _named(query, "x"), _named(query, "y")
    west, south, east, north = query.bounds
    return ((x, Released(low=west, high=east)), (y, Released(low=south, high=north)))


def _trees(query: Any) -> Columns:  # noqa: ANN401
    label = (_named(query, "label"), Released(listed=tuple(query.classes)))
    domains = tuple((name, _of_domain(one)) for name, one in query.domains.items())
    return (*domains, label)


def _of_domain(domain: Mapping[str, Any] | Sequence[Hashable]) -> Released:
    if not isinstance(domain, Mapping):
        return Released(listed=tuple(domain))
    if "values" in domain:
        return Released(listed=tuple(domain["values"]))
    edges = domain.get("edges") or (domain["low"], domain["high"])
    return Released(low=edges[0], high=edges[-1])


def _edges(query: Any) -> Columns:  # noqa: ANN401
    ends, nodes = (query.source, query.target), query.nodes
    if isinstance(nodes, int):
        numbers = Released(low=0, high=nodes - 1, step=1)
        return tuple((end, numbers) for end in ends)
    return tuple((end, Released(listed=tuple(nodes))) for end in ends)


def _subset(query: Any) -> Columns:  # noqa: ANN401
    label = () if query.label is None else ((query.label, ANYTHING),)
    return ((_named(query, "column"), NOTHING), *label)


READERS: dict[str, Callable[[Any], Columns]] = {
    "BestColumns": _trees,
    "HeavyCells": _points,
    "Hubs": _edges,
    "ID3Tree": _trees,
    "Keys": _keys,
    "Levels": _levels,
    "Map": _points,
    "PercentileRecord": _record,
    "Percentiles": _percentiles,
    "Subset": _subset,
    "TopKeys": _keys,
    "TopNodes": _edges,
    "TreeFront": _trees,
}
"""By the class of the query."""
