"""Which design, and how many tests? Every admissible one simulated, side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import ceil, log, log2
from typing import TYPE_CHECKING

import numpy as np

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.pooling import designs, lab
from dpselect.pooling.assay import Assay
from dpselect.pooling.designs import Design
from dpselect.pooling.kautz_singleton import kautz_singleton

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.typing import Values

DOUBT = 0.05
"""Whose posterior is between this and 1 minus this is on the retest list."""

MARKERS = "os^v"
"""The next one when the ten colours are used up."""

SPANS = (1.0, 1.5, 2.0, 3.0)
"""Numbers of pools to try, in units of what the best possible code would need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One design, as simulated; public.

    Attributes:
        design: Its name.
        pools: Pooled tests.
        weight: The most pools that a sample is in.
        largest_pool: The most samples that are in a pool.
        flip: Chance with which each outcome is flipped for privacy; 0 without.
        epsilon: What the lab's view is private for, in nats; infinite without flips.
        delta: Beside it.
        false_positives: Expected, of the decoder's answer.
        false_negatives: Expected, of the decoder's answer.
        exact: P[everybody's answer is right].
        retests: Expected people left in doubt, to be tested one by one.
        errors_after_retests: Expected wrong answers about everybody else; what remains
            when retests are right.
    """

    design: str
    pools: int
    weight: int
    largest_pool: int
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolingPlan:
    """All admissible designs: fewest errors after retests first, then fewest tests in all.

    Attributes:
        n: People.
        neighbours: What one individual is, in every epsilon.
        options: One for each design.
    """

    n: int
    neighbours: Neighbours
    options: tuple[Option, ...]

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw expected errors against tests per person, one series for each design."""
        if axes is None:
            from matplotlib.figure import Figure

            axes = Figure(layout="constrained").add_subplot()
        names = sorted({option.design for option in self.options})
        for number, name in enumerate(names):
            of_name = [option for option in self.options if option.design == name]
            of_name.sort(key=lambda option: option.pools)
            errors = [o.false_positives + o.false_negatives for o in of_name]
            axes.plot(
                [o.pools / self.n for o in of_name],
                errors,
                f"{MARKERS[number // 10 % 4]}-",
                label=name,
            )
        axes.set_xlabel("pooled tests per person")
        axes.set_ylabel("expected wrong answers before retests")
        axes.set_yscale("symlog", linthresh=0.01)
        axes.legend(fontsize="small")
        return axes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    n: int
    positives: int | None
    prevalence: float
    assay: Assay
    epsilon: float | None
    delta: float
    neighbours: Neighbours
    cap: int


def plan(  # noqa: PLR0913 -- each argument is one public claim
    *,
    n: int,
    prevalence: float | None = None,
    d: int | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    neighbours: Neighbours = Neighbours.SUBSTITUTE,
    max_pool_size: int | None = None,
    assay: Assay | None = None,
    pools: Sequence[int] | None = None,
    trials: int = 200,
    rng: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> PoolingPlan:
    """Simulate every design that fits, with its decoder; reads no sample.

    Without noise SCOMP decodes, and who is possible but not definite is in doubt. With an
    assay that errs or with flips belief propagation decodes, and who is within 0.05 to 0.95
    is in doubt.

    Args:
        n: People, at least 2.
        prevalence: P[positive], each on their own, in (0, 1/2); or give ``d``.
        d: Positives, exactly, 1 to ``n // 2``.
        epsilon: Flip outcomes so that what the lab reports is private for it; ``None`` if
            the lab is trusted.
        delta: Beside epsilon, [0, 1).
        neighbours: ``SUBSTITUTE``, one status changed, or ``SWAP``.
        max_pool_size: What the assay allows.
        assay: How often tests are right; always, if not given.
        pools: Numbers of pools to try; some multiples of what is needed at least, if not
            given.
        trials: Rounds to simulate for each design.
        rng: The generator, for designs and rounds.
        progress: Called after each design with the number done and the number of all.

    Raises:
        ParameterError: An argument is out of range, or no design fits.
    """
    question = _question(n, prevalence, d, assay, max_pool_size)
    question = replace(question, epsilon=epsilon, delta=delta, neighbours=neighbours)
    if epsilon is not None:
        _validate.positive("epsilon", epsilon)
    trials = _validate.at_least("trials", trials, 1)
    _validate.instance("rng", rng, np.random.Generator)
    found = [
        (name, design)
        for name, design in _designs(question, _pool_counts(question, pools), rng)
        if design.sum(axis=1).max() <= question.cap
    ]
    if not found:
        raise ParameterError("no design fits: allow larger pools or more of them")
    options = []
    for done, (name, design) in enumerate(found, start=1):
        options.append(simulate_design(name, design, question, trials=trials, rng=rng))
        if progress is not None:
            progress(done, len(found))
    options.sort(key=lambda option: (round(option.errors_after_retests, 1), option.tests))
    return PoolingPlan(n=question.n, neighbours=neighbours, options=tuple(options))


def simulate_design(
    name: str, design: Design, question: _Question, *, trials: int, rng: np.random.Generator
) -> Option:
    """Return what a design does, from rounds shared out among the processors."""
    from dpselect.pooling.kernels import Limits, links
    from dpselect.pooling.trial_kernels import (
        DOUBTFUL,
        FALSE_NEGATIVES,
        FALSE_POSITIVES,
        RIGHT,
        UNSEEN,
        Chances,
        Setting,
        rounds,
    )

    flip = _flip(design, question)
    assay = replace(question.assay, flip=flip)
    chances = Chances(
        float(assay.sensitivity), float(assay.specificity), float(assay.dilution), flip
    )
    setting = Setting(
        -1 if question.positives is None else question.positives,
        question.prevalence,
        not assay.perfect,
        DOUBT,
        Limits(60, 0.3, 1e-4),
    )
    linked = links(design)
    parts = np.array_split(rng.integers(2**31, size=trials), min(trials, _processors()))
    with ThreadPoolExecutor(len(parts)) as pool:
        seen: Values = np.vstack(
            list(pool.map(lambda seeds: rounds(linked, chances, setting, seeds), parts))
        )
    mean = seen.mean(axis=0)
    return Option(
        design=name,
        pools=len(design),
        weight=int(design.sum(axis=0).max()),
        largest_pool=int(design.sum(axis=1).max()),
        flip=flip,
        epsilon=float("inf") if question.epsilon is None else question.epsilon,
        delta=0.0 if question.epsilon is None else question.delta,
        false_positives=float(mean[FALSE_POSITIVES]),
        false_negatives=float(mean[FALSE_NEGATIVES]),
        exact=float(mean[RIGHT]),
        retests=float(mean[DOUBTFUL]),
        errors_after_retests=float(mean[UNSEEN]),
    )


def _question(
    n: int,
    prevalence: float | None,
    d: int | None,
    assay: Assay | None,
    max_pool_size: int | None,
) -> _Question:
    n = _validate.at_least("n", n, 2)
    if (prevalence is None) == (d is None):
        raise ParameterError("give prevalence or d: one of the two says how many are positive")
    if d is not None:
        if _validate.at_least("d", d, 1) > n // 2:
            raise ParameterError(f"d must be at most n // 2 = {n // 2}: else test one by one")
        share = d / n
    else:
        share = _validate.within("prevalence", prevalence, 0, 0.5)
        if share in {0, 0.5}:
            raise ParameterError("prevalence must be above 0 and below 1/2")
    cap = n if max_pool_size is None else _validate.at_least("max_pool_size", max_pool_size, 1)
    return _Question(
        n=n,
        positives=d,
        prevalence=share,
        assay=assay or Assay(),
        epsilon=None,
        delta=0.0,
        neighbours=Neighbours.SUBSTITUTE,
        cap=cap,
    )


def _pool_counts(question: _Question, pools: Sequence[int] | None) -> list[int]:
    if pools is not None:
        return sorted({_validate.at_least("pools", count, 1) for count in pools})
    p = question.prevalence
    least = question.n * -(p * log2(p) + (1 - p) * log2(1 - p))
    counts = {min(question.n, max(1, ceil(span * least))) for span in SPANS}
    return sorted(counts)


def _designs(
    question: _Question, counts: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[str, Design]]:
    n, k = question.n, max(1.0, question.n * question.prevalence)
    yield "one by one", np.eye(n, dtype=np.bool_)
    for size in sorted({2, 4, 8, max(2, round(question.prevalence**-0.5))}):
        yield f"Dorfman, pools of {size}", designs.dorfman(n, pool_size=min(size, n))
    side = min(max(2, round(question.prevalence ** (-2 / 3))), ceil(n**0.5), question.cap)
    yield f"array {side} x {side}", designs.array_2d(n, rows=side, columns=side)
    if question.positives is not None:
        certain = kautz_singleton(n, d=question.positives)
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
        fits = max(1, min(best, question.cap * count // n))
        for weight in sorted({min(w, fits) for w in (1, 2, 3, fits)}):
            balanced = designs.doubly_balanced(n, count, weight=weight, rng=rng)
            yield f"doubly balanced, weight {weight}", balanced


def _flip(design: Design, question: _Question) -> float:
    if question.epsilon is None:
        return 0.0
    return lab.flip_for(
        design,
        epsilon=question.epsilon,
        delta=question.delta,
        neighbours=question.neighbours,
    )


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 4
