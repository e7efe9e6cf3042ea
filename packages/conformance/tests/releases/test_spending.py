"""Releases that spend first and that do not, step by step, and what the report says of each."""

import sys
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import opendp.prelude as opendp
import pytest

import dpselect as dp
from dpselect.draws.exact import selection
from dpselect.errors import AuditError, InsufficientBudgetError
from dpselect.plan import Plan, Spend
from dpselect.release import Release
from dpselect_conformance import check_spends_first

AR = dp.Neighbours.ADD_REMOVE
PLAN = Plan(
    name="mine", mechanism="mine", spends=(Spend("all", 0.5),), epsilon=0.5, neighbours=AR
)
RELEASE = Release((0,), PLAN, exact=True)


def check(release, **options):
    return check_spends_first(release, total=1.0, neighbours=AR, **options)


# Steps of a release: functions of its budget and of what was spent last.


def pay(budget, _=None, epsilon=0.5):
    return budget.spend(epsilon, neighbours=AR, mechanism="mine")


def pay_some(budget, _):
    return pay(budget, epsilon=0.25)


def pay_by_the_class(budget, _):
    return dp.Budget.spend(budget, 0.5, neighbours=AR, mechanism="mine")


def pay_whatever_is_said(budget, _):
    try:
        return pay(budget)
    except InsufficientBudgetError:
        return None


def refund(budget, entry):
    dp.Budget.refund(budget, entry, 0.25)


def refund_in_the_store(budget, entry):
    budget._store.refund(entry, 0.25)


def refund_by_another_handle(budget, entry):
    budget.for_request(note="another").refund(entry, 0.25)


def draw(*_):
    selection.top_k_gumbel_noise(np.array([0.0, 1.0, 2.0]), 0.5, 1)


def draw_in_a_thread(*_):
    worker = threading.Thread(target=draw)
    worker.start()
    worker.join()


def measurement():
    opendp.enable_features("contrib")
    space = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)
    return opendp.m.make_laplace(*space, scale=1.0)


def build_with_opendp(*_):
    """A measurement may be built before the spend."""
    measurement()


def draw_with_opendp(*_):
    measurement()(3)


def coin(*_):
    """Noise of one's own, as of NumPy, which passes unless it is named."""


def states(outcome):
    return lambda *_: outcome


def made_of(steps):
    def release(budget):
        spent = None
        for step in steps:
            made = step(budget, spent)
            spent = spent if made is None else made
        return spent

    return release


BEFORE = "ran before the first spend"
MINE = {"samplers": [coin]}
DEAR = replace(PLAN, delta=0.25)
LESS = "the release states delta = 0.25 and spent 0"
STEPS = [
    *(([pay, one], "") for one in (draw, draw_with_opendp)),
    *(([one, pay], BEFORE) for one in (draw, draw_with_opendp)),
    ([draw, pay], "ran although the spend was refused"),
    ([draw_in_a_thread, pay], BEFORE),
    ([build_with_opendp, pay, draw_with_opendp], ""),
    ([pay_by_the_class, draw], ""),
    ([pay_some, pay_some, draw, states(RELEASE)], ""),
    ([pay_some, draw, pay_some, states(RELEASE)], "noise ran before the last spend"),
    ([draw], "nothing was spent"),
    ([pay, coin], "no exact sampler ran"),
    ([pay, coin], "", MINE),
    ([coin, pay, draw], ""),
    ([coin, pay, draw], BEFORE, MINE),
    ([pay, draw, draw, refund], ""),
    *(
        ([pay, draw, one, draw], "ran after a refund")
        for one in (refund, refund_in_the_store, refund_by_another_handle)
    ),
    ([pay_whatever_is_said, draw], "a refused spend did not stop the release"),
    ([pay_some, draw, states(RELEASE)], "the release states epsilon = 0.5 and spent 0.25"),
    ([pay, draw, states(SimpleNamespace(plan=DEAR))], LESS, {"delta": 0.5}),
    ([pay, draw, states(SimpleNamespace(plan_=DEAR))], LESS, {"delta": 0.5}),
    ([pay_some, draw, states(SimpleNamespace(plan=lambda: PLAN))], ""),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "said", "options"), [(*one, {})[:3] for one in STEPS])
def test_the_report_says_what_is_wrong(steps, said, options):
    report = check(made_of(steps), **options)

    assert report.ok is not bool(said)
    assert said in str(report)
    if said:
        with pytest.raises(AuditError):
            report.raise_if_failed()


def test_a_mechanism_of_ours_spends_first():
    votes = dp.Objective([3.0, 9.0, 4.0], dp.GlobalSensitivity(1, AR))
    pairwise = dp.mechanisms.by_name("pairwise", 0.5)
    report = check(lambda budget: pairwise.release(votes, k=2, budget=budget))

    report.raise_if_failed()
    assert report.spent == (0.5,)
    # Its later rounds compare the candidates that are left.
    assert len(report.draws) == 2
    assert report.draws[0].startswith("dpselect.draws.exact.selection.top_k")
    assert str(report).startswith("spends first: epsilon = 0.5")


def test_errors_pass_and_nothing_keeps_watching():
    def release(_):
        raise KeyError("theirs")

    with pytest.raises(KeyError):
        check(release)
    assert sys.getprofile() is None
    assert threading.getprofile() is None
