"""Shifted local dampening in closed form.

Definition 15 dampens ``u - s`` for a shift ``s → ∞``. Beyond the horizon ``T^*`` every
sensitivity is Δ, so for any shift beyond it

    D(u_r - s) = (u_r - ∑_(t<T^*)(Δ - δ_r(t)))/Δ + const,

with the same constant for all candidates. ``u + s`` (Definition 16) changes the sign of the
sum. No score that is shifted so far is 0, and so none has a lead.
"""

from __future__ import annotations

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.objective import Objective
from dpselect.scaling.by_global import by_global, finite
from dpselect.typing import Direction, Scores

LONGEST_HORIZON = 2**30
"""Sums over so many distances err by less than 2^-20 of the bound."""


@finite
def shifted(objective: Objective, direction: Direction) -> Scores:
    """Return the limit of the dampened scores under a large shift, without its constant.

    With a flat sensitivity the sum is the same for all candidates and the result is that of
    ``by_global``, doubled for a monotone objective: the exponential mechanism.

    Args:
        objective: Scores with an admissible sensitivity and a public horizon.
        direction: ``"non-decreasing"`` if candidates with larger scores have larger
            sensitivities (Definition 15), else ``"non-increasing"`` (16). Public.

    Returns:
        Shape ``(n,)``. As private as the scores.

    Raises:
        ParameterError: ``direction`` is neither, or the horizon is above 2^30.

    Source: Farias et al., VLDB J. 2023, Definitions 15 and 16, Lemma 5. Lemma 6 states
        the order of Definition 15 the wrong way round.
    """
    direction = validation.direction(direction)
    if objective.sensitivity.flat:
        return by_global(objective)
    check_horizon(objective.sensitivity.horizon)
    gaps = objective.gaps().high
    shortfall = objective.sensitivity.shortfall()
    gaps = gaps - shortfall if direction == "non-decreasing" else gaps + shortfall
    return (gaps - gaps.max()) / objective.sensitivity.bound


def check_horizon(horizon: int) -> None:
    """Refuse a public horizon up to which sums cannot be held.

    Raises:
        ParameterError: It is above 2^30.
    """
    if horizon > LONGEST_HORIZON:
        raise ParameterError(
            "shifted local dampening adds up sensitivities to the horizon, which can be "
            f"at most {LONGEST_HORIZON}; see dpselect.sensitivity.jump_to_bound"
        )
