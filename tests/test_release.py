"""Releases and simulations."""

import json
import pickle
from dataclasses import replace

import numpy as np

import dpselect as dp
from dpselect.plan import ErrorBound

OBJECTIVE = dp.Objective(
    [100.0, 0.0], dp.GlobalSensitivity(1, dp.Neighbours.SWAP), candidates=np.array([7, 9])
)
RELEASE = dp.ExponentialMechanism(epsilon=5.0).release(OBJECTIVE, k=2)


def test_a_release_is_a_table_and_a_frame():
    noisy = replace(RELEASE, answer=("fig", "pear"), noisy_scores=(3.5, 1000.0))

    assert noisy.to_frame().to_dict(as_series=False) == noisy.table()
    assert str(noisy).splitlines()[:3] == [
        "answer  score, noisy",
        "fig              3.5",
        "pear            1000",
    ]


def test_a_release_carries_its_query_and_what_follows_from_it():
    assert RELEASE.query == dp.Selection(
        mechanism=dp.ExponentialMechanism(epsilon=5.0), k=2, neighbours="swap"
    )
    assert RELEASE.plan == RELEASE.query.plan
    assert (RELEASE.epsilon, RELEASE.delta, RELEASE.candidate) == (5.0, 0.0, 7)
    assert json.loads(RELEASE.to_json())["answer"] == [7, 9]  # plain numbers


def test_a_release_pickles():
    assert pickle.loads(pickle.dumps(RELEASE)) == RELEASE  # noqa: S301 -- our own bytes


def test_simulations_repeat_with_their_generator():
    def draws(seed):
        rng = np.random.default_rng(seed)
        return np.asarray(dp.LocalDampening(epsilon=0.01).simulate(OBJECTIVE, size=50, rng=rng))

    assert draws(3).tolist() == draws(3).tolist()
    assert draws(3).tolist() != draws(4).tolist()


def test_a_release_says_that_no_bound_holds():
    plan = replace(RELEASE.plan, error=ErrorBound(60.0, "days", largest=60.0))

    assert "no useful bound: it is 60 days" in str(replace(RELEASE, plan=plan))
