"""Releases of nodes of a network: two graphs that differ by one edge."""

from functools import partial

import polars as pl

from dpselect.mechanisms import NoisySequence
from dpselect.neighbours import Neighbours
from dpselect.networks import (
    EdgeTable,
    Graph,
    ego_density,
    plan_hubs,
    plan_nodes,
    release_hubs,
    release_nodes,
)
from support.releases import ReleaseCase

NODES = 12
EPSILON = 0.8
ENDS = {"source": "a", "target": "b"}

PLANS = {
    "degree": {"metric": "degree"},
    "degree, sequence": {"metric": "degree", "mechanism": "noisy-sequence"},
    "degree, exponential": {"metric": "degree", "mechanism": "exponential"},
    "degree, noisy-max": {"metric": "degree", "mechanism": "noisy-max"},
    "degree, generalized": {"metric": "degree", "mechanism": "generalized"},
    "ego-density": {"metric": "ego-density"},
    "ego-density, local-dampening": {"metric": "ego-density", "mechanism": "local-dampening"},
    "ego-betweenness": {"metric": "ego-betweenness"},
    "ego-betweenness, pairwise": {
        "metric": "ego-betweenness",
        "mechanism": "pairwise",
        "max_degree": NODES - 1,
    },
    "a callable": {"metric": partial(ego_density, sensitivity="degree")},
    "pareto": {"metric": ["degree", "ego-betweenness"], "combine": "pareto"},
    "pareto among those left": {
        "metric": ["degree", "ego-density"],
        "combine": "pareto",
        "among": "left",
    },
    "weighted sum": {
        "metric": ["degree", "ego-density"],
        "combine": "weighted-sum",
        "weights": [1, 10],
    },
    "margin": {"metric": ["degree", "ego-density"], "combine": "margin"},
}


def pair(rng):
    """Return the edges of a random graph, and the same with one edge more or less."""
    every = [(u, v) for v in range(NODES) for u in range(v)]
    chosen = {every[i] for i in rng.choice(len(every), size=20, replace=False)}
    flipped = chosen ^ {every[rng.integers(len(every))]}
    return sorted(chosen), sorted(flipped)


def in_memory(asked, k, edges, budget):
    graph = Graph.from_edges(edges, nodes=NODES)
    return release_nodes(graph, k, **asked, epsilon=EPSILON, budget=budget)


def in_an_engine(asked, k, edges, budget):
    frame = pl.LazyFrame(edges, schema=list(ENDS.values()), orient="row")
    table = EdgeTable(frame, nodes=NODES, **ENDS)
    return release_nodes(table, k, **asked, epsilon=EPSILON, budget=budget)


def of_hubs(asked, edges, budget):
    return release_hubs(Graph.from_edges(edges, nodes=NODES), 2, **asked, budget=budget)


def pair_of_persons(rng):
    """Return the rows of persons with up to five edges each, and of all but one."""
    rows = [
        (*rng.choice(NODES, 2, replace=False).tolist(), who)
        for who in range(6)
        for _ in range(int(rng.integers(1, 6)))
    ]
    return rows, [row for row in rows if row[2] > 0]


def of_persons(asked, k, lazy, rows, budget):
    frame = pl.DataFrame(rows, schema=["a", "b", "who"], orient="row")
    claims = {"nodes": NODES, "user": "who", "max_per_user": 2}
    read = EdgeTable(frame.lazy(), **ENDS, **claims) if lazy else None
    graph = read or Graph.from_edges(frame, **ENDS, **claims)
    return (release_hubs if "hubs" in asked else release_nodes)(
        graph, k, **asked, budget=budget
    )


def persons_case(name, asked, *, k=2, lazy=False):
    asked = asked | {"max_per_user": 2, "epsilon": EPSILON}
    return ReleaseCase(
        name=f"{'release_hubs' if 'hubs' in asked else 'release_nodes'}, persons, {name}",
        neighbours=Neighbours.ADD_REMOVE,
        release=partial(of_persons, asked, k, lazy),
        plan=partial(plan_hubs if "hubs" in asked else plan_nodes, NODES, k, **asked),
        pair=pair_of_persons,
        delta=1e-4 if "gaussian" in str(asked) else 0.0,
    )


def hubs_case(metric):
    asked = {"metric": metric, "hubs": 5, "epsilon": EPSILON}
    return ReleaseCase(
        name=f"release_hubs, edge, {metric}",
        neighbours=Neighbours.EDGE,
        release=partial(of_hubs, asked),
        plan=partial(plan_hubs, NODES, 2, **asked),
        pair=pair,
    )


def case(name, asked, *, k, release, delta=0.0):
    return ReleaseCase(
        name=name,
        neighbours=Neighbours.EDGE,
        release=partial(release, asked, k),
        plan=partial(plan_nodes, NODES, k, **asked, epsilon=EPSILON),
        pair=pair,
        delta=delta,
    )


GAUSSIAN = partial(NoisySequence, noise="gaussian", delta=1e-4, with_scores=True)
CASES = [
    *(
        persons_case(name, PLANS[name])
        for name in ("degree", "ego-density", "ego-betweenness", "pareto among those left")
    ),
    persons_case("degree, polars", PLANS["degree"], k=1, lazy=True),
    persons_case("degree, Gaussian", {"metric": "degree", "mechanism": GAUSSIAN}),
    persons_case("ego-density", {"metric": "ego-density", "hubs": 5}),
    *(hubs_case(metric) for metric in ("ego-betweenness", "ego-density")),
    *(
        case(f"release_nodes, edge, {name}", asked, k=2, release=in_memory)
        for name, asked in PLANS.items()
    ),
    case(
        "release_nodes, edge, degree, Gaussian sequence",
        {
            "metric": "degree",
            "mechanism": GAUSSIAN,
        },
        k=3,
        release=in_memory,
        delta=1e-4,
    ),
    case("release_nodes, edge, one node", PLANS["degree"], k=1, release=in_memory),
    case("release_nodes, edge, five nodes", PLANS["degree"], k=5, release=in_memory),
    *(
        case(f"release_nodes, edge, {name}, polars", PLANS[name], k=2, release=in_an_engine)
        for name in ("degree", "ego-betweenness")
    ),
]
