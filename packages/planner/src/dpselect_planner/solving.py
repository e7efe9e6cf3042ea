"""Backwards from a probability of success: the epsilon, or the number of people, it takes."""

from __future__ import annotations

from math import exp, log
from typing import Protocol, runtime_checkable

from dpselect.errors import ParameterError
from dpselect.extend import validation
from dpselect_planner.questions import Question

LEAST_EPSILON, MOST_EPSILON = 0.001, 100.0
STEPS = 40
"""Halvings of the range of ln(epsilon): to 1e-11 of epsilon."""

MOST_PEOPLE = 2**40


@runtime_checkable
class Scalable(Protocol):
    """A question whose data are of people, and can be of more or fewer."""

    def scaled_to(self, people: float) -> Scalable:
        """Return the question for as many people."""

    def success(self, mechanism: str, *, epsilon: float) -> float:
        """Return the probability of success of a mechanism."""


def epsilon_for(question: Question, *, probability: float, mechanism: str) -> float | None:
    """Return the smallest epsilon from which on success has a given probability.

    Args:
        question: The question.
        probability: Probability of success, in (0, 1).
        mechanism: One of the question's.

    Returns:
        In nats, from 0.001 to 100, under the question's relation; None where even 100 is too
        little.
    """
    wanted = _probability(probability)

    def enough(epsilon: float) -> bool:
        return question.success(mechanism, epsilon=epsilon) >= wanted

    if not enough(MOST_EPSILON):
        return None
    if enough(LEAST_EPSILON):
        return LEAST_EPSILON
    low, high = log(LEAST_EPSILON), log(MOST_EPSILON)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(exp(middle)) else (middle, high)
    return exp(high)


def people_for(
    question: Question, *, probability: float, epsilon: float, mechanism: str
) -> int | None:
    """Return the smallest number of people, with the same shares, for a given success.

    Args:
        question: The question.
        probability: Probability of success, in (0, 1).
        epsilon: Epsilon of the release, in nats, under the question's relation.
        mechanism: One of the question's.

    Returns:
        None where the data are not of people, or where 2^40 are too few.
    """
    wanted = _probability(probability)
    epsilon = validation.positive("epsilon", epsilon)
    if not isinstance(question, Scalable):
        return None
    scaled: Scalable = question

    def enough(people: int) -> bool:
        return scaled.scaled_to(people).success(mechanism, epsilon=epsilon) >= wanted

    high = 1
    while not enough(high):
        high *= 2
        if high > MOST_PEOPLE:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def best_mechanism(question: Question, *, epsilon: float) -> str:
    """Return the mechanism with the smallest expected error; if unknown, the most success.

    Args:
        question: The question.
        epsilon: Epsilon of the release, in nats, under the question's relation.
    """
    outcomes = {name: question.outcome(name, epsilon=epsilon) for name in question.mechanisms}
    if question.unit in {"", "delta"}:
        return max(outcomes, key=lambda name: outcomes[name].success)
    return min(outcomes, key=lambda name: outcomes[name].error)


def _probability(probability: float) -> float:
    wanted = validation.within("probability", probability, 0, 1)
    if wanted in {0.0, 1.0}:
        raise ParameterError("`probability` must be above 0 and below 1")
    return wanted
