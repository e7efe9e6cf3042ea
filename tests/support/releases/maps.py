"""Releases of maps."""

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.maps import Weighted
from dpselect.neighbours import Neighbours
from dpselect_conformance import ReleaseCase, pairs_of_persons

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


def points(held):
    """Return the points of persons with one each."""
    return np.concatenate([*held.values()])


def trips(held):
    """Return a table of the points of users."""
    rows = [(*point, who) for who, some in held.items() for point in some.tolist()]
    return pl.DataFrame(rows, schema=["lon", "lat", "who"], orient="row")


POINTS = pairs_of_persons(points, lambda rng: rng.beta(2, 5, (1, 2)), SIZE)


def of_users(rows):
    return pairs_of_persons(rows, lambda rng: rng.random((5, 2)), SIZE // 5)


TRIPS, LAZY = of_users(trips), of_users(lambda held: trips(held).lazy())


def case(kind, name, relation, pairs, **asked):
    asked = {"bounds": (0, 0, 1, 1), "epsilon": 1.0, "neighbours": relation, **asked}
    return ReleaseCase(
        name=f"{kind.__name__}, {relation}, {name}",
        query=kind(**asked),
        pair=pairs[relation],
        delta=asked.get("delta", 0.0),
    )


def tuned(name, relation, pairs, **asked):
    return case(dp.Map, name, relation, pairs, **{"queries": QUERIES, **asked})


RELATIONS = (Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE)
CASES = [
    one
    for relation in RELATIONS
    for one in (
        *(tuned(name, relation, POINTS, **method) for name, method in METHODS.items()),
        tuned("even queries", relation, POINTS, grids=[4, 9], queries=None),
        tuned(
            "a measure",
            relation,
            POINTS,
            grids=[4, 9],
            measure=Weighted(neighbours=relation, weights=[0.3, 2.0]),
            mechanism="generalized",
        ),
        tuned("users", relation, TRIPS, grids=[4, 9], **USERS),
        tuned("users in an engine", relation, LAZY, grids=[4, 9], **USERS),
    )
]
