"""Conditions of one objective that are checked over all databases, where they just hold."""

import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect_conformance import replay


def test_an_objective_that_raises_is_found():
    def objective_of(x):
        if len(x) == 2:
            raise ValueError("no two")
        return dp.Objective([len(x), 1], dp.GlobalSensitivity(1, "add-remove"))

    report = dp.audit.check_admissible(
        objective_of, [("a",) * n for n in range(4)], "add-remove"
    )

    assert report.failed == ("objective",)
    assert "ValueError: no two" in report.finding("objective").states
    assert report.finding("objective").worst.x == ("a", "a")
    assert not report.ok
    assert "x = ('a', 'a')" in str(report)


@pytest.mark.parametrize("given", [3, "plan", dp.Objective])
def test_a_plan_that_is_none_is_named(given):
    def release(_):
        return type("Outcome", (), {"plan_": 3})()

    with pytest.raises(ParameterError, match="plan"):
        replay(release, (), (), plan=given)
    with pytest.raises(ParameterError, match="plan_"):
        replay(release, (), ())
