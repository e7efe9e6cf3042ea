"""Decoding, comparing designs and drawing subsets, against plain NumPy.

Run: ``python benchmarks/pooling.py``. Each ratio is of two times measured in this run.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import dpselect as dp
import dpselect_pooling as pooling
from dpselect.draws import subset_distance
from dpselect_pooling import kernels
from dpselect_pooling.kernels import covered, definite, possible

SIZES = ((500, 10, 120), (5000, 50, 900))

Marks = NDArray[np.bool_]


def seconds(call: Callable[[], object], *, repeat: int = 5) -> float:
    """Return the best of ``repeat`` times, after one that compiles."""
    call()
    times = []
    for _ in range(repeat):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def plain_scomp(design: Marks, positive: Marks) -> Marks:
    """SCOMP as array expressions."""
    candidates = ~design[~positive].any(axis=0)
    inside = design[:, candidates].sum(axis=1)
    sure = candidates & design[positive & (inside == 1)].any(axis=0)
    chosen = sure.copy()
    while True:
        unexplained = positive & ~design[:, chosen].any(axis=1)
        gain = np.where(candidates, design[unexplained].sum(axis=0), 0)
        if gain.max() == 0:
            return chosen
        chosen[gain.argmax()] = True


def plain_propagation(design: Marks, positive: Marks, prior: float, rounds: int) -> Marks:
    """Belief propagation as array expressions over all pool-person pairs, for 2 % errors."""
    some = np.where(positive, 0.98, 0.02)[:, None]
    none = np.where(positive, 0.02, 0.98)[:, None]
    message = np.zeros(design.shape)
    for _ in range(rounds):
        total = prior + message.sum(axis=0)
        log_negative = np.where(design, -np.logaddexp(0, total - message), 0)
        others = np.exp(log_negative.sum(axis=1, keepdims=True) - log_negative)
        fresh = np.where(design, np.log(some / (others * none + (1 - others) * some)), 0)
        message = 0.3 * message + 0.7 * fresh
    return np.asarray(prior + message.sum(axis=0) > 0)


def decoding(table: Table) -> None:
    """Compare decoders on near-constant designs."""
    rng = np.random.default_rng(0)
    for n, d, pools in SIZES:
        weight = round(np.log(2) * pools / d)
        design = pooling.near_constant_column_weight(n, pools, weight=weight, rng=rng)
        status = np.isin(np.arange(n), rng.choice(n, d, replace=False))
        positive = pooling.outcomes(design, status)
        linked = kernels.links(design)

        def compiled_scomp(linked: kernels.Links = linked, positive: Marks = positive) -> Marks:
            candidates = possible(linked, positive, 0)
            return covered(
                linked, positive, candidates, definite(linked, positive, candidates, 1), 1
            )

        plain = seconds(partial(plain_scomp, design, positive))
        size = f"n = {n}, {pools} pools"
        _add(table, f"SCOMP, {size}", seconds(partial(pooling.scomp, design, positive)), plain)
        _add(table, f"the same in a simulation, {size}", seconds(compiled_scomp), plain)
        propagation = partial(
            pooling.belief_propagation,
            design,
            positive,
            prevalence=d / n,
            assay=pooling.Assay(sensitivity=0.98, specificity=0.98),
            rounds=20,
            tolerance=1e-300,
        )
        prior = np.log(d / (n - d))
        plain = seconds(partial(plain_propagation, design, positive, prior, 20), repeat=2)
        _add(
            table,
            f"20 rounds of belief propagation, {size}",
            seconds(propagation, repeat=3),
            plain,
        )


def comparing(table: Table) -> None:
    """Compare a simulated design with the same rounds in NumPy."""
    rng, screening = np.random.default_rng(0), pooling.Screening(n=500, d=10)

    def plain() -> float:
        design = pooling.near_constant_column_weight(500, 120, weight=8, rng=rng)
        hits = 0
        for _ in range(1000):
            status = np.isin(np.arange(500), rng.choice(500, 10, replace=False))
            positive = np.asarray(design[:, status].any(axis=1))
            hits += int((plain_scomp(design, positive) == status).all())
        return hits / 1000

    def ours() -> float:
        found = pooling.compare_designs(screening, pools=[120], trials=1000, rng=rng)
        return found.designs[0].exact

    few = pooling.compare_designs(screening, pools=[120], trials=1, rng=rng)
    found = len(few.designs)
    _add(
        table,
        f"a comparison of {found} designs, 1000 rounds each",
        seconds(ours, repeat=2),
        found * seconds(plain, repeat=1),
    )


def drawing(table: Table) -> None:
    """Time the two parts of a release, which have no plain counterpart."""
    for n, d in ((10_000, 100), (1_000_000, 1000), (1_000_000, 500_000)):
        query = dp.Subset(n=n, d=d, beta=d // 2, failure=0.05, scheme="optimal", epsilon=0.5)
        size = f"n = {n:,}, d = {d:,}"
        delta = seconds(query.delta_at, repeat=2)
        table.add_row(f"exact delta, {size}", f"{1e3 * delta:.2f}", "", "")
        draw = seconds(
            partial(subset_distance.draw_distance, query.retrieval().distribution()), repeat=2
        )
        table.add_row(f"exact draw of the distance, {size}", f"{1e3 * draw:.2f}", "", "")


def _add(table: Table, name: str, ours: float, plain: float) -> None:
    table.add_row(name, f"{1e3 * ours:.2f}", f"{1e3 * plain:.2f}", f"{plain / ours:.1f}")


def main() -> None:
    """Print the table."""
    table = Table("what", "ours, ms", "plain NumPy, ms", "ratio")
    decoding(table)
    comparing(table)
    drawing(table)
    Console(width=110).print(table)
    print(f"{platform.processor() or platform.machine()}, numpy {version('numpy')}")


if __name__ == "__main__":
    main()
