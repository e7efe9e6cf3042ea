"""The exponential mechanism over cuts: its law by definition, its draws, and its theorem."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp, isclose, log

import numpy as np
import pytest
from scipy import stats

from dpselect_applications.levels import cut_exponential
from dpselect_applications.levels.cut_exponential import Cuts, draw_cut, excess, log_probability

TREES = {
    "two leaves": [(1, 2), (), ()],
    "two levels": [(1, 4), (2, 3), (), (), (5, 6, 7), (), (), ()],
    "uneven": [(1, 2, 8), (), (3, 4), (), (5, 6, 7), (), (), (), ()],
    "one child": [(1, 4), (2,), (3,), (), (5, 6), (), ()],
    "three levels": [(1, 8), (2, 5), (3, 4), (), (), (6, 7), (), (), (9, 10), (), ()],
}
DECAY = Fraction(1, 7)


def cuts_of(children, seed=0, most=20):
    costs = np.random.default_rng(seed).integers(0, most, len(children))
    return Cuts(children, costs)


def every_cut(children, node=0):
    """Return all cuts below a node."""
    if not children[node]:
        return [frozenset([node])]
    parts = product(*(every_cut(children, child) for child in children[node]))
    return [frozenset([node]), *(frozenset().union(*part) for part in parts)]


def height(children, node):
    return max((1 + height(children, child) for child in children[node]), default=0)


def level(children, node, depth):
    if depth == 0 or not children[node]:
        return frozenset([node])
    return frozenset().union(*(level(children, one, depth - 1) for one in children[node]))


def prior(children, node=0):
    """Return the prior of every cut below a node, by its choices one by one."""
    found = Counter()
    if not children[node]:
        return Counter({frozenset([node]): Fraction(1)})
    top = height(children, node)
    if top == 1:
        return Counter({level(children, node, d): Fraction(1, 2) for d in (0, 1)})
    for depth in range(top + 1):
        found[level(children, node, depth)] += Fraction(1, 2 * (top + 1))
    for parts in product(*(prior(children, child).items() for child in children[node])):
        chance = Fraction(1, 2)
        for _, share in parts:
            chance *= share
        found[frozenset().union(*(one for one, _ in parts))] += chance
    return found


def law(cuts, decay):
    """Return the probability of every cut, by definition."""
    weights = {
        cut: share * Fraction(exp(-decay * sum(int(cuts.costs[one]) for one in cut)))
        for cut, share in prior(cuts.children).items()
    }
    return {cut: float(weight / sum(weights.values())) for cut, weight in weights.items()}


@pytest.mark.parametrize("children", TREES.values(), ids=TREES)
def test_the_law_is_that_of_the_definition(children):
    cuts = cuts_of(children)
    by_definition = law(cuts, DECAY)

    assert set(by_definition) == set(every_cut(children))
    assert isclose(sum(prior(children).values()), 1)
    for cut, chance in by_definition.items():
        assert isclose(log_probability(cuts, float(DECAY), cut), log(chance), rel_tol=1e-12)


@pytest.mark.parametrize("decay", [Fraction(1, 10**6), Fraction(1, 7), Fraction(5000)])
@pytest.mark.parametrize("most", [3, 2**40])
def test_integers_enclose_the_weights_of_every_choice(decay, most):
    children = TREES["three levels"]
    cuts = cuts_of(children, most=most)
    sums = cut_exponential._Sums(cuts, decay, 128)
    finer = cut_exponential._Sums(cuts, decay, 512)

    for node, below in enumerate(children):
        if not below:
            continue
        (bounds, at), (closer, finer_at) = (one._options(node) for one in (sums, finer))
        for (low, high), (low_, high_) in zip(bounds, closer, strict=True):
            assert high - low <= max(high >> 128, 1)
            shift = at - finer_at
            assert low << shift <= high_
            assert low_ <= high << shift


@pytest.mark.slow
@pytest.mark.parametrize("children", TREES.values(), ids=TREES)
def test_draws_follow_the_law(children):
    """Unseeded: false alarm 1 in 10^6; a shift of 5 % of mass is seen 99 times in 100."""
    cuts = cuts_of(children, seed=3)
    chances = law(cuts, DECAY)
    drawn = Counter(frozenset(draw_cut(cuts, DECAY)) for _ in range(4000))

    assert set(drawn) <= set(chances)
    often = [cut for cut in chances if chances[cut] > 0.003]
    pair = [[drawn[cut] for cut in often], [4000 * chances[cut] for cut in often]]
    for numbers in pair:
        numbers.append(4000 - sum(numbers))
    assert stats.chisquare(*(np.array(one) + 1e-6 for one in pair)).pvalue > 1e-6


@pytest.mark.parametrize("children", TREES.values(), ids=TREES)
def test_the_expected_cost_is_hardly_above_that_of_the_best_level(children):
    top = height(children, 0)
    for seed in range(20):
        cuts = cuts_of(children, seed, most=60)
        for decay in (0.01, 0.1, 1.0):
            chances = law(cuts, decay)
            costs = {cut: int(cuts.costs[list(cut)].sum()) for cut in chances}
            mean = sum(chances[cut] * costs[cut] for cut in chances)
            best = min(costs[level(children, 0, depth)] for depth in range(top + 1))
            assert mean <= best + excess(top, decay) + 1e-9
