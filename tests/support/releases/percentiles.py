"""Releases of percentiles: labels of records, and one or several public values."""

from functools import partial

import numpy as np
import polars as pl

from dpselect.neighbours import Neighbours
from dpselect.percentiles import (
    Range,
    plan_percentile_record,
    plan_percentiles,
    release_percentile_record,
    release_percentiles,
)
from support.releases import ReleaseCase

N, UPPER = 12, 10


def substituted(rng):
    """Return two databases that differ in the value of one record."""
    values = rng.integers(0, UPPER + 1, N).astype(float)
    other = values.copy()
    other[rng.integers(N)] = rng.integers(0, UPPER + 1)
    return values, other


def one_more(rng):
    """Return a database and the same with one record more."""
    values = rng.integers(0, UPPER + 1, N).astype(float)
    return values, np.append(values, rng.integers(0, UPPER + 1))


PAIRS = {Neighbours.SUBSTITUTE: substituted, Neighbours.ADD_REMOVE: one_more}


def _release(function, arguments, data, budget):
    return function(data, **arguments, budget=budget)


def _record(mechanism):
    asked = {"p": 75, "upper": UPPER, "epsilon": 0.75, "mechanism": mechanism}
    return ReleaseCase(
        name=f"release_percentile_record, {mechanism}",
        neighbours=Neighbours.SUBSTITUTE,
        release=partial(_release, release_percentile_record, asked),
        plan=partial(plan_percentile_record, **asked, records=N),
        pair=substituted,
    )


def _values(relation, mechanism, p, method=None):
    asked = {
        "p": p,
        "candidates": range(UPPER + 1),
        "method": method,
        "epsilon": 0.75,
        "neighbours": relation,
        "mechanism": mechanism,
    }
    several = "several" if isinstance(p, list) else "one"
    return ReleaseCase(
        name=f"release_percentiles of {several}, {relation}, {mechanism}, {method}",
        neighbours=relation,
        release=partial(_release, release_percentiles, asked),
        plan=partial(plan_percentiles, **asked),
        pair=PAIRS[relation],
    )


def _range(relation):
    asked = {
        "p": [25, 75],
        "candidates": Range(0, UPPER, step=0.001),
        "epsilon": 0.75,
        "neighbours": relation,
    }
    return ReleaseCase(
        name=f"release_percentiles of a range, {relation}",
        neighbours=relation,
        release=partial(_release, release_percentiles, asked),
        plan=partial(plan_percentiles, **asked),
        pair=PAIRS[relation],
    )


def _users(relation):
    """Rows of three persons, at most two counted of each."""
    asked = {
        "column": "v",
        "user": "who",
        "p": 75,
        "candidates": range(UPPER + 1),
        "max_per_user": 2,
        "epsilon": 0.75,
        "neighbours": relation,
    }

    def pair(rng):
        rows = pl.DataFrame({"who": [0] * 4 + [1] * 3 + [2], "v": rng.integers(0, UPPER, 8)})
        more = pl.DataFrame({"who": [3] * 5, "v": rng.integers(0, UPPER, 5)})
        if relation is Neighbours.ADD_REMOVE:
            return rows, pl.concat([rows, more])
        return rows, pl.concat([rows.filter(pl.col("who") > 0), more])

    return ReleaseCase(
        name=f"release_percentiles of persons, {relation}",
        neighbours=relation,
        release=partial(_release, release_percentiles, asked),
        plan=partial(plan_percentiles, **asked),
        pair=pair,
    )


CASES = [
    *map(_users, PAIRS),
    *(_values(relation, None, [25, 75], "joint") for relation in PAIRS),
    *(
        _values(relation, None, p, "above-threshold")
        for relation in PAIRS
        for p in (75, [25, 75])
    ),
    *map(_range, PAIRS),
    *(_record(name) for name in ("shifted", "local-dampening", "anchored", "exponential")),
    *(
        _values(relation, name, p)
        for relation in PAIRS
        for name in ("permute-and-flip", "exponential", "noisy-max")
        for p in (75, [25, 50, 75])
    ),
    *(_values(relation, "permute-and-flip", [25, 50, 75], "one-by-one") for relation in PAIRS),
]
