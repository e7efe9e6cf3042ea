"""What is claimed before the first sample is taken, and which designs it makes worth trying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log, log2

import numpy as np

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.pooling import designs
from dpselect.pooling.assay import Assay
from dpselect.pooling.designs import Design
from dpselect.pooling.kautz_singleton import kautz_singleton

SPANS = (1.0, 1.5, 2.0, 3.0)
"""Numbers of pools to try, in units of what the best possible code would need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The public claims that a plan is made for, already checked.

    Attributes:
        n: People.
        positives: How many, exactly; ``None`` if each is positive on their own.
        prevalence: The share of positives, or the chance of each.
        assay: How often tests are right.
        epsilon: Of what the lab reports, in nats; ``None`` if the lab is trusted.
        delta: Beside it.
        neighbours: The relation of both.
        cap: The most samples in a pool.
    """

    n: int
    positives: int | None
    prevalence: float
    assay: Assay
    epsilon: float | None
    delta: float
    neighbours: Neighbours
    cap: int


def asked(
    *,
    n: int,
    prevalence: float | None,
    d: int | None,
    max_pool_size: int | None,
    assay: Assay | None,
    epsilon: float | None,
    delta: float,
    neighbours: Neighbours,
) -> Question:
    """Return the question that the arguments of a plan ask.

    Raises:
        ParameterError: An argument is out of range.
        NeighboursError: ``neighbours`` is no relation.
    """
    n = _validate.at_least("n", n, 2)
    positives, share = _positives(n, prevalence, d)
    if epsilon is not None:
        epsilon = _validate.positive("epsilon", epsilon)
    if _validate.within("delta", delta, 0, 1) == 1:
        raise ParameterError("delta must be below 1")
    if epsilon is None and delta > 0:
        raise ParameterError("delta goes with epsilon: give both, or neither")
    cap = n if max_pool_size is None else _validate.at_least("max_pool_size", max_pool_size, 1)
    return Question(
        n=n,
        positives=positives,
        prevalence=share,
        assay=Assay() if assay is None else _validate.instance("assay", assay, Assay),
        epsilon=epsilon,
        delta=float(delta),
        neighbours=_validate.neighbours(neighbours),
        cap=cap,
    )


def _positives(n: int, prevalence: float | None, d: int | None) -> tuple[int | None, float]:
    if (prevalence is None) == (d is None):
        raise ParameterError("give prevalence or d: one of the two says how many are positive")
    if d is not None:
        if _validate.at_least("d", d, 1) > n // 2:
            raise ParameterError(f"d must be at most n // 2 = {n // 2}: else test one by one")
        return int(d), d / n
    share = _validate.within("prevalence", prevalence, 0, 0.5)
    if share in {0, 0.5}:
        raise ParameterError("prevalence must be above 0 and below 1/2")
    return None, share


def pool_counts(question: Question, pools: Sequence[int] | None) -> list[int]:
    """Return the numbers of pools to try, those given or some multiples of what is needed."""
    if pools is not None:
        return sorted({_validate.at_least("pools", count, 1) for count in pools})
    p = question.prevalence
    least = question.n * -(p * log2(p) + (1 - p) * log2(1 - p))
    counts = {min(question.n, max(1, ceil(span * least))) for span in SPANS}
    return sorted(counts)


def designs_to_try(
    question: Question, counts: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[str, Design]]:
    """Yield names and designs, those with a pool above the cap included."""
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
