"""Prices of the best of runs of Gaussian noise: four bounds, and what an order attains.

``python benchmarks/study.py`` writes ``benchmarks/results/study.csv``: for runs of rho-zCDP
Gaussian noise and a delta of 1e-6 the epsilon of one run, by Renyi divergences, by one line of
the profile (Koskela, Redberg and Wang 2024), by the whole profile, by zCDP alone, and the least
that an order of the outcomes was found to need, which no price can be below.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import product
from math import exp, inf, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from dpselect import BestOf
from dpselect._numbers import boundary
from dpselect.typing import Values
from dpselect_applications.tuning import Geometric, Logarithmic, Poisson, Repetitions
from dpselect_applications.tuning.repetitions import TruncatedNegativeBinomial, renyi_epsilon

RESULTS = Path(__file__).with_name("results") / "study.csv"
DELTA = 1e-6
POINTS = np.linspace(-10, 10, 200_001)


def gaussian(rho: float) -> Callable[[float], float]:
    """Return the profile of Gaussian noise that is rho-zCDP."""
    mu = sqrt(2 * rho)

    def delta(epsilon: float) -> float:
        cut = epsilon / mu - mu / 2
        return float(norm.sf(cut) - exp(epsilon) * norm.sf(cut + mu))

    return delta


def least(delta: Callable[[float], float]) -> float:
    """Return the least epsilon up to 100 with a delta of at most ``DELTA``."""
    return boundary(lambda epsilon: delta(epsilon) <= DELTA, 0.0, 100.0)[1]


def one_line(law: Repetitions, curve: Callable[[float], float]) -> float:
    """Return the epsilon of the mean times delta(epsilon - gain)."""
    if isinstance(law, TruncatedNegativeBinomial):
        odds, grid = 1 / law.stop - 1, np.linspace(0, 20, 2000)
        gain = (1 + law.shape) * min(log(exp(a) + odds * curve(a)) for a in grid)
    else:
        gain = law.mean * curve(0.0)
    return gain + least(lambda epsilon: law.mean * curve(epsilon))


def attacked(law: Repetitions, rho: float) -> float:
    """Return the largest epsilon that an order of the outcomes was found to need."""
    densities = [
        norm.pdf(POINTS, shift) * (POINTS[1] - POINTS[0]) for shift in (sqrt(2 * rho), 0)
    ]
    most = 0.0
    for cut, below in product(np.arange(1.0, 6.0, 0.5), norm.cdf(np.linspace(-4, 4, 33))):
        order = np.argsort(np.where(cut < POINTS, -inf, -POINTS), kind="stable")
        high = int((cut < POINTS).sum())
        place = int(np.searchsorted(np.cumsum(densities[0][order[high:]]), below))
        order = np.concatenate([order[high:][:place], order[:high], order[high:][place:]])
        one, other = (
            np.diff(law.generating_function(np.minimum(np.append(0, np.cumsum(d[order])), 1)))
            for d in densities
        )

        def delta(epsilon: float, one: Values = one, other: Values = other) -> float:
            return float(np.maximum(one - exp(epsilon) * other, 0).sum())

        if delta(most) > DELTA:
            most = boundary(lambda epsilon: delta(epsilon) <= DELTA, most, 100.0)[0]
    return most


def main() -> None:
    """Write and print the table."""
    rows = []
    laws = (Geometric(mean=10), Logarithmic(mean=10), Poisson(mean=10), Geometric(mean=100))
    for law, rho in product(laws, (0.005, 0.05, 0.5)):
        curve = gaussian(rho)
        stated: dict[str, Any] = {
            "repetitions": law,
            "delta": DELTA,
            "neighbours": "add-remove",
        }
        found = (
            least(curve),
            renyi_epsilon(rho, DELTA, law),
            one_line(law, curve),
            BestOf(rho_per_run=rho, **stated).plan.epsilon,
            BestOf(profile_per_run=curve, **stated).plan.epsilon,
            attacked(law, rho),
        )
        rows.append([law.name, law.mean, rho, *(f"{one:.3f}" for one in found)])
        print(rows[-1], flush=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        names = ("one run", "Renyi", "one line", "zCDP", "profile", "attained")
        writer.writerow(["repetitions", "mean", "rho", *names])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
