"""The JSON schema of requests: it takes what queries write, and refuses what they refuse."""

import math

import numpy as np
import pytest

import dpselect as dp
from dpselect.query import claims_of
from dpselect.requests import schema
from dpselect.requests.document import titles
from dpselect.writing import members
from support.releases import all_cases, can_be_written

SCHEMA = schema()
QUERIES = SCHEMA["properties"]["queries"]["items"]["oneOf"]
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
TYPES |= {"object": dict, "array": list}


def holds(value, rule):
    """Return whether a value is of a schema, by the keywords of it that are used here."""
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    plain = [one for one in kinds if one == "boolean" or not isinstance(value, bool)]
    if kinds and not any(isinstance(value, TYPES[one]) for one in plain):
        return False
    checks = [
        "const" not in rule or value == rule["const"],
        "enum" not in rule or value in rule["enum"],
        "anyOf" not in rule or any(holds(value, one) for one in rule["anyOf"]),
        "oneOf" not in rule or sum(holds(value, one) for one in rule["oneOf"]) == 1,
    ]
    if isinstance(value, list) and "items" in rule:
        checks += [holds(one, rule["items"]) for one in value]
    if isinstance(value, dict) and "properties" in rule:
        known = rule["properties"]
        checks += [name in value for name in rule.get("required", [])]
        checks += [name in known or rule.get("additionalProperties", True) for name in value]
        checks += [holds(one, known[name]) for name, one in value.items() if name in known]
    return all(checks)


def written(query):
    fields = query.to_dict()
    del fields["dpselect"]
    return {"data": {"path": "a.parquet"}, "queries": [fields]}


CASES = [
    case
    for case in all_cases()
    if type(case.query).__name__ in titles() and can_be_written(case.query)
]


def test_every_query_of_a_table_is_there():
    assert [one["title"] for one in QUERIES] == sorted(titles())
    assert {type(case.query).__name__ for case in CASES} == set(titles())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_takes_what_a_query_writes(case):
    assert holds(written(case.query), SCHEMA)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"k": "three"}, {"kk": 1}, {"epsilon": None}, {"neighbours": "addremove"}),
        *({"missing_keys": "keep"}, {"mechanism": "permute"}, {"query": "TopKey"}, {"user": 3}),
    ],
)
def test_it_refuses_what_a_query_refuses(wrong):
    right = {"query": "TopKeys", "column": "ward", "k": 1, "candidates": ["a"], "epsilon": 1.0}

    assert holds({"queries": [right]}, SCHEMA)
    assert not holds({"queries": [{**right, **wrong}]}, SCHEMA)


@pytest.mark.parametrize("wrong", [{"ledgr": "a"}, {"data": {"path": 1}}, {"queries": math.pi}])
def test_it_refuses_other_tables(wrong):
    assert not holds({"queries": [], **wrong}, SCHEMA)


def test_every_field_is_described_in_words():
    for one in QUERIES:
        for name, field in one["properties"].items():
            assert name == "query" or len(field["description"]) > 10, (one["title"], name)
            assert "`" not in field.get("description", "")


@pytest.mark.parametrize("claims", [None, {"n": 9}])
def test_under_a_policy_nobody_else_is_offered_its_claims(claims):
    tables = {
        "ledger": "clinic.budget",
        "data": {"path": "stays.parquet"},
        "unit": {"neighbours": "swap"},
        "release": {"epsilon": 1.0, "queries": ["Subset", "ID3Tree", "TopKeys"]},
        **({} if claims is None else {"claims": claims}),
    }
    policy = dp.Policy.from_dict(tables)
    kinds = schema(policy)["properties"]["queries"]["items"]["oneOf"]
    offered = {one["title"]: {*one["properties"]} for one in kinds}

    assert set(offered) == {"Subset", "ID3Tree", "TopKeys"}
    for name, fields in offered.items():
        for one, claim in claims_of(getattr(dp, name)).items():
            assert (one in fields) is (claims is None and not claim.can_fail), (name, one)
    assert "separator" not in schema(policy)["properties"]["data"]["properties"]


def test_the_shape_of_an_array_is_no_kind_of_its_numbers():
    """Older versions of NumPy state it as integers."""
    annotation = float | np.ndarray[tuple[int, ...], np.dtype[np.float64]]

    assert int not in [*members(annotation)]
