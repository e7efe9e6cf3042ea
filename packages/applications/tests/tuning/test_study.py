"""Studies: runs that are asked for and told, a hidden number of them."""

import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect_applications.tuning import Geometric, PrivateStudy

PRICE = {"epsilon_per_run": 0.1, "neighbours": "add-remove"}
BEST = dp.BestOf(repetitions=Geometric(mean=4), **PRICE)


def test_the_first_that_reaches_the_threshold_ends_the_study():
    query = dp.BestOf(repetitions=Geometric(mean=1000), threshold=0.5, **PRICE)
    told = []
    study = PrivateStudy([0, 1], query)
    for candidate in study:
        told.append(candidate)
        study.tell(candidate)

    assert study.release.answer == (((1, None)),) or 1 not in told
    assert 1 not in told[:-1]


def test_no_score_and_no_number_of_runs_can_be_read():
    """A sampler that is handed the study finds candidates and prices alone."""
    study = PrivateStudy([1, 2], BEST)
    open_names = {name for name in dir(study) if not name.startswith("_")}

    assert open_names == {"ask", "plan", "release", "tell"}
    with pytest.raises(ParameterError):
        study.release  # noqa: B018 -- the property raises


def test_candidates_are_all_proposed_before_the_first_run():
    """What a sampler would propose after a score is never asked for."""
    proposed = []

    def sampler():
        for number in range(5):
            proposed.append(number)
            yield number

    study = PrivateStudy(sampler(), BEST)
    before = list(proposed)
    for candidate in study:
        study.tell(candidate)

    assert proposed == before == [0, 1, 2, 3, 4]


def test_results_are_told_in_turn_and_are_numbers():
    study = PrivateStudy([1], BEST)

    def refused(call, *given):
        with pytest.raises(ParameterError):
            call(*given)

    refused(study.tell, 1.0)
    study.ask()
    refused(study.ask)
    for text in ("1", b"1", None, "x"):
        refused(study.tell, text)
    study.tell(1.0)
    refused(study.tell, 1.0)


@pytest.mark.parametrize(
    ("score", "told"), [(10**400, 1), (-(10**400), 0), (float("nan"), 0), (float("inf"), 1)]
)
def test_a_score_is_a_number_of_any_size(score, told):
    query = dp.BestOf(repetitions=Geometric(mean=4), threshold=0.0, **PRICE)
    study = PrivateStudy([1], query)
    while study.ask() is not None:
        study.tell(score)
    assert len(study.release.answer) == told
