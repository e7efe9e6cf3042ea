"""The plain truth where epsilon is not large, and faults that were there."""

import numpy as np
import pytest

import dpselect as dp
from dpselect.percentiles.choice import Refined
from dpselect.percentiles.sparse_vector import InParts, Part

N = np.arange(1000)
WIDE = {"upper": 10**6, "step": 1}
SHAPES = {
    "flags": (N // 800, {"upper": 10, "step": 1}),
    "births": (1 + N // 970, {"upper": 10, "step": 1}),
    "Likert": (1 + N % 5, {"lower": 1, "upper": 10, "step": 1}),
    "constant": (0 * N + 40, {"upper": 100, "step": 1}),
    "zeros": (np.maximum(N - 599, 0) * 3, {"upper": 5000, "step": 1}),
    "corner": (240_000 + N % 20, WIDE),
    "longitudes": (8.54 + (N % 30) / 1e6, {"lower": -180, "upper": 180, "step": 1e-6}),
}
RELATIONS = ["add-remove", "substitute"]
FLAGS = [
    ([0] * 8000 + [1] * 2000, (10, 50, 90), (0, 0, 1)),
    ([1] * 9700 + [2] * 300, (50, 90), (1, 1)),
    ([40] * 10_000, (25, 50, 75, 90, 95), (40,) * 5),
]


def off(values, p, answer):
    """Return by how much an answer is outside of the records that percentiles lie between."""
    low, high = (
        np.percentile(values, np.atleast_1d(p), method=end) for end in ("lower", "higher")
    )
    found = np.array(answer)
    # Candidates are floats of their own, within roundings of the records.
    return float(np.maximum(low - found, found - high).max()) > 1e-9 * abs(found).max()


def wrong(names, sets, epsilon=1e4, **more):
    """Return the questions whose answer is not the exact one."""
    found = []
    for name in names:
        values, kw = SHAPES[name]
        for p in sets:
            query = dp.Percentiles(p=p, epsilon=epsilon, neighbours="add-remove", **kw | more)
            answer = query.release(values.astype(float)).answer
            found += [(name, p, answer)] if off(values, p, answer) else []
    return found


@pytest.mark.parametrize("p", [50, (50, 90), (10, 50, 90)], ids=str)
@pytest.mark.parametrize("epsilon", [50.0, 1e6])
def test_less_and_more_epsilon_are_right_where_records_are_in_a_corner(p, epsilon):
    names = ["flags", "births", "Likert", "constant", "corner", "longitudes"]

    assert not wrong(names, [p], epsilon=epsilon)


@pytest.mark.parametrize(("values", "p", "right"), FLAGS, ids=["flags", "births", "constant"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_values_of_many_are_right_at_epsilon_1(values, p, right, relation):
    query = dp.Percentiles(p=p, upper=100, step=1, epsilon=1.0, neighbours=relation)

    assert {query.release(values).answer for _ in range(20)} == {right}


FAULTS = {
    "parts are counted from an end that is not theirs": (
        Part, "wanted", lambda self, records: np.ceil(records * self.p / 100).astype(int),
        {"names": ["zeros", "Likert"], "sets": [(10, 50, 90)]},
    ),
    "what the other parts hold is not left out": (
        InParts, "in_no_part", lambda _self, ranks, _start, _end: ranks,
        {"names": ["zeros"], "sets": [(70, 90, 95)]},
    ),
    "a cell is not refined": (
        Refined, "_within", lambda _self, _p, low, *_: low, {"names": ["corner"], "sets": [50]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_was_is_seen(fault, monkeypatch):
    where, name, rule, asked = FAULTS[fault]
    assert not wrong(**asked)

    monkeypatch.setattr(where, name, rule)

    assert wrong(**asked)
