"""The rule for one percentile on data that its constants were not chosen on.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles_elsewhere.py``; it prints a line for
each case and how the chosen method compares with the better of the exponential choice on held
ranks and AboveThreshold on a 1 % grid. Expected errors, by numerical integration over the noise
on the threshold. Cases whose best error is below 10^-6, or that have more than 1,500 records
times epsilon beyond the percentile, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from dpselect.percentiles.objectives import FIRST, exact_fraction
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.single import OneByOne
from dpselect.percentiles.thresholds import ByThreshold
from dpselect.typing import Indices, Values
from dpselect_studies import datasets
from percentiles_one import Case, of_one_per_cent, of_single, query_of

HISTOGRAMS = {
    "mdsalary": 500_000, "lc_req_f1": 10**6, "bids_all": 10**6, "nettrace": 10**4,
    "lc_dtir_all": 10**6, "adult_capital_loss": 20_000,
}  # fmt: skip
COLUMNS = {"age": 120, "fnlwgt": 2 * 10**6, "capital_gain": 10**5, "hours_per_week": 100}
NODES = 150


def data() -> Iterator[tuple[str, Values, int]]:
    """Yield names, numbers and upper ends."""
    for name, upper in HISTOGRAMS.items():
        yield name, datasets.load(f"hist1d_{name}")["count"].to_numpy().astype(float), upper
    adult: pl.DataFrame = datasets.load("adult")
    for name, upper in COLUMNS.items():
        yield name, adult[name].to_numpy().astype(float), upper
    rng = np.random.default_rng(0)
    for n in (10**3, 10**4, 10**5, 10**6):
        yield f"lognormal {n:,}", np.floor(100 * rng.lognormal(3, 1, n)), 10**7
    for n in (10**3, 10**5):
        yield f"uniform {n:,}", rng.integers(0, 10**5, n).astype(float), 10**6
        low, high = rng.normal(2_000, 200, n), rng.normal(80_000, 5_000, n)
        two = np.where(rng.random(n) < 0.7, low, high)
        yield f"bimodal {n:,}", np.abs(np.floor(two)), 10**6
        yield f"normal {n:,}", np.floor(rng.normal(100_000, 15_000, n)), 10**6
        yield f"pareto {n:,}", np.floor(100 * (rng.pareto(1.2, n) + 1)), 10**8


def of_stops(single: ByThreshold, visited: Values, queries: Indices, truth: float) -> float:
    """Return the expected error of AboveThreshold."""
    first, second = single.scales
    law = np.zeros(visited.size + 1)
    for part in (np.arange(NODES) + 0.5) / NODES:
        over = np.maximum(single.threshold - first * np.log1p(-part) - queries, 0)
        waiting = np.cumsum(np.log1p(-np.minimum(np.exp(-over / second), 1 - 1e-16)))
        left = np.exp(np.append(0, waiting))
        law += np.append(left[:-1] - left[1:], left[-1]) / NODES
    return float(law @ np.abs(np.append(visited, visited[-1]) - truth))


def by_rule(case: Case) -> float:
    """Return the error of the method that is chosen."""
    method = query_of(case, case.upper).design().method  # type: ignore[union-attr] # of no groups
    assert isinstance(method, OneByOne)  # noqa: S101 -- for type checkers
    single = method.singles[0]
    if isinstance(single, ByThreshold):
        return of_stops(single, single.visited, single.queries(case.numbers), case.truth)
    return of_single(single, case)


def by_pieces(case: Case) -> float:
    """Return the error of the exponential mechanism on held ranks."""
    points = Range(0, case.upper, 1)
    rank = FIRST + exact_fraction(case.p) * (case.values.size - 1)
    pieces, wanted = points.pieces(points.places(case.values), rank), float(rank)
    off = np.maximum(0, np.maximum(pieces.low - wanted, wanted - pieces.high))
    logs = np.log(pieces.sizes) - case.epsilon / (2 * case.p / 100) * off
    law = np.exp(logs - logs.max())
    last = np.asarray(pieces.ends, dtype=np.float64) - 1
    first = np.concatenate([[0], last[:-1] + 1])
    inside = (first < case.truth) & (case.truth < last)
    halves = ((case.truth - first) ** 2 + (last - case.truth) ** 2) / (2 * (last - first + 1))
    distances = np.where(inside, halves, np.abs((first + last) / 2 - case.truth))
    return float(law @ distances / law.sum())


def main() -> None:
    """Print the ratios."""
    ratios = []
    for name, values, upper in data():
        ordered = np.sort(np.clip(values, 0, upper))
        for p in (90, 95, 99):
            for epsilon in (0.1, 0.5, 1.0, 2.0):
                case = Case(name, ordered, p, epsilon, upper)
                if (100 - p) / 100 * ordered.size * epsilon > 1500:
                    continue
                grid = of_stops(*of_one_per_cent(case), case.truth)
                best = min(grid, by_pieces(case))
                if best < 1e-6:
                    continue
                ratios.append(by_rule(case) / best)
                print(f"{name} {p} {epsilon:g}: {best:.3g}, ratio {ratios[-1]:.2f}", flush=True)
    found = np.maximum(ratios, 1e-3)
    print(
        f"{found.size} cases: geometric mean {np.exp(np.log(found).mean()):.2f}, median "
        f"{np.median(found):.2f}, at most 1.1 in {(found <= 1.1).sum()}, at most "
        f"{found.max():.2f}"
    )


if __name__ == "__main__":
    main()
