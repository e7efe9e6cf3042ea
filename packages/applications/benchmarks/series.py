"""Running counts after every period: the error of ``Series`` against releases apart.

Run: ``python benchmarks/series.py``. Errors are computed, not simulated: standard errors of a
running count that one record changes by 1, over that of one release of it with the whole
price, for noise of a large scale. ``largest`` is that after the worst period, ``root mean
square`` that over all periods.

- ``apart``: a release of the running counts after each period, each with its part of the price:
  epsilon/T with Laplace noise, rho/T with Gaussian noise.
- ``adding up``: each period's own counts with the whole price, and their sums.
- ``binary tree``: noisy counts of all dyadic intervals (Dwork et al. 2010, Chan et al. 2011).
- ``best tree``: the same of the base with the smallest largest error.
- ``Series``: the factors of the library.
- ``bound``: no factors of the running sums have a smaller root mean square with Gaussian noise,
  nor with Laplace noise: the singular values of the matrix of ones add up to it, over T.

The second part draws: the share of the true ten most common of 300 keys that are released,
over 12 months, where 20,000 persons have up to three keys each by Zipf's law. One price of
epsilon = 1 protects a person in the whole year; ``Series, delta`` has delta = 1e-6 besides.
Noise is NumPy's. The results are written to ``benchmarks/results/series.csv``, the picture to
``docs/series.png``.
"""

from __future__ import annotations

import csv
from math import pi, sin, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import dpselect as dp
from dpselect.draws.sequence import DiscreteGaussian, DiscreteLaplace
from dpselect.typing import Values
from dpselect_applications.series.factors import Factors

RESULTS = Path(__file__).with_name("results") / "series.csv"
PICTURE = Path(__file__).parents[1] / "docs" / "series.png"
COLUMNS = ("noise", "periods", "method", "largest", "root mean square")
PERIODS = (4, 12, 26, 52, 104, 365)
SHOWN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 36, 52, 78, 104, 156, 220, 365)
STYLES = {
    "apart": ("C3", "-"),
    "adding up": ("C1", "--"),
    "binary tree": ("C2", ":"),
    "best tree": ("C4", "-."),
    "Series": ("C0", "-"),
    "bound": ("0.5", "-"),
}
KEYS, PERSONS, EACH, MONTHS, TOP, DRAWS = 300, 20_000, 3, 12, 10, 200
SMALL = 1e-6
"""An epsilon or rho at which the noise is as good as continuous."""


def tree(periods: int, base: int, *, squares: bool) -> Values:
    """Return the variances of running counts by a tree whose levels share the price evenly."""
    left = np.arange(1, periods + 1)
    nodes = np.zeros(periods, dtype=np.int64)
    levels = 0
    while left.max() > 0:
        nodes += left % base
        left = left // base
        levels += 1
    return np.asarray(nodes * (levels if squares else levels**2), dtype=np.float64)


def series(periods: int, *, squares: bool) -> Values:
    """Return the variances of the library's factors, over that of one release."""
    if not squares:
        made = Factors.with_laplace(periods, 1, SMALL)
        one: DiscreteLaplace | DiscreteGaussian = DiscreteLaplace(1 / SMALL)
    else:
        made = Factors.with_gaussian(periods, 1, SMALL)
        one = DiscreteGaussian(sqrt(1 / (2 * SMALL)))
    return np.asarray(made.standard_errors**2 / one.variance, dtype=np.float64)


def variances(periods: int, *, squares: bool) -> dict[str, Values]:
    """Return the variances of running counts after each period, by method."""
    ones = np.ones(periods)
    trees = [tree(periods, base, squares=squares) for base in range(2, periods + 2)]
    angles = [(2 * j - 1) * pi / (4 * periods + 2) for j in range(1, periods + 1)]
    bound = sum(1 / (2 * sin(one)) for one in angles) / periods
    return {
        "apart": ones * (periods if squares else periods**2),
        "adding up": np.arange(1, periods + 1, dtype=np.float64),
        "binary tree": trees[0],
        "best tree": min(trees, key=lambda one: float(one.max())),
        "Series": series(periods, squares=squares),
        "bound": ones * bound**2,
    }


def computed(periods: int) -> list[tuple[str, int, str, float, float]]:
    """Return the rows of both kinds of noise."""
    return [
        (noise, periods, method, float(np.sqrt(one.max())), float(np.sqrt(one.mean())))
        for noise, squares in (("Laplace", False), ("Gaussian", True))
        for method, one in variances(periods, squares=squares).items()
    ]


def recall() -> dict[str, float]:
    """Return the share of the true top keys that are released, over all months."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, KEYS + 1)
    held = rng.choice(KEYS, (PERSONS, EACH), p=weights / weights.sum())
    month = rng.integers(0, MONTHS, (PERSONS, EACH))
    counts = np.zeros((MONTHS, KEYS))
    for keys, months in zip(held.tolist(), month.tolist(), strict=True):
        for key, first in dict(sorted(zip(keys, months, strict=True), reverse=True)).items():
            counts[first, key] += 1
    running = np.cumsum(counts, axis=0)
    right = [set(np.argsort(-one, kind="stable")[:TOP].tolist()) for one in running]
    fields: dict[str, Any] = {
        "column": "key",
        "period": "month",
        "periods": range(MONTHS),
        "k": TOP,
        "candidates": range(KEYS),
        "user": "person",
        "max_per_user": EACH,
        "epsilon": 1.0,
        "neighbours": "add-remove",
    }
    plain = dp.Series(**fields).made.factors
    with_delta = dp.Series(**fields, delta=1e-6).made.factors
    found = dict.fromkeys(("apart", "Series", "Series, delta"), 0.0)
    for _ in range(DRAWS):
        noise = rng.laplace(0, EACH * MONTHS, running.shape)
        made = {"apart": running + noise}
        for name, one in (("Series", plain), ("Series, delta", with_delta)):
            scale, shape = one.noise.scale, running.shape
            is_laplace = isinstance(one.noise, DiscreteLaplace)
            drawn = rng.laplace(0, scale, shape) if is_laplace else rng.normal(0, scale, shape)
            made[name] = running + one.estimate @ drawn
        for name, noisy in made.items():
            top = np.argsort(-noisy, axis=1)[:, :TOP].tolist()
            share = [len(one & set(keys)) / TOP for one, keys in zip(right, top, strict=True)]
            found[name] += float(np.mean(share)) / DRAWS
    return found


def picture() -> None:
    """Draw the largest error against the number of periods."""
    figure = Figure(figsize=(5.6, 4.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, noise, squares in zip(axes, ("Laplace", "Gaussian"), (False, True), strict=True):
        found = [variances(periods, squares=squares) for periods in SHOWN]
        for method, (color, style) in STYLES.items():
            errors = [float(np.sqrt(one[method].max())) for one in found]
            label = "lower bound" if method == "bound" else method
            width = 2.2 if method == "Series" else 1.3
            ax.plot(SHOWN, errors, style, color=color, label=label, linewidth=width)
        ax.set(xscale="log", yscale="log", xlabel="periods", title=f"{noise} noise")
        ax.set_xticks([1, 4, 12, 52, 365], labels=["1", "4", "12", "52", "365"], minor=False)
        ax.set_xticks([], minor=True)
        ax.set_ylim(0.9, 400)
    axes[0].set_ylabel("largest standard error,\nover that of one release")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(PICTURE, dpi=100)


def main() -> None:
    """Write and print the tables and the picture."""
    rows = [row for periods in PERIODS for row in computed(periods)]
    shares = recall()
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows((*row[:3], *(f"{one:.4g}" for one in row[3:])) for row in rows)
        for method, share in shares.items():
            writer.writerow(("recall of the top 10", MONTHS, method, f"{share:.3f}", ""))
    for row in rows:
        print("{:9s} {:4d}  {:12s} {:8.3f} {:8.3f}".format(*row))
    print(shares)
    first = next(
        periods
        for periods in range(2, 366)
        if variances(periods, squares=False)["best tree"].max() < periods
    )
    print(f"with Laplace noise a tree is better from {first} periods on")
    picture()


if __name__ == "__main__":
    main()
