"""Releases of percentiles: labels of records, and one or several public values."""

from functools import partial

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.neighbours import Neighbours
from dpselect_conformance import ReleaseCase, pairs_of_persons

N, UPPER = 12, 10


PAIRS = pairs_of_persons(
    lambda held: np.array([*held.values()]), lambda rng: float(rng.integers(0, UPPER + 1)), N
)


def _record(mechanism):
    query = dp.PercentileRecord(p=75, upper=UPPER, epsilon=0.75, mechanism=mechanism)
    return ReleaseCase(f"PercentileRecord, {mechanism}", query, PAIRS[Neighbours.SUBSTITUTE])


def _values(name, relation, p=(25, 75), **asked):
    asked = {"candidates": range(UPPER + 1)} | asked if "step" not in asked else asked
    query = dp.Percentiles(p=p, **asked, epsilon=0.75, neighbours=relation)
    several = "several" if isinstance(p, tuple) else "one"
    return ReleaseCase(f"Percentiles {name}: {several}, {relation}", query, PAIRS[relation])


def _table(held):
    """Return rows of persons in two wards, in each of which somebody stays."""
    held = {8: [(0, 1), (1, 2)], 9: [(1, 3)]} | held
    rows = [(who, *row) for who, rows in held.items() for row in rows]
    return pl.DataFrame(rows, schema=["who", "ward", "v"], orient="row")


def _rows(most, rng):
    """Return one row of a person, or up to so many."""
    return rng.integers((2, UPPER), size=(rng.integers(1, most + 1), 2)).tolist()


BY_ROW = pairs_of_persons(_table, partial(_rows, 1), 5)
OF_PERSONS = pairs_of_persons(_table, partial(_rows, 5), 3)


def _of_table(name, relation, **asked):
    query = dp.Percentiles(
        **{
            "column": "v", "by": "ward", "p": (25, 75), "upper": UPPER, "step": 1,
            "epsilon": 0.75, "neighbours": relation, **asked,
        }
    )  # fmt: skip
    pairs = OF_PERSONS if query.user else BY_ROW
    return ReleaseCase(f"Percentiles {name}, {relation}", query, pairs[relation], query.delta)


PERSONS = {"user": "who", "max_per_user": 2}
OF_A_RANGE = {"upper": UPPER, "step": 1e-5}
PUBLIC, PRIVATE = {"groups": (0, 1, 2)}, {"delta": 0.3, "epsilon": 3.0}
CASES = [
    *(
        case
        for relation in PAIRS
        for case in (
            _of_table("of groups", relation, **PUBLIC),
            _of_table("of groups of persons", relation, **PUBLIC, **PERSONS),
            _of_table("several of groups", relation, **PUBLIC),
            _of_table("of groups of a range", relation, **PUBLIC, step=1e-5),
            _of_table("of groups with intervals", relation, **PUBLIC, interval=0.95),
            _of_table("of released groups", relation, **PRIVATE),
            _of_table("of released groups of persons", relation, **PRIVATE, **PERSONS),
            _of_table("of released groups and others", relation, **PRIVATE, other=True),
        )
    ),
    *(
        case
        for relation in PAIRS
        for case in (
            _of_table("of persons", relation, by=None, p=75, **PERSONS),
            _values("of a list", relation),
            _values("of a range", relation, **OF_A_RANGE),
            _values("several of a range", relation, (25, 50, 75), **OF_A_RANGE),
            _values("after a count", relation, 99),
            _values("with intervals", relation, interval=0.9),
            _values("with intervals of a range", relation, **OF_A_RANGE, interval=0.9),
            _values("of a list", relation, 75),
        )
    ),
    *map(_record, (None, "shifted", "local-dampening", "anchored", "exponential")),
]
