"""A cap that is chosen: its scores over all pairs of persons' rows, its price, its release."""

from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.audit.replay import replay
from dpselect.errors import InsufficientBudgetError, ParameterError
from dpselect.tables.caps import LARGEST, STEPS, CapScores, Choose, Precision, RankNoise

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
CAPS = (1, 2, 3)
VALUES = (0, 1, 2)
HELD = [
    *((),),
    *(one for size in (1, 2, 3) for one in combinations_with_replacement(VALUES, size)),
]
"""All that a person can have: at most three rows of three values."""
SHARED = {"user": "person", "max_per_user": dp.Choose(CAPS, 0.3), "epsilon": 2.0}
KEYS = {"column": "key", **SHARED}
POINTS = {"x": "key", "y": "key", "bounds": (0, 0, 3, 3), **SHARED}
QUERIES = {
    "keys": lambda **more: dp.Keys(**KEYS, delta=0.1, **more),
    "laplace keys": lambda **more: dp.Keys(**KEYS, delta=0.1, method="laplace", **more),
    "gaussian keys": lambda **more: dp.Keys(**KEYS, delta=0.1, method="gaussian", **more),
    "top": lambda **more: dp.TopKeys(**KEYS, k=1, candidates=VALUES, **more),
    "unknown top": lambda **more: dp.TopKeys(**KEYS, k=2, delta=0.1, **more),
    "percentiles": lambda **more: dp.Percentiles(**KEYS, p=50, upper=2, step=1, **more),
    "cells": lambda **more: dp.HeavyCells(**POINTS, grid=3, k=2, **more),
    "map": lambda **more: dp.Map(**POINTS, grids=[3], **more),
}


SOME = [(), (0,), (0, 0, 1), (0, 1, 2), (2, 2, 2)]
"""Of these, all pairs, beside another person."""
BESIDE = [(), (0, 0, 1), (0, 1, 2)]


def rows(held):
    """Return a table of what persons have."""
    pairs = [(person, key) for person, keys in enumerate(held) for key in keys]
    return pl.DataFrame(pairs, schema={"person": pl.Int64, "key": pl.Int64}, orient="row")


def scores(design, held):
    return design.objective([one.counted(rows(held))[0] for one in design.designs])


def moved(query, relation):
    """Return by how much scores move over pairs of two persons, and the bound."""
    design = query.design()
    known = {one: scores(design, one) for one in product(SOME, BESIDE)}
    bound = known[((), ())].sensitivity.bound
    changes = [
        known[first].scores - known[(other, first[1])].scores
        for first in known
        for other in (SOME if relation is REPLACED else [()])
    ]
    return np.array(changes), bound


@pytest.mark.parametrize("name", QUERIES)
def test_one_person_moves_a_score_by_at_most_its_bound(name):
    changes, bound = moved(QUERIES[name](neighbours="substitute"), REPLACED)

    assert np.abs(changes).max() <= bound
    assert np.abs(changes).max() > 0


@pytest.mark.parametrize("name", QUERIES)
def test_one_person_more_lowers_no_score(name):
    changes, bound = moved(QUERIES[name](neighbours="add-remove"), ADDED)

    assert changes.min() >= 0
    assert changes.max() <= bound


@pytest.mark.parametrize(
    ("law", "caps"), [("laplace", (1, 5)), ("gaussian", (1, 5)), ("optimal", (1, 5))]
)
@pytest.mark.parametrize("epsilon", [0.2, 3.0])
def test_keys_near_a_threshold_reach_the_bound(law, caps, epsilon):
    """And half of it, a planted bug, is exceeded."""
    query = dp.Keys(
        column="key",
        user="person",
        max_per_user=dp.Choose(caps),
        method=law,
        epsilon=epsilon,
        delta=1e-3,
        neighbours="add-remove",
    )
    designs = query.design().designs
    found = CapScores([one.precision for one in designs])
    steps = []
    for place, (design, cap) in enumerate(zip(designs, caps, strict=True)):
        several = [tuple(range(cap))] * design.selection.half
        before, after = (
            found.of([one.counted(rows(people))[0] for one in designs])[place]
            for people in (several, [*several, tuple(range(cap))])
        )
        steps.append(after - before)

    assert max(steps) <= found.bound
    assert max(steps) > found.bound / 2


NOISES = [(1.0, 3.0, 10.0), (2.0, 2.5, 30.0), (0.1, 40.0, 41.0)]
MOVES = [(1, 1, 1), (1, 2, 5), (1, 10, 100)]


@pytest.mark.parametrize("noises", NOISES)
@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("sampling", [0.0, 1.0, 2.0])
def test_a_precision_moves_by_at_most_one(noises, moves, sampling):
    """Whatever the count, and reached somewhere."""
    asked = [
        Precision(noise * move, move, sampling)
        for noise, move in zip(noises, moves, strict=True)
    ]
    found = CapScores(asked)
    counts = [0, 19, 20, 21, *np.unique(np.geomspace(1, 1e6, 300).astype(int)).tolist()]
    most = 0
    for count in counts:
        for place, move in enumerate(moves):
            before, after = (found.of([one] * 3)[place] for one in (count, count + move))
            assert 0 <= after - before <= found.bound
            most = max(most, after - before)

    if moves == (1, 1, 1):
        assert most > found.bound / 2  # half of the bound is exceeded: a planted bug


def in_steps(one, count, noise, moved):
    """Return a score by its definition, with 60 digits."""
    with localcontext(prec=60):
        b, s, c = Decimal(noise), Decimal(one.sampling), Decimal(count)
        f = c / (Decimal(one.noise) ** 2 + s * c).sqrt()
        root = (s * s * f * f + 4 * b * b).sqrt()
        return f * (s * f + root) / 2 / Decimal(moved) * STEPS


@pytest.mark.parametrize("sampling", [0.0, 1.0, 2.0])
def test_scores_are_those_of_exact_numbers_to_a_hundredth_of_a_step(sampling):
    """So rounding adds one step to what a person moves, and is seen to."""
    counts = [
        *range(1, 400),
        *(2**power + more for power in range(9, 41) for more in (-1, 0, 1)),
    ]
    moves = set()
    for noise, move, other in product((0.3, 7.0, 1000.1), (1, 3, 108), (0.5, 1e5)):
        found = CapScores([Precision(noise, move, sampling), Precision(other, 1.0, sampling)])
        largest = max(move, 1.0)
        reference = largest * min(noise / move, other)
        scores = {}
        for count in sorted({*counts, *(one + move for one in counts)}):
            [scores[count], _] = found.of([count, 0])
            exact = in_steps(found.caps[0], count, reference, largest)
            capped = min(exact, Decimal(STEPS * LARGEST))
            assert scores[count] - capped <= Decimal("0.01")
            assert capped - scores[count] < Decimal("1.01")
        moves |= {scores[count + move] - scores[count] for count in counts}
        assert [*scores.values()] == sorted(scores.values())

    assert min(moves) >= 0
    assert max(moves) <= found.bound
    if sampling == 0:
        assert max(moves) == found.bound


def test_a_precision_is_that_of_the_count_at_the_reference():
    """By definition: an equal relative error, there as here."""
    one = Precision(7.0)
    other = one.equivalent(500, 2.0)

    assert other / np.sqrt(4 + other) == pytest.approx(500 / np.sqrt(49 + 500))


def test_no_score_is_beyond_what_floats_hold():
    assert (
        CapScores([Precision(1.0), Precision(2.0)]).of([1e30, 1e30])
        == [int(STEPS * LARGEST)] * 2
    )


@pytest.mark.parametrize("name", QUERIES)
def test_the_choice_is_charged(name):
    """Its share of epsilon and the release together are the whole; a planted bug is not."""
    query = QUERIES[name](neighbours="add-remove")
    design, plan = query.design(), query.plan
    [choice, rest] = plan.spends

    assert choice.epsilon == pytest.approx(0.3 * plan.epsilon)
    assert choice.epsilon + rest.epsilon <= plan.epsilon * (1 + 1e-12)
    assert all(one.epsilon <= rest.epsilon for one in design.designs)
    assert design.choice.epsilon == choice.epsilon


class Ledger(dp.Budget):
    """A budget that says what it was charged, and when."""

    def __init__(self, *totals, **terms):
        super().__init__(*totals, **terms)
        self.charges = []

    def reserve(self, spends):
        record = super().reserve(spends)

        def charge():
            entries = record()
            self.charges.append([(entry.epsilon, entry.delta) for entry in entries])
            return entries

        return charge


@pytest.mark.parametrize("name", QUERIES)
def test_a_ledger_is_charged_the_whole_price_once(name):
    query = QUERIES[name](neighbours="add-remove")
    terms = {"neighbours": ADDED, "protects": "person", "composition": "sum"}
    ledger = Ledger(query.epsilon, query.plan.delta, **terms)

    query.release(rows([(0, 1, 2), (0,)] * 3), budget=ledger)

    assert ledger.charges == [[(query.plan.epsilon, query.plan.delta)]]
    assert query.plan.epsilon == query.epsilon
    too_small = Ledger(0.99 * query.epsilon, query.plan.delta, **terms)
    with pytest.raises(InsufficientBudgetError):
        query.release(rows([(0,)]), budget=too_small)
    assert not too_small.charges


def test_a_choice_that_is_not_charged_is_found():
    """A planted bug: the plan states the release at the cap alone."""
    query = dp.Percentiles(
        column="key",
        user="person",
        max_per_user=dp.Choose([1, 30], 0.9),
        p=50,
        upper=30,
        step=1,
        epsilon=2.0,
        neighbours="add-remove",
    )
    left = query._with(max_per_user=1, epsilon=query._designed.designs[0].epsilon).plan
    held = [tuple(range(30))] * 3

    def uncharged(data):
        return replace(query.release(data), plan=left)

    for release, ok in ((query.release, True), (uncharged, False)):
        reports = [replay(release, rows(held), rows(held[:2])) for _ in range(20)]
        assert all(one.ok for one in reports) is ok
    assert any("the draws use epsilon" in str(one) for one in reports)


FEW, MANY = 1, 30
CLEARLY = {"max_per_user": dp.Choose([FEW, MANY], 0.99), "epsilon": 100.0}
"""Much for the choice, and so little for the release that caps differ: with much for both,
noise is far below the sampling error, every key is released, and all caps are as good."""


def clearly(name, relation):
    """Return a query whose caps differ, of 40 keys.

    The best of public keys has the same noise at every cap, so it is the best three.
    """
    delta = {"delta": 1e-6} if "keys" in name or "unknown" in name else {}
    box = {"bounds": (0, 0, 40, 40)}
    forty = {"top": {"k": 3, "candidates": range(40)}, "cells": box | {"grid": 40}, "map": box}
    query = QUERIES[name](neighbours=relation)
    return query._with(**CLEARLY, **delta, **forty.get(name, {}))


def chances(query, table):
    design = query.design()
    objective = design.objective([one.counted(table)[0] for one in design.designs])
    return design.choice.probabilities(objective)


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("name", QUERIES)
def test_with_much_epsilon_persons_of_one_row_get_the_smallest_cap(name, relation):
    table = rows([(person % 4,) for person in range(400)])

    few, _ = chances(clearly(name, relation), table)

    assert few > 0.99


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("name", [one for one in QUERIES if one != "laplace keys"])
def test_with_much_epsilon_persons_of_many_rows_get_the_large_cap(name, relation):
    """Not with Laplace noise on keys, which grows with the cap as counts do."""
    rng = np.random.default_rng(0)
    table = rows([rng.permutation(40)[:MANY].tolist() for _ in range(400)])

    _, many = chances(clearly(name, relation), table)

    assert many > 0.99


@pytest.mark.parametrize("name", QUERIES)
def test_the_law_of_the_cap_is_private(name):
    """Its exact probabilities at all neighbours, against the definition."""
    design, known = QUERIES[name](neighbours="substitute").design(), {}
    choice = design.choice
    for one in SOME:
        known[one] = choice.probabilities(scores(design, (one, (0, 1, 2))))

    for first, second in product(known.values(), repeat=2):
        assert (first <= np.exp(choice.epsilon) * second * (1 + 1e-9)).all()


@pytest.mark.parametrize("name", QUERIES)
def test_the_cap_is_said_with_the_answer_and_written_down(name):
    query = QUERIES[name](neighbours="add-remove")
    release = query.release(rows([(0, 1, 2), (0,)] * 3))

    assert release.cap in CAPS
    assert release.released()["cap"] == release.cap
    assert f"{release.cap} was drawn" in str(release)
    assert "one is drawn" in str(query.plan)
    assert "as missing, whatever they hold" in str(query.plan)
    assert "as missing, whatever they hold" in str(release)
    assert dp.Query.from_json(query.to_json()) == query


def test_engines_count_the_same():
    duckdb = pytest.importorskip("duckdb")
    held = rows([HELD[place % len(HELD)] for place in range(60)])
    for name, ask in QUERIES.items():
        if name in {"gaussian keys", "laplace keys"}:
            continue
        design = ask(neighbours="add-remove").design()
        relation = duckdb.from_arrow(held.to_arrow())
        found = [[one.counted(data)[0] for one in design.designs] for data in (held, relation)]
        assert all(one == found[0] for one in found), name


@pytest.mark.parametrize(
    "caps", [[], [1], [2, 1], [1, 1], [0, 1], [1.5, 2], list(range(1, 200))]
)
def test_caps_that_are_none_are_refused(caps):
    with pytest.raises(ParameterError):
        Choose(caps)


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_a_share_is_between_0_and_1(share):
    with pytest.raises(ParameterError):
        Choose([1, 2], share)


def test_what_has_no_score_is_refused_before_a_row_is_read():
    with pytest.raises(ParameterError, match="max_per_user"):
        dp.TopKeys(**KEYS, above=3, candidates=VALUES, neighbours="add-remove")


def rank_distance(rows, value, p):
    """Return by how many rows the ranks of a value miss a percentile's, 0 if they hold it."""
    below = sum(one < value for one in rows)
    up_to = sum(one <= value for one in rows)
    wanted = p / 100 * len(rows)
    return max(below - wanted, wanted - up_to, 0)


@pytest.mark.parametrize("p", [1, 25, 50, 75, 99])
def test_rows_that_are_missing_shift_a_rank_by_no_more_than_their_number(p):
    """Whatever the rows above a cap hold; reached, so a smaller weight is a planted bug."""
    weight, reached = max(p, 100 - p) / 100, False
    universe = [*combinations_with_replacement(VALUES, 4)]
    for kept in (one[:size] for one in universe for size in range(1, 5)):
        for others in HELD:
            every = (*kept, *others)
            for value in VALUES:
                error = rank_distance(every, value, p)
                bound = rank_distance(kept, value, p) + weight * len(others)
                assert error <= bound + 1e-9
                reached |= bool(others) and error > bound - 1e-9

    assert reached


@pytest.mark.parametrize("moves", MOVES)
def test_a_score_of_ranks_moves_by_at_most_one(moves):
    found = CapScores([RankNoise(7.0 * move, move) for move in moves])
    steps = []
    for count, (place, move) in product((0, 3, 1000, 10**6), enumerate(moves)):
        before, after = (found.of([one] * 3)[place] for one in (count, count + move))
        steps.append(after - before)

    assert min(steps) >= 0
    assert found.bound / 2 < max(steps) <= found.bound


def test_persons_of_many_rows_with_other_values_are_seen():
    """A small cap would answer 1; noise is worth fewer rows than those that it leaves out."""
    few = [(f"short {n}", 1) for n in range(2000)]
    many = [(f"long {n}", 20) for n in range(300) for _ in range(30)]
    table = pl.DataFrame(few + many, schema=["person", "key"], orient="row")
    asked = KEYS | {"max_per_user": dp.Choose([1, 30]), "epsilon": 20.0}
    median = dp.Percentiles(**asked, p=50, upper=30, step=1, neighbours="add-remove")

    release = median.release(table)
    assert (release.cap, release.candidate) == (30, 20)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: dp.Percentiles(
            **KEYS, p=50, upper=2, step=1, by="group", groups=[1], neighbours="add-remove"
        ),
        lambda: dp.Levels(**KEYS, tree={"a": "all", "b": "all"}, neighbours="add-remove"),
    ],
    ids=["by group", "levels"],
)
def test_where_no_cap_is_chosen_it_is_said(ask):
    with pytest.raises(ParameterError, match="not chosen for such a release: give one number"):
        ask()
