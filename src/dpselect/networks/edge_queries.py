"""Counts around nodes as queries on a table of edges, run by the engine that holds it.

Every query is written once, as narwhals expressions. A simple graph is a lazy frame with one
row for each edge, as ``low`` and ``high``, and only counts by node leave the engine.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, permutations
from typing import Any

import narwhals as nw

from dpselect.errors import ParameterError
from dpselect.networks.reading import check_ends, not_of_nodes
from dpselect.tables.collecting import collect, counts
from dpselect.tables.embedded import Column
from dpselect.tables.engine import engine_of
from dpselect.tables.fields import typed
from dpselect.tables.kinds import named
from dpselect.tables.opening import check_columns, schema
from dpselect.tables.people import PeopleCap
from dpselect.tables.source import Source

MOST_LABELS = 10_000
"""Labels that a query can list; more nodes must have ids from 0."""

FROM = 2**63
"""Ids from here on are unsigned."""

CORNERS = ("a", "b", "c")


def simple_edges(
    data: object,
    source: str,
    target: str,
    nodes: Sequence[Hashable],
    users: PeopleCap | None = None,
) -> nw.LazyFrame[Any]:
    """Return every edge between two different nodes once, as ``low`` and ``high``.

    Parallel edges and both directions of one are folded. An edge with an end that is missing
    or not among the nodes is left out, and so is an edge from a node to itself.

    Args:
        data: A path or any frame with an edge a row. Private.
        source: The column of one end.
        target: The column of the other end.
        nodes: ``range(n)`` for ids ``0`` to ``n - 1``; or all ids or labels. Public.
        users: The persons of the rows, if so many edges of each are counted.

    Raises:
        ColumnError: A column is missing, or its type cannot hold such nodes.
        ParameterError: There are more than 10,000 ids or labels.
        DataError: The data cannot be read.
    """
    s, t = nw.col("source"), nw.col("target")
    ends = _ends(data, source, target, nodes, users)
    listed = _listed(ends, nodes)
    ends = ends.filter(_is_node(s, listed), _is_node(t, listed), s != t)
    edge = [
        nw.when(s < t).then(s).otherwise(t).alias("low"),
        nw.when(s < t).then(t).otherwise(s).alias("high"),
    ]
    if users is None:
        return engine_of(ends.select(*edge)).distinct()
    owned = ends.select(*edge, "user")
    counted = users.limited(owned, order_by=["low", "high"], distinct=True)
    return engine_of(counted.select("low", "high")).distinct()


def count_invalid_edges(
    data: object, source: str, target: str, nodes: Sequence[Hashable]
) -> tuple[int, int]:
    """Return how many records name an end that is no node, and how many are loops. Private.

    Arguments and errors are those of ``simple_edges``.
    """
    s, t = nw.col("source"), nw.col("target")
    ends = _ends(data, source, target, nodes, dropped=False)
    listed = _listed(ends, nodes)
    both = _is_node(s, listed) & _is_node(t, listed)
    table = ends.select(
        nw.when(both).then(nw.lit(0)).otherwise(nw.lit(1)).sum().alias("unknown"),
        nw.when(both & (s == t)).then(nw.lit(1)).otherwise(nw.lit(0)).sum().alias("loops"),
    )
    row = collect(table, data, most=1)
    return int(counts(row["unknown"])[0]), int(counts(row["loops"])[0])


def count_degrees(edges: nw.LazyFrame[Any], *, nodes: int) -> dict[str, Column]:
    """Count the neighbours of every node.

    Args:
        edges: As ``simple_edges`` returns them. Private.
        nodes: How many nodes there are. Public.

    Returns:
        ``node`` and ``degree``; a node without neighbours has no row. Private.
    """
    return collect(_degrees(edges), edges, most=nodes)


def count_triangles(edges: nw.LazyFrame[Any], *, nodes: int) -> dict[str, Column]:
    """Count the triangles at every node.

    Args:
        edges: As ``simple_edges`` returns them. Private.
        nodes: How many nodes there are. Public.

    Returns:
        ``node`` and ``triangles``; a node without triangles has no row. Private.
    """
    with _triangles(edges) as found:
        counted = (
            engine_of(found).stacked("node").group_by("node").agg(nw.len().alias("triangles"))
        )
        return collect(counted, edges, most=nodes)


def count_common_neighbours(edges: nw.LazyFrame[Any], *, nodes: int) -> dict[str, Column]:
    """Return for every node what it shares with the nodes that it shares a neighbour with.

    The engine joins ``∑_v d_v^2`` pairs of edges. A hub of a million neighbours is too much for
    any cluster; the sensitivity bounds by degrees do not need this count.

    Args:
        edges: As ``simple_edges`` returns them. Private.
        nodes: How many nodes there are. Public.

    Returns:
        ``node``, ``least`` and ``most`` common neighbours, and how many other nodes it has
        ``met``; a node that meets none has no row. Private.
    """
    with engine_of(_both_directions(edges)).cached() as directed:
        there = directed.rename({"node": "with"})
        pairs = directed.join(there, on="other").filter(nw.col("node") != nw.col("with"))
        shared = pairs.group_by("node", "with").agg(nw.len().alias("shared"))
        extremes = shared.group_by("node").agg(
            nw.col("shared").min().alias("least"),
            nw.col("shared").max().alias("most"),
            nw.len().alias("met"),
        )
        return collect(extremes, edges, most=nodes)


def count_ego_pairs(edges: nw.LazyFrame[Any], *, most: int) -> dict[str, Column]:
    """Count for every node the pairs of its neighbours that are not adjacent.

    By the number ``k >= 1`` of common neighbours within the ego network: these counts are
    integers, so that no engine rounds, and the driver sums their ``1/(k + 1)``.

    Args:
        edges: As ``simple_edges`` returns them. Private.
        most: A number that the rows do not exceed, such as the sum of all degrees.

    Returns:
        ``node``, ``k`` and how many ``pairs``; only where there are some. Private.
    """
    with (
        _triangles(edges) as triangles,
        engine_of(triangles).cached() as found,
        engine_of(_ego_edges(found)).cached() as inner,
    ):
        there = inner.rename({"u": "w"})
        meeting = inner.join(there, on=["node", "x"]).filter(nw.col("u") < nw.col("w"))
        pairs = meeting.group_by("node", "u", "w").agg(nw.len().alias("k"))
        adjacent = edges.rename({"low": "u", "high": "w"})
        apart = pairs.join(adjacent, on=["u", "w"], how="anti")
        counted = apart.group_by("node", "k").agg(nw.len().alias("pairs"))
        return collect(counted, edges, most=most)


@contextmanager
def _triangles(edges: nw.LazyFrame[Any]) -> Iterator[nw.LazyFrame[Any]]:
    """Return every triangle once, as its corners ``a``, ``b`` and ``c``, while the block runs.

    Each is found from its corner of the least degree, so that ``O(m^(3/2))`` pairs of edges are
    joined, whatever the hubs.
    """
    a, b, c = (nw.col(corner) for corner in CORNERS)
    with engine_of(edges).cached() as simple, engine_of(_upwards(simple)).cached() as upwards:
        pairs = upwards.join(upwards.rename({"b": "c"}), on="a").filter(b < c)
        closing = simple.rename({"low": "b", "high": "c"})
        yield pairs.join(closing, on=["b", "c"]).select(a, b, c)


def _upwards(edges: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return edges from the end of lower degree, the smaller of two equal, to the other."""
    low, high, degree = nw.col("low"), nw.col("high"), _degrees(edges)
    known = edges
    for end in ("low", "high"):
        known = known.join(degree.rename({"node": end, "degree": f"{end} degree"}), on=end)
    rises = nw.col("low degree") <= nw.col("high degree")
    # All pass the filter.
    return known.filter(low < high).select(
        nw.when(rises).then(low).otherwise(high).alias("a"),
        nw.when(rises).then(high).otherwise(low).alias("b"),
    )


def _ego_edges(found: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return the edges between neighbours of each ``node``, from ``u`` to ``x`` and back."""
    return nw.concat(
        [
            found.select(nw.col(node).alias("node"), nw.col(u).alias("u"), nw.col(x).alias("x"))
            for node, u, x in permutations(CORNERS)
        ]
    )


def _degrees(edges: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return ``node`` and ``degree`` of every node that has an edge."""
    return engine_of(edges).stacked("node").group_by("node").agg(nw.len().alias("degree"))


def _both_directions(edges: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return every simple edge from each of its ends, as ``node`` and ``other``."""
    return nw.concat(
        [
            edges.select(nw.col(end).alias("node"), nw.col(other).alias("other"))
            for end, other in (("low", "high"), ("high", "low"))
        ]
    )


def _is_node(end: nw.Expr, nodes: Sequence[Hashable]) -> nw.Expr:
    """Return whether an end is one of the nodes; null or false if not."""
    if isinstance(nodes, range):
        return (end >= 0) & (end < len(nodes))
    return end.is_in(list(nodes))


def _listed(ends: nw.LazyFrame[Any], nodes: Sequence[Hashable]) -> Sequence[Hashable]:
    """Return the nodes as an engine takes them."""
    if not _beyond(nodes):
        return nodes
    return engine_of(ends).literals([one for one in nodes if isinstance(one, int) and one >= 0])


def _beyond(nodes: Sequence[Hashable]) -> bool:
    """Return whether a node is an id that has no sign."""
    is_range = isinstance(nodes, range)
    return not is_range and any(isinstance(node, int) and node >= FROM for node in nodes)


def _ends(
    data: object,
    source: str,
    target: str,
    nodes: Sequence[Hashable],
    users: PeopleCap | None = None,
    *,
    dropped: bool = True,
) -> nw.LazyFrame[Any]:
    """Return the two columns as ``source`` and ``target``, of the type of the nodes.

    With ``user`` beside them, if the rows belong to persons. Rows with an
    id too large for the type of the nodes are dropped, or else another that is no node stands
    for it.
    """
    check_ends(source, target)
    if not isinstance(nodes, range) and len(nodes) > MOST_LABELS:
        raise ParameterError(
            f"an engine takes at most {MOST_LABELS:,} labels in a query: number the nodes "
            "from 0 in the table, and give their number as `nodes`"
        )
    table = check_columns(data, plain=[source, target])
    integer = all(isinstance(node, int) for node in nodes[:1])
    types = schema(table, data)
    of, columns = Source.of(data), {"source": source, "target": target}
    untyped = {end: one for end, one in columns.items() if integer and of.is_untyped(one)}
    for end, one in columns.items():
        kind = types[one]
        if end not in untyped and (not kind.is_integer() if integer else kind.is_numeric()):
            raise not_of_nodes(one, kind, "integers" if integer else "text")
    taken = {end: named(nw.col(one), types[one]) for end, one in columns.items()}
    if users is not None:
        users.check(data)
        taken["user"] = users.persons(types)
    if integer and _beyond(nodes):
        if untyped:
            raise ParameterError("text files of ids from 2^63 on are read in memory alone")
        positive = [nw.col(end) >= 0 for end in columns]
        rows = table.lazy().select(**taken)
        rows = rows.filter(*positive) if dropped else rows
        return rows.with_columns(
            nw.when(one).then(nw.col(end)).cast(nw.UInt64).alias(end)
            for end, one in zip(columns, positive, strict=True)
        )
    ends = typed(table.lazy().select(**taken), dict.fromkeys(untyped, "integer"), of)
    if not integer or of.is_csv:
        return ends
    # Arrow compares unsigned integers with signed ones as if none were beyond these.
    unsigned = {
        end
        for end, one in columns.items()
        if ends.implementation.is_pyarrow() and types[one].is_unsigned_integer()
    }
    there = {end: _is_between(end, nodes, unsigned) for end in columns}
    if dropped:
        # One by one: pandas cannot join missing truth values of one kind with those of another.
        for known in there.values():
            ends = ends.filter(known)
        return ends.with_columns(nw.col(*there).cast(nw.Int64))
    # A null would turn the integers of pandas into floats, which cannot be cast back.
    is_range = isinstance(nodes, range)
    absent = len(nodes) if is_range else next(i for i in count() if i not in nodes)
    return ends.with_columns(
        nw.when(known)
        .then(nw.col(end))
        .otherwise(_literal(absent, unsigned=end in unsigned))
        .cast(nw.Int64)
        .alias(end)
        for end, known in there.items()
    )


def _is_between(end: str, nodes: Sequence[Any], unsigned: set[str]) -> nw.Expr:
    """Return whether an id is at least the least node and at most the largest."""
    least, most = (0, len(nodes) - 1) if isinstance(nodes, range) else (min(nodes), max(nodes))
    if end in unsigned:
        least, most = (max(least, 0), most) if most >= 0 else (1, 0)
    low, high = (_literal(one, unsigned=end in unsigned) for one in (least, most))
    return (nw.col(end) >= low) & (nw.col(end) <= high)


def _literal(value: int, *, unsigned: bool) -> nw.Expr:
    return nw.lit(value, nw.UInt64) if unsigned else nw.lit(value)
