"""The recursion of halves: private on every small database, by the law of all its draws."""

from dataclasses import replace
from itertools import combinations_with_replacement
from math import log2

import numpy as np
import pytest

import dpselect as dp
from dpselect.draws.grid import ROUNDING_STEPS, SENSITIVITY, STEPS_PER_UNIT
from dpselect.errors import ParameterError
from dpselect.percentiles import split_tree
from dpselect.percentiles.binary_tree import Branches, Recursive
from dpselect.percentiles.choice import AfterCount
from dpselect.percentiles.ranks import ranks_of
from dpselect.percentiles.reading import Records
from dpselect.percentiles.single import OneByOne
from support.neighbours import are_neighbours

POINTS, PARTS, EPSILON = np.arange(4.0), 2, 1.5
BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]


@pytest.fixture
def few_parts(monkeypatch):
    monkeypatch.setattr(split_tree, "MOST_PARTS", PARTS)
    monkeypatch.setattr(split_tree, "LEAST_PARTS", PARTS)
    monkeypatch.setattr(split_tree, "LAST_PARTS", PARTS)


class Enumeration:
    """The law of every outcome of all draws, and the values that each releases."""

    points = POINTS

    def __init__(self, percents, relation):
        self.relation = relation
        self.method = Recursive(percents, self.points, Records(relation), EPSILON)
        self.tree = self.method.tree
        self.values, self.laws = [], {}

    def law(self, database):
        ranks = ranks_of(np.array(database, dtype=float), self.points)
        law, self.values = self.of(self.tree, Branches.of_all(ranks))
        return law

    def of(self, half, branch):
        """Return the probabilities and the values by position, in one order for all data."""
        if half is None:
            return np.ones(1), [{}]
        # Most halves are those of many databases.
        every = (branch.weights, branch.first, branch.last)
        key = half.position, *(one.tobytes() for one in every)
        if key not in self.laws:
            self.laws[key] = self.of_half(half, branch)
        return self.laws[key]

    def of_half(self, half, branch):
        [objective] = self.method.objectives(half, branch)
        mechanism = dp.PermuteAndFlip(epsilon=self.price(half))
        laws, values = [], []
        for outcome, chance in enumerate(mechanism.probabilities(objective)):
            place, share = at(branch, outcome)
            below, above = self.split(half, branch, place, share)
            (left, lower), (right, upper) = (
                self.of(half.below, below),
                self.of(half.above, above),
            )
            laws.append(chance * np.outer(left, right).ravel())
            here = {half.position: float(self.points[place[0]])}
            values += [here | low | high for low in lower for high in upper]
        return np.concatenate(laws), values

    def price(self, half):
        return split_tree.price_of_draw(half, self.relation)

    def split(self, _half, branch, place, share):
        return branch.split(place, share)

    def of_answers(self, database):
        law = self.law(database)
        answers = [tuple(one[i] for i in sorted(one)) for one in self.values]
        places = {answer: i for i, answer in enumerate(sorted(set(answers)))}
        return np.bincount([places[one] for one in answers], law), sorted(places)

    def report(self, most=6, epsilon=EPSILON):
        least = 0 if self.relation is BOTH[0] else 1
        values = self.points.astype(int).tolist()
        sizes = range(least, most + 1)
        universe = [x for n in sizes for x in combinations_with_replacement(values, n)]
        return dp.audit.check_private(
            self.law, universe, are_neighbours(self.relation), epsilon
        )


def at(branch, outcome):
    """Return the place and the share of an outcome."""
    place, part = divmod(int(outcome), PARTS + 1)
    return branch.first + place, np.array([part / PARTS])


class SplitByTheUnreleased(Enumeration):
    """Planted: the records are split at the best candidate, not at the released one."""

    def split(self, half, branch, place, share):
        [objective] = self.method.objectives(half, branch)
        private = branch.split(*at(branch, objective.scores.argmax()))
        return tuple(map(within, private, branch.split(place, share)))


class TiesToThePrivateSide(Enumeration):
    """Planted: equal records go to the smaller half."""

    def split(self, _half, branch, place, _share):
        below, above = branch.split(place, np.zeros(1))
        smaller = below.weights.sum() <= above.weights.sum()
        return branch.split(place, np.array([float(smaller)]))


class SubstitutionPaidOnce(Enumeration):
    """Planted: what is private under add/remove is claimed under substitution.

    Of few candidates no draw loses all of its epsilon.
    """

    points = np.arange(7.0)

    def price(self, half):
        return split_tree.price_of_draw(half, BOTH[0])


class CandidatesNotClipped(Enumeration):
    """Planted: both halves may release every candidate."""

    def split(self, _half, branch, place, share):
        whole = {"first": np.zeros(1, int), "last": np.array([POINTS.size - 1])}
        return tuple(replace(side, **whole) for side in branch.split(place, share))


def within(branch, other):
    """Return the records of a branch at the places of another, those beyond at its ends."""
    weights, (first, last) = branch.weights[0], (int(other.first[0]), int(other.last[0]))
    kept = np.zeros_like(weights)
    np.add.at(kept, np.arange(weights.size).clip(first, last), weights)
    return replace(other, weights=kept[None])


def test_a_plan_says_that_a_person_who_is_replaced_pays_for_two_halves():
    said = [split_tree.composition_of(Records(relation)) for relation in BOTH]

    assert ["costs half of its step" in one for one in said] == [False, True]


@pytest.mark.parametrize("relation", BOTH)
def test_a_record_shared_by_all_halves_of_a_level_pays_each_rounding(relation):
    """Halves with parts of a record that sum to 1 move by these, and a rounding each."""
    for node in split_tree.split_tree(tuple(np.arange(1, 16) / 16), EPSILON).all():
        steps = 2 if relation is BOTH[1] and node.level > 1 else 1
        moved = STEPS_PER_UNIT + 2 ** (node.level - 1) * ROUNDING_STEPS
        of_one_step = split_tree.price_of_draw(node, relation) / SENSITIVITY

        assert steps * moved * of_one_step == pytest.approx(node.epsilon, rel=1e-14)


@pytest.mark.slow
@pytest.mark.usefixtures("few_parts")
@pytest.mark.parametrize(
    ("relation", "pairs", "worst"), [(BOTH[0], 504, 1.266), (BOTH[1], 756, 0.976)], ids=str
)
def test_all_draws_together_keep_epsilon_on_every_database_of_six(relation, pairs, worst):
    report = Enumeration((25, 50, 75), relation).report()

    assert report.ok, str(report)
    assert report.pairs == pairs
    assert report.loss == pytest.approx(worst, abs=1e-3)


@pytest.mark.slow
@pytest.mark.usefixtures("few_parts")
@pytest.mark.parametrize("relation", BOTH, ids=str)
def test_other_percentiles_keep_it_too(relation):
    report = Enumeration((10, 90, 100), relation).report(most=3)

    assert report.ok, str(report)


@pytest.mark.slow
@pytest.mark.usefixtures("few_parts")
@pytest.mark.parametrize(
    ("bug", "relation", "most"),
    [
        (SplitByTheUnreleased, BOTH[0], 4),
        (TiesToThePrivateSide, BOTH[0], 4),
        (SubstitutionPaidOnce, BOTH[1], 3),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_planted_bugs_are_caught(bug, relation, most):
    assert not bug((25, 50, 75), relation).report(most=most).ok


@pytest.mark.usefixtures("few_parts")
@pytest.mark.parametrize("database", [(), (0, 3), (0, 1, 1, 2, 3), (1.5, 1.7, 2, 2)], ids=str)
def test_the_distributions_are_those_of_all_draws(database):
    enumeration = Enumeration((25, 50, 75), BOTH[0])
    law, answers = enumeration.of_answers(database)
    numbers = Records(BOTH[0]).of(np.array(database, dtype=float))

    for found, released in zip(
        enumeration.method.probabilities(numbers), np.array(answers).T, strict=True
    ):
        assert found == pytest.approx([law[released == point].sum() for point in POINTS])


@pytest.mark.usefixtures("few_parts")
def test_answers_ascend_unless_candidates_are_not_clipped():
    def answers(kind):
        enumeration = kind((25, 50, 75), BOTH[0])
        law, found = enumeration.of_answers((0, 1, 3))
        assert law.sum() == pytest.approx(1)
        return [answer for answer, chance in zip(found, law, strict=True) if chance > 0]

    assert all(list(one) == sorted(one) for one in answers(Enumeration))
    assert not all(list(one) == sorted(one) for one in answers(CandidatesNotClipped))


def _drawn(data):
    """Return the draw of a release, which is prepared once."""
    asked = (25, 50, 75), POINTS, Records(BOTH[0]), EPSILON
    return Recursive(*asked).prepare(Records(BOTH[0]).of(np.array(data)))


@pytest.mark.slow
@pytest.mark.usefixtures("few_parts")
def test_releases_follow_the_law():
    """Unseeded: false alarm 1 in 10^6."""
    from scipy import stats

    data, draws = (0, 1, 1, 2, 3), 500
    law, answers = Enumeration((25, 50, 75), BOTH[0]).of_answers(data)
    draw_once = _drawn(data)
    counts = dict.fromkeys(answers, 0)
    for _ in range(draws):
        counts[draw_once()] += 1

    assert stats.chisquare(list(counts.values()), draws * law).pvalue > 1e-6


@pytest.mark.parametrize("m", [1, 2, 3, 4, 7, 9, 19, 99])
@pytest.mark.parametrize("relation", BOTH, ids=str)
def test_every_path_costs_the_whole_and_has_as_many_draws_as_levels(m, relation):
    tree = split_tree.split_tree(tuple(np.arange(1, m + 1) / (m + 1)), 1.0)
    paths = list(tree.paths())

    assert sorted(half.position for half in tree.all()) == list(range(m))
    assert max(map(len, paths)) == np.ceil(log2(m + 1) - 1e-9)
    for path in paths:
        assert sum(half.epsilon for half in path) == pytest.approx(1.0)
        draws = [split_tree.price_of_draw(half, relation) for half in path]
        paid = draws[0] + (1 if relation is BOTH[0] else 2) * sum(draws[1:])
        assert 0.99 < paid <= 1 + 1e-12


@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("method", [None, "recursive"])
@pytest.mark.parametrize("step", [1, 10])
def test_ties_at_an_end_of_a_wide_range_outweigh_all_empty_values(step, method, relation):
    """Of values that are not listed, and listed: fewer records beyond than a share has."""
    upper = 10**6
    values = np.repeat(np.array([0, step, 5 * step]), [1500, 300, 1200])
    for turned in (False, True):
        query = dp.Percentiles(
            p=[1, 50, 99],
            upper=upper,
            step=step,
            epsilon=50,
            method=method,
            neighbours=relation,
        )
        answer = query.release(upper - values if turned else values).answer
        low, middle, high = (upper - one for one in answer[::-1]) if turned else answer

        assert (low, high) == (0, 5 * step)
        assert 0 <= middle <= step


def test_the_default_is_chosen_by_public_arguments():
    asked = {"epsilon": 1.0, "neighbours": "add-remove"}

    def method(p, candidates=range(10), **other):
        made = dp.Percentiles(p=p, candidates=candidates, **asked, **other).design()
        return type(made.method)

    assert method(50) == method([25, 75]) == AfterCount
    assert method([25, 50, 75], method="recursive") == Recursive
    assert method([25, 50, 75], mechanism="exponential") == OneByOne
    assert method([25, 50, 75], candidates=[2, 1, 3], method="one-by-one") == OneByOne


def test_a_mechanism_that_takes_too_much_is_refused_before_anything_is_paid():
    """The later draws were refused when the first ones had been made."""
    calls = []

    def whole(*, epsilon):
        calls.append(epsilon)
        return dp.ExponentialMechanism(epsilon=1.0)

    with pytest.raises(ParameterError, match="keep to the epsilon"):
        dp.Percentiles(
            p=[10, 50, 90],
            candidates=range(9),
            method="recursive",
            mechanism=whole,
            epsilon=1.0,
            neighbours="add-remove",
        )
    assert min(calls) < 1.0


def test_a_mechanism_is_made_once_for_each_draw():
    """One that changes its mind between planning and drawing has no say."""
    kinds = [dp.ExponentialMechanism] * 99
    query = dp.Percentiles(
        p=[10, 50, 90],
        candidates=range(9),
        method="recursive",
        mechanism=lambda *, epsilon: kinds.pop()(epsilon=epsilon),
        epsilon=1.0,
        neighbours="add-remove",
    )
    kinds.clear()
    assert len(query.release(range(9)).answer) == 3
