r"""Choice between k rounds and one noisy sequence, by public facts alone.

Rounds divide epsilon by ``k``, a noisy sequence makes its noise for :math:`l_1`. Which of them
finds the right ``k`` more easily is computed for the number of candidates: on the scores that
are hardest for a given lead, where ``k`` candidates are ahead of all others by the same lead,
and for continuous noise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpselect.mechanisms.base import Mechanism, checked_k
from dpselect.mechanisms.catalogue import ExponentialMechanism, PermuteAndFlip
from dpselect.mechanisms.sequence import NoisySequence
from dpselect.objective import Objective
from dpselect.typing import Values

RIGHT = 0.95
"""Probability that the ``k`` drawn are the right ones, at which the leads are compared."""

POINTS = 4096
END = 80.0
"""Of the noise, in units of its scale: e^-80 at either side."""


def rounds_or_sequence(
    mechanism: Mechanism,
    objective: Objective,
    k: int,
    *,
    sequence: NoisySequence | None = None,
) -> Mechanism | NoisySequence:
    """Return the mechanism, or a noisy sequence of its epsilon if that resolves more.

    A noisy sequence is taken if, at the smallest lead of ``k`` candidates at which it releases
    these ``k`` with probability 0.95, rounds of the mechanism do so with a smaller one.

    Args:
        mechanism: ``PermuteAndFlip`` or ``ExponentialMechanism``; any other is returned.
        objective: Only public facts of it are read: the number of candidates, the bound,
            ``l1``, ``step`` and whether it is monotone. Without ``l1`` the mechanism is
            returned.
        k: How many candidates will be drawn.
        sequence: The sequence to compare with, where it has another epsilon or ``l1`` than
            the rounds: one of all groups, of which the rounds draw in one.
    """
    if not isinstance(mechanism, PermuteAndFlip | ExponentialMechanism):
        return mechanism
    if objective.sensitivity.l1 is None:
        return mechanism
    if sequence is None:
        sequence = NoisySequence(epsilon=mechanism.epsilon).for_objective(objective)
    others = len(objective) - checked_k(k, objective)
    if others == 0:
        return sequence
    factor = 1 if objective.monotone else 2
    scale = factor * k * objective.sensitivity.bound / mechanism.epsilon
    ours = sequence.stated_l1 / sequence.epsilon
    lead = _least_lead(k, others) * ours
    noise = _exponential if isinstance(mechanism, PermuteAndFlip) else _gumbel
    return mechanism if _by_rounds(noise, k, others, lead / scale) >= RIGHT else sequence


def _least_lead(k: int, others: int) -> float:
    """Return the lead, in scales of Laplace noise, with which the right ``k`` are first."""
    low, high = 0.0, 4 * END
    for _ in range(50):
        middle = (low + high) / 2
        if _at_once(k, others, middle) < RIGHT:
            low = middle
        else:
            high = middle
    return high


def _at_once(k: int, others: int, lead: float) -> float:
    """Return the probability that ``k`` with a lead are before all others, noise added once."""
    x = _points()
    best = np.diff(np.exp(others * _laplace(x)))
    middle = (x[1:] + x[:-1]) / 2
    return float(best @ np.exp(k * _laplace(lead - middle)))


def _by_rounds(noise: Callable[[Values], Values], k: int, others: int, lead: float) -> float:
    """Return the probability that each of ``k`` rounds draws one of those with a lead."""
    x = _points()
    best = np.diff(np.exp(others * noise(x)))
    behind = noise((x[1:] + x[:-1]) / 2 - lead)
    log_right = 0.0
    for left in range(k, 0, -1):
        wrong = float(best @ np.exp(left * behind))
        if wrong >= 1:
            return 0.0
        log_right += np.log1p(-wrong)
    return float(np.exp(log_right))


def _points() -> Values:
    return np.linspace(-END, END, POINTS + 1)


def _laplace(x: Values) -> Values:
    """Return the log of the distribution function."""
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, x - np.log(2), np.log1p(-tail))


def _exponential(x: Values) -> Values:
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(-np.maximum(x, 0.0)))


def _gumbel(x: Values) -> Values:
    return -np.exp(-x)
