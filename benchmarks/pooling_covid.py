"""Real SARS-CoV-2 tests: the pools of a study, and simulated pools of real samples.

Run: ``DPSELECT_DATA=folder python benchmarks/pooling_covid.py``. The tables of
``docs/report/measurements.md``; about a minute.

A pool of Ghent samples is positive if its mixed signal crosses the threshold: with ``s``
samples the cycle is ``log2 s - log2 sum 2^-cq``, and what is above the highest cycle that
Ghent called positive is missed. Retests are taken as right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import dpselect as dp
import dpselect_pooling as pooling
from dpselect.neighbours import Neighbours
from dpselect_pooling import Assay, Results
from dpselect_studies import datasets

BATCH = 96
EVERY = 4
"""Every fourth batch of 96 samples, in the order of the days and shuffled within them."""

EPSILON = 4.0

FLIPS = 50
"""Times that the outcomes of KEMRI are flipped."""

Marks = NDArray[np.bool_]


@dataclass
class Tally:
    """Tests and errors of one way of testing, summed over batches."""

    people: int = 0
    tests: int = 0
    missed: int = 0
    false: int = 0

    def add(self, report: pooling.Report, truth: Marks, pools: int) -> None:
        """Count one batch; whoever is tested again gets the right answer."""
        said = np.where(report.retest, truth, report.positive)
        self.people += truth.size
        self.tests += pools + int(report.retest.sum())
        self.missed += int((truth & ~said).sum())
        self.false += int((said & ~truth).sum())

    def row(self) -> tuple[str, str, str, str]:
        """Return tests per person, tests saved, and errors per 1000 people, for a table."""
        return (
            f"{self.tests / self.people:.2f}",
            f"{1 - self.tests / self.people:.0%}",
            f"{1000 * self.missed / self.people:.2f}",
            f"{1000 * self.false / self.people:.2f}",
        )


def kemri(table: Table, rng: np.random.Generator) -> None:
    """Decode the 250 pools of six, as they came and with flips."""
    frame = datasets.load("covid_pools_kemri").sort("sample")
    truth = frame["sample_positive"].to_numpy()
    pool = frame["pool"].to_numpy()
    names = np.unique(pool)
    design = pool[None, :] == names[:, None]
    outcomes = np.array([frame["pool_positive"].to_numpy()[row][0] for row in design])
    samples = [str(s) for s in frame["sample"].to_list()]
    prevalence = float(truth.mean())
    for epsilon in (None, EPSILON):
        flip = 0.0 if epsilon is None else _flip(design, epsilon)
        tally = Tally()
        for _ in range(1 if epsilon is None else FLIPS):
            results = outcomes ^ (rng.random(outcomes.size) < flip)
            report = pooling.decode(
                samples,
                design,
                Results(results, np.ones(results.size, dtype=np.bool_)),
                method="comp" if epsilon is None else "belief-propagation",
                assay=Assay(flip=flip),
                prevalence=prevalence,
            )
            tally.add(report, truth, len(design))
        table.add_row("KEMRI, its 250 pools of 6", _privacy(epsilon), *tally.row())


def ghent(table: Table, rng: np.random.Generator) -> None:
    """Pool real samples by four designs, with and without flips."""
    batches = list(_batches(rng))
    prevalence = float(np.mean([truth.mean() for truth, _ in batches]))
    limit = max(float(np.nanmax(cq, initial=0.0)) for _, cq in batches)
    designs = {
        "pools of 4": pooling.dorfman(BATCH, pool_size=4),
        "8 x 12 array": pooling.array_2d(BATCH, rows=8, columns=12),
        "40 pools, 2 each": pooling.doubly_balanced(BATCH, 40, weight=2, rng=rng),
        "48 pools, 3 each": pooling.doubly_balanced(BATCH, 48, weight=3, rng=rng),
    }
    samples = [str(i) for i in range(BATCH)]
    for name, design in designs.items():
        for epsilon in (None, EPSILON):
            flip = 0.0 if epsilon is None else _flip(design, epsilon)
            tally = Tally()
            for truth, cq in batches:
                results = _measured(design, cq, limit) ^ (rng.random(len(design)) < flip)
                report = pooling.decode(
                    samples,
                    design,
                    Results(results, np.ones(len(design), dtype=np.bool_)),
                    method="comp" if epsilon is None else "belief-propagation",
                    assay=Assay(flip=flip),
                    prevalence=prevalence,
                )
                tally.add(report, truth, len(design))
            table.add_row(f"Ghent, {name}", _privacy(epsilon), *tally.row())


def private_reports(table: Table) -> None:
    """Add the delta and the mean swaps of private subsets of the KEMRI positives."""
    frame = datasets.load("covid_pools_kemri")
    d, n = int(frame["sample_positive"].sum()), frame.height
    for epsilon, beta in ((1.0, 64), (2.0, 64), (4.0, 32), (6.0, 32), (8.0, 32)):
        pure = dp.Subset(n=n, d=d, epsilon=epsilon)
        optimal = replace(pure, beta=beta, scheme="optimal")
        table.add_row(
            f"{epsilon:g}",
            str(beta),
            f"{optimal.delta_at():.3g}",
            f"{_swaps(optimal):.1f}",
            f"{_swaps(pure):.1f}",
        )


def _swaps(query: dp.Subset) -> float:
    masses = query.masses()
    return float(masses @ np.arange(masses.size))


def _batches(rng: np.random.Generator) -> Iterator[tuple[Marks, NDArray[np.float64]]]:
    frame = datasets.load("covid_pcr_ghent")
    # Within a day the file is in the order of results, which no pool would be.
    frame = frame[rng.permutation(frame.height)].sort("day", maintain_order=True)
    truth = frame["positive"].to_numpy()
    cq = frame["cq"].cast(float).fill_null(np.nan).to_numpy()
    for start in range(0, truth.size - BATCH + 1, BATCH * EVERY):
        yield truth[start : start + BATCH], cq[start : start + BATCH]


def _measured(design: Marks, cq: NDArray[np.float64], limit: float) -> Marks:
    signal = design @ np.nan_to_num(2.0**-cq)
    with np.errstate(divide="ignore"):
        cycle = np.log2(design.sum(axis=1)) - np.log2(signal)
    return np.asarray(cycle <= limit)


def _flip(design: Marks, epsilon: float) -> float:
    return pooling.flip_for(design, epsilon=epsilon, neighbours=Neighbours.SUBSTITUTE)


def _privacy(epsilon: float | None) -> str:
    return "none" if epsilon is None else f"flips, epsilon {epsilon:g}"


def main() -> None:
    """Print both tables."""
    rng = np.random.default_rng(7)
    table = Table("pools", "privacy of outcomes", "tests a person", "saved", "missed", "false")
    table.caption = "missed and false: per 1000 people, after retests"
    kemri(table, rng)
    ghent(table, rng)
    console = Console(width=110)
    console.print(table)
    reports = Table("epsilon", "beta", "delta, optimal", "swaps, optimal", "swaps, pure")
    private_reports(reports)
    console.print(reports)


if __name__ == "__main__":
    main()
