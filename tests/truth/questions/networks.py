"""Nodes: degrees and densities by networkx, ego betweenness by its definition in NumPy."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from truth.calls import Call, Slack, best_first, released
from truth.questions.combine import dominators, margins
from truth.questions.objectives import ONLY_FLAT

KARATE = list(nx.karate_club_graph().edges)
NOVEL = list(nx.convert_node_labels_to_integers(nx.les_miserables_graph()).edges)

EVERYWHERE = [
    "exponential",
    "permute-and-flip",
    "noisy-max",
    "pairwise",
    "generalized",
    "noisy-sequence",
]


def graph_of(edges, n):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((a, b) for a, b in edges if a != b)
    return graph


def degrees(graph):
    return dict(graph.degree)


def densities(graph):
    """The share of pairs of neighbours that are neighbours."""
    return nx.clustering(graph)


def betweenness(graph):
    """The pairs of neighbours that a node connects, each shared with their other paths."""
    found, whole = {}, nx.to_numpy_array(graph) if graph else np.zeros((0, 0))
    for node, row in zip(graph, whole, strict=True):
        among = whole[np.ix_(row > 0, row > 0)]
        apart = np.triu(among == 0, 1)
        found[node] = float((1 / (1 + among @ among))[apart].sum())
    return found


def steps(degree):
    """What one edge changes of ego betweenness, at most (docs/report)."""
    return max(1, degree, degree * (degree - 1) / 4)


METRICS = {
    "degree": (degrees, lambda _n: 1),
    "ego-density": (densities, lambda _n: 1),
    "ego-betweenness": (betweenness, lambda n: steps(n - 2)),
}


@st.composite
def edges_of(draw):
    """A number of nodes and edges between them; self-loops and repeated edges as well."""
    n = draw(st.sampled_from([2, 3, 5, 8, 12, 20, 30, 50]))
    node = st.integers(0, n - 1)
    shape = draw(st.sampled_from(["pairs", "gnp", "gnp", "real", "star", "clique", "path"]))
    if shape == "pairs":
        return n, draw(st.lists(st.tuples(node, node), max_size=40))
    if shape == "gnp":
        share, seed = draw(st.sampled_from([0.1, 0.2, 0.5])), draw(st.integers(0, 10**6))
        return n, list(nx.gnp_random_graph(n, share, seed=seed).edges)
    if shape == "real":
        return draw(st.sampled_from([(34, KARATE), (77, NOVEL)]))
    made = {
        "star": nx.star_graph(n - 1),
        "clique": nx.complete_graph(n),
        "path": nx.path_graph(n),
    }
    more = draw(st.lists(st.tuples(node, node), max_size=3))
    return n, [*made[shape].edges, *more]


def columns(pairs):
    return {"source": [a for a, _ in pairs], "target": [b for _, b in pairs]}


HELD = {
    "list": list,
    "array": lambda pairs: Call("np.array", [list(pair) for pair in pairs]),
    "polars": lambda pairs: Call("pl.DataFrame", columns(pairs)),
    "lazy": lambda pairs: Call("pl.LazyFrame", columns(pairs)),
    "pandas": lambda pairs: Call("pd.DataFrame", columns(pairs)),
    "objects": lambda pairs: Call("pd.DataFrame", columns(pairs), dtype="object"),
    "graph": lambda pairs: Call("nx.from_edgelist", pairs),
}


def named(node):
    return f"n{node}"


@st.composite
def held_edges(draw, n, edges, held=None):
    """Public nodes, the container of the edges, and the function from a node to its id."""
    ids = draw(st.sampled_from(["number", "list", *(["text"] if held != "written" else [])]))
    of = named if ids == "text" else int
    pairs = [(of(a), of(b)) for a, b in edges]
    nodes = n if ids == "number" else [of(node) for node in range(n)]
    if held == "written":  # as csv.reader returns them
        return nodes, [[str(a), str(b)] for a, b in pairs], of
    stranger = draw(st.booleans())
    held = held or draw(st.sampled_from(sorted(HELD)))
    if not pairs or (held == "graph" and {a for pair in edges for a in pair} != set(range(n))):
        held = "list"
    if held == "array" and n == 2:  # it could be the adjacency of two nodes, and is refused
        held = "list"
    if stranger and held != "graph":
        pairs = [*pairs, (of(n), of(0))]
    return nodes, HELD[held](pairs), of


@st.composite
def top(draw, metrics, mechanism=None, *, held=None, combine=None, weights=None, **more):
    """The nodes of the highest scores."""
    n, edges = draw(edges_of())
    nodes, data, of = draw(held_edges(n, edges, held))
    k = min(n, draw(st.sampled_from([1, 1, 2, 3, n if n < 20 else 5])))
    epsilon = draw(st.sampled_from([200.0, 1e4, 1e6]))
    fields = {"metric": metrics[0] if combine is None else metrics, "epsilon": epsilon}
    fields |= {
        name: one for name, one in (("combine", combine), ("mechanism", mechanism)) if one
    }
    weights = draw(st.sampled_from(weights)) if weights else None
    fields |= {} if weights is None else {"weights": list(weights)}
    fields |= more
    if combine == "margin" and "ego-betweenness" in metrics:
        fields["max_degree"] = max(1, n - 1)
    graph = graph_of(edges, n)
    every = [METRICS[one][0](graph) for one in metrics]
    bounds = [METRICS[one][1](n) for one in metrics]
    scores, bound = every[0], bounds[0]
    if combine is not None:
        scores, bound = COMBINED[combine](every, bounds, metrics, weights or [1] * len(metrics))
    whole = n * bound if mechanism == "noisy-sequence" else 0
    slack = Slack(bound, epsilon, n, k, 2 * k if metrics == ["degree"] else whole).value
    scores = {of(node): score for node, score in scores.items()}
    query = Call("dp.TopNodes", nodes=nodes, k=k, **fields)
    if more.get("redraw"):
        parts = [{of(node): score for node, score in one.items()} for one in every]
        return released(query, data, lambda release: in_fronts(release.answer, parts, slack))
    return released(
        query,
        data,
        lambda release: best_first(release.answer, scores, k, slack),
    )


def summed(every, bounds, _metrics, weights):
    total = {
        v: sum(w * one[v] for w, one in zip(weights, every, strict=True)) for v in every[0]
    }
    return total, sum(abs(w) * bound for w, bound in zip(weights, bounds, strict=True))


def dominated(every, _bounds, _metrics, weights):
    """Minus the number of nodes that are as good by all metrics, and better by one."""
    table = np.array(
        [[w * x for x in one.values()] for w, one in zip(weights, every, strict=True)]
    )
    scores = -dominators(table.round(9))
    return dict(zip(every[0], scores, strict=True)), max(1, len(every[0]) - 1)


def beaten(every, bounds, metrics, weights):
    """By how much each is beaten in all at once, in steps of both nodes; one for degrees."""
    both = [
        bound * (1 if name == "degree" else 2)
        for bound, name in zip(bounds, metrics, strict=True)
    ]
    table = [
        [np.sign(w) * x for x in one.values()] for w, one in zip(weights, every, strict=True)
    ]
    return dict(zip(every[0], margins(np.array(table), both), strict=True)), 1


COMBINED = {"weighted-sum": summed, "pareto": dominated, "margin": beaten}


def in_fronts(answer, parts, slack):
    """Return whether each is on the front of those that are left."""
    left = set(parts[0])
    for one in answer:
        worse = sum(
            all(part[other] >= part[one] for part in parts)
            and any(part[other] > part[one] for part in parts)
            for other in left
        )
        if worse > slack:
            return f"{one!r} is dominated by {worse} of {len(left)}"
        left.remove(one)
    return True


@st.composite
def above(draw):
    """All nodes of at least so many neighbours, the largest first, with their degrees."""
    n, edges = draw(edges_of())
    nodes, data, of = draw(held_edges(n, edges))
    found = {of(node): degree for node, degree in graph_of(edges, n).degree}
    threshold = draw(st.integers(0, 6))
    fields = {"metric": "degree", "epsilon": draw(st.sampled_from([200.0, 1e6]))}
    fields |= draw(st.sampled_from([{}, {"interval": 0.95}]))

    def right(release):
        if dict(zip(release.answer, release.noisy_scores, strict=True)) != {
            one: degree for one, degree in found.items() if degree >= threshold
        }:
            return f"{release.answer} {release.noisy_scores}"
        held = zip(release.answer, release.interval or [(0, n)] * n, strict=False)
        return all(low <= found[one] <= high for one, (low, high) in held)

    return released(Call("dp.TopNodes", nodes=nodes, above=threshold, **fields), data, right)


@st.composite
def of_persons(draw):
    """Each person has at most as many edges as are counted, so all are."""
    n, edges = draw(edges_of())
    rows = [(a, b, f"p{i // 2}") for i, (a, b) in enumerate(edges)]
    frame = {
        "a": [a for a, _, _ in rows],
        "b": [b for _, b, _ in rows],
        "who": [p for *_, p in rows],
    }
    metric, k = draw(st.sampled_from(sorted(METRICS))), draw(st.integers(1, min(n, 3)))
    scores, bound = METRICS[metric][0](graph_of(edges, n)), METRICS[metric][1](n)
    fields = {"source": "a", "target": "b", "user": "who", "max_per_user": 2, "epsilon": 1e6}
    query = Call("dp.TopNodes", nodes=n, k=k, metric=metric, **fields)
    slack = Slack(2 * bound, 1e6, n, k, 4 * k if metric == "degree" else 0).value
    types = {"a": Call("pl.Int64"), "b": Call("pl.Int64"), "who": Call("pl.String")}
    return released(
        query,
        Call("pl.DataFrame", frame, schema=types),
        lambda release: best_first(release.answer, scores, k, slack),
    )


WEIGHTS = [(1, 1), (1, 2), (1, 5), (10, 1)]
PAIRS = [
    ["degree", "ego-density"],
    ["degree", "ego-betweenness"],
    ["ego-density", "ego-betweenness"],
]


@st.composite
def combined(draw, combine, mechanism=None, **more):
    metrics = draw(st.sampled_from(PAIRS))
    weights = WEIGHTS if combine == "weighted-sum" else None
    return draw(top(metrics, mechanism, combine=combine, weights=weights, **more))


@st.composite
def nested(draw):
    """The front of one metric and a weighted sum of the others."""
    n, edges = draw(edges_of())
    nodes, data, of = draw(held_edges(n, edges))
    first, *others = draw(st.permutations(sorted(METRICS)))
    both = st.sampled_from([*WEIGHTS, (1, -1), (-2, 1), (1, 100)])
    weights = dict(zip(others, draw(both), strict=True))
    epsilon = draw(st.sampled_from([1e4, 1e6]))
    graph = graph_of(edges, n)
    total, _ = summed([METRICS[one][0](graph) for one in others], [0, 0], [], weights.values())
    scores, bound = dominated([METRICS[first][0](graph), total], [], [], [1, 1])
    fields = {"metric": [first, weights], "combine": "pareto", "epsilon": epsilon}
    k = min(n, draw(st.sampled_from([1, 3, n if n < 20 else 5])))
    slack = Slack(bound, epsilon, n, k, 0).value
    return released(
        Call("dp.TopNodes", nodes=nodes, k=k, **fields),
        data,
        lambda release: best_first(
            release.answer, {of(node): score for node, score in scores.items()}, k, slack
        ),
    )


def by_name(metric, names):
    return st.sampled_from(names).flatmap(lambda name: top([metric], name))


QUESTIONS = {
    **{f"TopNodes {metric} by default": top([metric]) for metric in METRICS},
    **{
        f"TopNodes {metric} by name": by_name(
            metric, [*EVERYWHERE, *(ONLY_FLAT if metric == "degree" else ())]
        )
        for metric in METRICS
    },
    **{f"TopNodes {one} by default": combined(one) for one in COMBINED},
    "TopNodes combined by name": st.tuples(
        st.sampled_from(sorted(COMBINED)), st.sampled_from(EVERYWHERE)
    ).flatmap(lambda both: combined(*both)),
    "TopNodes of the remaining": combined("pareto", redraw="remaining"),
    "TopNodes of a sum and the rest": nested(),
    "TopNodes of edges as csv.reader has them": top(["degree"], held="written"),
    "TopNodes above": above(),
    "TopNodes of persons": of_persons(),
}
