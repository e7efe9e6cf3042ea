"""The baseline PrivateSQL of Table 1, simulated as section 6.5.1 and Appendix B describe it.

For every node ``c`` and all pairs of nodes a count is asked: 1 for adjacent nodes, 0 for nodes
more than two steps apart in the ego network of ``c``, else the number ``q`` of shortest paths
there. Each node's counts are a private view of their own, with a share 1/n of epsilon. The
betweenness of ``c`` is then the sum of 1/q over the pairs whose noisy count is above 0.

The sensitivity of a view is known from one number alone, 1,448 at a largest degree of 10. It
is taken for every graph, also for those of larger degree, so that the noise is too small there
and this is no private mechanism: the comparison errs in the baseline's favour.
"""

from __future__ import annotations

import numpy as np

from dpselect.networks import Graph
from dpselect.typing import Indices, Scores, Values

SENSITIVITY = 1448.0


def counts(graph: Graph) -> Values:
    """Return the exact answers, shape ``(n, n, n)``: by node ``c`` and pair."""
    n = len(graph)
    adjacent = np.zeros((n, n))
    for node in range(n):
        adjacent[node, graph.rows[graph.starts[node] : graph.starts[node + 1]]] = 1.0
    answers = np.zeros((n, n, n))
    for centre in range(n):
        near = adjacent[centre].astype(bool)
        inside = near | (np.arange(n) == centre)
        ego = adjacent * np.outer(inside, inside)
        # Two neighbours of the centre that are not adjacent are two steps apart, through it.
        paths = np.where(ego > 0, 1.0, ego @ ego)
        answers[centre] = paths * np.outer(near, near)
    return answers


def noise_scale(nodes: int, epsilon: float) -> float:
    """Return the scale of the noise of one count: each node has a view of its own."""
    return SENSITIVITY * nodes / epsilon


def top_not_private(
    answers: Values,
    k: int,
    *,
    epsilon: float,
    rng: np.random.Generator,
    rounded: bool = False,
) -> Indices:
    """Return the k nodes of the largest noisy betweenness.

    Args:
        answers: What ``counts`` returns.
        k: How many.
        epsilon: For all views together, nats.
        rng: Of the noise.
        rounded: Whether noisy counts are rounded to whole numbers. The estimate 1/q of a real
            number near 0 is as large as one likes, at any scale of the noise.
    """
    n = len(answers)
    first, second = np.triu_indices(n, 1)
    exact = answers[:, first, second]
    noisy = exact + rng.laplace(scale=noise_scale(n, epsilon), size=exact.shape)
    noisy = np.round(noisy) if rounded else noisy
    shares: Scores = np.where(noisy > 0, 1 / np.where(noisy > 0, noisy, 1.0), 0.0).sum(axis=1)
    return np.argsort(-shares, kind="stable")[:k]
