"""Refusals of tuning."""

from functools import partial

import numpy as np
import polars as pl
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

import dpselect as dp
from dpselect.errors import ColumnError, DataError, NeighboursError
from dpselect.trees import Bins, ID3Classifier
from dpselect_applications.tuning import (
    Geometric,
    Logarithmic,
    Poisson,
    PrivateClassifier,
    PrivateSearchCV,
    PrivateStudy,
    Profile,
    StableArgmax,
    TruncatedNegativeBinomial,
    best_probabilities,
    renyi_of_best,
)  # fmt: skip
from support.refusals import Each, fitting, refusing, releasing

AR = {"neighbours": "add-remove"}
DEAR = dp.PermuteAndFlip(epsilon=2.0)
TWO = dp.Objective([1.0, 2.0], dp.GlobalSensitivity(1, "add-remove"))
ONE_CANDIDATE = dp.Objective([1.0], dp.GlobalSensitivity(1, "add-remove"))
SUBSTITUTED = dp.Objective([1.0, 2.0], dp.GlobalSensitivity(1, "substitute"))
X = pl.DataFrame({"colour": ["red", "blue"] * 25, "age": [20, 40] * 25})
Y = np.array(["no", "yes"] * 25)
DOMAINS = {"colour": ["red", "blue"], "age": Bins(18, 90, bins=4)}
TREE = ID3Classifier(1.0, domains=DOMAINS, classes=["no", "yes"], max_records=5000)
LISTS = ID3Classifier(1.0, domains=Bins(0, 1), classes=["no", "yes"], max_records=100)
DAYS = X.with_columns(day=pl.date(2020, 1, 1))
MODEL = [np.ones(2)] * 3


def run_of(returned, **more):
    dp.BestOf(**{**RUNS, **more}).release([lambda: returned])


def profile_of(wrong):
    Profile.of(wrong)


def planned(model=None, **changed):
    asked = {"epsilon": 1.0, "neighbours": "substitute", **changed}
    PrivateClassifier(model or GaussianNB(), **asked).plan()


def divergences(orders, of):
    renyi_of_best(orders, of, repetitions=Poisson(mean=2))


RUNS = {"repetitions": Geometric(mean=3), "epsilon_per_run": 1.0, **AR}
BEST = releasing(dp.BestOf, data=[lambda: (0.5, "a")], **RUNS)
PRICED = releasing(dp.BestOf, repetitions=Geometric(mean=3), neighbours="edge")
RUN = refusing(run_of)
LAW = refusing(lambda law: law())
DIVERGENCES = refusing(divergences)
PLANNED = refusing(planned)
PROFILE = refusing(profile_of)
SEARCH = fitting(
    partial(PrivateSearchCV, TREE), X, Y, grid={"max_depth": [0, 1, 2]}, epsilon=20.0
)
OF_LISTS = fitting(
    partial(PrivateSearchCV, LISTS), [3], ["no"], grid={"max_depth": [0]}, epsilon=4.0
)
STABLE = releasing(StableArgmax, data=TWO, epsilon=0.7, delta=0.02, **AR)
STUDY = refusing(PrivateStudy, [1], dp.BestOf(**RUNS))

ROWS = [
    BEST("repetitions", repetitions=Each(["geometric", {"name": "uniform"}])),
    BEST("'poisson' must state mean, and no more", repetitions={"name": "poisson"}),
    BEST("mean", repetitions={"name": "geometric", "mean": 0}),
    BEST("epsilon_per_run", epsilon_per_run=0.0),
    BEST("threshold", threshold=np.nan),
    BEST("must be Geometric", threshold=1.0, repetitions=Logarithmic(mean=3)),
    LAW("mean", law=Each([partial(Geometric, mean=0.5), partial(Geometric, mean=1e5)])),
    LAW("shape", law=partial(TruncatedNegativeBinomial, mean=3, shape=-1)),
    LAW("mean", law=partial(Poisson, mean=0)),
    DIVERGENCES("orders", orders=Each([[2, 3], [0.5]]), of=[1]),
    DIVERGENCES("orders", orders=[3, 2], of=[1, 1]),
    refusing(renyi_of_best, [2], [1])("below 1 has no bound", repetitions=Poisson(mean=0.5)),
    refusing(renyi_of_best, [2], [1])("a distribution of dpselect", repetitions="poisson"),
    BEST("runs must be at", data=[]),
    refusing(best_probabilities, [1, 2], [0.5, 0.4])(
        "probabilities", repetitions=Geometric(mean=2)
    ),
    RUN("a run must return two values", returned=Each([3, (1.0, "a", 2)])),
    RUN("the score of a run must be a number, not a NoneType", returned=(None, "a")),
    RUN("the score of a run must be a number, not a str", returned=("secret", "a")),
    RUN("a run states epsilon = 2.0", returned=(1.0, DEAR.release(TWO))),
    RUN("a run", returned=(1.0, DEAR.release(TWO)), epsilon_per_run=0.5, rho_per_run=0.1),
    PRICED("epsilon_per_run", delta=1e-6),
    PRICED("delta", rho_per_run=0.1),
    PRICED("delta", profile_per_run=[(1.0, 0.0)]),
    PRICED("no finite epsilon follows", delta=1e-6, profile_per_run=[(1.0, 1e-5)]),
    PRICED("delta", delta=1e-6, rho_per_run=0.1, threshold=1.0),
    PROFILE("a profile must", wrong=Each(["gaussian", [], [1.0, 2.0], [(-1.0, 0.1)]])),
    PROFILE("a profile must", wrong=Each([[(1.0, 1.5)], [(1.0, float("nan"))], [(1e4, 0)]])),
    SEARCH("epsilon", epsilon=0.0),
    SEARCH("grid", grid=Each([{"epsilon": [1.0]}, {"deep": [1]}, 3])),
    SEARCH("method", method="best"),
    SEARCH("must have at least one run", repetitions=Poisson(mean=3)),
    SEARCH("validation_share", validation_share=1.0),
    SEARCH("random_state", random_state=-1),
    SEARCH("criterion", grid={"criterion": ["best"]}),
    SEARCH("anchor", mechanism="anchored"),
    SEARCH("scoring", scoring=Each([3, object, lambda: 1.0])),
    refusing(PrivateSearchCV(DummyClassifier(), {"strategy": ["prior"]}, epsilon=1.0).plan)(
        "a DummyClassifier"
    ),
    SEARCH("collect the lazy frame", DataError, data=(X.lazy(), Y)),
    SEARCH("same number of records", DataError, data=(X, Y[1:])),
    SEARCH("must hold numbers or text", ColumnError, data=(DAYS, Y)),
    OF_LISTS("X is a list of rows", DataError),
    PLANNED("a GaussianNB has no 'epsilon'"),
    PLANNED("epsilon", epsilon=0.0, epsilon_name="var_smoothing"),
    PLANNED("neighbours", NeighboursError, neighbours="edge", epsilon_name="var_smoothing"),
    STABLE("must be", epsilon=0.0, delta=0.1),
    STABLE("must be", epsilon=1.0, delta=Each([0.0, 1.0])),
    STABLE("at least two candidates", data=ONE_CANDIDATE),
    STABLE("delta is too small", delta=1e-60),
    STABLE("the release is for add-remove neighbours", NeighboursError, data=SUBSTITUTED),
    refusing(PrivateStudy, query=dp.BestOf(**RUNS))(
        "candidates", candidates=Each([[], [None]])
    ),
    refusing(PrivateStudy, [1])("query", query="BestOf"),
]
