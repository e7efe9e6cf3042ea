"""Group privacy: the price of a release for all rows of a person.

Let a release be (ε, δ)-DP for one row more or less, and let x and y differ in one person, who
has at most m rows. Then there are ``x = z_0, z_1, ..., z_m = y``, each a neighbour of the one
before. With ``P_i`` the distribution on ``z_i``,

    P_0 - e^(mε) P_m = ∑_(i<m) e^(iε) (P_i - e^ε P_(i+1)),
    ∑_o [P_0 - e^(mε) P_m]_+ ≤ δ ∑_(i<m) e^(iε) = δ (e^(mε) - 1)/(e^ε - 1).

So it is ``(mε, δ')``-DP for a person with that δ', which some releases attain. Where the price
is that of the outcome, ``c(o) ≤ ε``, the same sum with ``e^(c(o))`` for ``e^ε`` shows
``m c(o)`` and the same δ': m times what is given back is given back. A ρ-zCDP release is
``m^2 ρ``-zCDP (Bun & Steinke 2016, arXiv:1605.02065, Proposition 27).
"""

from __future__ import annotations

from dataclasses import replace
from math import expm1, inf

from dpselect._numbers import LARGEST_EXPONENT
from dpselect.budget import zcdp
from dpselect.budget.amount import ceiling, exact
from dpselect.budget.entry import Entry
from dpselect.errors import InsufficientBudgetError


def grouped(cost: Entry, rows: int) -> Entry:
    """Return the price of a release by rows for a person with at most so many rows.

    Laplace rounds are not kept. A delta of 1 or more is returned as 1, which no budget allows.

    Raises:
        InsufficientBudgetError: Its epsilon is more than any float.
    """
    if rows == 1:
        return cost
    try:
        epsilon = ceiling(rows * exact(cost.epsilon))
    except OverflowError:
        raise InsufficientBudgetError(
            f"epsilon does not suffice for {rows} rows of a person"
        ) from None
    rho = zcdp.rho_of_pure(epsilon)
    if cost.delta == 0:
        rho = min(rho, rows**2 * cost.rho * (1 + zcdp.SLACK))
        return replace(cost, epsilon=epsilon, rho=rho, laplace_rounds=0, steps=rows)
    times = float(rows)
    if cost.epsilon > 0:
        times = expm1(epsilon) / expm1(cost.epsilon) if epsilon < LARGEST_EXPONENT else inf
    delta = min(1.0, cost.delta * times * (1 + zcdp.SLACK))
    return replace(cost, epsilon=epsilon, delta=delta, rho=rho, laplace_rounds=0, steps=rows)
