"""What a budget tells other programs: strict JSON, and events of ``dp_accounting``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from math import exp
from typing import TYPE_CHECKING

from dpselect.budget import filter as stopping
from dpselect.budget import zcdp
from dpselect.budget.entry import Entry
from dpselect.budget.totals import Totals
from dpselect.errors import BudgetError

if TYPE_CHECKING:
    import dp_accounting


def to_json(totals: Totals, entries: Sequence[Entry]) -> str:
    """Return totals, sums and entries as strict JSON (no NaN, no infinity)."""
    document = {
        "epsilon": totals.epsilon,
        "delta": totals.delta,
        "neighbours": str(totals.neighbours),
        "composition": stopping.composition(totals, entries),
        "spent": float(stopping.spent(totals, entries)),
        "remaining": stopping.remaining(totals, entries),
        "entries": [asdict(entry) | {"neighbours": str(entry.neighbours)} for entry in entries],
    }
    return json.dumps(document, allow_nan=False, indent=2)


def to_dp_events(totals: Totals, entries: Sequence[Entry]) -> dp_accounting.ComposedDpEvent:
    """Return the entries as one composed event; see :meth:`Budget.to_dp_events`."""
    try:
        import dp_accounting
    except ImportError:
        raise BudgetError(
            "to_dp_events needs the package dp-accounting: pip install 'dpselect[accounting]'"
        ) from None
    # One event each: the PLD accountant of dp_accounting 0.6 takes a SelfComposedDpEvent of
    # randomised responses for a single one.
    events: list[dp_accounting.DpEvent] = []
    for entry in entries:
        if entry.delta > 0:
            raise BudgetError(
                f"dp_accounting has no event for entry {entry.sequence}, which has a delta "
                "of its own"
            )
        if totals.delta > 0 and entry.rho < zcdp.rho_of_pure(entry.epsilon):
            events.append(dp_accounting.ZCDpEvent(entry.rho))
        else:
            noise = _noise_parameter(entry.epsilon)
            events.append(dp_accounting.RandomizedResponseDpEvent(noise, num_buckets=2))
    return dp_accounting.ComposedDpEvent(events)


def _noise_parameter(epsilon: float) -> float:
    # Two buckets, one of them drawn at random with probability p: the odds of the true one
    # are (1 - p/2) / (p/2) = e^epsilon. Less noise than that is the safe side of rounding.
    return 2 * exp(-epsilon) / (1 + exp(-epsilon)) * (1 - zcdp.SLACK)
