"""Published bounds on the delta of subset retrieval, under ``SWAP``.

All are for outputs that miss and add at most β people each, except with probability
``failure``. They depend on public numbers alone.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278.
"""

from __future__ import annotations

from math import exp

from dpselect.extend import validation


def theorem_1_upper(n: int, d: int, beta: int) -> float:
    """Return Theorem 1's ``δ = (d-β)(n-d-β)/(d(n-d))`` of Algorithm A1.

    It holds for ``scheme="ball"``, though it is not tight, and not for the sphere of the paper,
    exactly ``beta`` swaps.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: Swaps that are allowed for, 0 to ``min(d, n - d)``.

    Raises:
        ParameterError: An argument is out of range; so for all functions of this module.
    """
    _check(n, d, beta)
    return (d - beta) * (n - d - beta) / (d * (n - d))


def theorem_1_lower(
    n: int, d: int, beta: int, *, epsilon: float, failure: float = 0.0
) -> float:
    """Return a δ that no scheme can be below; never above the optimum.

    Draw a member i and a stranger j of a random subset. The output holds i and not j with
    probability at least ``(1-f)(d-β)(n-d-β)/(d(n-d))``; had they been exchanged before, with at
    most ``(1-f)β^2/(d(n-d)) + f``. So

        δ ≥ (1-f) ((d-β)(n-d-β) - e^ε β^2)/(d(n-d)) - e^ε f.

    At ``ε = f = 0`` it is Theorem 1's bound; for others it is ours. It holds for outputs of
    any size; ``docs/report`` has the proof.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: Errors that are allowed for, 0 to ``min(d, n - d)``.
        epsilon: In nats, >= 0.
        failure: Probability of more errors, in [0, 1).
    """
    upper = theorem_1_upper(n, d, beta)
    exchanged = beta**2 / (d * (n - d))
    bound = (1 - failure) * (upper - exp(epsilon) * exchanged) - exp(epsilon) * failure
    return max(0.0, bound)


def theorem_2_upper(n: int, d: int, beta: int) -> float:
    """Return Theorem 2's ``δ = 1 - (β - 1)/(n - d)`` of Algorithm A2.

    It is true of A2 if and only if ``n ≥ β d``, which the printed condition ``2 d β^2 < n``
    implies, and then not tight: ``scheme="union"`` has ``1 - β/n``.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: People drawn, 1 to ``n - d``.
    """
    _check_sizes(n, d)
    validation.at_least("beta", beta, 1, n - d)
    return 1 - (beta - 1) / (n - d)


def theorem_2_lower(n: int, d: int, beta: int, *, epsilon: float) -> float:
    """Return Theorem 2's ``δ ≥ 1 - β/(n-d) - (e^ε - 1)``.

    It is for schemes that add at most ``beta`` people drawn independently of the subset, with
    ``d + β < n``. ``scheme="union"`` is never below it.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: People drawn, at most; 0 to ``n - d - 1``.
        epsilon: In nats, >= 0.
    """
    _check_sizes(n, d)
    validation.at_least("beta", beta, 0, n - d - 1)
    return max(0.0, 1 - beta / (n - d) - (exp(epsilon) - 1))


def _check_sizes(n: int, d: int) -> None:
    # Else there are no neighbours.
    validation.at_least("d", d, 1, validation.at_least("n", n, 2) - 1)


def _check(n: int, d: int, beta: int) -> None:
    _check_sizes(n, d)
    validation.at_least("beta", beta, 0, min(d, n - d))
