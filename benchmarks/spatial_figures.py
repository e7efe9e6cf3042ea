"""Median relative errors of tuned maps, on point sets that stand in for the paper's.

Run: ``python benchmarks/spatial_figures.py --data FOLDER --out FOLDER``. FOLDER holds
``points_us_highways.parquet`` (for US Landmarks) and ``points_us_farmers_markets.parquet`` (for
US storage facilities). It draws Figures 5, 10 and 11 of Fanaeepour and Rubinstein for these
substitutes: error against the size of queries, against epsilon and against the share for
tuning, and sensitivity against delta.

Everything here is a simulation: noise by NumPy, choices by exact laws. ``published`` is the
form as printed, whose sensitivity is read off the private number of points. It is not private
and is written here only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from numpy.typing import NDArray

import dpselect as dp
from dpselect.spatial import Box, RelativeClipped, Weighted, counting, even_queries
from dpselect.spatial.coarse import Coarse, cells
from dpselect.spatial.error import partition_error
from dpselect.spatial.nonprivate import relative_errors
from dpselect.spatial.partition import Partition, uniform
from dpselect.spatial.reach import Reach
from dpselect.spatial.rules import guideline_size
from dpselect.typing import Values

BOX = Box(-125.5, 25.0, -65.5, 50.0)
SETS = {
    "US highways (for US Landmarks)": "points_us_highways.parquet",
    "farmers' markets (for US storage)": "points_us_farmers_markets.parquet",
}
GRIDS = (4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384)
SIZES = tuple(2.0**-k for k in range(7, 1, -1))
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
TUNING = (0.05, 0.1, 0.2, 0.3, 0.5)
DELTAS = (0.0005, 0.001, 0.002, 0.005, 0.01)
DELTA, EPSILON, SHARE, REPEATS = 0.001, 0.5, 0.2, 10
COLOURS = ("#000000", "#0072B2", "#56B4E9", "#D55E00", "#CC79A7", "#009E73")
"""Okabe and Ito's, which the colour-blind can tell apart."""


@dataclass(frozen=True)
class Case:
    """Points with what is exact about them; not private."""

    points: counting.Points
    queries: NDArray[np.int64]
    exact: Values
    partitions: tuple[Partition, ...]

    @property
    def size(self) -> int:
        """The number of points."""
        return self.points.x.size

    @property
    def floor(self) -> float:
        """What relative errors are taken over at least."""
        return DELTA * self.size


Chooser = Callable[[Case, float, float, np.random.Generator], tuple[Partition, float]]
"""Case, epsilon, share for tuning, generator -> cells, epsilon left for the counts."""


def case(folder: Path, name: str) -> Case:
    """Return a point set with its exact answers."""
    frame = pl.read_parquet(folder / name)
    points = counting.Points(*BOX.locate(frame["lon"].to_numpy(), frame["lat"].to_numpy()))
    queries = counting.rectangles(BOX, even_queries(BOX, shares=SIZES, each=100))
    partitions = tuple(uniform(size) for size in GRIDS)
    return Case(points, queries, points.in_rectangles(queries), partitions)


def noise(size: int, scale: float, rng: np.random.Generator) -> Values:
    """Return discrete Laplace noise by NumPy."""
    stop = -np.expm1(-1 / scale)
    return (rng.geometric(stop, size) - rng.geometric(stop, size)).astype(np.float64)


def errors(
    here: Case, partition: Partition, epsilon: float, rng: np.random.Generator
) -> Values:
    """Return the relative error of every query, for one simulated map."""
    counts = here.points.in_cells(partition) + noise(partition.cells, 1 / epsilon, rng)
    return relative_errors(
        counting.Answers(partition, counts).of(here.queries), here.exact, here.floor
    )


def heuristic(
    here: Case, epsilon: float, _s: float, _r: np.random.Generator
) -> tuple[Partition, float]:
    """Qardaji's guideline with the exact number of points: not private."""
    return uniform(guideline_size(here.size, epsilon, 10.0)), epsilon


def leaky(
    here: Case, epsilon: float, _s: float, _r: np.random.Generator
) -> tuple[Partition, float]:
    """Take the best score of the printed error, all of epsilon to the counts: not private."""
    return here.partitions[int(np.argmin(_published(here, epsilon)[0]))], epsilon


def best_non_private(
    here: Case, epsilon: float, _s: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Take the grid that turned out best, all of epsilon to the counts: not private."""
    tried = [np.median(errors(here, part, epsilon, rng)) for part in here.partitions]
    return here.partitions[int(np.argmin(tried))], epsilon


def published(
    here: Case, epsilon: float, share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Draw by the printed error over the printed sensitivity: not private."""
    left = (1 - share) * epsilon
    error, sensitivity = _published(here, left)
    exponents = -share * epsilon * error / (2 * sensitivity)
    law = np.exp(exponents - exponents.max())
    return here.partitions[int(rng.choice(law.size, p=law / law.sum()))], left


def _published(here: Case, epsilon: float, delta: float = DELTA) -> tuple[Values, Values]:
    low, n = delta * here.size, here.size
    error, sensitivity = np.empty(len(here.partitions)), np.empty(len(here.partitions))
    for position, partition in enumerate(here.partitions):
        reach = Reach.of(partition, here.queries)
        answers = counting.Answers(partition, here.points.in_cells(partition)).of(here.queries)
        size = reach.l1 / epsilon
        error[position] = np.mean(
            (np.abs(answers - here.exact) + size) / np.maximum(here.exact, low)
        )
        moved = ((n + 1) * reach.largest + size) / (low * delta * (n + 1))
        sensitivity[position] = np.mean(reach.largest / low + moved)
    return error, sensitivity


def repaired(
    here: Case, epsilon: float, share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Draw by the printed error, cut at 10, over a public floor: private under add/remove.

    The floor is a power of ten, as somebody who knows the order of magnitude would declare.
    """
    left = (1 - share) * epsilon
    form = RelativeClipped(floor=10.0 ** round(np.log10(here.floor)), clip=10.0, norm="l1")
    objective = partition_error(
        here.points, here.partitions, here.queries, scale=1 / left, form=form
    )
    return _drawn(here, objective, share * epsilon, rng), left


def default(
    here: Case, epsilon: float, share: float, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Draw as ``release_histogram`` does: private under add/remove."""
    left, half = (1 - share) * epsilon, share * epsilon / 2
    exact = here.points.in_cells(cells())
    coarse = Coarse(exact + noise(exact.size, 1 / half, rng), 1 / half)
    form = Weighted(
        neighbours=dp.Neighbours.ADD_REMOVE, weights=coarse.weights(here.queries, DELTA)
    )
    objective = partition_error(
        here.points, here.partitions, here.queries, scale=1 / left, form=form
    )
    return _drawn(here, objective, half, rng), left


def _drawn(
    here: Case, objective: dp.Objective, epsilon: float, rng: np.random.Generator
) -> Partition:
    drawn = dp.PermuteAndFlip(epsilon=epsilon).simulate(objective, size=1, rng=rng)
    return here.partitions[int(drawn.indices[0])]


CHOOSERS: dict[str, Chooser] = {
    "Heuristic (not private)": heuristic,
    "Leaky (not private)": leaky,
    "BestNonPriv (not private)": best_non_private,
    "published (not private)": published,
    "repaired": repaired,
    "default": default,
}


def medians(here: Case, choose: Chooser, epsilon: float, share: float) -> Values:
    """Return the median relative error of each size of query, the mean of some maps."""
    rng = np.random.default_rng(2024)
    runs = []
    for _ in range(REPEATS):
        partition, left = choose(here, epsilon, share, rng)
        table = errors(here, partition, left, rng).reshape(len(SIZES), -1)
        runs.append([*np.median(table, axis=1), np.median(table)])
    return np.mean(runs, axis=0)


def figure(name: str, here: Case) -> pl.DataFrame:
    """Return every error of the figures for one point set, one row for each."""
    rows: list[dict[str, object]] = []
    for label, choose in CHOOSERS.items():
        by_size = medians(here, choose, EPSILON, SHARE)
        for size, error in zip(SIZES, by_size, strict=False):
            rows.append(
                {"set": name, "panel": "size", "at": size, "method": label, "error": error}
            )
        for epsilon in EPSILONS:
            error = medians(here, choose, epsilon, SHARE)[-1]
            rows.append(
                {
                    "set": name,
                    "panel": "epsilon",
                    "at": epsilon,
                    "method": label,
                    "error": error,
                }
            )
        for share in TUNING:
            error = medians(here, choose, EPSILON, share)[-1]
            rows.append(
                {"set": name, "panel": "share", "at": share, "method": label, "error": error}
            )
    return pl.DataFrame(rows)


def sensitivities(name: str, here: Case) -> pl.DataFrame:
    """Return the largest sensitivity over the grids of each form, against delta."""
    left, rows = (1 - SHARE) * EPSILON, []
    for delta in DELTAS:
        floor = delta * here.size
        forms = {
            "repaired": RelativeClipped(floor=floor, clip=10.0, norm="l1"),
            "default": Weighted(
                neighbours=dp.Neighbours.ADD_REMOVE, weights=1 / np.maximum(here.exact, floor)
            ),
        }
        values = {"published (not private)": _published(here, left, delta)[1].max()}
        for label, form in forms.items():
            reaches = [Reach.of(partition, here.queries) for partition in here.partitions]
            values[label] = max(form.sensitivity(r, form.noise(r, 1 / left)) for r in reaches)
        rows += [
            {"set": name, "panel": "delta", "at": delta, "method": label, "error": value}
            for label, value in values.items()
        ]
    return pl.DataFrame(rows)


def draw(table: pl.DataFrame, out: Path) -> None:
    """Draw one row of panels for each point set."""
    panels = {
        "size": ("side of queries / side of box", "median relative error"),
        "epsilon": ("ε", "median relative error"),
        "share": ("share of ε for tuning", "median relative error"),
        "delta": ("δ", "sensitivity"),
    }
    figure_, axes = plt.subplots(
        len(SETS), 4, figsize=(16, 4 * len(SETS)), layout="constrained"
    )
    for row, name in enumerate(SETS):
        for column, (panel, labels) in enumerate(panels.items()):
            part = table.filter(pl.col("set") == name, pl.col("panel") == panel)
            _panel(axes[row, column], part, labels)
        axes[row, 0].set_title(name, loc="left")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure_.legend(handles, names, loc="outside upper center", ncols=len(names))
    figure_.savefig(out / "spatial_figures.png", dpi=90)


def _panel(ax: Axes, part: pl.DataFrame, labels: tuple[str, str]) -> None:
    for label, colour in zip(CHOOSERS, COLOURS, strict=True):
        line = part.filter(pl.col("method") == label)
        if len(line):
            style = "--" if "not private" in label else "-"
            ax.plot(line["at"], line["error"], style, marker="o", color=colour, label=label)
    ax.set(xlabel=labels[0], ylabel=labels[1], yscale="log")
    ax.set_xscale("linear" if labels[0].startswith("share") else "log")


def main() -> None:
    """Compute, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    tables = []
    for name, file in SETS.items():
        here = case(arguments.data, file)
        tables += [figure(name, here), sensitivities(name, here)]
    table = pl.concat(tables)
    table.write_csv(arguments.out / "spatial_figures.csv")
    with pl.Config(tbl_rows=-1, tbl_width_chars=160):
        for (name, panel), part in table.group_by(["set", "panel"], maintain_order=True):
            print(f"{name}, by {panel}")
            print(part.pivot("at", index="method", values="error"))
    draw(table, arguments.out)


if __name__ == "__main__":
    main()
