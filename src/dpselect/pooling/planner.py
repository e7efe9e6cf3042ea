"""Which design, and how many tests? Every admissible one simulated, side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from dpselect import _validate
from dpselect.neighbours import Neighbours
from dpselect.pooling import lab
from dpselect.pooling.assay import Assay
from dpselect.pooling.belief import DOUBT
from dpselect.pooling.designs import Design
from dpselect.pooling.plans import Option, PoolingPlan
from dpselect.pooling.question import Question, asked, designs_to_try, pool_counts
from dpselect.typing import Values


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

    Testing one by one is always among them.

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
        ParameterError: An argument is out of range.
        NeighboursError: ``neighbours`` is no relation, or not one of the two beside an epsilon.
    """
    question = asked(
        n=n,
        prevalence=prevalence,
        d=d,
        max_pool_size=max_pool_size,
        assay=assay,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
    )
    trials = _validate.at_least("trials", trials, 1)
    _validate.instance("rng", rng, np.random.Generator)
    found = [
        (name, design)
        for name, design in designs_to_try(question, pool_counts(question, pools), rng)
        if design.sum(axis=1).max() <= question.cap
    ]
    options = []
    for done, (name, design) in enumerate(found, start=1):
        options.append(simulate_design(name, design, question, trials=trials, rng=rng))
        if progress is not None:
            progress(done, len(found))
    options.sort(key=lambda option: (round(option.errors_after_retests, 1), option.tests))
    return PoolingPlan(n=question.n, neighbours=neighbours, options=tuple(options))


def simulate_design(
    name: str, design: Design, question: Question, *, trials: int, rng: np.random.Generator
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


def _flip(design: Design, question: Question) -> float:
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
