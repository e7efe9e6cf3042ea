"""Widths of intervals around a percentile, beside those of other ways to have one.

Run: ``python benchmarks/percentiles_intervals.py``; it writes
``benchmarks/results/percentiles_intervals.csv``, in some minutes.

Made-up stays (lognormal, rounded) in values 0 to 60 and 0 to 6,000, under add/remove, with
probability 0.95 for these records. The mean width and the share that hold the percentile are
those of ``REPEATS`` exact draws, and the error is the mean distance of the answer in values.

- ``ours``: an eleventh of epsilon for the interval, the rest for the value.
- ``width by the exponential mechanism``: as PostRI (arXiv:2604.07581), written from its
  abstract: after the value the smallest distance around it is drawn that has enough records on
  both sides, by the exponential mechanism over distances that double, with half of epsilon.
- ``three percentiles``: two more percentiles, so far from the wanted one that the bounds on
  their rank errors hold together, with two thirds of epsilon.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path

import numpy as np

import dpselect as dp
from dpselect.mechanisms import ExponentialMechanism
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.typing import Values

RESULTS = Path(__file__).parent / "results" / "percentiles_intervals.csv"
REPEATS, MISSED = 40, 0.05
Interval = tuple[float, float, float]
"""A value and both ends."""


def value_of(values: Values, p: float, points: Values, epsilon: float) -> float:
    """Return a released percentile by the default for its number of records."""
    query = dp.Percentiles(
        p=p,
        candidates=points,
        epsilon=epsilon,
        neighbours="add-remove",
    )
    return query.release(values).candidate


def ours(values: Values, p: float, points: Values, epsilon: float) -> Interval:
    """Return the value and its interval."""
    release = dp.Percentiles(
        p=p,
        candidates=points,
        epsilon=epsilon,
        neighbours="add-remove",
        interval=1 - MISSED,
    ).release(values)
    [(low, high)] = release.interval or [(points[0], points[-1])]
    return release.candidate, low, high


def by_width(share: float) -> Callable[..., Interval]:
    """Return intervals whose width is drawn after the value."""

    def interval(values: Values, p: float, points: Values, epsilon: float) -> Interval:
        middle = value_of(values, p, points, epsilon * (1 - share))
        distances = 2.0 ** np.arange(int(np.ceil(np.log2(points.size))) + 1)
        distances = np.concatenate([[0.0], distances])
        wanted = 0.5 + p / 100 * (values.size - 1)
        bound = max(p, 100 - p) / 100
        # So many records more on both sides that the draw is not too narrow.
        needed = 2 * bound / (epsilon * share) * log(distances.size / MISSED)
        below = np.array([(values < middle - one).sum() for one in distances])
        upto = np.array([(values <= middle + one).sum() for one in distances])
        inside = np.minimum(wanted - below, upto - wanted)
        scores = -np.abs(inside - needed)
        draw = ExponentialMechanism(epsilon=epsilon * share)
        objective = Objective(scores, GlobalSensitivity(bound, "add-remove"), highest=0.0)
        width = float(distances[draw.draw_positions(objective)[0]])
        return middle, max(middle - width, points[0]), min(middle + width, points[-1])

    return interval


def three(share: float) -> Callable[..., Interval]:
    """Return intervals between two further percentiles."""

    def interval(values: Values, p: float, points: Values, epsilon: float) -> Interval:
        middle = value_of(values, p, points, epsilon * (1 - share))
        each = epsilon * share / 2
        off = 200 / each * log(points.size * 2 / MISSED) / values.size
        low, high = p - off, p + off
        first = points[0] if low <= 0 else value_of(values, low, points, each)
        last = points[-1] if high >= 100 else value_of(values, high, points, each)
        return middle, min(first, middle), max(last, middle)

    return interval


WAYS: dict[str, Callable[..., Interval]] = {
    "ours": ours,
    "width by the exponential mechanism, half": by_width(0.5),
    "three percentiles, two thirds": three(2 / 3),
}


def rows() -> Iterator[dict[str, object]]:
    """Yield the width, coverage and error of every way."""
    for records in (2_000, 40_000):
        for upper in (60, 6_000):
            rng = np.random.default_rng(5)
            values = np.round(rng.lognormal(1.4, 0.9, records) * upper / 60).clip(max=upper)
            points = np.arange(upper + 1.0)
            for p in (50, 90):
                true = np.sort(values)[int(np.ceil(p / 100 * (records + 1))) - 1]
                for epsilon in (0.5, 1.0, 4.0):
                    for name, way in WAYS.items():
                        made = np.array(
                            [way(values, p, points, epsilon) for _ in range(REPEATS)]
                        )
                        middle, low, high = made.T
                        yield {
                            "records": records,
                            "largest": upper,
                            "p": p,
                            "epsilon": epsilon,
                            "way": name,
                            "width": f"{(high - low).mean():.4g}",
                            "holds": f"{((low <= true) & (true <= high)).mean():.3f}",
                            "error": f"{np.abs(middle - true).mean():.4g}",
                        }


def main() -> None:
    """Write the table."""
    found = list(rows())
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(found[0]))
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    main()
