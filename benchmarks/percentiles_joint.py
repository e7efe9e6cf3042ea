"""Rank errors of three methods for several percentiles on a small grid, and a joint law.

Run: ``DPSELECT_DATA=<folder> python benchmarks/percentiles_joint.py [PICTURE]``; it prints the
table of ``docs/measurements.md`` and draws the law of two percentiles. The error is the
expected distance of ``1/2 + a(n - 1)`` from the ranks that a released value holds, averaged
over the percentiles, from exact marginal laws; of the recursion from 60 exact draws.
"""

from __future__ import annotations

import sys
from typing import Any

import matplotlib as mpl
import numpy as np

import dpselect as dp
from dpselect.draws import path_exponential
from dpselect.percentiles.joint import Joint
from dpselect.percentiles.reading import Records
from dpselect.typing import Values
from dpselect_studies import datasets

ADD_REMOVE = dp.Neighbours.ADD_REMOVE
REPEATS = 60


def data() -> dict[str, tuple[Values, Values]]:
    """Return numbers and 201 candidates by name."""
    hepth, patent = (
        np.sort(datasets.load(f"hist1d_{name}")["count"].to_numpy().astype(float))
        for name in ("hepth", "patent")
    )
    lognormal = np.sort(np.random.default_rng(0).lognormal(3, 1, 1000))
    return {
        "hepth": (hepth, np.linspace(0, 1000, 201)),
        "patent": (patent, np.linspace(0, 20_000, 201)),
        "lognormal 1,000": (lognormal, np.geomspace(0.1, 1000, 201)),
    }


def distances(values: Values, percents: list[float], candidates: Values) -> Values:
    """Return the rank error of every candidate for every percentile."""
    wanted = 0.5 + np.array(percents)[:, None] / 100 * (values.size - 1)
    below = np.searchsorted(values, candidates, side="left")
    upto = np.searchsorted(values, candidates, side="right")
    return np.maximum(0, np.maximum(below - wanted, wanted - upto))


def table() -> None:
    """Print the errors by data, epsilon and number of percentiles."""
    print("| data | m | ε | one by one | recursive | joint |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, (values, candidates) in data().items():
        for m in (1, 3, 9):
            for epsilon in (0.5, 2.0):
                percents = [100 * i / (m + 1) for i in range(1, m + 1)]
                asked: dict[str, Any] = {
                    "p": percents,
                    "candidates": candidates,
                    "epsilon": epsilon,
                    "neighbours": ADD_REMOVE,
                }
                far = distances(values, percents, candidates)
                laws = (
                    dp.Percentiles(method=method, **asked).probabilities(values)
                    for method in ("one-by-one", "joint")
                )
                one, joint = (float((law * far).sum()) / m for law in laws)
                tree = dp.Percentiles(method="recursive", **asked)
                drawn = [tree.release(values).answer for _ in range(REPEATS)]
                places = np.searchsorted(candidates, np.array(drawn, dtype=float))
                recursive = float(far[np.arange(m), places].mean())
                print(
                    f"| {name} | {m} | {epsilon:g} | {one:.3g} | {recursive:.3g} | "
                    f"{joint:.3g} |",
                    flush=True,
                )


def picture(path: str) -> None:
    """Draw the joint law of two quartiles of 200 lognormal numbers at two epsilons."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    values = np.sort(np.random.default_rng(0).lognormal(3, 1, 200))
    candidates = np.arange(0.0, 81)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for ax, epsilon in zip(axes, (0.2, 1.0), strict=True):
        records = Records(ADD_REMOVE)
        joint = Joint((25.0, 75.0), candidates, records, epsilon)
        chain = joint.chain(records.of(values))
        law = path_exponential.joint_probabilities(chain, float(joint.decay), 0)
        logs = np.log10(np.maximum(law, 1e-6))
        shown = ax.imshow(
            np.where(law > 0, logs, np.nan).T, origin="lower", cmap="viridis", vmin=-6, vmax=-1
        )
        truth = [np.quantile(values, share, method="inverted_cdf") for share in (0.25, 0.75)]
        ax.plot(*truth, "r+", markersize=12, label="quartiles")
        ax.set(
            title=f"epsilon = {epsilon:g}",
            xlabel="25th percentile",
            ylabel="75th percentile",
        )
        ax.legend(loc="lower right")
    figure.colorbar(shown, ax=axes, label="log10 of the probability")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        picture(sys.argv[1])
    table()
