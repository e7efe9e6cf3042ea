"""Privacy of outcomes by flips, exchanged pools and replaced samples, against definitions."""

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb, exp

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dpselect as dp
import dpselect_pooling as pooling
from dpselect.draws.exact import uniform
from dpselect.draws.exact.inversion import exp_minus
from dpselect.errors import ParameterError
from support.refusals import refused

DESIGNS = {
    "array": pooling.array_2d(4, rows=2, columns=2),
    "balanced": pooling.doubly_balanced(5, 4, weight=2, rng=np.random.default_rng(0)),
    "uneven": np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=bool),
    "nested": np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], dtype=bool),
}
every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
every_relation = pytest.mark.parametrize("relation", ["substitute", "swap"])
SQUARE = pooling.array_2d(9, rows=3, columns=3)


def every_set(people, size):
    for members in combinations(range(people), size):
        yield np.isin(np.arange(people), members)


def law_of(states, design, members):
    """Equation (22), read out: the law of all outcomes from one of the states of pools."""
    law, truth = np.zeros((2,) * len(design)), design[:, members].any(axis=1)
    for drawn, chance in states.items():
        law[tuple(int(t) if u == 2 else u for t, u in zip(truth, drawn, strict=True))] += chance
    return law.ravel()


def neighbouring_laws(states, design, relation):
    """Yield the laws of the outcomes of any two lists of statuses that one step parts."""
    every = [one for size in range(design.shape[1] + 1)
             for one in every_set(design.shape[1], size)]  # fmt: skip
    laws = [law_of(states, design, one) for one in every]
    for (e, p), (f, q) in product(zip(every, laws, strict=True), repeat=2):
        apart = (e & ~f).sum(), (f & ~e).sum()
        if apart == (1, 1) if relation == "swap" else sum(apart) == 1:
            yield p, q


def check(noise, states, design, relation):
    """Hold what outcomes lose against the definition, over all outcomes."""
    pairs = list(neighbouring_laws(states, design, relation))
    for epsilon in (0.0, 0.7):
        exact = max((np.maximum(p - exp(epsilon) * q, 0).sum() for p, q in pairs), default=0.0)
        found = noise.delta(design, epsilon=epsilon, neighbours=relation)
        assert exact - 1e-12 <= found == pytest.approx(exact, abs=1e-11)
    with np.errstate(divide="ignore"):
        worst = max((np.log(p[p > 0] / q[p > 0]).max() for p, q in pairs), default=0.0)
    assert noise.epsilon(design, neighbours=relation) == pytest.approx(worst)


@cache
def independent(clean, contaminated, pools):
    chances = (clean, contaminated, 1 - clean - contaminated)
    return {one: np.prod(np.take(chances, one)) for one in product(range(3), repeat=pools)}


@every_design
@every_relation
@pytest.mark.parametrize("chances", [(0.2, 0.2), (0.05, 0.3), (0.0, 0.4)])
def test_independent_exchanges_lose_what_the_definition_says(design, relation, chances):
    check(
        pooling.IndependentNoise(*chances), independent(*chances, len(design)), design, relation
    )


@every_design
@every_relation
def test_flips_cost_what_exchanges_of_equal_chances_cost(design, relation):
    noise, asked = pooling.IndependentNoise(0.2, 0.2), {"neighbours": relation}
    epsilon = pooling.flip_epsilon(design, flip=0.2, **asked)

    assert epsilon == pytest.approx(noise.epsilon(design, **asked))
    assert pooling.flip_for(design, epsilon=epsilon, **asked) == pytest.approx(0.2)
    for less in (0.0, 0.7, 2.0):
        assert pooling.flip_delta(design, flip=0.2, epsilon=less, **asked) == pytest.approx(
            noise.delta(design, epsilon=less, **asked), abs=1e-12
        )


@given(
    st.dictionaries(
        st.tuples(*[st.integers(0, 2)] * 3), st.integers(1, 9), min_size=1, max_size=6
    ),
    st.sampled_from(["substitute", "swap"]),
)
def test_a_joint_law_loses_what_the_definition_says(weights, relation):
    noise = pooling.JointNoise(
        {"".join(map(str, drawn)): weight for drawn, weight in weights.items()}
    )
    total = sum(weights.values())
    states = {drawn: weight / total for drawn, weight in weights.items()}
    check(noise, states, DESIGNS["nested"], relation)


@every_design
@pytest.mark.parametrize("beta", [0, 1, 2])
def test_noise_before_pooling_is_a_case_of_noise_after_it(design, beta):
    """Equation (21): the outcomes of members and replaced people together."""
    people, bits = design.shape[1], 1 << np.arange(len(design))
    noise = pooling.noise_of_replaced(design, beta=beta)
    for members in every_set(people, 2):
        exact = np.zeros(1 << len(design))
        for replaced in every_set(people, beta):
            exact[int(pooling.outcomes(design, members | replaced) @ bits)] += 1 / comb(
                people, beta
            )
        law = noise.outcome_weights(int(pooling.outcomes(design, members) @ bits))
        assert law / law.sum() == pytest.approx(exact)
    plan = pooling.ReplacedSamples(people=people, beta=beta).plan
    for epsilon in (0.0, 1.0):
        assert noise.delta(design, epsilon=epsilon, neighbours="swap") <= plan.delta + 1e-9


@given(
    epsilon=st.one_of(st.floats(1e-9, 60), st.floats(1e-300, 1e-9), st.floats(60, 1e6)),
    relation=st.sampled_from(["substitute", "swap"]),
)
def test_a_flip_for_an_epsilon_costs_at_most_that(epsilon, relation):
    design = DESIGNS["uneven"]
    flip = pooling.flip_for(design, epsilon=epsilon, neighbours=relation)
    price = pooling.flip_epsilon(design, flip=flip, neighbours=relation)

    assert price <= epsilon
    if 1e-9 < epsilon < 2000:
        assert price == pytest.approx(epsilon, rel=1e-6)


@given(flip=st.fractions(Fraction(1, 10**40), Fraction(1, 2), max_denominator=10**40))
def test_the_price_of_an_outcome_is_rounded_up(flip):
    """e^price, enclosed by integer bounds, is at least the odds of no flip."""
    price = pooling.outcome_privacy.outcome_epsilon(flip)
    low, high = exp_minus(Fraction(price), 2000)

    assert Fraction(low, 1 << 2000) <= flip / (1 - flip)
    if flip < Fraction(1, 2):
        _, most = exp_minus(Fraction(price) * (1 - Fraction(1, 2**39)), 2000)
        assert Fraction(most, 1 << 2000) >= flip / (1 - flip)
    assert high >= low


@every_relation
def test_a_delta_allows_fewer_flips(relation):
    asked = {"epsilon": 1.0, "neighbours": relation}
    flip = pooling.flip_for(SQUARE, delta=0.05, **asked)

    assert flip < pooling.flip_for(SQUARE, **asked)
    assert pooling.flip_delta(SQUARE, flip=flip, **asked) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("noise", "chances"),
    [
        (pooling.IndependentNoise(0.2, Fraction(1, 3)), [0.2, 1 / 3, 7 / 15]),
        (pooling.JointNoise({"01": 3, "22": 5}), [3 / 8, 5 / 8]),
    ],
)
def test_states_are_drawn_by_their_law(noise, chances, monkeypatch):
    """By the weights that the sampler is given; it draws the last of all."""
    given = []

    def last(weights, number):
        given.append(np.array(weights) / sum(weights))
        return [len(weights) - 1] * number

    monkeypatch.setattr(uniform, "positions", last)

    assert noise.draw(2) == (2, 2)
    assert given[0] == pytest.approx(chances)


def test_the_outcomes_are_those_of_the_states():
    seen = pooling.outcomes(np.eye(3, dtype=bool), [True, True, False], (0, 2, 1))

    assert seen.tolist() == [False, True, True]


def test_a_joint_law_is_drawn_and_priced():
    design = DESIGNS["array"]
    noise = pooling.noise_of_replaced(design, beta=2)
    query = pooling.SwappedPools(
        matrix=design, joint=noise.weights, epsilon=1.0, neighbours="swap"
    )

    assert query.plan.delta == noise.delta(design, epsilon=1.0, neighbours="swap")
    assert "".join(map(str, query.draw().answer)) in noise.weights
    assert dp.Query.from_json(query.to_json()) == query


def test_what_is_secret_is_in_no_text():
    drawn = pooling.SwappedPools(
        matrix=np.eye(40), clean=0.3, contaminated=0.3, epsilon=2.0, neighbours="swap"
    ).draw()
    texts = [str(drawn), repr(drawn), drawn.to_json(), str(drawn.to_frame())]

    assert not any(", ".join(map(str, drawn.answer[:8])) in text for text in texts)
    assert drawn.released() == {"answer": "secret, not kept"}


@pytest.mark.parametrize("flip", [0.3, 1e-17, 5e-324, Fraction(1, 3), np.float32(0.1)])
def test_a_flip_is_drawn_with_exactly_its_chance(monkeypatch, flip):
    """The chance that the sampler is given is the fraction that the number is."""
    chances, truth = [], np.arange(6) < 2

    def all_of_them(bits, chance):
        chances.append(chance)
        return [not bit for bit in bits]

    monkeypatch.setattr("dpselect.draws.exact.bernoulli.flipped", all_of_them)
    released = pooling.PooledOutcomes(matrix=SQUARE, flip=flip, neighbours="swap").release(
        truth
    )

    exact = flip if isinstance(flip, Fraction) else Fraction(float(flip))
    assert chances == [exact]
    assert released.answer == tuple(~truth)
    assert released.exact


@pytest.mark.parametrize(("people", "beta"), [(10, 3), (7, 2), (3, 1), (49, 48), (5, 5)])
def test_replaced_samples_are_drawn_from_all_at_a_delta_that_is_rounded_up(people, beta):
    release = pooling.ReplacedSamples(people=people, beta=beta).draw()

    assert Fraction(release.plan.delta) >= Fraction(people - beta, people)
    assert release.plan.delta == pytest.approx(1 - beta / people, rel=1e-15)
    assert len(release.answer) == beta
    assert list(release.answer) == sorted({*release.answer} & {*range(people)})


def test_replacing_nobody_is_not_charged_for():
    budget = dp.Budget(1.0, delta=0.8, neighbours=dp.Neighbours.SWAP, composition="sum")

    with refused("delta"):
        pooling.ReplacedSamples(people=10, beta=0).draw(budget=budget)
    assert budget.entries == ()


@pytest.mark.parametrize(("people", "d"), [(9, 1), (9, 2), (6, 3)])
def test_a_design_finds_as_many_positives_as_it_says_and_its_own_number(people, d):
    design = pooling.kautz_singleton(people, d=d)
    found = pooling.positives_found(design)

    assert found >= d
    for size in range(min(found, people) + 1):
        for positive in every_set(people, size):
            assert (pooling.comp(design, pooling.outcomes(design, positive)) == positive).all()


def test_a_design_for_the_positives_alone_is_refused_with_replaced_samples():
    small, large = pooling.kautz_singleton(100, d=2), pooling.kautz_singleton(100, d=5)
    bound = pooling.ReplacedSamples(people=100, beta=3, matrix=large, d=2).plan.error

    assert (bound.value, bound.probability) == (3.0, 1.0)
    assert pooling.ReplacedSamples(people=100, beta=3).plan.error is None
    for more in ({"matrix": small, "d": 2}, {"d": 2}, {"people": 99, "matrix": large, "d": 2}):
        with pytest.raises(ParameterError):
            pooling.ReplacedSamples(**{"people": 100, "beta": 3, **more})


@pytest.mark.parametrize("chances", [(0.02, 0.01), (0.1, 0.0), (0.05, 0.2)])
def test_the_error_of_noisy_outcomes_is_as_bounded_for_every_set_of_positives(chances):
    """By definition: all outcomes of every set, decoded with the number that is named."""
    design = pooling.kautz_singleton(9, d=2)[: 3 * 3]
    bound = pooling.decoding_error(design, d=1, clean=chances[0], contaminated=chances[1])
    allowed = int(bound.unit.split("allows ")[1].split()[0])
    every = np.array(list(product([False, True], repeat=len(design))))
    decoded = np.array([pooling.comp(design, seen, negative_allowed=allowed) for seen in every])
    for positive in every_set(9, 1):
        likely = np.where(pooling.outcomes(design, positive), 1 - chances[0], chances[1])
        law = np.where(every, likely, 1 - likely).prod(axis=1)
        missed = (positive & ~decoded).sum(axis=1), (decoded & ~positive).sum(axis=1)
        assert law[np.maximum(*missed) <= bound.value].sum() >= bound.probability
    assert bound.value < 9


def test_a_plan_of_flips_states_the_error_of_its_outcomes():
    design = pooling.kautz_singleton(50, d=4)
    plan = pooling.PooledOutcomes(matrix=design, d=1, flip=0.001, neighbours="substitute").plan

    assert plan.error == pooling.decoding_error(design, d=1, clean=0.001, contaminated=0.001)
    assert plan.error.value < 5
    with pytest.raises(ParameterError):
        pooling.PooledOutcomes(matrix=design, d=51, flip=0.001, neighbours="substitute")
