"""Rank errors of several percentiles by method, and of the two forms of ranks.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles_several.py``; it prints its tables
in some minutes. One by one with held ranks is the baseline. The
rank error is the distance of ``1/2 + a(n - 1)`` from the ranks that a released value holds,
averaged over the percentiles: of the nearest candidates, which no method can go below; one by
one in exact expectation; and of the recursion over exact draws. The errors of the forms are
exact expectations, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

import numpy as np

import dpselect as dp
from dpselect.percentiles import percentile_rank
from dpselect.percentiles.objectives import RankForm
from dpselect.percentiles.single import sorted_probabilities
from dpselect.typing import Values
from dpselect_studies import datasets

REPEATS = 100
NUMBERS = (3, 9, 19)
EPSILONS = (0.1, 0.5, 1.0, 2.0)
UPPER = {"hepth": 1_000, "patent": 20_000, "income": 3_000_000, "mdsalary": 500_000}
UPPER["lc_req_f1"] = 1_000_000
MOST_CANDIDATES = 100_001
ADD_REMOVE = dp.Neighbours.ADD_REMOVE


def histogram(name: str) -> tuple[Values, Values]:
    """Return the bin counts of a DPBench histogram and equally spaced candidates."""
    values = datasets.load(f"hist1d_{name}")["count"].to_numpy().astype(float)
    upper = UPPER[name]
    return values, np.linspace(0, upper, min(upper + 1, MOST_CANDIDATES))


def data() -> Iterator[tuple[str, Values, Values]]:
    """Yield three histograms and four lognormal samples, with their candidates."""
    for name in ("hepth", "patent", "income"):
        yield (name, *histogram(name))
    rng = np.random.default_rng(0)
    for size in (10**3, 10**4, 10**5, 10**6):
        values = rng.lognormal(3, 1, size)
        yield f"lognormal {size:,}", values, np.geomspace(1e-2, 1e5, MOST_CANDIDATES)


def one_by_one(
    distances: Values, values: Values, percents: list[float], candidates: Values, form: RankForm
) -> float:
    """Return the expected error, each percentile with an equal part of epsilon 1."""
    draw = dp.PermuteAndFlip(epsilon=1 / len(percents))
    laws = [
        draw.probabilities(
            percentile_rank(
                values, p=p, candidates=candidates, form=form, neighbours=ADD_REMOVE
            )
        )
        for p in percents
    ]
    return float((sorted_probabilities(candidates, laws) * distances).sum() / len(percents))


def recursive(values: Values, percents: list[float], candidates: Values) -> Values:
    """Return a release by the recursion of halves."""
    query = dp.Percentiles(
        p=percents,
        candidates=candidates,
        method="recursive",
        epsilon=1.0,
        neighbours=ADD_REMOVE,
    )
    return np.array(query.release(values).answer, dtype=float)


def rank_errors(ordered: Values, percents: list[float], candidates: Values) -> Values:
    """Return the distance of every wanted rank from those that each candidate holds."""
    wanted = 0.5 + np.array(percents)[:, None] / 100 * (ordered.size - 1)
    below = np.searchsorted(ordered, candidates, side="left")
    upto = np.searchsorted(ordered, candidates, side="right")
    return np.maximum(0, np.maximum(below - wanted, wanted - upto))


def several() -> None:
    """Print the mean rank error by data, number of percentiles and method."""
    heads = ["nearest candidates", "one by one, held", "one by one, signed", "recursive"]
    print("| data | m |", " | ".join(heads), "| recursive / held |")
    print("| --- | ---: |" + " ---: |" * (len(heads) + 1))
    for name, values, candidates in data():
        ordered = np.sort(values)
        for m in NUMBERS:
            percents = [100 * i / (m + 1) for i in range(1, m + 1)]
            distances = rank_errors(ordered, percents, candidates)
            asked = (distances, ordered, percents, candidates)
            held, signed = one_by_one(*asked, "held"), one_by_one(*asked, "signed")
            drawn = np.mean(
                [
                    np.diag(
                        rank_errors(ordered, percents, recursive(ordered, percents, candidates))
                    ).mean()
                    for _ in range(REPEATS)
                ]
            )
            cells = [distances.min(axis=1).mean(), held, signed, drawn, drawn / held]
            print(
                f"| {name} | {m} |", " | ".join(f"{one:.3g}" for one in cells), "|", flush=True
            )


def forms() -> None:
    """Print the expected errors of signed ranks as ratios to held ones."""
    for relation in (dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE):
        ratios = {}
        for name in UPPER:
            values, candidates = histogram(name)
            for p in (50, 90, 99):
                truth = np.percentile(values, p, method="nearest")
                for epsilon in EPSILONS:
                    held, signed = (
                        dp.PermuteAndFlip(epsilon=epsilon).probabilities(
                            percentile_rank(
                                values,
                                p=p,
                                candidates=candidates,
                                form=form,
                                neighbours=relation,
                            )
                        )
                        @ np.abs(candidates - truth)
                        for form in ("held", "signed")
                    )
                    if held > 1e-9:
                        ratios[name, p, epsilon] = signed / held
        mean = np.exp(np.log(list(ratios.values())).mean())
        worst = max(ratios, key=lambda cell: ratios[cell])
        print(
            f"{relation}: geometric mean {mean:.3f} over {len(ratios)} cells; largest "
            f"{ratios[worst]:.3f} at {worst}; {sum(r > 1.005 for r in ratios.values())} above "
            "1.005",
            flush=True,
        )


def speed() -> None:
    """Print the seconds for a million records and 99 percentiles."""
    values = np.random.default_rng(0).lognormal(3, 1, 10**6)
    candidates, percents = np.geomspace(1e-2, 1e5, 10_001), [float(p) for p in range(1, 100)]
    start = process_time()
    recursive(values, percents, candidates)
    middle = process_time()
    dp.Percentiles(
        p=percents, candidates=candidates, method="one-by-one", epsilon=1.0,
        neighbours=ADD_REMOVE,
    ).release(values)  # fmt: skip
    end = process_time()
    print(
        "1,000,000 records, 99 percentiles, 10,001 candidates, seconds of processor time: "
        f"recursive {middle - start:.1f}, one by one {end - middle:.1f}"
    )


if __name__ == "__main__":
    speed()
    forms()
    several()
