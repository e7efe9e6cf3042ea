"""Ways to choose good trees when two rates matter, and what each is worth.

``selection`` says what "good" means, ``sensitivity`` how much one record is allowed for:

=================  ======================  =============================================
``selection``      ``sensitivity``         what it is
=================  ======================  =============================================
``pareto``         ``global``, ``local``   PrivPareto of the paper
``weighted-sum``   ``global``, ``local``   PrivAgg of the paper; its maximum, not its sum
``margin``         ``global``, ``local``   ours
any                ``noisy-denominators``  ours: counts over class totals released once
=================  ======================  =============================================
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from dpselect.combine import disjoint_sum, local_margin, margin, pareto
from dpselect.mechanisms import (
    ExponentialMechanism,
    LocalDampening,
    Mechanism,
    PermuteAndFlip,
)
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.sensitivity import GlobalSensitivity
from dpselect.trees.aggregate import weighted_rates
from dpselect.trees.rates import rate_over, true_positive_rate
from dpselect.typing import Indices

Selection: TypeAlias = Literal["pareto", "weighted-sum", "margin"]
"""What a good tree is."""

Allowance: TypeAlias = Literal["global", "local", "noisy-denominators"]
"""How the change that one record can make is bounded."""


def rates(
    hits: Indices,
    totals: tuple[int, int],
    noisy_totals: tuple[float, float] | None,
    allowance: Allowance,
) -> list[Objective]:
    """Return both rates of each tree.

    Args:
        hits: Correctly classified records of both classes, shape ``(trees, 2)``; private.
        totals: Records of both classes; private.
        noisy_totals: The same with noise, released; for ``"noisy-denominators"`` alone.
        allowance: How the change of one record is bounded.
    """
    pairs = list(zip(hits.T, totals, strict=True))
    if noisy_totals is not None:
        return [rate_over(h, total) for h, total in zip(hits.T, noisy_totals, strict=True)]
    local = [true_positive_rate(h, total) for h, total in pairs]
    if allowance == "local":
        return local
    bound = GlobalSensitivity(1.0, Neighbours.ADD_REMOVE)
    return [Objective(rate.scores, bound) for rate in local]


def choice(
    hits: Indices,
    totals: tuple[int, int],
    noisy_totals: tuple[float, float] | None,
    weights: tuple[float, float],
    selection: Selection,
    allowance: Allowance,
    epsilon: float,
) -> tuple[Mechanism, Objective]:
    """Return the mechanism and the one objective of a selection among trees.

    Args:
        hits: As in :func:`rates`.
        totals: As in :func:`rates`.
        noisy_totals: As in :func:`rates`.
        weights: Of the two rates, in the order of the classes.
        selection: What a good tree is.
        allowance: How the change of one record is bounded.
        epsilon: What the selection costs, in nats, under add/remove.
    """
    local = allowance == "local"
    if local and selection == "weighted-sum":
        return LocalDampening(epsilon=epsilon), weighted_rates(hits, totals, weights)
    parts = rates(hits, totals, noisy_totals, allowance)
    if selection == "margin":
        joined = local_margin(parts) if local else margin(parts)
        return PermuteAndFlip(epsilon=epsilon), joined
    if selection == "weighted-sum":
        joined = disjoint_sum(parts, weights)
        noisy = allowance == "noisy-denominators"
        kind = PermuteAndFlip if noisy else ExponentialMechanism
        return kind(epsilon=epsilon), joined
    if allowance == "global":
        return ExponentialMechanism(epsilon=epsilon), pareto(parts)
    return LocalDampening(epsilon=epsilon), pareto(parts)
