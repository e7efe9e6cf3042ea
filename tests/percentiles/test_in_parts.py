"""Percentiles in parts from both ends: their privacy by enumeration, and right answers."""

from collections import Counter
from functools import cache
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

import dpselect as dp
from dpselect.percentiles.methods import Draws
from dpselect.percentiles.reading import Records, counts_of
from dpselect.percentiles.sparse_vector import InParts
from dpselect.tables.people import PeopleCap
from support.enumerated import law_of
from support.neighbours import are_neighbours
from support.ranks import log_law_of_stops
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


@cache
def stops(queries, scale):
    return dict(enumerate(np.exp(log_law_of_stops(queries, 0, (scale, scale))).tolist()))


@cache
def largest(scores, epsilon):
    objective = dp.Objective(np.array(scores), dp.GlobalSensitivity(1, BOTH[0]))
    law = dp.PermuteAndFlip(epsilon=epsilon).probabilities(objective)
    return {at: p for at, p in enumerate(law.tolist()) if p}


class Told(Draws):
    """Draws whose outcomes are asked for and kept; their laws are those of the mechanisms."""

    def __init__(self, ask):
        self.ask, self.path = ask, []

    def _draw(self, law):
        self.path.append(self.ask(law))
        return np.array(self.path[-1:])

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

    def path_of(ask):
        told = Told(ask)
        method.draw(ranks, np.array([number]), told)
        return tuple(told.path)

    return law_of(path_of)


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


def test_there_is_no_epsilon_below_the_limit_of_the_noise():
    with refused("epsilon"):
        of("both", epsilon=1e-300)
