from __future__ import annotations

import json
from dataclasses import asdict

from dpselect.budget import Budget
from dpselect.neighbours import Neighbours

EDGE = Neighbours.EDGE


def without_release(entry):
    made = asdict(entry) | {"neighbours": "edge"}
    del made["release"], made["shown"], made["token"]
    return made


def refuse_constant(name):
    raise AssertionError(name)


def test_json_holds_all_that_the_budget_knows():
    budget = Budget(50.0, neighbours=EDGE)
    for epsilon in (0.1, 0.2):
        budget.spend(epsilon, neighbours=EDGE, mechanism="médian", note='"quoted"\n')
    document = json.loads(budget.to_json(), parse_constant=refuse_constant)

    assert document == {
        "epsilon": 50.0,
        "delta": 0.0,
        "neighbours": "edge",
        "persons": None,
        "composition": "sum",
        "shares": [],
        "period": None,
        "spent": 0.3,
        "pots": [{"share": "", "epsilon": 50.0, "delta": 0.0, "spent": 0.3, "remaining": 49.7}],
        "entries": [without_release(entry) for entry in budget.entries],
    }
    assert {*document["entries"][0]} == {
        *("sequence", "time", "epsilon", "delta", "rho", "refunded", "steps"),
        *("neighbours", "mechanism", "note", "version", "source", "source_version", "analyst"),
        *("share", "period", "key", "question", "answer"),
    }
