"""Exact privacy losses of the samplers, given the private inputs from two databases.

=====================  ====================================================================
sampler                loss, for private inputs ``x`` and ``y``
=====================  ====================================================================
noisy maxima           ``(ε/k) ∑ (max d - min d)/(2Δ)`` over the rounds, with ``d`` the
                       difference of the scores on the grid of the candidates that are left
``discrete_laplace``   ``‖x - y‖_1 / scale``
``discrete_gaussian``  ``ρ = ‖x - y‖_2^2 / 2 scale^2``, which is converted to a delta; from
                       a scale of ``FINE`` on the delta of normal noise
``token``              none
``reveal``             ``δ(ε)``, from the exact distributions of both
``flipped``            ``ln((1-ρ)/ρ)`` for each bit that differs
``first_above``        ``ln P_x(o)/P_y(o)`` at the output ``o`` that was drawn
``..._of_each``        the sum over the rows, each as by itself
``draw_cut``           the same
``draw_with_own``      the same
others                 ``δ(ε)``, from the exact distributions of both
=====================  ====================================================================

A noisy maximum depends on the scores up to a common translation, which is why half the
spread counts: two equal shifts of all scores are no loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from math import comb, fsum, inf, log
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.draws import Draw, Exponential, LaplaceNoisyMax, PermuteAndFlip
from dpselect.extend import (
    BITS,
    LOSSES,
    SENSITIVITY,
    DistanceDistribution,
    Indices,
    Loss,
    Values,
    above_threshold,
    rho_of_pure,
    secret,
    to_grid,
)
from dpselect_conformance.releases.losses import Public, log_binomial, loss_between

FINE = 2.0**20
"""Scale of discrete Gaussian noise whose deltas are those of normal noise, up to 2^-30."""

LossFunction: TypeAlias = Callable[[Any, Any, Public, Any], Loss | None]
"""Called with both private inputs, the public arguments and the output; None if a public
part of the inputs, such as their number, differs."""


def noisy_maximum(
    draw: Draw, here: Values, there: Values, public: Public, chosen: list[int]
) -> Loss:
    """Return the loss of ``k`` rounds of a noisy maximum."""
    moved = to_grid(np.asarray(here)) - to_grid(np.asarray(there))
    left = np.ones(moved.size, dtype=np.bool_)
    each = []
    for position in chosen:
        spread = int(np.ptp(moved[left]))
        each.append(public["epsilon"] / public["k"] * spread / (2 * SENSITIVITY))
        left[position] = False
    return Loss(fsum(each), zcdp=fsum(draw.rho(one) for one in each if one))


def largest_of_each(here: Values, there: Values, public: Public, _: Indices) -> Loss:
    """Return the loss of one round of a noisy maximum in each row."""
    moved = to_grid(np.asarray(here)) - to_grid(np.asarray(there))
    return Loss(public["epsilon"] * int(np.ptp(moved, axis=1).sum()) / (2 * SENSITIVITY))


def discrete_laplace(here: Indices, there: Indices, public: Public, _: Indices) -> Loss:
    """Return the loss of independent noise on counts."""
    moved = np.asarray(here).astype(object) - np.asarray(there).astype(object)
    each = np.abs(moved[moved != 0]) / public["scale"]
    return Loss(
        int(np.abs(moved).sum()) / public["scale"],
        zcdp=fsum(rho_of_pure(float(one)) for one in each),
    )


def discrete_gaussian(here: Indices, there: Indices, public: Public, _: Indices) -> Loss:
    """Return the loss of independent Gaussian noise on counts."""
    moved = np.asarray(here).astype(object) - np.asarray(there).astype(object)
    rho = int((moved**2).sum()) / (2 * public["scale"] ** 2)
    return Loss(0.0, normal=rho) if public["scale"] >= FINE else Loss(0.0, rho=rho)


def reveal(
    here: tuple[int, int], there: tuple[int, int], public: Public, _: int | None
) -> Loss:
    """Return the loss of revealing one of two positions, or the same one, or none."""
    chances = public["chances"]
    distributions = []
    for position, lead in (here, there):
        chance = chances[min(lead, chances.sure)] / 2**BITS
        distributions.append({position: chance, None: 1 - chance})
    outputs = list(distributions[0] | distributions[1])
    logs = [
        np.array([log(distribution[one]) if distribution.get(one) else -inf for one in outputs])
        for distribution in distributions
    ]
    return loss_between(np.zeros(len(outputs)), *logs)


def token(here: int, there: int, _: Public, __: bytes) -> Loss | None:
    """Return no loss, for random bytes whose number is public."""
    return Loss(0.0) if here == there else None


def first_above(here: Indices, there: Indices, public: Public, found: list[int]) -> Loss:
    """Return the loss of AboveThreshold, at the positions that were drawn."""
    logs = [
        above_threshold.log_probability(np.asarray(queries), **public, found=found)
        for queries in (here, there)
    ]
    return Loss(0.0, drawn=logs[0] - logs[1])


def first_above_of_each(
    here: above_threshold.Runs, there: above_threshold.Runs, public: Public, found: Indices
) -> Loss:
    """Return the loss of AboveThreshold in each row, at the positions that were drawn."""
    begins, ends, rows = here.begin.tolist(), here.end.tolist(), np.asarray(found).tolist()
    pairs = zip(np.asarray(here), np.asarray(there), begins, ends, rows, strict=True)
    each = [
        first_above(
            a[begin:end],
            b[begin:end],
            {**public, "stops": 1},
            [one - begin] if one < end else [],
        )
        for a, b, begin, end, one in pairs
        if not np.array_equal(a, b)
    ]
    return Loss(0.0, drawn=fsum(one.drawn for one in each))


def flipped(here: list[bool], there: list[bool], public: Public, _: list[bool]) -> Loss:
    """Return the loss of independent flips."""
    differ = sum(bool(a) != bool(b) for a, b in zip(here, there, strict=True))
    chance = Fraction(public["chance"])
    if differ == 0:
        return Loss(0.0)
    over, under = chance.numerator, chance.denominator - chance.numerator
    each = abs(log(under) - log(over)) if over and under else inf
    return Loss(differ * each, zcdp=differ * rho_of_pure(each))


def select(here: Indices, there: Indices, public: Public, _: NDArray[np.bool_]) -> Loss:
    """Return the loss of selections with a probability that depends on a count."""
    chances = public["chances"]
    pairs = Counter(
        (chances[min(a, chances.sure)], chances[min(b, chances.sure)])
        for a, b in zip(np.asarray(here).tolist(), np.asarray(there).tolist(), strict=True)
    )
    kinds = [np.zeros(1)] * 3
    for (p, q), number in pairs.items():
        if p != q:
            up = np.arange(number + 1)
            more = [log_binomial(number, up), *(_log_tosses(up, number, one) for one in (p, q))]
            kinds = [np.add.outer(a, b).ravel() for a, b in zip(kinds, more, strict=True)]
    return loss_between(*kinds)


def _log_tosses(up: Indices, number: int, chance: int) -> Values:
    """Return the log probability of some of several tosses, by how many come up."""
    rest = (1 << BITS) - chance
    logs = [log(one) - BITS * log(2) if one else -inf for one in (chance, rest)]
    with np.errstate(invalid="ignore"):
        both = [n * one for n, one in zip((up, number - up), logs, strict=True)]
    return np.nan_to_num(both, nan=0.0, neginf=-inf).sum(axis=0)


def swapped(here: list[int], there: list[int], public: Public, _: list[int]) -> Loss:
    """Return the loss of a retrieval; the number of members may differ."""
    distribution: DistanceDistribution = public["distribution"]
    common, only_here, only_there = _parts(here, there)
    rest = distribution.n - common - only_here - only_there
    a, b, c = np.indices((common + 1, only_here + 1, only_there + 1)).reshape(3, -1)
    others = distribution.d - a - b - c
    possible = (others >= 0) & (others <= rest)
    a, b, c, others = (part[possible] for part in (a, b, c, others))
    outputs = log_binomial(common, a) + log_binomial(only_here, b)
    outputs += log_binomial(only_there, c) + log_binomial(rest, others)
    return loss_between(
        outputs,
        _logs_of_swaps(len(here), distribution)[a + b],
        _logs_of_swaps(len(there), distribution)[a + c],
    )


def joined(here: list[int], there: list[int], public: Public, _: list[int]) -> Loss:
    """Return the loss of members hidden among ``beta`` uniform people."""
    n, beta = public["n"], public["beta"]
    common, only_here, only_there = _parts(here, there)
    union = common + only_here + only_there
    more = np.arange(n - union + 1)
    logs = [
        log_binomial(size, beta - (union + more - size)) - log(comb(n, beta))
        for size in (len(here), len(there))
    ]
    outputs = log_binomial(n - union, more)
    both = [outputs, *logs]
    # Outputs that miss somebody who is a member of one database alone.
    for side, missing in enumerate((only_there, only_here)):
        mass = 1 - fsum(np.exp(outputs + logs[side]))
        if missing and mass > 0:
            lost = [0.0, -inf, -inf]
            lost[1 + side] = log(mass)
            both = [np.append(logs_, one) for logs_, one in zip(both, lost, strict=True)]
    return loss_between(*both)


def _logs_of_swaps(members: int, distribution: DistanceDistribution) -> Values:
    """Return the log probability of an output, by how many members are in it.

    Given an output with ``i`` members, the subset that was brought to size ``d`` has a
    hypergeometric number of people in common with it.
    """
    weights = distribution.log_weights()
    logs = np.full(min(members, distribution.d) + 1, -inf)
    for i in range(logs.size):
        if members >= distribution.d:
            shared = np.arange(i + 1)
            chance = log_binomial(i, shared) + log_binomial(
                members - i, distribution.d - shared
            )
            chance -= log_binomial(members, np.array(distribution.d))
        else:
            added = np.arange(distribution.d - i + 1)
            outside, more = distribution.n - members, distribution.d - members
            chance = log_binomial(distribution.d - i, added)
            chance = chance + log_binomial(outside - (distribution.d - i), more - added)
            chance -= log_binomial(outside, np.array(more))
            shared = i + added
        distance = distribution.d - shared
        reachable = (chance > -inf) & (distance < weights.size)
        if reachable.any():
            logs[i] = np.logaddexp.reduce(chance[reachable] + weights[distance[reachable]])
    return logs


def _parts(here: list[int], there: list[int]) -> tuple[int, int, int]:
    """Return how many members two databases share, and how many each has alone."""
    one, other = set(here), set(there)
    return len(one & other), len(one - other), len(other - one)


_OF_DRAWS: Mapping[str, LossFunction] = {
    "exact.selection.top_k_exponential_noise": partial(noisy_maximum, PermuteAndFlip()),
    "exact.selection.top_k_gumbel_noise": partial(noisy_maximum, Exponential()),
    "exact.selection.top_k_laplace_noise": partial(noisy_maximum, LaplaceNoisyMax()),
    "exact.selection.largest_of_each": largest_of_each,
    "exact.noisy_counts.discrete_laplace": discrete_laplace,
    "exact.noisy_counts.discrete_gaussian": discrete_gaussian,
    "exact.bernoulli.select": select,
    "exact.bernoulli.reveal": reveal,
    "exact.bernoulli.flipped": flipped,
    "exact.uniform.token": token,
    "above_threshold.first_above": first_above,
    "above_threshold.first_above_of_each": first_above_of_each,
    "subset_distance.swapped": swapped,
    "subset_distance.joined": joined,
    # Without a private input: their output protects only while it is secret.
    "subset_distance.draw_distance": secret,
    "exact.uniform.positions": secret,
    "exact.uniform.sample": secret,
}
RULES: Mapping[str, LossFunction] = {
    f"dpselect.draws.{name}": loss for name, loss in _OF_DRAWS.items()
}
"""The losses of the samplers of ``dpselect``, by name; others have registered theirs."""


def rule_of(name: str) -> LossFunction | None:
    """Return the loss of a sampler, or ``secret``; None if it is not known."""
    return RULES.get(name) or LOSSES.get(name)


def loss_of(
    loss: LossFunction, here: Mapping[str, Any], there: Mapping[str, Any], output: object
) -> Loss | None:
    """Return the loss of a draw of a sampler, which has its private input first.

    Args:
        loss: That of the sampler.
        here: Its arguments by name, on one database.
        there: The same on the other; with equal public ones.
        output: What it drew.

    Returns:
        None if the inputs are of different sizes, where the size is public.
    """
    private = next(iter(here))
    one, other = here[private], there[private]
    sized = isinstance(one, np.ndarray | list) and loss not in {swapped, joined}
    if sized and np.shape(one) != np.shape(other):
        return None
    return loss(one, other, {key: here[key] for key in here if key != private}, output)
