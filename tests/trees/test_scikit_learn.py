"""Estimators follow scikit-learn, but for what would tell of the data."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from dpselect.trees import (
    Bins,
    ID3Classifier,
    MultiObjectiveTreeClassifier,
    PrivateSelectKBest,
    expected_failed_checks,
)
from dpselect.tuning import PrivateSearchCV

NO_MISSING = {
    "check_supervised_y_no_nan": "a missing label is repaired: an error would be an output"
}
COLUMNS = NO_MISSING | {
    "check_estimators_empty_data_messages": "an empty table gives a draw at full cost",
    "check_transformer_general": "two fits draw differently",
}
SEARCH = NO_MISSING | {
    "check_classifiers_classes": "classes_ are the declared ones, not those seen",
    "check_classifiers_train": "probabilities are of all declared classes, not of those seen",
    "check_classifiers_regression_target": "labels outside of classes are dropped, not learned",
    "check_estimators_empty_data_messages": "an empty table gives a tree at full cost",
}
PUBLIC = {"domains": Bins(-3, 3, bins=15), "classes": [0, 1, 2], "max_records": 10_000}
TREE = ID3Classifier(500.0, **PUBLIC)
FRONT = MultiObjectiveTreeClassifier(
    500.0, population=20, survivors=4, generations=3, domains=Bins(-3, 3, bins=9),
    classes=[0, 1], max_records=10**4, random_state=0,
)  # fmt: skip
ESTIMATORS = {
    "columns": (PrivateSelectKBest(500.0, k=1, **PUBLIC), COLUMNS),
    "tree": (TREE, expected_failed_checks(TREE)),
    "front": (FRONT, expected_failed_checks(FRONT)),
    "search": (
        PrivateSearchCV(
            ID3Classifier(1.0, **PUBLIC),
            {"max_depth": [5]},
            epsilon=500.0,
            validation_share=0.01,
        ),
        SEARCH,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_it_follows_scikit_learn(name):
    estimator, expected = ESTIMATORS[name]
    results = check_estimator(
        estimator, expected_failed_checks=expected, on_fail=None, on_skip=None
    )

    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failed == {}
