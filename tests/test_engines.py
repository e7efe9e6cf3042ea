"""One release of every engine: what it counts is what is counted in memory, and no row leaves.

Epsilon is so large that a release shows its counts; each room has their definitions.
"""

from functools import cache

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from support.engines import every_engine, held_by
from support.packages import brought

N = 600
RNG = np.random.default_rng(4)


def some(values, shares=None):
    return RNG.choice(np.array(values, dtype=object), N, p=shares).tolist()


ROWS = pl.DataFrame(
    {
        "who": some([None, *range(-20, 60)]),
        "name": some([None, "ann", "b\N{SNOWMAN}b", "", "cy", "CY"]),
        "word": some(["a", "bb", "\N{SNOWMAN}", "", None], [0.4, 0.3, 0.15, 0.1, 0.05]),
        "code": some([*range(-3, 3), None]),
        "twin": some([*range(-3, 4), None]),
        "ward": some(["east", "west", "north", None], [0.5, 0.3, 0.15, 0.05]),
        "stay": some([0.0, 3.0, 8.0, 20.0, -5.0, float("nan"), None]),
        "x": RNG.uniform(-0.2, 2.2, N).round(2),
        "y": RNG.uniform(-0.1, 1.1, N).round(2),
        "ill": some(["no", "yes", "?"], [0.5, 0.4, 0.1]),
    },
    schema_overrides={"who": pl.Int64, "code": pl.Int64, "twin": pl.Int64, "stay": pl.Float64},
)
SURE = {"epsilon": 1e6, "neighbours": "add-remove"}
PERSONS = {"user": "who", "max_per_user": 2}
NAMES = {"user": "name", "max_per_user": 40}
BY = {"by": "ward", "groups": ["west", "none", "east"]}
ANY = {"by": "ward", "other": True, "delta": 1e-9}
STAY = {"column": "stay", "candidates": [0, 3, 9], **SURE}
KEYS = {"method": "laplace", "delta": 1e-9, **SURE}
TOP = {"candidates": ["bb", "none", "a"], "above": -9, **SURE}
MAP = {"x": "x", "y": "y", "bounds": (0, 0, 2, 1), **SURE}
TREE = {
    "domains": {
        "ward": {"values": ["east", "west"], "other": "else"},
        "code": [-3, -1, 2],
        "x": {"low": 0, "high": 2, "bins": 3, "other": "none"},
    },
    "classes": ["no", "yes"],
    "label": "ill",
    "max_records": N,
    **SURE,
}
EDGES = {"source": "code", "target": "twin", "nodes": range(-3, 3), "epsilon": 1e6}
CASES = {
    "percentiles": dp.Percentiles(p=[10, 50], **STAY),
    "percentiles of persons": dp.Percentiles(p=[10, 50], **STAY, **PERSONS),
    "percentiles by group": dp.Percentiles(p=30, **STAY, **BY, **NAMES),
    "percentiles by any group": dp.Percentiles(p=30, **STAY, **ANY),
    "keys": dp.Keys(column="word", **KEYS),
    "keys of columns": dp.Keys(column=["word", "code"], missing_keys="key", **KEYS),
    "keys of persons": dp.Keys(column=["word", "code"], **KEYS, **PERSONS),
    "keys by group": dp.Keys(column="word", **BY, **KEYS, **NAMES),
    "keys by any group": dp.Keys(column="code", **ANY | KEYS),
    "keys in rounds": dp.Keys(column="word", **KEYS | {"method": "rounds"}, **PERSONS),
    "candidates": dp.TopKeys(column="word", **TOP),
    "candidates of persons": dp.TopKeys(column="word", **TOP, **NAMES),
    "candidates by group": dp.TopKeys(column="word", **TOP, **BY, **PERSONS),
    "candidates by any group": dp.TopKeys(column="word", **TOP, by="ward", delta=1e-9),
    "map": dp.Map(**MAP, grids=[4]),
    "map of persons": dp.Map(**{**MAP, "epsilon": 1e3}, method="adaptive", **PERSONS),
    "tree": dp.ID3Tree(**TREE, max_depth=2),
    "tree of persons": dp.ID3Tree(**TREE, max_depth=1, **PERSONS),
    "nodes of persons": dp.TopNodes(**EDGES, metric="degree", k=6, **PERSONS),
}
CASES |= {
    name: one for module in brought("engines").values() for name, one in module.CASES.items()
}


@cache
def in_memory(name):
    return counted(CASES[name].release(ROWS))


def counted(release):
    """Return what a release shows, whatever the order of what is equal."""
    if isinstance(release, dp.maps.MapRelease):
        return np.rint(release.counts).tolist()
    if hasattr(release, "tree"):
        return release.tree.to_text()
    for name in ("noisy_scores", "counts"):
        numbers = getattr(release, name, None)
        if isinstance(numbers, tuple):
            return sorted(zip(map(str, release.answer), map(round, numbers), strict=True))
    return getattr(release, "sums", None) or sorted(map(str, release.answer))


@every_engine
@pytest.mark.parametrize("name", CASES)
def test_every_engine_counts_what_memory_does(name, engine, crossing):
    right = in_memory(name)
    crossing.clear()

    assert counted(CASES[name].release(held_by(engine, ROWS))) == right
    # polars counts in batches; rounds take the different pairs of a person and a key.
    assert max(crossing, default=0) <= (240 if name == "keys in rounds" else 160) < N
