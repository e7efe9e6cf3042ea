"""Table 2 as in the authors' code: written again, step by step, for few nodes."""

import numpy as np
from hypothesis import given, strategies as st

from dpselect_studies.farias_2024 import table_2

nodes = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 4)), min_size=2, max_size=6, unique=True
)


def changes(degree, steps):
    """Return what the code adds up for one node's degree and density in so many steps."""
    density = sum(1.0 if degree - t <= 2 else 2 / (degree - t - 1) for t in range(steps))
    return np.array([steps, density])


def crossed(values, i, j, steps):
    """Return whether the relation of two nodes may have changed after ``steps + 1`` steps."""
    mine = changes(values[i][0], steps if j < i else steps + 1)  # stale for lower numbers
    other = changes(values[j][0], steps + 1)
    if (values[j] > values[i]).all():
        return ((values[j] - other) < (values[i] + mine)).any()
    return ((values[j] + other) > (values[i] - mine)).all()


def by_hand(values, i):
    """Return one dampened score by Definition 12 over Definition 4.5."""
    score = sum((other > values[i]).all() for other in values)
    reached, steps = 0, 0
    while True:
        width = sum(crossed(values, i, j, steps) for j in range(len(values)) if j != i)
        if reached <= score < reached + width:
            distance = steps + (score - reached) / width
            return distance if score == 0 else -distance
        reached, steps = reached + width, steps + 1


@given(nodes)
def test_the_dampened_score_of_the_code(pairs):
    values = np.array([(degree, density / 4) for degree, density in pairs], dtype=np.float64)
    scores = -np.array([(values > one).all(axis=1).sum() for one in values], dtype=np.float64)

    found = table_2.dampened_not_private(*np.ascontiguousarray(values.T), scores)

    assert found.tolist() == [by_hand(values, i) for i in range(len(values))]


def test_where_fewer_than_k_probabilities_are_above_0_the_code_has_the_best():
    unit = np.array([1_187.0, 3.0, 0.0, -1.0])

    assert not table_2.underflows(unit, 2.0, 3)
    assert table_2.underflows(unit, 5.0, 3)
    assert not table_2.underflows(unit, 5.0, 1)


def test_the_true_best_set_of_the_code_is_one_that_fits_the_first_number():
    cell = table_2.CodeCell("enron", 1, table_2.GLOBAL, (0.1,), 10)
    values = np.array([[3.0, 1.0], [1.0, 3.0], [2.0, 0.5], [2.0, 0.6], [0.5, 2.0]])
    scores = -np.array([(values > one).all(axis=1).sum() for one in values], dtype=np.float64)

    found = table_2.fixed_best(values, scores, cell, np.random.default_rng(0))

    # Of five nodes the first beats two and the second one; printed is .41.
    assert found.tolist() == [0]
