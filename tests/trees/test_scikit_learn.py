"""Estimators follow scikit-learn, but for what would tell of the data."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.utils.estimator_checks import check_estimator

from dpselect.errors import ColumnError
from dpselect.trees import (
    Bins,
    Categories,
    ID3Classifier,
    MultiObjectiveTreeClassifier,
    PrivateSelectKBest,
    expected_failed_checks,
)
from dpselect.trees.domains import named_domains
from support.packages import brought

PUBLIC = {"domains": Bins(-3, 3, bins=15), "classes": [0, 1, 2], "max_records": 10_000}
TREE = ID3Classifier(500.0, **PUBLIC)
ESTIMATORS = {
    "columns": PrivateSelectKBest(500.0, k=1, **PUBLIC),
    "tree": TREE,
    "front": MultiObjectiveTreeClassifier(
        500.0, population=20, survivors=4, generations=3, domains=Bins(-3, 3, bins=9),
        classes=[0, 1], max_records=10**4,
    ),
}  # fmt: skip
SEARCHES = {
    name: one
    for module in brought("searches").values()
    for name, one in module.SEARCHES.items()
}
ESTIMATORS |= {name: search(TREE, 5, 500.0) for name, search in SEARCHES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_it_follows_scikit_learn(name, epsilon):
    estimator = clone(ESTIMATORS[name]).set_params(epsilon=epsilon)
    expected = expected_failed_checks(estimator)
    results = check_estimator(
        estimator, expected_failed_checks=expected, on_fail=None, on_skip=None
    )

    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failed == {}


X = [["sun", 1], ["rain", 1], ["sun", 0], ["rain", 0]] * 30
Y = np.array(["in", "out"] * 60)
TEXTS = ID3Classifier(
    2000.0, max_depth=1, domains=[["rain", "sun"], [0, 1]], classes=["out", "in"],
    max_records=400,
)  # fmt: skip
MODELS = {
    "tree": TEXTS,
    **{name: search(TEXTS, 1, 4000.0) for name, search in SEARCHES.items()},
}


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_columns_of_cross_validated_predictions_are_of_ascending_classes(model, method):
    found = cross_val_predict(model, X, Y, cv=3, method=method)

    assert roc_auc_score(Y == "out", np.exp(found[:, 1])) == 1


def test_integers_are_positions_of_ascending_classes_and_answered_so():
    tree = clone(TEXTS).fit(X, np.array([0, 1, 0, 7] * 30))

    assert tree.classes_.tolist() == [0, 1]
    assert tree.tree_.schema.classes == ("out", "in")
    assert tree.predict([["sun", 1], ["rain", 1]]).tolist() == [0, 1]


@pytest.mark.parametrize("classes", [["1", "2"], ["no", "2"]])
def test_integers_are_no_positions_where_a_class_is_written_as_a_number(classes):
    model = clone(TEXTS).set_params(classes=classes)

    with pytest.raises(ColumnError, match="domain"):
        model.fit(X, np.array([0, 1] * 60))
    with pytest.raises(ColumnError, match="domain"):
        TEXTS.query(["x0", "x1"]).release((X, np.array([0, 1] * 60)))


def test_a_search_reads_lists_of_one_domain_for_all_columns():
    tree = clone(TEXTS).set_params(domains=Categories(["a", "b"]), classes=["no", "yes"])
    rows = [["a", "b"], ["b", "b"]] * 50
    for model in (tree, *(search(tree, 1, 4000.0) for search in SEARCHES.values())):
        assert model.fit(rows, ["no", "yes"] * 50).predict(rows[:2]).tolist() == ["no", "yes"]


def test_a_tree_on_an_array_says_how_names_are_kept():
    tree = clone(TEXTS).set_params(domains={"sky": ["sun", "rain"]})

    with pytest.raises(ColumnError, match=r"set_output\(transform='pandas'\)"):
        tree.fit(X, Y)
    with pytest.raises(ColumnError, match=r"it has \['rain'\]$"):
        named_domains({"sky": Categories(["sun", "rain"])}, ["rain"])
