"""Releases of the cells that hold most points: one point, or one person, more or replaced."""

import numpy as np
import polars as pl

import dpselect as dp
from support.releases.maps import RELATIONS, USERS, case, points, trips


def heavy(name, relation, pair, **asked):
    return case(dp.HeavyCells, name, relation, pair, grid=(3, 4), **asked)


def wards(relation, rng):
    """Return two tables of points of three wards, of which one holds every other person."""
    tables = trips(relation, rng)
    return tuple(one.with_columns(ward=pl.col("who") % 3) for one in tables)


def crowds(relation, rng):
    """Return the same with so many persons in every ward that all are released."""
    size = 600
    x, y = rng.random((2, size))
    others = pl.DataFrame({"lon": x, "lat": y, "who": np.arange(size) + 1000})
    return tuple(
        pl.concat([one, others.with_columns(ward=pl.col("who") % 3)])
        for one in wards(relation, rng)
    )


OF_WARDS = {"by": "ward", "groups": [0, 1]}
RELEASED = {"by": "ward", "groups_share": 0.9, "epsilon": 20.0, "delta": 1e-3}
OTHERS = {"k": 2, "other": True, **USERS, **RELEASED}

CASES = [
    one
    for relation in RELATIONS
    for one in (
        heavy("one cell", relation, points, k=1),
        heavy("five cells", relation, points, k=5),
        heavy("above a count", relation, points, above=3.0),
        heavy("of users", relation, trips, k=3, **USERS),
        heavy("one cell of each group", relation, wards, k=1, **USERS, **OF_WARDS),
        heavy("cells of each group", relation, wards, k=3, **USERS, **OF_WARDS),
        heavy("cells of released groups", relation, crowds, k=2, **USERS, **RELEASED),
        heavy("cells of released groups and others", relation, crowds, **OTHERS),
    )
]
