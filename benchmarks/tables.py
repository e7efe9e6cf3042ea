r"""Two tables by group beside OpenDP: quartiles of earnings, and most read pages by country.

Run: ``python benchmarks/tables.py``; it writes ``benchmarks/results/tables.csv`` in minutes.
All data are made up, and every method of a table is drawn on the same data in the same run.

Earnings: 20 institutions of 10 fields, 30 to 2,000 people in each of the 200 groups, lognormal
with a median of 30,000 to 70,000; quartiles of 0, 500, ..., 200,000 at epsilon 1, a row being a
person. The error is in ranks, as a share of the people of a group. OpenDP has its scores of
candidates and its noisy maximum, epsilon divided among the quartiles: once as its own
composition adds up, one part of epsilon for each group, and once with all of epsilon for each
group, which holds as a person is in one, but is nothing that its composition says.

Pages: 20 countries of 1,000 to 20,000 persons, who read ten different ones of 1,000 pages of
their country, drawn by Zipf's law with exponent 1. All persons' rows are protected, epsilon 1.
The recall is the share of the 20 most read pages that are released, in the mean over countries.
Unknown pages (delta 1e-7): OpenDP counts pairs of a country and a page and releases those above
its threshold, which is one release of all groups. Known pages: OpenDP draws the 20 largest of
each country, by both accounts.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import opendp.prelude as opendp
import polars as pl

import dpselect as dp
from dpselect.typing import Values

RESULTS = Path(__file__).with_name("results") / "tables.csv"
INSTITUTIONS, FIELDS, PERCENTS = 20, 10, (25, 50, 75)
CANDIDATES = np.arange(0, 200_001, 500.0)
COUNTRIES, PAGES, READ, K = 20, 1000, 10, 20
EPSILON, DELTA, INTERVAL = 1.0, 1e-7, 0.9
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
    """Yield the lines of the first table."""
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


def readers() -> pl.DataFrame:
    """Return a row for each page that a person of a country has read."""
    rng = np.random.default_rng(13)
    chances = 1 / np.arange(1, PAGES + 1)
    parts, first = [], 0
    for country in range(COUNTRIES):
        size = int(np.exp(rng.uniform(np.log(1000), np.log(20_000))))
        # The largest of log-weights with Gumbel noise are draws without replacement.
        keys = np.log(chances) + rng.gumbel(size=(size, PAGES))
        pages = np.argpartition(-keys, READ, axis=1)[:, :READ]
        names = rng.permutation(PAGES)[pages]
        parts.append(
            pl.DataFrame(
                {
                    "person": np.repeat(np.arange(first, first + size), READ),
                    "country": np.full(size * READ, country),
                    "page": names.ravel(),
                }
            )
        )
        first += size
    return pl.concat(parts)


def recall(found: dict[int, list[int]], counts: Counter[tuple[int, int]]) -> float:
    """Return the share of the most read pages that are found, in the mean over countries."""
    shares = []
    for country in range(COUNTRIES):
        order = sorted(range(PAGES), key=lambda page: -counts[country, page])
        shares.append(len({*order[:K]} & {*found.get(country, [])}) / K)
    return float(np.mean(shares))


def above_threshold(rows: pl.DataFrame) -> Callable[[], dict[int, list[int]]]:
    """Return OpenDP's release of pairs above a threshold, and the largest of each country."""
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.symmetric_distance()
    scale = opendp.binary_search_param(
        lambda one: _threshold(space, one, 2**30), d_in=READ, d_out=(EPSILON, 1.0), T=float
    )
    least = opendp.binary_search_param(
        lambda one: _threshold(space, scale, one), d_in=READ, d_out=(EPSILON, DELTA), T=int
    )
    release = _threshold(space, scale, least)
    pairs = (rows["country"] * PAGES + rows["page"]).to_list()

    def draw() -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for pair, _ in sorted(release(pairs).items(), key=lambda one: -one[1]):
            found.setdefault(pair // PAGES, []).append(pair % PAGES)
        return {country: pages[:K] for country, pages in found.items()}

    return draw


def _threshold(space: tuple[Any, Any], scale: float, least: int) -> Any:  # noqa: ANN401 -- OpenDP's
    counts = opendp.t.make_count_by(*space, TV=int)
    return counts >> opendp.m.then_laplace_threshold(scale=scale, threshold=least)


def largest_of_each(counts: Counter[tuple[int, int]], epsilon: float) -> dict[int, list[int]]:
    """Return OpenDP's draw of the most read of all pages, with so much of epsilon a country."""
    space = (
        opendp.vector_domain(opendp.atom_domain(T=int)),
        opendp.linf_distance(T=int, monotonic=True),
    )

    def measurement(scale: float) -> Any:  # noqa: ANN401 -- OpenDP's
        return opendp.m.make_noisy_top_k(*space, opendp.max_divergence(), K, scale)

    draw = measurement(opendp.binary_search_param(measurement, d_in=1, d_out=epsilon, T=float))
    return {
        country: draw([counts[country, page] for page in range(PAGES)])
        for country in range(COUNTRIES)
    }


def most_read(rows: pl.DataFrame) -> Iterator[Line]:
    """Yield the lines of the second table."""
    counts = Counter(rows.select("country", "page").iter_rows())
    shared: dict[str, Any] = {
        "column": "page",
        "by": "country",
        "groups": range(COUNTRIES),
        "k": K,
        "user": "person",
        "max_per_user": READ,
        "epsilon": EPSILON,
        "neighbours": ADDED,
    }
    unknown = dp.TopKeys(**shared, delta=DELTA)
    with_rest = dp.TopKeys(**shared, delta=DELTA, other=True)
    known = dp.TopKeys(**shared, candidates=range(PAGES))
    methods: dict[str, Callable[[], Any]] = {
        "unknown pages: dpselect": lambda: unknown.release(rows).by_group,
        "unknown pages: dpselect, with the number of others": lambda: (
            with_rest.release(rows).by_group
        ),
        "unknown pages: OpenDP, pairs above a threshold": above_threshold(rows),
        "known pages: dpselect": lambda: known.release(rows).by_group,
        "known pages: OpenDP, its composition": lambda: largest_of_each(
            counts, EPSILON / COUNTRIES
        ),
        "known pages: OpenDP, countries in parallel by hand": lambda: largest_of_each(
            counts, EPSILON
        ),
    }
    sizes = "1,000 to 20,000 persons"
    for method, draw in methods.items():
        start = perf_counter()
        found = [recall(draw(), counts) for _ in range(REPEATS)]
        print(f"{(perf_counter() - start) / REPEATS:.1f} s a release")
        yield _line("pages", method, sizes, COUNTRIES, f"recall of the top {K}", found)


def main() -> None:
    """Measure, write and print."""
    opendp.enable_features("contrib")
    lines = [*quartiles(earnings()), *most_read(readers())]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
