"""Laws of releases of keys, and their privacy, by enumeration of all outcomes."""

from itertools import chain, combinations
from math import exp

import numpy as np
import polars as pl

from support.people import counted_of

ROWS = pl.DataFrame(
    [
        (p, "ABC"[p % 3] if p < 900 else f"rare{p}", f"D{p % 7 % 6 // 3}")
        for p in range(910)
        for _ in range(2)
    ],
    schema=["person", "ward", "key"],
    orient="row",
)
"""Rows of 900 persons in three wards, and of ten who are alone in theirs; each twice."""


def subsets(keys, most):
    """Return all sets of at least one and at most so many keys."""
    return list(chain.from_iterable(combinations(keys, n) for n in range(1, most + 1)))


def limited(keys, user, most):
    """Return which of a person's keys are counted, by the words of ``tables.people``."""
    return counted_of(user, set(keys), most)


def people_by_key(counted):
    """Return the counts that were read, by key."""
    keys = counted.keys_at(np.arange(counted.people.size))
    return dict(zip(keys, counted.people.tolist(), strict=True))


def add_person(counts, keys):
    """Return counts, as a tuple, with one more person who has these keys."""
    return tuple(n + (key in keys) for key, n in enumerate(counts))


def neighbouring(people, keys, most):
    """Yield all pairs of counts by ``people`` persons and by one more, who has a set of keys.

    Counts are the sums of ``people`` sets of at most ``most`` keys.
    """
    sets = [(), *subsets(range(keys), most)]
    reached = {(0,) * keys}
    for _ in range(people):
        reached |= {add_person(counts, one) for counts in reached for one in sets}
    for counts in sorted(reached):
        for one in sets[1:]:
            yield counts, add_person(counts, one)


def hockey_stick(law, other, epsilon):
    """Return the sum of the excesses of a law over ``exp(epsilon)`` times another."""
    grown = exp(epsilon)
    return sum(max(0.0, p - grown * other.get(outcome, 0.0)) for outcome, p in law.items())


def independent(chances):
    """Return the law of a set, each of whose members is there with its own chance."""
    law = {(): 1.0}
    for key, chance in enumerate(chances):
        law = {
            **{held: p * (1 - chance) for held, p in law.items()},
            **{(*held, key): p * chance for held, p in law.items() if chance > 0},
        }
    return law


def exact_delta(pairs, law, epsilon):
    """Return the largest hockey-stick divergence over pairs of counts, in both directions."""
    pairs = list(pairs)
    laws = {one: law(one) for one in dict.fromkeys(chain.from_iterable(pairs))}
    places = {one: at for at, one in enumerate(laws)}
    columns = {one: at for at, one in enumerate(dict.fromkeys(chain(*laws.values())))}
    table = np.zeros((len(places), len(columns)))
    for row, one in zip(table, laws.values(), strict=True):
        row[[columns[outcome] for outcome in one]] = list(one.values())
    a, b = (table[[places[one] for one in side]] for side in zip(*pairs, strict=True))
    excess = (
        np.maximum(p - exp(epsilon) * q, 0).sum(axis=1).max() for p, q in ((a, b), (b, a))
    )
    return float(max(excess))
