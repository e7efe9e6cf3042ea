r"""A table by group beside OpenDP: quartiles of earnings by institution and field.

Run: ``python benchmarks/tables.py``; it writes ``benchmarks/results/tables.csv`` in minutes.
The data are made up, and every method is drawn on the same ones in the same run.

Earnings: 20 institutions of 10 fields, 30 to 2,000 people in each of the 200 groups, lognormal
with a median of 30,000 to 70,000; quartiles of 0, 500, ..., 200,000 at epsilon 1, a row being a
person. The error is in ranks, as a share of the people of a group. OpenDP has its scores of
candidates and its noisy maximum, epsilon divided among the quartiles: once as its own
composition adds up, one part of epsilon for each group, and once with all of epsilon for each
group, which holds as a person is in one, but is nothing that its composition says.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as opendp
import polars as pl

import dpselect as dp
from dpselect.typing import Values

RESULTS = Path(__file__).with_name("results") / "tables.csv"
INSTITUTIONS, FIELDS, PERCENTS = 20, 10, (25, 50, 75)
CANDIDATES = np.arange(0, 200_001, 500.0)
EPSILON, INTERVAL = 1.0, 0.9
SIZES = {"30 to 150": (0, 150), "150 to 600": (150, 600), "600 to 2,000": (600, 2001)}
REPEATS = 4
ADDED: Any = "add-remove"

Earnings = dict[str, Values]
Line = dict[str, str]


def earnings() -> Earnings:
    """Return the earnings of every group, ascending."""
    rng = np.random.default_rng(31)
    found = {}
    for institution in range(INSTITUTIONS):
        for of_field in range(FIELDS):
            size = int(np.exp(rng.uniform(np.log(30), np.log(2000))))
            paid = rng.uniform(30_000, 70_000) * np.exp(rng.normal(0, 0.5, size))
            found[f"institution {institution}, field {of_field}"] = np.sort(np.round(paid))
    return found


def off(values: Values, number: float, p: float) -> float:
    """Return how many ranks a number is from a percentile, as a share of the records."""
    low, high = np.searchsorted(values, number), np.searchsorted(values, number, "right")
    wanted = p / 100 * values.size
    return max(low - wanted, wanted - high, 0.0) / values.size


def ours(
    groups: Earnings, interval: float | None = None
) -> Iterator[dp.percentiles.PercentileRelease]:
    """Yield releases of the table."""
    rows = pl.DataFrame(
        {
            "group": [name for name, values in groups.items() for _ in values],
            "paid": np.concatenate(list(groups.values())),
        }
    )
    query = dp.Percentiles(
        column="paid",
        by="group",
        groups=list(groups),
        p=PERCENTS,
        upper=200_000,
        step=500,
        interval=interval,
        epsilon=EPSILON,
        neighbours=ADDED,
    )
    for _ in range(REPEATS):
        yield query.release(rows)


def theirs(epsilon: float) -> Callable[[Values], list[float]]:
    """Return OpenDP's quartiles of one group, for so much of epsilon."""
    space = (
        opendp.vector_domain(opendp.atom_domain(T=float, nan=False)),
        opendp.symmetric_distance(),
    )
    made = []
    for p in PERCENTS:
        scores = opendp.t.make_quantile_score_candidates(*space, CANDIDATES.tolist(), p / 100)

        def measurement(scale: float, scores: Any = scores) -> Any:  # noqa: ANN401 -- OpenDP's
            # The least score is the best.
            return scores >> opendp.m.then_noisy_max(
                opendp.max_divergence(), scale, negate=True
            )

        scale = opendp.binary_search_param(
            measurement, d_in=1, d_out=epsilon / len(PERCENTS), T=float
        )
        made.append(measurement(scale))
    return lambda values: [float(CANDIDATES[one(values.tolist())]) for one in made]


def quartiles(groups: Earnings) -> Iterator[Line]:
    """Yield the lines of the table."""
    plain = [release.by_group for release in ours(groups)]
    around = list(ours(groups, INTERVAL))
    answers: dict[str, list[Any]] = {
        "dpselect": plain,
        f"dpselect, with intervals of {INTERVAL:g}": [one.by_group for one in around],
    }
    for name, epsilon in (
        ("OpenDP, its composition", EPSILON / len(groups)),
        ("OpenDP, groups in parallel by hand", EPSILON),
    ):
        draw = theirs(epsilon)
        answers[name] = [
            {group: draw(values) for group, values in groups.items()} for _ in range(REPEATS)
        ]
    for method, tables in answers.items():
        for sizes, (low, high) in SIZES.items():
            some = {name: one for name, one in groups.items() if low <= one.size < high}
            errors = np.array(
                [
                    [
                        off(some[name], number, p)
                        for name in some
                        for number, p in zip(table[name], PERCENTS, strict=True)
                    ]
                    for table in tables
                ]
            )
            yield _line(
                "earnings", method, sizes, len(some), "share of ranks off", errors.mean(axis=1)
            )
    for sizes, (low, high) in SIZES.items():
        held, wide = _intervals(around, groups, low, high)
        many = sum(low <= one.size < high for one in groups.values())
        yield _line("earnings", "dpselect", sizes, many, "intervals that hold", held)
        yield _line("earnings", "dpselect", sizes, many, "share of ranks in an interval", wide)


def _intervals(
    releases: Iterable[dp.percentiles.PercentileRelease], groups: Earnings, low: int, high: int
) -> tuple[Values, Values]:
    """Return the share of intervals that hold, and their mean width, of each release."""
    held, wide = [], []
    for release in releases:
        ends = iter(release.interval or ())
        holds, widths = [], []
        for name, _ in release.answer:
            values = groups[name]
            for p in PERCENTS:
                first, last = next(ends)
                if not low <= values.size < high:
                    continue
                wanted = np.quantile(values, p / 100, method="inverted_cdf")
                holds.append(first <= wanted <= last)
                inside = np.searchsorted(values, last, "right") - np.searchsorted(values, first)
                widths.append(inside / values.size)
        held.append(np.mean(holds))
        wide.append(np.mean(widths))
    return np.array(held), np.array(wide)


def _line(table: str, method: str, sizes: str, groups: int, what: str, found: Any) -> Line:  # noqa: ANN401 -- numbers
    numbers = np.asarray(found, dtype=float)
    line = {
        "table": table,
        "method": method,
        "size of a group": sizes,
        "groups": str(groups),
        "measure": what,
        "mean": f"{numbers.mean():.4g}",
        "standard error": f"{numbers.std(ddof=1) / numbers.size**0.5:.2g}",
    }
    print(line, flush=True)
    return line


def main() -> None:
    """Measure, write and print."""
    opendp.enable_features("contrib")
    lines = [*quartiles(earnings())]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
