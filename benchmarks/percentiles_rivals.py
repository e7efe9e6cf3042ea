"""Exact expected errors of one percentile: ours beside published rivals, by ``compare``.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles_rivals.py``; it prints the table of
rivals. Substitution, as the rivals are stated; the error is the mean distance
of the released value from the percentile, in units of the values: of NumPy (the record nearest
to it) for ours, and of Definition 18, two records above at p = 99, for all others.
"""

from __future__ import annotations

import numpy as np

import dpselect as dp
from dpselect.mechanisms import Mechanism
from dpselect.percentiles import percentile, percentile_rank, rank_of
from dpselect.typing import Values
from dpselect_studies import datasets, rivals

UPPER = {"hepth": 1_000, "patent": 20_000}
SUBSTITUTE = dp.Neighbours.SUBSTITUTE
OF_NUMBERS = (rivals.InverseSensitivity, rivals.PiecewiseLaplace, rivals.SmoothSensitivity)


def errors(values: Values, p: float, epsilon: float, upper: float) -> list[float]:
    """Return ours as chosen, the rivals by value, and the noisy maximum by record."""
    points, truth = np.arange(upper + 1), values[rank_of(p, values.size) - 1]
    chosen = dp.Percentiles(
        p=p,
        candidates=points,
        epsilon=epsilon,
        neighbours=SUBSTITUTE,
    )
    nearest = np.percentile(values, p, method="nearest")
    ours = float(chosen.probabilities(values)[0] @ np.abs(points - nearest))
    objective = percentile_rank(values, p=p, candidates=points, neighbours=SUBSTITUTE)
    mechanisms: list[Mechanism] = [
        kind(values=values, p=p, lower=0, upper=upper, epsilon=epsilon) for kind in OF_NUMBERS
    ]
    laws = [mechanism.probabilities(objective) for mechanism in mechanisms]
    by_value = [float(law @ np.abs(points - truth)) for law in laws]
    records = percentile(values, p=p, upper=upper, horizon=values.size)
    law = rivals.ElementSmoothNoisyMax(epsilon=epsilon).probabilities(records)
    return [ours, *by_value, float(law @ np.abs(values - truth))]


def main() -> None:
    """Print the table."""
    names = ["chosen", *(kind.name for kind in OF_NUMBERS), rivals.ElementSmoothNoisyMax.name]
    print("| data | p | ε |", " | ".join(names), "|")
    print("| --- | ---: | ---: |" + " ---: |" * len(names))
    for name, upper in UPPER.items():
        values = np.sort(datasets.load(f"hist1d_{name}")["count"].to_numpy().astype(float))
        for p in (50.0, 99.0):
            for epsilon in (0.1, 1.0):
                cells = " | ".join(f"{one:.3g}" for one in errors(values, p, epsilon, upper))
                print(f"| {name} | {p:g} | {epsilon:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
