"""Rank errors of several percentiles by method, and of the two forms of ranks.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles_several.py``; it prints the tables
of ``docs/percentiles.md`` in some minutes. One by one with held ranks is the baseline. The
rank error is the distance of ``a(n + 1)`` from the ranks that a released value holds, averaged
over the percentiles and over exact draws; the errors of the forms are exact expectations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Literal

import numpy as np

import dpselect as dp
from dpselect.percentiles import percentile_rank, rank_of, release_percentiles
from dpselect.typing import Values
from dpselect_studies import datasets

REPEATS = 20
NUMBERS = (3, 9, 19)
EPSILONS = (0.1, 0.5, 1.0, 2.0)
UPPER = {"hepth": 1_000, "patent": 20_000, "income": 3_000_000, "mdsalary": 500_000}
UPPER["lc_req_f1"] = 1_000_000
MOST_CANDIDATES = 100_001
ADD_REMOVE = dp.Neighbours.ADD_REMOVE

Answer = Callable[[Values, list[float], Values], Values]


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


def one_by_one(form: Literal["held", "interpolated"]) -> Answer:
    """Return the draw of every percentile with an equal part of epsilon 1."""

    def answer(values: Values, percents: list[float], candidates: Values) -> Values:
        draw = dp.PermuteAndFlip(epsilon=1 / len(percents))
        chosen = [
            draw.choose(
                percentile_rank(
                    values,
                    p=p,
                    candidates=candidates,
                    form=form,
                    neighbours=ADD_REMOVE,
                )
            )[0]
            for p in percents
        ]
        return np.sort(candidates[chosen])

    return answer


def recursive(values: Values, percents: list[float], candidates: Values) -> Values:
    """Return a release by the recursion of halves."""
    release = release_percentiles(
        values,
        p=percents,
        candidates=candidates,
        method="recursive",
        epsilon=1.0,
        neighbours=ADD_REMOVE,
    )
    return np.array(release.answer, dtype=float)


METHODS: dict[str, Answer] = {
    "one by one, held": one_by_one("held"),
    "one by one, interpolated": one_by_one("interpolated"),
    "recursive": recursive,
}


def rank_error(ordered: Values, answer: Values, percents: list[float]) -> float:
    """Return the mean distance of the wanted ranks from those held."""
    wanted = np.array(percents) / 100 * (ordered.size + 1)
    below = np.searchsorted(ordered, answer, side="left")
    upto = np.searchsorted(ordered, answer, side="right")
    return float(np.maximum(0, np.maximum(below - wanted, wanted - upto)).mean())


def several() -> None:
    """Print the mean rank error by data, number of percentiles and method."""
    print("| data | m |", " | ".join(METHODS), "| recursive / held |")
    print("| --- | ---: |" + " ---: |" * (len(METHODS) + 1))
    for name, values, candidates in data():
        ordered = np.sort(values)
        for m in NUMBERS:
            percents = [100 * i / (m + 1) for i in range(1, m + 1)]
            errors = [
                np.mean(
                    [
                        rank_error(ordered, method(ordered, percents, candidates), percents)
                        for _ in range(REPEATS)
                    ]
                )
                for method in METHODS.values()
            ]
            cells = " | ".join(f"{error:.3g}" for error in errors)
            print(f"| {name} | {m} | {cells} | {errors[-1] / errors[0]:.2f} |", flush=True)


def forms() -> None:
    """Print the expected errors of interpolated ranks as ratios to held ones."""
    for relation in (dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE):
        ratios = {}
        for name in UPPER:
            values, candidates = histogram(name)
            for p in (50, 90, 99):
                truth = np.sort(values)[rank_of(p, values.size) - 1]
                for epsilon in EPSILONS:
                    held, interpolated = (
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
                        for form in ("held", "interpolated")
                    )
                    if held > 1e-9:
                        ratios[name, p, epsilon] = interpolated / held
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
    start = perf_counter()
    recursive(values, percents, candidates)
    middle = perf_counter()
    one_by_one("held")(values, percents, candidates)
    end = perf_counter()
    print(
        f"1,000,000 records, 99 percentiles, 10,001 candidates: recursive "
        f"{middle - start:.1f} s, one by one {end - middle:.1f} s"
    )


if __name__ == "__main__":
    speed()
    forms()
    several()
