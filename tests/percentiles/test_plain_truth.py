"""The plain truth where epsilon is not large; `tests/truth` has it where it is."""

import pytest

import dpselect as dp

RELATIONS = ["add-remove", "substitute"]
FLAGS = [
    ([0] * 8000 + [1] * 2000, (10, 50, 90), (0, 0, 1)),
    ([1] * 9700 + [2] * 300, (50, 90), (1, 1)),
    ([40] * 10_000, (25, 50, 75, 90, 95), (40,) * 5),
]


@pytest.mark.parametrize(("values", "p", "right"), FLAGS, ids=["flags", "births", "constant"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_values_of_many_are_right_at_epsilon_1(values, p, right, relation):
    query = dp.Percentiles(p=p, upper=100, step=1, epsilon=1.0, neighbours=relation)

    assert {query.release(values).answer for _ in range(20)} == {right}
