"""Public claims that designs are compared for, and the designs to simulate for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log, log2

import numpy as np

from dpselect import _validate
from dpselect.errors import ParameterError
from dpselect.pooling import designs
from dpselect.pooling.assay import Assay
from dpselect.pooling.designs import Design
from dpselect.pooling.kautz_singleton import kautz_singleton
from dpselect.pooling.outcome_privacy import OutcomePrivacy

SPANS = (1.0, 1.5, 2.0, 3.0)
"""Numbers of pools to simulate, in units of the information-theoretic lower bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The public claims that designs are compared for, already checked.

    Attributes:
        n: Number of people.
        positives: How many are positive, exactly; ``None`` if each is independently.
        prevalence: The share of positives, or the probability of each.
        assay: Error probabilities of the tests.
        privacy: The guarantee of the outcomes; ``None`` if the lab is trusted.
        cap: The largest number of samples in a pool.
    """

    n: int
    positives: int | None
    prevalence: float
    assay: Assay
    privacy: OutcomePrivacy | None
    cap: int


def checked_claims(
    *,
    n: int,
    prevalence: float | None,
    d: int | None,
    max_pool_size: int | None,
    assay: Assay | None,
    privacy: OutcomePrivacy | None,
) -> Claims:
    """Return the claims, or refuse what is out of range.

    Raises:
        ParameterError: An argument is out of range.
    """
    n = _validate.at_least("n", n, 2)
    positives, share = _positives(n, prevalence, d)
    cap = n if max_pool_size is None else _validate.at_least("max_pool_size", max_pool_size, 1)
    if privacy is not None:
        _validate.instance("privacy", privacy, OutcomePrivacy)
    return Claims(
        n=n,
        positives=positives,
        prevalence=share,
        assay=Assay() if assay is None else _validate.instance("assay", assay, Assay),
        privacy=privacy,
        cap=cap,
    )


def _positives(n: int, prevalence: float | None, d: int | None) -> tuple[int | None, float]:
    if (prevalence is None) == (d is None):
        raise ParameterError("give prevalence or d, one of the two")
    if d is not None:
        if _validate.at_least("d", d, 1) > n // 2:
            raise ParameterError(f"d must be at most n // 2 = {n // 2}: else test one by one")
        return int(d), d / n
    share = _validate.within("prevalence", prevalence, 0, 0.5)
    if share in {0, 0.5}:
        raise ParameterError("prevalence must be above 0 and below 1/2")
    return None, share


def pool_counts(claims: Claims, pools: Sequence[int] | None) -> list[int]:
    """Return the numbers of pools to simulate: those given, or multiples of a lower bound."""
    if pools is not None:
        return sorted({_validate.at_least("pools", count, 1) for count in pools})
    p = claims.prevalence
    least = claims.n * -(p * log2(p) + (1 - p) * log2(1 - p))
    counts = {min(claims.n, max(1, ceil(span * least))) for span in SPANS}
    return sorted(counts)


def candidate_designs(
    claims: Claims, counts: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[str, Design]]:
    """Yield names and designs, those with a pool above the cap included."""
    n, k = claims.n, max(1.0, claims.n * claims.prevalence)
    yield "one by one", np.eye(n, dtype=np.bool_)
    for size in sorted({2, 4, 8, max(2, round(claims.prevalence**-0.5))}):
        yield f"Dorfman, pools of {size}", designs.dorfman(n, pool_size=min(size, n))
    side = min(max(2, round(claims.prevalence ** (-2 / 3))), ceil(n**0.5), claims.cap)
    yield f"array {side} x {side}", designs.array_2d(n, rows=side, columns=side)
    if claims.positives is not None:
        certain = kautz_singleton(n, d=claims.positives)
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
        fits = max(1, min(best, claims.cap * count // n))
        for weight in sorted({min(w, fits) for w in (1, 2, 3, fits)}):
            balanced = designs.doubly_balanced(n, count, weight=weight, rng=rng)
            yield f"doubly balanced, weight {weight}", balanced
