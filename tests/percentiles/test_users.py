"""Persons of several records: one limit in every engine, and the privacy of each person."""

from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.mechanisms import by_name
from dpselect.percentiles.objectives import by_rank
from dpselect.percentiles.reading import Records
from dpselect.tables.people import PeopleCap
from support.neighbours import are_neighbours

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
POINTS, EPSILON, MOST = np.array([0.0, 1.0, 2.0]), 1.2, 2
ASKED = {"user": "who", "max_per_user": MOST, "column": "v", "epsilon": 1.0}


def frame(database):
    """Return the rows of persons, tuples of numbers, who keep their names if others go."""
    rows = [
        (f"{person} {database[:place].count(person)}", float(v))
        for place, person in enumerate(database)
        for v in person
    ]
    return pl.DataFrame(rows, schema={"who": pl.String, "v": pl.Float64}, orient="row")


def ranks_of(database, relation, most=MOST):
    users = PeopleCap("who", most)
    return Records(relation, "v", users).counted(frame(database), POINTS).ranks()


@pytest.mark.slow
@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("p", [50, 90])
def test_a_person_is_protected_and_not_a_record_alone(p, relation):
    some = [(), (0, 0), (0, 2), (2, 2)]
    universe = [x for n in range(5) for x in combinations_with_replacement(some, n)]
    law = {
        per_user: dp.audit.check_private(
            lambda x, per_user=per_user: by_name("permute-and-flip", EPSILON).probabilities(
                by_rank(
                    ranks_of(x, relation),
                    p=p,
                    points=POINTS,
                    neighbours=relation,
                    per_user=per_user,
                )
            ),
            universe,
            are_neighbours(relation),
            EPSILON,
        )
        for per_user in (1, MOST)
    }

    assert law[MOST].ok, str(law[MOST])
    assert law[MOST].pairs == (140 if relation is BOTH[0] else 210)
    # Planted: the sensitivity of one record.
    assert law[1].loss > 1.4 * law[MOST].loss
    assert p == 90 or not law[1].ok


def test_the_plan_says_whose_privacy_it_is():
    asked = {"p": 50, "candidates": range(3)}
    plan = dp.Percentiles(**ASKED, **asked, neighbours="substitute").plan

    assert plan.arguments["user"] == "who"
    assert "the number of persons" in plan.public


@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize(
    "candidates", [{"candidates": POINTS}, {"upper": 2, "step": 1e-6}], ids=["listed", "range"]
)
def test_nobody_is_answered(candidates, relation):
    query = dp.Percentiles(**ASKED, p=50, **candidates, neighbours=relation)

    for data in (frame([]), frame([()]), frame([(1, 2, 2)]), frame([(1,), (2, 0)]).lazy()):
        answer = query.release(data).candidate
        assert 0 <= answer <= 2
