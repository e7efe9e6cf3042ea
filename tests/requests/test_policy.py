"""Policies: a request may narrow one, and never widens it."""

import re
from fractions import Fraction
from functools import cache
from math import inf
from random import Random

import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import (
    ColumnError,
    DPSelectError,
    InsufficientBudgetError,
    LedgerError,
    NeighboursError,
    ParameterError,
    PolicyError,
)
from support.hospital import POLICY, REQUEST

WARDS = ["heart", "lung", "skin"]
TOP = {"query": "TopKeys", "column": "ward", "k": 1, "epsilon": 0.5}
MEDIAN = {"query": "Percentiles", "column": "days", "p": 50, "epsilon": 0.5}
TREE = {"query": "ID3Tree", "label": "ward", "classes": WARDS, "max_depth": 1, "epsilon": 0.5}
TREE |= {"domains": {"days": {"low": 0, "high": 60}}}
DAYS = "[columns.days]"
CLAIMED = POLICY + "\n[claims]\nassumed_people = 90\nmax_records = 70\n"


def request_of(clinic, query, policy=POLICY, **data):
    """Return the request of one query, by a policy that lists trees if it is one."""
    if query["query"] == "ID3Tree":
        policy = policy.replace('"HeavyCells"]', '"ID3Tree"]')
    (clinic / "policy.toml").write_text(policy, encoding="utf-8")
    return dp.Request.from_dict({"queries": [query], **data}, policy=clinic / "policy.toml")


@pytest.mark.parametrize(
    ("old", "new", "clause"),
    [
        ("[data]", '[data]\npath = "other.parquet"', "[data] path"),
        ("[data]", "[data]\nengine = 'spark'\nmaster = 'a'", "[data] master"),
        ("[data]", "[data]\nseparator = ';'", "[data] separator"),
        ("[data]", "[data]\ndecimal = '.'", "[data] decimal"),
        ("[data]", "[data]\nskip_lines = 5", "[data] skip_lines"),
        ("[data]", "[data]\nheader = ['days']", "[data] header"),
        ("[data]", "[data]\nformat = 'parquet'", "[data] format"),
        ("[data]", "[data]\ncolumn_type = {days = 'date'}", "[data] column_type"),
        ("p = 50", "p = 50\nminus = 'income'", "[columns]"),
        ("[data]", 'ledger = "mine.budget"\n[data]', "ledger"),
        ('"days"', "'ward'", "[columns.ward]"),
        ("p = 50", "p = 50\nminus = 'year'", "[columns.days]"),
    ],
)
def test_what_widens_is_refused_with_its_clause(clinic, old, new, clause):
    """Random requests below are refused with the clauses of their queries."""
    (clinic / "wide.toml").write_text(REQUEST.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(PolicyError) as raised:
        dp.Request.read(clinic / "wide.toml")

    said = str(raised.value)
    assert re.match(rf"{clinic / 'wide.toml'}:[ \d]", said)
    assert said.endswith(f" (policy {clause}, policy.toml)")


def test_what_is_compared_with_a_policy_is_what_is_read(clinic):
    """Without its pattern, the path is that of the policy; with it, of a table elsewhere."""
    (clinic / "elsewhere" / "folder").mkdir(parents=True)
    (clinic / "elsewhere" / "stays.parquet").write_bytes(b"")
    (clinic / "link").symlink_to("elsewhere/folder")
    text = REQUEST.replace("[data]", '[data]\npath = "lin*/../stays.parquet"', 1)
    (clinic / "hospital.toml").write_text(text, encoding="utf-8")

    [read] = dp.Request.read(clinic / "hospital.toml").source.files()

    assert read.samefile(clinic / "stays.parquet")


@pytest.mark.parametrize(
    ("query", "filled"),
    [
        (MEDIAN, {"lower": 0, "upper": 60, "step": 1, "max_per_user": 5}),
        ({**MEDIAN, "upper": 30}, {"lower": 0, "upper": 30, "step": 1}),
        ({**MEDIAN, "candidates": [1, 7]}, {"candidates": (1, 7), "upper": None}),
        (MEDIAN, {"assumed_records": None}),
        (TOP, {"candidates": tuple(WARDS), "user": "patient", "assumed_people": 90}),
        ({**TOP, "max_per_user": 1}, {"max_per_user": 1}),
        ({**TOP, "candidates": ["lung"]}, {"candidates": ("lung",)}),
        ({"query": "HeavyCells", "x": "x", "y": "y", "grid": 2, "k": 1, "epsilon": 1.0},
         {"bounds": (0, 0, 10, 10)}),
        ({**TOP, "column": "year", "candidates": [2024], "by": "ward"},
         {"groups": tuple(WARDS)}),
        ({**TOP, "column": "year", "candidates": [2024], "by": ["ward"]},
         {"groups": {"ward": tuple(WARDS)}}),
        (TREE, {"max_records": 70}),
    ],
)  # fmt: skip
def test_what_is_left_out_is_filled_in(clinic, query, filled):
    request = request_of(clinic, query, CLAIMED)
    [made] = request.queries.values()

    assert {name: getattr(made, name) for name in filled} == filled
    assert str(request.ledger) == str(clinic / "clinic.budget")
    assert request.source.where == ("year >= 2024",)


def test_one_policy_holds_for_a_request(clinic):
    other = clinic / "other.toml"
    other.write_text(POLICY.replace("epsilon = 50.0", "epsilon = 1.0"), encoding="utf-8")

    with pytest.raises(ParameterError):
        dp.Request.read(clinic / "hospital.toml", policy=other)
    with pytest.raises(PolicyError):
        dp.Request.from_dict({"queries": [{**TOP, "epsilon": 2.0}]}, policy=other)
    same = dp.Policy.read(clinic / "policy.toml")
    assert dp.Request.read(clinic / "hospital.toml", policy=same).plan.epsilon == 100


def test_a_ledger_is_made_with_what_a_person_may_spend(clinic):
    policy = clinic / "policy.toml"
    terms = """period = "year"
period_unit = "each-period"
shares = { alice = 120.0 }
"""
    policy.write_text(
        POLICY.replace("delta = 1e-5\n", f"delta = 1e-5\n{terms}"), encoding="utf-8"
    )
    budget = dp.Policy.read(policy).budget()

    assert (budget.epsilon, budget.delta, budget.totals.unit) == (300.0, 1e-5, "patient")
    assert budget.totals.shares == (("alice", 120.0),)
    text = (clinic / "hospital.toml").read_text(encoding="utf-8")
    (clinic / "alice.toml").write_text(f'analyst = "alice"\n{text}', encoding="utf-8")
    request = dp.Request.read(clinic / "alice.toml")
    request.release()
    with pytest.raises(InsufficientBudgetError):
        dp.Request.from_dict(
            {"analyst": "alice", "queries": [{**TOP, "epsilon": 30.0}]}, policy=policy
        ).release()
    policy.write_text(POLICY.replace("300.0", "301.0"), encoding="utf-8")
    with pytest.raises(LedgerError):
        dp.Policy.read(policy).budget()


@pytest.mark.parametrize(
    ("old", "new", "begin", "said"),
    [
        ('ledger = "clinic.budget"\n', "", "[person]", "[person] needs ledger"),
        ("[unit]", "[unit]\nstep = 1", "step = 1", "[unit] has no key 'step'; it belongs"),
        ("[unit]", "[unti]", "[unti]", "the file has no key 'unti'; did you mean 'unit'"),
        ("[data]", "[data]\nengine = 'sql'", "engine", "engine must be one of"),
        ('path = "stays.parquet"\n', "", "[data]", "[data] needs the path of the table"),
        ('neighbours = "add-remove"\n', "", "[unit]", "a policy needs neighbours in [unit]"),
        ('"add-remove"', '"addremove"', "neighbours", "neighbours must be 'add-remove'"),
        ("max_per_user = 5", "max_per_user = 0", "max_per_user", "max_per_user must be"),
        ("epsilon = 50.0", "epsilon = 0.0", "epsilon", "epsilon must be"),
        ("epsilon = 50.0\n", "", "[release]", "a policy needs epsilon in [release]"),
        ("delta = 1e-6", "delta = 2", "delta", "delta must be"),
        ('"TopKeys"', '"Topkeys"', "queries", "queries must be one of"),
        ("step = 1", "step = 0", "lower", "step must be above 0"),
        ("lower = 0\nupper = 60", "upper = 60", "step", "step must be above 0, and goes with"),
        ("step = 1", "candidates = [1]", "lower", "candidates replace the range"),
        ('["heart", "lung", "skin"]', "3", "candidates", "candidates must be a list"),
        ('"skin"]', "{ a = 1 }]", "candidates", "candidates must be texts, numbers"),
        (DAYS, f"[columns]\nb = 3\n{DAYS}", "b = 3", "b of [columns] must be"),
    ],
)
def test_what_is_no_policy_is_refused_with_its_line(clinic, old, new, begin, said):
    policy, text = clinic / "policy.toml", POLICY.replace(old, new, 1)
    policy.write_text(text, encoding="utf-8")

    with pytest.raises((ParameterError, NeighboursError)) as raised:
        dp.Policy.read(policy)

    lines = [one.startswith(begin) for one in text.splitlines()]
    assert str(raised.value).startswith(f"{policy}:{lines.index(True) + 1}: {said}")


def test_a_ledger_that_is_missing_is_that_of_the_policy(clinic):
    (clinic / "clinic.budget").unlink(missing_ok=True)

    with pytest.raises(LedgerError) as raised:
        dp.Request.read(clinic / "hospital.toml").budget()

    assert str(raised.value).startswith(f"{clinic / 'policy.toml'}:1: the ledger")
    assert "Policy.read(FILE).budget()" in str(raised.value)
    (clinic / "policy.toml").write_text(POLICY.replace("epsilon = 300.0\n", ""), "utf-8")
    with pytest.raises(ParameterError):
        dp.Policy.read(clinic / "policy.toml")
    (clinic / "policy.toml").write_text(re.sub(r"\[person\][^\[]*", "", POLICY), "utf-8")
    with pytest.raises(ParameterError):
        dp.Policy.read(clinic / "policy.toml").budget()


PERSONS = ("user", "max_per_user")
NUMBERS = [-1, 0, 0.5, 1, 2, 3, 4, 6, 10]


def random_policy(rng):
    days = rng.choice(
        [
            {"lower": 0, "upper": rng.choice([4, 6])},
            {"lower": rng.choice([0, 1]), "upper": 6, "step": rng.choice([0.5, 1, 2])},
            {"candidates": sorted(rng.sample(NUMBERS, 4))},
            {},
        ]
    )
    ward = rng.choice([{"candidates": rng.sample(WARDS, 2)}, {"candidates": WARDS}, {}])
    tables = {
        "data": {"path": "stays.parquet", "where": rng.choice([[], ["year = 2025"]])},
        "unit": {"neighbours": rng.choice(["add-remove", "substitute"])},
        "release": {
            "queries": rng.sample(["TopKeys", "Percentiles", "Keys", "HeavyCells"], 3),
            "epsilon": rng.choice([0.5, 1.0]),
            "delta": rng.choice([0.0, 1e-6]),
        },
        "columns": {"days": days, "ward": ward, "x": {"lower": 0, "upper": 4}, "year": {}},
    }
    if rng.random() < 0.5:
        tables["unit"] |= {"user": "patient", "max_per_user": 3}
        tables["columns"]["patient"] = {}
    if rng.random() < 0.2:
        del tables["columns"]
    if rng.random() < 0.5:
        tables["claims"] = rng.choice([{}, {"assumed_people": 90}, {"assumed_records": 90}])
    if tables["unit"]["neighbours"] == "substitute":
        tables["data"]["where"] = []
    return tables


@cache
def made(kind, *fields):
    """Return a query; those that are drawn twice are made once."""
    return getattr(dp, kind)(**dict(fields))


def random_query(rng, unit):
    known = {
        "epsilon": rng.choice([0.25, 0.5, 1.0, 1.5]),
        "neighbours": unit["neighbours"] if rng.random() < 0.9 else "add-remove",
    }
    if "user" in unit and rng.random() < 0.95:
        known |= {"user": "patient", "max_per_user": rng.choice([1, 3, 4])}
    kind = rng.choice(["TopKeys", "Percentiles", "Keys", "HeavyCells"])
    if kind != "HeavyCells" and rng.random() < 0.3:
        claim = "assumed_records" if kind == "Percentiles" else "assumed_people"
        known[claim] = rng.choice([90, 90, 91])
    if kind == "Percentiles":
        ends = {"lower": rng.choice([0, 0, 1, -1]), "upper": rng.choice([3, 4, 6, 8])}
        values = {"candidates": tuple(sorted(rng.sample(NUMBERS, 3)))}
        if rng.random() < 0.5:
            values = {**ends, "step": rng.choice([0.5, 1, 2])}
        known |= {"column": rng.choice(["days", "days", "x", "age"]), "p": 50, **values}
    elif kind == "Keys":
        column = rng.choice(["ward", "year", "age"])
        known |= {"column": column, "method": "optimal", "delta": rng.choice([1e-6, 1e-5])}
    elif kind == "HeavyCells":
        bounds = (rng.choice([0, -1]), 0, rng.choice([3, 4, 5]), 9)
        known |= {"x": "x", "y": rng.choice(["year", "y"]), "bounds": bounds, "grid": 2, "k": 1}
    elif rng.random() < 0.8:
        wards = tuple(rng.sample([*WARDS, "brain"], 2))
        known |= {"column": "ward", "k": 1, "candidates": wards}
    else:
        known |= {"column": "ward", "k": 1, "delta": rng.choice([1e-6, 1e-5])}
    if kind == "Percentiles" and rng.random() < 0.3:
        known |= {
            "by": rng.choice(["ward", "ward", "town"]),
            "groups": tuple(rng.sample([*WARDS, "brain"], 2)),
        }
    return made(kind, *known.items())


def released(query):
    """Return the columns of a query with all values that it can release; None for any."""
    user = [] if query.user is None else [(query.user, [])]
    if getattr(query, "by", None) is not None:
        user.append((query.by, query.groups))
    if isinstance(query, dp.HeavyCells):
        west, south, east, north = query.bounds
        return [("x", [west, east]), (query.y, [south, north]), *user]
    if isinstance(query, dp.Percentiles):
        if query.candidates is None and query.upper is None:
            return [(query.column, [inf]), *user]
        made = query.design()
        points = getattr(made, "each", made).points
        return [(query.column, [points[at] for at in range(len(points))]), *user]
    return [(query.column, getattr(query, "candidates", None)), *user]


def allows(column, value):
    """Return whether a table of [columns] allows to release a value."""
    if "candidates" in column:
        return value in column["candidates"]
    if not column:
        return True
    if not column["lower"] <= value <= column["upper"]:
        return False
    return (
        "step" not in column
        or (Fraction(value) - column["lower"]) % Fraction(column["step"]) == 0
    )


def broken(policy, query, where):
    """Return the clauses that what a query may release is not within, by their definition."""
    unit, release, columns = policy["unit"], policy["release"], policy.get("columns")
    plan, claims, asked = query.plan, policy.get("claims", {}), getattr(query, "user", None)
    rows, most = getattr(query, "max_per_user", None), unit.get("max_per_user")
    kept = {
        "[data] where": set(policy["data"]["where"]) <= set(where),
        "[unit] neighbours": str(plan.neighbours) == unit["neighbours"],
        "[unit] user": unit.get("user") in {None, asked},
        "[unit] max_per_user": None in {rows, most} or rows <= most,
        "[release] queries": type(query).__name__ in release["queries"],
        "[release] epsilon": plan.epsilon <= release["epsilon"],
        "[release] delta": plan.delta <= release["delta"],
    }
    for one in ("assumed_people", "assumed_records"):
        said = getattr(query, one, None)
        kept[f"[claims] {one}"] = "claims" not in policy or said in {None, claims.get(one)}
    for name, values in [*released(query), *((one.split()[0], []) for one in where)]:
        clause = f"[columns.{name}]" if name in (columns or {}) else "[columns]"
        allowed = columns is None or is_allowed(columns.get(name), values)
        kept[clause] = kept.get(clause, True) and allowed
    return {clause for clause, held in kept.items() if not held}


def is_allowed(column, values):
    """Return whether a table of [columns] allows to release values, or any if None."""
    if column is None or (values is None and column):
        return False
    return all(allows(column, one) for one in values or ())


def check_random_requests(number, seed):
    """Count how many random requests are admitted, each as the definition says."""
    rng, admitted = Random(seed), 0  # noqa: S311 -- a choice of examples
    for at in range(number):
        if at % 20 == 0:
            tables = random_policy(rng)
            policy = dp.Policy.from_dict(tables)
        query = random_query(rng, tables["unit"])
        where = list(tables["data"]["where"]) if rng.random() < 0.9 else []
        if query.plan.neighbours is dp.Neighbours.ADD_REMOVE and rng.random() < 0.3:
            where.append(rng.choice(["days > 3", "age > 40"]))
        if query.plan.neighbours is dp.Neighbours.SUBSTITUTE:
            where = []
        source = dp.tables.Source("stays.parquet", where=where)
        request = dp.Request(queries={"one": query}, source=source)
        said = ""
        try:
            policy.check(request)
        except PolicyError as error:
            said = str(error)
        clauses = broken(tables, query, where)
        assert bool(clauses) == bool(said), (tables, query, where, said)
        assert not said or re.search(r"\(policy (.*?)\)$", said)[1] in clauses, said
        admitted += not said
    return admitted


def test_random_requests_are_admitted_where_they_are_within():
    """Which requests are drawn does not matter to what is right; some are of either kind."""
    assert 20 < check_random_requests(500, seed=1) < 480


@pytest.mark.slow
def test_very_many_random_requests_are_admitted_where_they_are_within():
    assert check_random_requests(20_000, seed=2) > 800


def test_what_is_filled_in_stays_within():
    """Random parts of random requests are left out: what is filled in is within the policy."""
    rng, made = Random(2), 0  # noqa: S311 -- a choice of examples
    for _ in range(300):
        tables = random_policy(rng)
        policy = dp.Policy.from_dict(tables)
        fields = random_query(rng, tables["unit"]).to_dict()
        del fields["dpselect"]
        for name in ("lower", "upper", "step", "candidates", "neighbours", *PERSONS):
            if rng.random() < 0.5:
                fields.pop(name, None)
        try:
            request = dp.Request.from_dict({"queries": [fields]}, policy=policy)
        except DPSelectError:
            continue
        [query] = request.queries.values()
        assert not broken(tables, query, tables["data"]["where"]), (tables, query)
        made += 1
    assert made > 20


@pytest.mark.parametrize("engine", ["memory", "polars", "duckdb"])
@pytest.mark.parametrize("where", [[], ["days > 3"]])
def test_an_error_names_the_columns_of_the_policy_alone(tmp_path, engine, where):
    """Before: the first record of a file without a header was in the answer of a service."""
    kind = "parquet" if engine == "duckdb" else "csv"
    named = pl.DataFrame({"Jane Roe": ["John Roe"], "heart": ["lung"], "dayz": [3]})
    getattr(named, f"write_{kind}")(tmp_path / f"stays.{kind}")
    tables = {
        "data": {"path": str(tmp_path / f"stays.{kind}"), "engine": engine, "where": where},
        "unit": {"neighbours": "add-remove"},
        "release": {"epsilon": 1.0},
        "columns": {"days": {"lower": 0, "upper": 60, "step": 1}},
    }
    policy = dp.Policy.from_dict(tables)
    request = dp.Request.from_dict({"queries": [MEDIAN]}, policy=policy)

    for step in (request.check, request.release):
        with pytest.raises(ColumnError) as one:
            step()
        assert not any(word in str(one.value) for word in ("Roe", "heart", "dayz"))


DATED = '\n[columns.admitted]\nlower = 2026-01-01\nupper = 2026-02-01\nstep = "1d"\n'
DATED += '\n[columns.stay]\nlower = "0d"\nupper = "60d"\nstep = "12h"\n'
OF_DATES = {"query": "Percentiles", "column": "admitted", "p": 50, "epsilon": 0.5}
WEEK = OF_DATES | {"lower": "2026-01-05", "upper": "2026-01-12", "step": "1d"}


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        (OF_DATES, None),
        (OF_DATES | {"column": "stay"}, None),
        (WEEK, None),
        (WEEK | {"step": "7d"}, None),
        (WEEK | {"upper": "2026-03-01"}, "outside of the bounds"),
        (OF_DATES | {"column": "stay", "upper": "60d", "step": "8h"}, "whole steps"),
        (WEEK | {"lower": "2026-01-05T00:00", "upper": "2026-01-12T00:00"}, "another unit"),
        (WEEK | {"lower": 5, "upper": 9, "step": 1}, "another unit"),
    ],
)
def test_dates_and_durations_have_bounds_and_steps(clinic, query, refused):
    if refused is None:
        [made] = request_of(clinic, query, POLICY + DATED).queries.values()
        assert made.upper is not None
        return
    with pytest.raises(PolicyError, match=refused):
        request_of(clinic, query, POLICY + DATED)


def test_candidates_of_a_column_can_be_a_file_beside_the_policy(clinic):
    (clinic / "wards.txt").write_text("heart\n lung \n\n", encoding="utf-8")
    text = POLICY.replace('["heart", "lung", "skin"]', '"wards.txt"')
    (clinic / "policy.toml").write_text(text, encoding="utf-8")
    policy = dp.Policy.read(clinic / "policy.toml")

    assert policy.columns["ward"].listed == ("heart", "lung")
    (clinic / "wards.txt").unlink()
    with pytest.raises(dp.errors.DataError, match=r"wards\.txt"):
        dp.Policy.read(clinic / "policy.toml")


def test_whom_a_policy_protects_need_not_be_listed_and_is_not_released():
    tables = {
        "data": {"path": "stays.parquet"},
        "unit": {"neighbours": "add-remove", "user": "who", "max_per_user": 2},
        "release": {"epsilon": 1.0},
        "columns": {"ward": {"candidates": WARDS}, "days": {}},
    }
    policy = dp.Policy.from_dict(tables)

    asked = dp.Request.from_dict({"queries": [TOP]}, policy=policy)
    assert asked.queries["TopKeys"].user == "who"
    for other in (
        {"data": {"where": ["who = 1"]}, "queries": [TOP]},
        {"queries": [{**TOP, "column": "who", "candidates": [1]}]},
        {"queries": [{**TOP, "by": "who", "groups": [1]}]},
        {"queries": [{**TOP, "user": "days"}]},
        {"queries": [{**TOP, "by": ["ward", {"a": 1}]}]},
        *({"queries": [{**MEDIAN, one: {"a": 1}}]} for one in ("column", "minus", "by")),
    ):
        with pytest.raises(dp.errors.DPSelectError):
            dp.Request.from_dict(other, policy=policy)
