"""Exact expected errors of percentile selection on the three DPBench histograms.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles.py``; it prints the tables of
``docs/report/measurements.md`` in a minute or two, most of it for the 3,000,001 candidates of
INCOME. The error is the mean distance, in bin counts, of what is released from the true
percentile, as each is defined, computed from exact laws: nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp
from time import perf_counter

import numpy as np

import dpselect as dp
from dpselect.draws import PermuteAndFlip
from dpselect.percentiles import percentile, percentile_rank, rank_of
from dpselect.typing import Values
from dpselect_studies import datasets

UPPER: dict[str, float] = {"hepth": 1_000, "patent": 20_000, "income": 3_000_000}
"""Round numbers above every bin count (755; 19,480; 2,587,110), declared as public."""

PERCENTS = (50, 90, 99)
EPSILONS = (0.1, 1.0, 5.0, 10.0, 50.0)
WITHOUT_HORIZON = 2**40
DOWN, UP = "non-increasing", "non-decreasing"

Errors = Callable[["Case", float], float]


@dataclass(frozen=True)
class Case:
    """One histogram's bin counts and one percentile of them."""

    name: str
    values: Values
    p: int

    @property
    def upper(self) -> float:
        """The declared upper end."""
        return UPPER[self.name]

    @property
    def truth(self) -> float:
        """The percentile as Definition 18 has it, which a record is released for."""
        return float(np.sort(self.values)[rank_of(self.p, self.values.size) - 1])

    @property
    def nearest(self) -> float:
        """The record that is nearest to the percentile of NumPy, which a value is for."""
        return float(np.percentile(self.values, self.p, method="nearest"))


def cases() -> Iterator[Case]:
    """Return all histograms and percentiles."""
    for name in UPPER:
        values = datasets.load(f"hist1d_{name}")["count"].to_numpy().astype(float)
        yield from (Case(name, values, p) for p in PERCENTS)


def label(mechanism: Callable[[float], dp.Mechanism], horizon: int = 1) -> Errors:
    """Return the error of releasing a bin."""

    def error(case: Case, epsilon: float) -> float:
        objective = percentile(case.values, p=case.p, upper=case.upper, horizon=horizon)
        return mechanism(epsilon).expected_error(objective)

    return error


def value(neighbours: dp.Neighbours) -> Errors:
    """Return the error of releasing an integer from 0 to the upper end."""

    def error(case: Case, epsilon: float) -> float:
        candidates = np.arange(case.upper + 1)
        objective = percentile_rank(
            case.values, p=case.p, candidates=candidates, form="held", neighbours=neighbours
        )
        law = dp.PermuteAndFlip(epsilon=epsilon).probabilities(objective)
        return float(law @ np.abs(candidates - case.nearest))

    return error


def shifted(direction: str) -> Callable[[float], dp.Mechanism]:
    """Return the shifted mechanism of one direction."""
    return lambda e: dp.ShiftedLocalDampening(epsilon=e, direction=direction)  # type: ignore[arg-type]


METHODS: dict[str, Errors] = {
    "a bin at random": lambda case, _: float(np.abs(case.values - case.truth).mean()),
    "exponential": label(lambda e: dp.ExponentialMechanism(epsilon=e)),
    "permute-and-flip": label(lambda e: dp.PermuteAndFlip(epsilon=e)),
    "local dampening": label(lambda e: dp.LocalDampening(epsilon=e)),
    "local dampening, permute-and-flip": label(
        lambda e: dp.LocalDampening(epsilon=e, draw=PermuteAndFlip())
    ),
    "anchored at 0": label(lambda e: dp.AnchoredLocalDampening(epsilon=e, anchor=0.0)),
    "pairwise": label(lambda e: dp.PairwiseLocalDampening(epsilon=e)),
    "shifted up, T* = 1 (default)": label(shifted(UP)),
    "shifted up, T* = 16": label(shifted(UP), 16),
    "shifted up, no horizon": label(shifted(UP), WITHOUT_HORIZON),
    "shifted down, T* = 1": label(shifted(DOWN)),
    "**value by rank**, substitution": value(dp.Neighbours.SUBSTITUTE),
    "**value by rank**, add/remove": value(dp.Neighbours.ADD_REMOVE),
}


def rank_forms(case: Case, epsilon: float) -> dict[str, float]:
    """Return the errors of three rank utilities under add/remove, by permute-and-flip."""
    candidates, ordered = np.arange(case.upper + 1), np.sort(case.values)
    a, n = case.p / 100, ordered.size
    below = np.searchsorted(ordered, candidates, side="left")
    above = n - np.searchsorted(ordered, candidates, side="right")
    wanted = 0.5 + a * (n - 1)
    forms = {
        "distance from the held ranks (ours)": (
            -np.maximum(0, np.maximum(below - wanted, wanted - (n - above))),
            False,
        ),
        "-abs((1-a)L - aG)": (-np.abs((1 - a) * below - a * above), False),
        "-max((1-a)L, aG), monotone": (-np.maximum((1 - a) * below, a * above), True),
    }
    bound = dp.GlobalSensitivity(max(a, 1 - a), dp.Neighbours.ADD_REMOVE)
    mechanism = dp.PermuteAndFlip(epsilon=epsilon)
    distances = np.abs(candidates - case.nearest)
    return {
        form: float(
            mechanism.probabilities(dp.Objective(scores, bound, monotone=monotone)) @ distances
        )
        for form, (scores, monotone) in forms.items()
    }


def horizons() -> None:
    """Print the errors of shifting by horizon, relative to the exponential mechanism's."""
    spread = list(wider_cases())
    exponential = [METHODS["exponential"](case, e) for case in spread for e in EPSILONS]
    rows = {}
    for horizon in (1, 2, 4, 16, 64, 256, WITHOUT_HORIZON):
        error = label(shifted(UP), horizon)
        ratios = np.array([error(case, e) for case in spread for e in EPSILONS]) / exponential
        mean = float(np.exp(np.log(ratios).mean()))
        last = float(np.exp(np.log(ratios[len(EPSILONS) - 1 :: len(EPSILONS)]).mean()))
        rows["none" if horizon == WITHOUT_HORIZON else str(horizon)] = [
            mean,
            last,
            ratios.max(),
        ]
    table(f"T*, {len(spread)} cases", ["geometric mean", "at the last ε", "worst"], rows)


def wider_cases() -> Iterator[Case]:
    """Return the percentiles of all 1-D histograms that fewer than half the bins share."""
    for name in (one for one in datasets.names() if one.startswith("hist1d_")):
        short_name = name.removeprefix("hist1d_")
        values = datasets.load(name)["count"].to_numpy().astype(float)
        UPPER.setdefault(short_name, 10 ** len(str(int(values.max()))))
        for case in (Case(short_name, values, p) for p in (50, 75, 90, 99)):
            if (values == case.truth).mean() < 1 / 2:
                yield case


def short(number: float) -> str:
    """Return a number of at most three digits, more if it is large."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def table(title: str, columns: list[str], rows: dict[str, list[float]]) -> None:
    """Print a Markdown table."""
    print(f"| {title} | {' | '.join(columns)} |")
    print("| --- |" + " ---: |" * len(columns))
    for name, numbers in rows.items():
        print(f"| {name} | {' | '.join(map(short, numbers))} |")
    print()


def speed() -> None:
    """Print the seconds for a million records."""
    values = np.random.default_rng(0).lognormal(3, 1, 1_000_000)
    percentile([1.0, 2.0], p=50, upper=10, horizon=3).sensitivity.shortfall()  # compiles
    start = perf_counter()
    objective = percentile(values, p=50, upper=1e4)
    built = perf_counter()
    dp.LocalDampening(epsilon=1.0).probabilities(objective)
    dampened = perf_counter()
    percentile(values, p=50, upper=1e4, horizon=WITHOUT_HORIZON).sensitivity.shortfall()
    summed = perf_counter()
    print(
        f"n = 1,000,000: objective {built - start:.2f} s, law of local dampening "
        f"{dampened - built:.2f} s, objective with the sum over 500,001 distances "
        f"{summed - dampened:.2f} s"
    )


def main() -> None:
    """Print all tables."""
    all_cases = list(cases())
    columns = [f"{case.name} {case.p}" for case in all_cases]
    table("true percentile", columns, {"": [case.truth for case in all_cases]})
    for epsilon in EPSILONS:
        rows = {
            name: [errors(case, epsilon) for case in all_cases]
            for name, errors in METHODS.items()
        }
        table(f"ε = {epsilon:g}", columns, rows)
    for epsilon in (0.1, 1.0):
        forms = [rank_forms(case, epsilon) for case in all_cases]
        table(
            f"rank utility, ε = {epsilon:g}",
            columns,
            {form: [of[form] for of in forms] for form in forms[0]},
        )
    horizons()
    n = all_cases[0].values.size
    best = {e: exp(2 * e) / (exp(2 * e) + n - 1) for e in EPSILONS}
    print("largest P(best label):", {e: f"{share:.2g}" for e, share in best.items()})
    speed()


if __name__ == "__main__":
    main()
