"""Theorems of docs/theory.md on what no mechanism can do better, by linear programmes."""

from itertools import combinations, product
from math import comb, exp, inf, log

import networkx as nx
import numpy as np
import pytest
from scipy import optimize, sparse

import dpselect as dp

COUNTS = list(product(range(5), repeat=2))
ONE_MORE = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)


def least_mean(losses, steps, epsilon, fixed=()):
    """The least mean loss of any epsilon-DP mechanism, and its law.

    Args:
        losses: Of each candidate on each database, shape ``(databases, candidates)``.
        steps: Pairs of neighbours, each in both orders.
        epsilon: In nats.
        fixed: (database, probability of each candidate) that the law must have.
    """
    many, n = losses.shape
    place = np.arange(many * n).reshape(many, n)
    first, second = (place[[pair[side] for pair in steps]].ravel() for side in (0, 1))
    rows = np.arange(first.size)
    private = sparse.coo_array(
        (
            np.r_[np.ones(rows.size), np.full(rows.size, -exp(epsilon))],
            (np.r_[rows, rows], np.r_[first, second]),
        ),
        shape=(rows.size, place.size),
    )
    laws = sparse.coo_array(
        (np.ones(place.size), (np.repeat(np.arange(many), n), np.arange(place.size)))
    )
    bounds = np.full((place.size, 2), (0.0, 1.0))
    for database, law in fixed:
        bounds[place[database]] = np.transpose([law, law])
    found = optimize.linprog(
        losses.ravel() / many,
        A_ub=private.tocsr(),
        b_ub=np.zeros(rows.size),
        A_eq=laws.tocsr(),
        b_eq=np.ones(many),
        bounds=bounds,
    )
    assert found.status == 0
    return found.fun, found.x.reshape(many, n)


def one_apart(databases):
    return [
        (i, j)
        for i, x in enumerate(databases)
        for j, y in enumerate(databases)
        if sum(abs(a - b) for a, b in zip(x, y, strict=True)) == 1
    ]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_pairwise_is_optimal_for_two_counts_on_every_database(epsilon):
    """Theorem 53: the least error on each database, for any law that is fair at ties."""
    ties = [(i, (0.5, 0.5)) for i, (a, b) in enumerate(COUNTS) if a == b]
    steps = one_apart(COUNTS)
    mechanism = dp.PairwiseLocalDampening(epsilon=epsilon, draw=dp.draws.PermuteAndFlip())
    wrong = np.array([[float(a < b), float(b < a)] for a, b in COUNTS])
    ours = np.array(
        [
            law @ bad
            for bad, law in zip(
                wrong,
                (
                    mechanism.probabilities(dp.Objective(list(x), ONE_MORE, monotone=True))
                    for x in COUNTS
                ),
                strict=True,
            )
        ]
    )
    for i, (a, b) in enumerate(COUNTS):
        if a == b:
            continue
        assert ours[i] == pytest.approx(exp(-epsilon * abs(a - b)) / 2, rel=1e-12)
        alone = np.zeros_like(wrong)
        alone[i] = wrong[i] * len(COUNTS)
        least, _ = least_mean(alone, steps, epsilon, ties)
        assert ours[i] == pytest.approx(least, rel=1e-6)


def test_inverse_sensitivity_has_half_of_the_exponent_of_pairwise():
    """Neither dominates: here it is behind, where the dampened lead is less than the steps."""
    epsilon, lead = 1.0, 4
    law = dp.draws.PermuteAndFlip().law(np.array([0.0, -lead]), epsilon)

    assert law[1] == pytest.approx(exp(-epsilon * lead / 2) / 2, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_errors_of_three_counts_lie_between_the_bounds(epsilon):
    """Theorem 53 for three candidates: ties with one other, and with both."""
    databases = list(product(range(4), repeat=3))
    mechanism = dp.PairwiseLocalDampening(epsilon=epsilon, draw=dp.draws.PermuteAndFlip())
    for x in databases:
        best, second, last = sorted(x, reverse=True)
        if best == second:
            continue
        law = mechanism.probabilities(dp.Objective(list(x), ONE_MORE, monotone=True))
        error = 1 - law[x.index(best)]
        least = max(
            exp(-epsilon * (best - second)) / 2,
            exp(-epsilon * (best - last)) * 2 / 3,
        )
        leads = np.array([best - second, best - last])
        most = np.exp(-epsilon * (leads.min() + leads) / 2).sum() / 2

        assert least * (1 - 1e-12) <= error <= most * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_no_mechanism_resolves_a_smaller_lead(epsilon):
    """Theorem 51: the least probability of an error, of any mechanism, at a lead of q."""
    n, q = 3, 3
    databases = [x for x in product(range(q + 1), repeat=n) if np.count_nonzero(x) <= 1]
    places = {x: i for i, x in enumerate(databases)}
    heights = [places[(0,) * i + (q,) + (0,) * (n - 1 - i)] for i in range(n)]
    losses = np.zeros((len(databases), n))
    for i, height in enumerate(heights):
        losses[height] = len(databases) / n
        losses[height, i] = 0.0
    beta, _ = least_mean(losses, one_apart(databases), epsilon)
    bound = max(log(n * (1 - beta)), log((n - 1) / (n * beta)) if beta > 0 else -inf)

    assert q >= bound / epsilon * (1 - 1e-9)


def test_a_common_translation_is_not_monotone():
    """Theorem 1: doubled scores must move in one direction without a translation."""
    before, after = (
        dp.draws.Exponential().law(2 * np.array(scores), 1.0)
        for scores in ([2.0, 0.0], [0.0, 0.0])
    )

    assert np.abs(np.log(before / after)).max() == pytest.approx(1.434, abs=1e-3)


@pytest.mark.parametrize("delta", [1e-6, 0.02])
def test_groups_have_their_own_delta(delta):
    """m steps: m epsilon, and delta (e^(m epsilon) - 1)/(e^epsilon - 1), which is attained."""
    epsilon, m = 1.0, 3
    # Laws on m + 1 databases in a row, each as far from the one before as it may be.
    chance = [0.0]
    for _ in range(m):
        chance.append(exp(epsilon) * chance[-1] + delta)

    assert chance[m] == pytest.approx(delta * (exp(m * epsilon) - 1) / (exp(epsilon) - 1))


def percentile_of(x):
    return dp.percentiles.percentile(list(x), p=50, upper=4.0)


def graph_of(bits):
    graph = nx.empty_graph(4)
    graph.add_edges_from(
        pair for pair, there in zip(combinations(range(4), 2), bits, strict=True) if there
    )
    return graph


THREE = list(product(range(4), repeat=3))
RECORDS = list(product(range(5), repeat=3))
GRAPHS = list(product((0, 1), repeat=6))
UNIVERSES = {
    "counts": (
        THREE,
        lambda x: dp.Objective(list(x), ONE_MORE, monotone=True),
        3.0,
        (0.2020, 0.2020, 0.2020, 0.4352, 0.2635),
    ),
    "median": (RECORDS, percentile_of, 0.0, (0.4583, 0.6519, 0.6465, 0.5655, 0.6409)),
    "density": (
        GRAPHS,
        lambda x: dp.networks.ego_density(graph_of(x)),
        1.0,
        (0.0495, 0.0798, 0.0716, 0.0724, 0.0902),
    ),
    "betweenness": (
        GRAPHS,
        lambda x: dp.networks.ego_betweenness(graph_of(x), max_degree=3),
        3.0,
        (0.2621, 0.5474, 0.4846, 0.4846, 0.5279),
    ),
}


@pytest.mark.parametrize("name", UNIVERSES)
def test_the_table_of_least_shortfalls(name):
    """The rows of epsilon 1 of docs/theory.md; no mechanism is below the programme."""
    databases, objective, anchor, expected = UNIVERSES[name]
    objectives = [objective(x) for x in databases]
    scores = np.array([one.scores for one in objectives])
    losses = scores.max(axis=1, keepdims=True) - scores
    if name == "median":
        steps = [
            (i, j)
            for i, x in enumerate(databases)
            for j, y in enumerate(databases)
            if sum(a != b for a, b in zip(x, y, strict=True)) == 1
        ]
    else:
        steps = one_apart(databases)
    flip = dp.draws.PermuteAndFlip()
    found = [least_mean(losses, steps, 1.0)[0]]
    for mechanism in (
        dp.PermuteAndFlip(epsilon=1.0),
        dp.ShiftedLocalDampening(epsilon=1.0, draw=flip, direction="non-decreasing"),
        dp.AnchoredLocalDampening(epsilon=1.0, draw=flip, anchor=anchor),
        dp.PairwiseLocalDampening(epsilon=1.0, draw=flip),
    ):
        laws = [mechanism.probabilities(one) for one in objectives]
        found.append(np.mean([law @ loss for law, loss in zip(laws, losses, strict=True)]))

    assert found == pytest.approx(expected, abs=6e-5)
    assert min(found[1:]) >= found[0] - 1e-7


def weights_of_sets(scores, k, epsilon):
    """e^(epsilon / 2 (least score of a set - largest of the rest)) over its sum."""
    sets = list(combinations(range(len(scores)), k))
    leads = [
        min(scores[i] for i in one) - max(scores[j] for j in range(len(scores)) if j not in one)
        for one in sets
    ]
    weights = np.exp(epsilon / 2 * np.array(leads))
    return sets, weights / weights.sum()


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 2), (6, 3), (7, 5)])
@pytest.mark.parametrize("epsilon", [0.4, 2.0])
def test_a_set_is_drawn_by_a_table_and_is_private(n, k, epsilon):
    """Theorem 15: the cells of its proof, and every step that moves scores up by 0 or 1."""
    rng = np.random.default_rng(n)
    scores = np.sort(rng.integers(0, 6, n))[::-1].astype(float)
    sets, law = weights_of_sets(scores, k, epsilon)
    cells = {(k + 1, k): exp(epsilon / 2 * (scores[k - 1] - scores[k]))}
    for o in range(1, k + 1):
        for t in range(k + 1, n + 1):
            ways = comb(t - o - 1, k - o)
            cells[o, t] = ways * exp(epsilon / 2 * (scores[t - 1] - scores[o - 1]))
    total = sum(cells.values())
    for cell, weight in cells.items():
        of_cell = [
            chance
            for one, chance in zip(sets, law, strict=True)
            if (min({*range(n)} - {*one}) + 1, max(one) + 1) == cell
        ]
        assert sum(of_cell) == pytest.approx(weight / total, rel=1e-12)
        assert np.ptp(of_cell) <= 1e-12
    for moves in product((0.0, 0.5, 1.0), repeat=n):
        _, after = weights_of_sets(scores + moves, k, epsilon)
        loss = np.log(law / after)
        assert np.abs(loss).max() <= epsilon * (1 + 1e-12)
        assert np.ptp(loss) <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("beta", [0.05, 0.5])
def test_a_set_resolves_the_least_lead_up_to_a_constant(beta):
    """Theorem 15 against the converse of Theorem 14, for people with any number of values."""
    n, k, epsilon = 9, 4, 0.7
    enough, least = log(comb(n, k) / beta) / epsilon, log(comb(n, k) * (1 - beta)) / epsilon
    scores = np.repeat([enough, 0.0], [k, n - k])
    sets, law = weights_of_sets(scores, k, epsilon)
    _, behind = weights_of_sets(scores * least / enough * 0.999, k, epsilon)
    right = sets.index(tuple(range(k)))

    assert law[right] >= 1 - beta
    assert behind[right] < 1 - beta
    assert enough - least == pytest.approx(-log(beta * (1 - beta)) / epsilon)
