"""Refusals of trees."""

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.errors import (
    ColumnError,
    DataError,
    DPSelectError,
    PublicClaimError,
    ScoresError,
)
from dpselect.trees import (
    Bins,
    Categories,
    ID3Classifier,
    InformationGainSensitivity,
    MultiObjectiveTreeClassifier,
    true_positive_rate,
)
from support.refusals import Each, fitting, refusing, releasing

CLASSES = ["no", "yes"]
FRAME = pl.DataFrame(
    {
        "colour": ["red", "blue"] * 60,
        "age": [20, 40] * 60,
        "noise": [0, 1, 1] * 40,
        "buys": CLASSES * 60,
    }
)
DOMAINS = {"colour": ["red", "green", "blue"], "age": Bins(18, 90, bins=4), "noise": [0, 1]}
X, Y = FRAME.drop("buys"), np.array(CLASSES * 60)
PUBLIC = {"domains": DOMAINS, "classes": CLASSES, "max_records": 5000}
MANY = FRAME.head(77).lazy()
BORN = FRAME.with_columns(born=pl.date(2000, 1, 1)).lazy()
PERSONS = {"user": "noise", "max_per_user": 2}
LISTED = [["red", 20]]
WEIGHT = X.with_columns(weight=pl.lit(0.5))


def fit_any(x, y):
    ID3Classifier(20.0, domains=[[0, 1]], classes=[0, 1], max_records=99).fit(x, y)


def rate_of(hits, total, neighbours="add-remove"):
    true_positive_rate(hits, total, neighbours=neighbours)


ID3 = fitting(ID3Classifier, X, Y, epsilon=20.0, max_depth=2, **PUBLIC)
LAZY = fitting(ID3Classifier, FRAME.lazy(), "buys", epsilon=1.0, **PUBLIC)
FRONT = fitting(
    MultiObjectiveTreeClassifier, X, Y, epsilon=20.0, population=20, survivors=4, generations=3,
    domains=DOMAINS, classes=CLASSES, max_records=5000, random_state=0,
)  # fmt: skip
ANY = refusing(fit_any)
CATEGORIES = refusing(Categories)
RATE = refusing(rate_of)
GAIN = refusing(InformationGainSensitivity, counts=[np.zeros((1, 2), int)], max_records=5)
TREE = releasing(dp.ID3Tree, epsilon=1.0, neighbours="add-remove", **PUBLIC)

ROWS = [
    ID3("domains", domains=None),
    ID3("mapping from column names", domains=5),
    ID3("at least one column", domains={}),
    ID3("domain of 'colour'", domains={"colour": "red"}),
    ID3("Bins(low, high, bins=...)", domains={"age": (18, 90, 4)}),
    ID3("different values", domains={"colour": ["red", "red"]}),
    CATEGORIES("values", values=[[1]]),
    ID3("other", domains={"colour": [None]}),
    ID3("does not have: ['size", ColumnError, domains={"size": [1, 2]}),
    ID3("'colour' and its domain", ColumnError, domains={"colour": Bins(0, 1)}),
    ID3("'age' and its domain are of different", ColumnError, domains={"age": ["old"]}),
    ID3("'colour' and its domain are of different", ColumnError, domains={"colour": [1, 2]}),
    ID3("one for each column: 3, not 1", domains=[[0, 1]]),
    ID3("classes", classes=Each([None, "yes"])),
    ID3("at least two", classes=["yes"]),
    ID3("'y' and its domain are of different types", ColumnError, classes=[0, 1]),
    ID3("max_records", max_records=None),
    ID3("at least 2", max_records=1),
    ID3("max_records", PublicClaimError, max_records=100),
    ID3("epsilon", epsilon=Each([0.0, 1e-16, None])),
    ID3("max_depth", max_depth=-1),
    ID3("criterion", criterion="twoing"),
    ID3("mechanism", mechanism="magic"),
    FRONT("mechanism", mechanism="best"),
    FRONT("direction", mechanism="shifted", rate_bound="local"),
    FRONT("anchor", mechanism="anchored"),
    FRONT("keep to", mechanism=lambda epsilon: dp.PermuteAndFlip(epsilon=2 * epsilon)),
    FRONT(
        "mechanism", mechanism={"name": "noisy-sequence", "noise": "gaussian", "delta": 1e-6}
    ),
    ID3("neighbours", ValueError, neighbours=Each([dp.Neighbours.EDGE, "edge"])),
    ID3("'repair' or 'raise'", on_invalid="ignore"),
    ID3("'y' and its", ColumnError, data=(X.head(2), pl.Series(CLASSES)), classes=[0, 1]),
    ID3("y has labels", PublicClaimError, data=(X.head(1), ["perhaps"]), on_invalid="raise"),
    ID3("y has labels outside", PublicClaimError, data=(X.head(1), [None]), on_invalid="raise"),
    ANY("Reshape your data", DPSelectError, x=np.zeros(4), y=np.zeros(4)),
    ANY("Complex data", DPSelectError, x=np.zeros((4, 1), complex), y=np.zeros(4)),
    ANY("same number of records", DPSelectError, x=np.zeros((4, 1)), y=np.zeros(3)),
    ANY("1d array", DPSelectError, x=np.zeros((4, 1)), y=np.zeros((4, 2))),
    ANY("requires y", DPSelectError, x=np.zeros((4, 1)), y=None),
    ANY("one for each column", DPSelectError, x=np.zeros((4, 0)), y=np.zeros(4)),
    ANY("Reshape your data", DPSelectError, x="data.csv", y=np.zeros(4)),
    ID3("name columns that the table does not", ColumnError, data=(X.rename({"age": "A"}), Y)),
    ID3("go together", user="noise"),
    ID3("max_per_user", user="noise", max_per_user=0),
    ID3("user", **PERSONS),
    ID3("no column 'nobody'", ColumnError, user="nobody", max_per_user=2),
    ID3("users must be text", ColumnError, data=(WEIGHT, Y), user="weight", max_per_user=2),
    ID3("X must", data=(LISTED, ["no"]), domains=[["red"], [20]], user="who", max_per_user=2),
    LAZY("y must be the name of its label column", data=(FRAME.lazy(), FRAME["buys"])),
    LAZY("no column 'sells'", ColumnError, data=(FRAME.lazy(), "sells")),
    LAZY("more records than", PublicClaimError, data=(MANY, "buys"), max_records=10),
    LAZY("'noise' has values", PublicClaimError, domains={"noise": [0, 7]}, on_invalid="raise"),
    LAZY("'colour' and its domain", ColumnError, domains={"colour": Bins(0, 1)}),
    LAZY("'y' and its domain", ColumnError, classes=[0, 1]),
    LAZY("must hold", ColumnError, data=(BORN, "buys"), domains={"born": ["2000-01-01"]}),
    LAZY("y has labels outside", PublicClaimError, classes=["no", "maybe"], on_invalid="raise"),
    TREE("a pair of a table in memory and its labels", DataError, data=FRAME),
    TREE("label", DataError, data=(FRAME.lazy(), FRAME["buys"])),
    TREE("there is no column 'buys'", ColumnError, data=X, label="buys"),
    TREE("there is no column 'age'", ColumnError, data=FRAME.drop("age"), label="buys"),
    FRONT("Only binary classification", classes=["a", "b", "c"]),
    FRONT("selection", selection="best"),
    FRONT("dominance", dominance="mild"),
    FRONT("operators", operators="printed"),
    FRONT("rate_bound", rate_bound="smooth"),
    FRONT("must be 'noisy-denominators' or 'global'", selection="margin", rate_bound="local"),
    FRONT("survivors", survivors=21),
    FRONT("front", front=0),
    FRONT("population", population=10**7),
    FRONT("initial_depth", initial_depth=21, max_depth=21),
    FRONT("generations", generations=0),
    FRONT("max_depth", max_depth=2),
    FRONT("totals_share", totals_share=0.0),
    FRONT("below 1", totals_share=0.5, rates_share=0.5),
    FRONT("weights", weights=Each([3, (0, 0), (-1, 2)])),
    FRONT("domains", domains=None),
    FRONT("max_records", PublicClaimError, max_records=10),
    FRONT("dominance", dominance="weak", selection="margin"),
    FRONT("max_depth", operators="published", max_depth=21),
    ID3("the horizon", criterion="information-gain", mechanism="shifted", max_records=2**31),
    RATE("from 0 to their total", DPSelectError, hits=Each([[3], [-1]]), total=2),
    RATE("neighbours", DPSelectError, hits=[1], total=2, neighbours=dp.Neighbours.EDGE),
    RATE("counts must be", ScoresError, hits=[2], total=Each([[3], 3.5, True, None])),
    RATE("counts must be", ScoresError, hits=Each([[4], [-1], [0.5], [], [[1]]]), total=3),
    GAIN("classes", counts=[np.zeros((1, 1), int)]),
    refusing(dp.trees.Tree.from_json, "{}")("not a tree", DataError),
]
