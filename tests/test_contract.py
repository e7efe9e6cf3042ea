"""Every query has a case of the contract; an answer that is not kept is paid for."""

import pytest

import dpselect as dp
from dpselect.draws.exact import samplers
from support.public import every_query
from support.releases import all_cases

CASES = all_cases()


def test_names_are_unique():
    assert len({case.name for case in CASES}) == len(CASES)


def test_every_query_of_the_library_has_a_case():
    assert {type(case.query) for case in CASES} >= set(every_query())


def test_an_answer_that_cannot_be_recorded_is_still_the_caller_s(tmp_path):
    budget = dp.Budget(1.0, neighbours="edge", path=tmp_path / "budget")
    objective = dp.Objective([0.0, 1.0], dp.GlobalSensitivity(1, "edge"))

    def vanish(_name, draw, *_):
        budget.path.unlink()
        return draw()

    with (
        samplers.intercepted(vanish),
        pytest.warns(UserWarning, match="recorded"),
    ):
        release = dp.PermuteAndFlip(epsilon=0.5).release(objective, budget=budget)

    assert len(release.answer) == 1
