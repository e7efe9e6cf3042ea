r"""Proved upper and lower bounds on the delta of subset retrieval, under ``SWAP``.

All are for outputs that miss and add at most :math:`\beta` people each, except with
probability ``failure``. They depend on public numbers alone.

Source: Gonen, Langberg and Sprintson 2025, arXiv:2501.13278.
"""

from __future__ import annotations

from math import exp

from dpselect.errors import ParameterError
from dpselect.subsets import Subset


def theorem_1_upper(n: int, d: int, beta: int) -> float:
    r"""Return Theorem 1's :math:`\delta = (d-\beta)(n-d-\beta)/(d(n-d))` of Algorithm A1.

    It holds for the ball, though it is not tight, and not for the sphere that the paper
    states (see :func:`sphere_delta`).

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
    n: int, d: int, beta: int, *, epsilon: float = 0.0, failure: float = 0.0
) -> float:
    r"""Return a :math:`\delta` that no scheme can be below; never above the optimum.

    Draw a member i and a stranger j of a random subset. The output holds i and not j with
    probability at least :math:`(1-f)(d-\beta)(n-d-\beta)/(d(n-d))`; had they been exchanged
    before, with at most :math:`(1-f)\beta^2/(d(n-d)) + f`. So

    .. math:: \delta \ge (1-f)\frac{(d-\beta)(n-d-\beta) - e^\varepsilon\beta^2}{d(n-d)}
        - e^\varepsilon f.

    At :math:`\varepsilon = f = 0` this is Theorem 1's bound; for others it is ours. It holds
    for outputs of any size; ``docs/subsets.md`` has the proof.

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
    r"""Return :math:`1 - \beta/n`, the exact :math:`\delta` of Algorithm A2 at any epsilon.

    No scheme that adds at most ``beta`` people drawn independently of the subset is below it:
    some person is drawn with probability at most :math:`\beta/n`, and an output without them
    is impossible once they are a member. A scheme that knows the members draws from the
    strangers alone and has :math:`1 - \beta/(n-d)`, the least of all schemes that never miss
    a member, for the same reason.

    Theorem 2 prints :math:`1 - (\beta - 1)/(n - d)`, which is true of A2 if and only if
    :math:`n \ge \beta d`.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: People drawn, 0 to ``n``.
    """
    _check_sizes(n, d)
    return Subset(n=n, d=d, beta=beta, epsilon=0, scheme="union").delta_at()


def theorem_2_lower(n: int, d: int, beta: int, *, epsilon: float) -> float:
    r"""Return Theorem 2's :math:`\delta \ge 1 - \beta/(n-d) - (e^\varepsilon - 1)`.

    It is for schemes that add at most ``beta`` people drawn independently of the subset, with
    :math:`d + \beta < n`. :func:`theorem_2_upper` is never below it.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        beta: People drawn, at most; 0 to ``n - d - 1``.
        epsilon: In nats, >= 0.
    """
    _check_sizes(n, d)
    if not 0 <= beta < n - d:
        raise ParameterError(
            f"`beta` must be between 0 and n - d - 1 = {n - d - 1}, got {beta}"
        )
    return max(0.0, 1 - beta / (n - d) - (exp(epsilon) - 1))


def sphere_delta(n: int, d: int, beta: int) -> float:
    r"""Return :math:`\delta` of Algorithm A1 as the paper states it: exactly ``beta`` swaps.

    :math:`((d-\beta)(n-d-\beta) + \beta^2)/(d(n-d))` at any epsilon, above Theorem 1's.
    """
    _check(n, d, beta)
    return min(1.0, theorem_1_upper(n, d, beta) + beta**2 / (d * (n - d)))


def _check_sizes(n: int, d: int) -> None:
    if not 0 < d < n:
        raise ParameterError("`d` must be between 1 and n - 1: else there are no neighbours")


def _check(n: int, d: int, beta: int) -> None:
    _check_sizes(n, d)
    most = min(d, n - d)
    if not 0 <= beta <= most:
        raise ParameterError(f"`beta` must be between 0 and {most}, got {beta}")
