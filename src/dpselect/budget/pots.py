"""Remaining amounts of the shares of a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from dpselect.budget import filter as stopping
from dpselect.budget.entry import Sums
from dpselect.budget.totals import Totals, part


@dataclass(frozen=True, slots=True)
class Pot:
    """Amounts of a share of a budget in the current period.

    Attributes:
        share: Whose it is; empty for all who have none, or if there are no shares.
        epsilon: What it grants, in nats.
        delta: What it grants.
        spent: Epsilon that its spends amount to.
        remaining: ``epsilon - spent``, rounded down.
    """

    share: str
    epsilon: float
    delta: float
    spent: float
    remaining: float

    @classmethod
    def of(cls, totals: Totals, share: str, sums: Sums) -> Self:
        """Return the pot of a share whose spends have these sums."""
        granted = part(totals, share)
        spent, left = stopping.spent(granted, sums), stopping.remaining(granted, sums)
        return cls(share, granted.epsilon, granted.delta, float(spent), left)
