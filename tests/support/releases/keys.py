"""Releases of keys: the most common ones, of a public set or not, and the set of keys."""

import polars as pl

import dpselect as dp
from dpselect_conformance import ReleaseCase, pairs_of_persons

PERSONS, KEYS = 8, 4
COLUMNS = {"column": "key", "user": "person", "max_per_user": 2}


def _rows(held):
    held = STAYING | held
    rows = [(person, key, key % 2) for person, keys in held.items() for key in keys]
    types = {"person": pl.Int64, "key": pl.Int64, "ward": pl.Int64}
    return pl.DataFrame(rows, schema=types, orient="row")


# Every key has somebody who stays. That a key of one person alone is released is an event of
# its own, which delta pays for and tests/keys/test_privacy.py enumerates: draws for other
# keys, as of fewer candidates than there are keys, cannot be compared one by one.
STAYING = {100: [0, 1], 101: [2, 3]}


def _keys(rng):
    return rng.permutation(KEYS)[: rng.integers(1, KEYS)].tolist()


PAIRS = pairs_of_persons(_rows, _keys, PERSONS)


def _case(name, kind, relation, **asked):
    asked = {**COLUMNS, "epsilon": 0.75, "neighbours": relation, **asked}
    return ReleaseCase(
        name=f"{kind.__name__} {name}, {relation}",
        query=kind(**asked),
        pair=PAIRS[relation],
        delta=asked.get("delta", 0.0),
    )


def _top(name, relation, **asked):
    return _case(name, dp.TopKeys, relation, **asked)


KNOWN, UNKNOWN = {"candidates": range(KEYS)}, {"k": 1, "delta": 1e-3}
GAUSSIAN = {"k": 4, "max_per_user": 8, "delta": 1e-3}
GROUPED = {"by": "ward", "groups": [0, 1]}
REST = {"other": True, "other_share": 0.5}
RELEASED = {"k": 1, "by": "ward", "groups_share": 0.6, "epsilon": 3.0, "delta": 0.3}
SEVERAL = {"mechanism": "noisy-sequence", **RELEASED, **REST}
CASES = [
    *(
        case
        for relation in PAIRS
        for case in (
            _top("of a known domain", relation, k=2, candidates=range(KEYS)),
            _top("by the exponential", relation, k=1, candidates=[0], mechanism="exponential"),
            _top("with counts", relation, k=1, candidates=range(KEYS), counts_share=0.5),
            _top("of one sequence", relation, k=4, candidates=range(KEYS)),
            _top("with intervals", relation, k=4, candidates=range(KEYS), interval=0.9),
            _top("of a Gaussian sequence", relation, **GAUSSIAN, **KNOWN, **GROUPED),
            _top("above a count", relation, above=2, candidates=range(KEYS), **GROUPED),
            _top("of an unknown domain", relation, k=2, delta=1e-3),
            _top("in groups", relation, k=1, candidates=range(KEYS), **GROUPED),
            _top("unknown, in groups", relation, **UNKNOWN, **GROUPED),
            _top("unknown, in unknown groups", relation, **UNKNOWN, by="ward"),
            _top("known, in released groups", relation, candidates=range(KEYS), **RELEASED),
            _top("with the rest", relation, k=2, delta=1e-3, **REST),
            _top("unknown, in groups, with rests", relation, **UNKNOWN, **GROUPED, **REST),
            _top("known, with rests", relation, k=4, candidates=range(KEYS), **GROUPED, **REST),
            _top("known, in released groups, with rests", relation, **KNOWN, **SEVERAL),
            _case("of public groups", dp.Keys, relation, delta=1e-2, **GROUPED),
            _case("of groups", dp.Keys, relation, delta=1e-2, by="ward"),
            _case(
                "of public groups, with rests", dp.Keys, relation, delta=1e-2, **GROUPED, **REST
            ),
            _case("of groups, with rests", dp.Keys, relation, delta=1e-2, by="ward", **REST),
        )
    ),
    *(
        _case(f"by {method}", dp.Keys, relation, method=method, delta=1e-2)
        for relation in PAIRS
        for method in ("optimal", "laplace", "gaussian", "rounds")
    ),
]
