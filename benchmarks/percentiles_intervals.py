"""Widths of intervals around a percentile of ten columns, beside those of other ways.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles_intervals.py``; it writes
``benchmarks/results/percentiles_intervals.csv`` and prints a summary, in a minute.

The columns are those of ``percentiles_predicted.py``, under add/remove, with probability 0.95
for these records. The mean width in steps of the candidates, and the share that hold the
percentile, are those of ``REPEATS`` simulated releases. ``beside`` is the width relative to
that of the narrowest other way that holds it in 93 % of them, counted from one step on.

- ``ours``: an eleventh of epsilon for the interval, the rest for the value.
- ``three percentiles``: two more percentiles by rank, so far from the wanted one that the
  bounds on their rank errors hold together, each with a third of epsilon. How many records
  there are is known.
- ``histogram``: noisy counts of 256 equal bins with all of epsilon, and no value; an end is the
  last one from which on 2.9 standard deviations of the sums tell it from the percentile.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from math import ceil, floor, log
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.percentiles.methods import ByRank
from dpselect.percentiles.prediction import Simulated
from dpselect.percentiles.reading import Counts, Records, counts_of
from dpselect.typing import Values
from percentiles_predicted import columns

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.ranks import law_by_rank  # type: ignore[import-not-found]

RESULTS = Path(__file__).parent / "results" / "percentiles_intervals.csv"
REPEATS, PROBABILITY, BINS, BAND = 200, 0.95, 256, 2.9
RECORDS, PERCENTS, EPSILONS = (2_000, 20_000), (50.0, 90.0), (0.5, 1.0, 4.0)
Question = tuple[Counts, Values, float, float]
"""Where the records count among the candidates, these, the percentile and epsilon."""


def ours(asked: Question, rng: np.random.Generator) -> Values:
    """Return intervals, shape ``(REPEATS, 2)``."""
    counts, points, p, epsilon = asked
    design: Any = dp.Percentiles(
        p=p, candidates=points, epsilon=epsilon, neighbours="add-remove", interval=PROBABILITY
    ).design()
    by, some = Simulated(rng), counts.some(np.zeros(REPEATS, dtype=np.int64))
    drawn = design.method.draw(some, by.laplace(some.numbers, design.method.scale), by)
    return np.array([design.intervals.draw(counts, one, by)()[0] for one in drawn.tolist()])


def three(asked: Question, rng: np.random.Generator) -> Values:
    """Return what two more percentiles include."""
    held, points, p, epsilon = asked
    records, each = Records(dp.Neighbours.ADD_REMOVE), epsilon / 3
    bound = 2 * records.rank_bound(p) / each * log(2 * points.size / (1 - PROBABILITY))
    ends = np.tile([points[0], points[-1]], (REPEATS, 1))
    for end, off in enumerate((-bound, bound)):
        if 1 <= (near := p + 100 * off / held.numbers[0]) <= 100:
            law = law_by_rank(ByRank((near,), points, records, each), held)
            ends[:, end] = rng.choice(points, REPEATS, p=law / law.sum())
    return ends


def histogram(asked: Question, rng: np.random.Generator) -> Values:
    """Return the bins that noisy counts do not tell from the percentile."""
    held, points, p, epsilon = asked
    share, edges = (
        p / 100,
        np.unique(np.linspace(0, points.size - 1, BINS + 1).round().astype(int)),
    )
    counts = np.diff(held.before(edges[1:] + 1)[0], prepend=0)
    noisy = counts + rng.laplace(scale=1 / epsilon, size=(REPEATS, counts.size))
    sums, before = np.cumsum(noisy, axis=1), np.arange(1, counts.size + 1)
    spread = before * (1 - share) ** 2 + (counts.size - before) * share**2
    band = BAND * np.sqrt(2 * spread) / epsilon
    off = sums - share * sums[:, -1:]
    below, above = off < -band, off > band
    low = np.where(below.any(1), counts.size - below[:, ::-1].argmax(1), 0)
    high = np.where(above.any(1), above.argmax(1) + 1, counts.size)
    return points[edges[np.stack([np.minimum(low, high), np.maximum(low, high)], axis=1)]]


WAYS: dict[str, Callable[[Question, np.random.Generator], Values]] = {
    "ours": ours,
    "three percentiles": three,
    "histogram": histogram,
}


def rows() -> Iterator[dict[str, object]]:
    """Yield the width and the coverage of every way."""
    for name, numbers, upper, step in columns():
        points = np.arange(0, upper + step / 2, step)
        for records in RECORDS:
            values = np.random.default_rng(5).choice(numbers, records)
            placed = np.sort(points[np.abs(values[:, None] - points).argmin(axis=1)])
            counts = counts_of(placed, points)
            for p in PERCENTS:
                rank = p / 100 * (records - 1)
                low, high = placed[floor(rank)], placed[ceil(rank)]
                for epsilon in EPSILONS:
                    found = {}
                    for way, made in WAYS.items():
                        ends = made((counts, points, p, epsilon), np.random.default_rng(7))
                        holds = float(((ends[:, 0] <= low) & (high <= ends[:, 1])).mean())
                        found[way] = max(float(np.diff(ends).mean()) / step, 0), holds
                    for way, (width, holds) in found.items():
                        covers = [
                            max(wide, 1)
                            for other, (wide, share) in found.items()
                            if other != way and share >= PROBABILITY - 0.02
                        ]
                        yield {
                            "column": name,
                            "records": records,
                            "p": p,
                            "epsilon": epsilon,
                            "method": way,
                            "width": width,
                            "holds": holds,
                            "beside": max(width, 1) / min(covers) if covers else None,
                        }
        print(name, flush=True)


def main() -> None:
    """Write the table, and print the least coverage and the mean width of each way."""
    found = pl.DataFrame(rows())
    found.with_columns(pl.col("width", "beside").round_sig_figs(4)).write_csv(RESULTS)
    beside = pl.col("beside")
    print(
        found.group_by("method", maintain_order=True).agg(
            pl.col("holds").min(),
            beside.log().mean().exp().alias("geometric mean"),
            beside.max().alias("worst"),
        )
    )


if __name__ == "__main__":
    main()
