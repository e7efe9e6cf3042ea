"""Every releasing function of :mod:`dpselect.spatial`."""

from functools import partial

import numpy as np
import polars as pl

from dpselect.neighbours import Neighbours
from dpselect.spatial import (
    RelativeClipped,
    RelativeKnownSize,
    plan_heavy_cells,
    plan_histogram,
    release_heavy_cells,
    release_histogram,
)
from support.releases import ReleaseCase

SIZE = 40
PUBLIC = {
    "bounds": (0, 0, 1, 1),
    "queries": [[0.1, 0.1, 0.43, 0.3], [0.5, 0.2, 0.9, 0.95]],
    "epsilon": 1.0,
}
METHODS = {
    "one grid": {"grids": [4]},
    "grids": {"grids": [4, 9]},
    "adaptive": {"grids": [3], "method": "adaptive"},
    "quadtree and tree": {"method": ["quadtree", "privtree"]},
    "a tree alone": {"method": "privtree", "tuning_share": 0.5},
    "absolute error": {"grids": [4, 9], "measure": "absolute", "mechanism": "exponential"},
}
PHASE_1 = {
    Neighbours.ADD_REMOVE: RelativeClipped(floor=2.0, clip=3.0),
    Neighbours.SUBSTITUTE: RelativeKnownSize(floor=2.0, records=SIZE),
}
USERS = {
    "grids": [4, 9],
    "x": "lon",
    "y": "lat",
    "user": "who",
    "max_points_per_user": 3,
}


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


def case(name, relation, pair, **arguments):
    """One case; the plan is made from the arguments of the release."""
    public = {**PUBLIC, "neighbours": relation, **arguments}
    return ReleaseCase(
        name=f"release_histogram, {relation}, {name}",
        neighbours=relation,
        release=lambda data, budget: release_histogram(data, budget=budget, **public),
        plan=lambda: plan_histogram(**public),
        pair=partial(pair, relation),
    )


def heavy(name, relation, pair, k=None, **arguments):
    public = {
        "bounds": (0, 0, 1, 1),
        "grid": (3, 4),
        "epsilon": 1.0,
        "neighbours": relation,
        **arguments,
    }
    return ReleaseCase(
        name=f"release_heavy_cells, {relation}, {name}",
        neighbours=relation,
        release=lambda data, budget: release_heavy_cells(data, k, budget=budget, **public),
        plan=lambda: plan_heavy_cells(k, **public),
        pair=partial(pair, relation),
    )


OF_USERS = {name: value for name, value in USERS.items() if name != "grids"}
RELATIONS = (Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE)
CASES = [
    *(
        one
        for relation in RELATIONS
        for one in (
            heavy("one cell", relation, points, 1),
            heavy("five cells", relation, points, 5),
            heavy("above a count", relation, points, above=3.0),
            heavy("of users", relation, trips, 3, **OF_USERS),
        )
    ),
    *(
        case(name, relation, points, **method)
        for relation in RELATIONS
        for name, method in METHODS.items()
    ),
    *(
        case(
            "phase 1 of the paper, repaired",
            relation,
            points,
            grids=[4, 9],
            measure=measure,
            mechanism="generalized",
        )
        for relation, measure in PHASE_1.items()
    ),
    *(case("users", relation, trips, **USERS) for relation in RELATIONS),
    *(
        case(
            "users in an engine",
            relation,
            lambda *to: tuple(table.lazy() for table in trips(*to)),
            **USERS,
        )
        for relation in RELATIONS
    ),
]
