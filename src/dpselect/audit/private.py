"""Whether a law is epsilon-DP on every pair of neighbours of a small universe."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpselect import _validate
from dpselect.audit.privacy import checked_law
from dpselect.audit.universe import Relation, build
from dpselect.errors import AuditError, ParameterError
from dpselect.typing import Probabilities

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class PrivacyReport:
    """The outcome of :func:`check_private`; ``print`` it, or ask :attr:`ok`.

    Attributes:
        epsilon: What was claimed, in nats.
        loss: The largest privacy loss found, in nats; infinite if an outcome is possible on
            one side only.
        x: The database of the worst pair.
        y: Its neighbour.
        outcome: Position of the outcome with the largest loss.
        pairs: How many unordered pairs were compared.
    """

    epsilon: float
    loss: float
    x: Hashable
    y: Hashable
    outcome: int
    pairs: int

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
        return (
            f"{verdict} at epsilon = {self.epsilon:g} on {self.pairs} pairs of neighbours: the "
            f"largest privacy loss is {self.loss:.6g}, for outcome {self.outcome} between "
            f"x = {self.x!r} and y = {self.y!r}"
        )


def check_private(
    law_of: Callable[[Hashable], ArrayLike],
    universe: Iterable[Hashable],
    neighbours: Relation,
    epsilon: float,
) -> PrivacyReport:
    """Compare the exact laws of a mechanism on all pairs of neighbours.

    Args:
        law_of: The law on a database, shape ``(n,)``, the same outcomes for each; such as
            ``lambda x: mechanism.probabilities(objective_of(x))``.
        universe: As in :func:`check_admissible`.
        neighbours: As in :func:`check_admissible`.
        epsilon: What is claimed, in nats; finite, > 0.

    Raises:
        ParameterError: A law is none, or has outcomes of its own; or as in
            :func:`check_admissible`.
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
    epsilon = _validate.positive("epsilon", epsilon)
    space = build(universe, neighbours)
    laws = [checked_law("what law_of returns", law_of(x)) for x in space.databases]
    if len({law.size for law in laws}) > 1:
        raise ParameterError("law_of must give the same outcomes for every database")
    losses = _all_losses(np.array(laws), space.left, space.right)
    pair, outcome = np.unravel_index(losses.argmax(), losses.shape)
    return PrivacyReport(
        epsilon=epsilon,
        loss=float(losses[pair, outcome]),
        x=space.databases[space.left[pair]],
        y=space.databases[space.right[pair]],
        outcome=int(outcome),
        pairs=space.left.size,
    )


def _all_losses(laws: Probabilities, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(laws)
        losses = np.abs(logs[left] - logs[right])
    # Both impossible: infinity less infinity, and no loss.
    return np.nan_to_num(losses, nan=0.0, posinf=np.inf)
