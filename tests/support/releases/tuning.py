"""Releases of the best of several private runs, and private searches."""

from functools import partial

import numpy as np

import dpselect as dp
from dpselect.draws import noisy_counts
from dpselect.neighbours import Neighbours
from dpselect.trees import ID3Classifier
from dpselect.tuning import (
    Geometric,
    Logarithmic,
    Poisson,
    PrivateSearchCV,
    StableArgmax,
    TruncatedNegativeBinomial,
    plan_best,
    release_best,
)
from support.releases import ReleaseCase
from support.releases.trees import PUBLIC, pair_of

RELATION = Neighbours.ADD_REMOVE


def run(votes, names, epsilon):
    """The favourite among some names, with the noisy number of its votes."""
    one_vote = dp.GlobalSensitivity(1, RELATION)
    objective = dp.Objective([votes.count(name) for name in names], one_vote, names)
    favourite = dp.PermuteAndFlip(epsilon=epsilon / 2).release(objective).candidate
    count = np.array([votes.count(favourite)])
    noisy = noisy_counts.discrete_laplace(count, noisy_counts.scale_for(epsilon / 2))
    return float(noisy[0]), favourite


def one_vote_less(rng):
    votes = "".join(rng.choice(list("abc"), 20))
    return votes, votes[1:]


def best(repetitions, **more):
    public = {
        "repetitions": repetitions,
        "epsilon_per_run": 0.5,
        "neighbours": RELATION,
        **more,
    }

    def release(votes, budget):
        runs = [partial(run, votes, names, 0.5) for names in ("ab", "bc", "ca")]
        return release_best(runs, budget=budget, **public)

    return ReleaseCase(
        name=f"release_best, {repetitions!r}, {more}",
        neighbours=RELATION,
        release=release,
        plan=partial(plan_best, **public),
        pair=one_vote_less,
    )


def search(relation, method):
    def made(budget=None):
        return PrivateSearchCV(
            ID3Classifier(**PUBLIC, neighbours=relation),
            {"max_depth": [1, 2]},
            epsilon=1.0,
            method=method,
            repetitions=Geometric(mean=3),
            budget=budget,
        )

    def release(data, budget):
        return made(budget).fit(data.drop("weather"), data["weather"])

    return ReleaseCase(
        name=f"PrivateSearchCV, {relation}, {method}",
        neighbours=relation,
        release=release,
        plan=lambda: made().plan(),
        pair=pair_of(relation),
    )


STABLE = StableArgmax(epsilon=1.0, delta=0.01)


def most_votes(votes, budget):
    one_vote = dp.GlobalSensitivity(1, RELATION)
    tally = [votes.count(name) for name in "abc"]
    return STABLE.release(dp.Objective(tally, one_vote, "abc", monotone=True), budget)


def led_votes(rng):
    votes = "".join(rng.choice(list("abc"), 20, p=[0.6, 0.2, 0.2]))
    return votes, votes[1:]


CASES = [
    ReleaseCase(
        name="StableArgmax",
        neighbours=RELATION,
        release=most_votes,
        plan=partial(STABLE.plan, neighbours=RELATION),
        pair=led_votes,
        delta=0.01,
    ),
    best(Geometric(mean=3)),
    best(Geometric(mean=3), threshold=5.0),
    best(Logarithmic(mean=3)),
    best(TruncatedNegativeBinomial(mean=3, shape=0.5)),
    best(Poisson(mean=3)),
    *(
        search(relation, method)
        for relation in (RELATION, Neighbours.SUBSTITUTE)
        for method in ("repeat", "all")
    ),
]
