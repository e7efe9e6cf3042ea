"""Running counts: privacy over all streams of a small universe, laws, covariance, readers."""

from dataclasses import replace
from functools import cache
from itertools import combinations, product
from math import isclose

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.budget.zcdp import rho_for
from dpselect.draws.sequence import DiscreteGaussian, DiscreteLaplace
from dpselect_applications.series import factors
from dpselect_applications.series.factors import Factors

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
every_relation = pytest.mark.parametrize("relation", [ADDED, REPLACED])
PERIODS, KEYS = [1, 2, 3], ["a", "b"]
CELLS = list(product(PERIODS, KEYS))
SCHEMA = {"person": pl.Int64, "month": pl.Int64, "code": pl.String}


def asked(**more):
    fields = {"column": "code", "period": "month", "periods": PERIODS, "k": 1}
    fields |= {"candidates": KEYS, "epsilon": 2.0, "neighbours": ADDED}
    return dp.Series(**{**fields, **more})


def of_persons(most, **more):
    """Return the query of persons, or of rows if there is no number of them."""
    return asked(user="person", max_per_user=most, **more) if most else asked(**more)


@cache
def counts(query, rows, number):
    """Return the counts of the first periods, as they are read."""
    return query.made.counts(pl.DataFrame(rows, schema=SCHEMA, orient="row"), number)


def counts_after_each(query, rows):
    """Return the counts as they are read after each period, of the rows up to it alone."""
    # What is read depends on neither the price nor the relation.
    query = replace(query, epsilon=1.0, delta=0.0, neighbours=ADDED)
    return [
        counts(query, tuple(row for row in rows if row[1] <= period), number)
        for number, period in enumerate(PERIODS, 1)
    ]


# Streams of a small universe: one person's rows are any set of cells, others stay.

OTHERS = [(), ((7, 1, "a"), (7, 3, "b"), (8, 2, "b")), ((7, 3, "a"), (9, 3, "a"), (9, 3, "b"))]
PEOPLE = [0, 1, 5]
EVERY_SET = [rows for size in range(len(CELLS) + 1) for rows in combinations(CELLS, size)]


def moves(query):
    """Return all differences of the sums of neighbouring streams, each once.

    By what one person's rows add to them; where a row is a person, by no row or one.
    """
    weights, found = query.made.factors.weights, set()
    sets = EVERY_SET if query.user else [one for one in EVERY_SET if len(one) < 2]
    for others, person in zip(OTHERS, PEOPLE, strict=True):
        made = []
        for held in sets:
            counts = counts_after_each(query, [*others, *((person, *cell) for cell in held)])
            made.append([weights[at, : at + 1] @ one for at, one in enumerate(counts)])
        made = np.array(made)
        moved = made - made[0] if query.neighbours is ADDED else made - made[:, None]
        found |= set(map(tuple, np.unique(moved.reshape(-1, made[0].size), axis=0).tolist()))
    return found


@cache
def loss_of(noise, move):
    """Return the largest log ratio of the law of one sum and of that moved, by its masses."""
    z = np.arange(-60, 61)
    return float(np.log(noise.mass(z) / noise.mass(z - move)).max())


def check_price(query):
    """Hold the loss of all sums together, whose noise is independent, against the plan."""
    noise = query.made.factors.noise
    losses = [np.array([loss_of(noise, one) for one in move]) for move in moves(query)]

    assert isclose(max(each.sum() for each in losses), query.epsilon, rel_tol=1e-9)
    assert query.plan.rho >= max((each * np.tanh(each / 2)).sum() for each in losses)


def delta_of(noise, move, epsilon):
    """Return the exact delta of sums that are moved, by the law of the privacy loss."""
    moved = [one for one in move if one]
    z = np.arange(-int(noise.reach), int(noise.reach) + 1)
    law, start = np.ones(1), 0
    for one in moved:
        # The loss is linear in the noise: its law is that of a sum of integers.
        losses = np.log(noise.mass(z) / noise.mass(z + one))
        assert np.allclose(losses, (2 * z * one + one**2) / (2 * noise.scale**2), atol=1e-6)
        spread = np.zeros((z.size - 1) * abs(one) + 1)
        spread[:: abs(one)] = noise.mass(z)
        law, start = np.convolve(law, spread), start - abs(one) * (z.size // 2)
    squares = sum(one**2 for one in moved)
    loss = (2 * (start + np.arange(law.size)) + squares) / (2 * noise.scale**2)
    return float(law @ np.maximum(-np.expm1(epsilon - loss), 0))


@every_relation
@pytest.mark.parametrize("most", [1, 2, None])
def test_laplace_noise_costs_epsilon_over_all_streams_and_no_less(relation, most):
    query = of_persons(most, neighbours=relation)

    assert isinstance(query.made.factors.noise, DiscreteLaplace)
    check_price(query)


@every_relation
def test_a_tree_costs_epsilon_over_all_streams_and_no_less(relation, monkeypatch):
    monkeypatch.setattr(factors, "best_tree", lambda periods: factors.tree(periods, 2))
    query = of_persons(1, neighbours=relation)
    made = query.made.factors

    assert made.weights.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert made.estimate.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    check_price(query)


@pytest.fixture
def few_steps(monkeypatch):
    """Make weights small integers, so that laws can be summed."""
    monkeypatch.setattr(factors, "STEPS", 8)


@every_relation
@pytest.mark.parametrize("most", [1, 2, None])
@pytest.mark.usefixtures("few_steps")
def test_gaussian_noise_costs_rho_and_at_most_delta_over_all_streams(relation, most):
    query = of_persons(most, neighbours=relation, epsilon=0.5, delta=0.05)
    changed = (most or 1) * (2 if relation is REPLACED else 1)
    other = Factors.with_gaussian(3, changed, rho_of(query))
    object.__setattr__(query.made, "factors", other)
    moved = moves(query)
    squares = max(sum(one**2 for one in move) for move in moved)
    rho = squares / (2 * other.noise.scale**2)

    # Two keys cannot differ in four ways.
    assert rho <= rho_of(query)
    if (relation, most) != (REPLACED, 2):
        assert isclose(rho, rho_of(query), rel_tol=1e-9)
    worst = max(moved, key=lambda move: sum(one**2 for one in move))
    for move in {worst, *sorted(moved)[:: max(1, len(moved) // 20)]}:
        assert delta_of(other.noise, move, query.epsilon) <= query.delta
    assert delta_of(other.noise, worst, query.epsilon) > query.delta / 100


def rho_of(query):
    return rho_for(query.epsilon, query.delta)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("periods", [1, 2, 3])
@pytest.mark.usefixtures("few_steps")
def test_the_covariance_is_that_of_all_outcomes(periods, gaussian):
    make = Factors.with_gaussian if gaussian else Factors.with_laplace
    made = make(periods, 1, 40.0)
    reach = 20
    z = np.arange(-reach, reach + 1)
    counts = np.arange(periods) + 3
    outcomes = np.array(list(product(z, repeat=periods)))
    chances = np.prod(made.noise.mass(outcomes), axis=1)
    errors = made.running((made.weights @ counts + outcomes).T) - np.cumsum(counts)[:, None]
    mean = errors @ chances
    covariance = (errors * chances) @ errors.T

    assert isclose(chances.sum(), 1, rel_tol=1e-9)
    assert np.allclose(mean, 0, atol=1e-9)
    assert np.allclose(covariance, made.covariance, rtol=1e-7, atol=1e-12)
    assert np.allclose(made.standard_errors**2, np.diag(covariance), rtol=1e-7)
    bound = made.error_bound(0.95)
    assert chances[np.abs(errors[-1]) <= bound].sum() >= 0.95


@pytest.mark.parametrize("periods", [2, 12, 100])
@pytest.mark.parametrize("most", [1, 3, 10])
def test_the_noise_with_the_smaller_error_is_drawn(periods, most):
    query = of_persons(most, periods=range(periods), epsilon=1.0, delta=1e-6)
    laplace = Factors.with_laplace(periods, most, 1.0)
    gaussian = Factors.with_gaussian(periods, most, rho_of(query))
    errors = [one.standard_errors.max() for one in (laplace, gaussian)]

    assert query.made.factors.standard_errors.max() == min(errors)
    is_gaussian = isinstance(query.made.factors.noise, DiscreteGaussian)
    assert query.plan.delta == (1e-6 if is_gaussian else 0.0)
    assert is_gaussian == (errors[1] < errors[0])
