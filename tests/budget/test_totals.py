from __future__ import annotations

from itertools import permutations

import pytest

from dpselect.budget.totals import Totals, same_relation
from dpselect.errors import NeighboursError, ParameterError
from dpselect.neighbours import Neighbours


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), float("inf"), True, "1"])
def test_epsilon_must_be_positive(epsilon):
    with pytest.raises(ParameterError, match="epsilon must be"):
        Totals(epsilon=epsilon, delta=0.0, neighbours=Neighbours.EDGE)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, float("nan"), True, None])
def test_delta_must_be_a_probability_below_one(delta):
    with pytest.raises(ParameterError, match="delta must be"):
        Totals(epsilon=1.0, delta=delta, neighbours=Neighbours.EDGE)


@pytest.mark.parametrize("relation", [None, "edge", 1])
def test_a_relation_must_be_one(relation):
    with pytest.raises(NeighboursError, match="must be one of"):
        Totals(epsilon=1.0, delta=0.0, neighbours=relation)
    with pytest.raises(NeighboursError, match="must be one of"):
        same_relation(Neighbours.EDGE, relation)


@pytest.mark.parametrize(("granted", "stated"), list(permutations(Neighbours, 2)))
def test_two_relations_never_meet(granted, stated):
    with pytest.raises(NeighboursError, match=f"{granted} neighbours, the spend {stated}"):
        same_relation(granted, stated)


@pytest.mark.parametrize("relation", Neighbours)
def test_the_budget_s_own_relation_is_welcome(relation):
    same_relation(relation, relation)
