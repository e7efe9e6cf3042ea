"""Graphs of other libraries, accepted wherever a graph is expected."""

from __future__ import annotations

import sys
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Union

from dpselect.errors import ParameterError
from dpselect.networks.counts import NodeCounts
from dpselect.networks.graph import Graph

if TYPE_CHECKING:
    import igraph
    import networkx as nx

AnyGraph: TypeAlias = Union[NodeCounts, "nx.Graph[Any]", "igraph.Graph"]
"""A :class:`~dpselect.networks.Graph` or :class:`~dpselect.networks.EdgeTable`; or an
undirected graph of networkx or igraph, whose node set is thereby declared public."""


def check_persons(graph: NodeCounts, max_per_user: int | None) -> None:
    """Check that a release protects those whom the edges were limited for.

    Raises:
        ParameterError: The graph was read with another limit than ``max_per_user``.
    """
    limit = getattr(graph, "max_per_user", None)
    if limit is not None and max_per_user != limit:
        raise ParameterError(
            f"the graph has at most {limit} edges of a person: give max_per_user={limit}"
        )
    if limit is None and max_per_user is not None:
        raise ParameterError(
            "max_per_user is for a graph that was read with user= and max_per_user="
        )


def accepted(graph: AnyGraph) -> NodeCounts:
    """Return a graph that can count, from one of this library, networkx or igraph.

    Of a graph of networkx or igraph the nodes are the candidates: by giving it the caller
    declares its node set public. Vertices of igraph go by their ``name``, if they have one.

    Raises:
        ParameterError: It is no graph.
        DataError: It is directed.
    """
    # Whoever holds such a graph has imported its package: nothing is imported here.
    networkx, igraph = (sys.modules.get(name) for name in ("networkx", "igraph"))
    if networkx is not None and isinstance(graph, networkx.Graph):
        return Graph.from_networkx(graph, nodes=list(graph.nodes))
    if igraph is not None and isinstance(graph, igraph.Graph):
        named = "name" in graph.vs.attributes()
        return Graph.from_igraph(graph, nodes=graph.vs["name"] if named else graph.vcount())
    if not _counts(graph):
        kind = f"{type(graph).__module__}.{type(graph).__qualname__}"
        raise ParameterError(
            f"graph must be a Graph or an EdgeTable of dpselect.networks, or an undirected "
            f"graph of networkx or igraph, not a {kind}; a list of edges is read by "
            "Graph.from_edges"
        )
    return graph


def _counts(graph: object) -> TypeGuard[NodeCounts]:
    """Return whether a graph can count; ``isinstance`` counts degrees on Python 3.11."""
    names = ("nodes", "degrees", "triangles", "common_neighbours", "ego_betweenness", "__len__")
    return all(getattr_static(graph, name, None) is not None for name in names)
