"""The edges that nodes are chosen by: their columns, the public nodes, and a person's limit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.networks.edge_table import EdgeTable
from dpselect.networks.graph import Graph, NodeCounts, is_graph, node_counts
from dpselect.networks.reading import check_ends, check_types, checked_nodes
from dpselect.tables.people import PeopleCap, people_cap
from dpselect.typing import OnInvalid

if TYPE_CHECKING:
    from dpselect.networks.hubs import Hubs
    from dpselect.networks.top import TopNodes


@dataclass(frozen=True, kw_only=True)
class EdgeRows:
    """Rule by which rows are read as edges; public.

    Attributes:
        nodes: All ids or labels.
        source: The column of one end.
        target: The column of the other end.
        cap: How many edges of a person are counted; None if one edge is protected.
        on_invalid: What happens to rows that are no edge.
    """

    nodes: Sequence[Hashable]
    source: str
    target: str
    cap: PeopleCap | None
    on_invalid: OnInvalid

    @classmethod
    def of(cls, asked: TopNodes | Hubs) -> Self:
        """Return the checked fields of a query about nodes.

        Raises:
            ParameterError: One is out of its range, or does not go with another.
        """
        source, target = check_ends(asked.source, asked.target)
        return cls(
            nodes=checked_nodes(asked.nodes),
            source=source,
            target=target,
            cap=people_cap(asked.user, asked.max_per_user),
            on_invalid=validation.on_invalid(asked.on_invalid),
        )

    @property
    def rule(self) -> str:
        """Which ends are nodes; the same whatever ends there are."""
        done = "dropped" if self.on_invalid == "repair" else "refused"
        if isinstance(self.nodes, range):
            return f"the nodes 0 to {len(self.nodes) - 1} (edges to other ids are {done})"
        return f"the {len(self.nodes)} listed nodes (edges to others are {done})"

    @property
    def max_per_user(self) -> int | None:
        """The most edges of a person; None if one edge is protected."""
        return None if self.cap is None else self.cap.most

    def check(self, data: Any) -> None:  # noqa: ANN401 -- edges of any kind, or a graph
        """Check the columns of a table; no row is read."""
        from dpselect import tables

        if is_graph(data):
            return
        if tables.is_lazy(data):
            EdgeTable(data, **self._columns())
            return
        check_types(data, self.source, self.target, self.nodes)
        if self.cap is not None:
            self.cap.check(data)

    def read(self, data: Any) -> NodeCounts:  # noqa: ANN401
        """Return the graph of some data; edges in an engine stay there. Private.

        Raises:
            ParameterError: It is a graph on other nodes, or limited to other edges.
        """
        from dpselect import tables

        if is_graph(data):
            return self._same(node_counts(data))
        read = EdgeTable if tables.is_lazy(data) else Graph.from_edges
        return read(data, **self._columns(), on_invalid=self.on_invalid)

    def _columns(self) -> dict[str, Any]:
        user = None if self.cap is None else self.cap.user
        claims = {"nodes": self.nodes, "user": user, "max_per_user": self.max_per_user}
        return {"source": self.source, "target": self.target, **claims}

    def _same(self, graph: NodeCounts) -> NodeCounts:
        """Return a graph if it is on the same nodes and limited to the same edges."""
        if graph.nodes != self.nodes and set(graph.nodes) != set(self.nodes):
            raise ParameterError(
                "`nodes` must be those of the graph: `nodes`=graph.nodes; of igraph their "
                "names, graph.vs['name'], or else their number"
            )
        limit = graph.max_per_user
        if limit is not None and limit != self.max_per_user:
            raise ParameterError(
                f"the graph has at most {limit} edges of a person: give `user` and "
                f"`max_per_user`={limit}"
            )
        if limit is None and self.cap is not None:
            raise ParameterError(
                "`max_per_user` is for a graph that was read with `user` and `max_per_user`"
            )
        return graph
