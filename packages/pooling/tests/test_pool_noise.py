"""Pools exchanged by the collector: equation (22), against its definition."""

from fractions import Fraction
from itertools import combinations, product
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect_pooling import (
    IndependentNoise,
    JointNoise,
    PooledOutcomes,
    ReplacedSamples,
    SwappedPools,
    array_2d,
    comp,
    decoding_error,
    flip_epsilon,
    kautz_singleton,
    noise_of_replaced,
    outcomes,
    positives_found,
)
from support.pooling_definitions import neighbours, syndrome_law, union_law
from support.refusals import refused

DESIGNS = {
    "array": array_2d(4, rows=2, columns=2),
    "nested": np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], dtype=bool),
}
every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
every_relation = pytest.mark.parametrize("relation", ["substitute", "swap"])


def law_by_definition(states, design, members):
    """Equation (22), read out: the law of all outcomes from a law of the states."""
    found = {}
    truth = design[:, sorted(members)].any(axis=1)
    for drawn, chance in states.items():
        seen = tuple(bool(t) if u == 2 else u == 1 for t, u in zip(truth, drawn, strict=True))
        found[seen] = found.get(seen, 0) + chance
    return found


def delta_by_definition(states, design, relation, epsilon):
    worst = 0.0
    for e, f in neighbours(design.shape[1], relation):
        p, q = (law_by_definition(states, design, one) for one in (e, f))
        worst = max(worst, sum(max(p[y] - exp(epsilon) * q.get(y, 0), 0.0) for y in p))
    return worst


def epsilon_by_definition(states, design, relation):
    worst = 0.0
    for e, f in neighbours(design.shape[1], relation):
        p, q = (law_by_definition(states, design, one) for one in (e, f))
        worst = max(worst, *(log(p[y] / q[y]) if q.get(y) else inf for y in p))
    return worst


def independent(clean, contaminated, pools):
    each = (clean, contaminated, 1 - clean - contaminated)
    all_states = product([u for u in range(3) if each[u] > 0], repeat=pools)
    return {states: np.prod([each[u] for u in states]) for states in all_states}


@pytest.mark.slow
@every_design
@every_relation
@pytest.mark.parametrize("chances", [(0.2, 0.2), (0.05, 0.3), (0.0, 0.4)])
def test_independent_exchanges_lose_what_the_definition_says(design, relation, chances):
    noise, states = IndependentNoise(*chances), independent(*chances, len(design))

    for epsilon in (0.0, 1.0):
        exact = delta_by_definition(states, design, relation, epsilon)
        found = noise.delta(design, epsilon=epsilon, neighbours=relation)
        assert exact * (1 - 1e-12) <= found == pytest.approx(exact)
    pure = noise.epsilon(design, neighbours=relation)
    assert pure == pytest.approx(epsilon_by_definition(states, design, relation))


@pytest.mark.slow
@given(
    st.dictionaries(
        st.tuples(*[st.integers(0, 2)] * 3), st.integers(1, 9), min_size=1, max_size=6
    ),
    st.sampled_from(["substitute", "swap"]),
    st.sampled_from([0.0, 0.7]),
)
def test_a_joint_law_loses_what_the_definition_says(weights, relation, epsilon):
    design = DESIGNS["nested"]
    noise = JointNoise({"".join(map(str, drawn)): weight for drawn, weight in weights.items()})
    total = sum(weights.values())
    states = {drawn: weight / total for drawn, weight in weights.items()}
    exact = delta_by_definition(states, design, relation, epsilon)

    found = noise.delta(design, epsilon=epsilon, neighbours=relation)
    assert exact - 1e-12 <= found == pytest.approx(exact, abs=1e-11)
    pure = noise.epsilon(design, neighbours=relation)
    assert pure == pytest.approx(epsilon_by_definition(states, design, relation))


@every_design
@pytest.mark.parametrize("beta", [0, 1, 2])
def test_noise_before_pooling_is_a_case_of_noise_after_it(design, beta):
    """Equation (21): the outcomes of members and replaced people together."""
    people = design.shape[1]
    noise = noise_of_replaced(design, beta=beta)
    bits = 1 << np.arange(len(design))
    for members in map(frozenset, combinations(range(people), 2)):
        union = union_law(people, members, beta)
        exact = syndrome_law(design, union)
        truth = outcomes(design, np.isin(np.arange(people), list(members)))
        law = noise.outcome_weights(int(truth @ bits))
        assert law / law.sum() == pytest.approx(exact)
    delta = noise.delta(design, epsilon=1.0, neighbours="swap")
    assert delta <= ReplacedSamples(people=people, beta=beta).plan.delta + 1e-9


@every_design
@every_relation
def test_exchanges_of_equal_chances_cost_what_flips_cost(design, relation):
    noise = IndependentNoise(0.1, 0.1)

    flips = flip_epsilon(design, flip=0.1, neighbours=relation)
    assert noise.epsilon(design, neighbours=relation) == pytest.approx(flips)


@pytest.mark.parametrize(
    "noise", [IndependentNoise(0.2, Fraction(1, 3)), JointNoise({"01": 3, "22": 5})]
)
def test_states_are_drawn_by_their_law(noise):
    """Unseeded: false alarm 1 in 10^6."""
    drawn = [noise.draw(2) for _ in range(4000)]
    table = independent(0.2, 1 / 3, 2)
    if isinstance(noise, JointNoise):
        table = {(0, 1): 3 / 8, (2, 2): 5 / 8}
    observed = [drawn.count(states) for states in table]

    assert sum(observed) == 4000
    expected = 4000 * np.array(list(table.values()))
    assert stats.chisquare(observed, expected).pvalue > 1e-6


def test_the_outcomes_are_those_of_the_states():
    seen = outcomes(np.eye(3, dtype=bool), [True, True, False], (0, 2, 1))

    assert seen.tolist() == [False, True, True]
    with refused("states"):
        outcomes(np.eye(3, dtype=bool), [True, True, False], (0, 3, 1))


def test_a_joint_law_is_drawn_and_priced():
    design = DESIGNS["array"]
    noise = noise_of_replaced(design, beta=2)
    query = SwappedPools(matrix=design, joint=noise.weights, epsilon=1.0, neighbours="swap")

    assert query.plan.delta == noise.delta(design, epsilon=1.0, neighbours="swap")
    assert "".join(map(str, query.draw().answer)) in noise.weights
    assert dp.Query.from_json(query.to_json()) == query
    with refused("clean", "joint"):
        SwappedPools(matrix=design, joint=noise.weights, d=1, epsilon=1.0, neighbours="swap")


def test_what_is_secret_is_in_no_text():
    drawn = SwappedPools(
        matrix=np.eye(40), clean=0.3, contaminated=0.3, epsilon=2.0, neighbours="swap"
    ).draw()
    texts = [str(drawn), repr(drawn), drawn.to_json(), str(drawn.to_frame())]

    assert not any(", ".join(map(str, drawn.answer[:8])) in text for text in texts)
    assert drawn.released() == {"answer": "secret, not kept"}


def every_set(people, size):
    for members in combinations(range(people), size):
        yield np.isin(np.arange(people), members)


@pytest.mark.parametrize(("people", "d"), [(9, 1), (9, 2), (6, 3)])
def test_a_design_finds_as_many_positives_as_it_says_and_its_own_number(people, d):
    design = kautz_singleton(people, d=d)
    found = positives_found(design)

    assert found >= d
    for size in range(min(found, people) + 1):
        for positive in every_set(people, size):
            assert (comp(design, outcomes(design, positive)) == positive).all()


def test_a_design_for_the_positives_alone_is_refused_with_replaced_samples():
    small, large = kautz_singleton(100, d=2), kautz_singleton(100, d=5)
    bound = ReplacedSamples(people=100, beta=3, matrix=large, d=2).plan.error

    assert (bound.value, bound.probability) == (3.0, 1.0)
    assert ReplacedSamples(people=100, beta=3).plan.error is None
    with pytest.raises(ParameterError):
        ReplacedSamples(people=100, beta=3, matrix=small, d=2)
    with pytest.raises(ParameterError):
        ReplacedSamples(people=100, beta=3, d=2)
    with pytest.raises(ParameterError):
        ReplacedSamples(people=99, beta=3, matrix=large, d=2)


@pytest.mark.parametrize("chances", [(0.02, 0.01), (0.1, 0.0), (0.05, 0.2)])
def test_the_error_of_noisy_outcomes_is_as_bounded_for_every_set_of_positives(chances):
    """By definition: all outcomes of every set, decoded with the number that is named."""
    design = kautz_singleton(9, d=2)[: 3 * 3]
    bound = decoding_error(design, d=1, clean=chances[0], contaminated=chances[1])
    allowed = int(bound.unit.split("allows ")[1].split()[0])
    decoded = {
        seen: comp(design, seen, negative_allowed=allowed)
        for seen in product([False, True], repeat=len(design))
    }
    for positive in every_set(9, 1):
        truth = outcomes(design, positive)
        right = 0.0
        for seen, answer in decoded.items():
            chance = np.where(
                truth,
                np.where(seen, 1 - chances[0], chances[0]),
                np.where(seen, chances[1], 1 - chances[1]),
            ).prod()
            wrong = max((positive & ~answer).sum(), (answer & ~positive).sum())
            right += chance * (wrong <= bound.value)
        assert right >= bound.probability
    assert bound.value < 9


def test_a_plan_of_flips_states_the_error_of_its_outcomes():
    design = kautz_singleton(50, d=4)
    plan = PooledOutcomes(matrix=design, d=1, flip=0.001, neighbours="substitute").plan

    assert plan.error == decoding_error(design, d=1, clean=0.001, contaminated=0.001)
    assert plan.error.value < 5
    with pytest.raises(ParameterError):
        PooledOutcomes(matrix=design, d=51, flip=0.001, neighbours="substitute")
