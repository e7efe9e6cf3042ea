"""Persons of several records; `tests/test_groups.py` has the privacy of each of them."""

import polars as pl
import pytest

import dpselect as dp

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
ASKED = {"user": "who", "max_per_user": 2, "column": "v", "epsilon": 1.0}


def frame(database):
    """Return the rows of persons, each a tuple of numbers."""
    rows = [(f"{place}", float(v)) for place, person in enumerate(database) for v in person]
    return pl.DataFrame(rows, schema={"who": pl.String, "v": pl.Float64}, orient="row")


def test_the_plan_says_whose_privacy_it_is():
    asked = {"p": 50, "candidates": range(3)}
    plan = dp.Percentiles(**ASKED, **asked, neighbours="substitute").plan

    assert plan.arguments["user"] == "who"
    assert "the number of persons" in plan.public


@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize(
    "candidates",
    [{"candidates": range(3)}, {"upper": 2, "step": 1e-6}],
    ids=["listed", "range"],
)
def test_nobody_is_answered(candidates, relation):
    query = dp.Percentiles(**ASKED, p=50, **candidates, neighbours=relation)

    for data in (frame([]), frame([()]), frame([(1, 2, 2)]), frame([(1,), (2, 0)]).lazy()):
        answer = query.release(data).candidate
        assert 0 <= answer <= 2
