"""Methods after a noisy number of records: private on every small database, both steps."""

from itertools import combinations_with_replacement

import numpy as np

import dpselect as dp
from dpselect.percentiles import choice as choices, methods
from dpselect.percentiles.choice import AfterCount
from dpselect.percentiles.reading import Records, counts_of
from support.neighbours import are_neighbours
from support.ranks import law_after_count

ADDED = dp.Neighbours.ADD_REMOVE
POINTS, EPSILON = np.arange(3.0), 1.2
SMALL = [x for n in range(5) for x in combinations_with_replacement(range(3), n)]


def test_the_size_and_the_value_are_private_together(monkeypatch):
    monkeypatch.setattr(choices, "SHARE", 0.5)
    monkeypatch.setattr(methods, "FEWEST", 2)  # bins have no law in closed form
    method = AfterCount((90.0,), POINTS, Records(ADDED), EPSILON)

    def law(database):
        counts = counts_of(np.array(database, dtype=float), POINTS)
        return law_after_count(method, counts, 16).ravel()

    found = dp.audit.check_private(law, SMALL, are_neighbours(ADDED), EPSILON)

    assert found.ok, str(found)
    assert found.loss > 0.5 * EPSILON
