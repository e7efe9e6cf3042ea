"""The studies on trees: what they measure equals what they say it is."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import model_selection

import dpselect as dp
from dpselect.trees import Tree
from dpselect.trees.base import Simulated
from dpselect.trees.candidates import depth as questions
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.domains import OUTSIDE, Categories, Schema
from dpselect_studies import datasets, surveys
from dpselect_studies.farias_2023 import figure_11, peers
from dpselect_studies.farias_2024 import evolving, figure_2, table_1
from dpselect_studies.surveys import Survey
from support.real_data import or_skip

SCHEMA = Schema(tuple("abc"), (Categories("uv"), Categories("xyz"), Categories("pq")), (0, 1))
seeds = st.integers(0, 10**6)


def survey(seed, records=120):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, records) for size in SCHEMA.sizes], axis=1)
    labels = (rng.random(records) < 0.2 + 0.2 * codes[:, 1]).astype(np.int64)
    return Survey(codes, labels, SCHEMA)


def record_by_record(table, part, plan, sampler):
    """Cross-validate record by record."""
    right = 0
    for fold in range(figure_11.FOLDS):
        train = part != fold
        known = MemoryCounts.of_records(SCHEMA, table.codes[train], table.labels[train])
        tree = Tree(SCHEMA, plan.grow(known, sampler))
        found = tree.probabilities(table.codes[~train]).argmax(axis=1)
        right += (found == table.labels[~train]).sum()
    return right / len(table.labels)


@settings(max_examples=8)
@given(seeds, st.sampled_from(list(figure_11.MECHANISMS)), st.sampled_from([0.5, 5.0, 1e9]))
def test_cross_validation_of_patterns_is_that_of_records(seed, method, epsilon):
    table, part = survey(seed), figure_11.folds(120, 0)
    cell = figure_11.Cell("made up", 2, method, (epsilon,), 1)
    mechanism = figure_11.MECHANISMS[method]
    plan = surveys.growth(SCHEMA, epsilon, 2, mechanism)
    sampler = Simulated(np.random.default_rng(seed))
    naive = record_by_record(table, part, plan, sampler)

    rng = np.random.default_rng(seed)
    assert figure_11.accuracies(table, part, cell, (epsilon,), rng) == [naive]


def test_the_majority_is_that_of_the_other_folds():
    table, part = survey(1), figure_11.folds(120, 0)
    cell = figure_11.Cell("made up", 2, figure_11.MAJORITY, (1.0,), 1)
    right = [
        (table.labels[part == k] == (table.labels[part != k].mean() > 0.5)).sum()
        for k in range(figure_11.FOLDS)
    ]

    rng = np.random.default_rng(0)
    assert figure_11.accuracies(table, part, cell, (1.0,), rng) == [sum(right) / 120]


def test_as_printed_half_of_epsilon_is_wasted_and_a_path_leaves_what_it_has():
    class Asked:
        def simulate(self, objective, k, *, size, rng):
            self.law = dp.ExponentialMechanism(epsilon=1.0).probabilities(objective)
            return dp.ExponentialMechanism(epsilon=1.0).simulate(
                objective, k, size=size, rng=rng
            )

    asked = Asked()
    bound = dp.GlobalSensitivity(2.0, dp.Neighbours.ADD_REMOVE)
    sampler = figure_11.PrintedSampler(np.random.default_rng(0), 0.01)
    sampler.choose(asked, dp.Objective([0.0, 4.0], bound, monotone=True), 1)
    noise = [sampler.count([0], 5.0)[0] for _ in range(200)]

    assert asked.law == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)])
    # The mean size of noise is 100 at 0.01, and 0.01 at 5.
    assert np.abs(noise).mean() > 50


@pytest.mark.parametrize("code", [False, True])
@pytest.mark.parametrize(
    "method", [*table_1.METHODS.values(), *figure_2.METHODS.values()], ids=str
)
def test_every_evolution_costs_what_it_is_printed_to_cost(method, code):
    made = evolving.CodeCell if code else evolving.Cell
    cell = made("made up", "one", table_1.SIZES, (0.7,), 1)
    plan = evolving.evolution(SCHEMA, cell, method, 0.7)

    paid = sum(spend.epsilon * spend.times for spend in plan.spends())
    assert paid == pytest.approx(0.7 * (1 if code else table_1.SIZES.generations))
    assert len(plan.epsilons) == table_1.SIZES.generations
    weak = code and method.selection == "pareto"
    assert plan.asked.dominance == ("weak" if weak else "standard")


def test_in_the_code_children_are_parents_and_no_deeper_than_they_were():
    cell = evolving.CodeCell("made up", "one", table_1.SIZES, (0.7,), 1)
    method = next(iter(table_1.METHODS.values()))
    made = evolving.evolution(SCHEMA, cell, method, 0.7)
    breeder = made.breeder(np.random.default_rng(0))
    parents = [breeder.random_tree(2), breeder.random_tree(2)]

    born = breeder.children(parents, 40)

    # From a child of depth 3 and another one comes a deeper tree; from two parents none.
    assert max(map(questions, breeder.children(parents, 1))) <= 4
    assert max(map(questions, born)) > 4
    assert all(questions(breeder.mutated(one)) <= questions(one) for one in born)


def test_the_sum_of_the_code_has_what_moves_one_rate_twice():
    found = evolving.sum_not_private(10, 2, (2.0, 3.0))

    assert found.at(0) == pytest.approx(3 / 10 + 2 / 9)
    assert found.at(1) == pytest.approx(3 / 8 + 2 / 7)
    assert evolving.sum_not_private(1, 2, (2.0, 3.0)).at(0).tolist() == [5.0] * 2


def test_a_third_is_held_out_as_in_the_code_and_no_record_is_lost():
    made, held = or_skip(surveys.divided, "nltcs-code")
    table = surveys.load("nltcs-code")
    first, second = model_selection.train_test_split(
        table.labels, test_size=0.33, random_state=0
    )

    assert (made.totals() == np.bincount(first)).all()
    assert (held.totals() == np.bincount(second)).all()


@settings(max_examples=8)
@given(seeds)
def test_answers_by_weight_are_the_best_that_a_tree_can_give(seed):
    table = survey(seed)
    records = table.counts()
    worth = records.counts * figure_2.WEIGHTS / records.counts.sum(axis=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surveys, "load", lambda _name: table)
        patch.setattr(surveys, "counts", lambda _name: records)
        cell = replace(figure_2.cells(figure_2.SMALL)[0], method="ShiftedLocalDiffPID3")
        rng = np.random.default_rng(seed)
        plain, weighted = figure_2.grown(cell, figure_2.NO_PRIVACY, rng)

    # Without noise the tree has a leaf for every pattern.
    assert weighted == pytest.approx(worth.max(axis=1).sum())
    assert plain == pytest.approx(figure_2.fitness(records.counts, records))


def test_fitness_is_three_true_positive_and_two_true_negative_rates():
    schema = Schema(("a",), (Categories("uv"),), (0, 1))
    records = MemoryCounts(schema, np.array([[0], [1]]), np.array([[30, 5], [10, 15]]))

    always_positive, by_pattern = np.array([[0.0, 1.0]] * 2), np.array([[0.9, 0.1], [0.1, 0.9]])

    assert figure_2.fitness(always_positive, records) == 3.0
    assert figure_2.fitness(by_pattern, records) == pytest.approx(3 * 15 / 20 + 2 * 30 / 40)


def test_the_best_tree_of_a_front_is_that_of_the_best_mean_of_rates():
    fronts = [np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[0.0, 1.0], [0.2, 1.0]])]

    assert table_1.balanced(fronts) == pytest.approx((0.7 + 0.6) / 2)


def test_a_run_is_shown_at_its_printed_and_at_its_whole_epsilon():
    one = {"survey": "A", "method": "M", "epsilon": 1.0, "total": 3.0}
    frame = pl.DataFrame([{**one, "C": 0.1, "runs": 100}, {**one, "C": 0.4, "runs": 50}])

    found = evolving.both_readings(frame)

    assert found.select("panel", "shown").rows() == [
        ("A, epsilon as printed", 1.0),
        ("A, epsilon in all", 3.0),
    ]
    assert found["C"].to_list() == pytest.approx([0.2, 0.2])


@pytest.mark.parametrize(
    ("name", "records"), [("nltcs", 21_574), ("acs", 47_461), ("adult", 45_222)]
)
def test_no_record_is_outside_of_what_the_publishers_document(name, records):
    table = or_skip(surveys.load, name)

    assert table.codes.shape == (records, len(table.schema.names))
    assert (table.codes != OUTSIDE).all()
    assert (table.codes < table.schema.sizes).all()
    assert records <= surveys.MAX_RECORDS


def test_accuracies_of_other_libraries_are_those_that_were_measured():
    stored = pl.read_csv(Path(__file__).parents[2] / "benchmarks/results/trees_peers.csv")

    for method, name, depth, epsilon, accuracy in stored.select(
        "method", "data", "depth", "epsilon", "accuracy"
    ).iter_rows():
        assert peers.accuracy(method, name, depth or 5, epsilon) == accuracy
    assert set(stored["method"]) == set(peers.METHODS)


def test_without_privacy_the_code_keeps_the_last_of_equals():
    bound = dp.GlobalSensitivity(1.0, dp.Neighbours.ADD_REMOVE)
    objective = dp.Objective([1.0, 3.0, 3.0, 2.0, 3.0], bound)
    sampler = evolving.Last(np.random.default_rng(0))

    found = sampler.choose(dp.ExponentialMechanism(epsilon=1.0), objective, 4)

    assert found == [3, 1, 2, 4]


def leads(first, second):
    """Return the leads of two methods, of their accuracies in both halves of the runs."""
    rows = [
        {
            "survey": "ACS", "depth": 2, "method": method, "epsilon": float(i),
            "first_half": a, "second_half": b, "standard_error": 0.01, "runs": 10,
        }
        for method, halves in ((figure_11.PLAIN, first), (figure_11.EXPONENTIAL, second))
        for i, (a, b) in enumerate(halves)
    ]  # fmt: skip
    found = figure_11.with_leads(pl.DataFrame(rows))
    return found.filter(lead="local over exponential", survey="ACS").row(0, named=True)


def test_a_lead_is_looked_for_in_one_half_of_the_runs_and_taken_of_the_other():
    found = leads([(0.9, 0.6), (0.7, 0.8)], [(0.5, 0.5), (0.5, 0.5)])

    # The first half is furthest ahead at the first epsilon, where the second has .1.
    assert found["points"] == pytest.approx(100 * (0.1 + 0.2) / 2)
    assert found["standard_error"] == pytest.approx(100 * 0.01 * np.sqrt(2))


def test_equal_methods_have_no_lead_on_average():
    rng = np.random.default_rng(0)
    found = [leads(*rng.normal(0.7, 0.01, (2, 36, 2)))["points"] for _ in range(200)]

    # The largest of 36 differences would be 2.9 on average; this errs by .1.
    assert abs(np.mean(found)) < 0.3


@pytest.mark.parametrize(("name", "column"), [("nltcs-code", 13), ("acs-code", 10)])
def test_the_class_of_the_code_is_another_column(name, column):
    table = or_skip(datasets.load, name.removesuffix("-code")).to_numpy()

    found = surveys.load(name)

    assert np.array_equal(found.labels, table[:, column])
    assert np.array_equal(found.codes, np.delete(table, column, axis=1))


def test_adult_of_the_code_has_twelve_columns():
    adult = or_skip(surveys.load, "adult-code")
    sizes = dict(zip(adult.schema.names, adult.schema.sizes.tolist(), strict=True))

    assert len(sizes) == 12
    assert (sizes["education_num"], sizes["marital_status"], sizes["age"]) == (16, 2, 74)
