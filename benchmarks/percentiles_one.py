"""Exact expected errors of one percentile: our methods, and the algorithms of two libraries.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles_one.py``; it prints the table of
``docs/report/measurements.md`` in some minutes, and stores it in
``results/percentiles_one.csv``. The error is the mean distance of the released value from the
percentile, from exact laws under add/remove; of a range that is not listed from ``RELEASES``.

The laws of other libraries are those of their algorithms: OpenDP's quantile scores a candidate
by ``-abs((1 - a) L - a G)`` and adds exponential noise; diffprivlib's draws one of the
intervals between neighbouring records by the exponential mechanism with its width as the
measure and sensitivity 1, and a number within.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dpselect as dp
from dpselect.percentiles import percentile_rank
from dpselect.percentiles.choice import size_of
from dpselect.percentiles.methods import Method, OneByOne
from dpselect.percentiles.percentiles import PercentilesDesign
from dpselect.percentiles.reading import Counts, Records
from dpselect.percentiles.sparse_vector import ByThreshold
from dpselect.typing import Probabilities, Values
from dpselect_studies import datasets

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.ranks import law_by_rank  # type: ignore[import-not-found]

STORED = Path(__file__).parent / "results" / "percentiles_one.csv"
UPPER = {"hepth": 1_000, "patent": 20_000, "income": 3_000_000}
PERCENTS = (50, 90, 99)
EPSILONS = (0.1, 0.5, 1.0, 2.0)
ADD_REMOVE = dp.Neighbours.ADD_REMOVE
RELEASES = 500
"""Of a range that is not listed, in which values are drawn one after the other; no error in any
counts as half a step in one."""


@dataclass(frozen=True)
class Case:
    """A histogram's bin counts or other ascending numbers, a percentile, and an upper end."""

    name: str
    values: Values
    p: int
    epsilon: float
    upper: int

    @property
    def truth(self) -> float:
        """The percentile."""
        return float(np.percentile(self.values, self.p, method="nearest"))


def cases() -> Iterator[Case]:
    """Yield all histograms, percentiles and epsilons.

    Without the last of 4,096 bins, so that no percentile is in the middle of two records.
    """
    for name, upper in UPPER.items():
        counts = datasets.load(f"hist1d_{name}")["count"].to_numpy()[:-1]
        values = np.sort(counts.astype(float))
        yield from (Case(name, values, p, e, upper) for p in PERCENTS for e in EPSILONS)


def interpolated(case: Case) -> float:
    """Return the error of permute-and-flip over all integers."""
    candidates = np.arange(case.upper + 1.0)
    objective = percentile_rank(
        case.values,
        p=case.p,
        candidates=candidates,
        neighbours=ADD_REMOVE,
    )
    law = dp.PermuteAndFlip(epsilon=case.epsilon).probabilities(objective)
    return float(law @ np.abs(candidates - case.truth))


def opendp(case: Case) -> float:
    """Return the error of OpenDP's score over all integers."""
    candidates, a, n = np.arange(case.upper + 1.0), case.p / 100, case.values.size
    below = np.searchsorted(case.values, candidates, side="left")
    above = n - np.searchsorted(case.values, candidates, side="right")
    bound = dp.GlobalSensitivity(max(a, 1 - a), ADD_REMOVE)
    objective = dp.Objective(-np.abs((1 - a) * below - a * above), bound)
    law = dp.PermuteAndFlip(epsilon=case.epsilon).probabilities(objective)
    return float(law @ np.abs(candidates - case.truth))


def diffprivlib(case: Case) -> float:
    """Return the error of diffprivlib's quantile between 0 and the upper end."""
    n = case.values.size
    ends = np.concatenate([[0.0], np.clip(case.values, 0, case.upper), [float(case.upper)]])
    widths = np.diff(ends)
    with np.errstate(divide="ignore"):
        logs = np.log(widths) - case.epsilon / 2 * np.abs(np.arange(n + 1) - case.p / 100 * n)
    law = np.exp(logs - logs.max())
    law /= law.sum()
    return float(law @ _mean_distance(ends[:-1], ends[1:], case.truth))


def query_of(case: Case, upper: float | None) -> dp.Percentiles:
    """Return the release of a percentile among integers."""
    return dp.Percentiles(
        p=case.p,
        upper=upper,
        step=1,
        epsilon=case.epsilon,
        neighbours=ADD_REMOVE,
    )


def ours(case: Case, upper: float | None) -> float:
    """Return the error of a release of a percentile, by the method of its number of records."""
    design = query_of(case, upper).design()
    assert isinstance(design, PercentilesDesign)  # noqa: S101 -- for type checkers
    method = design.method.of_size(int(size_of(case.values.size)))
    counted = design.method.records.counted(case.values, design.points)
    if isinstance(method, OneByOne):
        far = np.abs(np.asarray(design.points) - case.truth)
        return float(law_of(method.singles[0], counted) @ far)
    some = counted.some(np.zeros(RELEASES, dtype=np.int64))
    error = float(np.abs(method.draw(some, some.numbers) - case.truth).mean())
    return max(error, 0.5 / RELEASES)


def law_of(single: Method, counts: Counts) -> Probabilities:
    """Return the distribution of a draw."""
    if not isinstance(single, ByThreshold):
        law: Probabilities = law_by_rank(single, counts)
        return law
    law = stops(np.asarray(single.queries(counts))[0], single)
    return law if single.upwards else law[::-1]


def stops(queries: Values, single: ByThreshold) -> Probabilities:
    """Return where AboveThreshold stops, for 200 quantiles of the noise on its threshold."""
    queries, (first, second) = queries - single.threshold, single.scales
    law = np.zeros(queries.size)
    for noise in -first * np.log1p(-(np.arange(200) + 0.5) / 200):
        stop = np.exp(-np.maximum(noise - queries, 0) / second)
        left = np.cumprod(1 - stop)
        law += stop * np.append(1.0, left[:-1]) / 200
        law[-1] += left[-1] / 200
    return law


def one_per_cent(case: Case) -> float:
    """Return the error of AboveThreshold upwards over a grid that grows by 1 %."""
    visited = [0]
    while visited[-1] < case.upper:
        visited.append(min(max(visited[-1] + 1, int(visited[-1] * 1.01)), case.upper))
    points = np.array(visited, dtype=float)
    of = (case.p,), points, Records(ADD_REMOVE), case.epsilon
    single = ByThreshold(*of, upwards=True, assumed=case.values.size)
    # Records count at the next one above, and no threshold is raised.
    held = np.diff(np.searchsorted(case.values, points, side="right"), prepend=0)
    at = np.arange(points.size)
    counts = Counts(1, points.size, np.zeros_like(at), at, held)
    law = stops((np.asarray(single.queries(counts)) + single.raised)[0], single)
    return float(law @ np.abs(points - case.truth))


def _mean_distance(low: Values, high: Values, truth: float) -> Values:
    """Return the mean distance of a uniform number of an interval from a number."""
    inside = (low < truth) & (truth < high)
    width = np.where(inside, high - low, 1.0)
    within = ((truth - low) ** 2 + (high - truth) ** 2) / (2 * width)
    return np.where(inside, within, np.abs((low + high) / 2 - truth))


METHODS: dict[str, Callable[[Case], float]] = {
    "interpolated ranks": interpolated,
    "AboveThreshold, 1 %": one_per_cent,
    "OpenDP": opendp,
    "diffprivlib": diffprivlib,
    "**chosen**": lambda case: ours(case, case.upper),
    "**chosen, no upper end**": lambda case: ours(case, None),
}
OURS = ("**chosen**", "**chosen, no upper end**")


def main() -> None:
    """Print the table, and what the targets say."""
    print("| data | p | ε |", " | ".join(METHODS), "| chosen / best other | no end / end |")
    print("| --- | ---: | ---: |" + " ---: |" * (len(METHODS) + 2))
    ratios, rows = [], []
    for case in cases():
        errors = {name: method(case) for name, method in METHODS.items()}
        rows += [
            (case.name, case.p, case.epsilon, name.strip("*"), f"{error:.6g}")
            for name, error in errors.items()
        ]
        best = min(error for name, error in errors.items() if name not in OURS)
        bounded, open_end = (errors[name] for name in OURS)
        ratios.append((bounded / best, open_end / bounded))
        cells = " | ".join(f"{error:.3g}" for error in errors.values())
        print(
            f"| {case.name} | {case.p} | {case.epsilon:g} | {cells} | {bounded / best:.2f} | "
            f"{open_end / bounded:.2f} |",
            flush=True,
        )
    with STORED.open("w", newline="") as file:
        csv.writer(file).writerows([("data", "p", "epsilon", "method", "error"), *rows])
    to_best, to_bounded = np.array(ratios).T
    mean = float(np.exp(np.log(to_best).mean()))
    print(
        f"chosen / best other: geometric mean {mean:.2f}, at most 1.1 in "
        f"{(to_best <= 1.1).sum()} of {to_best.size}; no end / end: at most 2 in "
        f"{(to_bounded <= 2).sum()}"
    )


if __name__ == "__main__":
    main()
