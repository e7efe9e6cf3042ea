"""Cells that hold most points: the facts of their counts by enumeration."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpselect as dp
from dpselect.maps import cell_counts

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE


def of_person(cells, most):
    """Counts of every person of at most so many points."""
    for number in range(most + 1):
        for held in combinations_with_replacement(range(cells), number):
            yield np.bincount(np.array(held, dtype=int), minlength=cells)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("relation", [ADDED, REPLACED])
def test_what_one_person_changes_of_one_cell_and_of_all(relation, most):
    """Equal to the largest change over all persons: less would not be private."""
    facts = cell_counts(
        np.zeros(4), bounds=(0, 0, 1, 1), grid=2, max_per_user=most, neighbours=relation
    )
    people = list(of_person(4, most))
    others = people if relation is REPLACED else [np.zeros(4, dtype=int)]
    moves = [one - other for one in people for other in others]

    assert facts.sensitivity.bound == max(np.abs(move).max() for move in moves)
    assert facts.sensitivity.l1 == max(np.abs(move).sum() for move in moves)
    assert facts.monotone == all((move >= 0).all() or (move <= 0).all() for move in moves)
