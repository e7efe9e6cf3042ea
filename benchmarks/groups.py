r"""Percentiles of groups: the noise of one by how many groups there are, and the time.

Writes ``benchmarks/results/groups.csv``: the mean error, in ranks, of the median and the 90th
percentile of groups that all hold the same 50 records, at epsilon 1, of 61 values::

    python benchmarks/groups.py

The time of a release is given beside that which polars takes to group the same rows by group
and value, without any noise.
"""

from __future__ import annotations

import csv
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.percentiles import PercentileRelease
from dpselect.typing import Values

RESULTS = Path(__file__).with_name("results") / "groups.csv"
RELEASES, RECORDS = {10: 100, 1_000: 5, 100_000: 1}, 50
ASKED: dict[str, Any] = {
    "p": [50, 90],
    "upper": 60,
    "step": 1,
    "epsilon": 1.0,
    "neighbours": "add-remove",
}


def rows(groups: int) -> pl.DataFrame:
    """Return stays of wards, the same in each."""
    stays = np.minimum(np.random.default_rng(1).exponential(8, RECORDS), 60)
    wards = pl.Series([f"ward {one}" for one in range(groups)])
    places = np.repeat(np.arange(groups), RECORDS)
    return pl.DataFrame({"ward": wards.gather(places), "stay": np.tile(stays, groups)})


def errors(release: PercentileRelease, numbers: Values) -> Values:
    """Return how many ranks the values of each ward are off; shape ``(wards, 2)``."""
    values = np.array(list(release.by_group.values()))
    wanted = np.array([0.5, 0.9]) * (numbers.size + 1)
    return np.abs(np.searchsorted(np.sort(numbers), values, "right") - wanted)


def main() -> None:
    """Measure, write and print."""
    lines = []
    for groups, repeats in RELEASES.items():
        table = rows(groups)
        first = table.head(RECORDS)["stay"].to_numpy()
        names = [f"ward {one}" for one in range(groups)]
        query = dp.Percentiles(column="stay", by="ward", groups=names, **ASKED)
        start = perf_counter()
        found = np.concatenate([errors(query.release(table), first) for _ in range(repeats)])
        each = (perf_counter() - start) / repeats
        start = perf_counter()
        table.lazy().group_by("ward", "stay").agg(pl.len()).collect(engine="streaming")
        own = perf_counter() - start
        mean, spread = found.mean(axis=0), found.std(axis=0) / len(found) ** 0.5
        lines.append(
            {
                "groups": groups,
                "rows": table.height,
                "releases": repeats,
                "ranks off, median": f"{mean[0]:.2f}",
                "standard error, median": f"{spread[0]:.2f}",
                "ranks off, p90": f"{mean[1]:.2f}",
                "standard error, p90": f"{spread[1]:.2f}",
                "seconds": f"{each:.2f}",
                "seconds of polars": f"{own:.2f}",
            }
        )
        print(lines[-1])
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
