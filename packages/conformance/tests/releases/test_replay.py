"""Replays of every releasing function, and of releases with planted faults."""

import csv
from collections import Counter
from dataclasses import replace as with_changes
from functools import partial
from math import inf
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

import dpselect as dp
from dpselect.draws import PermuteAndFlip
from dpselect.draws.exact import noisy_counts
from dpselect.errors import AuditError
from dpselect.extend import Loss
from dpselect.release import Release
from dpselect_conformance import replay
from dpselect_conformance.releases.outcomes import difference
from dpselect_conformance.releases.replays import compose
from support.releases import all_cases

AR = dp.Neighbours.ADD_REMOVE
NAMES = "abcdef"
CASES = all_cases()
MEASURED = Path(__file__).parents[2] / "benchmarks" / "results" / "replay.csv"


def test_the_stored_table_has_every_release():
    with MEASURED.open(newline="", encoding="utf-8") as file:
        measured = {row["release"] for row in csv.DictReader(file)}

    assert measured == {case.name for case in CASES}


def ballots(seed):
    """Two ballot boxes; one has one vote more."""
    votes = [str(name) for name in np.random.default_rng(seed).choice(list(NAMES[:5]), 9)]
    return votes, votes[1:]


def counted(votes, names=NAMES, bound=1.0):
    tally = [votes.count(name) for name in names]
    return dp.Objective(tally, dp.GlobalSensitivity(bound, AR), names, monotone=True)


def honest(votes):
    return dp.PermuteAndFlip(epsilon=1.0).release(counted(votes))


def factor_two(votes):
    """Draws at twice the epsilon of the plan."""
    drawn = dp.PermuteAndFlip(epsilon=2.0).release(counted(votes))
    return with_changes(drawn, plan=dp.PermuteAndFlip(epsilon=1.0).plan(neighbours=AR))


def candidates_off_the_data(votes):
    return dp.PermuteAndFlip(epsilon=1.0).release(counted(votes, sorted(set(votes))))


def noisy(counts, scale=1.0):
    drawn = noisy_counts.discrete_laplace(np.array(counts), scale)
    return Release(tuple(drawn.tolist()), PLAN, exact=True)


def bound_off_the_data(votes):
    """Noise for the largest count that there is."""
    counts = [votes.count(name) for name in NAMES]
    return noisy(counts, float(max(counts)))


def label_changed(votes):
    """The label of the winner says whether there are nine votes."""
    drawn = honest(votes)
    return with_changes(drawn, answer=(f"{drawn.candidate}{len(votes) == 9}",))


def one_draw_not_paid_for(votes):
    drawn = honest(votes)
    return with_changes(drawn, answer=(*drawn.answer, *noisy([len(votes)], 2.0).answer))


def draws_for_those_who_are_there(votes):
    drawn = [noisy([votes.count(name)]).answer[0] for name in NAMES if name in votes]
    return Release(tuple(drawn), PLAN, exact=True)


def raises_on_one(votes):
    if len(votes) < 9:
        raise ValueError(f"only {len(votes)} votes")
    return honest(votes)


GAUSSIAN = partial(dp.NoisySequence, noise="gaussian", delta=1e-3)


def gaussian_at_twice_the_epsilon(votes):
    drawn = GAUSSIAN(epsilon=2.0, l1=1.0, step=1).release(counted(votes), 2)
    plan = GAUSSIAN(epsilon=1.0, l1=1.0, step=1).plan(2, neighbours=AR)
    return with_changes(drawn, plan=plan)


def sampler_by_the_data(votes):
    mechanism = dp.PermuteAndFlip if len(votes) == 9 else dp.ExponentialMechanism
    return with_changes(mechanism(epsilon=1.0).release(counted(votes)), plan=PLAN)


def plan_by_the_data(votes):
    plan = with_changes(PLAN, arguments={"votes": len(votes)})
    return with_changes(dp.PermuteAndFlip(epsilon=1.0).release(counted(votes)), plan=plan)


PLAN = dp.PermuteAndFlip(epsilon=1.0).plan(neighbours=AR)


def of_less_rho(drawn):
    [spend] = drawn.plan.spends
    cheaper = with_changes(spend, rho=0.99 * spend.rho)
    return with_changes(drawn, plan=with_changes(drawn.plan, spends=(cheaper,)))


def choice_of_less_rho(votes):
    return of_less_rho(honest(votes))


def counts_of_less_rho(votes):
    mechanism = dp.NoisySequence(epsilon=1.0, l1=1.0, step=1)
    return of_less_rho(mechanism.release(counted(votes), 2))


PLANTED = {
    factor_two: ("the draws use epsilon", 1.0),
    candidates_off_the_data: ("a number of inputs that depends on the data", 0.1),
    bound_off_the_data: ("public arguments that depend on the data", 0.1),
    label_changed: ("the outcome.answer[0] depends on the data", 1.0),
    one_draw_not_paid_for: ("the draws use epsilon", 1.0),
    draws_for_those_who_are_there: ("the number of draws depends on the data", 0.1),
    gaussian_at_twice_the_epsilon: ("the draws use delta", 1.0),
    raises_on_one: ("ValueError is raised on one", 1.0),
    sampler_by_the_data: ("top_k_gumbel_noise, depending on the data", 1.0),
    choice_of_less_rho: ("the draws use rho", 1.0),
    counts_of_less_rho: ("the draws use rho", 1.0),
    plan_by_the_data: ("the outcome.plan depends on the data", 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.__name__)
def test_planted_faults_are_found(fault, record_property):
    message, least = PLANTED[fault]
    reports = [replay(fault, *ballots(seed)) for seed in range(100)]
    found = [report for report in reports if not report.ok]
    record_property("share of pairs", len(found) / 100)

    assert len(found) >= 100 * least
    assert any(message in str(report) for report in found)
    with pytest.raises(AuditError):
        found[0].raise_if_failed()


def test_an_honest_release_uses_all_of_its_budget_on_some_pair():
    reports = [replay(honest, *ballots(seed)) for seed in range(100)]

    assert all(report.ok for report in reports)
    assert max(report.share for report in reports) == pytest.approx(1, abs=1e-5)
    assert str(reports[0]) == "as planned on this pair: epsilon 1 of 1, in 1 draws"


def test_gaussian_noise_uses_all_of_its_delta_on_a_pair_that_moves_by_l1():
    mechanism = GAUSSIAN(epsilon=1.0, l1=1.0, step=1)

    report = replay(lambda votes: mechanism.release(counted(votes), 3), *ballots(0))

    assert report.ok
    assert report.delta_used == pytest.approx(1e-3, rel=1e-6)


def test_no_value_of_a_database_is_in_a_report():
    marker = "77345"

    def release(votes):
        drawn = noisy([len(votes) * int(marker)])
        return with_changes(drawn, answer=(*drawn.answer, marker * (len(votes) == 9)))

    report = replay(release, *ballots(0))

    assert len(report.problems) == 3
    assert marker not in report.problems[0]
    assert "answer[1]" in report.problems[0]


def test_an_unknown_sampler_is_a_problem():
    from dpselect.draws.exact.samplers import sampler

    @sampler
    def own(votes):
        return len(votes)

    report = replay(lambda votes: own(votes) and None, *ballots(0), plan=PLAN)

    assert "own) is a sampler whose privacy loss is not known" in str(report)


def test_a_delta_pays_for_what_epsilon_does_not():
    curve = Loss(inf, lambda epsilon: 0.1 if epsilon >= 0.5 else 0.4)

    for losses, delta, used in (
        ([Loss(0.5), curve], 0.2, (1.0, 0.1)),
        ([Loss(0.6), curve], 0.2, (1.0, 0.4)),
        ([curve, curve], 0.2, (1.0, 0.2)),
        ([Loss(1.5), curve], 0.2, (inf, 0.0)),
        ([Loss(0.5), curve], 0.0, (inf, 0.0)),
        ([Loss(0.5), Loss(0, drawn=0.75), Loss(0, drawn=-0.5)], 0.0, (0.75, 0)),
    ):
        assert compose(losses, 1.0, delta) == used


def test_outcomes_are_compared_by_their_parts():
    """Arrays, NaN, mappings, attributes and cycles; a budget is no part of an outcome."""

    def outcome(**changes):
        made = SimpleNamespace(
            array=np.array([1.0, np.nan]),
            table=Counter(a=1),
            parts=[1, (2, {"x": "y"})],
            budget=dp.Budget(1.0, neighbours=AR),
        )
        made.itself = made
        made.__dict__.update(changes)
        return made

    for other, part in (
        (outcome(), None),
        (outcome(array=np.array([1.0, 2.0])), "the outcome.array"),
        (outcome(parts=[1, (2, {"x": "z"})]), "the outcome.parts[1][1][0]"),
        (outcome(table=Counter(b=1)), "the outcome.table[0].key"),
        (outcome(more=1), "the outcome"),
        (3, "the outcome"),
    ):
        assert difference(outcome(), other) == part


def test_a_draw_of_ones_own_is_not_exact():
    """It states the law of permute-and-flip, and takes the best beside an honest draw."""

    class Argmax(PermuteAndFlip):
        def sample(self, scores, epsilon, k):
            super().sample(np.zeros(scores.size), epsilon, k)
            return [int(scores.argmax())]

    mechanism = dp.LocalDampening(epsilon=1.0, draw=Argmax())
    x, y = ["a"] * 9, ["a"] * 8
    report = replay(lambda votes: mechanism.release(counted(votes)), x, y)

    assert report.epsilon_used == 0.0
    assert "was not drawn by exact samplers alone" in str(report)


def test_nothing_follows_without_a_draw_nor_from_draws_in_several_threads():
    def release(votes):
        honest(votes)
        other = Thread(target=honest, args=(votes,))
        other.start()
        other.join()
        return Release(("a",), PLAN, exact=True)

    none = replay(lambda _: Release(("a",), PLAN, exact=True), *ballots(0))
    assert none.problems == ("no sampler of dpselect.draws.exact ran",)
    assert "ran in several threads" in str(replay(release, *ballots(0)))
