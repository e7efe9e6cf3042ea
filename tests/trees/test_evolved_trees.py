"""DP-MOET: operators, one-pass evaluation, the whole budget, the guarantee, conventions."""

import pickle
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import dpselect as dp
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import ParameterError
from dpselect.trees import (
    Bins,
    Categories,
    MultiObjectiveTreeClassifier,
    Tree,
    expected_failed_checks,
)
from dpselect.trees import candidates as ev
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.randomness import Simulated
from dpselect.trees.records import Schema
from support.trees_definitions import Recording

SELECTIONS = ["weighted-sum", "pareto", "margin"]
ALLOWANCES = ["global", "local", "noisy-denominators"]
SCHEMA = Schema(
    ("a", "b", "c"), (Categories([0, 1]), Bins(0, 1, bins=5), Categories("xyz")), (0, 1)
)
seeds = st.integers(0, 10**6)


def breeder(seed, max_depth=5):
    return ev.Breeder(SCHEMA, np.random.default_rng(seed), max_depth)


def nodes_of(tree):
    """Every subtree by walking down, independent of the sizes that are kept."""
    if tree[0, ev.COLUMN] < 0:
        return [tree[:1]]
    yes = nodes_of(tree[1:])
    no = nodes_of(tree[1 + len(yes) :])
    return [tree[: 1 + len(yes) + len(no)], *yes, *no]


def depth_of(tree):
    if tree[0, ev.COLUMN] < 0:
        return 0
    return 1 + max(map(depth_of, ev.branches(tree)))


@given(seeds, st.integers(0, 4))
def test_random_trees_are_full(seed, questions):
    tree = breeder(seed).random_tree(questions)

    assert ev.depth(tree) == questions
    assert len(tree) == 2 ** (questions + 1) - 1 == len(nodes_of(tree))


@given(seeds)
def test_positions_count_nodes_yes_before_no(seed):
    tree = breeder(seed).mutated(breeder(seed).random_tree(3))

    for k, node in enumerate(nodes_of(tree)):
        assert np.array_equal(ev.subtree(tree, k), node)
        assert np.array_equal(ev.replaced(tree, k, node), tree)
    assert ev.depth(tree) == depth_of(tree)


@given(seeds, st.integers(0, 4))
def test_children_obey_the_depth_and_know_their_size(seed, deepest):
    family = breeder(seed, deepest)
    parents = [family.random_tree(min(deepest, 3)) for _ in range(3)]
    for child in family.children(parents, 4):
        assert depth_of(child) <= deepest
        assert child[:, ev.SIZE].tolist() == [len(node) for node in nodes_of(child)]


@given(seeds, st.integers(0, 3))
def test_published_mutation_grows_full_subtrees_to_the_largest_depth(seed, questions):
    rng = np.random.default_rng(seed)
    family = ev.Breeder(SCHEMA, rng, 5, "published")
    tree = family.random_tree(questions)
    position = int(np.random.default_rng(seed).integers(len(tree)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ev.Breeder, "_anywhere", lambda _self, _tree: position)
        mutated = family.mutated(tree)
    grown = ev.subtree(mutated, position)

    assert len(grown) == 2 ** (6 - ev.levels(tree)[position]) - 1
    assert ev.depth(mutated) == 5


def test_published_children_become_parents_and_compact_ones_do_not():
    def parents_of(operators):
        family = ev.Breeder(SCHEMA, np.random.default_rng(0), 3, operators)
        seen = []
        with pytest.MonkeyPatch.context() as patch:
            cross = ev.Breeder.cross
            patch.setattr(
                ev.Breeder,
                "cross",
                lambda self, *two: seen.extend(two) or cross(self, *two),
            )
            first = [family.random_tree(2) for _ in range(2)]
            family.children(first, 30)
        return {id(one) for one in seen} - {id(one) for one in first}

    assert parents_of("published")
    assert not parents_of("compact")


@given(seeds)
def test_crossing_exchanges_what_is_not_cut(seed):
    family = breeder(seed, 20)
    one, other = family.random_tree(3), family.random_tree(3)
    children = family.cross(one, other)

    assert sum(map(len, children)) == len(one) + len(other)


@pytest.mark.slow
@given(seeds)
def test_all_forms_of_a_tree_answer_alike(seed):
    rng = np.random.default_rng(seed)
    family = breeder(seed)
    trees = family.children([family.random_tree(3), family.random_tree(2)], 2)
    codes = np.stack([rng.integers(0, size, 40) for size in SCHEMA.sizes], axis=1)
    labels = rng.integers(0, 2, 40)
    hits = MemoryCounts.of_records(SCHEMA, codes, labels).hits(trees)

    for tree, found in zip(trees, hits, strict=True):
        answers = Tree(SCHEMA, ev.as_node(tree, SCHEMA)).probabilities(codes).argmax(axis=1)
        assert found.tolist() == [((answers == labels) & (labels == c)).sum() for c in (0, 1)]


def frame(n=2000, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (n, 4))
    y = np.where(rng.random(n) < 0.9, x[:, 0] | x[:, 1], 1 - (x[:, 0] | x[:, 1]))
    return pl.DataFrame(x, schema=list("abcd")), np.where(y == 1, "yes", "no")


def classifier(**changed):
    arguments = {
        "epsilon": 20.0,
        "population": 20,
        "survivors": 4,
        "generations": 3,
        "domains": Categories([0, 1]),
        "classes": ["no", "yes"],
        "max_records": 5000,
        "random_state": 0,
    }
    return MultiObjectiveTreeClassifier(**(arguments | changed))


@pytest.mark.slow
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("sensitivity", ALLOWANCES)
def test_fits_with_every_selection(selection, sensitivity):
    x, y = frame()
    fitted = classifier(selection=selection, sensitivity=sensitivity).fit(x, y)

    assert len(fitted.front_) == 3
    for i in range(3):
        assert set(fitted.predict(x, tree=i)) <= {"no", "yes"}
        assert 0 <= fitted.front_[i].true_positive_rate <= 1
    assert fitted.predict_proba(x).sum(axis=1) == pytest.approx(1)
    assert sum(s.times * s.epsilon for s in fitted.plan_.spends) == pytest.approx(20)


def test_finds_good_trees_where_epsilon_is_large():
    x, y = frame()
    fitted = classifier(epsilon=1000.0, population=60, generations=6).fit(x, y)
    best = fitted.front_[fitted.best_]

    assert fitted.score(x, y) > 0.75
    assert best.true_positive_rate == pytest.approx(
        (fitted.predict(x)[y == "yes"] == "yes").mean(), abs=0.01
    )


@pytest.mark.slow
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("sensitivity", ALLOWANCES)
def test_every_outcome_is_epsilon_private(selection, sensitivity):
    """By definition, over whole runs: no outcome's probability moves by more than e^eps."""
    plan_of = classifier(
        epsilon=1.0,
        selection=selection,
        sensitivity=sensitivity,
        front=1,
        survivors=1,
        population=4,
        generations=2,
        rates_share=0.3,
    )._training
    codes = np.array(list(product(range(2), repeat=2)))
    schema = Schema(("a", "b"), (Categories([0, 1]), Categories([0, 1])), (0, 1))

    def log_probability(cells, script):
        plan = plan_of(schema, 100, 1.0)
        counts, sampler = MemoryCounts(schema, codes, cells.reshape(4, 2)), Recording(script)
        trees = plan.run(counts, sampler)
        plan.noisy_rates(trees, counts, sampler)
        assert not sampler.script
        return sampler.log

    rng, worst = np.random.default_rng(3), 0.0
    for _ in range(8):
        cells = rng.integers(0, 5, 8)
        for i in range(8):
            more = cells.copy()
            more[i] += 1
            totals = [3, 8] if sensitivity == "noisy-denominators" else []
            script = [*totals, *rng.integers(0, 9, 2).tolist(), 40, 0, 40, 0]
            loss = abs(log_probability(cells, script) - log_probability(more, script))
            worst = max(worst, loss)

    assert 0.3 < worst <= 1 + 1e-9


def test_the_noisy_rates_cost_what_is_set_aside_for_them():
    """By definition: a record counts for its class and for every tree that is right."""
    schema = Schema(("a",), (Categories([0, 1]),), (0, 1))
    plan = classifier(front=2, rates_share=0.4, epsilon=1.0)._training(schema, 100, 1.0)
    trees, worst = [ev.answer(1), ev.answer(1)], 0.0

    def log_probability(counts):
        sampler = Recording([0] * 6)
        held = MemoryCounts(schema, np.array([[0], [1]]), np.array(counts))
        plan.noisy_rates(trees, held, sampler)
        return sampler.log

    for more in ([[3, 1], [2, 2]], [[2, 2], [2, 2]]):
        loss = log_probability([[2, 1], [2, 2]]) - log_probability(more)
        worst = max(worst, abs(loss))

    assert worst == pytest.approx(plan.rates_epsilon) == pytest.approx(0.4)


def test_the_budget_is_spent_once_and_doubled_for_substitution():
    x, y = frame()
    budget = dp.Budget(25.0, neighbours=dp.Neighbours.SUBSTITUTE)
    fitted = classifier(budget=budget, neighbours="substitute").fit(x, y)

    assert budget.spent == 20.0
    assert sum(s.times * s.epsilon for s in fitted.plan_.spends) == pytest.approx(20)
    assert sum(fitted._training(fitted.schema_, 5000, 10.0).epsilons) == pytest.approx(8.5)
    with pytest.raises(dp.errors.InsufficientBudgetError):
        clone(fitted).fit(x, y)


def test_the_split_is_what_was_asked_for():
    x, y = frame()
    fitted = classifier(split=[1, 2, 5], totals_share=0.1, rates_share=0.1).fit(x, y)

    found = [s.times * s.epsilon for s in fitted.plan_.spends]
    assert found == pytest.approx([2, 2, 4, 10, 2])


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("sensitivity", ALLOWANCES)
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_the_plan_needs_no_data_and_has_the_rho_of_every_draw(selection, sensitivity, relation):
    x, y = frame()
    estimator = classifier(
        selection=selection,
        sensitivity=sensitivity,
        neighbours=relation,
        population=10,
        domains={name: [0, 1] for name in "abcd"},
    )
    plan = estimator.plan()
    # Of two steps at half of epsilon each, every price is that of one at epsilon.
    training = estimator.fit(x, y)._training(estimator.schema_, 5000, 20.0)
    drawn = [
        k * training._selected_by(e).draws_by.rho(e / k)
        for e, k in zip(training.epsilons, (4, 4, 3), strict=True)
    ]
    counts = 4 * rho_of_pure(training.rates_epsilon / 4)
    if sensitivity == "noisy-denominators":
        counts += rho_of_pure(training.totals_epsilon)

    assert estimator.plan_ == plan
    assert plan.neighbours == dp.Neighbours(relation)
    assert plan.rho == pytest.approx(sum(drawn) + counts)


def test_candidates_are_reproducible_and_draws_are_not_seeded():
    x, y = frame()
    runs = [
        classifier()._grow(x, y, Simulated(np.random.default_rng(5))).tree_.to_text()
        for _ in range(2)
    ]

    assert runs[0] == runs[1]


BAD = [
    ({"classes": ["a", "b", "c"]}, "Only binary classification"),
    ({"selection": "best"}, "selection must be one of pareto"),
    ({"sensitivity": "smooth"}, "sensitivity must be one of global"),
    ({"survivors": 21}, "survivors must be at most population, 20"),
    ({"front": 0}, "front must be at least 1"),
    ({"generations": 0}, "generations must be at least 1"),
    ({"max_depth": 2}, "max_depth must be at least 3"),
    ({"split": [1.0]}, "one share for each of 3"),
    ({"split": [1.0, 0.0, 1.0]}, "each share of split"),
    ({"totals_share": 0.0}, "totals_share must be > 0"),
    ({"totals_share": 0.5, "rates_share": 0.5}, "below 1"),
    ({"weights": 3}, "two numbers"),
    ({"weights": (0, 0)}, "not both be 0"),
    ({"weights": (-1, 2)}, "weights must be between 0"),
    ({"domains": None}, "domains must be given"),
    ({"max_records": 10}, "more records than max_records allows"),
]


@pytest.mark.parametrize(("changed", "message"), BAD)
def test_bad_arguments_are_refused_before_any_spend(changed, message):
    x, y = frame()
    budget = dp.Budget(100.0, neighbours=dp.Neighbours.ADD_REMOVE)

    with pytest.raises(ValueError, match=message):
        classifier(budget=budget, **changed).fit(x, y)
    assert not budget.entries


@pytest.mark.slow
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("sensitivity", ALLOWANCES)
def test_empty_tables_and_constant_classes_give_a_front_at_full_cost(selection, sensitivity):
    x, y = frame()
    budget = dp.Budget(100.0, neighbours=dp.Neighbours.ADD_REMOVE)
    fit = classifier(selection=selection, sensitivity=sensitivity, budget=budget).fit
    fronts = [fit(x.head(0), y[:0]).front_, fit(x, np.full(len(x), "no")).front_]

    assert [len(front) for front in fronts] == [3, 3]
    assert budget.spent == 40


def test_plots_the_front_pickles_and_asks_for_trees_that_are_there():
    x, y = frame()
    fitted = classifier().fit(x, y)
    thawed = pickle.loads(pickle.dumps(fitted))  # noqa: S301 -- our own

    assert len(fitted.plot().texts) == 3
    assert (thawed.predict(x) == fitted.predict(x)).all()
    assert str(fitted) == fitted.tree_.simplified().to_text()
    with pytest.raises(ParameterError, match="tree must be from 0 to 2"):
        fitted.predict(x, tree=3)
    with pytest.raises(ParameterError, match="no rates to plot"):
        classifier(rates_share=0.0).fit(x, y).plot()


@pytest.mark.slow
def test_follows_scikit_learn():
    estimator = classifier(
        epsilon=500.0, domains=Bins(-3, 3, bins=9), classes=[0, 1], max_records=10**4
    )
    results = check_estimator(
        estimator,
        expected_failed_checks=expected_failed_checks(estimator),
        on_fail=None,
        on_skip=None,
    )
    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}

    assert failed == {}
