"""Selections: a mechanism as a query, whose data are an objective."""

import dpselect as dp
from dpselect.query import Query

AR = dp.Neighbours.ADD_REMOVE
VOTES = dp.Objective([9000, 0, 5000], dp.GlobalSensitivity(1, AR, l1=1), "abc", step=1)
SEQUENCE = dp.NoisySequence(epsilon=1.0, l1=1.0, bound=1.0, step=1.0)


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


def test_it_draws_candidates_or_all_above_a_noisy_score():
    above = select(mechanism=SEQUENCE, k=None, above=2500)

    assert set(select().release(VOTES).answer) == {"a", "c"}
    assert set(above.release(VOTES).answer) == {"a", "c"}
    assert len(above.release(VOTES).noisy_scores) == 2
