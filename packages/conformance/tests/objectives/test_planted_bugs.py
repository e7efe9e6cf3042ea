"""A gallery of planted bugs: each is found, and by the check that is there for it.

``report.failed`` is compared as a whole, so a check that is taken out of the checker, or that
passes everything, makes its row fail.
"""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import AuditError, ParameterError

pytestmark = pytest.mark.slow

AR = dp.Neighbours.ADD_REMOVE
BALLOTS = [x for n in range(5) for x in combinations_with_replacement("ab", n)]
DEFAULT_SCALINGS = ["by_global", "dampened", "anchored", "pairwise", "generalized"]
DEFAULT_SCALINGS += ["shifted, non-decreasing", "shifted, non-increasing"]


def tally(x):
    return [x.count("a"), x.count("b")]


def element(at, bound=1.0, horizon=6):
    return dp.ElementSensitivity(at, bound, AR, horizon=horizon)


def growing(x):
    """Admissible and far from flat: nothing is smaller than the single vote it bounds."""
    return lambda t: [1 + x.count("a") + t, 2.0]


def sound(x):
    return dp.Objective(tally(x), element(growing(x), bound=9.0), candidates=["a", "b"])


def check(objective_of, scalings=None, **options):
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


class StaleSums(dp.ElementSensitivity):
    """A sum kept from before the values were changed, where no score reaches."""

    def cumulative(self, distance):
        stale = np.ndim(distance) == 0 and distance == 6
        return super().cumulative(distance) + 0.5 * stale


class StaleSumsOfOneEach(dp.ElementSensitivity):
    """The same where every candidate has a distance of its own."""

    def cumulative(self, distance):
        stale = (np.asarray(distance) == 6) & (np.ndim(distance) == 1)
        return super().cumulative(distance) + 0.5 * stale


class StaleShortfall(dp.ElementSensitivity):
    def shortfall(self):
        return super().shortfall() + 0.5


class StaleIntervals(dp.ElementSensitivity):
    def locate(self, heights):
        found = super().locate(heights)
        return found._replace(width=found.width + 0.5)


class StaleZeros(dp.ElementSensitivity):
    def leading_zeros(self, positions, most):
        return super().leading_zeros(positions, most) + 1


class AboveItsBound(dp.ElementSensitivity):
    def at(self, distance):
        if distance >= self.horizon:
            return np.asarray(self.bound)
        return np.asarray(self._local(distance), dtype=float)


class NeverJumps(dp.ElementSensitivity):
    def at(self, distance):
        return np.asarray(self._local(distance), dtype=float)


def of_sensitivity(sensitivity_of):
    return lambda x: dp.Objective(tally(x), sensitivity_of(x))


def seen_only(x):
    candidates = sorted(set(x)) or ["a", "b"]
    return dp.Objective(
        [x.count(name) for name in candidates], dp.GlobalSensitivity(1, AR), candidates
    )


def most_common_first(x):
    order = sorted("ab", key=x.count)
    return dp.Objective([x.count(name) for name in order], dp.GlobalSensitivity(2, AR), order)


PLANTED = {
    "condition (i)": {
        "half the sensitivity at the database itself": of_sensitivity(
            lambda _: element(lambda t: [0.5 if t == 0 else 1.0, 1.0])
        ),
        "a sensitivity 1,000 times too small beside a large bound": of_sensitivity(
            lambda _: element(lambda _: [1e-3, 1.0], bound=1e10, horizon=99)
        ),
        "a score of 0 with a rounding error, which no step changes": lambda x: dp.Objective(
            [-1e-17 if x == () else 0.0, 0.0],
            element(lambda t: [0.0 if t < 3 else 1.0, 1.0]),
        ),
    },
    "condition (i); global bound": {
        "one candidate 1,000 times too small beside a large one": of_sensitivity(
            lambda _: element(lambda _: [1.0, 1.0], bound=[1e-3, 1e10], horizon=99)
        )
    },
    "condition (ii)": {
        "a fall by 1,000 beside a large bound": of_sensitivity(
            lambda _: element(lambda t: [1e3 if t < 2 else 1, 1], 1e13, horizon=99)
        ),
        "a sensitivity that forgets its neighbours": of_sensitivity(
            lambda x: element(lambda t: [2.0 if t == 0 and not x else 1.0, 1.0], bound=2.0)
        ),
        "a sensitivity that falls with the distance": of_sensitivity(
            lambda _: element(lambda t: [2.0 - 0.5 * min(t, 2), 1.0], bound=2.0)
        ),
    },
    "sums": {
        "stale sums beside a large bound": of_sensitivity(
            lambda x: StaleSums(growing(x), 1e10, AR, horizon=6)
        ),
        "stale cumulative sums": of_sensitivity(
            lambda x: StaleSums(growing(x), 9.0, AR, horizon=6)
        ),
        "stale cumulative sums for one distance each": of_sensitivity(
            lambda x: StaleSumsOfOneEach(growing(x), 9.0, AR, horizon=6)
        ),
        "a stale shortfall": of_sensitivity(
            lambda x: StaleShortfall(growing(x), 9.0, AR, horizon=6)
        ),
        "stale intervals": of_sensitivity(
            lambda x: StaleIntervals(growing(x), 9.0, AR, horizon=6)
        ),
        "zeros that are not there": of_sensitivity(
            lambda x: StaleZeros(growing(x), 9.0, AR, horizon=6)
        ),
    },
    "monotone": {
        "a false claim to be monotone, of a small sensitivity": lambda x: dp.Objective(
            [1e12 * x.count("a"), -x.count("a")],
            element(lambda _: [1e12, 1.0], 1e12),
            monotone=True,
        ),
        "a false claim to be monotone": lambda x: dp.Objective(
            [x.count("a"), -x.count("a")], dp.GlobalSensitivity(1, AR), monotone=True
        ),
    },
    "bounded": {
        "values above the bound": of_sensitivity(
            lambda _: AboveItsBound(lambda _: [1.5, 1.5], 1.0, AR, horizon=60)
        ),
        "no jump to the bound": of_sensitivity(
            lambda _: NeverJumps(lambda _: [1.0, 1.0], 2.0, AR, horizon=6)
        ),
    },
    "global bound": {
        "one candidate's bound too small": of_sensitivity(
            lambda _: element(lambda _: [1.0, 1.0], bound=[1.0, 0.5], horizon=0)
        )
    },
    "l1": {
        "an l1 of one count where a record has two values": lambda x: dp.Objective(
            [x.count("a") + x.count("b"), x.count("b")], dp.GlobalSensitivity(1, AR, l1=1)
        )
    },
    "step": {
        "halves that are claimed to be integers": lambda x: dp.Objective(
            [x.count("a") / 2, x.count("b")], dp.GlobalSensitivity(1, AR), step=1
        )
    },
    "public parts": {
        "an l1 read off the data": of_sensitivity(
            lambda x: dp.GlobalSensitivity(1, AR, l1=2 + len(x))
        ),
        "a step read off the data": lambda x: dp.Objective(
            tally(x), dp.GlobalSensitivity(1, AR), step=1 if len(x) > 2 else None
        ),
        "candidates that occur in the data": seen_only,
        "candidates ordered by the data": most_common_first,
        "a maximum read off the data": of_sensitivity(
            lambda x: element(lambda _: [1, 1], max(1, *tally(x)), 20)
        ),
        "a maximum per candidate read off the data": of_sensitivity(
            lambda x: element(lambda _: [1, 1], [5, max(1, x.count("b"))], 20)
        ),
        "a horizon read off the data": of_sensitivity(
            lambda x: element(lambda _: [1, 1], horizon=len(x) + 9)
        ),
        "a relation read off the data": of_sensitivity(
            lambda x: dp.GlobalSensitivity(1, dp.Neighbours.EDGE if len(x) > 2 else AR)
        ),
        "a relation that is not the one enumerated": of_sensitivity(
            lambda _: dp.GlobalSensitivity(1, dp.Neighbours.EDGE)
        ),
        "a monotone claim read off the data": lambda x: dp.Objective(
            tally(x), dp.GlobalSensitivity(1, AR), monotone=len(x) > 2
        ),
    },
}
"""Objectives by the checks that find what is wrong with them."""


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


def test_the_part_that_is_not_public_is_named():
    assert "the number of candidates is not" in str(check(seen_only))
    assert "the candidates are not" in str(check(most_common_first))
    assert "all other conditions" in str(check(seen_only))


def test_a_true_claim_to_be_monotone_is_believed_and_used():
    report = check(lambda x: dp.Objective(tally(x), dp.GlobalSensitivity(1, AR), monotone=True))

    report.raise_if_failed()
    assert report.finding("monotone").excess <= 0
    assert report.finding("unit scores: by_global").excess == 0


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
    report = check(
        of_sensitivity(lambda _: dp.GlobalSensitivity(1, AR)), scalings={name: scale}
    )

    assert report.failed == failed


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

    assert hidden.ok
    assert hidden.unseen == 1
    assert "hides a loss" in str(hidden)
    assert not found.ok
    assert found.loss == pytest.approx(3000, rel=1e-9 if draw.name != "laplace" else 1e-2)
    assert found.unseen == 0
    assert "hides" not in str(found)


def test_the_worst_case_is_named():
    report = check(
        PLANTED["condition (i)"]["half the sensitivity at the database itself"], scalings={}
    )
    worst = report.finding("condition (i)").worst

    assert abs(worst.x.count("a") - worst.y.count("a")) == 1
    assert (worst.distance, worst.candidate) == (0, 0)
    assert report.finding("condition (i)").excess == 0.5
    assert "FAIL  condition (i)" in str(report)
    assert "by 0.5" in str(report)


def test_slack_is_reported_where_a_condition_holds():
    report = check(of_sensitivity(lambda _: dp.GlobalSensitivity(1.25, AR)), scalings={})

    assert report.finding("condition (i)").excess == -0.25
    assert "slack 0.25" in str(report)
    with pytest.raises(ParameterError):
        report.finding("condition (iii)")


def test_tightness_is_judged_where_the_universe_is_complete():
    def objective_of(x):
        return dp.Objective([len(x) ** 2], element(lambda t: [2 * (len(x) + t) + 1], 99.0, 99))

    everywhere = check(objective_of, scalings={})
    inside = check(objective_of, scalings={}, complete=lambda x: len(x) < 4)
    nowhere = check(objective_of, scalings={}, complete=lambda _: False)

    assert everywhere.ok
    assert not everywhere.tight
    assert everywhere.tightness.gap > 0
    assert inside.tight
    assert inside.tightness.cells == 20  # x of n records is complete for t < 4 - n
    assert not nowhere.tight
    assert "no cell" in str(nowhere)


def test_beyond_the_horizon_tightness_is_not_judged():
    report = check(
        of_sensitivity(lambda _: element(lambda _: [1.0, 1.0], bound=5.0, horizon=1)),
        scalings={},
        complete=lambda x: len(x) < 4,
    )

    assert report.tight
    assert report.tightness.cells == 20  # 10 databases of less than 4 records, 2 candidates


def test_distances_are_checked_as_far_as_asked():
    """The bug is at distance 3; the universe alone would show it up to distance 9."""
    late = of_sensitivity(
        lambda _: element(lambda t: [2.0 if t == 3 else 1.0, 1.0], bound=2.0, horizon=20)
    )

    assert check(late, scalings={}, max_distance=3).ok
    assert check(late, scalings={}, max_distance=4).failed == ("condition (ii)",)
    assert check(late, scalings={}).max_distance == 9


def test_a_shortfall_without_end_is_skipped_and_said_so():
    report = check(of_sensitivity(lambda x: element(growing(x), 9.0, horizon=2**20)))

    assert report.ok
    assert len(report.skipped) == 1
    assert "skip  unit scores: shifted" in str(report)


def test_rounding_is_not_a_finding():
    report = check(of_sensitivity(lambda _: dp.GlobalSensitivity(1 - 1e-12, AR)), scalings={})

    assert report.ok
    assert not check(
        of_sensitivity(lambda _: dp.GlobalSensitivity(1 - 1e-8, AR)), scalings={}
    ).ok
