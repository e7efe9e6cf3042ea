"""The price of growing epsilons against the epsilon that one would have had to know.

``python benchmarks/until.py [RUNS]`` writes ``benchmarks/results/until.csv``. A task is the
three most common values with noisy counts, whose noise must be small beside the counts: three
times its scale at most a share of the least one. For each task it has the mean epsilon that
``run_until`` ended with and paid; the share of the runs whose counts are as near to the truth;
and the least epsilon, to 1 %, whose releases pass the test nine times in ten, which nobody
knows beforehand.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dpselect as dp
from dpselect.keys import KeyRelease

RESULTS = Path(__file__).with_name("results") / "until.csv"
START, MOST = 0.005, 20.475
TOP = dp.TopKeys(
    column=None,
    k=3,
    candidates=range(50),
    counts_share=0.5,
    epsilon=START,
    neighbours="add-remove",
)


def measured(keys: list[int], share: float, runs: int) -> list[float]:
    """Return means of the last epsilon and the price, the truth and the least epsilon."""
    true, found = Counter(keys), []

    def enough(release: KeyRelease) -> bool:
        return 3 * (release.scale or 0) <= share * min(release.counts or (0,))

    for _ in range(runs):
        releases = dp.run_until(TOP, keys, enough=enough, most=MOST)
        last = releases[-1]
        pairs = zip(last.answer, last.counts or (), strict=True)
        near = all(abs(count - true[key]) <= share * true[key] for key, count in pairs)
        paid = sum(one.plan.epsilon for one in releases)
        found.append((last.plan.epsilon, paid, near))
    end, paid, near = np.mean(found, axis=0)
    least = _least(keys, enough, runs)
    return [round(float(one), 3) for one in (end, paid, near, least, paid / least)]


def _least(keys: list[int], enough: Callable[[Any], bool], runs: int) -> float:
    """Return the least epsilon, to 1 %, at which nine of ten releases are enough."""
    low, high = START, MOST
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        alone = replace(TOP, epsilon=middle)
        good = sum(enough(alone.release(keys)) for _ in range(runs))
        low, high = (low, middle) if good >= 0.9 * runs else (middle, high)
    return high


def main() -> None:
    """Write and print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rng, rows = np.random.default_rng(1), []
    for people in (300, 1_000, 3_000, 10_000, 30_000):
        keys = (np.minimum(rng.zipf(1.6, people), 50) - 1).tolist()
        for share in (0.05, 0.2):
            rows.append([people, share, *measured(keys, share, runs)])
            print(rows[-1], flush=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["people", "share", "last", "paid", "within", "least", "paid / least"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
