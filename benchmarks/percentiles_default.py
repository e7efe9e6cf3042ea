"""The default method of several percentiles beside every single method.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles_default.py``; it writes
``benchmarks/results/percentiles_default.csv`` in some minutes, and prints a summary, which
``show`` prints of what is stored.

Six columns, three numbers of records, four epsilons and six sets of percentiles are 432 cells,
all under add/remove. A method's loss in a cell is that of its worst percentile: the mean
distance of the released value from the percentile, relative to that of the best method which
has the whole epsilon for this percentile alone. Both are counted from half a step of the
candidates on, since no release resolves more. The loss is set beside the least of all single
methods in the cell, which no user could choose.

Errors by ranks are exact expectations; those of AboveThreshold are, too, but for the noise on
the threshold, which is integrated over 200 of its quantiles. Parts and bins are means over
``REPEATS`` simulated releases. They and the default have what a noisy number leaves of epsilon.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.percentiles.choice import AfterCount, size_of
from dpselect.percentiles.methods import ByBins, ByRank, Method, OneByOne
from dpselect.percentiles.prediction import Simulated
from dpselect.percentiles.reading import Counts, Records, counts_of
from dpselect.percentiles.sparse_vector import ByThreshold, InParts
from dpselect.typing import Values
from dpselect_studies import datasets

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.ranks import law_by_rank  # type: ignore[import-not-found]

RESULTS = Path(__file__).parent / "results" / "percentiles_default.csv"
SETS = (
    (50,),
    (25, 50, 75),
    (10, 50, 90),
    (50, 90, 99),
    (90, 95, 99),
    tuple(range(10, 100, 10)),
)
RECORDS, EPSILONS = (500, 2_000, 40_000), (0.1, 0.5, 1.0, 2.0)
REPEATS = 100
OF = Records(dp.Neighbours.ADD_REMOVE)
QUANTILES = -np.log1p(-(np.arange(200) + 0.5) / 200)


def columns() -> dict[str, tuple[Callable[[int, np.random.Generator], Values], Values, float]]:
    """Return samplers of records, candidates, and half a step of these, 0 if they grow."""

    def histogram(name: str) -> Callable[[int, np.random.Generator], Values]:
        counts = datasets.load(f"hist1d_{name}")["count"].to_numpy().astype(float)
        return lambda n, rng: rng.choice(counts, n)

    age = datasets.load("adult")["age"].to_numpy().astype(float)
    patent = histogram("patent")
    return {
        "stays": (lambda n, rng: np.ceil(rng.lognormal(1.2, 1, n)), np.arange(366.0), 0.5),
        "lognormal": (lambda n, rng: rng.lognormal(3, 1, n), np.geomspace(1e-2, 1e5, 5001), 0),
        "hepth": (histogram("hepth"), np.arange(1001.0), 0.5),
        "patent": (
            lambda n, rng: patent(n, rng) + rng.integers(-20, 21, n),
            np.arange(20001.0),
            0.5,
        ),
        "income": (histogram("income"), np.linspace(0, 3e6, 20001), 75.0),
        "age": (lambda n, rng: rng.choice(age, n), np.arange(121.0), 0.5),
    }


@dataclass(frozen=True)
class Column:
    """Records of a column and what is known of their percentiles."""

    values: Values
    points: Values
    half_step: float
    known: dict[tuple[object, ...], float] = field(default_factory=dict)

    @cached_property
    def counts(self) -> Counts:
        """Where the records count."""
        return counts_of(self.values, self.points)

    def truth(self, p: float) -> float:
        """Return the percentile."""
        return float(np.percentile(self.values, p, method="nearest"))

    def floor(self, p: float) -> float:
        """Return what errors are counted from."""
        return self.half_step or 0.005 * self.truth(p)

    def of_single(self, single: ByRank | ByThreshold) -> float:
        """Return the expected error of one draw."""
        key = (single.mechanism, single.p, getattr(single, "assumed", None))
        if key not in self.known:
            if isinstance(single, ByThreshold):
                self.known[key] = self.of_threshold(single)
            else:
                far = np.abs(self.points - self.truth(single.p))
                self.known[key] = float(law_by_rank(single, self.counts) @ far)
        return self.known[key]

    def of_threshold(self, single: ByThreshold) -> float:
        """Return the expected error of AboveThreshold."""
        queries = np.asarray(single.queries(self.counts))[0] - single.threshold
        visited, (first, second) = single.visited, single.scales
        beyond_all = float(abs(visited[-1] - self.truth(single.p)))
        near = np.flatnonzero(queries >= -40 * second)
        if near.size == 0:
            return beyond_all
        end = near[0] + np.searchsorted(np.maximum.accumulate(queries[near[0] :]), 12 * first)
        queries, visited = queries[near[0] : end + 2], visited[near[0] : end + 2]
        over = np.maximum(QUANTILES[:, None] * first - queries, 0) / second
        stop = np.exp(-over)
        before = np.cumprod(1 - stop, axis=1)
        before = np.concatenate([np.ones((QUANTILES.size, 1)), before[:, :-1]], axis=1)
        law = (stop * before).mean(axis=0)
        far = np.abs(visited - self.truth(single.p))
        return float(law @ far + (1 - law.sum()) * beyond_all)

    def alone(self, p: float, epsilon: float) -> float:
        """Return the least expected error of a percentile that has the whole epsilon."""
        of = (p,), self.points, OF, epsilon
        ways = (ByThreshold(*of, up, self.values.size) for up in (True, False))
        return min(self.of_single(ByRank(*of)), *map(self.of_single, ways))

    def errors(self, method: Method, percents: tuple[float, ...], scale: float) -> Values:
        """Return the expected error of every percentile, after a noisy number of a scale."""
        singles: Any = getattr(method, "singles", [method])
        if not any(isinstance(one, InParts | ByBins) for one in singles):
            return np.array([self.of_single(one) for one in singles])
        by = Simulated(np.random.default_rng(7))
        numbers = by.laplace(np.full(REPEATS, self.values.size), scale)
        drawn = method.draw(self.counts.some(np.zeros(REPEATS, np.int64)), numbers, by)
        return np.abs(drawn - [self.truth(p) for p in percents]).mean(axis=0)


def methods(
    column: Column, percents: tuple[float, ...], epsilon: float
) -> Iterator[tuple[str, Method, float]]:
    """Yield the default and every single method, and the scale of a noisy number."""
    after, each = AfterCount(percents, column.points, OF, epsilon), epsilon / len(percents)
    number, left = column.values.size, after.left
    of = [((p,), column.points, OF, each) for p in percents]
    yield "default", after.of_size(int(size_of(number))), after.scale
    yield "one-by-one", OneByOne(tuple(ByRank(*one) for one in of)), 0.0
    upwards = (ByThreshold(*one, upwards=True, assumed=number) for one in of)
    yield "above-threshold", OneByOne(tuple(upwards)), 0.0
    if len(percents) > 1:
        yield "parts", InParts(percents, column.points, OF, left, number), after.scale
        yield "bins", ByBins(percents, column.points, OF, left, number), after.scale


def rows() -> Iterator[dict[str, object]]:
    """Yield the loss of every method in every cell."""
    for name, (sample, points, half_step) in columns().items():
        for n in RECORDS:
            rng = np.random.default_rng([7, n])
            column = Column(np.sort(sample(n, rng)), points, half_step)
            for epsilon in EPSILONS:
                for percents in SETS:
                    asked = tuple(map(float, percents))
                    floors = np.array([column.floor(p) for p in asked])
                    alone = np.array([column.alone(p, epsilon) for p in asked])
                    for method, made, scale in methods(column, asked, epsilon):
                        errors = column.errors(made, asked, scale)
                        loss = np.maximum(errors, floors) / np.maximum(alone, floors)
                        yield {
                            "column": name,
                            "records": n,
                            "epsilon": epsilon,
                            "percentiles": " ".join(map(str, percents)),
                            "method": method,
                            "loss": float(loss.max()),
                        }
        print(name, flush=True)


def main() -> None:
    """Write all losses, unless ``show`` is given, and print them."""
    if sys.argv[1:] != ["show"]:
        losses = pl.DataFrame(rows())
        losses.with_columns(pl.col("loss").round_sig_figs(4)).write_csv(RESULTS)
    show(pl.read_csv(RESULTS))


def show(losses: pl.DataFrame) -> None:
    """Print how far each method is from the best single one."""
    cell = ["column", "records", "epsilon", "percentiles"]
    single = pl.col("method") != "default"
    best = losses.filter(single).group_by(cell).agg(pl.col("loss").min().alias("best"))
    beside = losses.join(best, on=cell).with_columns(ratio=pl.col("loss") / pl.col("best"))
    ratio = pl.col("ratio")
    summary = [
        ratio.log().mean().exp().alias("geometric mean"),
        (ratio <= 1.15).mean().alias("within 1.15"),
        ratio.quantile(0.9).alias("90 %"),
        ratio.max().alias("worst"),
    ]
    for by in (["method"], ["method", "percentiles"]):
        print(beside.group_by(by, maintain_order=True).agg(summary))


if __name__ == "__main__":
    main()
