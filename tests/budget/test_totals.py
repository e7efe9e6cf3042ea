"""Terms of a budget: whom it protects, shares and periods."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from dpselect._numbers import exact
from dpselect.budget.totals import Period, Persons, Totals, part
from dpselect.errors import NeighboursError
from dpselect.neighbours import Neighbours

ADDED, REPLACED = Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE


def totals(neighbours=ADDED, **terms):
    return Totals(epsilon=1.0, delta=1e-6, neighbours=neighbours, **terms)


class TestSteps:
    def test_a_release_for_the_unit_is_one_step(self):
        assert totals().steps(ADDED, None) == 1
        assert totals(persons=Persons("who")).steps(ADDED, "who") == 1
        assert totals(persons=Persons("who", 9)).steps(ADDED, "who") == 1
        assert totals(REPLACED, persons=Persons("who")).steps("substitute", "who") == 1

    def test_a_release_by_rows_is_a_step_for_each_row_of_a_person(self):
        assert totals(persons=Persons("who", 9)).steps(ADDED, None) == 9
        assert totals(REPLACED, persons=Persons("who", 1)).steps(REPLACED, None) == 1

    @pytest.mark.parametrize(
        ("granted", "user", "cure"),
        [
            (totals(), "who", "make a budget with protects=who"),
            (totals(persons=Persons("who")), None, "give user=who with max_per_user, or make"),
            (totals(persons=Persons("who", 9)), "ward", "make a budget with protects=ward"),
            (totals(REPLACED, persons=Persons("who", 9)), None, "give user=who"),
        ],
    )
    def test_another_unit_is_refused_with_the_cure(self, granted, user, cure):
        with pytest.raises(NeighboursError, match=cure):
            granted.steps(granted.neighbours, user)


def test_a_period_is_a_part_of_a_time():
    names = [Period(length, "one-period").at("2026-07-04T23:59:59+00:00") for length in
             ("day", "month", "year")]  # fmt: skip

    assert names == ["2026-07-04", "2026-07", "2026"]


@given(
    st.lists(st.floats(0.01, 0.3), max_size=3),
    st.floats(0.001, 10),
    st.sampled_from([0.0, 1e-9, 1e-6, 0.3]),
)
def test_parts_add_up_to_no_more_than_the_whole(shares, epsilon, delta):
    named = tuple((f"analyst {n}", share * epsilon) for n, share in enumerate(shares))
    granted = Totals(epsilon=epsilon, delta=delta, neighbours=ADDED, shares=named)
    parts = [part(granted, name) for name in [*dict(named), ""]]

    assert sum(exact(one.epsilon) for one in parts) <= exact(epsilon)
    assert sum(exact(one.delta) for one in parts) <= exact(delta)
    assert sum(exact(one.epsilon) for one in parts) >= exact(epsilon) * Fraction(999, 1000)
    assert {replace(one, epsilon=1.0, delta=0.0) for one in parts} == {
        replace(granted, epsilon=1.0, delta=0.0, shares=())
    }
