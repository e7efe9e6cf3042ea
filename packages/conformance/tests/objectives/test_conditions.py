"""Conditions of one objective that are checked over all databases, where they just hold."""

import dpselect as dp


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
