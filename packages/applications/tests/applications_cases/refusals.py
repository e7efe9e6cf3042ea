"""Refusals of cells, columns, hubs, levels, series, tuning and variants."""

from functools import partial
from math import inf

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

import dpselect as dp
from dpselect.errors import ColumnError, DataError, NeighboursError, PublicClaimError
from dpselect.networks import EdgeTable
from dpselect.trees import Bins, ID3Classifier
from dpselect_applications import tuning
from dpselect_applications.columns import PrivateSelectKBest
from dpselect_applications.levels import path_tree, prefix_tree
from dpselect_applications.variants import genotype_counts
from support.refusals import Each, fitting, refusing, releasing

AR = {"neighbours": "add-remove"}
DEAR = dp.PermuteAndFlip(epsilon=2.0)
TWO = dp.Objective([1.0, 2.0], dp.GlobalSensitivity(1, "add-remove"))
ONE_CANDIDATE = dp.Objective([1.0], dp.GlobalSensitivity(1, "add-remove"))
SUBSTITUTED = dp.Objective([1.0, 2.0], dp.GlobalSensitivity(1, "substitute"))
X = pl.DataFrame({"colour": ["red", "blue"] * 25, "age": [20, 40] * 25})
Y = np.array(["no", "yes"] * 25)
PUBLIC = {
    "domains": {"colour": ["red", "blue"], "age": Bins(18, 90, bins=4)},
    "classes": ["no", "yes"],
    "max_records": 5000,
}
TREE = ID3Classifier(1.0, **PUBLIC)
LISTS = ID3Classifier(1.0, domains=Bins(0, 1), classes=["no", "yes"], max_records=100)
DAYS = X.with_columns(day=pl.date(2020, 1, 1))
RUNS = {"repetitions": tuning.Geometric(mean=3), "epsilon_per_run": 1.0, **AR}


def run_of(returned, **more):
    dp.BestOf(**{**RUNS, **more}).release([lambda: returned])


def profile_of(wrong):
    tuning.Profile.of(wrong)


def planned(**changed):
    asked = {"epsilon": 1.0, "neighbours": "substitute", **changed}
    tuning.PrivateClassifier(GaussianNB(), **asked).plan()


def told(run):
    study = tuning.PrivateStudy([1], dp.BestOf(**RUNS))
    study.ask()
    study.tell(1.0, run)


BEST = releasing(dp.BestOf, data=[lambda: (0.5, "a")], **RUNS)
PRICED = releasing(dp.BestOf, repetitions=tuning.Geometric(mean=3), neighbours="edge")
RUN = refusing(run_of)
LAW = refusing(lambda law: law())
RENYI = refusing(
    tuning.renyi_of_best, orders=[2], divergences=[1], repetitions=tuning.Poisson(mean=2)
)
PLANNED = refusing(planned)
PROFILE = refusing(profile_of)
STUDY = refusing(tuning.PrivateStudy, candidates=[1], query=dp.BestOf(**RUNS))
GRID = {"max_depth": [0, 1, 2]}
SEARCH = fitting(tuning.PrivateSearchCV, X, Y, estimator=TREE, grid=GRID, epsilon=20.0)
COLUMNS = fitting(PrivateSelectKBest, X, Y, epsilon=0.5, k=1, **PUBLIC)
STABLE = releasing(tuning.StableArgmax, data=TWO, epsilon=0.7, delta=0.02, **AR)

AND = {"source": "a", "target": "b"}
AB = pl.LazyFrame({"a": [1], "b": [2]})
HUBS = releasing(dp.Hubs, nodes=1000, k=2, metric="ego-betweenness", epsilon=1.0)
LAZY_HUBS = releasing(dp.Hubs, nodes=5, k=1, epsilon=1.0, **AND)

CODES = {"data": pl.DataFrame({"code": ["a"]}), "column": "code", "epsilon": 1.0, **AR}
LEVELS = releasing(dp.Levels, tree={"a": "x", "b": "x"}, **CODES)
SERIES = releasing(
    dp.Series, period="month", periods=[1, 2, 3], k=1, candidates=["a", "b"], **CODES
)
VARIANTS = releasing(
    dp.TopVariants, data=[[1, 0, 1, 0]], variants=1, cases=5, controls=5, significance=0.1, k=1,
    epsilon=1.0,
)  # fmt: skip
BOX = {"data": [[0.5, 0.5]], "bounds": (0, 0, 1, 1), "grid": 2, "epsilon": 2.0, **AR}
HEAVY = releasing(dp.HeavyCells, **BOX)
GROUPED = releasing(dp.HeavyCells, x="lon", y="lat", by="g", k=1, **BOX)
PREFIXES = refusing(prefix_tree, ["ABC"])

ROWS = [
    BEST("repetitions", repetitions=Each(["geometric", {"name": "uniform"}])),
    BEST("'poisson' must state mean, and no more", repetitions={"name": "poisson"}),
    BEST("mean", repetitions={"name": "geometric", "mean": 0}),
    BEST("epsilon_per_run", epsilon_per_run=0.0),
    BEST("threshold", threshold=np.nan),
    BEST("must be Geometric", threshold=1.0, repetitions=tuning.Logarithmic(mean=3)),
    LAW(
        "mean",
        law=Each([partial(tuning.Geometric, mean=0.5), partial(tuning.Geometric, mean=1e5)]),
    ),
    LAW("shape", law=partial(tuning.TruncatedNegativeBinomial, mean=3, shape=-1)),
    LAW("mean", law=partial(tuning.Poisson, mean=0)),
    RENYI("orders", orders=Each([[2, 3], [0.5]])),
    RENYI("orders", orders=[3, 2], divergences=[1, 1]),
    RENYI("below 1 has no bound", repetitions=tuning.Poisson(mean=0.5)),
    RENYI("a distribution of dpselect", repetitions="poisson"),
    BEST("runs must be at", data=[]),
    refusing(tuning.best_probabilities, [1, 2], [0.5, 0.4])(
        "probabilities", repetitions=tuning.Geometric(mean=2)
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
    SEARCH("leave out", estimator=clone(TREE).set_params(user="who", max_per_user=2)),
    SEARCH("grid", grid=Each([{"epsilon": [1.0]}, {"deep": [1]}, 3])),
    SEARCH("method", method="best"),
    SEARCH("must have at least one run", repetitions=tuning.Poisson(mean=3)),
    SEARCH("validation_share", validation_share=1.0),
    SEARCH("random_state", random_state=-1),
    SEARCH("criterion", grid={"criterion": ["best"]}),
    SEARCH("anchor", mechanism="anchored"),
    SEARCH("is too small", method="all", mechanism="noisy-sequence", epsilon=1e-12),
    SEARCH("scoring", scoring=Each([3, object, lambda: 1.0])),
    SEARCH("a DummyClassifier", estimator=DummyClassifier(), grid={"strategy": ["prior"]}),
    SEARCH("collect the lazy frame", DataError, data=(X.lazy(), Y)),
    SEARCH("same number of records", DataError, data=(X, Y[1:])),
    SEARCH("must hold numbers or text", ColumnError, data=(DAYS, Y)),
    SEARCH("X is a list of rows", DataError, estimator=LISTS, data=([3], ["no"])),
    PLANNED("a GaussianNB has no 'epsilon'"),
    PLANNED("epsilon", epsilon=0.0, epsilon_name="var_smoothing"),
    PLANNED("neighbours", NeighboursError, neighbours="edge", epsilon_name="var_smoothing"),
    STABLE("must be", epsilon=0.0, delta=0.1),
    STABLE("must be", epsilon=1.0, delta=Each([0.0, 1.0])),
    STABLE("at least two candidates", data=ONE_CANDIDATE),
    STABLE("delta is too small", delta=1e-60),
    STABLE("one neighbour relation", NeighboursError, data=SUBSTITUTED),
    STUDY("candidates", candidates=Each([[], [None]])),
    STUDY("query", query="BestOf"),
    LEVELS(
        "tree", tree=Each([{}, {"a": "x"}, {"a": "b", "b": "a", "c": "x", "d": "x"}, ["a"]])
    ),
    LEVELS("tree", tree=Each([{"a": "a", "b": "a"}, {"a": "x", "b": "x", "c": "(all)"}, None])),
    LEVELS("tree", tree={"a": "x", "b": None}),
    COLUMNS("k", k=Each([3, 0])),
    COLUMNS("criterion", criterion="chi2"),
    COLUMNS("classes", classes=None),
    COLUMNS("mechanism", mechanism="best"),
    HUBS("metric", metric="degree"),
    HUBS("k", candidates=1),
    HUBS("candidates", candidates=Each([9999, 0])),
    HUBS("degrees_share", degrees_share=1.0),
    HUBS("is too small", epsilon=1e-16),
    HUBS("epsilon", epsilon=1e-13, degrees_share=0.5),
    LAZY_HUBS("counted in memory", data=Each([AB, EdgeTable.from_edges(AB, **AND, nodes=5)])),
    LEVELS("tuning_share", tuning_share=Each([0, 1, None])),
    LEVELS("epsilon", epsilon=Each([0, inf, 1e-13])),
    LEVELS("inner", inner="all"),
    LEVELS("column", column=Each([3, ["a", "b"]])),
    LEVELS("column 'a' cannot be a", column="a", user="a", max_per_user=1),
    LEVELS("user", column="a", user="p"),
    LEVELS("there is no column 'p'", ColumnError, user="p", max_per_user=1),
    LEVELS("no column 'code'", ColumnError, data=pl.DataFrame({"other": ["a"]})),
    LEVELS("is of type Float64", ColumnError, data=pl.DataFrame({"code": [1.5]})),
    LEVELS("there is no file", DataError, data="nowhere.csv"),
    LEVELS("holds integer", data=pl.DataFrame({"code": [1]})),
    LEVELS("one value of a", data=pl.DataFrame({"code": [1]}), tree={"01": "x", "1": "x"}),
    refusing(path_tree, [("x", "a"), ("y", "a")])("two parents"),
    PREFIXES("lengths", lengths=Each([[], [0], [3, 1], [1, 1]])),
    SERIES("periods", periods=Each([[], [1, 1]])),
    SERIES("k", k=Each([3, 0])),
    SERIES("candidates", candidates=[]),
    SERIES("user", user="person"),
    SERIES("cannot be a part of the key", period="code"),
    SERIES("epsilon", epsilon=1e-16),
    SERIES("delta", delta=-1.0),
    SERIES("no column 'month'", ColumnError),
    VARIANTS("significance", significance=Each([1.0, 5e-324])),
    VARIANTS("cases", cases=0),
    VARIANTS("four columns", counts=("a", "b")),
    VARIANTS("1 rows", PublicClaimError, variants=2),
    VARIANTS("of shape", DataError, data=[[1, 2, 3]]),
    refusing(genotype_counts, [[0, 1]])("variants), is_case", DataError, is_case=[1]),
    HEAVY("different columns", k=1, x="a", y="b", user=Each(["a", "b"]), max_per_user=2),
    HEAVY("k"),
    HEAVY("k", k=5),
    HEAVY("above", above=2, mechanism="exponential"),
    HEAVY("go together", k=1, user="who"),
    GROUPED("groups", by=None, groups=[1]),
    GROUPED("other", groups=[1], other=True),
    GROUPED("delta"),
    GROUPED("by", groups=[1], x=None, y=None),
    GROUPED("must be different columns", groups=[1], by="lon"),
    refusing(told)("a run states epsilon = 2", run=DEAR.release(TWO)),
]
