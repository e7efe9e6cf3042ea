"""The default method of several percentiles beside every single method.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles_default.py``; it writes
``benchmarks/results/percentiles_default.csv`` in some minutes, and prints a summary, which
``show`` prints of what is stored.

Six columns, three numbers of records, four epsilons and six sets of percentiles are 432 cells,
all under add/remove. A method's loss in a cell is that of its worst percentile: the mean
distance of the released value from the percentile, relative to that of the best method which
has the whole epsilon for this percentile alone. Both are counted from half a step of the
candidates on, since no release resolves more. The loss is set beside the least of all named
methods in the cell, which no user could choose.

Errors by ranks are exact expectations; those of AboveThreshold are, too, but for the noise on
the threshold, which is integrated over 200 of its quantiles. The recursion, bins and parts from
both ends are means over ``REPEATS`` simulated releases. The default is measured with what a
noisy number leaves of epsilon, and that number to the nearest power of the square root of two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.percentiles.binary_tree import Recursive
from dpselect.percentiles.bins import ByBins
from dpselect.percentiles.choice import AfterCount, Choice, size_of
from dpselect.percentiles.ends_first import EndsFirst, Left, simulated_laplace
from dpselect.percentiles.objectives import rank_bound
from dpselect.percentiles.placing import places_of
from dpselect.percentiles.reading import Numbers, Records
from dpselect.percentiles.single import ByRank, Method, MethodName, OneByOne, Single
from dpselect.percentiles.split_tree import Node, parts_of, price_of_draw
from dpselect.percentiles.thresholds import ByThreshold
from dpselect.typing import Indices, Values
from dpselect_studies import datasets

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
NAMES: tuple[MethodName | None, ...] = (None, *get_args(MethodName))
ADD_REMOVE = dp.Neighbours.ADD_REMOVE
OF = Records(ADD_REMOVE)
TWINS = ("income", "patent")
"""Columns of equally many candidates at equal distances: no public fact tells them apart."""

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

    name: str
    values: Values
    points: Values
    half_step: float
    rng: np.random.Generator
    known: dict[tuple[object, ...], float] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> Numbers:
        """The values, as a release reads them."""
        return OF.of(self.values)

    def truth(self, p: float) -> float:
        """Return the percentile."""
        return float(np.percentile(self.values, p, method="nearest"))

    def floor(self, p: float) -> float:
        """Return what errors are counted from."""
        return self.half_step or 0.005 * self.truth(p)

    def of_single(self, single: Single) -> float:
        """Return the expected error of one draw."""
        epsilon = single.spend.epsilon
        side = getattr(single, "upwards", None)
        key = (
            type(single),
            side,
            single.p,
            round(epsilon, 12),
            getattr(single, "beyond", None),
        )
        if key not in self.known:
            far = np.abs(self.points - self.truth(single.p))
            if isinstance(single, ByRank):
                self.known[key] = float(single.probabilities(self.numbers) @ far)
            else:
                assert isinstance(single, ByThreshold)  # noqa: S101 -- for type checkers
                self.known[key] = self.of_threshold(single)
        return self.known[key]

    def of_threshold(self, single: ByThreshold) -> float:
        """Return the expected error of AboveThreshold."""
        queries = single.queries(self.numbers) - single.threshold
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
        beyond = min(p, 100 - p) / 100 * self.values.size
        ways = (ByThreshold(p, self.points, OF, epsilon, up, beyond) for up in (True, False))
        by_rank = ByRank(p, self.points, OF, dp.PermuteAndFlip(epsilon=epsilon))
        return min(map(self.of_single, (by_rank, *ways)))

    def errors(self, method: Method, percents: tuple[float, ...]) -> Values:
        """Return the expected error of every percentile of a method."""
        scale = 0.0
        if isinstance(method, AfterCount):
            scale, method = method.scale, method.of_size(size_of(self.values.size))
        if isinstance(method, OneByOne):
            return np.array([self.of_single(one) for one in method.singles])
        true = np.array([self.truth(p) for p in percents])
        if isinstance(method, EndsFirst):
            return np.abs(self.from_ends(method, scale) - true).mean(axis=0)
        if isinstance(method, ByBins):
            counts = method.counts(self.numbers.ranks(method.points, method.ends))
            noisy = simulated_laplace(self.rng, counts.repeat(REPEATS, axis=0), method.scale)
            return np.abs(method.answers(noisy) - true).mean(axis=0)
        assert isinstance(method, Recursive)  # noqa: S101 -- for type checkers
        drawn = [self.recursion(method.tree) for _ in range(REPEATS)]
        return np.abs(self.points[np.array(drawn)] - true).mean(axis=0)

    def from_ends(self, method: EndsFirst, scale: float) -> Values:
        """Simulate releases from both ends inwards; return the values."""
        ranks = self.numbers.ranks(self.points)
        by = method.simulated(self.rng)
        noisy = simulated_laplace(self.rng, np.full(REPEATS, self.values.size), scale)

        def middle(
            _: Indices, shares: Values, first: Indices, last: Indices, left: Left
        ) -> Values:
            [start], [end] = method.records_left(ranks, left)
            halves = method.by_halves(shares, first, last)
            points = np.asarray(halves.points)
            if start == end:
                return np.sort(self.rng.choice(points, (1, len(shares))))
            here = Column("", self.values[start:end], points, 0, self.rng)
            return points[here.recursion(halves.tree)][None]

        return np.concatenate(
            [method.follow(ranks, noisy[[one]], by, middle) for one in range(REPEATS)]
        )

    @cached_property
    def held(self) -> tuple[Indices, Values]:
        """The places that have records, and how many; places as in the recursion."""
        places, counts = np.unique(places_of(self.points, self.values), return_counts=True)
        return places, counts.astype(float)

    def recursion(self, tree: Node) -> list[int]:
        """Simulate the recursion; return the candidates.

        All places between two records have one score, and the largest of so many exponential
        variables is drawn for them.
        """
        found: dict[int, int] = {}
        queue = [(tree, *self.held, 0, self.points.size - 1)]
        while queue:
            node, places, weights, low, high = queue.pop()
            place, share = self._place(node, places, weights, low, high)
            found[node.position] = place
            at = int(np.searchsorted(places, place))
            there = at < places.size and places[at] == place
            lower, upper = weights[: at + there].copy(), weights[at:].copy()
            if there:
                lower[-1] *= share
                upper[0] *= 1 - share
            if node.below is not None:
                queue.append((node.below, places[: at + there], lower, low, place))
            if node.above is not None:
                queue.append((node.above, places[at:], upper, place, high))
        return [found[i] for i in range(len(found))]

    def _place(
        self, node: Node, places: Indices, weights: Values, low: int, high: int
    ) -> tuple[int, float]:
        upto = np.cumsum(weights)
        starts = np.concatenate([[low], places + 1])
        sizes = np.concatenate([places, [high + 1]]) - starts
        parts = parts_of(node, self.points.size)
        middles, before = 2 * np.arange(parts + 1), upto - weights
        low_ranks, high_ranks = (
            np.concatenate([[0.0], upto, (before[:, None] + weights[:, None] * ends).ravel()])
            for ends in (
                np.maximum(middles - 1, 0) / (2 * parts),
                np.minimum(middles + 1, 2 * parts) / (2 * parts),
            )
        )
        many = np.concatenate([sizes * (parts + 1), np.ones((parts + 1) * places.size)])
        decay = price_of_draw(node, ADD_REMOVE) / (2 * rank_bound(node.fraction, ADD_REMOVE))
        low_beyond, high_beyond = node.beyond
        wanted = low_beyond + node.fraction * (weights.sum() - low_beyond - high_beyond)
        scores = -decay * np.maximum(np.maximum(low_ranks - wanted, wanted - high_ranks), 0)
        scores[many == 0] = -np.inf
        near = np.flatnonzero(scores > scores.max() - np.log(many.sum()) - 25)
        noise = -np.log(-np.expm1(np.log(self.rng.random(near.size)) / many[near]))
        best = int(near[np.argmax(scores[near] + noise)])
        if best < sizes.size:
            place = int(starts[best] + self.rng.integers(sizes[best]))
            return place, float(self.rng.integers(parts + 1) / parts)
        which, share = divmod(best - sizes.size, parts + 1)
        return int(places[which]), share / parts


def methods(
    column: Column, percents: tuple[float, ...], epsilon: float
) -> Iterator[tuple[str, Method]]:
    """Yield the default and every named method."""
    choice = Choice(percents=percents, points=column.points, records=OF, epsilon=epsilon)
    for name in NAMES:
        yield name or "default", choice.method(name)


def rows() -> Iterator[dict[str, object]]:
    """Yield the loss of every method in every cell."""
    for name, (sample, points, half_step) in columns().items():
        for n in RECORDS:
            rng = np.random.default_rng([7, n])
            column = Column(name, np.sort(sample(n, rng)), points, half_step, rng)
            for epsilon in EPSILONS:
                for percents in SETS:
                    floors = np.array([column.floor(p) for p in percents])
                    alone = np.array([column.alone(p, epsilon) for p in percents])
                    for method, made in methods(column, percents, epsilon):
                        errors = column.errors(made, percents)
                        yield {
                            "column": name,
                            "records": n,
                            "epsilon": epsilon,
                            "percentiles": " ".join(map(str, percents)),
                            "method": method,
                            "loss": float(((errors + floors) / (alone + floors)).max()),
                        }
            print(name, n, file=sys.stderr, flush=True)


def main() -> None:
    """Write all losses, unless ``show`` is given, and print them."""
    if sys.argv[1:] != ["show"]:
        losses = pl.DataFrame(rows())
        losses.with_columns(pl.col("loss").round_sig_figs(4)).write_csv(RESULTS)
    show(pl.read_csv(RESULTS))


def show(losses: pl.DataFrame) -> None:
    """Print how far each method is from the best single one."""
    cell = ["column", "records", "epsilon", "percentiles"]
    single = ~pl.col("method").str.starts_with("default")
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
    # What a rule of public facts takes, it takes on both columns.
    twins = beside.filter(pl.col("column").is_in(TWINS))
    worse = twins.group_by(*cell[1:], "method").agg(ratio.max())
    least = worse.group_by(cell[1:]).agg(ratio.min())["ratio"]
    near = twins.filter(pl.col("method") == "default", ratio <= 1.15).height
    print(
        f"{' and '.join(TWINS)}: in {(least > 1.15).sum()} of {len(least)} settings no method "
        f"is within 1.15 on both; the default is in {near} of {2 * len(least)} cells"
    )


if __name__ == "__main__":
    main()
