"""Tune private gradient descent: the best of a hidden number of fits, at a price known before.

    python examples/tune_gradient_descent.py

Logistic regression on synthetic records, by steps over all of them. Each record's gradient is
clipped to a length of 1 and rounded towards 0 on a grid, so that adding or leaving out a record
moves the sum by at most 1; the sum gets discrete Gaussian noise, drawn exactly. So a step is
1 / (2 noise^2)-zCDP, a fit the sum of its steps, and the noisy score of a fit is one more. The
rates and lengths that are tried cost nothing: a study charges for the fits alone.
"""

from typing import Any

import numpy as np

import dpselect as dp
from dpselect.draws.exact.noisy_counts import discrete_gaussian
from dpselect.typing import Values
from dpselect_applications.tuning import Geometric, PrivateStudy

GRID = 2**16
"""Units of a length of 1."""

STEPS, NOISE, SCORE_NOISE = 30, 60.0, 60.0
RHO = STEPS / (2 * NOISE**2) + 1 / (2 * SCORE_NOISE**2)
"""Of a fit and its score, add/remove."""


def fitted(x: Values, y: Values, rate: float, momentum: float) -> Values:
    """Return private weights, of records x of shape (n, columns) and labels 0 or 1."""
    weights, velocity = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for _ in range(STEPS):
        slopes = (1 / (1 + np.exp(-np.clip(x @ weights, -30, 30))) - y)[:, None] * x
        lengths = np.linalg.norm(slopes, axis=1, keepdims=True)
        # A little shorter than 1, which is more than what rounding can add to a length.
        clipped = slopes / np.maximum(lengths, 1) * (1 - 1e-9)
        moved = np.trunc(clipped * GRID).astype(np.int64).sum(axis=0)
        velocity = momentum * velocity + discrete_gaussian(moved, NOISE * GRID) / GRID
        weights = weights - rate * velocity
    return weights


def score(x: Values, y: Values, weights: Values) -> int:
    """Return the noisy number of records that weights get right."""
    right = int(((x @ weights > 0) == y).sum())
    return int(discrete_gaussian(np.array([right]), SCORE_NOISE)[0])


def tuned(
    x: Values, y: Values, candidates: list[dict[str, float]], *, budget: dp.Budget | None = None
) -> dp.Release[Any]:
    """Return the release of the best candidate with its weights."""
    best = dp.BestOf(
        repetitions=Geometric(mean=2 * len(candidates)),
        rho_per_run=RHO,
        delta=1e-6,
        neighbours="add-remove",
    )
    study = PrivateStudy(candidates, best, budget=budget)
    for candidate in study:
        weights = fitted(x, y, **candidate)
        study.tell(score(x, y, weights), tuple(weights.tolist()))
    return study.release


def records(number: int, seed: int = 1) -> tuple[Values, Values]:
    """Return synthetic records of five columns, the last one constant, and their labels."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=(number, 4)), np.ones(number)])
    return x, (x @ [2.0, -1.0, 0.5, 0.0, 0.3] + rng.logistic(size=number) > 0).astype(float)


if __name__ == "__main__":
    rates = [{"rate": rate, "momentum": 0.5} for rate in (1e-5, 1e-4, 1e-3, 1e-2)]
    ledger = dp.Budget(2.0, delta=1e-5, neighbours="add-remove")
    print(tuned(*records(20_000), rates, budget=ledger))
    print(f"remaining: {ledger.remaining:.3f}")
