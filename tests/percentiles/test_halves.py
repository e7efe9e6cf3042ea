"""Halves of many groups at once: what one group is drawn from, and by its law."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

import dpselect as dp
from dpselect.draws.place_flip import draw_places
from dpselect.percentiles import binary_tree
from dpselect.percentiles.binary_tree import Branches, Recursive, draw_halves
from dpselect.percentiles.choice import Choice
from dpselect.percentiles.ends_first import EndsFirst
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.ranks import Ranks, ranks_of
from dpselect.percentiles.reading import Records
from dpselect.percentiles.single import OneByOne
from dpselect.percentiles.split_tree import parts_of, price_of_draw, split_tree
from dpselect.tables.people import PeopleCap
from support.halves import Half, distance

ADDED = dp.Neighbours.ADD_REMOVE
POINTS = np.arange(7.0)
NAMES = ("below", "upto", "numbers")


def grouped(groups, points=POINTS):
    """Return the ranks of points in several groups of numbers."""
    each = [ranks_of(np.array(one, dtype=float), points) for one in groups]
    return Ranks(*(np.concatenate([getattr(r, n) for r in each]) for n in NAMES))


def compare(node, branches, each):
    """Compare the scores, candidates and halves of all groups with those of each."""
    fraction = np.full(len(each), node.fraction)
    rows = branches.rows(node, fraction, Records(ADDED))
    parts = rows.shares
    assert parts == (5 if node.is_last else 64)
    for found, alone in zip(rows.all_distances(), each, strict=True):
        expected = [float(-one) for one in alone.scores(node, parts)]
        np.testing.assert_allclose(found.high + found.low, expected, rtol=1e-14, atol=1e-14)
    place, numerator = draw_places(rows, 1.0)
    shares = [Fraction(one, parts) for one in numerator.tolist()]
    of_each = list(zip(each, place.tolist(), shares, strict=True))
    share = numerator / parts
    sides = zip(*(one.split(at, part) for one, at, part in of_each), strict=True)
    halves = zip((node.below, node.above), branches.split(place, share), sides, strict=True)
    for following, side, alone in halves:
        if following is not None:
            compare(following, side, alone)


@pytest.mark.parametrize("seed", range(6))
def test_all_groups_are_drawn_from_what_each_has_by_the_definition(seed):
    rng = np.random.default_rng(seed)
    groups = [rng.normal(3, 2, size).round(seed % 2) for size in (0, 1, 5, 50, 1000)]
    ranks = grouped(groups)

    tree = split_tree((0.25, 0.5, 0.9), 1.0)
    compare(tree, Branches.of_all(ranks), [Half.of_all(one, POINTS) for one in groups])


class WithoutEnds(Half):
    """Planted: the first and the last share stand for ranks that their place does not hold."""

    def scores(self, node, parts):
        (before, after), total = map(Fraction, node.beyond), sum(self.weights)
        wanted = before + Fraction(node.fraction) * (total - before - after)
        ends = [Fraction(2 * j - 1, 2 * parts) for j in range(parts + 2)]
        return [
            -distance(wanted, *(sum(self.weights[:at]) + self.weights[at] * end for end in two))
            for at in range(self.first, self.last + 1)
            for two in pairwise(ends)
        ]


def largest_step(kind, parts=2):
    """Return what one record can move of the scores of the first draw, and of both halves.

    In units of their bounds, over all databases of two records and one that has one more, and
    all outcomes of the first draw.
    """
    points = (1, 2)
    tree = split_tree((0.25, 0.5, 0.875), 1.0)

    def moved(node, one, other):
        pairs = zip(one.scores(node, parts), other.scores(node, parts), strict=True)
        return max(abs(a - b) for a, b in pairs) / Fraction(rank_bound(node.fraction, ADDED))

    first = second = Fraction(0)
    for held in combinations_with_replacement((0, 1, 1.5, 2, 3), 2):
        for more in (0, 1, 1.5, 2, 3):
            one, other = (kind.of_all(of, points) for of in (held, (*held, more)))
            first = max(first, moved(tree, one, other))
            for place in range(len(points)):
                for part in range(parts + 1):
                    sides = zip(
                        (tree.below, tree.above),
                        *(half.split(place, Fraction(part, parts)) for half in (one, other)),
                        strict=True,
                    )
                    second = max(second, sum(moved(*side) for side in sides))
    return first, second


def test_a_record_moves_the_scores_of_a_level_by_their_bound_by_definition():
    assert largest_step(Half) == (1, 1)
    assert min(largest_step(WithoutEnds)) > 1


@pytest.mark.parametrize("candidates", [10, 2**15, 40_000, 100_000, 500_000, 2**20])
def test_weights_of_halves_are_not_rounded(candidates):
    """Else one record more could move a score by more steps of the grid than are paid."""
    node = split_tree((0.25, 0.5, 0.75), 1.0)
    parts = parts_of(node, candidates)
    share = np.arange(parts + 1) / parts
    for records in (2.0**36, 2.0**43, 2.0**45 - 1):
        rows = np.zeros(share.size, dtype=np.int64)
        whole = Branches(np.full((share.size, 1), records), rows, rows)
        below, above = whole.split(rows, share)
        for part in range(parts + 1):
            exact = Fraction(records) * Fraction(part, parts)
            assert Fraction(below.weights[part, 0]) == exact
            assert Fraction(above.weights[part, 0]) == Fraction(records) - exact


@pytest.mark.slow
def test_answers_of_groups_follow_the_law_of_one():
    values = np.repeat([0, 1, 1, 3, 4, 4, 6], 2)
    ranks = grouped([values])
    number = 20_000
    by = Recursive((25.0, 50.0, 75.0), POINTS, Records(ADDED), 2.0)
    law = by.probabilities(Records(ADDED).of(values.astype(float)))

    drawn = by.prepare_groups(ranks.some(np.zeros(number, dtype=int)), np.zeros(number))()

    for column, chances in zip(drawn.T, law, strict=True):
        held = np.bincount(column.astype(int), minlength=POINTS.size)
        expected = number * chances / chances.sum()
        rare = np.where(expected < 20, 0, np.arange(POINTS.size))
        seen = [np.bincount(rare, one)[np.unique(rare)] for one in (held, expected)]
        assert chisquare(*seen).pvalue > 1e-6


@pytest.mark.parametrize("relation", [ADDED, dp.Neighbours.SUBSTITUTE])
@pytest.mark.parametrize("most", [1, 3])
def test_every_draw_is_made_for_what_a_person_moves(relation, most, monkeypatch):
    """In groups with percentiles of their own; from the second draw on records come or go."""
    ranks = grouped([[1, 2, 2, 5], [0, 3, 4]])
    fractions = np.array([[0.25, 0.1], [0.5, 0.6], [0.9, 0.7]])
    records = Records(relation, users=PeopleCap("person", most))
    seen = {}

    def drawn(rows, epsilon):
        seen[tuple(rows.fraction)] = *rows.bound, epsilon
        return draw_places(rows, epsilon)

    monkeypatch.setattr(binary_tree, "draw_places", drawn)
    draw_halves(Branches.of_all(ranks), fractions, 2.0, records)

    expected = {}
    for nodes in zip(*(split_tree(tuple(one), 2.0).all() for one in fractions.T), strict=True):
        here = relation if nodes[0].level == 1 else ADDED
        of_each = tuple(one.fraction for one in nodes)
        bounds = (most * rank_bound(one, here) for one in of_each)
        expected[of_each] = *bounds, price_of_draw(nodes[0], relation)
    assert seen == expected


CASES = {
    Recursive: ((25, 50, 75), 2000),
    EndsFirst: ((10, 50, 90, 95), 2000),
    OneByOne: ((50, 90, 99), 300),
}


@pytest.mark.parametrize("kind", CASES)
def test_a_large_epsilon_is_right_in_every_group(kind):
    percents, number = CASES[kind]
    points, rng = np.arange(201.0), np.random.default_rng(2)
    groups = [rng.gamma(2, 10, number) + 20 * one for one in range(5)]
    ranks = grouped(groups, points)
    asked = {"percents": tuple(map(float, percents)), "points": points}
    choice = Choice(**asked, records=Records(ADDED), epsilon=1.0)
    assert isinstance(choice.of_number(number), kind)
    method = Choice(**asked, records=Records(ADDED), epsilon=400.0).of_number(number)

    found = method.prepare_groups(ranks, np.full(5, number))()

    true = [np.percentile(one, percents) for one in groups]
    assert (np.diff(found, axis=1) >= 0).all()
    assert np.abs(found - np.array(true)).max() <= 2
