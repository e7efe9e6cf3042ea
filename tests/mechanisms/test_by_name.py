"""Mechanisms by name, by a mapping and by a callable."""

import dpselect as dp
from dpselect.mechanisms import by_name
from dpselect.query import Query

EDGE = dp.GlobalSensitivity(1, dp.Neighbours.EDGE)


def test_public_facts_of_the_objective_reach_the_mechanism():
    objective = dp.Objective([1.0, 2.0], EDGE, highest=3.0, direction="non-increasing")

    assert by_name("anchored", 2.0).for_objective(objective) == dp.AnchoredLocalDampening(
        epsilon=2.0, anchor=3.0
    )
    assert by_name("shifted", 2.0).for_objective(objective) == dp.ShiftedLocalDampening(
        epsilon=2.0, direction="non-increasing"
    )


def select(mechanism):
    return dp.Selection(mechanism=mechanism, k=2, neighbours="add-remove")


def test_a_selection_takes_a_mapping_with_its_epsilon():
    named = select({"name": "permute-and-flip", "epsilon": 1})
    with_options = select({"name": "local-dampening", "epsilon": 2, "draw": "permute-and-flip"})

    assert named.plan == select(dp.PermuteAndFlip(epsilon=1.0)).plan
    assert with_options.plan.mechanism == "LocalDampening(epsilon=2.0, draw=PermuteAndFlip())"
    assert Query.from_json(with_options.to_json()) == with_options


def test_a_mechanism_makes_its_query_once():
    objective, mechanism = dp.Objective([1, 9], EDGE), dp.PermuteAndFlip(epsilon=1.0)
    queries = [mechanism.release(objective, k).query for k in (1, 1, 2)]

    assert queries[0] is queries[1]
    assert [one.k for one in queries] == [1, 1, 2]


def test_a_mechanism_that_is_equal_to_another_is_not_taken_for_it():
    class Patient(dp.PermuteAndFlip):
        def unit_scores(self, objective):
            return super().unit_scores(objective) * self.__dict__.get("patience", 1)

    objective, draws = dp.Objective([1, 9], EDGE), []
    for patience in (-1, 1):
        mechanism = Patient(epsilon=1000.0)
        vars(mechanism)["patience"] = patience
        draws.append(mechanism.release(objective).candidate)

    assert draws == [0, 1]
