"""Studies: runs that are asked for and told, a hidden number of them."""

import copy
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

import dpselect as dp
from dpselect.draws.exact import samplers
from dpselect.errors import BudgetError, InsufficientBudgetError, ParameterError
from dpselect_applications.tuning import Geometric, Poisson, PrivateStudy

BEST = dp.BestOf(
    repetitions=Geometric(mean=4), rho_per_run=0.02, delta=1e-6, neighbours="add-remove"
)


def studied(candidates, query=BEST, budget=None, score=float):
    study = PrivateStudy(candidates, query, budget=budget)
    for candidate in study:
        study.tell(score(candidate), f"model {candidate}")
    return study


def test_the_first_that_reaches_the_threshold_ends_the_study():
    query = dp.BestOf(
        repetitions=Geometric(mean=1000),
        threshold=0.5,
        epsilon_per_run=0.1,
        neighbours="add-remove",
    )
    told = []
    study = PrivateStudy([0, 1], query)
    for candidate in study:
        told.append(candidate)
        study.tell(candidate)

    assert study.release.answer == (((1, None)),) or 1 not in told
    assert 1 not in told[:-1]


def test_without_a_run_nothing_is_released():
    study = studied([1], replace(BEST, repetitions=Poisson(mean=1e-9)))

    assert study.release.answer == ()


def test_it_is_charged_once_before_the_number_of_runs_is_drawn():
    events, budget = [], dp.Budget(2.0, 1e-5, neighbours="add-remove")
    study = PrivateStudy([1, 2], BEST, budget=budget)

    def drawing(_name, draw, *_):
        events.append(len(budget.entries))
        return draw()

    assert budget.entries == ()
    with samplers.intercepted(drawing):
        for candidate in study:
            study.tell(candidate, "model")
        assert study.ask() is None

    assert set(events) == {1}
    assert [entry.answer["noisy_scores"] for entry in budget.entries] == [
        list(study.release.noisy_scores)
    ]
    assert study.release.entry == 1


def test_a_budget_without_its_price_is_refused_before_a_draw():
    budget = dp.Budget(0.1, 1e-5, neighbours="add-remove")
    study = PrivateStudy([1], BEST, budget=budget)

    def drawing(*_):
        raise AssertionError("drawn")

    with samplers.intercepted(drawing), pytest.raises(InsufficientBudgetError):
        study.ask()


def test_no_score_and_no_number_of_runs_can_be_read():
    """A sampler that is handed the study finds candidates and prices alone."""
    study = studied([1, 2])
    open_names = {name for name in dir(study) if not name.startswith("_")}

    assert open_names == {"ask", "plan", "release", "tell"}
    with pytest.raises(ParameterError):
        PrivateStudy([1], BEST).release  # noqa: B018 -- the property raises


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


def test_samplers_of_optuna_propose():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    proposals = optuna.create_study(sampler=optuna.samplers.QMCSampler(seed=1))
    space = {"rate": optuna.distributions.FloatDistribution(1e-3, 1.0, log=True)}
    candidates = [proposals.ask(space).params for _ in range(16)]
    release = studied(candidates, score=lambda one: one["rate"]).release

    assert release.candidate[0] in candidates


def test_results_are_told_in_turn():
    study = PrivateStudy([1], BEST)

    with pytest.raises(ParameterError):
        study.tell(1.0)
    study.ask()
    with pytest.raises(ParameterError):
        study.ask()
    study.tell(1.0)
    with pytest.raises(ParameterError):
        study.tell(1.0)


def test_a_score_is_a_number_of_any_size():
    for score, told in ((10**400, 1), (-(10**400), 0), (float("nan"), 0), (float("inf"), 1)):
        query = dp.BestOf(
            repetitions=Geometric(mean=4),
            threshold=0.0,
            epsilon_per_run=0.1,
            neighbours="add-remove",
        )
        study = PrivateStudy([1], query)
        while study.ask() is not None:
            study.tell(score)
        assert len(study.release.answer) == told
    study = PrivateStudy([1], BEST)
    study.ask()
    for text in ("1", b"1", None, "x"):
        with pytest.raises(ParameterError):
            study.tell(text)


def test_a_copy_is_the_study_itself_and_it_is_not_pickled():
    study = PrivateStudy([1], BEST)

    assert copy.copy(study) is copy.deepcopy(study) is study
    with pytest.raises(BudgetError):
        pickle.dumps(study)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_another_process_is_refused():
    script = """
import os, sys
import dpselect as dp
from dpselect.errors import BudgetError
from dpselect_applications.tuning import Geometric, PrivateStudy
best = dp.BestOf(repetitions=Geometric(mean=4), epsilon_per_run=0.1, neighbours="edge")
study = PrivateStudy([1], best)
child = os.fork()
if child == 0:
    try:
        study.ask()
    except BudgetError:
        os._exit(7)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 7


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_kill_between_two_runs_loses_no_spend(tmp_path):
    script = """
import os, signal, sys
import dpselect as dp
from dpselect_applications.tuning import Geometric, PrivateStudy
best = dp.BestOf(repetitions=Geometric(mean=4), epsilon_per_run=0.1, neighbours="edge")
study = PrivateStudy([1], best, budget=dp.Budget(1.0, neighbours="edge", path=sys.argv[1]))
study.ask()
os.kill(os.getpid(), signal.SIGKILL)
"""
    path = tmp_path / "ledger"
    done = subprocess.run([sys.executable, "-c", script, path], check=False)
    [entry] = dp.Budget.open(path).entries

    assert done.returncode == -signal.SIGKILL
    assert (entry.epsilon, entry.answer) == (Geometric(mean=4).epsilon_of(0.1), None)
