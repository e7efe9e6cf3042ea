"""DP-MOET: depth, one-pass evaluation, the guarantee, what is drawn from."""

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.plan import ErrorBound
from dpselect.trees import (
    Bins,
    Categories,
    Leaf,
    MultiObjectiveTreeClassifier,
    Split,
    Tree,
    candidates as ev,
)
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.domains import Schema
from support.strategies import dominates
from support.trees_definitions import Recording, add_remove, counted

SELECTIONS = ["weighted-sum", "pareto", "margin"]
RATE_BOUNDS = ["global", "local", "noisy-denominators"]
KINDS = [kind for kind in product(SELECTIONS, RATE_BOUNDS) if kind != ("margin", "local")]
GIVEN = ["exponential", "permute-and-flip", "noisy-max", "local-dampening", "pairwise"]
SHIFTED = {"name": "shifted", "direction": "non-decreasing"}
SCHEMA = Schema(
    ("a", "b", "c"), (Categories([0, 1]), Bins(0, 1, bins=5), Categories("xyz")), (0, 1)
)
seeds = st.integers(0, 10**6)


def with_leaves(tree):
    if isinstance(tree, int):
        return Leaf((1.0 - tree, float(tree)))
    return Split(tree.column, tree.branch_of, tuple(map(with_leaves, tree.branches)))


def breeder(seed, max_depth=5):
    return ev.Breeder(SCHEMA, np.random.default_rng(seed), max_depth)


def nodes_of(tree):
    """Every subtree by walking down, with how many questions lead there."""
    below = [] if isinstance(tree, int) else [n for b in tree.branches for n in nodes_of(b)]
    return [(tree, 0), *((node, level + 1) for node, level in below)]


def depth_of(tree):
    return max(level for _, level in nodes_of(tree))


@given(seeds, st.integers(0, 4))
def test_children_obey_the_depth(seed, deepest):
    family = breeder(seed, deepest)
    parents = [family.random_tree(min(deepest, 3)) for _ in range(3)]
    assert all(depth_of(child) <= deepest for child in family.children(parents, 4))


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
        answers = Tree(SCHEMA, with_leaves(tree)).probabilities(codes).argmax(axis=1)
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
@pytest.mark.parametrize(
    "more",
    [
        *({"selection": selection, "rate_bound": bound} for selection, bound in KINDS),
        *(
            {"selection": "pareto", "rate_bound": bound, **more}
            for bound in RATE_BOUNDS
            for more in (
                {"dominance": "weak", "operators": "published"},
                {"dominance": "strict"},
            )
        ),
        *(
            {"selection": selection, "rate_bound": bound, "mechanism": mechanism}
            for at, mechanism in enumerate((*GIVEN, SHIFTED))
            for selection, bound in (KINDS[at % len(KINDS)], KINDS[(at + 3) % len(KINDS)])
        ),
    ],
)
def test_every_outcome_is_epsilon_private(more):
    """By definition, over whole runs: no outcome's probability moves by more than e^eps."""
    query = classifier(
        **{"max_records": 40, "rates_share": 0.3, **more},
        epsilon=1.0,
        front=1,
        survivors=1,
        population=4,
        generations=2,
    ).query(["a", "b"])
    design = query.design()

    def log_probability(cells, script):
        counts = counted(design.schema, cells)
        sampler = Recording(script)
        design.draw(counts, sampler, query.plan)
        assert not sampler.script
        return sampler.log

    rng, worst = np.random.default_rng(3), 0.0
    for _ in range(8):
        cells = rng.integers(0, 5, 8)
        for i in range(8):
            more = cells.copy()
            more[i] += 1
            totals = [3, 8] if query.rate_bound == "noisy-denominators" else []
            script = [*totals, *rng.integers(0, 9, 2).tolist(), 40, 0, 40, 0]
            loss = abs(log_probability(cells, script) - log_probability(more, script))
            worst = max(worst, loss)

    assert 0.3 < worst <= 1 + 1e-9


def test_plots_the_best_tree_and_predicts_by_any_of_the_front():
    x, y = frame()
    fitted = classifier().fit(x, y)

    assert len(fitted.plot().texts) == len(fitted.tree_.plot().texts)
    fitted.tree_ = fitted.front_[2].tree
    assert fitted.predict(x).shape == y.shape


def test_noise_in_rates_is_stated_where_there_are_any():
    asked = dp.TreeFront(
        label="y", domains={"a": [0, 1]}, classes=[0, 1], max_records=9, front=4,
        epsilon=50.0, neighbours="add-remove",
    )  # fmt: skip
    noisy, none = (replace(asked, rates_share=share).plan.error for share in (0.1, 0.0))

    assert none is None
    assert noisy == ErrorBound.of_count(1, "records in a count of a rate")


TREES = {
    "no": 0,
    "yes": 1,
    "a": Split(0, (0, 1), (0, 1)),
    "not a": Split(0, (0, 1), (1, 0)),
    "a again": Split(0, (1, 0), (1, 0)),
}
ANSWERS = {"no": (0, 0), "yes": (1, 1), "a": (0, 1), "not a": (1, 0), "a again": (0, 1)}
"""What each tree says of a record with a = 0 and of one with a = 1."""
DATABASES = [cells for cells in product(range(4), repeat=4) if sum(cells) <= 3]
"""How many records there are with a = 0 and a = 1, of class 0 and of class 1 each."""


def pareto_of_trees(dominance, rate_bound):
    """The objective of a selection among these trees, for every database."""
    fields = {"selection": "pareto", "dominance": dominance, "rate_bound": rate_bound}
    made = classifier(domains={"a": [0, 1]}, classes=[0, 1], **fields).query().design()
    noisy = np.array([1.5, 2.0]) if rate_bound == "noisy-denominators" else None
    found = {}
    for cells in DATABASES:
        counts = counted(made.schema, cells)
        hits, totals = counts.hits([*TREES.values()]), counts.totals()
        found[cells] = made._objective(hits, totals, noisy)
    return found


def rates(cells, name):
    """Both rates of a tree, by their definition; 0 where a class has no record."""
    of_class = [(cells[label], cells[2 + label]) for label in (0, 1)]
    return [
        sum(n for n, said in zip(both, ANSWERS[name], strict=True) if said == label)
        / max(sum(both), 1)
        for label, both in enumerate(of_class)
    ]


@pytest.mark.parametrize("rate_bound", RATE_BOUNDS)
@pytest.mark.parametrize("dominance", ["weak", "standard", "strict"])
def test_every_kind_of_dominance_has_its_scores_and_is_admissible(dominance, rate_bound):
    found = pareto_of_trees(dominance, rate_bound)

    report = dp.audit.check_admissible(found.get, DATABASES, lambda x, y: y in add_remove(x))
    report.raise_if_failed()
    for cells, objective in found.items():
        points = [rates(cells, name) for name in TREES]
        scores = [
            -sum(dominates(b, a, dominance) for j, b in enumerate(points) if i != j)
            for i, a in enumerate(points)
        ]
        assert objective.scores.tolist() == scores
