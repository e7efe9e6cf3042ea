"""Hubs: their ego betweenness by its definition."""

import networkx as nx
from hypothesis import strategies as st

from truth.calls import Call, released
from truth.questions.networks import betweenness, held_edges

WORST = 1.5
"""Estimates are those of random ego networks."""


@st.composite
def hubs(draw):
    """Estimates are within a factor of the truth, and in its order."""
    n, seed = draw(st.sampled_from([30, 60])), draw(st.integers(0, 10**6))
    share = draw(st.sampled_from([0.2, 0.35, 0.5, 0.7]))
    graph = nx.gnp_random_graph(n, share, seed=seed)
    nodes, data, of = draw(held_edges(n, list(graph.edges), "polars"))
    k = draw(st.integers(1, 3))
    fields = {"metric": "ego-betweenness", "candidates": n, "epsilon": 1e6}
    query = Call("dp.Hubs", nodes=nodes, k=k, **fields)
    truth = {of(node): score for node, score in betweenness(graph).items()}

    def right(release):
        pairs = list(zip(release.answer, release.noisy_scores, strict=True))
        far = [
            (one, x, truth[one])
            for one, x in pairs
            if not truth[one] < x * WORST < truth[one] * WORST**2
        ]
        best = sorted(truth.values())[-k:]
        low = [one for one in release.answer if truth[one] < best[0] / WORST]
        return True if not far and not low else f"{far} {low}: best {best}"

    return released(query, data, right)


QUESTIONS = {"Hubs ego-betweenness": hubs()}
