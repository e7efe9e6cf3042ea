"""One draw of a set: its law, its draw, its price and its bound."""

from fractions import Fraction
from itertools import combinations, product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import dpselect as dp
from dpselect.audit import sampler_losses
from dpselect.draws import sets
from dpselect.mechanisms.top_set import SENSITIVITY, log_sets

ONE_MORE = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
EDGE = dp.GlobalSensitivity(1, dp.Neighbours.EDGE)


def law_of_sets(scores, k, decay):
    """By definition: every set and its weight."""
    scores = np.asarray(scores)
    chosen = list(combinations(range(scores.size), k))
    leads = [
        scores[list(one)].min() - np.delete(scores, one).max() if k < scores.size else 0
        for one in chosen
    ]
    weights = np.exp(decay * (np.array(leads) - max(leads)))
    return dict(zip(chosen, weights / weights.sum(), strict=True))


@given(
    st.lists(st.integers(-6, 6), min_size=1, max_size=7),
    st.integers(1, 7),
    st.sampled_from([0.01, 0.3, 2.0]),
)
def test_the_law_is_that_of_the_definition(scores, k, decay):
    k = min(k, len(scores))
    for chosen, chance in law_of_sets(scores, k, decay).items():
        found = sets.log_probability(np.array(scores), k, decay, chosen)
        assert found == pytest.approx(log(chance), abs=1e-11)


@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_the_draw_follows_the_law(k):
    scores = np.array([3, 1, 3, 0, -2, 1])
    decay = 0.4
    law = law_of_sets(scores, k, decay)
    places = {one: i for i, one in enumerate(law)}
    drawn = [places[tuple(sets.draw_set(scores, k, Fraction(2, 5)))] for _ in range(4000)]
    counts = np.bincount(drawn, minlength=len(law))
    objective = dp.Objective(scores, ONE_MORE, monotone=True)
    mechanism = dp.TopSet(epsilon=2 * decay)
    repeated = mechanism.simulate(objective, k, size=4000, rng=np.random.default_rng(3))
    again = [places[tuple(np.atleast_1d(row).tolist())] for row in repeated.indices]

    expected = np.array(list(law.values())) * 4000
    assert stats.chisquare(counts, expected).pvalue > 1e-5
    assert stats.chisquare(np.bincount(again, minlength=len(law)), expected).pvalue > 1e-5


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_every_set_is_private_on_every_pair_of_neighbours(epsilon, k, monotone):
    """All scores in {0, 1, 2}^4; steps in one direction, or in any."""
    mechanism = dp.TopSet(epsilon=epsilon)
    moves = product((0, 1), repeat=4) if monotone else product((-1, 1), repeat=4)
    moves = list(moves)
    for scores in product((0, 1, 2), repeat=4):
        if sum(scores) % 3:
            continue
        for move in moves[::3]:
            pair = [
                dp.Objective(np.array(one, dtype=float), EDGE, monotone=monotone)
                for one in (scores, np.add(scores, move))
            ]
            logs = []
            for chosen in combinations(range(4), k):
                among = np.isin(range(4), chosen)
                logs.append([log(mechanism.set_probability(one, among)) for one in pair])
            loss = np.subtract(*np.transpose(logs))
            assert np.abs(loss).max() <= epsilon
            assert np.ptp(loss) <= epsilon


def test_one_candidate_has_the_law_of_leads():
    objective = dp.Objective([5.0, 3.0, 1.0], ONE_MORE, monotone=True)
    mechanism = dp.TopSet(epsilon=0.8)
    law = mechanism.probabilities(objective)
    sets_of_one = [
        mechanism.set_probability(objective, np.eye(3, dtype=bool)[i]) for i in range(3)
    ]

    assert law == pytest.approx(sets_of_one, rel=1e-4)
    assert law[1] / law[0] == pytest.approx(exp(-0.8 * 2), rel=1e-9)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_one_price_whatever_the_number_drawn(k):
    mechanism = dp.TopSet(epsilon=0.7)
    [spend] = mechanism.plan(k, neighbours="edge").spends

    assert (spend.epsilon, spend.times) == (0.7, 1)
    assert spend.rho == dp.draws.Exponential().rho(0.7)


@pytest.mark.parametrize("k", [1, 3])
def test_the_bound_holds_on_the_hardest_scores(k):
    """All others tie at the bound: each set with one of them is as far behind as it says."""
    n, epsilon = 8, 1.0
    bound = (
        dp.TopSet(epsilon=epsilon)
        .single_round(k)
        .error_bound(candidates=n, bound=1.0, unit="records")
    )
    scores = np.repeat([bound.value, 0.0], [k, n - k])
    right = dp.TopSet(epsilon=epsilon).set_probability(dp.Objective(scores, EDGE), scores > 0)

    assert bound.value == pytest.approx(4 / epsilon * (log_sets(n, k) + log(20)))
    assert 1 - right <= 0.05


def test_the_answer_says_nothing_of_the_order():
    objective = dp.Objective([0, 900, 500, 800], ONE_MORE, "abcd", monotone=True)

    assert dp.TopSet(epsilon=5.0).release(objective, k=3).answer == ("b", "c", "d")
    assert dp.mechanisms.by_name("top-set", 2.0) == dp.TopSet(epsilon=2.0)


def test_a_replay_sees_a_wrong_decay():
    """The loss of a drawn set at a decay made for half of the sensitivity."""
    here, there = np.array([SENSITIVITY, 0, 0]), np.array([0, SENSITIVITY, 0])
    rule = sampler_losses.RULES["dpselect.draws.sets.draw_set"]
    epsilon = 1.0
    losses = [
        abs(
            rule.loss(
                here, there, {"k": 1, "decay": factor * epsilon / (2 * SENSITIVITY)}, [0]
            ).drawn
        )
        for factor in (1, 4)
    ]

    assert losses[0] <= epsilon < losses[1]


@pytest.mark.parametrize("among", [[True, False], [False, False, False]])
def test_a_set_of_another_shape_is_refused(among):
    objective = dp.Objective([5.0, 3.0, 1.0], ONE_MORE)
    with pytest.raises(dp.errors.ParameterError):
        dp.TopSet(epsilon=1.0).set_probability(objective, among)


def test_the_right_ones_of_many_are_found():
    """A thousand candidates, twenty with a lead: rounds at the same epsilon are lost."""
    scores = np.r_[np.full(20, 110.0), np.zeros(980)]
    objective = dp.Objective(scores, ONE_MORE, monotone=True)

    assert set(dp.TopSet(epsilon=1.0).release(objective, k=20).answer) == set(range(20))
    assert dp.TopSet(epsilon=1.0).set_probability(objective, scores > 0) > 0.99
