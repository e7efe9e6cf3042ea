"""Top nodes by degree where a node is protected with all its edges.

Neighbours are two graphs on the same public nodes whose different edges all end at one node,
whatever edges it has in either: a person without edges is one who is not there. Such a step
moves the degree of that node by any amount, and every other one by at most 1. So degrees are
scored up to a public cap, ``min(d, D)``, and drawn by ``dpselect.draws.own_exponential``. No
edge is left out, so that no edge displaces another, and the degrees are those of any engine.

A node is named for edges that are its own. How much no mechanism can do is Theorem 52 of
``docs/theory.md``: of the ``k`` best of ``n`` nodes, a share of ``k e^(2ε)/(e^(2ε) + n - 1)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect import validation
from dpselect.draws import own_exponential
from dpselect.errors import ParameterError
from dpselect.mechanisms import ExponentialMechanism
from dpselect.mechanisms.base import Drawn, released
from dpselect.mechanisms.top_k import gap
from dpselect.neighbours import Neighbours
from dpselect.networks.counts import NodeCounts
from dpselect.networks.edges import EdgeDesign, EdgeRows
from dpselect.networks.metrics import METRICS, degree
from dpselect.passes import Pass
from dpselect.plan import Plan, Spend
from dpselect.release import Release
from dpselect.typing import Indices

if TYPE_CHECKING:
    from dpselect.networks.top import TopNodes

LARGEST_CAP = 2**30
"""What the sampler takes."""

OF_EDGES = (
    "above",
    "combine",
    "weights",
    "user",
    "max_per_user",
    "redraw",
    "interval",
    "mechanism",
)
"""Fields of a query that protects edges."""


def design(asked: TopNodes) -> NodeDesign:
    """Return the design of a query that protects a node.

    Raises:
        ParameterError: A field is missing, is out of its range or does not go with it.
    """
    if asked.metric not in ("degree", degree):
        raise ParameterError(
            "`protect`='node' needs `metric`='degree': the edges of one node can take the ego "
            "density of all others from 0 to 1, and halve their ego betweenness"
        )
    given = [name for name in OF_EDGES if getattr(asked, name) is not None]
    if given or asked.dominance != "standard":
        raise ParameterError(
            f"`{given[0] if given else 'dominance'}` does not go with `protect`='node'"
        )
    if asked.max_degree is None:
        raise ParameterError(
            "`protect`='node' needs `max_degree`; larger degrees are counted as `max_degree`"
        )
    rows = EdgeRows.of(asked)
    n = len(rows.nodes)
    k = validation.at_least("k", asked.k, 1, n)
    epsilon = validation.positive("epsilon", asked.epsilon)
    cap = min(validation.at_least("max_degree", asked.max_degree, 1), max(1, n - 1))
    cap = min(cap, LARGEST_CAP)
    decay = own_exponential.largest_decay(epsilon, n=n, cap=cap, k=k)
    # One draw is that of the exponential mechanism for twice the decay.
    one = ExponentialMechanism(epsilon=2 * decay)
    return NodeDesign(
        mechanism=f"exponential mechanism on degrees up to {cap:,}, decay {decay:g}",
        spends=(Spend("all draws of nodes together", epsilon),),
        epsilon=epsilon,
        neighbours=Neighbours.NODE,
        public=("the nodes",),
        error=one.error_bound(
            candidates=n * k,
            bound=1,
            unit=gap(f"{METRICS['degree'].unit} (counted up to {cap:,})", one=False),
            largest=cap,
        ),
        passes=(Pass(1),) * (rows.on_invalid == "raise") + (Pass(n),),
        rows=rows,
        k=k,
        cap=cap,
        decay=decay,
    )


@dataclass(frozen=True, kw_only=True)
class NodeDesign(EdgeDesign):
    """A draw of nodes by degrees up to a cap.

    Attributes:
        k: How many nodes.
        cap: The degree from which on nodes are equal.
        decay: Nats of a weight for one neighbour.
    """

    k: int
    cap: int
    decay: float

    def scores(self, graph: NodeCounts) -> Indices:
        """Return the degrees of all nodes, up to the cap; private."""
        return np.minimum(graph.degrees, self.cap)

    def prepare(self, data: object) -> Callable[[Plan], Release[Any]]:
        graph = self.rows.read(data)
        scores = self.scores(graph)
        return released(
            graph.nodes,
            lambda: Drawn(own_exponential.draw_with_own(scores, self.decay, self.k)),
        )
