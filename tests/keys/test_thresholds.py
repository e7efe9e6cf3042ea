"""The most common keys by noisy counts above a threshold: delta by definition, and recall."""

from itertools import product

import duckdb
import numpy as np
import pytest

import dpselect as dp
from dpselect.keys.selection import LaplaceSelection
from support.key_definitions import ROWS, add_person, exact_delta, neighbouring
from support.noise import at_least

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
EPSILON, DELTA = 1.0, 0.2
FAR = 60
"""Noisy counts from so far above the threshold on are one outcome."""

ASKED = {
    "column": "key", "user": "person", "max_per_user": 1, "delta": 1e-6, "neighbours": ADDED,
}  # fmt: skip


def law_of(scale, threshold):
    """Return the law of what passes with its noisy counts; the largest are a function of it."""

    def of_key(people):
        if people == 0:
            return {None: 1.0}
        upto = [at_least(threshold + far - people, scale) for far in range(FAR + 1)]
        law = {far: upto[far] - upto[far + 1] for far in range(FAR)}
        return {None: 1 - upto[0], FAR: upto[FAR], **law}

    def law(counts):
        out = {}
        for drawn in product(*(of_key(one).items() for one in counts)):
            outcome = tuple(one for one, _ in drawn)
            chance = float(np.prod([p for _, p in drawn]))
            out[outcome] = out.get(outcome, 0.0) + chance
        return out

    return law


def laplace(relation, per_user, epsilon=EPSILON):
    law = LaplaceSelection(epsilon, DELTA, per_user * (2 if relation is REPLACED else 1))
    return law.scale, law.noise.threshold


@pytest.mark.parametrize("per_user", [1, 2])
@pytest.mark.parametrize("relation", [ADDED, REPLACED], ids=str)
def test_two_keys_cost_epsilon_and_delta(relation, per_user):
    """Over all databases of at most 3 persons and two keys, or pairs of a group and a key."""
    pairs = list(neighbouring(3, 2, per_user))
    if relation is REPLACED:
        sets = [(), (0,), (1,), *[(0, 1)] * (per_user == 2)]
        bases = {small for small, _ in pairs}
        both = product(bases, sets, sets)
        pairs = [(add_person(x, one), add_person(x, other)) for x, one, other in both]

    found = exact_delta(pairs, law_of(*laplace(relation, per_user)), EPSILON)
    assert 0.2 * DELTA < found <= DELTA


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("per_user", [1, 5])
def test_laplace_noise_and_its_threshold_are_those_of_opendp(epsilon, per_user):
    """A released count is at least the threshold; there it is above a threshold one less."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    ours = LaplaceSelection(epsilon, 1e-6, per_user)

    def delta(threshold):
        return opendp.m.make_laplace_threshold(
            opendp.map_domain(opendp.atom_domain(T="i64"), opendp.atom_domain(T="i64")),
            opendp.l01inf_distance(opendp.absolute_distance(T="i64")),
            scale=ours.scale,
            threshold=threshold,
        ).map((per_user, per_user, 1))[1]

    assert delta(ours.noise.threshold - 1) <= 1e-6 < delta(ours.noise.threshold - 2)


@pytest.mark.parametrize("by", [{}, {"by": "ward"}, {"by": "ward", "groups": ["nowhere"]}])
@pytest.mark.parametrize("rows", [ROWS.clear(), ROWS.head(1)], ids=["no row", "one row"])
def test_no_rows_are_answered_as_one_is(rows, by):
    """An error would tell that nobody has a key."""
    query = dp.TopKeys(k=2, epsilon=1.0, **ASKED, **by)

    for data in (rows, rows.lazy(), duckdb.from_arrow(rows.to_arrow()), rows.to_pandas()):
        assert query.release(data).answer == ()
