"""Queries of groups: exact privacy over small databases."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, product
from math import inf, log, prod

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.keys.design import GroupsFirst
from dpselect.percentiles import methods
from dpselect.percentiles.reading import counts_of
from support.engines import held_by
from support.key_definitions import exact_delta
from support.neighbours import pairs_of_persons, pairs_of_rows
from support.people import numbered, rows_that_count
from support.ranks import law_after_count

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
GROUPS, VALUES = (0, 1), (0, 1)
ROWS = list(product(GROUPS, VALUES))
SETS = [rows for n in range(4) for rows in combinations_with_replacement(ROWS, n)]
"""The rows of one person: up to three, more than are counted."""
PERSONS = {"user": "who", "max_per_user": 2}
EPSILON, DELTA = 1.0, 0.1


@dataclass(frozen=True)
class GroupedCase:
    """A query of groups whose rows have one of two values.

    Attributes:
        kind: The class.
        fields: What is asked of each group.
        law: The chances of the answers, by the design of one group and the values in it.
        distinct: Whether equal rows of a person are one.
    """

    kind: type
    fields: dict
    law: Callable
    distinct: bool = False

    def query(self, relation=ADDED, **asked):
        fields = {**self.fields, "by": "g", "epsilon": EPSILON, "neighbours": relation, **asked}
        return self.kind(**fields)

    def steps(self, design):
        """Return the chances of groups, None of public ones, and the design of one."""
        if self.kind is not dp.TopKeys:
            first = design.grouping.first
            return first and first.selection.chances()[0], lambda _groups: design.each
        drawn = design.selection
        if isinstance(drawn, GroupsFirst):
            return drawn.first.chances()[0], cache(lambda groups: drawn.within(tuple(groups)))
        return None, lambda _groups: drawn


def of_keys(selection, values):
    counts = np.bincount(np.array(values, dtype=int), minlength=len(VALUES))
    return selection.top.mechanism.probabilities(selection.facts.of(counts, VALUES))


def of_cells(each, values):
    counts = np.bincount(np.array(values, dtype=int), minlength=len(VALUES)).astype(float)
    return each.draw.mechanism.probabilities(each.facts.of(counts))


def of_percentiles(each, values):
    counts = counts_of(np.array(values, dtype=float), each.points)
    return law_after_count(each.method, counts).sum(axis=0)


CELLS = {"x": "lon", "y": "lat", "bounds": (0, 0, 2, 1), "grid": (2, 1), "k": 1}
NUMBERS = {"column": "v", "p": 60, "candidates": VALUES}
EVERY = {
    "cells": GroupedCase(dp.HeavyCells, CELLS, of_cells),
    "cells, exponential": GroupedCase(
        dp.HeavyCells, {**CELLS, "mechanism": "exponential"}, of_cells
    ),
    **{
        f"top keys, {name}": GroupedCase(
            dp.TopKeys,
            {"column": "v", "k": 1, "candidates": VALUES, "mechanism": name},
            of_keys,
            distinct=True,
        )
        for name in ("permute-and-flip", "exponential")
    },
    "percentiles": GroupedCase(dp.Percentiles, NUMBERS, of_percentiles),
}
ONE_OF_EACH = ["cells", "top keys, permute-and-flip", "percentiles"]
every_case = pytest.mark.parametrize("case", EVERY.values(), ids=EVERY)
relations = pytest.mark.parametrize("relation", [ADDED, REPLACED])
units = pytest.mark.parametrize("persons", [{}, PERSONS], ids=["rows", "persons"])


@pytest.fixture(autouse=True)
def _of_ranks(monkeypatch):
    """Draw percentiles by their rank: bins of few candidates have no law in closed form."""
    monkeypatch.setattr(methods, "FEWEST", 1)


def pairs_of(relation, persons):
    """Return neighbouring databases: of at most five rows, or of up to two persons."""
    return pairs_of_persons(relation, SETS) if persons else pairs_of_rows(relation, ROWS, 5)


def law_of(case, asked, named=GROUPS):
    """Return the law of the groups and their answers, as a function of a database.

    Groups that are not ``named`` are missing: their rows can be in the rest alone.
    """
    cap = asked.max_per_user
    first, made = case.steps(asked.design())
    of_group = cache(lambda groups, values: tuple(case.law(made(groups), values)))

    def of_groups(rows, groups):
        held = [tuple(sorted(v for g, v in rows if g == one)) for one in groups]
        asked = tuple(groups) if case.distinct else ()  # groups of other kinds have one design
        laws = [of_group(asked, values) for values in held]
        return {
            drawn: prod(law[one] for law, one in zip(laws, drawn, strict=True))
            for drawn in product(range(len(VALUES)), repeat=len(groups))
        }

    @cache
    def law(database):
        if case.distinct and cap is not None:
            database = [tuple(sorted(set(rows))) for rows in database]
        if first is None:
            rows = database if cap is None else rows_that_count(database, GROUPS, cap)
            return of_groups(rows, GROUPS)
        if cap is None:
            counts = Counter(group for group, _ in database)
        else:
            there = [sorted({g for g, _ in rows} & {*named}) for rows in database]
            held = [[(g, g) for g in some] for some in there]
            counts = Counter(g for g, _ in rows_that_count(held, named, cap))
        chances = first.probabilities(np.array([counts[group] for group in named]))
        out = {}
        for released in product((False, True), repeat=len(named)):
            chance = prod(np.where(released, chances, 1 - chances).tolist())
            groups = tuple(g for g, one in zip(named, released, strict=True) if one)
            rows, answered = database, groups
            if asked.other:
                answered = range(len(groups) + 1)
                rows = numbered(rows, groups) if cap is None else [
                    numbered(one, groups) for one in rows
                ]  # fmt: skip
            if cap is not None:
                rows = rows_that_count(rows, answered, cap)
            for drawn, one in of_groups(rows, answered).items():
                out[groups, drawn] = chance * one
        return out

    return law


def loss(law, pairs):
    """Return the largest privacy loss."""
    worst = 0.0
    for here, there in pairs:
        a, b = law(here), law(there)
        worst = max(worst, *(abs(log(p / b[o])) if b[o] else inf for o, p in a.items()))
    return worst


@every_case
@relations
@units
def test_public_groups_cost_their_epsilon_once(case, relation, persons):
    asked = case.query(relation, groups=GROUPS, **persons)

    found = loss(law_of(case, asked), pairs_of(relation, persons))

    assert 0.3 * EPSILON < found <= EPSILON * (1 + 1e-9)


OTHERS = [(False, GROUPS), (True, GROUPS), (True, (0,))]
"""Whether the rest is a group, and which groups are named."""


@relations
@units
@pytest.mark.parametrize(
    ("case", "other", "named"),
    [
        pytest.param(EVERY[name], *one, id=f"{name}-{one}")
        for name in ONE_OF_EACH
        for one in OTHERS
        if not (one[0] and EVERY[name].distinct)  # the rest of keys is a number
    ],
)
def test_released_groups_cost_their_epsilon_and_delta(case, relation, persons, other, named):
    """With the rest, rows without a group are in it."""
    asked = case.query(relation, delta=DELTA, groups_share=0.5, other=other, **persons)

    found = exact_delta(pairs_of(relation, persons), law_of(case, asked, named), EPSILON)

    assert 0 < found <= DELTA * (1 + 1e-9)


@pytest.mark.parametrize("case", [EVERY[one] for one in ONE_OF_EACH if "keys" not in one])
@relations
@units
def test_the_price_is_that_of_what_one_individual_changes_whatever_the_groups(
    case, relation, persons
):
    changed = (1 if relation is ADDED else 2) * (2 if persons else 1)
    for number in (1, 1000):
        design = case.query(relation, groups=range(number), **persons).design()
        spends, of_one = design.plan.spends, design.each.plan.spends

        assert design.each.plan.epsilon == EPSILON / changed
        assert sum(one.epsilon for one in spends) == pytest.approx(EPSILON)
        for whole, part in zip(spends, of_one, strict=True):
            most = changed**2 * part.rho_of_all
            assert 0.9 * most <= whole.rho_of_all <= most * (1 + 1e-9)


RNG = np.random.default_rng(5)
SIZE = 600
TABLE = pl.DataFrame(
    {
        "ward": [("east", "west", None)[one] for one in RNG.choice(3, SIZE, p=[0.5, 0.4, 0.1])],
        "month": RNG.integers(1, 4, SIZE),
        "k": [("flu", "burn")[one] for one in RNG.integers(0, 2, SIZE)],
        "lon": RNG.random(SIZE),
        "lat": RNG.random(SIZE),
        "who": RNG.integers(0, 150, SIZE),
    }
).with_columns(g=pl.concat_str("ward", "month", separator=" "))
PAIRS = [("east", 1), ("west", 3), ("north", 1)]
SURE = {"epsilon": 1e4, "neighbours": ADDED, **PERSONS}
CELLS_OF = {"x": "lon", "y": "lat", "bounds": (0, 0, 1, 1), "grid": 2, "k": 4}
SEVERAL = {
    "cells": (dp.HeavyCells, CELLS_OF),
    "keys": (dp.Keys, {"column": "k", "delta": 1e-30, "method": "laplace"}),
    "percentiles": (
        dp.Percentiles,
        {"column": "lon", "p": [2, 100], "upper": 1, "step": 0.25, "interval": 0.9},
    ),
    "top keys": (dp.TopKeys, {"column": "k", "k": 2, "candidates": ["flu", "burn"]}),
}
of_several = pytest.mark.parametrize(("kind", "fields"), SEVERAL.values(), ids=SEVERAL)


@of_several
@pytest.mark.parametrize("engine", ["frame", "polars", "duckdb"])
def test_groups_of_two_columns_are_those_of_their_pairs(kind, fields, engine):
    """Whatever holds the rows, and however public groups are listed."""
    table = TABLE.drop("who")
    rows = table if engine == "frame" else held_by(engine, table)
    asked = {**fields, "epsilon": 1e4, "neighbours": ADDED}
    one, both = (
        kind(by=by, groups=groups, **asked).release(rows).table()
        for by, groups in (
            ("g", [f"{ward} {month}" for ward, month in PAIRS]),
            (["ward", "month"], PAIRS),
        )
    )
    crossed = kind(
        by=("ward", "month"), groups={"month": [3, 1], "ward": ["west"]}, **asked
    ).release(rows)

    pairs = zip(both.pop("ward"), both.pop("month"), strict=True)
    assert [f"{ward} {month}" for ward, month in pairs] == one.pop("g")
    assert both == one
    assert crossed.groups == (("west", 3), ("west", 1))


@of_several
def test_released_groups_of_two_columns_and_what_is_beside_them(kind, fields):
    asked = {**SURE, **fields, "delta": 1e-30}
    release = kind(by=["ward", "month"], other=kind is not dp.TopKeys, **asked).release(TABLE)

    pairs = [(ward, month) for ward in ("east", "west") for month in (1, 2, 3)]
    assert [one for one in release.groups if one is not None] == pairs
    assert list(release.table())[:2] == ["ward", "month"]
    if kind is not dp.TopKeys:
        shown = release.shown()
        assert (shown["ward"][-1], shown["month"][-1]) == ("(other)", "")
    assert dp.Query.from_json(release.query.to_json()) == release.query
