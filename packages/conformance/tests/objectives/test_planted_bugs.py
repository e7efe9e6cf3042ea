"""A gallery of planted bugs: each is found, and by the check that is there for it.

``report.failed`` is compared as a whole, so a check that is taken out of the checker, or that
passes everything, makes its row fail. Values above the bound are in the errata.
"""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import AuditError, ParameterError

pytestmark = pytest.mark.slow

AR, EDGE = dp.Neighbours.ADD_REMOVE, dp.Neighbours.EDGE
BALLOTS = [x for n in range(5) for x in combinations_with_replacement("ab", n)]
DEFAULT_SCALINGS = ["by_global", "dampened", "anchored", "pairwise", "generalized"]
DEFAULT_SCALINGS += ["shifted, non-decreasing", "shifted, non-increasing"]


def tally(x):
    return [x.count("a"), x.count("b")]


def element(at, bound=1.0, horizon=6, kind=dp.ElementSensitivity):
    return kind(at, bound, AR, horizon=horizon)


def known(bound=1, relation=AR, **more):
    return dp.GlobalSensitivity(bound, relation, **more)


def growing(x):
    """Admissible and far from flat: nothing is smaller than the single vote it bounds."""
    return lambda t: [1 + x.count("a") + t, 2.0]


def sound(x):
    return dp.Objective(tally(x), element(growing(x), bound=9.0), candidates=["a", "b"])


def check(made, scalings=None, **options):
    """Return the report of objectives, or of the tally with sensitivities, by database."""

    def objective_of(x):
        found = made(x)
        return found if isinstance(found, dp.Objective) else dp.Objective(tally(x), found)

    return dp.audit.check_admissible(objective_of, BALLOTS, AR, scalings=scalings, **options)


def test_nothing_is_found_where_nothing_is_wrong():
    report = check(sound)

    report.raise_if_failed()
    assert report.failed == ()
    assert [finding.check for finding in report.findings] == [
        *("public parts", "condition (i)", "condition (ii)", "bounded", "global bound"),
        *("l1", "step", "monotone", "sums"),
        *(f"unit scores: {name}" for name in DEFAULT_SCALINGS),
    ]


def stale(method, change, bound=9.0):
    """Return sensitivities of which one method tells what was right before a change."""

    def changed(self, *given):
        return change(getattr(dp.ElementSensitivity, method)(self, *given), *given)

    kind = type("Stale", (dp.ElementSensitivity,), {method: changed})
    return lambda x: element(growing(x), bound, kind=kind)


def beyond(found, distance):
    """Where no score reaches."""
    return found + 0.5 * (np.ndim(distance) == 0 and distance == 6)


def beyond_of_one_each(found, distance):
    """The same where every candidate has a distance of its own."""
    return found + 0.5 * ((np.asarray(distance) == 6) & (np.ndim(distance) == 1))


class NeverJumps(dp.ElementSensitivity):
    def at(self, distance):
        return np.asarray(self._local(distance), dtype=float)


def half_at_itself(_):
    return element(lambda t: [0.5 if t == 0 else 1.0, 1.0])


def seen_only(x):
    candidates = sorted(set(x)) or ["a", "b"]
    return dp.Objective([x.count(name) for name in candidates], known(), candidates)


def most_common_first(x):
    order = sorted("ab", key=x.count)
    return dp.Objective([x.count(name) for name in order], known(2), order)


PLANTED = {
    "condition (i)": {
        "half the sensitivity at the database itself": half_at_itself,
        "1,000 times too small beside a large bound": lambda _: element(
            lambda _: [1e-3, 1.0], bound=1e10, horizon=99
        ),
        "a score of 0 with a rounding error, which no step changes": lambda x: dp.Objective(
            [-1e-17 if x == () else 0.0, 0.0],
            element(lambda t: [0.0 if t < 3 else 1.0, 1.0]),
        ),
    },
    "condition (i); global bound": {
        "more than a rounding error": lambda _: known(1 - 1e-8),
        "one candidate 1,000 times too small beside a large one": lambda _: element(
            lambda _: [1.0, 1.0], bound=[1e-3, 1e10], horizon=99
        ),
    },
    "condition (ii)": {
        "a fall by 1,000 beside a large bound": lambda _: element(
            lambda t: [1e3 if t < 2 else 1, 1], 1e13, horizon=99
        ),
        "neighbours that are forgotten": lambda x: element(
            lambda t: [2.0 if t == 0 and not x else 1.0, 1.0], bound=2.0
        ),
        "a fall with the distance": lambda _: element(
            lambda t: [2.0 - 0.5 * min(t, 2), 1.0], bound=2.0
        ),
    },
    "sums": {
        "beside a large bound": stale("cumulative", beyond, 1e10),
        "of all candidates": stale("cumulative", beyond),
        "for one distance each": stale("cumulative", beyond_of_one_each),
        "a shortfall": stale("shortfall", lambda found: found + 0.5),
        "intervals": stale("locate", lambda found, _: found._replace(width=found.width + 0.5)),
        "zeros that are not there": stale("leading_zeros", lambda found, *_: found + 1),
    },
    "monotone": {
        "a false claim, of a small sensitivity": lambda x: dp.Objective(
            [1e12 * x.count("a"), -x.count("a")],
            element(lambda _: [1e12, 1.0], 1e12),
            monotone=True,
        ),
        "a false claim": lambda x: dp.Objective(
            [x.count("a"), -x.count("a")], known(), monotone=True
        ),
    },
    "bounded": {
        "no jump to the bound": lambda _: element(lambda _: [1.0, 1.0], 2.0, kind=NeverJumps)
    },
    "global bound": {
        "one candidate's bound": lambda _: element(lambda _: [1, 1], [1.0, 0.5], horizon=0)
    },
    "l1": {
        "of one count where a record has two values": lambda x: dp.Objective(
            [x.count("a") + x.count("b"), x.count("b")], known(l1=1)
        )
    },
    "step": {
        "halves that are claimed to be integers": lambda x: dp.Objective(
            [x.count("a") / 2, x.count("b")], known(), step=1
        ),
    },
    "public parts": {
        "an l1 of the data": lambda x: known(l1=2 + len(x)),
        "a step of the data": lambda x: dp.Objective(
            tally(x), known(), step=1 if len(x) > 2 else None
        ),
        "candidates that occur in the data": seen_only,
        "candidates ordered by the data": most_common_first,
        "a bound of each of the data": lambda x: element(
            lambda _: [1, 1], [5, max(1, x.count("b"))], 20
        ),
        "a horizon of the data": lambda x: element(lambda _: [1, 1], horizon=len(x) + 9),
        "a relation of the data": lambda x: known(relation=EDGE if len(x) > 2 else AR),
        "a relation that is not the one enumerated": lambda _: known(relation=EDGE),
        "a monotone claim of the data": lambda x: dp.Objective(
            tally(x), known(), monotone=len(x) > 2
        ),
    },
}
"""Objectives, or sensitivities of the tally, by the checks that find what is wrong."""


ROWS = [(checks, name) for checks, planted in PLANTED.items() for name in planted]


@pytest.mark.parametrize(("checks", "name"), ROWS)
def test_a_planted_bug_is_found_by_the_check_made_for_it(checks, name):
    failed = tuple(checks.split("; "))
    report = check(PLANTED[checks][name], scalings={})

    assert report.failed == failed
    assert not report.ok
    assert all(report.finding(one).excess > 0 for one in failed)
    with pytest.raises(AuditError):
        report.raise_if_failed()


def test_every_condition_has_a_planted_bug():
    found = {checks for checks in PLANTED if ";" not in checks}

    assert found == {finding.check for finding in check(sound, scalings={}).findings}


@pytest.mark.parametrize("name", DEFAULT_SCALINGS)
def test_every_scaling_meets_an_inadmissible_sensitivity(name):
    """Scores that jump by 6 at one database, under sensitivities near 1."""

    def objective_of(x):
        jump = 6.0 * (len(x) >= 2)
        return dp.Objective([jump, -jump, x.count("b")], element(lambda _: [1.0, 1.0, 0.5]))

    assert f"unit scores: {name}" in check(objective_of).failed


def doubled(objective):
    return 2 * dp.scaling.by_global(objective)


def translated(objective):
    """Unit scores up to a translation, which is far from the same at both neighbours."""
    return dp.scaling.by_global(objective) + 10 * objective.scores.sum()


@pytest.mark.parametrize(
    ("name", "scale", "failed"),
    [
        ("mine", doubled, ()),
        ("mine", lambda one: 1.1 * doubled(one), ("unit scores: mine",)),
        ("mine", translated, ()),
        ("dampened", translated, ("unit scores: dampened",)),
    ],
)
def test_a_scaling_may_translate_all_scores_but_not_move_a_difference_by_more_than_two(
    name, scale, failed
):
    assert check(lambda _: known(), scalings={name: scale}).failed == failed


@pytest.mark.parametrize(
    "draw",
    [dp.draws.Exponential(), dp.draws.PermuteAndFlip(), dp.draws.LaplaceNoisyMax()],
    ids=str,
)
def test_a_loss_that_underflows_is_found_by_logarithms(draw):
    """Scores 1,000 and 4,000 behind: a loss of 1,500 nats that both laws show as 0."""

    def scores(bits):
        return np.array([0.0, -4000.0 if bits == (1,) else -1000.0 if bits == (0,) else 0.0])

    pair = [(0,), (1,)]
    hidden, found = (
        dp.audit.check_private(
            lambda x, law=law: law(2 * scores(x), 1.0), pair, "substitute", 1.0, log=log
        )
        for law, log in ((draw.probabilities, False), (draw.log_probabilities, True))
    )

    assert (hidden.ok, hidden.unseen, "hides a loss" in str(hidden)) == (True, 1, True)
    assert (found.ok, found.unseen, "hides" in str(found)) == (False, 0, False)
    assert found.loss == pytest.approx(3000, rel=1e-9 if draw.name != "laplace" else 1e-2)


def test_the_worst_case_and_the_part_that_is_not_public_are_named():
    report = check(half_at_itself, scalings={})
    found = report.finding("condition (i)")

    assert abs(found.worst.x.count("a") - found.worst.y.count("a")) == 1
    assert (found.worst.distance, found.worst.candidate, found.excess) == (0, 0, 0.5)
    assert "FAIL  condition (i)" in str(report)
    assert "by 0.5" in str(report)
    assert "the number of candidates is not" in str(check(seen_only))
    assert "the candidates are not" in str(check(most_common_first))
    assert "all other conditions" in str(check(seen_only))


def test_what_holds_is_believed_with_its_slack_and_but_for_rounding():
    monotone = check(lambda x: dp.Objective(tally(x), known(), step=0.5, monotone=True))
    slack = check(lambda _: known(1.25), scalings={})

    assert monotone.ok
    assert monotone.finding("monotone").excess <= 0
    assert monotone.finding("unit scores: by_global").excess == 0
    assert slack.finding("condition (i)").excess == -0.25
    assert "slack 0.25" in str(slack)
    with pytest.raises(ParameterError):
        slack.finding("condition (iii)")
    assert check(lambda _: known(1 - 1e-12), scalings={}).ok


def test_tightness_is_judged_where_the_universe_is_complete_and_up_to_the_horizon():
    def objective_of(x):
        return dp.Objective([len(x) ** 2], element(lambda t: [2 * (len(x) + t) + 1], 99.0, 99))

    def beyond(_):
        return element(lambda _: [1.0, 1.0], bound=5.0, horizon=1)

    def inside(x):
        return len(x) < 4

    everywhere = check(objective_of, scalings={})
    nowhere = check(objective_of, scalings={}, complete=lambda _: False)

    assert (everywhere.ok, everywhere.tight) == (True, False)
    assert everywhere.tightness.gap > 0
    # x of n records is complete for t < 4 - n; there are 10 databases, with 2 candidates.
    for made in (objective_of, beyond):
        report = check(made, scalings={}, complete=inside)
        assert (report.tight, report.tightness.cells) == (True, 20)
    assert not nowhere.tight
    assert "no cell" in str(nowhere)


def test_an_objective_that_raises_is_found():
    def objective_of(x):
        if len(x) == 2:
            raise ValueError("no two")
        return sound(x)

    report = check(objective_of)

    assert report.failed == ("objective",)
    assert "ValueError: no two" in report.finding("objective").states
    assert report.finding("objective").worst.x == ("a", "a")
    assert "x = ('a', 'a')" in str(report)


def test_distances_are_checked_as_far_as_asked():
    """The bug is at distance 3; the universe alone would show it up to distance 9."""

    def late(_):
        return element(lambda t: [2.0 if t == 3 else 1.0, 1.0], bound=2.0, horizon=20)

    assert check(late, scalings={}, max_distance=3).ok
    assert check(late, scalings={}, max_distance=4).failed == ("condition (ii)",)
    assert check(late, scalings={}).max_distance == 9


def test_a_shortfall_without_end_is_skipped_and_said_so():
    report = check(lambda x: element(growing(x), 9.0, horizon=2**20))

    assert report.ok
    assert len(report.skipped) == 1
    assert "skip  unit scores: shifted" in str(report)
