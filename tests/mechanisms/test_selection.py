"""Selections: a mechanism as a query, whose data are an objective."""

import dpselect as dp
from dpselect.query import Query

AR = dp.Neighbours.ADD_REMOVE


def select(**changed):
    asked = {"mechanism": dp.PermuteAndFlip(epsilon=1.0), "k": 2, "neighbours": AR}
    return dp.Selection(**{**asked, **changed})


def test_a_mechanism_may_be_a_mapping_with_its_epsilon():
    named = select(mechanism={"name": "permute-and-flip", "epsilon": 1})
    with_options = select(
        mechanism={"name": "local-dampening", "epsilon": 2.0, "draw": "permute-and-flip"}
    )

    assert named.plan == select().plan
    assert with_options.plan.mechanism == "LocalDampening(epsilon=2.0, draw=PermuteAndFlip())"
    assert Query.from_json(with_options.to_json()) == with_options
