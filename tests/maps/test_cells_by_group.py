"""Densest cells of groups: exact privacy over small databases, engines, tables."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, product
from math import exp, inf, log

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from support.engines import held_by
from support.people import counted_of

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
GROUPS, CELLS = (0, 1), (0, 1)
ROWS = list(product(GROUPS, CELLS))
DATABASES = [rows for n in range(5) for rows in combinations_with_replacement(ROWS, n)]
"""All databases of at most four points; with one more they have at most five."""
SETS = [rows for n in range(4) for rows in combinations_with_replacement(ROWS, n)]
"""The points of one person: up to three, more than are counted."""
PERSONS = {"user": "who", "max_per_user": 2}
EPSILON, DELTA = 1.0, 0.1


def query(relation=ADDED, **asked):
    asked = {"k": 1, "epsilon": EPSILON, "neighbours": relation, **asked}
    return dp.HeavyCells(x="lon", y="lat", by="g", bounds=(0, 0, 2, 1), grid=(2, 1), **asked)


def pairs_of_rows(relation):
    if relation is ADDED:
        return [(rows, (*rows, one)) for rows in DATABASES for one in ROWS]
    return [
        ((*rows, a), (*rows, b)) for rows in DATABASES for a, b in product(ROWS, ROWS) if a < b
    ]


def pairs_of_persons(relation):
    bases = [(), *((one,) for one in SETS[1::3])]
    if relation is ADDED:
        return [(base, (*base, one)) for base in bases for one in SETS]
    return [
        ((*base, a), (*base, b)) for base in bases for a, b in product(SETS, SETS) if a != b
    ]


def rows_that_count(database, groups, most):
    """Return the points of some groups that count, by the words of ``tables.people``."""
    found = []
    for user, rows in enumerate(database):
        there = sorted(row for row in rows if row[0] in groups)
        found += [row for _, row in counted_of(user, list(enumerate(there)), most)]
    return found


def law_of(asked, *, limited=rows_that_count, each=None):
    """Return the law of the released groups with their cells; ``each`` is a planted bug."""
    design = asked.design()
    made, first, cap = each or design.each, design.grouping.first, asked.max_per_user

    @cache
    def of_cells(counts):
        objective = made.objective(np.array(counts, dtype=float))
        return made.draw.mechanism.probabilities(objective).tolist()

    def of_groups(rows, groups):
        held = Counter(rows)
        laws = [of_cells(tuple(held[group, one] for one in CELLS)) for group in groups]
        return {
            drawn: float(np.prod([law[one] for law, one in zip(laws, drawn, strict=True)]))
            for drawn in product(CELLS, repeat=len(groups))
        }

    @cache
    def law(database):
        def counted(groups):
            return database if cap is None else limited(database, groups, cap)

        if first is None:
            return {(GROUPS, o): p for o, p in of_groups(counted(GROUPS), GROUPS).items()}
        if cap is None:
            people = Counter(group for group, _ in database)
        else:
            held = [sorted({group for group, _ in rows}) for rows in database]
            people = Counter(
                one for u, some in enumerate(held) for one in counted_of(u, some, cap)
            )
        chances = first.probabilities(np.array([people[group] for group in GROUPS]))
        out = {}
        for released in product((False, True), repeat=2):
            chance = float(np.prod(np.where(released, chances, 1 - chances)))
            groups = tuple(g for g, there in zip(GROUPS, released, strict=True) if there)
            rows, answered = counted(groups), groups
            if asked.other:
                every = counted(GROUPS)
                rows = [(g if g in groups else None, one) for g, one in every]
                answered = (*groups, None)
            for drawn, one in of_groups(rows, answered).items():
                out[groups, drawn] = chance * one
        return out

    return law


def loss(law, pairs):
    worst = 0.0
    for here, there in pairs:
        a, b = law(here), law(there)
        worst = max(worst, *(abs(log(p / b[o])) if b[o] else inf for o, p in a.items()))
    return worst


def excess(law, pairs, epsilon=EPSILON):
    grown, worst = exp(epsilon), 0.0
    for pair in pairs:
        for here, there in (pair, pair[::-1]):
            a, b = law(here), law(there)
            worst = max(worst, sum(max(0.0, p - grown * b.get(o, 0.0)) for o, p in a.items()))
    return worst


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("persons", [{}, PERSONS])
@pytest.mark.parametrize("mechanism", ["permute-and-flip", "exponential"])
def test_public_groups_cost_their_epsilon_once(relation, persons, mechanism):
    asked = query(relation, groups=GROUPS, mechanism=mechanism, **persons)
    pairs = pairs_of_persons(relation) if persons else pairs_of_rows(relation)

    assert 0.3 * EPSILON < loss(law_of(asked), pairs) <= EPSILON * (1 + 1e-9)


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("persons", [{}, PERSONS])
def test_released_groups_cost_their_epsilon_and_delta(relation, other, persons):
    asked = query(relation, delta=DELTA, groups_share=0.5, other=other, **persons)
    pairs = pairs_of_persons(relation) if persons else pairs_of_rows(relation)

    assert 0 < excess(law_of(asked), pairs) <= DELTA * (1 + 1e-9)


def mutated(asked, **grouping):
    """Return the design of one group with the epsilon of another grouping."""
    wrong = replace(asked.design().grouping, **grouping)
    return replace(asked, **wrong.in_each).design()


def test_a_point_that_moves_and_pays_once_is_seen():
    asked = query(REPLACED, groups=GROUPS)

    assert (
        loss(law_of(asked, each=mutated(asked, neighbours=ADDED)), pairs_of_rows(REPLACED))
        > 1.2
    )


def test_persons_who_pay_for_one_point_are_seen():
    asked = query(groups=GROUPS, **PERSONS)

    assert loss(law_of(asked, each=mutated(asked, cap=None)), pairs_of_persons(ADDED)) > 1.2


def test_a_cap_in_each_group_is_seen():
    def in_each(database, groups, most):
        return [row for group in groups for row in rows_that_count(database, (group,), most)]

    asked = query(groups=GROUPS, user="who", max_per_user=1)

    assert loss(law_of(asked), pairs_of_persons(ADDED)) <= EPSILON * (1 + 1e-9)
    assert loss(law_of(asked, limited=in_each), pairs_of_persons(ADDED)) > 1.2


def test_groups_that_are_not_paid_for_are_seen():
    asked = query(REPLACED, delta=1e-3, groups_share=0.8)
    free = mutated(asked, epsilon=2 * EPSILON)

    assert excess(law_of(asked), pairs_of_rows(REPLACED)) <= 1e-3 * (1 + 1e-9)
    assert excess(law_of(asked, each=free), pairs_of_rows(REPLACED)) > 1e-3


def test_the_noise_of_a_group_does_not_depend_on_their_number():
    for persons, scale in (({}, 1.0), (PERSONS, 2.0)):
        for number in (1, 1000):
            design = query(k=2, groups=range(number), **persons).design()
            [spend] = design.plan.spends

            assert design.each.draw.mechanism.noise_scale == pytest.approx(scale)
            assert spend.epsilon == pytest.approx(EPSILON)


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


@pytest.mark.parametrize("engine", [None, "polars", "duckdb", "spark"])
@pytest.mark.parametrize("outside", ["drop", "clip"])
def test_every_engine_counts_the_cells_of_groups(engine, outside):
    data = POINTS if engine is None else held_by(engine, POINTS)
    release = query(**SURE, outside=outside).release(data)

    place = {
        "drop": POINTS.filter(
            pl.col("lon").is_between(0, 2, "left"), pl.col("lat").is_between(0, 1, "left")
        ),
        "clip": POINTS,
    }
    right = Counter(place[outside].select("g", (pl.col("lon") >= 1).cast(int)).iter_rows())
    assert release.groups == ("east", "nowhere", "west")
    for group in release.groups:
        cells = release.by_group[group]
        held = [
            noisy
            for (one, _), noisy in zip(release.answer, release.noisy_scores, strict=True)
            if one == group
        ]
        assert held == [right[group, int(west)] for west, *_ in cells]


@pytest.mark.parametrize("engine", [None, "duckdb", "spark"])
def test_persons_count_as_the_definition_says(engine):
    rows = POINTS.with_columns(pl.col("lon").clip(0, 1.9), pl.col("lat").clip(0, 0.9))
    data = rows if engine is None else held_by(engine, rows)
    release = query(**SURE, **PERSONS).release(data)

    kept = rows.filter(pl.col("g").is_in(SURE["groups"]))
    most = min(2, kept.group_by("who").len()["len"].min())
    assert most == 2
    assert sum(release.noisy_scores) == 2 * kept["who"].n_unique()


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
    assert release.to_frame().columns == [
        "g",
        "west",
        "south",
        "east",
        "north",
        "noisy_count",
    ]
    assert max(map(len, str(release).splitlines()[:7])) <= 80


def test_points_without_a_group_are_among_all_others():
    nowhere = pl.DataFrame({"lon": [0.5] * 500, "lat": [0.5] * 500})
    rows = pl.concat([POINTS, nowhere], how="diagonal_relaxed")
    release = query(epsilon=1e3, delta=1e-9, other=True, k=2).release(rows)
    counted = zip(release.answer, release.noisy_scores, strict=True)

    assert 500 <= sum(count for (group, _), count in counted if group is None) <= 504


def test_no_group_has_no_cells():
    release = query(epsilon=1.0, delta=1e-9).release(POINTS.head(2))

    assert (release.answer, release.groups) == ((), ())


def test_intervals_and_a_threshold_for_each_group():
    release = query(
        epsilon=10.0, k=None, above=60, groups=["east", "nowhere"], interval=0.9
    ).release(POINTS)

    assert release.by_group["nowhere"] == ()
    assert len(release.by_group["east"]) == len(release.interval) == len(release.surely) == 2
    assert release.shown()["west"][-1] == "(none)"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"by": None, "groups": [1]}, "groups goes with groups"),
        ({"groups": [1], "other": True}, "other is for groups that are not public"),
        ({}, "need a delta"),
        ({"groups": [1], "x": None, "y": None}, "by needs x and y"),
        ({"groups": [1], "by": "lon"}, "must be different columns"),
    ],
)
def test_fields_that_do_not_go_together(wrong, message):
    with pytest.raises(ParameterError, match=message):
        replace(query(groups=[1]), **{"groups": None, **wrong})
