"""The contract of every mechanism: law, release, simulation, refusal."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import dpselect as dp
from dpselect.draws.exact import samplers
from dpselect.errors import ScoresError
from support.releases import core

EDGE = dp.Neighbours.EDGE
MECHANISMS = [
    *(replace(one, epsilon=1.0) for one in core.MECHANISMS[:-1]),
    dp.AnchoredLocalDampening(epsilon=1.0, anchor=5.0),
    dp.PairwiseLocalDampening(epsilon=1.0, draw=core.FLIP),
]
every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)

OBJECTIVE = dp.Objective(
    [0.0, 1.0, 3.5, 4.0],
    dp.ElementSensitivity(
        lambda t: np.array([0.5, 2.0, 1.0, 1.5]) + t / 4, 3.0, EDGE, horizon=12
    ),
    candidates=["north", "east", "south", "west"],
)


SAMPLER = {
    "exponential": "dpselect.draws.exact.selection.top_k_gumbel_noise",
    "permute-and-flip": "dpselect.draws.exact.selection.top_k_exponential_noise",
    "laplace": "dpselect.draws.exact.selection.top_k_laplace_noise",
}


@every_mechanism
@pytest.mark.parametrize("k", [1, 3])
def test_a_release_is_the_draw_of_its_unit_scores(mechanism, k):
    """The draws themselves are held against their laws in tests/draws."""
    calls, places = [], iter([3, 1, 0])

    def handler(name, _draw, args, kwargs):
        calls.append((name, args, kwargs))
        return [next(places) for _ in range(args[2])]

    with samplers.intercepted(handler):
        release = mechanism.release(OBJECTIVE, k=k)

    wanted = [(np.arange(4), mechanism.epsilon, k)]
    if not mechanism.one_scaling:
        # Each round compares the candidates that are left.
        rounds = ([0, 1, 2, 3], [0, 1, 2], [0, 2])[:k]
        wanted = [(np.array(left), mechanism.epsilon / k, 1) for left in rounds]
    for (name, (scores, *asked), options), (left, *price) in zip(calls, wanted, strict=True):
        assert name == SAMPLER[mechanism.draw.name]
        assert scores.tolist() == mechanism.unit_scores(OBJECTIVE.take(left)).tolist()
        assert (asked, options) == (pytest.approx(price, rel=1e-15), {})
    assert release.answer == ("west", "east", "north")[:k]


@every_mechanism
def test_simulations_follow_the_law(mechanism):
    draws = 50_000
    simulated = mechanism.simulate(OBJECTIVE, size=draws, rng=np.random.default_rng(0))
    expected = draws * mechanism.probabilities(OBJECTIVE)

    assert stats.chisquare(np.bincount(simulated, minlength=4), expected).pvalue > 1e-6


def test_later_rounds_of_pairwise_are_simulated_among_the_candidates_that_are_left():
    """By the law of both rounds: the second draws among the others as if alone."""
    mechanism = dp.PairwiseLocalDampening(epsilon=4.0)
    scores = np.array([6.0, 2.0, 0.0])
    sensitivity = dp.ElementSensitivity(
        lambda t: np.array([0.5, 1.0, 2.0]) + t, 4.0, dp.Neighbours.EDGE, horizon=6
    )
    objective = dp.Objective(scores, sensitivity)
    each = dp.PairwiseLocalDampening(epsilon=2.0)
    expected = np.zeros((3, 3))
    for first, chance in enumerate(each.probabilities(objective)):
        left = np.delete(np.arange(3), first)
        among = dp.Objective(scores[left], sensitivity.take(left))
        expected[first, left] = chance * each.probabilities(among)
    simulated = mechanism.simulate(objective, 2, size=4000, rng=np.random.default_rng(5))

    counts = np.zeros((3, 3))
    np.add.at(counts, tuple(simulated.T), 1)
    assert np.abs(counts / len(simulated) - expected).sum() < 0.06


@pytest.mark.parametrize("given", [[1, np.inf, 0, 2], [np.nan, 1, 0, 2], [1.0, 0.0], 3.0])
def test_unit_scores_of_ones_own_are_refused_before_the_charge(given):
    class Own(dp.PermuteAndFlip):
        def unit_scores(self, objective):  # noqa: ARG002 -- whatever it is
            return np.array(given)

    budget = dp.Budget(9.0, neighbours=OBJECTIVE.neighbours)
    with pytest.raises(ScoresError, match="unit_scores"):
        Own(epsilon=1.0).release(OBJECTIVE, budget=budget)
    assert budget.entries == ()


class Sampled(dp.draws.Exponential):
    """A draw of somebody's own, which protects nobody."""

    def sample(self, scores, epsilon, k):  # noqa: ARG002 -- it takes the first ones
        return [*range(k)]


def test_a_release_by_a_draw_of_ones_own_is_not_said_to_be_exact():
    mechanism = dp.LocalDampening(epsilon=1.0, draw=Sampled())

    assert not mechanism.exact
    assert not mechanism.release(OBJECTIVE).exact
