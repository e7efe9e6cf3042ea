"""Claims: what a query declares public of the data is a policy's to state."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, fields

import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import PolicyError, PublicClaimError
from dpselect.query import claims_of
from dpselect.requests.contradictions import file_of
from dpselect.requests.document import claims_known, titles
from support.public import every_query
from support.refusals import refused

CLAIMS = {
    "BestColumns": {"max_records", "on_invalid"},
    "Hubs": {"on_invalid"},
    "ID3Tree": {"max_records", "on_invalid"},
    "Keys": {"assumed_people"},
    "Map": {"measure"},
    "PercentileRecord": {"label", "on_invalid"},
    "Percentiles": {"assumed_records", "on_invalid"},
    "Subset": {"n", "d", "positive", "label"},
    "TopKeys": {"assumed_people"},
    "TopNodes": {"max_degree", "on_invalid"},
    "TopVariants": {"label", "variants", "cases", "controls"},
    "TreeFront": {"max_records", "on_invalid"},
}
"""What each class of queries declares public of the data."""

WORDS = """
by column counts estimator label minus period source target user x y bounds candidates classes
columns crs domains grid grids groups lower missing_as nodes other periods queries step tree
upper above beta combine criterion dominance failure floor front generations horizon
initial_depth inner interval interval_share k max_depth mechanism method metric min_people
missing_keys monotone operators outside p population profile_per_run random_state rate_bound
redraw repetitions sanity scheme scoring selection sensitivity significance splits stops
survivors threshold weights counts_share degrees_share delta delta_per_run epsilon
epsilon_per_run groups_share max_per_user neighbours other_share rates_share rho_per_run
size_share totals_share tuning_share validation_share
"""
"""Columns that are read; values that are counted, where all others are dropped, moved or
counted together; what is asked of the counts; the price, and what it protects."""

ARGUMENTS = {*WORDS.split()}

OTHERS = {"Search": {"grid"}, "Hubs": {"candidates"}}
"""Arguments whose name means something else elsewhere; listed to be looked at."""


def queries():
    """Return all classes of queries of the library, by name."""
    return {kind.__name__: kind for kind in every_query()}


def test_each_field_of_each_query_is_a_claim_or_an_argument():
    """A new field fails here until somebody has decided which of both it is."""
    unknown, both, seen = [], [], set()
    for name, kind in queries().items():
        claimed = set(claims_of(kind))
        assert claimed == CLAIMS.get(name, set()), name
        for one in {field.name for field in fields(kind)} - claimed:
            seen.add(one)
            if one not in ARGUMENTS | OTHERS.get(name, set()):
                unknown.append((name, one))
    # ``label`` is a column of classes to a tree, and of public names elsewhere.
    both = set().union(*CLAIMS.values()) & ARGUMENTS - {"label"}

    assert (unknown, both) == ([], set())
    assert seen >= ARGUMENTS, ARGUMENTS - seen


@pytest.mark.parametrize("name", CLAIMS)
def test_a_default_declares_nothing_where_something_else_does(name):
    """Names of people are the one exception: without a column their order is public."""
    kind = queries()[name]
    usual = {one.name: one.default for one in fields(kind)}
    for field, claim in claims_of(kind).items():
        always = not claim.nothing
        assert always == (usual[field] is MISSING or field in {"label", "positive"}), field
        assert always or usual[field] in claim.nothing


AR = {"neighbours": "add-remove"}
TREE = {"domains": {"age": {"low": 0, "high": 9}}, "classes": ["a", "b"], "label": "diagnosis"}
TREE |= {"epsilon": 1.0}
EDGES = {"nodes": 40, "k": 5, "epsilon": 0.01}
RECORD = {"query": "PercentileRecord", "column": "days", "p": 50, "upper": 60}
DAYS = {"query": "Percentiles", "column": "days", "p": 50, "upper": 9, "step": 1}
BOX = {"x": "x", "y": "y", "bounds": [0, 0, 9, 9], "epsilon": 1.0}

ASKING = {
    "BestColumns": {**TREE, "k": 1, **AR},
    "HeavyCells": {**BOX, "grid": 2, "k": 1, **AR},
    "Hubs": {**EDGES, "k": 1},
    "ID3Tree": {**TREE, "max_depth": 1, **AR},
    "Keys": {"column": "diagnosis", "epsilon": 1.0, "delta": 1e-6, **AR},
    "Levels": {"column": "c", "tree": {"a": "t", "b": "t"}, "epsilon": 1.0, **AR},
    "Map": {**BOX, "grids": [2], **AR},
    "PercentileRecord": {**RECORD, "epsilon": 1e-9},
    "Percentiles": {**DAYS, "epsilon": 1.0, "neighbours": "substitute"},
    "Subset": {"column": "diagnosis", "epsilon": 1.0},
    "TopKeys": {"column": "c", "k": 1, "candidates": ["a", "b"], "epsilon": 1.0, **AR},
    "TopNodes": {**EDGES, "metric": "ego-betweenness"},
    "TreeFront": {**TREE, "front": 2, **AR},
}
"""A query of each class without its claims."""

STATED = {
    "assumed_people": [1, 7],
    "assumed_records": [1, 7],
    "d": [0, 1, 27, 299],
    "label": ["ssn", "diagnosis"],
    "max_degree": [1, 2, 39],
    "max_records": [2, 10**6],
    "measure": [{"name": "weighted"}],
    "n": [1, 300, 10**6],
    "on_invalid": ["raise", ["raise"], 1],
    "positive": ["hiv", ["hiv", "tb"], 7],
}
"""What an analyst might state."""

FREE = {"assumed_people", "assumed_records"}
"""Free without [claims], since data cannot contradict them."""


def policy_of(neighbours, path="stays.parquet", **more):
    return dp.Policy.from_dict(
        {
            "data": {"path": str(path)},
            "unit": {"neighbours": neighbours},
            "release": {"epsilon": 1.0, "delta": 1e-6},
            **more,
        }
    )


CASES = [
    (name, claim, value)
    for name in sorted(titles())
    for claim in sorted(CLAIMS.get(name, ()))
    for value in STATED[claim]
]


def refusal(name, path, claims, **stated):
    """Return why a query is refused, or nothing."""
    relation = {"PercentileRecord": "substitute", "Percentiles": "substitute", "Subset": "swap"}
    relation |= {"TopNodes": "edge", "Hubs": "edge"}
    policy = policy_of(relation.get(name, "add-remove"), path, **claims)
    try:
        dp.Request.from_dict(
            {"queries": [{"query": name, **ASKING[name], **stated}]}, policy=policy
        )
    except PolicyError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("name", "claim", "value"), CASES)
def test_an_analyst_states_nothing_of_the_data(tmp_path, name, claim, value):
    """The words are the same whether there is a file or not: nothing was read."""
    there = tmp_path / "stays.parquet"
    pl.DataFrame({"days": [1], "diagnosis": ["a"], "ssn": [3]}).write_parquet(there)
    needed = {one: STATED[one][0] for one, mark in claims_of(getattr(dp, name)).items()}
    needed = {one: value for one, value in needed.items() if one in {"n", "max_records"}}
    rest = {one: value for one, value in needed.items() if one != claim}
    claims = {"ledger": "none.budget", "claims": {"assumed_people": 99, **rest}}
    for stated in ({claim: value}, {**needed, claim: value}):
        for given in ({}, claims):
            said = {
                refusal(name, path, given, **stated) for path in (there, tmp_path / "none.csv")
            }
            if claim in FREE and not given:
                assert said == {""}
            else:
                assert len(said) == 1
                assert "(policy [claims] " in said.pop()


@pytest.mark.parametrize("name", sorted(set(CLAIMS) & set(titles())))
def test_a_claim_of_the_policy_is_filled_in(name):
    known = {one: STATED[one][0] for one in CLAIMS[name] - {"measure", "on_invalid"}}
    policy = policy_of("swap", ledger="none.budget", claims=known)
    filled = policy.filled(
        dp.requests.document.Document({"queries": [{"query": name, **ASKING[name]}]})
    )
    [table] = filled["queries"]

    assert {one: table[one] for one in known} == known
    for one, value in known.items():
        assert not refusal(
            name, "a.csv", {"ledger": "none.budget", "claims": known}, **{one: value}
        )


def test_a_bound_on_degrees_is_filled_in_where_the_metric_takes_it():
    claims = {"claims": {"max_degree": 5}, "ledger": "none.budget"}

    assert not refusal("TopNodes", "a.csv", claims, metric="degree")
    said = refusal("TopNodes", "a.csv", claims, max_degree=6)
    assert "max_degree must be 5, not 6" in said


def test_row_numbers_are_a_claim_as_well():
    claims = {"claims": {"label": ""}, "ledger": "none.budget"}

    assert "label must be stated here" in refusal("PercentileRecord", "a.csv", {})
    assert not refusal("PercentileRecord", "a.csv", claims)
    said = refusal("PercentileRecord", "a.csv", claims, label="ssn")
    assert "label must be left out, not 'ssn' (policy [claims] label" in said


def test_a_request_that_a_program_made_rests_on_the_same_claims():
    policy = policy_of("substitute")
    query = dp.PercentileRecord(column="days", label="ssn", p=50, upper=60, epsilon=1e-9)

    with refused("label", error=PolicyError):
        policy.check(dp.Request(queries={"one": query}, source="stays.parquet"))


def test_what_data_can_contradict_needs_a_ledger():
    for name, (_, claim) in claims_known().items():
        stated = {"claims": {name: STATED[name][0]}}
        if not claim.can_fail:
            assert policy_of("swap", **stated).claims == stated["claims"]
            continue
        with refused("ledger"):
            policy_of("swap", **stated)


STATUSES = ["hiv"] * 80 + ["flu"] * 220
SEXES = {"query": "ID3Tree", "label": "sex", "classes": ["f", "m"], "max_depth": 1}
SEXES |= {"domains": {"days": {"low": 0, "high": 9}}}
STAR = {"query": "TopNodes", "nodes": 3, "k": 1, "metric": "ego-betweenness"}
ILL = {"n": 300, "d": 80, "positive": "hiv", "label": "ssn"}
WRONG = [
    ("substitute", RECORD, {"label": "ssn", "on_invalid": "raise"}),
    ("add-remove", SEXES, {"max_records": 299}),
    ("add-remove", SEXES, {"max_records": 400, "on_invalid": "raise"}),
    ("add-remove", DAYS, {"on_invalid": "raise"}),
    *(
        ("swap", {"query": "Subset", "column": "diagnosis"}, ILL | wrong)
        for wrong in ({"d": 79}, {"n": 301}, {"label": "sex"}, {"label": "gap"})
    ),
    ("edge", STAR, {"max_degree": 1}),
    ("edge", STAR | {"metric": "degree"}, {"on_invalid": "raise"}),
]
"""Each claim that data can contradict, by a query and a policy that does."""


@pytest.fixture
def stays(tmp_path):
    """A table that contradicts them."""
    path = tmp_path / "stays.parquet"
    pl.DataFrame(
        {
            "days": [None, 700.0, *[5.0] * 298],
            "diagnosis": STATUSES,
            "ssn": [f"{at}" for at in range(300)],
            "sex": ["f", "x", "m"] * 100,
            "gap": [None, *map(str, range(299))],
            "source": [0, 0, 1] * 100,
            "target": [1, 2, 1] * 100,
        }
    ).write_parquet(path)
    return path


def asked_of(stays, relation, query, claims, **more):
    """Return the request of one query within a policy with claims, and its ledger."""
    ledger = stays.with_name("stays.budget")
    if not ledger.exists():
        dp.Budget(100.0, neighbours=relation, path=ledger)
    policy = policy_of(relation, stays, ledger=str(ledger), claims=claims, **more)
    tables = {"queries": [{**query, "epsilon": 1.0}], "analyst": "eve"}
    return dp.Request.from_dict(tables, policy=policy), ledger


@pytest.mark.parametrize(("relation", "query", "claims"), WRONG)
def test_a_contradiction_is_one_fixed_error_and_stops_what_rests_on_it(
    stays, relation, query, claims
):
    request, ledger = asked_of(stays, relation, query, claims)
    with pytest.raises(PublicClaimError) as first:
        request.release()
    stays.unlink()  # the second time nothing is read
    with pytest.raises(PublicClaimError) as second:
        asked_of(stays, relation, query, claims)[0].release()

    fixed = "the data contradict a claim of the policy: nothing that rests on it is answered "
    assert str(first.value) == str(second.value) == fixed + "until the curator has looked at it"
    assert dp.Budget.open(ledger).entries == ()
    lines = [json.loads(one) for one in file_of(ledger).read_text("utf-8").splitlines()]
    assert lines
    assert all(claims[one["claim"]] == one["value"] for one in lines)
    assert {(one["analyst"], one["query"]) for one in lines} == {("eve", query["query"])}


def test_what_does_not_rest_on_it_goes_on_and_the_curator_ends_it(stays):
    _, query, claims = WRONG[1]
    tree, ledger = asked_of(stays, "add-remove", query, {**claims, "on_invalid": "raise"})
    with pytest.raises(PublicClaimError):
        tree.release()

    asked_of(stays, "add-remove", DAYS, claims)[0].release()
    assert len(file_of(ledger).read_text("utf-8").splitlines()) == 1
    asked_of(stays, "add-remove", query, {"max_records": 300})[0].release()  # another value
    with pytest.raises(PublicClaimError):
        asked_of(stays, "add-remove", query, {"max_records": 299})[0].release()
    file_of(ledger).unlink()
    stays.unlink()
    pl.DataFrame({"sex": ["f"], "days": [3]}).write_parquet(stays)
    asked_of(stays, "add-remove", query, {"max_records": 299})[0].release()


def test_a_dry_run_finds_the_same(stays):
    request, ledger = asked_of(stays, *WRONG[5])

    for _ in range(2):
        with pytest.raises(PublicClaimError):
            request.check()
    assert len(file_of(ledger).read_text("utf-8").splitlines()) == 1


def test_of_many_who_ask_at_once_one_learns_something(stays):
    """Each asks of other rows whether there are more than the policy says."""
    _, query, claims = WRONG[1]
    _, ledger = asked_of(stays, "add-remove", query, claims)

    def ask(at):
        request = asked_of(stays, "add-remove", query, {"max_records": 2})[0]
        where = dp.tables.Source(stays, where=[f"source <= {at}"])
        made = dp.Request(
            queries=request.queries, source=where, ledger=ledger, policy=request.policy
        )
        with pytest.raises(PublicClaimError):
            made.release()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(8)))
    assert len(file_of(ledger).read_text("utf-8").splitlines()) == 1


def test_how_a_text_file_is_written_is_a_claim_as_well(tmp_path):
    """An open quotation mark of one record is told once, and the file is not read again."""
    path = tmp_path / "stays.csv"
    path.write_text('days,ward\n3,a\n4,"b\n5,c\n', "utf-8")
    days = {"query": "TopKeys", "column": "ward", "k": 1, "candidates": ["a", "b"]}
    request, ledger = asked_of(path, "add-remove", days, {})
    with pytest.raises(PublicClaimError) as first:
        request.release()
    path.write_text("days,ward\n3,a\n", "utf-8")
    for other in (days, {**days, "k": 2}):
        with pytest.raises(PublicClaimError) as later:
            asked_of(path, "add-remove", other, {})[0].release()
        assert str(later.value) == str(first.value)

    assert "the data contradict a claim of the policy" in str(first.value)
    lines = [json.loads(one) for one in file_of(ledger).read_text("utf-8").splitlines()]
    assert [(one["claim"], one["value"]) for one in lines] == [("quote", None)]
    stated = {"path": str(path), "quote": "none"}
    policy = policy_of("add-remove", ledger=str(ledger), data=stated)
    asked = {"queries": [{**days, "epsilon": 1.0}]}
    dp.Request.from_dict(asked, policy=policy).release()  # another value of the claim
