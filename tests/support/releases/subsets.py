"""Releases of subsets, of public and of private size, and of statuses."""

import polars as pl

from dpselect.subsets import Subset
from dpselect_conformance import ReleaseCase

PEOPLE = 12


def swapped(rng):
    """Two subsets of four people, one swap apart."""
    *members, stranger = (int(person) for person in rng.choice(PEOPLE, 5, replace=False))
    return sorted(members), sorted([*members[1:], stranger])


def one_status_changed(rng):
    """Two subsets, one of which has one member more."""
    members = [int(person) for person in rng.choice(PEOPLE, 4, replace=False)]
    return sorted(members), sorted(members[1:])


def retrieval(scheme, **more):
    query = Subset(n=PEOPLE, d=4, epsilon=0.75, scheme=scheme, **more)
    return ReleaseCase(f"Subset, {scheme}", query, swapped, delta=query.plan.delta)


def _table(members):
    """The statuses of all people, one row each."""
    statuses = ["positive" if person in members else "negative" for person in range(PEOPLE)]
    names = [f"sample {person}" for person in range(PEOPLE)]
    return pl.DataFrame({"sample": names, "result": statuses})


COLUMNS = {"column": "result", "positive": "positive", "label": "sample"}
OF_A_TABLE = Subset(n=PEOPLE, epsilon=1.25, **COLUMNS)

CASES = [
    retrieval("pure"),
    retrieval("optimal", beta=2, failure=0.125),
    retrieval("ball", beta=2),
    retrieval("union", beta=2),
    ReleaseCase("Subset, private size", Subset(n=PEOPLE, epsilon=1.25), one_status_changed),
    ReleaseCase("Subset, of a table", OF_A_TABLE, one_status_changed, data=_table),
]
