"""Group privacy: the price of a release by rows for all rows of a person."""

from math import exp, log

import pytest
from hypothesis import given, strategies as st

from dpselect._numbers import exact
from dpselect.budget.entry import grouped, priced
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import InsufficientBudgetError

GRID = 12
"""Probabilities of laws over two outcomes are multiples of one over it."""


LAWS = [n / GRID for n in range(GRID + 1)]


def excess(p, q, *losses):
    """The least delta of two laws over two outcomes, of which each may cost its loss."""
    pairs = ((p, q), (1 - p, 1 - q))
    return sum(max(0.0, a - exp(c) * b) for (a, b), c in zip(pairs, losses, strict=True))


def between(p, q, *losses):
    return max(excess(p, q, *losses), excess(q, p, *losses))


def chains(delta, rows, *losses):
    """All laws for 0 to so many rows of a person that keep the delta for one row."""
    near = {p: [q for q in LAWS if between(p, q, *losses) <= delta + 1e-12] for p in LAWS}
    made = [(p,) for p in LAWS]
    for _ in range(rows):
        made = [(*chain, q) for chain in made for q in near[chain[-1]]]
    return made


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(log(2), 1 / 12), (log(2), 0.0), (0.0, 1 / 12), (log(1.5), 1 / 6)]
)
def test_every_release_by_rows_keeps_the_price_for_a_person(epsilon, delta, rows):
    """Over all chains of databases that add a person's rows one by one."""
    price = grouped(priced(epsilon or 0.0, delta, None), rows)
    made = chains(delta, rows, epsilon, epsilon)

    worst = max(between(a, b, price.epsilon, price.epsilon) for a, *_, b in made)

    assert worst <= price.delta + 1e-9


@pytest.mark.parametrize("rows", [2, 3])
def test_some_release_attains_the_delta(rows):
    """Each row more doubles the probability of an outcome, and adds delta to it."""
    epsilon, delta = log(2), 1 / 12
    price = grouped(priced(epsilon, delta, None), rows)
    growing = [0.0]
    for _ in range(rows):
        growing.append(2 * growing[-1] + delta)

    reached = excess(growing[-1], growing[0], price.epsilon, price.epsilon)
    assert price.delta == pytest.approx(reached)
    assert price.delta == pytest.approx(delta * (2**rows - 1))
    on_grid = tuple(round(p * GRID) / GRID for p in growing)
    assert on_grid in chains(delta, rows, epsilon, epsilon)


@pytest.mark.parametrize("rows", [2, 3])
def test_a_price_by_outcome_is_given_back_for_every_row(rows):
    """All laws over two outcomes of which one costs nothing and the other log 2."""
    price = grouped(priced(log(2), 1 / GRID, None), rows)
    made = chains(1 / GRID, rows, 0.0, log(2))

    assert max(between(a, b, 0.0, rows * log(2)) for a, *_, b in made) <= price.delta


@given(st.floats(1e-3, 3), st.integers(2, 40))
def test_a_pure_release_stays_pure_and_is_zcdp_by_the_square(epsilon, rows):
    single = priced(epsilon, 0.0, epsilon**2 / 8)
    price = grouped(single, rows)

    assert price.delta == 0
    assert exact(price.epsilon) >= rows * exact(epsilon)
    assert price.epsilon == pytest.approx(rows * epsilon)
    assert price.rho == pytest.approx(
        min(rows**2 * single.rho, rho_of_pure(price.epsilon)), rel=1e-9
    )
    assert price.steps == rows


@pytest.mark.parametrize(("epsilon", "rows"), [(800.0, 2), (1.0, 2**53)])
def test_a_delta_above_one_is_one(epsilon, rows):
    assert grouped(priced(epsilon, 1e-300, None), rows).delta == 1.0


def test_an_epsilon_above_all_floats_is_refused():
    with pytest.raises(InsufficientBudgetError):
        grouped(priced(1e308, 0.0, None), 3)
