"""Noise on all scores at once: its theorem by brute force, its laws, its draws."""

from functools import partial
from itertools import combinations, product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
from dpselect.budget import zcdp
from dpselect.draws.grid import to_steps
from dpselect.draws.sequence import DiscreteLaplace
from dpselect.mechanisms.top_k import or_gaussian
from dpselect.networks import Graph, degree
from support.refusals import refused

EDGE, AR = dp.Neighbours.EDGE, dp.Neighbours.ADD_REMOVE
PAIRS = list(combinations(range(3), 2))
GRAPHS = [frozenset(edges) for size in range(4) for edges in combinations(PAIRS, size)]
WINDOW = np.arange(-7, 10)
VECTORS = np.array(list(product(WINDOW, repeat=3)))
EPSILON = 1.0


def degrees(edges):
    return degree(Graph.from_edges(sorted(edges), nodes=3))


def log_law(mechanism, objective):
    """The log probability of every noisy vector of the window, noise by noise."""
    noisy = mechanism._noisy(objective)
    alpha = exp(-1 / noisy.noise.scale)
    distance = np.abs(VECTORS - noisy.counts).sum(axis=1)
    return 3 * log((1 - alpha) / (1 + alpha)) + distance * log(alpha)


SEQUENCE = dp.NoisySequence(epsilon=EPSILON)


def test_all_noisy_scores_cost_epsilon_whatever_is_read_off_them():
    """By the law of all noisy vectors, over all pairs of neighbouring graphs."""
    laws = {graph: log_law(SEQUENCE, degrees(graph)) for graph in GRAPHS}
    losses = [
        np.abs(laws[x] - laws[y]).max() for x, y in combinations(GRAPHS, 2) if len(x ^ y) == 1
    ]

    assert max(losses) == pytest.approx(EPSILON)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"l1": 1.0}, "l1"),
        ({"bound": 1 - 2**-53}, "bound"),
        ({"step": 0.7}, "step"),
        ({"step": 2.0}, "step"),
    ],
)
def test_no_option_lowers_what_the_objective_has(option, message):
    mechanism, objective = dp.NoisySequence(epsilon=EPSILON, **option), degrees(GRAPHS[0])
    for asks in (mechanism.release, mechanism.probabilities, mechanism.for_objective):
        with refused(message):
            asks(objective)
    selection = dp.Selection(mechanism=mechanism, k=1, neighbours=EDGE)
    budget = dp.Budget(1.0, neighbours=EDGE)
    with refused(message):
        selection.release(objective, budget=budget)

    assert budget.spent == 0


def test_a_plan_made_without_a_step_does_not_charge_less_than_its_noise():
    """Of one step of 1 nothing is left of an l1 of 1.99 but the move of one score."""
    mechanism = dp.NoisySequence(epsilon=EPSILON, l1=1.99, bound=1)
    objective = dp.Objective([0, 3], dp.GlobalSensitivity(1, EDGE, l1=1.99), step=1)
    selection = dp.Selection(mechanism=mechanism, k=1, neighbours=EDGE)
    right = mechanism.for_objective(objective)

    assert right.spend("").rho > selection.plan.spends[0].rho
    with refused("bound", "mechanism", "step"):
        selection.release(objective)
    assert mechanism.release(objective).plan.spends[0].rho == right.spend("").rho


def test_the_rho_of_moves_of_at_most_the_bound():
    """Renyi divergences of all noisy degrees, by the laws of two degrees that move by one."""
    rho = SEQUENCE.for_objective(degrees(GRAPHS[0])).spend("noise").rho
    z = np.arange(-400, 401)
    here = np.exp(-np.abs(z) * EPSILON / 2)
    here, there = here / here.sum(), np.roll(here, 1) / here.sum()
    for alpha in (1, 1.5, 2, 5, 20, 100):
        divergence = 2 * dp.audit.renyi(here[:-1] / here[:-1].sum(), there[:-1], alpha)
        assert divergence <= rho * alpha * (1 + 1e-9)
    assert 2 * dp.audit.renyi(here, there, 1) == pytest.approx(rho)
    assert rho < 0.54 * dp.NoisySequence(epsilon=EPSILON).spend("noise").rho


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9),
    st.floats(1e-6, 1e6),
    st.lists(st.floats(-1, 1), min_size=9, max_size=9),
    st.lists(st.sampled_from([-1, 1]), min_size=9, max_size=9),
)
def test_the_grid_pays_for_rounding_all_scores(scores, l1, moves, signs):
    here = np.array(scores)
    shift = np.array(moves)[: here.size] * l1 / max(1.0, np.abs(moves).sum())
    error = 2.0**-49 * np.array(signs)[: here.size]
    limit = l1 * 2.0**37 / 2 ** (here.size - 1).bit_length()
    there = here + shift
    here, there = (np.clip(u, -limit, limit) for u in (here, there))
    one = to_steps(here + error * (np.abs(here) + l1), l1, None)
    other = to_steps(there - error * (np.abs(there) + l1), l1, None)

    assert np.abs(one.counts - other.counts).sum() <= one.l1
    assert one.l1 * one.unit <= l1 * (1 + 2.0**-9)


GAUSSIAN = partial(dp.NoisySequence, noise="gaussian", delta=1e-3)


@pytest.mark.parametrize(("l1", "bound", "squared"), [(2, 1, 2), (5, 2, 9), (7, 7, 49)])
def test_gaussian_noise_is_made_for_the_largest_sum_of_squares(l1, bound, squared):
    """Equal to the largest over all integer moves, so that less noise would not be rho-zCDP."""
    moves = product(range(bound + 1), repeat=4)
    most = max(sum(m * m for m in move) for move in moves if sum(move) <= l1)
    mechanism = GAUSSIAN(epsilon=1.0, l1=l1, bound=bound, step=1)
    rho = mechanism.spend("noise").rho

    assert most == squared
    assert mechanism.noise_scale == pytest.approx((squared / (2 * rho)) ** 0.5, rel=1e-9)
    assert mechanism.noise_scale >= (squared / (2 * rho)) ** 0.5
    assert zcdp.epsilon_of(rho, 1e-3) <= 1.0
    assert zcdp.epsilon_of(rho * (1 + 1e-9), 1e-3) > 1.0


@pytest.mark.slow
def test_gaussian_laws_agree_with_simulations_and_draws():
    """Of noise on integers, and of noise so wide that ties are left out."""
    rng = np.random.default_rng(5)
    for scores, step in ((rng.integers(0, 12, 30), 1), (rng.random(30) * 9, None)):
        sensitivity = dp.GlobalSensitivity(1, AR, l1=3)
        objective = dp.Objective(scores, sensitivity, step=step)
        mechanism = GAUSSIAN(epsilon=2.0)
        drawn = mechanism.simulate(objective, 4, size=20_000, rng=rng)
        best = np.isin(np.arange(30), np.argsort(-scores, kind="stable")[:4])

        assert mechanism.probabilities(objective) == pytest.approx(
            np.bincount(drawn[:, 0], minlength=30) / 20_000, abs=0.015
        )
        assert mechanism.set_probability(objective, best) == pytest.approx(
            best[drawn].all(axis=1).mean(), abs=0.015
        )
        included = mechanism.inclusion(objective, 4)
        if included is not None:
            assert included == pytest.approx(
                np.bincount(drawn.ravel(), minlength=30) / 20_000, abs=0.015
            )


def test_noise_of_lighter_tails_resolves_more_though_its_deviation_is_larger():
    leading = np.append(np.full(20, 90.0), np.zeros(480))
    counts = dp.Objective(leading, dp.GlobalSensitivity(1, AR, l1=10), monotone=True, step=1)
    laplace = dp.NoisySequence(epsilon=1.0, l1=10, bound=1, step=1)

    taken = or_gaussian(laplace, 1e-6, counts, 20)

    assert (taken.noise, or_gaussian(laplace, 0.0, counts, 20).noise) == ("gaussian", "laplace")
    assert taken.deviation > laplace.deviation
    missed = [20 - one.inclusion(counts, 20)[:20].sum() for one in (taken, laplace)]
    assert missed[0] < missed[1] / 10
    assert or_gaussian(laplace, 1e-6, counts, None).noise == "laplace"


def test_simulated_laplace_noise_is_as_often_above_0_as_below():
    drawn = DiscreteLaplace(3.0).simulated(10_000, np.random.default_rng(1))

    assert abs(drawn.mean()) < 0.25
