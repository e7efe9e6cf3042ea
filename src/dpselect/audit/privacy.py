"""Distances between two exact laws, and the check of a law on all pairs of neighbours.

The distances take two laws on the same outcomes in the same order, such as
``mechanism.probabilities(objective)`` on two neighbouring databases. An outcome that neither
law can give counts nowhere.

A probability too small for a float is 0. Where one law is 0 only for that reason the loss is
infinite instead of finite; where both are, the loss is not seen, whatever it is. Logarithms, as
``mechanism.log_probabilities(objective)`` returns them, have no such limit: ``check_private``
takes them with ``log=True``, and counts the cases in which two laws are both 0.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from math import inf, isinf, isnan, log, log1p
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from dpselect import validation
from dpselect.audit.universe import Relation, build
from dpselect.errors import AuditError, ParameterError
from dpselect.typing import Probabilities, Values

ROUNDING = 1e-6
"""Largest distance of the sum of a law from 1."""

TOLERANCE = 1e-9
"""Relative and absolute rounding error allowed above epsilon."""


def privacy_loss(law_x: ArrayLike, law_y: ArrayLike) -> float:
    """Return ``max_r |ln P_x(r) - ln P_y(r)|``, the least epsilon for this pair.

    Args:
        law_x: Probabilities, shape ``(n,)``; >= 0, sum 1.
        law_y: Likewise.

    Returns:
        Nats; infinite if one law gives an outcome that the other cannot.

    Raises:
        ParameterError: An argument is no law, or they are of different lengths.

    Examples:
        >>> round(privacy_loss([0.5, 0.5], [0.25, 0.75]), 4)
        0.6931
    """
    return float(np.abs(_losses(*_pair(law_x, law_y))[1]).max())


def bounded_range(law_x: ArrayLike, law_y: ArrayLike) -> float:
    """Return ``max_r ℓ_r - min_r ℓ_r`` for ``ℓ = ln P_x - ln P_y``.

    A draw for which this is at most epsilon on all neighbours is epsilon-bounded-range, and
    composes better than epsilon-DP says.

    Args:
        law_x: Probabilities, shape ``(n,)``; >= 0, sum 1.
        law_y: Likewise.

    Raises:
        ParameterError: An argument is no law, or they are of different lengths.

    Source: Durfee and Rogers, NeurIPS 2019.
    """
    losses = _losses(*_pair(law_x, law_y))[1]
    return inf if np.isinf(losses).any() else float(np.ptp(losses))


def delta(law_x: ArrayLike, law_y: ArrayLike, epsilon: float) -> float:
    """Return the least delta with which the pair is (epsilon, delta)-indistinguishable.

    It is the larger of ``∑_r max(0, P_x(r) - e^ε P_y(r))`` and the same with the laws
    exchanged.

    Args:
        law_x: Probabilities, shape ``(n,)``; >= 0, sum 1.
        law_y: Likewise.
        epsilon: Nats; finite, >= 0.

    Raises:
        ParameterError: An argument is no law, they are of different lengths, or ``epsilon``
            is negative or not finite.
    """
    epsilon = validation.within("epsilon", epsilon, 0, np.finfo(np.float64).max)
    p, q = _pair(law_x, law_y)
    return max(_hockey_stick(p, q, epsilon), _hockey_stick(q, p, epsilon))


def renyi(law_x: ArrayLike, law_y: ArrayLike, alpha: float) -> float:
    """Return the Rényi divergence of ``law_x`` from ``law_y``, in nats.

        D_α = (1/(α - 1)) ln ∑_r P_x(r)^α P_y(r)^(1 - α)

    At ``alpha=1`` it is the Kullback-Leibler divergence, at infinity the largest
    ``ln P_x - ln P_y``. A draw is rho-zCDP if it is at most ``rho * alpha`` on all neighbours
    in both orders.

    Args:
        law_x: Probabilities, shape ``(n,)``; >= 0, sum 1.
        law_y: Likewise.
        alpha: Order; >= 1, infinity allowed.

    Raises:
        ParameterError: An argument is no law, they are of different lengths, or ``alpha``
            is below 1 or NaN.
    """
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or isnan(alpha) or alpha < 1:
        raise ParameterError("alpha must be a number >= 1")
    order = float(alpha)
    weights, losses = _losses(*_pair(law_x, law_y))
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


def _pair(law_x: ArrayLike, law_y: ArrayLike) -> tuple[Probabilities, Probabilities]:
    p, q = _checked_law("law_x", law_x), _checked_law("law_y", law_y)
    if p.size != q.size:
        raise ParameterError(
            f"law_x and law_y must be on the same outcomes; they have {p.size} and {q.size}"
        )
    return p, q


def _checked_law(name: str, law: ArrayLike) -> Probabilities:
    """Return a law as a float64 vector.

    Raises:
        ParameterError: It is not a vector of numbers >= 0 that add up to 1.
    """
    try:
        values = np.asarray(law, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be probabilities, shape (n,)") from None
    if values.ndim != 1 or not (values >= 0).all() or not abs(values.sum() - 1) < ROUNDING:
        raise ParameterError(f"{name} must be probabilities: shape (n,), >= 0, sum 1")
    return values


@dataclass(frozen=True, slots=True)
class PrivacyReport:
    """The outcome of ``check_private``; ``print`` shows it.

    Attributes:
        epsilon: The claim, in nats.
        loss: The largest privacy loss found, in nats; infinite if an outcome is possible on
            one side only.
        x: The database of the worst pair.
        y: Its neighbour.
        outcome: Position of the outcome with the largest loss.
        pairs: How many unordered pairs were compared.
        unseen: In how many pairs and outcomes both probabilities are 0, which shows no loss:
            right if the outcome cannot occur, and else hidden by underflow.
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

    def raise_if_failed(self) -> None:
        """Do nothing if the claim holds.

        Raises:
            AuditError: It does not; the message is the report.
        """
        if not self.ok:
            raise AuditError(str(self))

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
    law_of: Callable[[Hashable], ArrayLike],
    universe: Iterable[Hashable],
    neighbours: Relation,
    epsilon: float,
    *,
    log: bool = False,
) -> PrivacyReport:
    """Compare the exact laws of a mechanism on all pairs of neighbours.

    Args:
        law_of: The law on a database, shape ``(n,)``, the same outcomes for each; such as
            ``lambda x: mechanism.probabilities(objective_of(x))``.
        universe: As in ``check_admissible``.
        neighbours: As in ``check_admissible``.
        epsilon: The claim, in nats; finite, > 0.
        log: Whether ``law_of`` returns natural logarithms, minus infinity for what cannot
            occur, such as ``lambda x: mechanism.log_probabilities(objective_of(x))``.

    Raises:
        ParameterError: A law is none, or has outcomes of its own; or as in
            ``check_admissible``.
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
    check = _checked_log_law if log else _logs_of_checked_law
    laws = [check("what law_of returns", law_of(x)) for x in space.databases]
    if len({law.size for law in laws}) > 1:
        raise ParameterError("law_of must give the same outcomes for every database")
    losses = _all_losses(np.array(laws), space.left, space.right)
    # Both impossible: infinity less infinity, and no loss that could be seen.
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


def _all_losses(logs: Values, left: np.ndarray, right: np.ndarray) -> Values:
    with np.errstate(invalid="ignore"):
        return np.abs(logs[left] - logs[right])


def _logs_of_checked_law(name: str, law: ArrayLike) -> Values:
    with np.errstate(divide="ignore"):
        return np.log(_checked_law(name, law))


def _checked_log_law(name: str, law: ArrayLike) -> Values:
    """Return a law that is given by its logarithms."""
    try:
        logs = np.asarray(law, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must be logarithms of probabilities, shape (n,)"
        ) from None
    _checked_law(f"exp of {name}", np.exp(logs))
    return logs
