"""Conditions of one objective that are checked over all databases, where they just hold."""

import pytest

import dpselect as dp


@pytest.mark.parametrize(("share", "excess"), [(0.5, 0), (0.25, 0.25)])
def test_multiples_of_a_step_are_those_of_any_step(share, excess):
    report = dp.audit.check_admissible(
        lambda x: dp.Objective(
            [share * len(x), 0.5], dp.GlobalSensitivity(1, "add-remove"), step=0.5
        ),
        [("a",) * n for n in range(4)],
        "add-remove",
    )

    assert report.finding("step").excess == excess
    assert report.finding("step").ok == (excess == 0)
