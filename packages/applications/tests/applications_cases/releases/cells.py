"""Releases of the cells that hold most points: one point, or one person, more or replaced."""

import numpy as np
import polars as pl

import dpselect as dp
from support.releases.maps import POINTS, RELATIONS, TRIPS, USERS, case, of_users, trips

RNG = np.random.default_rng(1)
CROWD = pl.DataFrame({"lon": RNG.random(600), "lat": RNG.random(600), "who": range(1000, 1600)})
"""So many persons in every ward that all are released."""


def wards(held):
    """Return points of three wards, of which one holds every third person."""
    return trips(held).with_columns(ward=pl.col("who") % 3)


def crowds(held):
    return pl.concat([wards(held), CROWD.with_columns(ward=pl.col("who") % 3)])


def heavy(name, relation, pairs, **asked):
    return case(dp.HeavyCells, name, relation, pairs, grid=(3, 4), **asked)


WARDS, CROWDS = of_users(wards), of_users(crowds)
OF_WARDS = {"by": "ward", "groups": [0, 1]}
RELEASED = {"by": "ward", "groups_share": 0.9, "epsilon": 20.0, "delta": 1e-3}
OTHERS = {"k": 2, "other": True, **USERS, **RELEASED}

CASES = [
    one
    for relation in RELATIONS
    for one in (
        heavy("one cell", relation, POINTS, k=1),
        heavy("five cells", relation, POINTS, k=5),
        heavy("above a count", relation, POINTS, above=3.0),
        heavy("of users", relation, TRIPS, k=3, **USERS),
        heavy("one cell of each group", relation, WARDS, k=1, **USERS, **OF_WARDS),
        heavy("cells of each group", relation, WARDS, k=3, **USERS, **OF_WARDS),
        heavy("cells of released groups", relation, CROWDS, k=2, **USERS, **RELEASED),
        heavy("cells of released groups and others", relation, CROWDS, **OTHERS),
    )
]
