"""Releases of maps."""

from functools import partial

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.maps import Weighted
from dpselect.neighbours import Neighbours
from dpselect_conformance import ReleaseCase

SIZE = 40
QUERIES = [[0.1, 0.1, 0.43, 0.3], [0.5, 0.2, 0.9, 0.95]]
METHODS = {
    "one grid": {"grids": [4]},
    "grids": {"grids": [4, 9]},
    "adaptive": {"grids": [3], "method": "adaptive"},
    "quadtree": {"method": "quadtree"},
    "absolute error": {"grids": [4, 9], "measure": "absolute", "mechanism": "exponential"},
    "clipped error": {"grids": [4, 9], "measure": "relative-clipped", "floor": 2},
}
USERS = {"x": "lon", "y": "lat", "user": "who", "max_per_user": 3}


def points(relation, rng):
    """Two sets of points; one has one point more, or another one in place of one."""
    here = rng.beta(2, 5, (SIZE, 2))
    if relation is Neighbours.ADD_REMOVE:
        return here, here[1:]
    return here, np.concatenate([here[1:], rng.random((1, 2))])


def trips(relation, rng):
    """Two tables of points with users; one user is there or not, or is another one."""
    x, y = rng.random((2, SIZE))
    here = pl.DataFrame({"lon": x, "lat": y, "who": np.arange(SIZE) // 5})
    others = here.filter(pl.col("who") != 0)
    if relation is Neighbours.ADD_REMOVE:
        return here, others
    lon, lat = rng.random((2, 7))
    another = pl.DataFrame({"lon": lon, "lat": lat, "who": np.zeros(7, dtype=np.int64)})
    return here, pl.concat([others, another])


def case(kind, name, relation, pair, **asked):
    asked = {"bounds": (0, 0, 1, 1), "epsilon": 1.0, "neighbours": relation, **asked}
    return ReleaseCase(
        name=f"{kind.__name__}, {relation}, {name}",
        query=kind(**asked),
        pair=partial(pair, relation),
        delta=asked.get("delta", 0.0),
    )


def tuned(name, relation, pair, **asked):
    return case(dp.Map, name, relation, pair, **{"queries": QUERIES, **asked})


def lazy_trips(relation, rng):
    return tuple(table.lazy() for table in trips(relation, rng))


RELATIONS = (Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE)
CASES = [
    one
    for relation in RELATIONS
    for one in (
        *(tuned(name, relation, points, **method) for name, method in METHODS.items()),
        tuned("even queries", relation, points, grids=[4, 9], queries=None),
        tuned(
            "a measure",
            relation,
            points,
            grids=[4, 9],
            measure=Weighted(neighbours=relation, weights=[0.3, 2.0]),
            mechanism="generalized",
        ),
        tuned("users", relation, trips, grids=[4, 9], **USERS),
        tuned("users in an engine", relation, lazy_trips, grids=[4, 9], **USERS),
    )
]
