import sys
import threading
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import opendp.prelude as opendp
import pytest

import dpselect as dp
from dpselect.draws.exact import bernoulli, selection, uniform
from dpselect.errors import AuditError, InsufficientBudgetError
from dpselect.plan import Plan, Spend
from dpselect.release import Release
from dpselect_conformance import check_spends_first
from support.releases.core import MECHANISMS

AR = dp.Neighbours.ADD_REMOVE
VOTES = dp.Objective([3.0, 9.0, 4.0], dp.GlobalSensitivity(1, AR))
PLAN = Plan(
    name="mine", mechanism="mine", spends=(Spend("all", 0.5),), epsilon=0.5, neighbours=AR
)
SCORES = np.array([0.0, 1.0, 2.0])


def check(release, **options):
    return check_spends_first(release, total=1.0, neighbours=AR, **options)


def pay(budget, epsilon=0.5):
    budget.spend(epsilon, neighbours=AR, mechanism="mine")


def draw():
    return selection.top_k_gumbel_noise(SCORES, 0.5, 1)


def draw_with_opendp():
    """A mechanism that somebody wrote without our draws."""
    opendp.enable_features("contrib")
    space = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)
    return opendp.m.make_laplace(*space, scale=1.0)(3)


def coin():
    return 1


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("mechanism", MECHANISMS[:-1], ids=repr)
def test_our_mechanisms_spend_first(mechanism, k):
    report = check(lambda budget: mechanism.release(VOTES, k=k, budget=budget))

    report.raise_if_failed()
    assert report.spent == (0.5,)
    # Later rounds of these compare the candidates that are left.
    assert len(report.draws) == (k if mechanism.name in {"pairwise", "generalized"} else 1)
    assert report.draws[0].startswith("dpselect.draws.exact.selection.top_k")
    assert str(report).startswith("spends first: epsilon = 0.5")


def pays_after(sampler):
    def release(budget):
        chosen = sampler()
        pay(budget)
        return chosen

    return release


def pays_before(sampler):
    def release(budget):
        pay(budget)
        return sampler()

    return release


@pytest.mark.parametrize("sampler", [draw, draw_with_opendp])
def test_a_spend_after_the_draw_is_found(sampler):
    report = check(pays_after(sampler))

    assert check(pays_before(sampler)).ok
    assert not report.ok
    assert "ran before the first spend" in str(report)
    assert "ran although the spend was refused" in str(report)
    with pytest.raises(AuditError):
        report.raise_if_failed()


@pytest.mark.parametrize(("late", "ok"), [(True, True), (False, False)])
def test_a_refund_comes_after_the_last_draw(late, ok):
    def release(budget):
        entry = budget.spend(0.5, neighbours=AR, mechanism="mine")
        draw()
        if not late:
            budget.refund(entry, 0.25)
        draw()
        if late:
            budget.refund(entry, 0.25)

    report = check(release)

    assert report.ok is ok
    assert ok or "ran after a refund" in str(report)


def test_a_measurement_may_be_built_before_the_spend():
    def release(budget):
        space = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)
        noisy = opendp.m.make_laplace(*space, scale=1.0)
        pay(budget)
        return noisy(3)

    assert check(release).ok


def test_a_release_that_never_spends_is_found():
    assert check(lambda _: draw()).problems == ("nothing was spent",)


def test_a_draw_that_cannot_be_seen_is_no_proof():
    report = check(pays_before(coin))

    assert "no exact sampler ran" in str(report)


@pytest.mark.parametrize(("order", "ok"), [(pays_before, True), (pays_after, False)])
def test_a_sampler_of_ones_own_can_be_named(order, ok):
    assert check(order(coin), samplers=[coin]).ok is ok


def test_a_draw_in_another_thread_is_seen():
    def release(budget):
        worker = threading.Thread(target=draw)
        worker.start()
        worker.join()
        pay(budget)

    assert "ran before the first spend" in str(check(release))


def test_a_release_that_goes_on_after_a_refusal_is_found():
    def release(budget):
        try:
            pay(budget)
        except InsufficientBudgetError:
            return coin()
        return draw()

    assert check(release).problems == ("a refused spend did not stop the release",)


def test_a_release_that_states_more_than_it_spent_is_found():
    def release(budget):
        pay(budget, 0.25)
        draw()
        return Release((0,), PLAN, exact=True)

    assert check(release).problems == ("the release states epsilon = 0.5 and spent 0.25",)


@pytest.mark.parametrize("name", ["plan", "plan_"])
def test_the_plan_of_any_outcome_is_held_against_its_spends(name):
    stated = replace(PLAN, delta=0.25)

    def release(budget):
        pay(budget)
        draw()
        return SimpleNamespace(**{name: stated})

    report = check(release, delta=0.5)
    assert report.problems == ("the release states delta = 0.25 and spent 0",)


def test_a_method_called_plan_is_no_plan():
    def release(budget):
        pay(budget, 0.25)
        draw()
        return SimpleNamespace(plan=lambda: PLAN)

    assert check(release).ok


@pytest.mark.parametrize(
    "sampler",
    [lambda: uniform.sample([1, 2], 1), lambda: bernoulli.flipped([True], Fraction(1, 2))],
)
def test_the_system_s_randomness_is_seen(sampler):
    assert check(pays_before(sampler)).ok
    assert "ran before the first spend" in str(check(pays_after(sampler)))


def test_a_release_in_two_spends_adds_them_up():
    def release(budget):
        pay(budget, 0.2)
        pay(budget, 0.3)
        draw()
        return Release((0,), PLAN, exact=True)

    report = check(release)

    assert report.ok
    assert report.spent == (0.2, 0.3)


def test_errors_pass_and_nothing_keeps_watching():
    def release(_):
        raise KeyError("theirs")

    with pytest.raises(KeyError, match="theirs"):
        check(release)
    assert sys.getprofile() is None
    assert threading.getprofile() is None


def test_a_spend_after_a_draw_is_found():
    def release(budget):
        pay(budget, 0.001)
        draw()
        pay(budget, 0.499)
        return Release((0,), PLAN, exact=True)

    [problem] = check(release).problems
    assert problem.endswith("top_k_gumbel_noise ran before the last spend")


@pytest.mark.parametrize(
    "refund",
    [
        dp.Budget.refund,
        lambda budget, *refunded: budget._store.refund(*refunded),
        lambda budget, *refunded: budget.for_request(note="another").refund(*refunded),
    ],
)
def test_a_refund_through_any_handle_is_seen(refund):
    def release(budget):
        entry = budget.spend(0.5, neighbours=AR, mechanism="mine")
        draw()
        refund(budget, entry, 0.499)
        draw()

    assert "ran after a refund" in str(check(release))


def test_a_spend_through_any_handle_is_refused():
    def release(budget):
        dp.Budget.spend(budget, 0.5, neighbours=AR, mechanism="mine")
        return draw()

    assert check(release).ok


def test_the_first_lines_say_what_is_not_seen():
    """Noise of NumPy before the spend passes, unless it is named."""
    rng = np.random.default_rng(1)

    def noise():
        return rng.laplace()

    def release(budget):
        noise()
        pay(budget)
        return draw()

    assert check(release).ok
    assert "ran before the first spend" in str(check(release, samplers=[noise]))
    assert "Noise of NumPy" in str(check_spends_first.__doc__)
