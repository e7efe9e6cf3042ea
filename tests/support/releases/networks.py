"""Releases of nodes of a network: two graphs that differ by one edge, or by one person."""

import polars as pl

import dpselect as dp
from dpselect.networks import EdgeTable, Graph, Metric, degree, ego_density
from dpselect.networks.density import ego_density_facts
from dpselect_conformance import ReleaseCase

NODES = 12
PUBLIC = {"nodes": NODES, "source": "a", "target": "b", "epsilon": 0.8}
OF_PERSONS = {"user": "who", "max_per_user": 2}

TWO = {"metric": ["degree", "ego-density"]}
PAIRWISE = {"metric": "ego-betweenness", "mechanism": "pairwise"}
ASKED = {
    "degree": {"metric": "degree"},
    "degree, sequence": {"metric": "degree", "mechanism": "noisy-sequence"},
    "degree, exponential": {"metric": "degree", "mechanism": "exponential"},
    "degree, noisy-max": {"metric": "degree", "mechanism": "noisy-max"},
    "degree, generalized": {"metric": degree, "mechanism": "generalized"},
    "ego-density": {"metric": "ego-density"},
    "ego-density, local-dampening": {"metric": "ego-density", "mechanism": "local-dampening"},
    "ego-betweenness": {"metric": "ego-betweenness"},
    "ego-betweenness, pairwise": {**PAIRWISE, "max_degree": NODES - 1},
    "a metric of one's own": {"metric": Metric(ego_density, ego_density_facts)},
    "pareto": {"metric": ["degree", "ego-betweenness"], "combine": "pareto"},
    "pareto, weak": {**TWO, "combine": "pareto", "dominance": "weak"},
    "pareto among the remaining": {**TWO, "combine": "pareto", "redraw": "remaining"},
    "weighted sum": {**TWO, "combine": "weighted-sum", "weights": [1, 10]},
    "margin": {**TWO, "combine": "margin"},
}


def pair(rng):
    """Return the edges of a random graph, and the same with one edge more or less."""
    every = [(u, v) for v in range(NODES) for u in range(v)]
    chosen = {every[i] for i in rng.choice(len(every), size=20, replace=False)}
    flipped = chosen ^ {every[rng.integers(len(every))]}
    return sorted(chosen), sorted(flipped)


def pair_of_persons(rng):
    """Return the rows of persons with up to five edges each, and of all but one."""
    rows = [
        (*rng.choice(NODES, 2, replace=False).tolist(), who)
        for who in range(6)
        for _ in range(int(rng.integers(1, 6)))
    ]
    return rows, [row for row in rows if row[2] > 0]


def frame(rows):
    return pl.DataFrame(rows, schema=["a", "b", "who"][: len(rows[0])], orient="row")


def lazy(rows):
    return frame(rows).lazy()


def graph(rows):
    return Graph.from_edges(rows, nodes=NODES)


def table(rows):
    return EdgeTable.from_edges(lazy(rows), source="a", target="b", nodes=NODES)


def graph_of_persons(rows):
    return Graph.from_edges(frame(rows), source="a", target="b", nodes=NODES, **OF_PERSONS)


PAIRS = {"persons": pair_of_persons, "edge": pair}


def case(name, kind, asked, *, data, **more):
    protected = "persons" if "user" in asked else "edge"
    return ReleaseCase(
        name=f"{kind.__name__}, {protected}, {name}",
        query=kind(**(PUBLIC | asked)),
        data=data,
        pair=PAIRS[protected],
        **more,
    )


def top(name, asked, *, k=2, data=graph, **more):
    return case(name, dp.TopNodes, {**asked, "k": k}, data=data, **more)


def of_persons(name, asked, *, data=frame, **more):
    return top(name, {**asked, **OF_PERSONS}, data=data, **more)


CASES = [
    *(
        of_persons(name, ASKED[name])
        for name in ("degree", "ego-density", "ego-betweenness", "pareto among the remaining")
    ),
    of_persons("degree, a graph", ASKED["degree"], data=graph_of_persons),
    of_persons("degree, polars", ASKED["degree"], k=1, data=lazy),
    *(top(name, asked) for name, asked in ASKED.items()),
    top("degree, one node", ASKED["degree"], k=1),
    top("degree, five nodes", ASKED["degree"], k=5),
    top("degree, pairs", ASKED["degree"], data=list),
    top("degree, above", {"metric": "degree", "above": 3.0}, k=None),
    top("degree, lazy of polars", ASKED["degree"], data=lazy),
    top("ego-betweenness, table of polars", ASKED["ego-betweenness"], data=table),
]
