"""The privacy loss of one draw, and between two distributions of its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, inf, prod
from typing import Any, TypeAlias

import numpy as np

from dpselect.extend import Indices, Loss, Values

Public: TypeAlias = Mapping[str, Any]
"""Public arguments of a sampler, by name."""

KINDS = 2**20
"""Kinds of outputs of several draws that are taken together, at most."""


def loss_between(outputs: Values, here: Values, there: Values) -> Loss:
    """Return the loss between two distributions, by kinds of outputs.

    All outputs of one kind have the same probability, in each of the distributions.

    Args:
        outputs: Log of the number of outputs of each kind.
        here: Log of the probability of each output of that kind, for one database.
        there: The same for the other one.
    """
    possible = (here > -inf) | (there > -inf)
    outputs, here, there = outputs[possible], here[possible], there[possible]
    pure = float(np.abs(here - there).max(initial=0.0))

    def delta(epsilon: float) -> float:
        pairs = (here, there), (there, here)
        return max(_hockey_stick(outputs, *pair, epsilon) for pair in pairs)

    return Loss(pure, delta, distributions=(outputs, here, there))


def joined(losses: Sequence[Loss]) -> list[Loss]:
    """Return the losses with the independent draws of known distributions taken as one draw.

    The delta of all of them at an epsilon is exact then; deltas at parts of that epsilon add
    up to more. Draws of more than ``KINDS`` kinds of outputs together stay apart.
    """
    known = [loss for loss in losses if loss.distributions is not None]
    if (
        len(known) < 2
        or prod(len(loss.distributions[0]) for loss in known if loss.distributions) > KINDS
    ):
        return list(losses)
    kinds = [np.zeros(1)] * 3
    for loss in known:
        kinds = [
            np.add.outer(a, b).ravel()
            for a, b in zip(kinds, loss.distributions or (), strict=True)
        ]
    return [*(loss for loss in losses if loss.distributions is None), loss_between(*kinds)]


def _hockey_stick(outputs: Values, here: Values, there: Values, epsilon: float) -> float:
    above = here - there > epsilon
    outputs, here, there = outputs[above], here[above], there[above]
    return fsum(-np.exp(outputs + here) * np.expm1(epsilon + there - here))


def log_binomial(n: int, k: Indices) -> Values:
    """Return the log of binomial coefficients, minus infinity outside of the triangle."""
    from scipy.special import gammaln

    inside = (k >= 0) & (k <= n) & (n >= 0)
    at = np.where(inside, k, 0)
    # max: outside of the triangle nothing is computed from it.
    size = max(n, 0)
    logs = gammaln(size + 1.0) - gammaln(at + 1.0) - gammaln(np.maximum(size - at, 0) + 1.0)
    return np.where(inside, logs, -inf)
