"""Checks of scikit-learn that a private tree fails, each with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpselect.trees.estimators import PrivateTreeClassifier

_BOTH = {
    "check_classifiers_classes": "classes_ are the declared ones, not those seen",
    "check_classifiers_regression_target": "labels outside of classes are dropped, not learned",
    "check_supervised_y_no_nan": "a missing label is repaired: an error would be an output",
    "check_estimators_empty_data_messages": "an empty table gives a tree at full cost",
}
_GROWN = {
    "check_classifiers_train": "probabilities are of all declared classes, not of those seen",
}
_EVOLVED = {
    "check_classifier_not_supporting_multiclass": "labels of a third class are dropped",
    "check_classifier_data_not_an_array": "compares two fits, whose draws differ",
    "check_supervised_y_2d": "compares two fits, whose draws differ",
    "check_fit_idempotent": "compares two fits, whose draws differ",
    "check_classifiers_train": "random trees of 300 records need not reach its accuracy",
}


def expected_failed_checks(estimator: PrivateTreeClassifier) -> dict[str, str]:
    """Return which of scikit-learn's checks an estimator fails, and why.

    Give it to ``sklearn.utils.estimator_checks.check_estimator`` or
    ``parametrize_with_checks`` as ``expected_failed_checks``. The checks use labels 0, 1 and 2
    and values near 0: declare these, as ``docs/trees.md`` shows.

    Args:
        estimator: A private tree classifier.
    """
    from dpselect.trees.estimators import ID3Classifier

    return _BOTH | (_GROWN if isinstance(estimator, ID3Classifier) else _EVOLVED)
