"""Selections: a mechanism as a query, whose data are an objective."""

import pytest

import dpselect as dp
from dpselect.errors import NeighboursError, ParameterError
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
    with pytest.raises(ParameterError, match="mechanism must have an epsilon of its own"):
        select(mechanism={"name": "exponential"})
    with pytest.raises(ParameterError, match="mechanism must be a Mechanism, not a str"):
        select(mechanism="exponential")


def test_it_draws_candidates_or_all_above_a_noisy_score():
    above = select(mechanism=SEQUENCE, k=None, above=2500)

    assert set(select().release(VOTES).answer) == {"a", "c"}
    assert set(above.release(VOTES).answer) == {"a", "c"}
    assert len(above.release(VOTES).noisy_scores) == 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": None}, "give k or above, one of them"),
        ({"above": 1.0}, "give k or above, one of them"),
        ({"k": 0}, "k must be at least 1"),
        ({"k": None, "above": "high"}, "above must be a number"),
    ],
)
def test_a_selection_that_cannot_be_made_is_refused(changed, message):
    with pytest.raises(ParameterError, match=message):
        select(**changed)


@pytest.mark.parametrize(
    ("query", "data", "error", "message"),
    [
        (select(k=4), VOTES, ParameterError, "k must be at most the number of candidates, 3"),
        (select(k=None, above=1.0), VOTES, ParameterError, "above needs a noisy sequence"),
        (select(neighbours="edge"), VOTES, NeighboursError, "the objective for add-remove"),
        (select(), [1, 2], ParameterError, "data must be an Objective, not a list"),
    ],
)
def test_an_objective_that_does_not_fit_costs_nothing(query, data, error, message):
    budget = dp.Budget(9.0, neighbours=query.plan.neighbours)
    with pytest.raises(error, match=message):
        query.release(data, budget=budget)

    assert budget.entries == ()
