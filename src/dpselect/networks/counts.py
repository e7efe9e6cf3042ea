"""The counts around every node that metrics are computed from, whoever holds the edges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from dpselect._parallel import Progress
from dpselect.typing import Indices, Values


class CommonNeighbours(NamedTuple):
    """The extremes of ``|N(v) ∩ N(w)|`` over all other nodes ``w``, by node.

    Over all nodes other than ``v``, adjacent or not; 0 where there are none. Private.
    """

    least: Indices
    """The minimum for every node, shape ``(n,)``."""

    most: Indices
    """The maximum for every node, shape ``(n,)``."""


@runtime_checkable
class NodeCounts(Protocol):
    """An undirected graph on public nodes that can count around each of them.

    ``Graph`` counts in memory, ``EdgeTable`` in the engine that holds the edges. Both give the
    same numbers to the last bit. All counts are in the order of ``nodes`` and private.
    """

    @property
    def nodes(self) -> Sequence[Hashable]:
        """The node ids or labels, in candidate order. Public."""

    def __len__(self) -> int:
        """Return the number of nodes. Public."""

    @property
    def degrees(self) -> Indices:
        """The number of neighbours of every node, shape ``(n,)``."""

    def triangles(self) -> Indices:
        """Return the number of edges between neighbours of every node, shape ``(n,)``."""

    def common_neighbours(self) -> CommonNeighbours:
        """Return the fewest and most neighbours that each node shares with another."""

    def ego_betweenness(self, progress: Progress | None = None) -> Values:
        """Return the betweenness of every node within its own ego network, shape ``(n,)``.

        Args:
            progress: Called with the number of nodes done and of all nodes, where the count
                proceeds node by node.

        Source: Farias et al., VLDB J. 2023, Definition 19; pairs are unordered.
        """
