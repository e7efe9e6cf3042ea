"""Keys of groups, and the rest of each: exact privacy over small databases, engines, tables."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import exp, log

import numpy as np
import pytest

import dpselect as dp
from dpselect.keys.rows import Counted, KeyRows
from dpselect.tables.kinds import KeyColumns
from support.key_definitions import exact_delta, independent, limited, subsets
from support.neighbours import pairs_of_persons, pairs_of_rows
from support.noise import at_least

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
GROUPS, KEYS = (0, 1), (0, 1)
PAIRS = list(product(GROUPS, KEYS))
SETS = [(), *subsets(PAIRS, 3)]
"""The pairs of one person, more than are counted."""
PERSONS = {"user": "who", "max_per_user": 2}
EPSILON, DELTA = 1.0, 0.1
AS_THEY_ARE = KeyColumns(("k",), ("integer",))


def query(relation=ADDED, kind=dp.Keys, **asked):
    asked = {"epsilon": EPSILON, "delta": DELTA, "neighbours": relation, **asked}
    return kind(column="k", by="g", **asked)


PLAN = query().plan
design_of = cache(dp.Keys.design)


def counts_of(database, asked):
    """Return the people of each pair, by the words of ``tables.people``."""
    groups = GROUPS if asked.groups is None else asked.groups
    if asked.user is None:
        return Counter(pair for pair in database if pair[0] in groups)
    held = [[pair for pair in pairs if pair[0] in groups] for pairs in database]
    cap = asked.max_per_user
    return Counter(one for user, some in enumerate(held) for one in limited(some, user, cap))


@dataclass(frozen=True)
class Held:
    """Counts of pairs, as the engine gives them."""

    counts: Counter
    asked: KeyRows

    def parts(self, least=1):
        found = {group: self._of(group, least) for group in GROUPS}
        listed = self.asked.groups or [one for one in GROUPS if found[one].people.size]
        return [(group, found[group]) for group in listed]

    def of(self, candidates, groups):
        return [np.array([self.counts[group, key] for key in candidates]) for group in groups]

    def _of(self, group, least):
        held = [key for key in KEYS if self.counts[group, key] >= least]
        people = np.array([self.counts[group, key] for key in held], dtype=np.int64)
        return Counted(held, people, AS_THEY_ARE)


@dataclass(frozen=True)
class Scripted:
    """A law whose draw was made before; ``places`` are those of keys that are released."""

    places: tuple
    scale = None

    def select(self, people, _):
        held = np.isin(np.arange(people.size), self.places)
        return held, None


@dataclass(frozen=True)
class Exact:
    """Rests without noise."""

    def noisy(self, rests):
        return rests


def changed(rest):
    """Return what the noise on rests is made for."""
    return round(rest.scale * rest.epsilon, 9)


def released(design, counts):
    """Yield every release of keys with its probability, and the exact rests."""
    held = Held(counts, design.rows)
    people = np.concatenate([np.zeros(0, int), *(part.people for _, part in held.parts())])
    chances = design.selection.chances()[0].probabilities(people)
    for places, probability in independent(chances.tolist()).items():
        selection = replace(design.selection, law=Scripted(places))
        release = replace(design, selection=selection, rest=Exact()).drawing(held)(PLAN)
        yield (release.groups, release.answer), probability, dict(release.other)


def set_law(asked):
    """Return the exact law of the keys of all groups, as a function of a database."""
    design = design_of(asked)

    @cache
    def of_counts(held):
        return {answer: chance for answer, chance, _ in released(design, Counter(dict(held)))}

    def law(database):
        return of_counts(tuple(sorted(counts_of(database, asked).items())))

    return law


def excess(law, pairs):
    return exact_delta(pairs, law, EPSILON)


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("method", ["optimal", "laplace", "gaussian"])
def test_keys_of_groups_of_rows_cost_the_price_of_one_group(relation, groups, method):
    asked = query(relation, groups=groups, method=method)

    found = excess(set_law(asked), pairs_of_rows(relation, PAIRS, 5))

    assert 0.1 * DELTA < found <= DELTA * (1 + 1e-9)


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("groups", [None, GROUPS, (1,)])
def test_keys_of_groups_of_persons_cost_the_price_of_one_group(relation, groups):
    asked = query(relation, groups=groups, **PERSONS)

    found = excess(set_law(asked), pairs_of_persons(relation, SETS))

    assert 0.1 * DELTA < found <= DELTA * (1 + 1e-9)


# The rest.


FAR = 12
"""Noisy rests from so far on are one outcome."""


@cache
def noisy(rest, scale):
    """Return the law of a rest with discrete Laplace noise."""
    ends = (at_least(end - rest, scale) for end in range(-FAR, FAR + 1))
    upto = np.array([1.0, *ends, 0.0])
    return upto[:-1] - upto[1:]


@dataclass(frozen=True)
class WithRests:
    """The law of the keys and the noisy rests of a query."""

    asked: dp.Keys

    def pairs(self, here, there):
        """Yield what is released beside rests, its two chances, and the laws of each rest."""
        laws = [self._law(one) for one in (here, there)]
        for answer in laws[0].keys() | laws[1].keys():
            found = [law.get(answer) for law in laws]
            chances = [0.0 if one is None else one[0] for one in found]
            rests = [next(one for one in (f, *found) if one is not None)[1] for f in found]
            scale = design_of(self.asked).rest.scale
            yield (
                chances,
                [
                    (noisy(rests[0][name], scale), noisy(rests[1][name], scale))
                    for name in rests[0]
                ],
            )

    def excess(self, pairs, epsilon=EPSILON):
        grown, worst = exp(epsilon), 0.0
        for here, there in pairs:
            sums = [0.0, 0.0]
            for (p, q), rests in self.pairs(here, there):
                one, other = p, q
                for a, b in rests:
                    one, other = np.multiply.outer(one, a), np.multiply.outer(other, b)
                sums[0] += np.maximum(one - grown * other, 0).sum()
                sums[1] += np.maximum(other - grown * one, 0).sum()
            worst = max(worst, *sums)
        return worst

    def loss(self, pairs):
        worst = 0.0
        for here, there in pairs:
            for (p, q), rests in self.pairs(here, there):
                for sign in (1, -1):
                    each = [(sign * np.log(a / b)).max() for a, b in rests]
                    worst = max(worst, sign * log(p / q) + sum(each))
        return worst

    def _law(self, database):
        held = counts_of(database, self.asked)
        return _law_of(self, tuple(sorted(held.items())))


@cache
def _law_of(law, held):
    found = {}
    for answer, chance, rests in released(design_of(law.asked), Counter(dict(held))):
        found[answer, tuple(rests)] = chance, rests
    return found


REST = {"other": True, "other_share": 0.5, "method": "laplace", "delta": 0.2}


def known(pairs, asked):
    """Return those pairs of databases that have people of the same keys: no key is new."""
    return [(a, b) for a, b in pairs if set(counts_of(a, asked)) == set(counts_of(b, asked))]


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_keys_and_rests_of_rows_cost_what_is_stated(relation, groups):
    asked = query(relation, groups=groups, **REST)
    pairs = pairs_of_rows(relation, PAIRS, 5)

    law = WithRests(asked)

    assert 0.01 < law.excess(pairs) <= 0.2 * (1 + 1e-9)
    assert 0.5 * EPSILON < law.loss(known(pairs, asked)) <= EPSILON * (1 + 1e-9)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_keys_and_rests_of_persons_cost_what_is_stated(groups):
    law = WithRests(query(groups=groups, **REST, **PERSONS))

    assert 0.02 < law.excess(pairs_of_persons(ADDED, SETS)) <= 0.2 * (1 + 1e-9)


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_one_step_moves_all_rests_by_what_they_pay_for(relation, groups):
    """Equal to the largest change over all pairs and answers: less would not be private."""
    asked = query(relation, groups=groups, **PERSONS, **REST)
    design, worst = asked.design(), 0

    @cache
    def rests_of(database):
        counts = counts_of(database, asked)
        return {answer: rests for answer, _, rests in released(design, counts)}

    for here, there in pairs_of_persons(relation, SETS):
        a, b = rests_of(here), rests_of(there)
        for answer in a.keys() & b.keys():
            moved = {n: a[answer][n] - b[answer][n] for n in a[answer]}
            worst = max(worst, sum(map(abs, moved.values())))

    assert changed(design.rest) == (2 if relation is ADDED else 4)
    # Of two keys of a group that is not public one is released, so that one is in its rest.
    assert worst == changed(design.rest) - (relation is REPLACED and groups is None)


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("cap", [1, 2, 3, 5])
def test_one_step_moves_all_rests_of_candidates_by_what_they_pay_for(relation, cap):
    """Equal to the largest change over all pairs: a cap beyond all candidates costs no more."""
    asked = query(
        relation, dp.TopKeys, delta=0.0, groups=GROUPS, candidates=KEYS, above=1e6, other=True,
        user="who", max_per_user=cap,
    )  # fmt: skip
    design, plan = asked.design(), asked.plan
    exact = replace(design, rest=Exact())
    rests = []
    for one in subsets(PAIRS, len(PAIRS)):
        release = exact.drawing(Held(counts_of((one,), asked), exact.rows))(plan)
        assert release.answer == ()
        rests.append([rest for _, rest in release.other])
    nobody = [0] * len(GROUPS)
    pairs = product(rests, [nobody] if relation is ADDED else [nobody, *rests])

    assert changed(design.rest) == max(
        sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in pairs
    )


def test_prices_of_the_rest():
    for kind, more in (
        (dp.Keys, {}), (dp.TopKeys, {"k": 1}),
        (dp.TopKeys, {"k": 1, "candidates": KEYS, "mechanism": "noisy-sequence",
                     "groups": GROUPS, "delta": 0.0}),
    ):  # fmt: skip
        for relation, changed in ((ADDED, 2), (REPLACED, 4)):
            plan = query(relation, kind, other=True, **more, **PERSONS).plan
            rest = plan.spends[-1]

            assert sum(one.epsilon * one.times for one in plan.spends) == pytest.approx(EPSILON)
            assert rest.epsilon == pytest.approx(0.1 * EPSILON)
            assert f"scale {changed / 0.1:g} on" in rest.purpose
