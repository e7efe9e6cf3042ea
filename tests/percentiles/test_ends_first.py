"""Percentiles from both ends inwards: their privacy by enumeration, and right answers."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, permutations
from types import SimpleNamespace

import numpy as np
import pytest

import dpselect as dp
from dpselect.draws import above_threshold
from dpselect.draws.grid import ROUNDING_STEPS, STEPS_PER_UNIT
from dpselect.errors import ParameterError
from dpselect.percentiles.ends_first import Draws, EndsFirst, Left, simulated_laplace
from dpselect.percentiles.ranks import ranks_of
from dpselect.percentiles.reading import Records
from dpselect.percentiles.split_tree import price_of_draw, split_tree
from dpselect.tables.people import PeopleCap
from support.neighbours import are_neighbours
from support.refusals import refused

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
POINTS = np.arange(4.0)
WAYS = {
    "above": ((), (50.0,), (90.0, 95.0)),
    "below": ((5.0, 10.0), (50.0,), ()),
    "both": ((10.0,), (50.0,), (90.0,)),
}
NUMBERS, COUNTS = (1, 39), (0, 2)
EPSILON = 2.0


def of(way, relation=BOTH[0], *, points=POINTS, epsilon=EPSILON, users=None, assumed=3):
    records = Records(relation, "v" if users else None, users)
    return EndsFirst(*WAYS.get(way, way), points, records, epsilon, assumed)


class OpenError(Exception):
    """A draw that a transcript does not state, with the laws of its outcomes."""


def masses(count, scale, outcomes):
    q = np.exp(-1 / scale)
    return {one: (1 - q) / (1 + q) * q ** abs(one - count) for one in outcomes}


@cache
def stops(queries, scale):
    law = above_threshold.stop_probabilities(np.array(queries), 0, scale, scale, 1)[0]
    return dict(enumerate(law.tolist()))


def transcripts(method, database, number):
    """Return the probability of each outcome of every draw after a noisy number of records."""
    values = np.array(database, dtype=float)
    ranks = ranks_of(values, method.points)
    found, waiting = {}, [((), 1.0)]
    while waiting:
        path, chance = waiting.pop()
        left = list(path)

        def draw(law, left=left):
            if not left:
                raise OpenError(law)
            return left.pop(0)

        def middle(_, shares, first, last, rest, draw=draw):
            [start], [end] = method.records_left(ranks, rest)
            here = Records(BOTH[0]).of(np.sort(values)[start:end])
            by = method.by_halves(shares, first, last)
            law = by.probabilities(here)[0].tolist()
            return np.array([[draw(dict(zip(by.points.tolist(), law, strict=True)))]])

        def stop(queries, sizes, draw=draw):
            some = tuple(queries[0, : sizes[0]].tolist())
            return np.array([draw(stops(some, method.noise_scale))])

        def noisy(scale, outcomes, draw=draw):
            return lambda counts: np.array([draw(masses(int(counts[0]), scale, outcomes))])

        by = Draws(stop, noisy(method.count_scale, COUNTS))
        try:
            method.follow(ranks, np.array([number]), by, middle)
            found[path] = chance
        except OpenError as asked:
            waiting += [((*path, one), chance * p) for one, p in asked.args[0].items()]
    return found


def largest_loss(method, near, most=2):
    """Return the largest log ratio over all neighbours of at most so many records."""
    values = (-1.0, 0.0, 1.0, 2.0, 9.0)
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


@pytest.mark.parametrize(
    ("way", "relation"),
    [
        pytest.param(way, one, marks=[pytest.mark.slow] * ((at + of) % 2))
        for at, way in enumerate(WAYS)
        for of, one in enumerate(BOTH)
    ],
)
def test_every_transcript_is_private(way, relation):
    loss = largest_loss(of(way, relation), are_neighbours(relation))

    assert EPSILON * 0.6 < loss <= EPSILON * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_transcript_of_three_records_is_private(way):
    assert largest_loss(of(way), are_neighbours(BOTH[0]), most=3) <= EPSILON * (1 + 1e-9)


def within(most, *, both_ways):
    """Whether databases differ by so many records that go and come, or that go or come."""

    def near(one, other):
        gone, new = Counter(one) - Counter(other), Counter(other) - Counter(one)
        changed = (gone.total(), new.total())
        return max(changed) <= most and (both_ways or min(changed) == 0)

    return near


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


def planted(bug, way, relation):
    """Return a method with a bug."""

    class Wrong(EndsFirst):
        @property
        def steps(self):
            return 1 if bug == "one step" else super().steps

        @property
        def count_scale(self):
            return super().count_scale / (4 if bug == "little noise" else 1)

        def records_left(self, ranks, left):
            every = bug == "middle of all"
            start, end = super().records_left(ranks, left)
            return (0 * start, ranks.numbers) if every else (start, end)

        def counts(self, p, ranks, left):
            counts, at = super().counts(p, ranks, left)
            [high] = left.high
            if bug == "parts overlap" and high < self.points.size:
                counts += ranks.numbers - ranks.below[:, high]
            return counts, at

    return Wrong(*WAYS[way], POINTS, Records(relation), EPSILON, 3)


@pytest.mark.parametrize(
    ("bug", "way", "relation"),
    [
        ("one step", "above", BOTH[1]),
        ("little noise", "above", BOTH[0]),
        ("middle of all", "both", BOTH[0]),
        ("parts overlap", "above", BOTH[0]),
    ],
)
def test_planted_bugs_are_caught(bug, way, relation):
    loss = largest_loss(planted(bug, way, relation), are_neighbours(relation))

    assert loss > EPSILON * 1.01


@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("most", [1, 2, 5, 50])
@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_records_in_parts_and_in_the_middle_pay_for_all_rounding(relation, most, number):
    """Records in the middle move scores by their part of a person, and all by the rounding.

    A person who is replaced has two such steps, each from or to no record.
    """
    middle = tuple(np.linspace(30, 70, number))
    way = ((10.0,), middle, (90.0,))
    method = of(way, relation, users=PeopleCap("who", most), epsilon=1.0)
    tree = split_tree(tuple(one / 100 for one in middle), method.of_middle)
    levels = {node.level: price_of_draw(node, BOTH[0]) for node in tree.all()}
    of_one_record = method.epsilon / method.steps

    def in_the_middle(records):
        return sum(
            price
            / (STEPS_PER_UNIT + ROUNDING_STEPS)
            * (records / most * STEPS_PER_UNIT + 2 ** (level - 1) * ROUNDING_STEPS)
            for level, price in levels.items()
        )

    for records in range(1, most + 1):
        assert in_the_middle(records) <= records * of_one_record * (1 + 1e-14)
    assert in_the_middle(1) > of_one_record * 0.998


def test_a_person_pays_for_every_record():
    users = PeopleCap("who", 3)
    for relation, steps in zip(BOTH, (3, 6), strict=True):
        one, person = of("both", relation), of("both", relation, users=users)

        assert person.steps == steps
        assert person.count_scale == pytest.approx(3 * one.count_scale)
        assert person.noise_scale == pytest.approx(3 * one.noise_scale)


@pytest.mark.parametrize("values", [[], [1.0], [7.0] * 50, [-7.0] * 50])
def test_any_records_have_ascending_answers_among_the_candidates(values):
    for epsilon in (1e-3, 1.0, 100.0):
        method = of("both", epsilon=epsilon, assumed=1000)
        draw = method.prepare(method.records.of(np.array(values)), len(values))
        for _ in range(20):
            found = draw()

            assert list(found) == sorted(found)
            assert set(found) <= {0.0, 1.0, 2.0, 3.0}


class OfNoisyNumber(EndsFirst):
    """A method whose first part is the lowest candidate."""

    @property
    def _exact(self):
        return Draws(
            stop=lambda _, sizes: np.zeros_like(sizes),
            count=lambda counts: np.full_like(counts, -3),
        )


@pytest.mark.parametrize("number", [-4, 0, 1, 2])
def test_a_noisy_number_that_orders_no_percentiles_has_an_answer(number):
    """Of 1 record all have one rank, and of fewer they decrease; the parts held -3."""
    way = ((10.0,), (25.0, 50.0, 75.0), ())
    method = OfNoisyNumber(*way, POINTS, Records(BOTH[0]), EPSILON, 3)
    draw = method.prepare(method.records.of(np.array([1.0, 2.0])), number)

    with np.errstate(all="raise"):
        for _ in range(20):
            found = draw()

            assert list(found) == sorted(found)
            assert set(found) <= set(POINTS)


@pytest.mark.parametrize("p", [1.0, 99.0])
def test_a_false_alarm_is_as_early_as_the_threshold_is_late(p):
    """By what raises it: of records that fall off as in ``thresholds``, in the mean."""
    way = ((), (), (p,)) if p > 50 else ((p,), (), ())
    few, points = 200_000 * 0.01, np.arange(2001.0)
    method = of(way, points=points, assumed=200_000, epsilon=0.02)
    noise, raised = method.noise_scale, method._raises[p]
    at = np.flatnonzero(raised)
    growth = 1 / points[at] * np.exp(raised[at] / noise)
    early = noise * (np.log(noise / (growth * few * np.log(100))) + 0.5772)

    assert at.size > 1000
    assert np.abs(early - noise).max() <= 0.51


def test_exact_draws_and_experiments_have_one_law():
    """The first value of 4,000 draws each, within 5 standard deviations of a count."""
    values = np.repeat(np.arange(20.0), 5)
    method = of(((), (), (90.0,)), points=np.arange(20.0), epsilon=0.5, assumed=100)
    ranks = ranks_of(values, method.points).some(np.zeros(4000, dtype=int))
    noisy, experiment = np.full(4000, 100), method.simulated(np.random.default_rng(0))
    drawn = method.prepare_groups(ranks, noisy)()[:, 0]
    simulated = method.follow(ranks, noisy, experiment, None)[:, 0]
    first, second = (
        np.bincount(np.array(one, int), minlength=20) for one in (drawn, simulated)
    )

    assert (np.abs(first - second) <= 5 * np.sqrt(first + second + 1)).all()


def test_noise_of_an_experiment_is_the_difference_of_two_numbers_of_failures():
    """NumPy counts trials, of which the last one is none."""
    drawn = iter(np.array(one) for one in ([5, 3], [2, 2]))
    trials = SimpleNamespace(geometric=lambda _chance, _shape: next(drawn))

    assert simulated_laplace(trials, np.array([7, 7]), 1.0).tolist() == [10, 8]


@pytest.mark.parametrize(
    ("values", "p", "answer"),
    [
        ([40] * 10_000, (5, 50, 95), (40, 40, 40)),
        ([0] * 8_000 + [1] * 2_000, (10, 50, 90), (0, 0, 1)),
        ([1] * 9_700 + [2] * 250 + [3] * 50, (50, 90), (1, 1)),
        ([0] * 300 + [1] * 9_700, (5, 50, 90), (1, 1, 1)),
        ([7] * 100 + [9] * 9_900, (5, 10, 90, 95), (9, 9, 9, 9)),
    ],
    ids=str,
)
def test_parts_that_hold_a_percentile_of_the_other_end_answer_it(values, p, answer):
    """A part can hold nearly all records: what is left then says nothing."""
    high = tuple(float(one) for one in p if one >= 85)
    low = tuple(float(one) for one in p if one <= 15)
    middle = tuple(float(one) for one in p if 15 < one < 85)
    method = of((low, middle, high), points=np.arange(61.0), epsilon=1.0, assumed=10_000)
    draw = method.prepare(method.records.of(np.array(values, dtype=float)), 10_000)

    assert {draw() for _ in range(30)} == {answer}


def test_what_is_left_bounds_the_middle():
    method = of("both", points=np.arange(10.0))
    left = replace(Left.of_all(10, np.full(3, 5)), low=np.array([0, 3, 10]))
    first, last = method.within(replace(left, high=np.array([10, 6, 10])))

    assert first.tolist() == [0, 2, 9]
    assert last.tolist() == [9, 6, 9]


def test_there_is_no_closed_law_and_no_epsilon_below_the_limit_of_the_noise():
    with pytest.raises(ParameterError):
        of("both").probabilities(Records(BOTH[0]).of(np.arange(3.0)))
    with refused("epsilon"):
        of("both", epsilon=1e-300)
