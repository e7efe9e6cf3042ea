"""DP-MOET: operators, one-pass evaluation, the whole budget, the guarantee, conventions."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import ParameterError
from dpselect.trees import (
    Bins,
    Categories,
    Leaf,
    MultiObjectiveTreeClassifier,
    Split,
    Tree,
    candidates as ev,
)
from dpselect.trees.base import Simulated
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.domains import Schema
from support.trees_definitions import Recording, add_remove, drawn

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


def published(seed, max_depth=5, *, both=True):
    flags = {"children_are_parents": both, "mutates_to_max_depth": both}
    return ev.Breeder(SCHEMA, np.random.default_rng(seed), max_depth, **flags)


def nodes_of(tree):
    """Every subtree by walking down, with how many questions lead there."""
    below = [] if isinstance(tree, int) else [n for b in tree.branches for n in nodes_of(b)]
    return [(tree, 0), *((node, level + 1) for node, level in below)]


def depth_of(tree):
    return max(level for _, level in nodes_of(tree))


@given(seeds, st.integers(0, 4))
def test_places_count_nodes_yes_before_no_and_random_trees_are_full(seed, questions):
    tree = breeder(seed).random_tree(questions)
    assert len(nodes_of(tree)) == 2 ** (questions + 1) - 1
    tree = breeder(seed).mutated(tree)

    assert ev.size(tree) == len(nodes_of(tree))
    assert ev.depth(tree) == depth_of(tree)
    for place, node in enumerate(nodes_of(tree)):
        assert ev.found(tree, place) == node
        assert ev.replaced(tree, place, node[0]) == tree


@pytest.mark.parametrize("operators", ["shallow", "published"])
def test_parents_are_trees_that_were_selected_or_as_published_children_too(operators):
    family, seen = published(0, 3, both=operators == "published"), []
    with pytest.MonkeyPatch.context() as patch:
        cross = ev.Breeder.cross
        patch.setattr(
            ev.Breeder, "cross", lambda self, *two: seen.extend(two) or cross(self, *two)
        )
        first = [family.random_tree(2) for _ in range(2)]
        born = family.children(first, 30)

    assert len(born) == 60
    grown_up = {id(one) for one in seen} - {id(one) for one in first}
    assert bool(grown_up) == (operators == "published")
    assert grown_up <= {id(one) for one in born}


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
    codes, design = np.array(list(product(range(2), repeat=2))), query.design()

    def log_probability(cells, script):
        counts = MemoryCounts(design.rows.schema, codes, cells.reshape(4, 2))
        sampler = Recording(script)
        design.training.draw(counts, sampler, query.plan)
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


def test_the_noisy_rates_cost_what_is_set_aside_for_them():
    """By definition: a record counts for its class and for every tree that is right."""
    design = classifier(front=2, rates_share=0.4, epsilon=1.0).query(["a"]).design()
    schema, plan = design.rows.schema, design.training
    trees, worst = [1, 1], 0.0

    def log_probability(counts):
        sampler = Recording([0] * 6)
        held = MemoryCounts(schema, np.array([[0], [1]]), np.array(counts))
        plan.noisy_rates(trees, held, sampler)
        return sampler.log

    for more in ([[3, 1], [2, 2]], [[2, 2], [2, 2]]):
        loss = log_probability([[2, 1], [2, 2]]) - log_probability(more)
        worst = max(worst, abs(loss))

    assert worst == pytest.approx(plan.rates_epsilon) == pytest.approx(0.4)


@pytest.mark.parametrize(("selection", "rate_bound"), KINDS)
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_the_plan_needs_no_data_and_has_the_rho_of_every_draw(selection, rate_bound, relation):
    x, y = frame()
    estimator = classifier(
        selection=selection,
        rate_bound=rate_bound,
        neighbours=relation,
        population=10,
        domains={name: [0, 1] for name in "abcd"},
    )
    plan = estimator.plan()
    training = estimator.query().design().training
    drawn = [
        k * training.selected_by(e).draw.rho(e / k)
        for e, k in zip(training.epsilons, (4, 4, 3), strict=True)
    ]
    counts = 4 * rho_of_pure(training.rates_epsilon / 4)
    if rate_bound == "noisy-denominators":
        counts += rho_of_pure(training.totals_epsilon)

    assert estimator.fit(x, y).plan_ == plan
    assert plan.neighbours == dp.Neighbours(relation)
    assert plan.rho == pytest.approx(sum(drawn) + counts)


def test_candidates_are_reproducible_and_draws_are_not_seeded():
    x, y = frame()
    query = classifier().query(list("abcd"))
    runs = [
        drawn(query, (x, y), Simulated(np.random.default_rng(5))).tree.to_text()
        for _ in range(2)
    ]

    assert runs[0] == runs[1]


def test_plots_the_best_tree_and_predicts_by_any_of_the_front():
    x, y = frame()
    fitted = classifier().fit(x, y)

    assert len(fitted.plot().texts) == len(fitted.tree_.plot().texts)
    fitted.tree_ = fitted.front_[2].tree
    assert fitted.predict(x).shape == y.shape


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
    training, codes = made.training, np.array([[0], [1]])
    noisy = np.array([1.5, 2.0]) if rate_bound == "noisy-denominators" else None
    found = {}
    for cells in DATABASES:
        counts = MemoryCounts(made.rows.schema, codes, np.array(cells).reshape(2, 2))
        hits, totals = counts.hits([*TREES.values()]), counts.totals()
        found[cells] = training._objective(hits, totals, noisy)
    return found


@pytest.mark.parametrize("selection", ["pareto", "weighted-sum", "margin"])
@pytest.mark.parametrize("rate_bound", ["noisy-denominators", "local", "global"])
def test_facts_of_a_selection_are_those_of_its_objectives(selection, rate_bound):
    if (selection, rate_bound) == ("margin", "local"):
        return
    fields = {"selection": selection, "rate_bound": rate_bound, "weights": (3.0, 2.0)}
    fields |= {"domains": {"a": [0, 1]}}
    training = classifier(**fields).query().design().training
    noisy = np.array([9.0, 12.0]) if rate_bound == "noisy-denominators" else None
    made = training._objective(np.array([[3, 4], [5, 6]]), np.array([10, 12]), noisy)
    stated = training.facts

    assert (stated.direction, stated.step) == (made.direction, made.step)
    assert stated.highest == (made.highest and pytest.approx(made.highest))
    assert stated.sensitivity.bound >= made.sensitivity.bound


def front_is_admissible(found):
    """Definition 6, over records added and removed; a database with itself as well."""
    n = len(TREES)
    for cells, objective in found.items():
        here = [np.broadcast_to(objective.sensitivity.at(t), n) for t in range(5)]
        for near in [cells, *add_remove(cells)]:
            if near not in found:
                continue
            if (here[0] < np.abs(objective.scores - found[near].scores)).any():
                return False
            for t, further in enumerate(here[1:]):
                if (further < found[near].sensitivity.at(t)).any():
                    return False
    return True


def rates(cells, name):
    """Both rates of a tree, by their definition; 0 where a class has no record."""
    of_class = [(cells[label], cells[2 + label]) for label in (0, 1)]
    return [
        sum(n for n, said in zip(both, ANSWERS[name], strict=True) if said == label)
        / max(sum(both), 1)
        for label, both in enumerate(of_class)
    ]


def dominates(a, b, dominance):
    if dominance == "strict":
        return all(x > y for x, y in zip(a, b, strict=True))
    return all(x >= y for x, y in zip(a, b, strict=True)) and (dominance == "weak" or a != b)


@pytest.mark.parametrize("rate_bound", RATE_BOUNDS)
@pytest.mark.parametrize("dominance", ["weak", "standard", "strict"])
def test_every_kind_of_dominance_has_its_scores_and_is_admissible(dominance, rate_bound):
    found = pareto_of_trees(dominance, rate_bound)

    assert front_is_admissible(found)
    for cells, objective in found.items():
        points = [rates(cells, name) for name in TREES]
        scores = [
            -sum(dominates(b, a, dominance) for j, b in enumerate(points) if i != j)
            for i, a in enumerate(points)
        ]
        assert objective.scores.tolist() == scores


@given(seeds, st.integers(0, 3))
def test_published_mutation_grows_full_subtrees_to_the_largest_depth(seed, questions):
    family = published(seed)
    tree = family.random_tree(questions)
    position = int(np.random.default_rng(seed).integers(ev.size(tree)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ev.Breeder, "_anywhere", lambda _self, _tree: position)
        mutated = family.mutated(tree)
    grown, _ = ev.found(mutated, position)

    assert ev.size(grown) == 2 ** (6 - ev.found(tree, position)[1]) - 1
    assert ev.depth(mutated) == 5


@pytest.mark.parametrize("rate_bound", RATE_BOUNDS)
@pytest.mark.parametrize("name", [*GIVEN, "noisy-sequence"])
def test_trees_are_drawn_by_the_mechanism_that_was_asked_for(rate_bound, name, monkeypatch):
    kind, asked = dp.mechanisms.MECHANISMS[name], []
    draw = kind.draw_positions
    monkeypatch.setattr(kind, "draw_positions", lambda *of: asked.append(of) or draw(*of))
    fitted = classifier(rate_bound=rate_bound, mechanism=name).fit(*frame())
    totals = {"noisy-denominators": 0.05}.get(rate_bound, 0.0)

    assert [k for *_, k in asked] == [4, 4, 3]
    each = 20 * (1 - totals - 0.1) / 3
    assert [one.epsilon for one, *_ in asked] == pytest.approx([each] * 3)
    assert fitted.plan_.mechanism == f"{name} by weighted-sum, {rate_bound}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"mechanism": "best"},
        {"mechanism": "shifted", "rate_bound": "local"},
        {"mechanism": "anchored"},
        {"mechanism": lambda epsilon: dp.PermuteAndFlip(epsilon=2 * epsilon)},
        {"mechanism": {"name": "noisy-sequence", "noise": "gaussian", "delta": 1e-6}},
    ],
)
def test_a_mechanism_that_cannot_draw_trees_is_refused_before_the_charge(wrong):
    budget = dp.Budget(25.0, neighbours="add-remove")
    with pytest.raises(ParameterError):
        classifier(**wrong, budget=budget).fit(*frame())

    assert budget.entries == ()


def test_dp_moet_has_the_inputs_of_algorithm_1():
    """One selection more than rounds; a path has one question less than levels of nodes."""
    fields = dp.trees.dp_moet(p=30, s=5, k=3, d=4, d_max=10, o=2)
    query = dp.TreeFront(
        **fields, domains={"a": [0, 1]}, classes=[0, 1], max_records=9, epsilon=1.0,
        neighbours="add-remove",
    )  # fmt: skip
    training = query.design().training

    assert training.label == "local-dampening by pareto, local"
    assert (query.dominance, query.operators) == ("weak", "published")
    assert len(training.epsilons) == 3 + 1
    assert sum(training.epsilons) == pytest.approx(1.0)
    first = ev.Breeder(SCHEMA, np.random.default_rng(1), 9).random_tree(query.initial_depth)
    assert ev.size(first) == 2**4 - 1
    assert (query.max_depth, query.population, query.survivors, query.front) == (9, 30, 5, 2)
