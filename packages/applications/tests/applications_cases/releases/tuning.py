"""Releases of the best of several private runs, and private searches."""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import clone

import dpselect as dp
from dpselect.draws.exact import noisy_counts
from dpselect.neighbours import Neighbours
from dpselect.trees import ID3Classifier
from dpselect_applications import tuning
from dpselect_conformance import ReleaseCase
from support.releases.trees import PAIRS, PUBLIC, pair_in_memory

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
    votes = "".join(rng.choice(list("abc"), 20, p=[0.6, 0.2, 0.2]))
    return votes, votes[1:]


def best(repetitions, **more):
    given = more if "profile_per_run" in more else {"epsilon_per_run": 0.5, **more}
    query = dp.BestOf(repetitions=repetitions, neighbours=RELATION, **given)
    return ReleaseCase(
        name=f"BestOf, {repetitions!r}, {more}",
        query=query,
        data=lambda votes: [partial(run, votes, names, 0.5) for names in ("ab", "bc", "ca")],
        pair=one_vote_less,
        delta=more.get("delta", 0.0),
    )


def studied():
    """The same runs, asked for one by one, whose draws stay secret."""
    case = best(tuning.Poisson(mean=3), delta=0.01)

    def ask(votes, budget):
        study = tuning.PrivateStudy(["ab", "bc", "ca"], case.query, budget=budget)
        for names in study:
            study.tell(*run(votes, names, 0.5))
        return study.release

    return replace(case, name="PrivateStudy", run=ask, secret=True, repeats=False)


def search(relation, method):
    made = tuning.PrivateSearchCV(
        ID3Classifier(1.0, **PUBLIC, neighbours=relation),
        {"max_depth": [1, 2]},
        epsilon=1.0,
        method=method,
        repetitions=tuning.Geometric(mean=3),
    )
    query = made.query(["sky", "wind"])

    def run(data, budget):
        return clone(made).set_params(budget=budget).fit(*pair_in_memory(data))

    return [
        ReleaseCase(
            name=f"{name}, {relation}, {method}", query=query, pair=PAIRS[relation], **way
        )
        for name, way in (
            ("Search", {"data": pair_in_memory}),
            ("PrivateSearchCV", {"run": run}),
        )
    ]


def tally(votes):
    one_vote = dp.GlobalSensitivity(1, RELATION)
    return dp.Objective([votes.count(name) for name in "abc"], one_vote, "abc", monotone=True)


CASES = [
    ReleaseCase(
        name="StableArgmax",
        query=dp.StableArgmax(epsilon=1.0, delta=0.01, neighbours=RELATION),
        data=tally,
        pair=one_vote_less,
        delta=0.01,
    ),
    best(tuning.Geometric(mean=3)),
    best({"name": "geometric", "mean": 3}, threshold=5.0),
    best(tuning.Logarithmic(mean=3)),
    best(tuning.TruncatedNegativeBinomial(mean=3, shape=0.5)),
    best(tuning.Poisson(mean=3)),
    best(tuning.Geometric(mean=3), delta=0.01),
    studied(),
    best(tuning.Poisson(mean=3), profile_per_run=[(0.5, 0.0)], delta=0.01),
    *(
        one
        for relation in (RELATION, Neighbours.SUBSTITUTE)
        for method in ("repeat", "all")
        for one in search(relation, method)
    ),
]
