from fractions import Fraction
from functools import cache, reduce
from math import exp
from typing import get_args

import pytest
from hypothesis import assume, given, strategies as st

from dpselect._numbers import exact
from dpselect.budget.entry import priced
from dpselect.budget.totals import FOR_SPENDS, Composition, Sums, Totals
from dpselect.budget.zcdp import epsilon_of
from dpselect.errors import InsufficientBudgetError
from dpselect.neighbours import Neighbours

EDGE = Neighbours.EDGE

amounts = st.floats(1e-3, 0.5)
pure_costs = st.lists(amounts.map(lambda e: priced(e, 0.0, None)), max_size=30)
mixed_costs = st.lists(
    st.builds(
        priced,
        amounts,
        st.sampled_from([0.0, 0.0, 1e-7, 4e-7]),
        st.none() | st.floats(1e-6, 0.1),
    )
    | st.sampled_from([1e-7, 4e-7]).map(lambda delta: priced(0.0, delta, None)),
    max_size=30,
)
COMPOSITIONS = get_args(Composition)

grants = st.builds(
    Totals,
    epsilon=st.floats(0.05, 2),
    delta=st.sampled_from([0.0, 1e-6, 0.01]),
    neighbours=st.just(EDGE),
    composition=st.sampled_from(COMPOSITIONS),
)


def sums_of(costs):
    return reduce(Sums.plus, costs, Sums())


def spent(granted, costs):
    return granted.spent(sums_of(costs))


def remaining(granted, costs):
    return granted.remaining(sums_of(costs))


def admit(granted, costs, new):
    """Return what remains after a spend."""
    after = granted.admit(sums_of(costs), new)
    assert after == sums_of([*costs, new])
    return granted.remaining(after)


def totals(epsilon, delta=0.0, composition="either"):
    return Totals(epsilon=epsilon, delta=delta, neighbours=EDGE, composition=composition)


def pure(*epsilons):
    return [priced(epsilon, 0.0, None) for epsilon in epsilons]


def admitted(granted, requests):
    """Return what an analyst gets who asks for all of them in turn."""
    accepted = []
    for request in requests:
        try:
            admit(granted, accepted, request)
        except InsufficientBudgetError:
            continue
        accepted.append(request)
    return accepted


def gain(epsilon, options, fits, *, failure=0.0, rounds=60):
    """The best analyst's sum of [P(y) - e^epsilon Q(y)]_+ by a rule, by exact enumeration.

    Randomised responses are the most revealing pure releases. After each answer the analyst
    sees its loss, the log of the odds, and asks for the next epsilon, or for a release that
    tells everything with the probability ``failure`` and nothing else, or stops.

    Args:
        epsilon: What all of it is held against.
        options: The epsilons that there are.
        fits: Whether a rule admits so many releases of each epsilon and so many failures.
        failure: The delta of a failure.
        rounds: The most releases.
    """

    @cache
    def excess(counts, failures, balances):
        loss = sum(e * b for e, b in zip(options, balances, strict=True))
        best = max(0.0, 1 - exp(epsilon - loss))
        if failure and fits(counts, failures + 1):
            more = excess(counts, failures + 1, balances)
            best = max(best, failure + (1 - failure) * more)
        for i, price in enumerate(options):
            more = tuple(c + (i == j) for j, c in enumerate(counts))
            if sum(more) > rounds or not fits(more, failures):
                continue
            up = tuple(b + (i == j) for j, b in enumerate(balances))
            down = tuple(b - (i == j) for j, b in enumerate(balances))
            truth = exp(price) / (exp(price) + 1)
            value = truth * excess(more, failures, up) + (1 - truth) * excess(
                more, failures, down
            )
            best = max(best, value)
        return best

    none = (0,) * len(options)
    return excess(none, 0, none)


def rule(granted, options, failure=0.0):
    """Return whether the filter admits so many releases of each epsilon, and failures."""

    @cache
    def fits(counts, failures):
        sums = sums_of(
            [
                priced(e, 0.0, None)
                for e, n in zip(options, counts, strict=True)
                for _ in range(n)
            ]
        )
        last = sums.plus(priced(0.0, failure, None)) if failures else sums
        for _ in range(failures - 1):
            last = last.plus(priced(0.0, failure, None))
        in_delta = last.delta <= FOR_SPENDS[granted.composition] * exact(granted.delta)
        return in_delta and granted.spent(last) <= exact(granted.epsilon)

    return fits


@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05, 0.3])
@pytest.mark.parametrize("options", [(0.2, 0.3), (0.1, 0.5), (0.25, 1.0)])
def test_no_adaptive_choice_of_responses_breaks_the_guarantee(delta, options, composition):
    granted = totals(1.0, delta, composition)

    assert gain(1.0, options, rule(granted, options)) <= delta + 1e-12


@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("options", [(0.25,), (0.4,), (0.1, 0.5)])
def test_no_mixture_of_responses_and_failures_breaks_the_guarantee(options, composition):
    granted, failure = totals(1.0, 0.2, composition), 0.05

    worst = gain(1.0, options, rule(granted, options, failure), failure=failure, rounds=30)

    assert worst <= 0.2 + 1e-12


@given(grants, mixed_costs)
def test_never_overspent_by_any_sequence(granted, requests):
    accepted = admitted(granted, requests)
    epsilons = sum(exact(c.epsilon) for c in accepted)
    deltas = sum(exact(c.delta) for c in accepted)
    for_spends = {"sum": 1, "zcdp": 0, "either": Fraction(1, 2)}[granted.composition]
    for_zcdp = granted.delta * float(1 - for_spends)
    converted = epsilon_of(float(sum(exact(c.rho) for c in accepted)), for_zcdp)

    assert deltas <= for_spends * exact(granted.delta)
    assert epsilons <= exact(granted.epsilon) or converted <= granted.epsilon
    assert spent(granted, accepted) <= exact(granted.epsilon)


@given(grants, pure_costs)
def test_remaining_is_what_is_not_spent_rounded_down(granted, requests):
    accepted = admitted(granted, requests)
    left = exact(granted.epsilon) - spent(granted, accepted)
    shown = exact(remaining(granted, accepted))

    assert 0 <= left - shown <= left / 10**15


@given(pure_costs)
def test_all_that_remains_of_a_pure_budget_can_be_spent(requests):
    accepted = admitted(totals(1.0), requests)
    left = remaining(totals(1.0), accepted)
    assume(left > 0)

    assert admit(totals(1.0), accepted, priced(left, 0, None)) <= 1e-15


@pytest.mark.parametrize(("composition", "delta"), [("zcdp", 1e-6), ("either", 5e-7)])
def test_zcdp_uses_all_of_its_delta_and_not_more(composition, delta):
    costs = pure(*[0.01] * 1000)
    price = epsilon_of(float(sum(exact(c.rho) for c in costs)), delta)

    assert spent(totals(10.0, 1e-6, composition), costs) == Fraction(price)


@pytest.mark.parametrize(("composition", "fit"), [("sum", 2), ("either", 1), ("zcdp", 0)])
def test_deltas_add_up_to_what_is_for_them(composition, fit):
    granted, spend = totals(1.0, 1e-6, composition), priced(0.1, 5e-7, None)
    kept = "give a smaller delta, or make a budget with composition=sum"

    assert admitted(granted, [spend] * 3) == [spend] * fit
    with pytest.raises(InsufficientBudgetError) as refused:
        admit(granted, [spend] * fit, spend)
    assert f"spent {fit * 5e-7!r}, requested 5e-07, remaining 0.0" in str(refused.value)
    assert (kept in str(refused.value)) is (composition != "sum")


def test_a_spend_with_a_delta_does_not_rule_out_zcdp_nor_the_other_way_round():
    granted, first = totals(1.0, 1e-6), priced(0.01, 1e-7, None)
    small = pure(*[0.01] * 150)

    for requests in ([first, *small], [*small, first], [*small[:70], first, *small[70:]]):
        assert admitted(granted, requests) == requests
    assert len(admitted(totals(1.0, 1e-6, "sum"), [first, *small])) == 100


def test_sums_beyond_the_floats_are_refused_and_not_an_overflow():
    costs = pure(1.7e308)

    with pytest.raises(InsufficientBudgetError):
        admit(totals(1.7e308, 1e-6), costs, *costs)
