"""A budget as plain values, for strict JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from dpselect.budget.amount import exact
from dpselect.budget.entry import Entry
from dpselect.budget.filter import Pot
from dpselect.budget.totals import Totals
from dpselect.writing import strict


def document(totals: Totals, pots: Sequence[Pot], entries: Sequence[Entry]) -> dict[str, Any]:
    """Return totals and their terms, what is left of each share, and all entries.

    What a release is made of again (``Entry.release``) is left out: its answer is there. So is
    what tells entries of several budgets apart.
    """
    left_out = {"release", "token"}
    made = [
        {
            one.name: strict(getattr(entry, one.name))
            for one in fields(entry)
            if one.name not in left_out
        }
        for entry in entries
    ]
    return {
        "epsilon": totals.epsilon,
        "delta": totals.delta,
        "neighbours": str(totals.neighbours),
        **totals.terms(),
        "spent": float(sum(exact(pot.spent) for pot in pots)),
        "pots": [asdict(pot) for pot in pots],
        "entries": made,
    }
