"""Divergences between two exact distributions, and a check over all pairs of neighbours.

The divergences take the probabilities of the same outcomes in the same order, such as
``mechanism.probabilities(objective)`` on two neighbouring databases. Outcomes of probability 0
under both are ignored.

A probability too small for a float is 0. If only one of the two is 0 for that reason, the loss
is infinite instead of finite; if both are, the loss is not seen. Logarithms, as
``mechanism.log_probabilities(objective)`` returns them, have no such limit: ``check_private``
takes them with ``log=True``, and counts the cases in which both probabilities are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from math import inf, isinf, isnan, log, log1p
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from dpselect.errors import ParameterError
from dpselect.extend import Probabilities, Values, validation
from dpselect_conformance.objectives.universe import Relation, build
from dpselect_conformance.report import Report

ROUNDING = 1e-6
"""Largest difference between 1 and the sum of given probabilities."""

TOLERANCE = 1e-9
"""Relative and absolute rounding error allowed above epsilon."""


def privacy_loss(p: ArrayLike, q: ArrayLike) -> float:
    """Return ``max_r |ln P_x(r) - ln P_y(r)|``, the least epsilon for this pair.

    Args:
        p: Probabilities on one database, shape ``(n,)``; >= 0, sum 1.
        q: Probabilities on its neighbour, likewise.

    Returns:
        Nats; infinite if an outcome is possible under one of the two only.

    Raises:
        ParameterError: An argument is not a vector of probabilities, or the lengths
            differ.

    Examples:
        >>> round(privacy_loss([0.5, 0.5], [0.25, 0.75]), 4)
        0.6931
    """
    return float(np.abs(_losses(*_pair(p, q))[1]).max())


def bounded_range(p: ArrayLike, q: ArrayLike) -> float:
    """Return ``max_r ℓ_r - min_r ℓ_r`` for ``ℓ = ln P_x - ln P_y``.

    A draw for which this is at most epsilon on all neighbours is epsilon-bounded-range, and
    composes better than epsilon-DP says.

    Args:
        p: Probabilities on one database, shape ``(n,)``; >= 0, sum 1.
        q: Probabilities on its neighbour, likewise.

    Raises:
        ParameterError: An argument is not a vector of probabilities, or the lengths
            differ.

    Source: Durfee and Rogers, NeurIPS 2019.
    """
    losses = _losses(*_pair(p, q))[1]
    return inf if np.isinf(losses).any() else float(np.ptp(losses))


def delta(p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
    """Return the least delta with which the pair is (epsilon, delta)-indistinguishable.

    It is the larger of ``∑_r max(0, P_x(r) - e^ε P_y(r))`` and the same with ``P_x``
    and ``P_y`` exchanged.

    Args:
        p: Probabilities on one database, shape ``(n,)``; >= 0, sum 1.
        q: Probabilities on its neighbour, likewise.
        epsilon: Nats; finite, >= 0.

    Raises:
        ParameterError: An argument is not a vector of probabilities, the lengths differ, or
            ``epsilon`` is negative or not finite.
    """
    epsilon = validation.within("epsilon", epsilon, 0, np.finfo(np.float64).max)
    p, q = _pair(p, q)
    return max(_hockey_stick(p, q, epsilon), _hockey_stick(q, p, epsilon))


def renyi(p: ArrayLike, q: ArrayLike, alpha: float) -> float:
    """Return the Rényi divergence of ``p`` from ``q``, in nats.

        D_α = (1/(α - 1)) ln ∑_r P_x(r)^α P_y(r)^(1 - α)

    At ``alpha=1`` it is the Kullback-Leibler divergence, at infinity the largest
    ``ln P_x - ln P_y``. A draw is rho-zCDP if it is at most ``rho * alpha`` on all neighbours
    in both orders.

    Args:
        p: Probabilities on one database, shape ``(n,)``; >= 0, sum 1.
        q: Probabilities on its neighbour, likewise.
        alpha: Order; >= 1, infinity allowed.

    Raises:
        ParameterError: An argument is not a vector of probabilities, the lengths differ, or
            ``alpha`` is below 1 or NaN.
    """
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or isnan(alpha) or alpha < 1:
        raise ParameterError("alpha must be a number >= 1")
    order = float(alpha)
    weights, losses = _losses(*_pair(p, q))
    weights, losses = weights[weights > 0], losses[weights > 0]
    if isinf(order) or np.isinf(losses).any():
        return float(losses.max())
    if order == 1:
        return float(weights @ losses)
    exponents = (order - 1) * losses
    # Near order 1 the sum is near 1, and its logarithm would lose what is divided by.
    if np.abs(exponents).max() < 1:
        return log1p(float(weights @ np.expm1(exponents))) / (order - 1)
    top = float(exponents.max())
    return (top + log(float(weights @ np.exp(exponents - top)))) / (order - 1)


def _hockey_stick(p: Probabilities, q: Probabilities, epsilon: float) -> float:
    weights, losses = _losses(p, q)
    return float(weights @ -np.expm1(np.minimum(epsilon - losses, 0.0)))


def _losses(p: Probabilities, q: Probabilities) -> tuple[Values, Values]:
    """Return ``P_x`` and ``ln P_x - ln P_y`` of the outcomes that can occur."""
    occurs = (p > 0) | (q > 0)
    with np.errstate(divide="ignore"):
        return p[occurs], np.log(p[occurs]) - np.log(q[occurs])


def _pair(p: ArrayLike, q: ArrayLike) -> tuple[Probabilities, Probabilities]:
    p, q = _checked("`p`", p), _checked("`q`", q)
    if p.size != q.size:
        raise ParameterError(
            f"`p` and `q` must be on the same outcomes; they have {p.size} and {q.size}"
        )
    return p, q


def _checked(name: str, given: ArrayLike) -> Probabilities:
    """Return probabilities as a float64 vector.

    Raises:
        ParameterError: They are not a vector of numbers >= 0 that add up to 1.
    """
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not (values >= 0).all() or not abs(values.sum() - 1) < ROUNDING:
        raise ParameterError(f"{name} must be probabilities: shape (n,), >= 0, sum 1")
    return values


@dataclass(frozen=True, slots=True)
class PrivacyReport(Report):
    """The outcome of ``check_private``; ``print`` shows it.

    Attributes:
        epsilon: The claim, in nats.
        loss: The largest privacy loss found, in nats; infinite if an outcome is possible on
            one side only.
        x: The database of the worst pair.
        y: Its neighbour.
        outcome: Position of the outcome with the largest loss.
        pairs: Number of unordered pairs that were compared.
        unseen: Number of pairs and outcomes for which both probabilities are 0. No loss is seen
            there: rightly if the outcome cannot occur, otherwise because of underflow.
    """

    epsilon: float
    loss: float
    x: Hashable
    y: Hashable
    outcome: int
    pairs: int
    unseen: int = 0

    @property
    def ok(self) -> bool:
        """Whether no loss is above epsilon, up to rounding."""
        return self.loss <= self.epsilon * (1 + TOLERANCE) + TOLERANCE

    def __str__(self) -> str:
        verdict = "private" if self.ok else "NOT private"
        unseen = (
            f"; in {self.unseen} cases both probabilities are 0, which hides a loss if they "
            "are only too small for a float: give logarithms, with log=True"
        )
        return (
            f"{verdict} at epsilon = {self.epsilon:g} on {self.pairs} pairs of neighbours: the "
            f"largest privacy loss is {self.loss:.6g}, for outcome {self.outcome} between "
            f"x = {self.x!r} and y = {self.y!r}{unseen if self.unseen else ''}"
        )


def check_private(
    distribution: Callable[[Hashable], ArrayLike],
    universe: Iterable[Hashable],
    neighbours: Relation,
    epsilon: float,
    *,
    log: bool = False,
) -> PrivacyReport:
    """Compare the exact distributions of a mechanism on all pairs of neighbours.

    Args:
        distribution: Function that returns the probabilities of all outcomes on a database,
            shape ``(n,)``, with the same outcomes for every database; such as
            ``lambda x: mechanism.probabilities(objective_of(x))``.
        universe: As in ``check_admissible``.
        neighbours: As in ``check_admissible``.
        epsilon: The claim, in nats; finite, > 0.
        log: Whether ``distribution`` returns natural logarithms, minus infinity for impossible
            outcomes, such as ``lambda x: mechanism.log_probabilities(objective_of(x))``.

    Raises:
        ParameterError: What ``distribution`` returns are not probabilities, or their number
            differs between databases; or as in ``check_admissible``.
        NeighboursError: ``neighbours`` is neither a relation nor a function.

    Examples:
        >>> import dpselect as dp
        >>> def randomised_response(bits):
        ...     return [0.75, 0.25] if bits == (0,) else [0.25, 0.75]
        >>> report = check_private(
        ...     randomised_response, [(0,), (1,)], dp.Neighbours.SUBSTITUTE, epsilon=1.0
        ... )
        >>> report.ok, round(report.loss, 4)
        (False, 1.0986)
    """
    epsilon = validation.positive("epsilon", epsilon)
    space = build(universe, neighbours)
    check = _checked_logs if log else _logs_of_checked
    logs = [check("what `distribution` returns", distribution(x)) for x in space.databases]
    if len({one.size for one in logs}) > 1:
        raise ParameterError("`distribution` must give the same outcomes for every database")
    table = np.array(logs)
    with np.errstate(invalid="ignore"):
        losses = np.abs(table[space.left] - table[space.right])
    # Both are 0: the difference of two infinities, which shows no loss.
    unseen = np.isnan(losses)
    losses[unseen] = 0.0
    pair, outcome = np.unravel_index(losses.argmax(), losses.shape)
    return PrivacyReport(
        epsilon=epsilon,
        loss=float(losses[pair, outcome]),
        x=space.databases[space.left[pair]],
        y=space.databases[space.right[pair]],
        outcome=int(outcome),
        pairs=space.left.size,
        unseen=int(unseen.sum()),
    )


def _logs_of_checked(name: str, given: ArrayLike) -> Values:
    with np.errstate(divide="ignore"):
        return np.log(_checked(name, given))


def _checked_logs(name: str, given: ArrayLike) -> Values:
    """Return logarithms of probabilities as a float64 vector."""
    try:
        logs = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must be numbers, the logarithms of a vector of probabilities"
        ) from None
    _checked(f"exp of {name}", np.exp(logs))
    return logs
