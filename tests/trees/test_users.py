"""Persons of several records: one limit in every engine, and the privacy of each person."""

from itertools import product

import pandas as pd
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import PublicClaimError
from dpselect.mechanisms import by_name
from dpselect.trees import ID3Classifier
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.criteria import objective_of
from dpselect.trees.domains import Schema
from support.neighbours import are_neighbours
from support.refusals import refused
from support.trees_definitions import drawn

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
MOST, EPSILON = 2, 1.0
DOMAINS = {"sky": [0, 1], "wind": [0, 1]}
CLAIMS = {"domains": DOMAINS, "classes": ["dry", "wet"], "max_records": 99}
PUBLIC = Schema.of(DOMAINS, CLAIMS["classes"], list(DOMAINS))
SCHEMA = {"sky": pl.Int64, "wind": pl.Int64, "weather": pl.String, "who": pl.Int64}
SUN, RAIN = (0, 0, "dry"), (1, 0, "wet")
GUST = (0, 1, "wet")


def frame(database):
    """Return the rows of a database of persons, each a tuple of rows."""
    rows = [(*row, who) for who, person in enumerate(database) for row in person]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def limited(data, most):
    """Return the counts of a frame with at most so many records of each."""
    query = dp.ID3Tree(
        **CLAIMS, user="who", max_per_user=most, epsilon=1.0, neighbours="add-remove"
    )
    coded = query.design().rows.coded((data, data["weather"]))
    return MemoryCounts.of_records(PUBLIC, coded.codes, coded.labels)


class First:
    """Draws the first candidate, and keeps the laws that it was asked to draw from."""

    def __init__(self):
        self.laws = []

    def choose(self, mechanism, objective, k):
        self.laws.append(mechanism.probabilities(objective))
        return list(range(k))


def law_of_the_query(database, relation):
    best = dp.BestColumns(
        k=1, **CLAIMS, user="who", max_per_user=MOST, criterion="majority",
        mechanism="exponential", epsilon=EPSILON, neighbours=relation,
    )  # fmt: skip
    data, sampler = frame(database), First()
    drawn(best, (data.drop("weather"), data["weather"]), sampler)
    return sampler.laws[0]


def law_of(database, relation, *, charged, most):
    """Return the same law by hand, with any limit at any price."""
    steps = charged * (1 if relation is BOTH[0] else 2)
    [tables] = limited(frame(database), most).tables(0, 1)
    objective = objective_of("majority", tables, PUBLIC.names, max_records=99)
    return by_name("exponential", EPSILON / steps).probabilities(objective)


@pytest.mark.parametrize("relation", BOTH, ids=str)
def test_a_person_is_protected_and_not_a_record_alone(relation):
    # Where there is much sun, rain speaks for the sky alone, and gusts for the wind.
    persons = [((SUN,) * 3,), ((RAIN,) * 3,), ((GUST,) * 3,)]
    universe = [
        persons[0] * 4 + persons[1] * i + persons[2] * j for i, j in product(range(4), repeat=2)
    ]

    def report(law):
        near = are_neighbours(relation)
        return dp.audit.check_private(lambda x: law(x, relation), universe, near, EPSILON)

    right = report(law_of_the_query)
    assert right.ok, str(right)
    assert right.pairs == (24 if relation is BOTH[0] else 9)
    assert right.loss > 0.7 * EPSILON
    for charged, most in ((1, MOST), (MOST, 9)):
        planted = report(lambda *x, c=charged, m=most: law_of(*x, charged=c, most=m))
        assert not planted.ok


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.lazy])
def test_only_records_that_count_are_bounded(convert):
    rows = frame([(SUN,) * 60, (RAIN,) * 60])
    made = ID3Classifier(1.0, **CLAIMS, user="who", max_per_user=3)
    data = convert(rows)
    lazy = isinstance(data, pl.LazyFrame)
    given = (data, "weather") if lazy else (data.drop(columns="weather"), data["weather"])

    made.fit(*given)

    assert made.plan_.arguments["max_per_user"] == 3
    assert made.predict(pd.DataFrame({"sky": [0], "wind": [1]})).shape == (1,)
    with refused("max_records", error=PublicClaimError):
        made.set_params(max_per_user=60).fit(*given)
