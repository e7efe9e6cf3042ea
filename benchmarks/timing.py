"""Time of a release as a function of private scores: what a stopwatch tells.

Two databases are released in turn, in random order, and the processor time of each is taken.
The AUC is the probability that a release of the second takes longer than one of the first: 0.5
tells nothing. Its standard error is that of two equal laws. Pairs differ by one record, or as
much as they can: all scores equal against one far ahead. Run, in the folder of the project::

    python benchmarks/timing.py --seconds 10 [--releases "Keys, rounds" local-dampening]

Writes ``benchmarks/results/timing.csv`` and, with Matplotlib, ``docs/report/timing.png``;
rows of releases that were not asked for are kept.
"""

from __future__ import annotations

import argparse
import csv
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dpselect as dp

RESULTS = Path(__file__).with_name("results") / "timing.csv"
PICTURE = Path(__file__).parents[1] / "docs" / "report" / "timing.png"
AR: dict[str, Any] = {"epsilon": 1.0, "neighbours": "add-remove"}
Run = Callable[[], object]
MANY = 10**5
NAMES = (
    "exponential",
    "permute-and-flip",
    "noisy-max",
    "local-dampening",
    "generalized",
)


def of_scores(name: str, scores: Any) -> Run:  # noqa: ANN401
    """Return a release of one of many candidates."""
    bound = dp.GlobalSensitivity(1, "add-remove")
    objective = dp.Objective(scores, bound)
    mechanism = dp.mechanisms.by_name(name, 1.0).for_objective(objective)
    return lambda: mechanism.release(objective)


def of_values(values: Any, **asked: Any) -> Run:  # noqa: ANN401
    """Return a release of percentiles."""
    query = dp.Percentiles(**{"p": [25, 50, 75]} | asked, **AR)
    return lambda: query.release(values)


def of_keys(method: Any, keys: Any) -> Run:  # noqa: ANN401
    """Return a release of the keys of an unknown domain."""
    query = dp.Keys(method=method, delta=1e-6, **AR)
    return lambda: query.release(keys)


def cases() -> Iterator[tuple[str, str, Run, Run]]:
    """Yield the releases: what, the pair, and both of it."""
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 1000, MANY)
    more = counts.copy()
    more[0] += 1
    even, leader = np.full(MANY, 1000), np.zeros(MANY, dtype=np.int64)
    leader[MANY // 2] = 10**6
    for name in NAMES:
        yield (
            f"{name}, 100,000 candidates",
            "one record",
            of_scores(name, counts),
            of_scores(name, more),
        )
        yield (
            f"{name}, 100,000 candidates",
            "extreme",
            of_scores(name, even),
            of_scores(name, leader),
        )
    values = np.repeat(np.arange(60), 20)
    far = np.zeros(1200, dtype=np.int64)
    by_method: dict[str, dict[str, Any]] = {
        "one by one": {"p": 50},
        "parts from both ends": {"p": [5, 50, 95]},
    }
    for method, chosen in by_method.items():
        asked = {"candidates": range(60), **chosen}
        for what, other in (("one record", np.append(values, 7)), ("extreme", far)):
            yield (
                f"Percentiles, {method}",
                what,
                of_values(values, **asked),
                of_values(other, **asked),
            )
    shown = np.repeat(np.arange(20_000), 5)
    for method in ("optimal", "laplace", "gaussian", "rounds"):
        for what, other in (
            ("one record", np.append(shown, 7)),
            ("extreme", rng.integers(0, 300, shown.size)),
        ):
            yield f"Keys, {method}", what, of_keys(method, shown), of_keys(method, other)


def auc(first: Any, second: Any) -> float:  # noqa: ANN401
    """Return the probability that one of the second is larger, half of it where equal."""
    gaps = np.asarray(second)[:, None] - np.asarray(first)
    return float(np.mean(gaps > 0) + np.mean(gaps == 0) / 2)


def timed(runs: tuple[Run, Run], seconds: float) -> tuple[list[float], list[float]]:
    """Return times of both releases in seconds, taken in turn."""
    for one in runs:
        one()
    times: tuple[list[float], list[float]] = ([], [])
    began = time.process_time()
    while time.process_time() - began < seconds or len(times[0]) < 10:
        for which in random.sample((0, 1), 2):
            start = time.process_time_ns()
            runs[which]()
            times[which].append((time.process_time_ns() - start) / 1e9)
    return times


def measured(seconds: float, releases: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield a row for each release of these names and each pair."""
    for release, pair, *runs in cases():
        if not release.startswith(releases):
            continue
        first, second = timed((runs[0], runs[1]), seconds)
        n = len(first)
        yield {
            "release": release,
            "pair": pair,
            "runs": n,
            "milliseconds": f"{1000 * np.median(first):.2f}",
            "of the other": f"{1000 * np.median(second):.2f}",
            "auc": f"{auc(first, second):.3f}",
            "standard error": f"{np.sqrt((2 * n + 1) / (12 * n * n)):.3f}",
        }


def draw(rows: list[dict[str, str]]) -> None:
    """Draw the AUC of every release, with two standard errors."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["release"] for row in rows))[::-1]
    figure, axes = plt.subplots(figsize=(7, 0.3 * len(names) + 1), layout="constrained")
    for pair, marker, shift in (("one record", "o", 0.12), ("extreme", "s", -0.12)):
        shown = [row for row in rows if row["pair"] == pair]
        axes.errorbar(
            [float(row["auc"]) for row in shown],
            [names.index(row["release"]) + shift for row in shown],
            xerr=[2 * float(row["standard error"]) for row in shown],
            fmt=marker,
            ms=4,
            label=pair,
        )
    axes.axvline(0.5, color="0.6", lw=1)
    axes.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1))
    axes.set_xlabel("AUC of the time (0.5 tells nothing)")
    axes.legend(loc="upper left", fontsize=8)
    figure.savefig(PICTURE, dpi=120)


def main() -> None:
    """Measure, write the table and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=10, help="of each pair")
    parser.add_argument("--releases", nargs="*", default=[""], help="beginnings of names")
    asked = parser.parse_args()
    with RESULTS.open(newline="", encoding="utf-8") as file:
        known = {(row["release"], row["pair"]): row for row in csv.DictReader(file)}
    for row in measured(asked.seconds, tuple(asked.releases)):
        known[row["release"], row["pair"]] = row
        print(*row.values(), sep="  ", flush=True)
    rows = list(known.values())
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    draw(rows)


if __name__ == "__main__":
    main()
