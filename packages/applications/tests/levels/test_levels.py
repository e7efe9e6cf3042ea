"""Tables of codes: unevenness by definition, privacy by enumeration, the law of cuts."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import exp, isclose, log, prod

import numpy as np
import polars as pl
import pytest
from scipy import stats

import dpselect as dp
from dpselect_applications.levels import cut_exponential, prefix_tree, unevenness
from dpselect_applications.levels.cut_exponential import Cuts, draw_cut, excess, log_probability
from dpselect_applications.levels.hierarchy import Hierarchy
from support.program import run  # noqa: F401 -- a fixture

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
TREES = {
    "two leaves": {"a": "x", "b": "x"},
    "three leaves": {"a": "x", "b": "x", "c": "x"},
    "two pairs": {"a": "x", "b": "x", "c": "y", "d": "y"},
    "a pair and a leaf": {"a": "x", "b": "x", "x": "z", "c": "z"},
    "a chain": {"a": "x", "b": "x", "x": "y", "c": "y", "y": "z", "d": "z"},
    "an only child": {"a": "x", "x": "y", "b": "z", "c": "z"},
}
LARGER = {"three levels": dict(zip("abcdefxypz", "xxyyzzpprr", strict=True))}
SHAPES = {name: Hierarchy.of(tree).shape.children for name, tree in (TREES | LARGER).items()}
every_tree = pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
MOST = 4
"""Rows of one code, at most, in the databases that are enumerated."""


def every_cut(children, node=0):
    if not children[node]:
        return [(node,)]
    parts = product(*(every_cut(children, child) for child in children[node]))
    return [(node,), *(sum(part, ()) for part in parts)]


def leaves_below(children, node):
    below = [leaf for child in children[node] for leaf in leaves_below(children, child)]
    return below or [node]


def by_definition(shape, counts):
    """Return the unevenness of each node, in rows."""
    leaves = [node for node, below in enumerate(shape.children) if not below]
    count = dict(zip(leaves, counts, strict=True))
    found = []
    for node in range(len(shape.children)):
        held = [count[leaf] for leaf in leaves_below(shape.children, node)]
        mean = Fraction(sum(held), len(held))
        found.append(sum(abs(one - mean) for one in held))
    return found


def databases(shape, most=MOST):
    return product(range(most + 1), repeat=int(shape.leaves[0]))


def one_more(counts):
    for leaf in range(len(counts)):
        yield tuple(one + (place == leaf) for place, one in enumerate(counts))


@every_tree
def test_unevenness_is_that_of_the_definition(tree):
    shape = Hierarchy.of(tree).shape
    for counts in databases(shape, 3):
        exact = [int(unevenness.STEPS * one) for one in by_definition(shape, counts)]
        assert unevenness.unevenness(shape, np.array(counts)).tolist() == exact


@every_tree
def test_one_row_changes_two_cuts_differently_by_the_bound_and_no_more(tree):
    shape = Hierarchy.of(tree).shape
    cuts = every_cut(shape.children)
    most, in_steps = Fraction(0), 0
    for counts in databases(shape):
        for more in one_more(counts):
            moved = [
                after - before
                for before, after in zip(
                    by_definition(shape, counts), by_definition(shape, more), strict=True
                )
            ]
            rounded = unevenness.unevenness(shape, np.array(more)) - unevenness.unevenness(
                shape, np.array(counts)
            )
            changes = [sum(moved[node] for node in cut) for cut in cuts]
            steps = [int(rounded[list(cut)].sum()) for cut in cuts]
            most = max(most, max(changes) - min(changes))
            in_steps = max(in_steps, max(steps) - min(steps))
    assert most == unevenness.largest_difference(shape)
    assert in_steps <= unevenness.largest_step(shape) <= unevenness.STEPS * most + 2


@every_tree
def test_the_excess_is_the_price_of_a_level_in_rows(tree):
    """What the law says of the root's level, and what one row more of error costs there."""
    query = asked(tree, ADDED)
    design = query.design()
    children, decay = design.hierarchy.shape.children, float(design.decay)
    free = np.zeros(len(children), dtype=np.int64)
    dearer = free.copy()
    dearer[0] = unevenness.STEPS
    every = every_cut(children)

    def odds(costs):
        at, *others = (log_probability(Cuts(children, costs), decay, cut) for cut in every)
        return at - np.logaddexp.reduce(others)

    nats = odds(free) - odds(dearer)
    of_level = -log_probability(Cuts(children, free), decay, every[0])
    assert every[0] == (0,)
    assert isclose(query.excess(), of_level / nats, rel_tol=1e-9)


def asked(tree, relation, *, persons=0, **more):
    held = {"column": "code", "user": "person", "max_per_user": persons} if persons else {}
    fields = {"tree": tree, "epsilon": 8.0, "tuning_share": 0.75, "neighbours": relation}
    return dp.Levels(**{**fields, **held, **more})


def neighbours(relation, persons, leaves):
    """Return the changes of counts that one step makes: rows, or up to so many of a person."""
    rows = [
        np.bincount(codes, minlength=leaves)
        for size in range(1, (persons or 1) + 1)
        for codes in combinations_with_replacement(range(leaves), size)
        if len(set(codes)) == size  # different codes of a person
    ]
    if relation is ADDED:
        return rows
    nothing = np.zeros(leaves, dtype=np.int64)
    return [one - other for one, other in product([*rows, nothing], repeat=2)]


def largest_loss(query):
    """Return the largest privacy loss of the cells and their counts over all neighbours."""
    design = query.design()
    shape, decay = design.hierarchy.shape, float(design.decay)
    cuts, worst = every_cut(shape.children), 0.0

    @cache
    def logs(counts):
        costs = design.cuts(np.array(counts))
        return [log_probability(costs, decay, cut) for cut in cuts]

    persons = design.rows.max_per_user if query.user else 0
    steps = neighbours(query.neighbours, persons, int(shape.leaves[0]))
    for counts, step in product(databases(shape, 3), steps):
        other = tuple((np.array(counts) + step).tolist())
        if min(other) < 0:
            continue
        # Noisy counts of the cells lose what the noise has for the change of each.
        ends = zip(shape.first, shape.last, strict=True)
        moved = [abs(step[first:last].sum()) for first, last in ends]
        for cut, here, there in zip(cuts, logs(counts), logs(other), strict=True):
            of_counts = sum(moved[node] for node in cut) / design.scale
            worst = max(worst, abs(here - there) + of_counts)
    return worst


SMALL = {name: TREES[name] for name in ("two leaves", "two pairs", "a pair and a leaf")}
CLAIMS = [(ADDED, 0), (REPLACED, 0), (ADDED, 2), (REPLACED, 2)]


@pytest.mark.parametrize(("relation", "persons"), CLAIMS)
@pytest.mark.parametrize("tree", SMALL.values(), ids=SMALL)
def test_no_neighbours_lose_more_than_epsilon(tree, relation, persons):
    query = asked(tree, relation, persons=persons)
    assert 0.3 * query.epsilon < largest_loss(query) <= query.epsilon + 1e-9


def test_codes_of_digits_are_found_in_a_column_of_integers():
    tree = prefix_tree(["0111", "0112", "4711"], [1, 2])
    query = dp.Levels(column="nace", tree=tree, epsilon=1.0, neighbours=ADDED)
    rows = pl.DataFrame({"nace": [111, 111, 4711, 5]})
    assert query.design().counts(rows).tolist() == [2, 0, 1]


DECAY = Fraction(1, 7)


def cuts_of(children, seed=0, most=20):
    costs = np.random.default_rng(seed).integers(0, most, len(children))
    return Cuts(children, costs)


def height(children, node):
    return max((1 + height(children, child) for child in children[node]), default=0)


def level(children, node, depth):
    if depth == 0 or not children[node]:
        return (node,)
    return sum((level(children, one, depth - 1) for one in children[node]), ())


def prior(children, node=0):
    """Return the prior of every cut below a node, by its choices one by one."""
    top = height(children, node)
    if top < 2:
        return {level(children, node, d): Fraction(1, top + 1) for d in range(top + 1)}
    found = Counter(
        {level(children, node, d): Fraction(1, 2 * top + 2) for d in range(top + 1)}
    )
    for parts in product(*(prior(children, child).items() for child in children[node])):
        cuts, shares = zip(*parts, strict=True)
        found[sum(cuts, ())] += prod(shares) / 2
    return found


def law(cuts, decay):
    """Return the probability of every cut, by definition."""
    weights = {
        cut: share * Fraction(exp(-decay * sum(int(cuts.costs[one]) for one in cut)))
        for cut, share in prior(cuts.children).items()
    }
    return {cut: float(weight / sum(weights.values())) for cut, weight in weights.items()}


@pytest.mark.parametrize("children", SHAPES.values(), ids=SHAPES)
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
    children = SHAPES["three levels"]
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
@pytest.mark.parametrize("children", SHAPES.values(), ids=SHAPES)
def test_draws_follow_the_law(children):
    """Unseeded: false alarm 1 in 10^6; a shift of 5 % of mass is seen 99 times in 100."""
    cuts = cuts_of(children, seed=3)
    chances = law(cuts, DECAY)
    drawn = Counter(tuple(sorted(draw_cut(cuts, DECAY))) for _ in range(4000))

    assert set(drawn) <= set(chances)
    often = [cut for cut in chances if chances[cut] > 0.003]
    pair = np.array([(drawn[cut], 4000 * chances[cut]) for cut in often]).T
    pair = np.column_stack([pair, 4000 - pair.sum(axis=1)])
    assert stats.chisquare(*pair + 1e-6).pvalue > 1e-6


@pytest.mark.parametrize("children", SHAPES.values(), ids=SHAPES)
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


@pytest.mark.parametrize("blank", ["", " "])
def test_blanks_before_a_code_repeat_the_codes_above(tmp_path, blank, run):  # noqa: F811 -- a fixture
    rows, tree = tmp_path / "rows.csv", tmp_path / "tree.csv"
    rows.write_text("code\n" + "A00\nA01\nA01\nB2\n")
    tree.write_text(
        "chapter,section,code,words\n"
        f"A,,,a\n{blank},A0,,b\n{blank},,A00,c\n{blank},,A01,d\nB,B2,,e\n"
    )
    price = ("--epsilon", 900, "--neighbours", "add-remove", "--json")

    shown = run("levels", rows, "--column", "code", "--tree", tree, *price)

    found = dict(zip(shown.json["answer"], shown.json["counts"], strict=True))
    assert (found["A00"], found["A01"]) == (1, 2)
