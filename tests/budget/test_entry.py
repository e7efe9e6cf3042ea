from itertools import permutations

import pytest

from dpselect.budget.entry import Entry, priced
from dpselect.budget.totals import Totals
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import NeighboursError
from dpselect.neighbours import Neighbours

ADDED = Neighbours.ADD_REMOVE


@pytest.mark.parametrize("epsilon", [0, 0.0, -0.0])
def test_an_epsilon_of_zero_costs_its_delta_alone(epsilon):
    alone = Entry(epsilon=0.0, delta=1e-6, rho=0.0, neighbours=ADDED)

    assert priced(epsilon, 1e-6, None) == priced(epsilon, 1e-6, 0.5) == alone
    assert repr(priced(epsilon, 1e-6, None)) == repr(alone)


def test_beside_a_delta_rho_is_what_epsilon_implies():
    """A better one may hold outside another event than epsilon does."""
    assert priced(0.5, 1e-6, 1e-3).rho == rho_of_pure(0.5)
    assert priced(0.5, 0.0, 1e-3).rho == 1e-3


@pytest.mark.parametrize(("granted", "stated"), list(permutations(Neighbours, 2)))
def test_two_relations_never_meet(granted, stated):
    totals = Totals(epsilon=1.0, neighbours=granted)

    with pytest.raises(NeighboursError):
        totals.steps(stated, None)
