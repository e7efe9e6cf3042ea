"""Releases of percentiles: labels of records, and one or several public values."""

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.neighbours import Neighbours
from dpselect_conformance import ReleaseCase

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


def _record(mechanism, records):
    query = dp.PercentileRecord(
        p=75, upper=UPPER, records=records, epsilon=0.75, mechanism=mechanism
    )
    return ReleaseCase(f"PercentileRecord, {mechanism}, of {records}", query, substituted)


def _values(name, relation, p=(25, 75), **asked):
    asked = {"candidates": range(UPPER + 1)} | asked if "step" not in asked else asked
    query = dp.Percentiles(p=p, **asked, epsilon=0.75, neighbours=relation)
    several = "several" if isinstance(p, tuple) else "one"
    return ReleaseCase(f"Percentiles {name}: {several}, {relation}", query, PAIRS[relation])


def _users(name, relation, cap):
    """Rows of three persons, of which some are counted."""

    def pair(rng):
        rows = pl.DataFrame({"who": [0] * 4 + [1] * 3 + [2], "v": rng.integers(0, UPPER, 8)})
        more = pl.DataFrame({"who": [3] * 5, "v": rng.integers(0, UPPER, 5)})
        if relation is Neighbours.ADD_REMOVE:
            return rows, pl.concat([rows, more])
        return rows, pl.concat([rows.filter(pl.col("who") > 0), more])

    asked = {"column": "v", "user": "who", "p": 75, "upper": UPPER, "step": 1, "epsilon": 0.75}
    query = dp.Percentiles(**asked, max_per_user=cap, neighbours=relation)
    return ReleaseCase(f"Percentiles {name}, {relation}", query, pair)


def _groups(name, relation, **asked):
    """Rows of three persons in two wards, in each of which somebody stays."""

    def held(persons, rng):
        rows = [(who, int(rng.integers(2)), int(rng.integers(UPPER))) for who in persons]
        return pl.DataFrame(rows, schema=["who", "ward", "v"], orient="row")

    staying = pl.DataFrame({"who": [8, 8, 9], "ward": [0, 1, 1], "v": [1, 2, 3]})

    def pair(rng):
        rows = pl.concat([staying, held([0] * 3 + [1] * 2, rng)])
        by_row = query.user is None
        other, left = held([2] * (1 if by_row else 4), rng), rows.head(3 if not by_row else 7)
        if relation is Neighbours.ADD_REMOVE:
            return rows, pl.concat([rows, other])
        if by_row:
            return rows, pl.concat([left, other])
        return rows, pl.concat([rows.filter(pl.col("who") != 0), held([0] * 2, rng)])

    query = dp.Percentiles(
        **{
            "column": "v", "by": "ward", "p": (25, 75), "upper": UPPER, "step": 1,
            "epsilon": 0.75, "neighbours": relation, **asked,
        }
    )  # fmt: skip
    return ReleaseCase(f"Percentiles {name}, {relation}", query, pair, query.delta)


PERSONS = {"user": "who", "max_per_user": 2}
OF_A_RANGE = {"upper": UPPER, "step": 1e-5}
PUBLIC, PRIVATE = {"groups": (0, 1, 2)}, {"delta": 0.3, "epsilon": 3.0}
CASES = [
    *(
        case
        for relation in PAIRS
        for case in (
            _groups("of groups", relation, **PUBLIC),
            _groups("of groups of persons", relation, **PUBLIC, **PERSONS),
            _groups("several of groups", relation, **PUBLIC),
            _groups("of groups of a range", relation, **PUBLIC, step=1e-5),
            _groups("of groups with intervals", relation, **PUBLIC, interval=0.95),
            _groups("of released groups", relation, **PRIVATE),
            _groups("of released groups of persons", relation, **PRIVATE, **PERSONS),
            _groups("of released groups and others", relation, **PRIVATE, other=True),
        )
    ),
    *(
        case
        for relation in PAIRS
        for case in (
            _users("of persons", relation, 2),
            _values("of a list", relation),
            _values("of a range", relation, **OF_A_RANGE),
            _values("several of a range", relation, (25, 50, 75), **OF_A_RANGE),
            _values("after a count", relation, 99),
            _values("with intervals", relation, interval=0.9),
            _values("with intervals of a range", relation, **OF_A_RANGE, interval=0.9),
            _values("of a list", relation, 75),
        )
    ),
    *(_record(name, N) for name in ("shifted", "local-dampening", "anchored", "exponential")),
    _record(None, None),
]
