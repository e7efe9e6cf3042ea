"""ID3: its guarantee over whole trees, its price, and what it cannot tell."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpselect as dp
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import ColumnError, ParameterError
from dpselect.mechanisms import MECHANISMS
from dpselect.trees import (
    Bins,
    Categories,
    ID3Classifier,
)
from dpselect.trees.domains import Schema
from support.refusals import refused
from support.trees_definitions import Recording, counted

CLASSES = ["no", "yes"]


def frame(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], n)
    age = rng.integers(18, 90, n)
    y = np.where((colour == "red") ^ (rng.random(n) < 0.1), "yes", "no")
    return pl.DataFrame({"colour": colour, "age": age, "noise": rng.integers(0, 2, n)}), y


DOMAINS = {"colour": ["red", "green", "blue"], "age": Bins(18, 90, bins=4), "noise": [0, 1]}


def classifier(**changed):
    arguments = {
        "epsilon": 20.0,
        "max_depth": 2,
        "domains": DOMAINS,
        "classes": CLASSES,
        "max_records": 5000,
    }
    return ID3Classifier(**(arguments | changed))


def growth(schema, epsilon, most, **fields):
    """The growth of a tree over a schema."""
    public = {"domains": schema.named, "classes": schema.classes, "max_records": most}
    query = dp.ID3Tree(**public, epsilon=epsilon, neighbours="add-remove", **fields)
    return query.design()


def log_probability(plan, cells, script):
    """Log of the probability of one outcome, up to a constant that no data change."""
    sampler = Recording(script)
    plan.grow(counted(plan.schema, cells), sampler)
    assert not sampler.script
    return sampler.log


def largest_loss(plan, scripts, databases, most=2):
    """By definition: the largest loss of the outcomes over databases and a record more."""
    rng, worst = np.random.default_rng(3), 0.0
    number = len(plan.schema.classes) * int(plan.schema.sizes.prod())
    for _ in range(databases):
        cells = rng.integers(0, most + 1, number)
        for i, script in product(range(number), scripts):
            more = cells.copy()
            more[i] += 1
            loss = log_probability(plan, cells, script) - log_probability(plan, more, script)
            worst = max(worst, abs(loss))
    return worst


BINARY = Schema(("a", "b"), (Categories([0, 1]), Categories([0, 1])), (0, 1))
NUMBERS = Schema(("a", "b"), (Bins(0, 3, bins=3), Categories([0, 1])), (0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_outcome_is_epsilon_private(mechanism):
    """Over whole trees: no outcome's probability moves by more than e^eps."""
    plan = growth(
        BINARY, 1.5, 20, max_depth=2, criterion="information-gain", mechanism=mechanism,
        splits="values",
    )  # fmt: skip
    enough = int(plan.enough([range(2)] * 2)) + 1
    scripts = [
        # Every node is split: sizes and columns level by level, then four leaves' counts.
        [enough, 0, enough, enough, 0, 0, 3, 1, 0, 2, 3, 1, 0, 2],
        [enough, 1, enough, enough, 0, 0, 0, 0, 5, -1, 0, 0, 5, -1],
        # The first node below the root is a leaf, and the second one is split.
        [enough, 0, 0, 4, 1, enough, 0, 1, 1, 2, 2],
        [0, 5, 2],
    ]
    # The law of noisy-max is an integral, a hundred times slower than the others.
    worst = largest_loss(plan, scripts, 1 if mechanism == "noisy-max" else 12)

    assert 0.5 * plan.asked.epsilon < worst <= plan.asked.epsilon * (1 + 1e-9)


THRESHOLDS = [
    # The edges 1 and 2 of a, or b: a below 1 is asked for b alone, above it for both.
    (2, [0, 0, 1, 3, 1, 0, 2, 3, 1, 0, 2]),
    (2, [0, 0, 0, 0, 0, 0, 0, 9, 1, 1, 5]),
    (2, [2, 0, 1, 3, 1, 0, 0, 0, 2, 4, 4]),
    # Two paths end after two of three questions, and their leaves get the rest.
    (3, [0, 0, 0, 3, 1, 0, 2, 0, 0, 3, 1, 0, 2, 1, 1, 0, 0]),
    (3, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
]


@pytest.mark.parametrize(
    ("criterion", "depth", "script"),
    [
        pytest.param(criterion, *asked, marks=[pytest.mark.slow] * ((one + other) % 2))
        for one, criterion in enumerate(["gini", "majority", "information-gain"])
        for other, asked in enumerate(THRESHOLDS)
    ],
)
def test_every_outcome_of_thresholds_is_epsilon_private(criterion, depth, script):
    plan = growth(NUMBERS, 1.5, 20, max_depth=depth, criterion=criterion)
    worst = max(largest_loss(plan, [script], 4, most) for most in (0, 1, 4))

    assert 0.4 * plan.asked.epsilon < worst <= plan.asked.epsilon * (1 + 1e-9)


@pytest.mark.parametrize("number", [0, 100])
def test_the_noisy_size_of_a_node_alone_decides_whether_it_is_split(number):
    """Empty nodes are split, and large ones are leaves, if the draws say so."""
    plan = growth(BINARY, 1.5, 1000, max_depth=2, criterion="majority", splits="values")
    enough = int(plan.enough([range(2)] * 2)) + 1

    for script in ([0, 5, 2], [enough, 0, 0, 4, 1, enough, 0, 1, 1, 2, 2]):
        assert np.isfinite(log_probability(plan, np.full(8, number), script))


def path_rho(mechanism, epsilon, depth, length, tests):
    """The largest rho of a path of so many splits, of ``depth`` at most, under add/remove."""
    units = (1 + tests) * (depth + 1)
    unit = epsilon / units
    splits = length * (tests * rho_of_pure(unit) + mechanism.draw.rho(unit))
    if length == depth:
        return splits + rho_of_pure((1 + tests) * unit)
    left = units - (1 + tests) * length - tests
    return splits + tests * rho_of_pure(unit) + rho_of_pure(left * unit)


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("mechanism", ["shifted", "permute-and-flip", "noisy-max"])
@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("splits", ["thresholds", "values"])
def test_rho_is_that_of_the_path_where_it_is_largest(
    relation, mechanism, depth, epsilon, splits
):
    """A substitution is two steps: of one node at twice the price, or of two at the price."""
    plan = classifier(
        epsilon=epsilon,
        max_depth=depth,
        mechanism=mechanism,
        neighbours=relation,
        splits=splits,
    ).plan()
    kind, tests = MECHANISMS[mechanism](epsilon=1.0), int(splits == "values")
    whole = [path_rho(kind, epsilon, depth, length, tests) for length in range(depth + 1)]
    half = [path_rho(kind, epsilon / 2, depth, length, tests) for length in range(depth + 1)]

    assert plan.rho == pytest.approx(max(whole))
    assert 2 * max(half) <= plan.rho * (1 + 1e-9)
    assert plan.rho <= rho_of_pure(epsilon) * (1 + 1e-9)


def test_without_parameters_all_that_must_be_given_are_named_at_once():
    with pytest.raises(ParameterError) as error:
        ID3Classifier().fit([[0], [1]], [0, 1])

    assert str(error.value) == ("ID3Classifier needs epsilon, domains, classes, max_records")
    with refused("epsilon"):
        ID3Classifier(domains=[[0, 1]], classes=[0, 1], max_records=9).fit([[0]], [0])


def test_two_columns_of_one_name_are_refused():
    with refused(error=ColumnError):
        classifier(epsilon=1.0).fit(pd.DataFrame([[1, 2]], columns=["age", "age"]), ["yes"])


def test_an_unknown_value_stops_where_it_cannot_go_on():
    x, y = frame()
    tree = classifier(epsilon=200.0).fit(x, y)
    unknown = tree.predict_proba(pl.DataFrame({"colour": ["mauve"], "age": [20], "noise": [0]}))

    assert unknown[0, 1] == pytest.approx((y == "yes").mean(), abs=0.05)
