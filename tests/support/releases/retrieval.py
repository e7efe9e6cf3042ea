"""Releases of subsets, of public and of private size."""

from functools import partial

from dpselect.neighbours import Neighbours
from dpselect.retrieval import (
    SubsetRetrieval,
    plan_statuses,
    plan_subset,
    release_statuses,
    release_subset,
)
from support.releases import ReleaseCase

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
    mechanism = SubsetRetrieval(n=PEOPLE, d=4, beta=2, epsilon=0.75, scheme=scheme, **more)
    return ReleaseCase(
        name=f"SubsetRetrieval, {scheme}",
        neighbours=Neighbours.SWAP,
        release=lambda members, budget: mechanism.release(members, budget=budget),
        plan=mechanism.plan,
        pair=swapped,
        delta=mechanism.plan().delta,
    )


STATUSES = {"n": PEOPLE, "epsilon": 1.5}
SUBSET = {"n": PEOPLE, "beta": 2, "size_epsilon": 0.5, "epsilon": 1.25, "delta": 0.75}

CASES = [
    retrieval("optimal", failure=0.125),
    retrieval("ball"),
    retrieval("union"),
    retrieval("distance"),
    ReleaseCase(
        name="release_statuses",
        neighbours=Neighbours.SUBSTITUTE,
        release=lambda members, budget: release_statuses(members, budget=budget, **STATUSES),
        plan=partial(plan_statuses, **STATUSES),
        pair=one_status_changed,
    ),
    ReleaseCase(
        name="release_subset",
        neighbours=Neighbours.SUBSTITUTE,
        release=lambda members, budget: release_subset(members, budget=budget, **SUBSET),
        plan=partial(plan_subset, **SUBSET),
        pair=one_status_changed,
        delta=0.75,
    ),
]
