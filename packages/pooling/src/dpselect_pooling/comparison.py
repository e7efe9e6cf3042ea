"""Comparison of pooling designs by simulation: tests, errors and privacy of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, inf, log, log2
from typing import TYPE_CHECKING

import numpy as np

from dpselect.errors import ParameterError
from dpselect.extend import validation
from dpselect_pooling import designs
from dpselect_pooling.assay import Assay
from dpselect_pooling.decoders import DOUBT
from dpselect_pooling.designs import Design
from dpselect_pooling.outcome_privacy import OutcomePrivacy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPANS = (1.0, 1.5, 2.0, 3.0)
"""Numbers of pools to simulate, in units of the information-theoretic lower bound."""

PIECES = 16
"""Shares of the simulated rounds that threads take."""

MARKERS = "os^v"
"""The next one when the ten colours are used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """The public facts that designs are compared for.

    Attributes:
        n: Number of people, at least 2.
        prevalence: P[positive] of each person, independently, in (0, 1/2); or give ``d``.
        d: Number of positives, exactly, 1 to ``n // 2``.
        max_pool_size: The largest number of samples in a pool that the assay allows.
        max_transfers: The largest number of transfers of a sample into a pool, at least ``n``.
        assay: Error probabilities of the tests; none if not given.
        privacy: The guarantee that flips are to give the outcomes; None if the lab is trusted.

    Raises:
        ParameterError: A field is out of range.
    """

    n: int
    prevalence: float | None = None
    d: int | None = None
    max_pool_size: int | None = None
    max_transfers: int | None = None
    assay: Assay = field(default_factory=Assay)
    privacy: OutcomePrivacy | None = None

    def __post_init__(self) -> None:
        n = validation.at_least("n", self.n, 2)
        if (self.prevalence is None) == (self.d is None):
            raise ParameterError("give `prevalence` or `d`, one of the two")
        if self.d is not None:
            validation.at_least("d", self.d, 1, n // 2)
        elif validation.within("prevalence", self.prevalence, 0, 0.5) in {0, 0.5}:
            raise ParameterError("`prevalence` must be above 0 and below 1/2")
        if self.max_pool_size is not None:
            validation.at_least("max_pool_size", self.max_pool_size, 1)
        if self.max_transfers is not None:
            validation.at_least("max_transfers", self.max_transfers, n)
        validation.instance("assay", self.assay, Assay)
        if self.privacy is not None:
            validation.instance("privacy", self.privacy, OutcomePrivacy)

    @property
    def share(self) -> float:
        """The share of positives, or the probability of each."""
        return self.d / self.n if self.d is not None else self.prevalence or 0.0

    @property
    def cap(self) -> int:
        """The largest number of samples in a pool."""
        return self.n if self.max_pool_size is None else self.max_pool_size

    def admits(self, design: Design) -> bool:
        """Return whether a design has no pool above the cap and not too many transfers."""
        fits = bool(design.sum(axis=1).max() <= self.cap)
        return fits and (self.max_transfers is None or int(design.sum()) <= self.max_transfers)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedDesign:
    """One design with the results of its simulation; public.

    Attributes:
        name: Name of the design.
        pools: Number of pooled tests.
        weight: The largest number of pools that a sample is in.
        largest_pool: The largest number of samples in a pool.
        transfers: Number of transfers of a sample into a pool.
        flip: Probability with which each outcome is flipped for privacy; 0 without.
        epsilon: Epsilon of the outcomes, in nats, under the relation of the comparison;
            infinite without flips.
        delta: Delta of the outcomes.
        false_positives: Expected number, of the decoder's answer.
        false_negatives: Expected number, of the decoder's answer.
        exact: P[all answers are right].
        retests: Expected number of people left in doubt, who are tested one by one.
        errors_after_retests: Expected number of wrong answers about all others, which remain if
            retests are right.
    """

    name: str
    pools: int
    weight: int
    largest_pool: int
    transfers: int
    flip: float
    epsilon: float
    delta: float
    false_positives: float
    false_negatives: float
    exact: float
    retests: float
    errors_after_retests: float

    @property
    def tests(self) -> float:
        """Pools and expected retests together."""
        return self.pools + self.retests

    @property
    def errors(self) -> float:
        """Expected wrong answers of the decoder, before retests."""
        return self.false_positives + self.false_negatives


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignComparison:
    """All admissible designs, best first.

    Fewest errors after retests, and then fewest tests in all; where outcomes are to be private,
    fewest errors before retests, and then fewest pools: no flip protects a retest.

    Attributes:
        screening: The facts that they were compared for.
        designs: The simulated designs, best first.
    """

    screening: Screening
    designs: tuple[SimulatedDesign, ...]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what designs are ranked by, one series for each kind of design.

        Expected wrong answers against tests per person: after retests, with these; of private
        outcomes before any.

        Args:
            ax: Axes to draw into; those of a new figure if not given.
        """
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(layout="constrained").add_subplot()
        names, private = sorted({one.name for one in self.designs}), self.screening.privacy
        for number, name in enumerate(names):
            of_name = [design for design in self.designs if design.name == name]
            of_name.sort(key=lambda design: design.pools)
            tests = [one.pools if private else one.tests for one in of_name]
            ax.plot(
                [number / self.screening.n for number in tests],
                [one.errors if private else one.errors_after_retests for one in of_name],
                f"{MARKERS[number // 10 % 4]}-",
                label=name,
            )
        ax.set_xlabel("pooled tests per person" if private else "tests per person")
        ax.set_ylabel(f"expected wrong answers {'before' if private else 'after'} retests")
        ax.set_yscale("symlog", linthresh=0.01)
        ax.legend(fontsize="small")
        return ax


def compare_designs(
    screening: Screening,
    *,
    pools: Sequence[int] | None = None,
    trials: int = 200,
    rng: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> DesignComparison:
    """Simulate every design that fits, with its decoder; takes no data.

    Individual tests are always among them.

    Without noise SCOMP decodes, and people found by COMP but not by DD are in doubt. With an
    assay that errs or with flips, belief propagation decodes, and people with a posterior
    within 0.05 to 0.95 are in doubt.

    Args:
        screening: The public facts.
        pools: Numbers of pools to simulate; some multiples of the information-theoretic
            lower bound, if not given.
        trials: Rounds to simulate for each design, at least 1.
        rng: The generator, for designs and rounds.
        progress: Called after each design with the number done and the number of all.

    Raises:
        ParameterError: An argument is out of range.
    """
    validation.instance("screening", screening, Screening)
    trials = validation.at_least("trials", trials, 1)
    validation.instance("rng", rng, np.random.Generator)
    counts = _pool_counts(screening, pools)
    found = [
        (name, design)
        for name, design in _candidates(screening, counts, rng)
        if screening.admits(design)
    ]
    simulated = []
    for done, (name, design) in enumerate(found, start=1):
        simulated.append(_simulated(name, design, screening, trials, rng))
        if progress is not None:
            progress(done, len(found))
    if screening.privacy is None:
        simulated.sort(key=lambda one: (round(one.errors_after_retests, 1), one.tests))
    else:
        simulated.sort(key=lambda one: (round(one.errors, 1), one.pools))
    return DesignComparison(screening=screening, designs=tuple(simulated))


def _pool_counts(screening: Screening, pools: Sequence[int] | None) -> list[int]:
    """Return the numbers of pools to simulate: those given, or multiples of a lower bound."""
    if pools is not None:
        return sorted({validation.at_least("pools", count, 1) for count in pools})
    n, p = screening.n, screening.share
    least = n * -(p * log2(p) + (1 - p) * log2(1 - p))
    return sorted({min(n, max(1, ceil(span * least))) for span in SPANS})


def _candidates(
    screening: Screening, counts: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[str, Design]]:
    """Yield names and designs, those with a pool above the cap included."""
    n, k = screening.n, max(1.0, screening.n * screening.share)
    yield "one by one", np.eye(n, dtype=np.bool_)
    for size in sorted({2, 4, 8, max(2, round(screening.share**-0.5))}):
        yield f"Dorfman, pools of {size}", designs.dorfman(n, pool_size=min(size, n))
    side = min(max(2, round(screening.share ** (-2 / 3))), ceil(n**0.5), screening.cap)
    yield f"array {side} x {side}", designs.array_2d(n, rows=side, columns=side)
    if screening.d is not None:
        certain = designs.kautz_singleton(n, d=screening.d)
        if len(certain) < n:
            yield "Kautz-Singleton", certain
    for count in counts:
        best = max(1, min(count, round(log(2) * count / k)))
        share = min(log(2) / k, 0.5)
        yield "Bernoulli", designs.bernoulli(n, count, probability=share, rng=rng)
        yield (
            "near-constant weight",
            designs.near_constant_column_weight(n, count, weight=best, rng=rng),
        )
        fits = max(1, min(best, screening.cap * count // n))
        for weight in sorted({min(w, fits) for w in (1, 2, 3, fits)}):
            balanced = designs.doubly_balanced(n, count, weight=weight, rng=rng)
            yield f"doubly balanced, weight {weight}", balanced


def _simulated(
    name: str, design: Design, screening: Screening, trials: int, rng: np.random.Generator
) -> SimulatedDesign:
    """Return tests, errors and privacy of a design, from simulated rounds."""
    from dpselect_pooling import kernels

    privacy = screening.privacy
    flip = 0.0 if privacy is None else privacy.flip(design)
    assay = replace(screening.assay, flip=flip)
    setting = kernels.Setting(
        -1 if screening.d is None else screening.d,
        screening.share,
        not assay.perfect,
        DOUBT,
        kernels.Limits(60, 0.3, 1e-4),
    )
    rates = (assay.sensitivity, assay.specificity, assay.dilution, assay.flip)
    chances = kernels.Chances(*map(float, rates))
    rounds = partial(kernels.rounds, kernels.links(design), chances, setting)
    seeds = np.array_split(rng.integers(2**31, size=trials), min(trials, PIECES))
    with ThreadPoolExecutor() as threads:
        mean = np.concatenate(list(threads.map(rounds, seeds))).mean(axis=0)
    return SimulatedDesign(
        name=name,
        pools=len(design),
        weight=int(design.sum(axis=0).max()),
        largest_pool=int(design.sum(axis=1).max()),
        transfers=int(design.sum()),
        flip=flip,
        epsilon=inf if privacy is None else float(privacy.epsilon),
        delta=0.0 if privacy is None else float(privacy.delta),
        false_positives=float(mean[kernels.FALSE_POSITIVES]),
        false_negatives=float(mean[kernels.FALSE_NEGATIVES]),
        exact=float(mean[kernels.RIGHT]),
        retests=float(mean[kernels.DOUBTFUL]),
        errors_after_retests=float(mean[kernels.UNSEEN]),
    )
