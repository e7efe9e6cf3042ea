r"""Two tables by group beside OpenDP: quartiles of earnings, and most read pages by country.

Run: ``python benchmarks/tables.py``; it writes ``benchmarks/results/tables.csv`` in minutes.
The data are made up, and every method of a table is drawn on the same ones in the same run.

Earnings: 20 institutions of 10 fields, 30 to 2,000 people in each of the 200 groups, lognormal
with a median of 30,000 to 70,000; quartiles of 0, 500, ..., 200,000 at epsilon 1, a row being a
person. The error is in ranks, as a share of the people of a group. OpenDP has its scores of
candidates and its noisy maximum, epsilon divided among the quartiles: once as its own
composition adds up, one part of epsilon for each group, and once with all of epsilon for each
group, which holds as a person is in one, but is nothing that its composition says.

Pages: 10 countries of 300 to 30,000 persons, each larger by the same factor; 2,000 pages of
each, drawn by Zipf's law with exponent 1. A person is of one country and reads 1 to 10
different pages, so that a cap of 10 drops nothing. All rows of a person are protected. A tenth
of epsilon is for the numbers of what is not released, of each country. The recall is the share
of the 20 most read pages of a country that are released; a page as often read as the 20th is
one of them. The error of the rest is the distance to the true number of rows of pages that
were not released, as a share of it; where no number is released it is one.

OpenDP's scalar interface has the noise and the thresholds; the cap, the largest 20 of each
country and the numbers of the rest are composed by hand. A person moves 10 counts by one,
which is what its measurements are told. Its noisy top k is one release a country, and 10 of
them add up; "in parallel" needs that each person is declared to be of one country.
"""

from __future__ import annotations

import csv
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
EPSILON, INTERVAL = 1.0, 0.9
SIZES = {"30 to 150": (0, 150), "150 to 600": (150, 600), "600 to 2,000": (600, 2001)}
REPEATS = 4
ADDED: Any = "add-remove"

COUNTRIES, PAGES, READ, K = 10, 2000, 10, 20
PERSONS = np.geomspace(300, 30_000, COUNTRIES).astype(int).tolist()
EPSILONS, DELTA, OF_REST, DRAWS = (0.3, 1.0), 1e-6, 0.1, 6

Earnings = dict[str, Values]
Line = dict[str, str]
Found = list[tuple[Any, float | None]]
"""Of each country: the released pages, and the noisy number of the rest."""


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


def _line(
    table: str,
    method: str,
    sizes: str,
    groups: int,
    what: str,
    found: Any,  # noqa: ANN401 -- numbers
    epsilon: float = EPSILON,
) -> Line:
    numbers = np.asarray(found, dtype=float)
    line = {
        "table": table,
        "epsilon": f"{epsilon:g}",
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
    """Return a row for each page that a person has read."""
    rng = np.random.default_rng(13)
    weights = -np.log(np.arange(1, PAGES + 1))
    parts, first = [], 0
    for country, size in enumerate(PERSONS):
        named = rng.permutation(PAGES)
        for person in range(first, first + size):
            # The largest log-weights with Gumbel noise are draws without replacement.
            keys = weights + rng.gumbel(size=PAGES)
            read = rng.integers(1, READ + 1)
            pages = named[np.argpartition(-keys, read)[:read]]
            parts.append((np.full(pages.size, person), np.full(pages.size, country), pages))
        first += size
    columns = [np.concatenate(one) for one in zip(*parts, strict=True)]
    return pl.DataFrame(dict(zip(("person", "country", "page"), columns, strict=True)))


def by_us(rows: pl.DataFrame, epsilon: float, **more: Any) -> Callable[[], Found]:  # noqa: ANN401 -- fields
    """Return a draw of our table."""
    query = dp.TopKeys(
        column="page",
        by="country",
        k=K,
        user="person",
        max_per_user=READ,
        other=True,
        other_share=OF_REST,
        epsilon=epsilon,
        neighbours=ADDED,
        **more,
    )

    def draw() -> Found:
        release = query.release(rows)
        found, rest = release.by_group, dict(release.other or ())
        return [
            (list(found.get(country, ())), rest.get(country)) for country in range(COUNTRIES)
        ]

    return draw


def _is_private(made: Any, distance: Any, price: Any) -> bool:  # noqa: ANN401 -- OpenDP's
    try:
        return bool(made.check(distance, price))
    except opendp.OpenDPException:
        # Delta alone is larger, or neither price is the larger one.
        return False


def _scale(made: Callable[[float], Any], distance: Any, price: Any) -> float:  # noqa: ANN401 -- OpenDP's
    """Return the least scale, to a thousandth."""
    low, high = 0.01, 1e5
    while high > 1.001 * low:
        middle = (low * high) ** 0.5
        if _is_private(made(middle), distance, price):
            high = middle
        else:
            low = middle
    return high


def _integers() -> Any:  # noqa: ANN401 -- OpenDP's
    return opendp.vector_domain(opendp.atom_domain(T=int))


def laplace_counts(epsilon: float) -> Any:  # noqa: ANN401 -- OpenDP's
    """Return Laplace noise on counts, of which a person moves ``READ`` by one."""

    def made(scale: float) -> Any:  # noqa: ANN401 -- OpenDP's
        return opendp.m.make_laplace(_integers(), opendp.l1_distance(T=int), scale=scale)

    return made(_scale(made, READ, epsilon))


def gaussian_counts(epsilon: float) -> Any:  # noqa: ANN401 -- OpenDP's
    """Return Gaussian noise on counts, of which a person moves ``READ`` by one."""

    def made(scale: float) -> Any:  # noqa: ANN401 -- OpenDP's
        noise = opendp.m.make_gaussian(_integers(), opendp.l2_distance(T=float), scale=scale)
        return opendp.c.make_fix_delta(opendp.c.make_zCDP_to_approxDP(noise), DELTA)

    return made(_scale(made, READ**0.5, (epsilon, DELTA)))


def pairs_above(epsilon: float, noise: str) -> Any:  # noqa: ANN401 -- OpenDP's
    """Return OpenDP's noisy counts of pairs above the least threshold."""
    pairs = opendp.map_domain(opendp.atom_domain(T=int), opendp.atom_domain(T=int))
    whole = opendp.l01inf_distance(opendp.absolute_distance(T=int))
    root = opendp.l02inf_distance(opendp.absolute_distance(T=float))
    is_laplace = noise == "laplace"

    def made(scale: float, least: int, delta: float = DELTA) -> Any:  # noqa: ANN401 -- OpenDP's
        if is_laplace:
            return opendp.m.make_laplace_threshold(pairs, whole, scale=scale, threshold=least)
        above = opendp.m.make_gaussian_threshold(pairs, root, scale=scale, threshold=least)
        return opendp.c.make_fix_delta(opendp.c.make_zCDP_to_approxDP(above), delta)

    distance = (READ, READ, 1) if is_laplace else (READ, READ**0.5, 1.0)

    def high(scale: float) -> int:
        return int(40 * scale) + 10

    # Gaussian noise takes half of delta; Laplace noise leaves all of it to the threshold.
    scale = _scale(lambda one: made(one, high(one), DELTA / 2), distance, (epsilon, DELTA / 2))
    low, least = 0, high(scale)
    while least > low + 1:
        middle = (low + least) // 2
        if _is_private(made(scale, middle), distance, (epsilon, DELTA)):
            least = middle
        else:
            low = middle
    return made(scale, least)


def top_k(epsilon: float) -> Any:  # noqa: ANN401 -- OpenDP's
    """Return OpenDP's noisy top k of one country's counts."""
    metric = opendp.linf_distance(T=int, monotonic=True)

    def made(scale: float) -> Any:  # noqa: ANN401 -- OpenDP's
        return opendp.m.make_noisy_top_k(_integers(), metric, opendp.max_divergence(), K, scale)

    return made(_scale(made, 1, epsilon))


def by_them(counts: Values, name: str, noise: str, epsilon: float) -> Callable[[], Found]:
    """Return a draw of OpenDP's table, composed by hand."""
    of_keys, of_rest = (1 - OF_REST) * epsilon, laplace_counts(OF_REST * epsilon)
    if name == "threshold":
        above = pairs_above(of_keys, noise)
        held = {int(one): int(counts.flat[one]) for one in np.flatnonzero(counts)}
    elif name == "counts":
        noisy = (laplace_counts if noise == "laplace" else gaussian_counts)(of_keys)
    else:
        one_country = top_k(of_keys / (COUNTRIES if name == "composed" else 1))

    def pages() -> list[list[int]]:
        if name == "threshold":
            found: list[list[int]] = [[] for _ in range(COUNTRIES)]
            for pair, _ in sorted(above(held).items(), key=lambda one: -one[1]):
                found[pair // PAGES].append(pair % PAGES)
            return [some[:K] for some in found]
        if name == "counts":
            table = np.reshape(noisy(counts.ravel().tolist()), counts.shape)
            return [np.argsort(-row)[:K].tolist() for row in table]
        return [one_country(row.tolist()) for row in counts]

    def draw() -> Found:
        found = pages()
        rest = of_rest(
            [int(row.sum() - row[some].sum()) for row, some in zip(counts, found, strict=True)]
        )
        return list(zip(found, rest, strict=True))

    return draw


def measured(found: Found, counts: Values) -> tuple[Values, Values]:
    """Return the recall and the error of the rest, of each country."""
    recalls, errors = [], []
    for (pages, number), row in zip(found, counts, strict=True):
        most = np.sort(row)[-K]
        recalls.append(np.mean(np.r_[row[pages] >= most, np.zeros(K - len(pages))]))
        rest = row.sum() - row[pages].sum()
        errors.append(1.0 if number is None else abs(number - rest) / rest)
    return np.array(recalls) * 1.0, np.array(errors)


def most_read(rows: pl.DataFrame, epsilon: float) -> Iterator[Line]:
    """Yield the lines of the second table."""
    counts = np.zeros((COUNTRIES, PAGES), dtype=int)
    np.add.at(counts, (rows["country"].to_numpy(), rows["page"].to_numpy()), 1)

    def sequence(*, epsilon: float) -> Any:  # noqa: ANN401 -- a mechanism
        return dp.NoisySequence(epsilon=epsilon, noise="gaussian", delta=DELTA)

    public, known = {"groups": range(COUNTRIES)}, {"candidates": range(PAGES)}
    methods = {
        "unknown pages: dpselect, public countries": by_us(
            rows, epsilon, delta=DELTA, **public
        ),
        "unknown pages: dpselect, private countries": by_us(rows, epsilon, delta=DELTA),
        "unknown pages: OpenDP, Gaussian threshold": by_them(
            counts, "threshold", "gaussian", epsilon
        ),
        "unknown pages: OpenDP, Laplace threshold": by_them(
            counts, "threshold", "laplace", epsilon
        ),
        "known pages: dpselect, public countries": by_us(rows, epsilon, **public, **known),
        "known pages: dpselect, private countries": by_us(rows, epsilon, delta=DELTA, **known),
        "known pages: dpselect, public countries, Gaussian": by_us(
            rows, epsilon, mechanism=sequence, **public, **known
        ),
        "known pages: OpenDP, Laplace counts": by_them(counts, "counts", "laplace", epsilon),
        "known pages: OpenDP, Gaussian counts": by_them(counts, "counts", "gaussian", epsilon),
        "known pages: OpenDP, noisy top k, its composition": by_them(
            counts, "composed", "", epsilon
        ),
        "known pages: OpenDP, noisy top k, in parallel by hand": by_them(
            counts, "in parallel", "", epsilon
        ),
    }
    sizes = {
        f"{PERSONS[0]:,} to {PERSONS[-1]:,}": slice(None),
        f"{PERSONS[0]:,}": slice(1),
        f"{PERSONS[-1]:,}": slice(-1, None),
    }
    for method, draw in methods.items():
        start = perf_counter()
        both = [measured(draw(), counts) for _ in range(DRAWS)]
        print(f"{(perf_counter() - start) / DRAWS:.2f} s a release")
        for size, some in sizes.items():
            for at, what in enumerate((f"recall of the top {K}", "error of the rest")):
                means = [one[at][some].mean() for one in both]
                groups = len(PERSONS[some])
                yield _line("pages", method, size, groups, what, means, epsilon)


def main() -> None:
    """Measure, write and print."""
    opendp.enable_features("contrib")
    lines = [*quartiles(earnings())]
    rows = readers()
    for epsilon in EPSILONS:
        lines += most_read(rows, epsilon)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
