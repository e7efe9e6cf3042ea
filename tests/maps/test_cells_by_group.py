"""Densest cells of groups: engines, tables; `tests/test_groups.py` has their privacy."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from support.engines import held_by

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
PERSONS = {"user": "who", "max_per_user": 2}
EPSILON, DELTA = 1.0, 0.1


def query(relation=ADDED, **asked):
    asked = {"k": 1, "epsilon": EPSILON, "neighbours": relation, **asked}
    return dp.HeavyCells(x="lon", y="lat", by="g", bounds=(0, 0, 2, 1), grid=(2, 1), **asked)


SIZE = 400
RNG = np.random.default_rng(3)
POINTS = pl.DataFrame(
    {
        "lon": RNG.random(SIZE) * 2.4 - 0.2,
        "lat": RNG.random(SIZE) * 1.2 - 0.1,
        "g": [("west", "east", "rare")[min(i % 2, 1) if i > 2 else 2] for i in range(SIZE)],
        "who": RNG.integers(0, 60, SIZE),
    }
)
SURE = {"epsilon": 1e4, "k": 2, "groups": ["east", "nowhere", "west"]}


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_columns_of_the_table_may_be_called_as_those_inside(engine):
    names = {"lon": "y", "lat": "group", "g": "x", "who": "user"}
    given = {"x": "y", "y": "group", "by": "x", "user": "user", "max_per_user": 2}
    tables = POINTS, POINTS.rename(names)
    held = tables if engine is None else [held_by(engine, one) for one in tables]
    asked = query(**SURE, **PERSONS)
    of_names, of_others = (
        one.release(rows)
        for one, rows in zip((asked, replace(asked, **given)), held, strict=True)
    )
    assert of_names.noisy_scores == of_others.noisy_scores
    assert of_names.by_group == of_others.by_group


def test_the_rest_is_one_more_group():
    release = query(epsilon=40.0, k=2, delta=1e-30, other=True).release(POINTS)

    assert release.groups == ("east", "west", None)
    assert (
        sum(
            n
            for (g, _), n in zip(release.answer, release.noisy_scores, strict=True)
            if g is None
        )
        <= 4
    )
    assert release.table()["g"] == ["east"] * 2 + ["west"] * 2 + [None] * 2
    assert release.shown()["g"][-1] == "(other)"
    assert release.to_frame().columns == ["g", "west", "south", "east", "north", "noisy_count"]
    assert max(map(len, str(release).splitlines()[:7])) <= 80
