"""Counts of dominating candidates, and whole laws of PrivPareto, against all pairs.

Run: ``python benchmarks/pareto.py [FOLDER]``, with the folder as for ``networks.py``. The
naive count is NumPy's comparison of all pairs, in blocks of rows; beyond ``NAIVE`` candidates
it is made for ``NAIVE`` of them and extrapolated. The exponent is fitted to this run's times.
All times are of the processor.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import dpselect as dp
from dpselect.combine import ParetoSensitivity
from dpselect.combine.pareto.dominance import count_at_least
from dpselect.networks import Graph, degree, ego_density
from dpselect.typing import Indices, Values

SIZES = (1_000, 10_000, 37_700, 317_080)
NAIVE = 10_000
ROWS = 250
GRAPHS = {"enron": 36_692, "github_musae": 37_700}
EPSILON = 0.5


def seconds(call: Callable[[], object], *, repeat: int = 3) -> float:
    """Return the best of ``repeat`` times."""
    times = []
    for _ in range(repeat):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def all_pairs(points: Values, queries: Values) -> Indices:
    """Count as NumPy users do: O(n q), a block of comparisons at a time."""
    counts = np.zeros(queries.shape[1], dtype=np.int64)
    for first in range(0, queries.shape[1], ROWS):
        block = queries[:, first : first + ROWS, None]
        counts[first : first + ROWS] = (points[:, None, :] >= block).all(axis=0).sum(axis=1)
    return counts


def fitted_exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def counts(table: Table, coordinates: int) -> None:
    """Measure one count at every size."""
    times = []
    for n in SIZES:
        points = np.random.default_rng(n).normal(size=(coordinates, n))
        some = points[:, : min(n, NAIVE)]
        if (all_pairs(points, some[:, :500]) != count_at_least(points, some[:, :500])).any():
            raise AssertionError("the counts differ")
        times.append(seconds(partial(count_at_least, points, points)))
        naive = seconds(partial(all_pairs, points, some), repeat=1)
        naive *= n / some.shape[1]
        label = f"count, {coordinates} objectives" + ("" if n <= NAIVE else ", extrapolated")
        row(table, f"{n:,} normal", label, times[-1], naive)
    exponents = [fitted_exponent(SIZES[from_:], times[from_:]) for from_ in (0, 1)]
    ideal = fitted_exponent(SIZES, [n * np.log(n) for n in SIZES])
    table.add_section()
    table.add_row(
        f"{coordinates} objectives",
        "exponent, all and from 10,000",
        " ".join(f"{exponent:.2f}" for exponent in exponents),
        "",
        f"n log n: {ideal:.2f}",
    )
    table.add_section()


class Case(NamedTuple):
    """Objectives to combine."""

    name: str
    objectives: tuple[dp.Objective, dp.Objective]


def graphs(folder: Path) -> list[Case]:
    """Return degree and ego density of real graphs, both forms of the second's sensitivity."""
    cases = []
    for name, nodes in GRAPHS.items():
        path = folder / f"{name}.parquet"
        graph = Graph.from_edges(path, source="src", target="dst", nodes=nodes)
        for form in ("degree", "spread"):
            parts = degree(graph), ego_density(graph, sensitivity=form)
            cases.append(Case(f"{name}, {form} form", parts))
    return cases


def synthetic(n: int = 317_080, largest: int = 343) -> Case:
    """Return degrees and densities of com-dblp's size: power law, few triangles at hubs."""
    rng = np.random.default_rng(1)
    degrees = np.minimum(1 + rng.pareto(1.5, n) * 2, largest).astype(np.int64)
    pairs = degrees * (degrees - 1) // 2
    density = np.round(rng.beta(1, 2, n) * np.minimum(pairs, 40)) / np.maximum(pairs, 1)
    left = np.arange(largest + 1)[::-1]
    sensitivity = dp.TabulatedSensitivity(
        np.minimum(1, 2 / np.maximum(left, 1)),
        largest - degrees,
        1.0,
        largest,
        dp.Neighbours.EDGE,
    )
    one = dp.GlobalSensitivity(1, dp.Neighbours.EDGE, horizon=largest)
    parts = dp.Objective(degrees, one, monotone=True), dp.Objective(density, sensitivity)
    return Case(f"synthetic, {n:,} candidates", parts)


def laws(table: Table, case: Case) -> None:
    """Measure everything from the objectives to a law."""
    local = dp.LocalDampening(epsilon=EPSILON)
    shifted = dp.ShiftedLocalDampening(epsilon=EPSILON, direction="non-increasing")
    for what, call in (
        ("scores", lambda: ParetoSensitivity(case.objectives)),
        ("law, plain", lambda: local.probabilities(dp.pareto(case.objectives))),
        ("margin", lambda: dp.margin(case.objectives)),
    ):
        row(table, case.name, what, seconds(call, repeat=2))

    def law() -> Values:
        return shifted.probabilities(dp.pareto(case.objectives))

    row(table, case.name, "law, shifted", seconds(law, repeat=2))
    table.add_section()


def row(table: Table, name: str, what: str, ours: float, naive: float | None = None, /) -> None:
    """Add one time, and its ratio to the naive one."""
    beside = ("", "") if naive is None else (f"{naive:.3f}", f"{naive / ours:,.0f} times")
    table.add_row(name, what, f"{ours:.4f}", *beside)


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["DPSELECT_DATA"])
    table = Table(title=f"Seconds of the processor, at epsilon = {EPSILON}")
    for column in ("candidates", "what", "dpselect", "all pairs", ""):
        table.add_column(column)
    for coordinates in (2, 3):
        counts(table, coordinates)
    for case in (*graphs(folder), synthetic()):
        laws(table, case)
    console = Console(width=120)
    console.print(table)
    console.print(f"{platform.machine()}, {os.cpu_count()} cores, Python", end=" ")
    console.print(platform.python_version(), end="")
    for package in ("numpy", "numba"):
        console.print(f", {package} {version(package)}", end="")
    console.print()


if __name__ == "__main__":
    main()
