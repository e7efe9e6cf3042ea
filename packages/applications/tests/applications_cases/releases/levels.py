"""Releases of tables of codes: one row, or one person's rows, more or replaced."""

import polars as pl

import dpselect as dp
from dpselect_conformance import ReleaseCase, pairs_of_persons

PARENTS = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "b3": "b"}
TREE = {**PARENTS, "a": "all", "b": "all", "c": "all"}
CODES = ["a1", "a2", "b1", "b2", "b3", "c", "a", "elsewhere"]
PERSONS = 6


def _codes(rng):
    return [str(one) for one in rng.choice(CODES, rng.integers(1, 4))]


def _rows(held):
    rows = [(person, code) for person, codes in held.items() for code in codes]
    return pl.DataFrame(rows, schema={"person": pl.Int64, "code": pl.String}, orient="row")


PAIRS = pairs_of_persons(_rows, _codes, PERSONS)


def _case(name, relation, **asked):
    asked = {"tuning_share": 0.5, "max_per_user": 1, "user": "person", **asked}
    query = dp.Levels(column="code", tree=TREE, epsilon=2.0, neighbours=relation, **asked)
    return ReleaseCase(f"Levels {name}, {relation}", query, PAIRS[relation])


CASES = [
    case
    for relation in PAIRS
    for case in (
        _case("of one code a person", relation),
        _case("of two codes a person", relation, max_per_user=2),
        _case("of inner codes", relation, inner="own"),
    )
]
