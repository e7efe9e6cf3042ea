"""Private classifiers of other libraries, wrapped for a search."""

import warnings
from importlib import import_module

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import dpselect as dp
from dpselect.errors import ParameterError, PublicClaimError
from dpselect_applications.tuning import PrivateClassifier, PrivateSearchCV
from support.refusals import refused

RNG = np.random.default_rng(1)
X = RNG.random((400, 2))
Y = np.where(X[:, 0] > 0.5, "high", "low")


class PrivacyLeakWarning(RuntimeWarning):
    """As diffprivlib names it."""


class Cut(ClassifierMixin, BaseEstimator):
    """Stands in for another library's model: it cuts at a parameter and reads no data."""

    def __init__(self, eps=1.0, at=0.5, warning=None, random_state=None, inner=None):
        self.eps, self.at, self.warning = eps, at, warning
        self.random_state, self.inner = random_state, inner

    def fit(self, x, y):
        if self.warning is not None:
            warnings.warn(f"{len(x)} records with {y[0]}", self.warning, stacklevel=2)
        self.classes_ = np.array(["high", "low"])
        return self

    def predict(self, x):
        return np.where(np.asarray(x)[:, 0] > self.at, "high", "low")


def wrapped(**more):
    return PrivateClassifier(
        Cut(**more), epsilon=1.0, neighbours="add-remove", epsilon_name="eps"
    )


def test_a_search_finds_the_parameters_of_the_model_and_pays_once():
    budget = dp.Budget(20.0, neighbours="add-remove")
    grid = {"model__at": [0.1, 0.5, 0.9]}
    asked = {"epsilon": 20.0, "method": "all", "validation_share": 0.5, "budget": budget}
    search = PrivateSearchCV(wrapped(), grid, **asked).fit(X, Y)

    assert search.best_params_ == {"model__at": 0.5}
    assert search.best_estimator_.model_.eps == pytest.approx(20 / 3)
    assert (search.predict(X) == Y).all()
    assert budget.remaining == 0.0
    # The noise of another library is not ours to call exact.
    assert not search.release_.exact


def test_a_model_that_reads_what_was_to_be_given_is_refused():
    with pytest.raises(PublicClaimError):
        wrapped(warning=PrivacyLeakWarning).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "given", "grid"),
    [
        ("GaussianNB", {"bounds": (0.0, 1.0)}, {"model__var_smoothing": [1e-9, 1e-3]}),
        ("LogisticRegression", {"data_norm": 2**0.5}, {"model__C": [0.1, 10.0]}),
    ],
)
def test_models_of_diffprivlib_are_searched(name, given, grid):
    pytest.importorskip("diffprivlib")
    kind = getattr(import_module("diffprivlib.models"), name)
    relation = {"neighbours": "substitute"}

    searched = PrivateSearchCV(
        PrivateClassifier(kind(**given), epsilon=1.0, **relation), grid, epsilon=40.0
    ).fit(X, Y)
    assert (searched.predict(X) == Y).mean() > 0.8
    with pytest.raises(PublicClaimError):
        PrivateClassifier(kind(), epsilon=1.0, **relation).fit(X, Y)


SEEDS = [
    *({"random_state": seed} for seed in (0, 1, np.random.default_rng(1))),
    {"inner": Cut(random_state=7)},
]


@pytest.mark.parametrize("given", SEEDS, ids=range(len(SEEDS)))
def test_noise_with_a_seed_is_refused(given):
    """Whoever knows the seed knows the noise."""
    made, budget = wrapped(**given), dp.Budget(2.0, neighbours="add-remove")
    search = PrivateSearchCV(made, {"model__at": [0.1, 0.5]}, epsilon=2.0, budget=budget)
    for call in (made.plan, lambda: made.fit(X, Y), lambda: search.fit(X, Y)):
        with pytest.raises(ParameterError):
            call()
    search.set_params(estimator=wrapped(), grid={"model__random_state": [None, 5]})
    with refused("model"):
        search.fit(X, Y)
    assert budget.entries == ()


def test_no_other_warning_comes_out():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrapped(warning=UserWarning).fit(X, Y)
