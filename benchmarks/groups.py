r"""Percentiles of groups: the noise of one by how many groups there are, and the time.

Writes ``benchmarks/results/groups.csv``: the mean error, in ranks, of the median and the 90th
percentile of groups that all hold the same 50 records, at epsilon 1, of 61 values::

    python benchmarks/groups.py

The time of a release is given beside that which polars takes to group the same rows by group
and value, without any noise. The last line is of Parquet files of 10^8 rows together, in 10^5
groups, numbers with one decimal in 61 candidates, which are made in a temporary folder; it has
the processor's time, too::

    python benchmarks/groups.py large

measures it alone, and keeps the other lines.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
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
    wanted = 0.5 + np.array([0.5, 0.9]) * (numbers.size - 1)
    return np.abs(np.searchsorted(np.sort(numbers), values, "right") - wanted)


def large(folder: Path, groups: int = 100_000, times: int = 10) -> dict[str, object]:
    """Measure a release of files, and what polars takes for counts and true medians."""
    rng, size = np.random.default_rng(1), 10**7
    for part in range(times):
        stays = np.minimum(rng.exponential(8, size), 60).round(1)
        table = pl.DataFrame({"ward": rng.integers(0, groups, size), "stay": stays})
        table.write_parquet(folder / f"{part}.parquet", row_group_size=10**6)
    query = dp.Percentiles(column="stay", by="ward", groups=range(groups), **ASKED)
    files, ward, stay = folder / "*.parquet", pl.col("ward"), pl.col("stay")
    both = [stay.quantile(0.5).alias("p50"), stay.quantile(0.9).alias("p90")]
    ways: dict[str, Callable[[], object]] = {
        "seconds": lambda: query.release(pl.scan_parquet(files)),
        "seconds of polars": lambda: (
            pl.scan_parquet(files)
            .group_by(ward, stay.cast(pl.Int64))
            .agg(pl.len())
            .collect(engine="streaming")
        ),
        "seconds of polars for the percentiles": lambda: (
            pl.scan_parquet(files).group_by(ward).agg(both).collect(engine="streaming")
        ),
    }
    line: dict[str, object] = {"groups": groups, "rows": size * times, "releases": 1}
    for name, way in ways.items():
        start, of_processor = perf_counter(), process_time()
        way()
        line[name] = f"{perf_counter() - start:.1f}"
        line[f"processor {name}"] = f"{process_time() - of_processor:.1f}"
    return line


def main() -> None:
    """Measure, write and print."""
    lines: list[dict[str, object]] = []
    if sys.argv[1:] == ["large"]:
        with RESULTS.open(newline="", encoding="utf-8") as file:
            lines += [one for one in csv.DictReader(file) if int(one["rows"]) < 10**8]
    else:
        lines += small()
    with TemporaryDirectory() as folder:
        lines.append(large(Path(folder)))
    print(lines[-1])
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, {name: None for line in lines for name in line})
        writer.writeheader()
        writer.writerows(lines)


def small() -> list[dict[str, object]]:
    """Measure groups in memory, that all hold the same records."""
    lines: list[dict[str, object]] = []
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
    return lines


if __name__ == "__main__":
    main()
