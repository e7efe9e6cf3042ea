"""One release among many candidates, and many simulated draws, against the obvious way.

Run: ``python benchmarks/draws.py``. Each ratio is of two times measured in this run.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from time import perf_counter

import numpy as np
import opendp.prelude as opendp
from rich.console import Console
from rich.table import Table

import dpselect as dp

CANDIDATES = 1_000_000
SIMULATED = 100_000
DRAWS = 10_000


def seconds(call: Callable[[], object], *, repeat: int = 5) -> float:
    """Return the best of ``repeat`` times."""
    times = []
    for _ in range(repeat):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def opendp_call(scores: np.ndarray, epsilon: float, measure: opendp.Measure) -> object:
    """Draw by OpenDP as its users do, from float scores given as an array."""
    space = (
        opendp.vector_domain(opendp.atom_domain(T=float, nan=False)),
        opendp.linf_distance(T=float),
    )
    return opendp.m.make_noisy_max(*space, measure, scale=2 / epsilon)(scores)


def releases(table: Table) -> None:
    """Compare one release with OpenDP's own call."""
    scores = np.random.default_rng(0).exponential(20, size=CANDIDATES)
    objective = dp.Objective(scores, dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE))
    pairs: list[tuple[dp.Mechanism, opendp.Measure]] = [
        (dp.PermuteAndFlip(epsilon=1.0), opendp.max_divergence()),
        (dp.ExponentialMechanism(epsilon=1.0), opendp.zero_concentrated_divergence()),
    ]
    for mechanism, measure in pairs:
        ours = seconds(partial(mechanism.release, objective))
        theirs = seconds(partial(opendp_call, scores, 1.0, measure))
        table.add_row(
            f"release, {mechanism.name}, {CANDIDATES:,} candidates",
            f"{ours:.3f}",
            "OpenDP's call on the same array",
            f"{theirs:.3f}",
            f"{ours / theirs:.2f}",
        )


def simulations(table: Table) -> None:
    """Compare many simulated draws with one numpy.random.choice for each."""
    scores = np.random.default_rng(0).exponential(20, size=SIMULATED)
    objective = dp.Objective(scores, dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE))
    rng = np.random.default_rng(1)
    few = 20
    for mechanism in (dp.ExponentialMechanism(epsilon=1.0), dp.PermuteAndFlip(epsilon=1.0)):
        law = mechanism.probabilities(objective)

        def naive(law: np.ndarray = law) -> None:
            for _ in range(few):
                rng.choice(SIMULATED, p=law)

        ours = seconds(partial(mechanism.simulate, objective, size=DRAWS, rng=rng))
        theirs = seconds(naive, repeat=3) * DRAWS / few
        table.add_row(
            f"{DRAWS:,} simulated draws, {mechanism.name}, {SIMULATED:,} candidates",
            f"{ours:.3f}",
            f"numpy.random.choice for each (from {few})",
            f"{theirs:.1f}",
            f"{ours / theirs:.5f}",
        )


def main() -> None:
    """Print the table."""
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    table = Table(title=f"{machine}, OpenDP {version('opendp')}, NumPy {np.__version__}")
    for column in ("what", "dpselect (s)", "against", "(s)", "ratio"):
        table.add_column(column, justify="left" if column in {"what", "against"} else "right")
    releases(table)
    simulations(table)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
