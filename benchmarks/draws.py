"""One release among many candidates, and many simulated draws, against the obvious way.

Run: ``python benchmarks/draws.py``. Each ratio is of two times measured in this run.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np
import opendp.prelude as opendp
from rich.console import Console
from rich.table import Table

import dpselect as dp
from dpselect.draws.exact.noisy_counts import discrete_gaussian, discrete_laplace

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.opendp_samplers import (  # type: ignore[import-not-found]
    opendp_samplers,
)

opendp.enable_features("contrib")

CELLS = 640_000
ROUNDS = 9
CANDIDATES = 1_000_000
FEW = 10
SCALES = (2.0, 1000.0, 2.0**50)
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


def longest(call: Callable[[], object], rounds: int) -> float:
    """Return the longest of some times: a sampler may be slow by the luck of the draw."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return max(times)


def releases(table: Table) -> None:
    """Compare the slowest of nine releases with the slowest of three of OpenDP's own call."""
    rng = np.random.default_rng(0)
    kinds = {
        "exponential": rng.exponential(20, size=CANDIDATES),
        "equal": np.zeros(CANDIDATES),
        "far apart": rng.normal(scale=1e6, size=CANDIDATES),
    }
    pairs: list[tuple[dp.Mechanism, opendp.Measure | None]] = [
        (dp.PermuteAndFlip(epsilon=1.0), opendp.max_divergence()),
        (dp.ExponentialMechanism(epsilon=1.0), opendp.zero_concentrated_divergence()),
        (dp.ReportNoisyMax(epsilon=1.0), None),
    ]
    for kind, scores in kinds.items():
        objective = dp.Objective(scores, dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE))
        for mechanism, measure in pairs:
            ours = longest(partial(mechanism.release, objective), ROUNDS)
            if measure is None:
                with opendp_samplers():
                    theirs = longest(partial(mechanism.release, objective), 1)
            else:
                theirs = longest(partial(opendp_call, scores, 1.0, measure), 3)
            table.add_row(
                f"slowest release, {mechanism.name}, {CANDIDATES:,} scores, {kind}",
                f"{ours:.3f}",
                "OpenDP's sampler",
                f"{theirs:.3f}",
                f"{ours / theirs:.2f}",
            )


def noise(table: Table) -> None:
    """Compare noise on few counts and on a map's cells with OpenDP's."""
    for size, repeat in ((FEW, 300), (CELLS, 1)):
        counts = np.zeros(size, dtype=np.int64)
        for name, sampler in (("Laplace", discrete_laplace), ("Gaussian", discrete_gaussian)):
            for scale in SCALES:
                ours = seconds(partial(sampler, counts, scale), repeat=5 * repeat)
                with opendp_samplers():
                    theirs = seconds(partial(sampler, counts, scale), repeat=repeat)
                table.add_row(
                    f"discrete {name} noise of scale {scale:g}, {size:,} counts",
                    f"{ours:.6f}" if size == FEW else f"{ours:.3f}",
                    "OpenDP's sampler",
                    f"{theirs:.6f}" if size == FEW else f"{theirs:.3f}",
                    f"{ours / theirs:.2f}",
                )


def small(table: Table) -> None:
    """Compare releases among few scores, whose time is that of checks and single calls."""
    scores = np.arange(float(FEW))
    objective = dp.Objective(scores, dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE, l1=2))
    for mechanism in (
        dp.ExponentialMechanism(epsilon=1.0),
        dp.PermuteAndFlip(epsilon=1.0),
        dp.NoisySequence(epsilon=1.0),
    ):
        ours = seconds(partial(mechanism.release, objective), repeat=3000)
        with opendp_samplers():
            theirs = seconds(partial(mechanism.release, objective), repeat=500)
        table.add_row(
            f"release, {mechanism.name}, {FEW} scores",
            f"{ours:.6f}",
            "OpenDP's sampler",
            f"{theirs:.6f}",
            f"{ours / theirs:.2f}",
        )


def anew(table: Table) -> None:
    """Compare releases among 4 scores that are made anew with one line of NumPy."""
    votes, bound = [3, 9, 4, 7], dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)

    def by_numpy() -> object:
        return np.argmax(np.array(votes) - np.random.default_rng(1).gumbel(size=4))

    for mechanism in (dp.ExponentialMechanism(epsilon=1.0), dp.PermuteAndFlip(epsilon=1.0)):

        def by_us(mechanism: dp.Mechanism = mechanism) -> object:
            return mechanism.release(dp.Objective(votes, bound))

        ours, theirs = (seconds(one, repeat=3000) for one in (by_us, by_numpy))
        table.add_row(
            f"release, {mechanism.name}, 4 scores made anew",
            f"{ours:.6f}",
            "NumPy's Gumbel noise",
            f"{theirs:.6f}",
            f"{ours / theirs:.1f}",
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
    small(table)
    anew(table)
    noise(table)
    simulations(table)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
