"""Percentiles in parts from both ends: their privacy by enumeration, and right answers."""

from collections import Counter
from functools import cache
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

import dpselect as dp
from dpselect.draws import above_threshold
from dpselect.errors import ParameterError
from dpselect.percentiles.methods import Draws
from dpselect.percentiles.prediction import Simulated
from dpselect.percentiles.reading import Records, counts_of
from dpselect.percentiles.sparse_vector import InParts
from dpselect.tables.people import PeopleCap
from support.neighbours import are_neighbours
from support.refusals import refused

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
POINTS = np.arange(4.0)
WAYS = {
    "above": (50.0, 90.0, 95.0),
    "below": (5.0, 10.0, 50.0),
    "both": (10.0, 50.0, 90.0),
    "no middle": (10.0, 80.0, 95.0),
}
NUMBERS, COUNTS = (1, 39), (0, 2)
EPSILON = 2.0


def of(way, relation=BOTH[0], *, points=POINTS, epsilon=EPSILON, users=None, assumed=3):
    records = Records(relation, "v" if users else None, users)
    return InParts(WAYS.get(way, way), points, records, epsilon, assumed)


class OpenError(Exception):
    """A draw that a transcript does not state, with the laws of its outcomes."""


@cache
def stops(queries, scale):
    law = above_threshold.stop_probabilities(np.array(queries), 0, scale, scale, 1)[0]
    return dict(enumerate(law.tolist()))


@cache
def largest(scores, epsilon):
    objective = dp.Objective(np.array(scores), dp.GlobalSensitivity(1, BOTH[0]))
    law = dp.PermuteAndFlip(epsilon=epsilon).probabilities(objective)
    return {at: p for at, p in enumerate(law.tolist()) if p}


class Told(Draws):
    """Draws whose outcomes a transcript states; its laws are those of the mechanisms."""

    def __init__(self, path):
        self.left = list(path)

    def _draw(self, law):
        if not self.left:
            raise OpenError(law)
        return np.array([self.left.pop(0)])

    def largest(self, scores, epsilon):
        return self._draw(largest(tuple(np.array(scores)[0].tolist()), epsilon))

    def first_above(self, queries, threshold, scales):
        assert threshold == 0
        begin, end = queries.begin[0], queries.end[0]
        law = stops(tuple(np.asarray(queries)[0, begin:end].tolist()), scales[0])
        return self._draw({begin + at: p for at, p in law.items()})

    def laplace(self, counts, scale):
        q = np.exp(-1 / scale)
        return self._draw(
            {one: (1 - q) / (1 + q) * q ** abs(one - int(counts[0])) for one in COUNTS}
        )


def transcripts(method, database, number):
    """Return the probability of each outcome of every draw after a noisy number of records."""
    ranks = counts_of(np.array(database, dtype=float), method.points)
    found, waiting = {}, [((), 1.0)]
    while waiting:
        path, chance = waiting.pop()
        try:
            method.draw(ranks, np.array([number]), Told(path))
            found[path] = chance
        except OpenError as asked:
            waiting += [((*path, one), chance * p) for one, p in asked.args[0].items()]
    return found


def largest_loss(method, near, most=2):
    """Return the largest log ratio over all neighbours of at most so many records."""
    values = (-1.0, 1.0, 2.0, 9.0)  # one at each candidate, two of them from beyond
    universe = [x for n in range(most + 1) for x in combinations_with_replacement(values, n)]
    worst = 0.0
    for number in NUMBERS:
        laws = {one: transcripts(method, one, number) for one in universe}
        for one, other in permutations(universe, 2):
            if not near(one, other):
                continue
            first, second = laws[one], laws[other]
            assert first.keys() == second.keys()
            ratios = [p / second[path] for path, p in first.items() if p > 1e-250]
            worst = max(worst, float(np.log(max(ratios))))
    return worst


def within(most, *, both_ways):
    """Whether databases differ by so many records that go and come, or that go or come."""

    def near(one, other):
        gone, new = Counter(one) - Counter(other), Counter(other) - Counter(one)
        changed = (gone.total(), new.total())
        return max(changed) <= most and (both_ways or min(changed) == 0)

    return near


@pytest.mark.parametrize(
    ("way", "relation"),
    [
        ("both", BOTH[0]),
        ("no middle", BOTH[1]),
        *(pytest.param(way, BOTH[1], marks=pytest.mark.slow) for way in [*WAYS][:3]),
    ],
)
def test_every_transcript_is_private(way, relation):
    """Where rows are added or removed, of each way with three records below."""
    loss = largest_loss(of(way, relation), are_neighbours(relation))

    assert EPSILON * 0.6 < loss <= EPSILON * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_transcript_of_three_records_is_private(way):
    assert largest_loss(of(way), are_neighbours(BOTH[0]), most=3) <= EPSILON * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_every_transcript_is_private_for_a_person_of_two_records(way, relation):
    """Each person has none, one or two, also where one replaces another."""
    method = of(way, relation, users=PeopleCap("who", 2))
    near = within(2, both_ways=relation is BOTH[1])

    assert EPSILON * 0.6 < largest_loss(method, near) <= EPSILON * (1 + 1e-9)


@pytest.mark.slow
def test_a_record_replaced_by_a_missing_one_is_private():
    near = within(1, both_ways=True)

    assert largest_loss(of("both", BOTH[1]), near) <= EPSILON * (1 + 1e-9)


@pytest.mark.parametrize("values", [[], [1.0], [7.0] * 50, [-7.0] * 50])
@pytest.mark.parametrize("number", [-4, 0, 1, 2, 50])
def test_any_records_have_ascending_answers_among_the_candidates(values, number):
    for way in WAYS:
        for epsilon in (1e-3, 1.0, 100.0):
            method = of(way, epsilon=epsilon, assumed=1000)
            ranks = counts_of(np.array(values), POINTS)
            with np.errstate(all="raise", under="ignore"):
                for _ in range(5):
                    [found] = method.draw(ranks, np.array([number])).tolist()

                    assert found == sorted(found)
                    assert set(found) <= {0.0, 1.0, 2.0, 3.0}


@pytest.mark.parametrize("p", [1.0, 99.0])
def test_a_false_alarm_is_as_early_as_the_threshold_is_late(p):
    """By what raises it: of records that fall off as in ``sparse_vector``, in the mean."""
    few, points = 200_000 * 0.01, np.arange(2001.0)
    method = of(tuple(sorted((p, 50.0))), points=points, assumed=200_000, epsilon=0.02)
    [part] = method.parts()
    noise, raised = method.noise_scale(is_last=part.is_last), method.raised(part)
    visited = points if part.upwards else points[::-1]
    at = np.flatnonzero(raised)
    growth = 1 / visited[at] * np.exp(raised[at] / noise)
    early = noise * (np.log(noise / (growth * few * np.log(100))) + 0.5772)

    assert at.size > 1000
    assert np.abs(early - noise).max() <= 0.51


@pytest.mark.parametrize("p", [(10.0, 90.0), (25.0, 50.0, 75.0)])
def test_exact_draws_and_experiments_have_one_law(p):
    """Each value of 4,000 draws, within 5 standard deviations of a count."""
    values = np.repeat(np.arange(20.0), 5)
    method = of(p, points=np.arange(20.0), epsilon=0.5, assumed=100)
    ranks = counts_of(values, method.points).some(np.zeros(4000, dtype=int))
    noisy = np.full(4000, 100)
    both = (
        method.draw(ranks, noisy),
        method.draw(ranks, noisy, Simulated(np.random.default_rng(0))),
    )
    for columns in zip(*(drawn.astype(int).T for drawn in both), strict=True):
        first, second = (np.bincount(one, minlength=20) for one in columns)

        assert (np.abs(first - second) <= 5 * np.sqrt(first + second + 1)).all()


def test_there_is_no_closed_law_and_no_epsilon_below_the_limit_of_the_noise():
    with pytest.raises(ParameterError):
        of("both").probabilities(counts_of(np.arange(3.0), POINTS))
    with refused("epsilon"):
        of("both", epsilon=1e-300)


@pytest.mark.parametrize(
    "p", [(1, 5, 90), (1, 5, 10, 90), (10, 50, 90), (5, 90, 95, 99)], ids=str
)
@pytest.mark.parametrize("value", range(4))
def test_what_a_part_from_the_other_end_holds_is_found_there(p, value):
    """Of records that are all alike, with more percentiles than candidates, too."""
    for last in (value, value + 1, 9):
        query = dp.Percentiles(
            p=p, candidates=range(last + 1), epsilon=1e4, neighbours="add-remove"
        )
        assert query.release([value] * 10).answer == (value,) * len(p)
