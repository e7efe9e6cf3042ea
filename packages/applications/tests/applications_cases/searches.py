"""Estimators that search parameters (``tests/trees/test_scikit_learn.py``)."""

from dpselect_applications.tuning import PrivateSearchCV


def search(tree, depth, epsilon):
    return PrivateSearchCV(tree, {"max_depth": [depth]}, epsilon=epsilon, validation_share=0.01)


SEARCHES = {"search": search}
