"""Counts around nodes as queries on a table of edges, run by the engine that holds it.

Every query is written once, as narwhals expressions. A simple graph is a lazy frame with one
row for each edge, as ``low`` and ``high``, and only counts by node leave the engine; a graph in
memory is read as one, too.

Where rows belong to persons, a person's rows that are edges of the graph are folded, and of the
different edges so many are counted, in the order of their ends (``dpselect.tables.people``). An
edge is in the graph if one person's row of it is counted: others who have it too do not matter.
So a person who comes or goes changes at most so many edges, those that nobody else has.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, TypeAlias

from dpselect import validation
from dpselect._optional import nw, pl
from dpselect.errors import ColumnError, ParameterError, PublicClaimError
from dpselect.query import Columns, Released
from dpselect.tables.columns import collect, counts
from dpselect.tables.engine import Column, Frame, distinct, engine_of
from dpselect.tables.kinds import Kind, named, type_name
from dpselect.tables.opening import check_columns, schema
from dpselect.tables.people import PeopleCap, people_cap
from dpselect.tables.source import Source
from dpselect.typing import OnInvalid

Nodes: TypeAlias = int | Iterable[Hashable]
"""The public nodes: ``n`` for ids ``0`` to ``n - 1``, or all ids or labels."""

MOST_NODES = 2**31 - 1
"""Positions of nodes are 32-bit integers, and products of two degrees fit 64 bits."""

MOST_LABELS = 10_000
"""Labels that a query of an engine can list; more nodes must have ids from 0."""

FROM, BEYOND = 2**63, 2**64
"""Ids from the first on are unsigned, and there are none from the second on."""

WEIGHTS = {"weight", "weights"}

ENDS = ("source", "target")
CORNERS = ("a", "b", "c")


def checked_nodes(nodes: Nodes) -> Sequence[Hashable]:
    """Return the ids or labels of all nodes: at least one, and none twice.

    Raises:
        ParameterError: ``nodes`` is not a number >= 1 and not such labels.
    """
    if isinstance(nodes, (str, bytes)):
        raise ParameterError("`nodes` must be a number of nodes, or all their ids or labels")
    if isinstance(nodes, range) and nodes and nodes == range(len(nodes)):
        return nodes
    if not isinstance(nodes, Iterable) or getattr(nodes, "ndim", 1) == 0:
        return range(validation.at_least("nodes", nodes, 1, MOST_NODES))
    # The elements of arrays and series are not plain Python values; tolist() makes them so.
    labels = tuple(nodes.tolist() if hasattr(nodes, "tolist") else nodes)
    validation.different("nodes", labels)
    return range(len(labels)) if labels == tuple(range(len(labels))) else labels


def reads(source: str, target: str, nodes: Nodes) -> Columns:
    """Return the columns of the ends of edges, of which any node may be released."""
    if isinstance(nodes, int):
        ends = Released(low=0, high=nodes - 1, step=1)
    else:
        ends = Released(listed=tuple(nodes))
    return ((source, ends), (target, ends))


@dataclass(frozen=True, kw_only=True)
class EdgeRows:
    """Rule by which rows are read as edges, with the fields of a query about nodes; public.

    Attributes:
        nodes: All ids or labels, as ``checked_nodes`` returns them.
        source: The column of one end, of a table.
        target: The column of the other end.
        user: The column of the person that a row belongs to.
        max_per_user: How many edges of a person are counted.
        on_invalid: What happens to rows that are no edge.
        cap: How many edges of which persons are counted; None if one edge is protected.

    Raises:
        ParameterError: A field is out of its range, or does not go with another.
    """

    nodes: Sequence[Hashable]
    source: str | None = None
    target: str | None = None
    user: str | None = None
    max_per_user: int | None = None
    on_invalid: OnInvalid = "repair"
    cap: PeopleCap | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cap", people_cap(self.user, self.max_per_user))
        validation.one_of("on_invalid", self.on_invalid, OnInvalid)

    @property
    def ids(self) -> Sequence[int] | None:
        """Nodes that are integers, ascending; None of labels."""
        if isinstance(self.nodes, range):
            return self.nodes
        whole = type(self.nodes[0]) is int
        return sorted(one for one in self.nodes if isinstance(one, int)) if whole else None

    @property
    def ends(self) -> tuple[str, str]:
        """The columns of the two ends.

        Raises:
            ParameterError: They are not named, or are one.
        """
        source, target = self.source, self.target
        if isinstance(source, str) and isinstance(target, str) and source != target:
            return source, target
        raise ParameterError("`source` and `target` must name the columns of the two ends")

    @property
    def rule(self) -> str:
        """Which ends are nodes; the same whatever ends there are."""
        done = "dropped" if self.on_invalid == "repair" else "refused"
        if isinstance(self.nodes, range):
            known, others = f"nodes 0 to {len(self.nodes) - 1}", "other ids"
        else:
            known, others = f"{len(self.nodes)} listed nodes", "others"
        return f"the {known} (edges to {others} {done}, weights ignored)"


def check_edges(data: object, rows: EdgeRows) -> Frame:
    """Return an opened table whose columns name such nodes; no row is read.

    Raises:
        ParameterError: The columns are not named, no column can hold the nodes, or there is one
            of weights.
        ColumnError: A column is missing, or is of another type.
        DataError: The data cannot be read.
    """
    table, nodes, ids = check_columns(data, plain=rows.ends), rows.nodes, rows.ids
    if not isinstance(nodes, range) and len({type(node) for node in nodes}) > 1:
        raise ParameterError("`nodes` of a table must be of one type, as its columns")
    if ids is not None and not -FROM <= ids[0] <= ids[-1] < BEYOND:
        raise ParameterError("`nodes`: ids in a table are integers of at most 64 bits")
    types = schema(table, data)
    refuse_weights(types)
    for column in rows.ends:
        kind = types[column]
        fits = kind.is_integer() if ids is not None else not kind.is_numeric()
        if not (fits or kind == nw.Object or Source.of(data).is_untyped(column)):
            ids_are = "text" if ids is None else "integers"
            raise ColumnError(
                f"column {column!r} must name nodes, which are {ids_are}; it is of type "
                f"{type_name(kind)}: cast it"
            )
    if rows.cap is not None:
        rows.cap.check(data)
    return table


def refuse_weights(declared: Iterable[str]) -> None:
    """Refuse edges that are declared to have weights, by the name of a column or of a type.

    Values are never looked at: whether one edge has a weight is private.

    Raises:
        ParameterError: There is such a name.
    """
    for name in declared:
        if name.lower() in WEIGHTS:
            raise ParameterError(
                f"edges with a {name!r} are refused: each edge counts once, and its weight "
                "would not count; if that is meant, leave it out"
            )


def check_claim(on_invalid: OnInvalid, *, loops: bool, unknown: bool) -> None:
    """Raise for records that are not edges, where the curator declared that there are none.

    Raises:
        ParameterError: ``on_invalid`` is neither ``"repair"`` nor ``"raise"``.
        PublicClaimError: It is ``"raise"`` and there are such records.
    """
    if validation.one_of("on_invalid", on_invalid, OnInvalid) == "repair":
        return
    for found, complaint in (
        (unknown, "an edge names a node that is not among `nodes`, or none"),
        (loops, "an edge joins a node to itself"),
    ):
        if found:
            raise PublicClaimError(f"{complaint}; `on_invalid`='repair' leaves such edges out")


def simple_edges(data: object, rows: EdgeRows) -> nw.LazyFrame[Any]:
    """Return every edge between two different nodes once, as ``low`` and ``high``.

    Parallel edges and both directions of one are folded; otherwise as ``edges_of``.
    """
    edges, (low, high) = edges_of(data, rows), map(nw.col, ("low", "high"))
    if not (engine_of(edges).is_here and isinstance(rows.nodes, range)):
        return distinct(edges, "low", "high")
    # One number stands for both ends: polars sorts them in less than half the time that it
    # takes to find the different ones.
    place, n = pl.col("place"), len(rows.nodes)
    ascending = nw.to_native(edges.select(place=low * n + high)).select(place.sort())
    places = ascending.filter(place.ne_missing(place.shift()))
    return nw.from_native(places.select(low=place // n, high=place % n))


def edges_of(data: object, rows: EdgeRows) -> nw.LazyFrame[Any]:
    """Return the edges between two different nodes, as ``low`` and ``high``.

    An edge with an end that is missing or not among the nodes is left out, and so is an edge
    from a node to itself.

    Args:
        data: A path or any frame with an edge a row. Private.
        rows: How rows are read; with ``on_invalid="raise"`` those that are no edge are counted
            first.

    Raises:
        ParameterError, ColumnError, DataError: As for ``check_edges``, or there are more labels
            than an engine can list.
        PublicClaimError: ``on_invalid`` is ``"raise"`` and a row is no edge.
    """
    (s, t), ends = map(nw.col, ENDS), ends_of(data, rows)
    if rows.on_invalid == "raise":
        unknown, loops = count_invalid(ends)
        check_claim("raise", loops=loops > 0, unknown=unknown > 0)
    edges = ends.filter(~s.is_null(), ~t.is_null(), s != t).with_columns(
        low=nw.when(s < t).then(s).otherwise(t), high=nw.when(s < t).then(t).otherwise(s)
    )
    if rows.cap is not None:
        edges = rows.cap.limited(edges, order_by=["low", "high"], distinct=True)
    return edges.select("low", "high")


def ends_of(data: object, rows: EdgeRows) -> nw.LazyFrame[Any]:
    """Return the nodes that rows name, null where they name none, and the persons."""
    table, users = check_edges(data, rows), rows.cap
    columns = dict(zip(ENDS, rows.ends, strict=True))
    types = schema(table, data)
    objects = {end for end, column in columns.items() if types[column] == nw.Object}
    names = [*columns.values(), *([] if users is None else [users.user])]
    table = engine_of(table).read(names, Kind.TEXT)
    types = table.collect_schema()
    listed = 0 if isinstance(rows.nodes, range) else len(rows.nodes)
    if listed > MOST_LABELS and not engine_of(table).is_here:
        raise ParameterError(
            f"an engine takes at most {MOST_LABELS:,} labels in a query: number the nodes "
            "from 0 in the table, and give their number as `nodes`"
        )
    taken = {end: named(nw.col(column), types[column]) for end, column in columns.items()}
    # A whole number in a column of objects may be a float.
    taken |= {end: taken[end].str.replace(r"\.0$", "") for end in objects}
    if users is not None:
        taken["user"] = users.persons(types)
    ends = table.select(**taken)
    if rows.ids is not None:
        texts = [end for end, column in columns.items() if Kind.of(types[column]) == Kind.TEXT]
        ends = Source.of(data).typed(ends, dict.fromkeys(texts, "integer"))
    return ends.with_columns(_node(end, rows, ends) for end in columns)


def _node(end: str, rows: EdgeRows, ends: nw.LazyFrame[Any]) -> nw.Expr:
    """Return an end, null where it is not among the nodes."""
    value, ids = nw.col(end), rows.ids
    if ids is None:
        return nw.when(value.is_in([*rows.nodes])).then(value).alias(end)
    if ids[-1] >= FROM:
        unsigned = nw.when(value >= 0).then(value).cast(nw.UInt64)
        known = unsigned.is_in(engine_of(ends).literals([one for one in ids if one >= 0]))
        return nw.when(known).then(unsigned).alias(end)
    # A range is not listed, however long it is.
    some = (value >= 0) & (value < len(ids)) if ids is rows.nodes else value.is_in([*ids])
    return nw.when(some).then(value).cast(nw.Int64).alias(end)


def count_invalid(ends: nw.LazyFrame[Any]) -> tuple[int, int]:
    """Return how many rows name an end that is no node, and how many are loops. Private."""
    s, t = map(nw.col, ENDS)
    one, none = nw.lit(1), nw.lit(0)
    table = ends.select(
        unknown=nw.when(s.is_null() | t.is_null()).then(one).otherwise(none).sum(),
        loops=nw.when(s == t).then(one).otherwise(none).sum(),
    )
    row = collect(table, ends, most=1)
    return int(counts(row["unknown"])[0]), int(counts(row["loops"])[0])


def count_degrees(edges: nw.LazyFrame[Any], *, nodes: int) -> dict[str, Column]:
    """Count the neighbours of every node.

    Args:
        edges: As ``simple_edges`` returns them. Private.
        nodes: How many nodes there are. Public.

    Returns:
        ``node`` and ``degree``; a node without neighbours has no row. Private.
    """
    return collect(_of_each_node(edges, "degree"), edges, most=nodes)


def count_triangles(edges: nw.LazyFrame[Any], *, nodes: int) -> dict[str, Column]:
    """Count the triangles at every node.

    Args:
        edges: As ``simple_edges`` returns them. Private.
        nodes: How many nodes there are. Public.

    Returns:
        ``node`` and ``triangles``; a node without triangles has no row. Private.
    """
    with _triangles(edges) as found:
        return collect(_of_each_node(found, "triangles"), edges, most=nodes)


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
    low, high, degree = nw.col("low"), nw.col("high"), _of_each_node(edges, "degree")
    known = edges
    for end in ("low", "high"):
        known = known.join(degree.rename({"node": end, "degree": f"{end} degree"}), on=end)
    rises = nw.col("low degree") <= nw.col("high degree")
    return known.select(
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


def _of_each_node(rows: nw.LazyFrame[Any], count: str) -> nw.LazyFrame[Any]:
    """Return every ``node`` that is in a row, and the number of its rows by another name."""
    rows = engine_of(rows).joined("node")
    return engine_of(rows).grouped(["node"], count)


def _both_directions(edges: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return every simple edge from each of its ends, as ``node`` and ``other``."""
    return nw.concat(
        [
            edges.select(nw.col(end).alias("node"), nw.col(other).alias("other"))
            for end, other in (("low", "high"), ("high", "low"))
        ]
    )
