"""Percentiles of groups: exact privacy over small databases, laws, engines and tables."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, product
from math import exp, inf, log

import numpy as np
import polars as pl
import pytest
from scipy.stats import chisquare

import dpselect as dp
from dpselect.draws.above_threshold import first_above_of_each, stop_probabilities
from dpselect.draws.exact.samplers import intercepted
from dpselect.draws.exact.selection import largest_of_each
from dpselect.errors import ColumnError, DataError, ParameterError
from dpselect.percentiles.group_ranks import Reader
from dpselect.percentiles.ranks import ranks_of
from support.engines import ENGINES, held_by
from support.people import counted_of

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
GROUPS, VALUES = (0, 1), (0, 1)
ROWS = list(product(GROUPS, VALUES))
DATABASES = [rows for n in range(6) for rows in combinations_with_replacement(ROWS, n)]
"""All databases of at most five rows."""
PERSONS = {"user": "who", "max_per_user": 2}
EPSILON, DELTA = 1.0, 0.1


def query(relation=ADDED, **asked):
    return dp.Percentiles(
        **{
            "column": "v", "by": "g", "p": 60, "candidates": VALUES, "method": "one-by-one",
            "epsilon": EPSILON, "neighbours": relation, **asked,
        }
    )  # fmt: skip


def pairs_of_rows(relation):
    """Return all neighbouring databases of rows."""
    if relation is ADDED:
        few = [rows for rows in DATABASES if len(rows) < 5]
        return [(rows, tuple(sorted((*rows, one)))) for rows in few for one in ROWS]
    few = [rows for rows in DATABASES if len(rows) < 5]
    return [
        (tuple(sorted((*rows, a))), tuple(sorted((*rows, b))))
        for rows in few
        for a, b in product(ROWS, ROWS)
        if a < b
    ]


SETS = [rows for n in range(4) for rows in combinations_with_replacement(ROWS, n)]
"""The rows of one person: up to three, more than are counted."""


def pairs_of_persons(relation):
    """Return neighbouring databases of up to two persons."""
    bases = [(), *((one,) for one in SETS[1::3])]
    if relation is ADDED:
        return [(base, (*base, one)) for base in bases for one in SETS]
    return [
        ((*base, a), (*base, b)) for base in bases for a, b in product(SETS, SETS) if a != b
    ]


def rows_that_count(database, groups, most):
    """Return the rows of released groups that count, by the words of ``tables.people``."""
    found = []
    for user, rows in enumerate(database):
        there = sorted(row for row in rows if row[0] in groups)
        places = counted_of(user, list(enumerate(there)), most) if len(there) > most else None
        found += there if places is None else [row for _, row in places]
    return found


def numbered(rows, groups):
    """Return rows with the places of their groups; the rest is after all others."""
    places = {group: place for place, group in enumerate(groups)}
    return tuple((places.get(g, len(groups)), v) for g, v in rows)


def law_of_groups(design, rows, groups, cache_):
    """Return the law of the answers of some groups: they are drawn independently."""
    laws = []
    for group in groups:
        numbers = tuple(sorted(v for g, v in rows if g == group))
        if numbers not in cache_:
            each = design.each
            cache_[numbers] = each.method.probabilities(
                each.records.of(np.array(numbers, dtype=float))
            )[0]
        laws.append(cache_[numbers])
    return {
        drawn: float(np.prod([law[one] for law, one in zip(laws, drawn, strict=True)]))
        for drawn in product(range(len(VALUES)), repeat=len(groups))
    }


def public_law(asked, limited=rows_that_count):
    design, known = asked.design(), {}
    cap = asked.max_per_user

    @cache
    def law(database):
        rows = database if cap is None else limited(database, GROUPS, cap)
        return law_of_groups(design, rows, GROUPS, known)

    return law


def private_law(asked, *, limited=rows_that_count, named=GROUPS):
    """Return the law of the released groups with their answers.

    Groups that are not named are missing: their rows can be in the rest alone.
    """
    design, known = asked.design(), {}
    cap, first = asked.max_per_user, design.grouping.first

    @cache
    def law(database):
        if cap is None:
            counts = Counter(group for group, _ in database)
        else:
            held = [sorted({group for group, _ in rows} & {*named}) for rows in database]
            counts = Counter(
                one for user, groups in enumerate(held) for one in counted_of(user, groups, cap)
            )
        chances = first.probabilities(np.array([counts[group] for group in named]))
        out = {}
        for released in product((False, True), repeat=len(named)):
            chance = float(np.prod(np.where(released, chances, 1 - chances)))
            groups = tuple(g for g, there in zip(named, released, strict=True) if there)
            rows, asked_of = database, groups
            if asked.other:
                asked_of = range(len(groups) + 1)
                rows = numbered(database, groups) if cap is None else database
                rows = rows if cap is None else [numbered(one, groups) for one in rows]
            if cap is not None:
                rows = limited(rows, asked_of, cap)
            for drawn, one in law_of_groups(design, rows, asked_of, known).items():
                out[groups, drawn] = chance * one
        return out

    return law


def excess(law, pairs, epsilon):
    """Return the largest hockey-stick divergence, in both directions."""
    grown, worst = exp(epsilon), 0.0
    for pair in pairs:
        for here, there in (pair, pair[::-1]):
            a, b = law(here), law(there)
            worst = max(worst, sum(max(0.0, p - grown * b.get(o, 0.0)) for o, p in a.items()))
    return worst


def loss(law, pairs):
    """Return the largest privacy loss."""
    worst = 0.0
    for here, there in pairs:
        a, b = law(here), law(there)
        worst = max(worst, *(abs(log(p / b[o])) if b[o] else inf for o, p in a.items()))
    return worst


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("method", ["one-by-one", "above-threshold", None])
def test_public_groups_of_rows_cost_their_epsilon_once(relation, method):
    asked = query(relation, groups=GROUPS, method=method)

    found = loss(public_law(asked), pairs_of_rows(relation))

    assert 0.3 * EPSILON < found <= EPSILON * (1 + 1e-9)


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
def test_public_groups_of_persons_cost_their_epsilon_once(relation):
    asked = query(relation, groups=GROUPS, **PERSONS)

    found = loss(public_law(asked), pairs_of_persons(relation))

    assert 0.4 * EPSILON < found <= EPSILON * (1 + 1e-9)


def mutated(asked, **grouping):
    """Return a query whose design of one group has the epsilon of another grouping."""

    class Planted:
        max_per_user, other = asked.max_per_user, asked.other

        @staticmethod
        def design():
            made = asked.design()
            wrong = replace(made.grouping, **grouping)
            each = replace(asked, **wrong.in_each, column=None).design()
            return replace(made, grouping=wrong, each=each)

    return Planted


def test_a_row_that_moves_and_pays_once_is_seen():
    asked = mutated(query(REPLACED, groups=GROUPS, p=50), neighbours=ADDED)

    assert loss(public_law(asked), pairs_of_rows(REPLACED)) > 1.2 * EPSILON


def test_persons_who_pay_for_one_row_are_seen():
    asked = mutated(query(ADDED, groups=GROUPS, **PERSONS), cap=None)

    assert loss(public_law(asked), pairs_of_persons(ADDED)) > 1.2 * EPSILON


def test_a_cap_in_each_group_is_seen():
    def in_each(database, groups, most):
        return [row for group in groups for row in rows_that_count(database, (group,), most)]

    asked = query(ADDED, groups=GROUPS, max_per_user=1, user="who")

    assert loss(public_law(asked), pairs_of_persons(ADDED)) <= EPSILON * (1 + 1e-9)
    assert loss(public_law(asked, in_each), pairs_of_persons(ADDED)) > 1.2 * EPSILON


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("persons", [{}, PERSONS])
def test_released_groups_cost_their_epsilon_and_delta(relation, other, persons):
    asked = query(relation, delta=DELTA, groups_share=0.5, other=other, **persons)
    pairs = pairs_of_persons(relation) if persons else pairs_of_rows(relation)

    found = excess(private_law(asked), pairs, EPSILON)

    assert 0 < found <= DELTA * (1 + 1e-9)


@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize("persons", [{}, PERSONS])
def test_rows_without_a_group_in_the_rest_cost_no_more(relation, persons):
    asked = query(relation, delta=DELTA, groups_share=0.5, other=True, **persons)
    pairs = pairs_of_persons(relation) if persons else pairs_of_rows(relation)

    found = excess(private_law(asked, named=(0,)), pairs, EPSILON)

    assert 0 < found <= DELTA * (1 + 1e-9)


def test_rows_without_a_group_beyond_the_limit_are_seen():
    def beside_it(database, groups, most):
        rest = groups[-1]
        rows = rows_that_count(database, groups[:-1], most)
        return rows + [row for one in database for row in one if row[0] == rest]

    right = query(ADDED, delta=1e-3, groups_share=0.1, p=50, other=True, **PERSONS)
    pairs = pairs_of_persons(ADDED)

    assert excess(private_law(right, named=(0,)), pairs, EPSILON) <= 1e-3 * (1 + 1e-9)
    wrong = private_law(right, limited=beside_it, named=(0,))
    assert excess(wrong, pairs, EPSILON) > 1e-3


@pytest.mark.parametrize("engine", ["frame", *ENGINES])
def test_every_engine_puts_rows_without_a_group_into_the_rest(engine, rng):
    rows = pl.DataFrame(
        {
            "who": rng.integers(0, 30, 200),
            "g": [None if g > 2 else f"g{g}" for g in rng.integers(0, 5, 200)],
            "v": rng.integers(0, 9, 200).astype(float),
        }
    )
    data = rows if engine == "frame" else held_by(engine, rows)
    grouping = query(delta=DELTA, other=True, **PERSONS).design().grouping
    groups = ("g1", "g0", None)

    counted = grouping.rows(data, {"number": "v"}, groups)
    found = Reader(counted, groups, data).numbers()

    database = [numbered(rows.filter(pl.col("who") == who).select("g", "v").rows(), groups[:2])
                for who in range(30)]  # fmt: skip
    right = rows_that_count(database, range(3), 2)
    assert [sorted(one) for one in found] == [
        sorted(v for g, v in right if g == place) for place in range(3)
    ]
    asked = query(p=50, candidates=range(9), epsilon=1e3, delta=DELTA, other=True)
    rest = rows.filter(pl.col("g").is_null())["v"].sort()
    few = pl.concat([rows, pl.DataFrame({"who": [0], "g": ["rare"], "v": [8.0]})])
    data = few if engine == "frame" else held_by(engine, few)
    answer = asked.release(data).by_group[None]
    assert rest[len(rest) // 2 - 1] <= answer[0] <= rest[len(rest) // 2 + 1]


def test_groups_that_are_not_paid_for_are_seen():
    """All of epsilon for the percentiles of released groups, which share it."""
    right = query(REPLACED, delta=1e-3, groups_share=0.8, p=50)
    wrong = mutated(right, neighbours=ADDED, epsilon=EPSILON)

    assert excess(private_law(right), pairs_of_rows(REPLACED), EPSILON) <= 1e-3 * (1 + 1e-9)
    assert excess(private_law(wrong), pairs_of_rows(REPLACED), EPSILON) > 1e-3


def test_prices_of_rows_and_persons():
    for relation, persons, changed in (
        (ADDED, {}, 1), (REPLACED, {}, 2), (ADDED, PERSONS, 2), (REPLACED, PERSONS, 4),
    ):  # fmt: skip
        design = query(relation, groups=GROUPS, **persons).design()
        [spend], [of_one] = design.spends, design.each.spends

        assert design.each.epsilon == EPSILON / changed
        assert spend.epsilon == pytest.approx(EPSILON)
        assert spend.rho == pytest.approx(changed**2 * of_one.rho)


def drawn_from(name, release):
    """Return the private inputs of a sampler, of all its calls in a release."""
    seen = []

    def handle(sampler, draw, args, _kwargs):
        if sampler.endswith(name):
            seen.append(np.array(args[0]))
        return draw()

    with intercepted(handle):
        release()
    return seen


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def table(rng, rows=400, groups=5, *, whole=True):
    values = rng.integers(0, 12, rows) if whole else rng.normal(6, 3, rows)
    held = rng.integers(0, groups, rows)
    return pl.DataFrame({"g": [f"ward {one}" for one in held], "v": values})


NAMES = tuple(f"ward {one}" for one in range(6))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("method", ["one-by-one", "above-threshold"])
def test_all_groups_are_drawn_from_what_one_is_drawn_from(rng, whole, method):
    """The scores, or queries, of each group are those of its numbers alone, to the last bit."""
    rows = table(rng, whole=whole)
    asked = {"p": 70, "upper": 12, "step": 1, "method": method, "epsilon": 1.0}
    of_all = dp.Percentiles(column="v", by="g", groups=NAMES, neighbours="add-remove", **asked)
    of_one = dp.Percentiles(neighbours="add-remove", **asked)

    [together] = drawn_from("_of_each", lambda: of_all.release(rows))

    for name, held in zip(NAMES, together, strict=True):
        numbers = rows.filter(pl.col("g") == name)["v"].to_numpy().astype(float)
        sampler = "first_above" if method == "above-threshold" else "top_k_exponential_noise"
        [alone] = drawn_from(sampler, lambda numbers=numbers: of_one.release(numbers))
        np.testing.assert_array_equal(held, alone)


@pytest.mark.slow
def test_draws_of_rows_follow_the_law_of_one():
    scores = np.array([0.0, -1.0, -1.5, -4.0])
    law = np.zeros(4)
    objective = dp.Objective(scores, dp.GlobalSensitivity(1, ADDED))
    law = dp.PermuteAndFlip(epsilon=1.0).probabilities(objective)
    drawn = largest_of_each(np.tile(scores, (20_000, 1)), 1.0)
    assert chisquare(np.bincount(drawn, minlength=4), 20_000 * law).pvalue > 1e-6

    queries = np.array([-5, -1, 2, 0, 9])
    law = stop_probabilities(queries, 1, 2.0, 3.0, 1)[0]
    drawn = first_above_of_each(np.tile(queries, (20_000, 1)), 1, 2.0, 3.0)
    held = np.bincount(drawn, minlength=6)[law > 0]
    assert chisquare(held, 20_000 * law[law > 0] / law.sum()).pvalue > 1e-6


@pytest.mark.parametrize("engine", ["frame", "polars", "duckdb", "pandas"])
@pytest.mark.parametrize("candidates", [range(13), np.linspace(0, 12, 1201)])
def test_ranks_of_groups_are_those_of_their_numbers(rng, engine, candidates):
    rows = table(rng, whole=False)
    points = np.array(candidates, dtype=float)
    data = rows if engine == "frame" else rows.to_pandas() if engine == "pandas" else None
    if data is None:
        data = held_by(engine, rows)
    design = dp.Percentiles(
        column="v", by="g", groups=NAMES, p=50, candidates=points, epsilon=1, neighbours=ADDED
    ).design()

    held = Reader(design.grouping.rows(data, {"number": "v"}, NAMES), NAMES, data)
    parts = list(held.cells(points).parts(points))
    numbers = held.numbers()

    found = [
        part.some(np.array([place])) for part in parts for place in range(part.numbers.size)
    ]
    for name, ranks, listed in zip(NAMES, found, numbers, strict=True):
        alone = np.sort(rows.filter(pl.col("g") == name)["v"].to_numpy())
        right = ranks_of(alone, points)
        np.testing.assert_array_equal(listed, alone)
        assert ranks.numbers == right.numbers
        for part in ("below", "upto"):
            np.testing.assert_array_equal(getattr(ranks, part), getattr(right, part))


def test_a_large_epsilon_finds_the_percentiles_of_every_group(rng):
    rows = table(rng, 4000)
    asked = dp.Percentiles(
        column="v", by="g", groups=NAMES, p=[50, 90], upper=12, step=1, epsilon=200.0,
        neighbours="add-remove",
    )  # fmt: skip

    release = asked.release(rows)

    assert [group for group, _ in release.answer] == list(NAMES)
    for name in NAMES[:5]:
        numbers = rows.filter(pl.col("g") == name)["v"].to_numpy()
        right = np.quantile(numbers, [0.5, 0.9], method="inverted_cdf")
        assert np.abs(np.array(release.by_group[name]) - right).max() <= 1
    assert release.table()["p"] == [50.0, 90.0] * 6
    assert list(release.shown()) == ["g", "p50", "p90"]
    assert release.to_frame().columns == ["g", "p", "v"]
    assert max(map(len, str(release).splitlines()[:7])) < 80


def test_groups_that_enough_people_are_in_are_released_and_the_rest_is_one(rng):
    rows = pl.concat([table(rng, 4000, 3), pl.DataFrame({"g": ["rare"] * 3, "v": [9] * 3})])
    asked = dp.Percentiles(
        column="v", by="g", p=50, upper=12, step=1, other=True, epsilon=20.0, delta=1e-9,
        neighbours="add-remove",
    )  # fmt: skip

    release = asked.release(rows)

    assert list(release.by_group) == [*NAMES[:3], None]
    assert release.by_group[None] == (9.0,)
    assert "(other)" in str(release)
    assert release.to_frame()["g"].to_list()[-1] is None


def test_without_any_group_there_is_no_answer():
    asked = dp.Percentiles(
        column="v", by="g", p=50, upper=12, step=1, epsilon=1.0, delta=1e-6,
        neighbours="add-remove",
    )  # fmt: skip

    assert asked.release(pl.DataFrame({"g": ["a"], "v": [1]})).answer == ()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"groups": ["a"], "by": None}, "groups goes with groups"),
        ({"other": True, "by": None}, "other goes with groups"),
        ({"delta": 0.1, "by": None}, "delta goes with groups"),
        ({"groups": ["a"], "other": True}, "other is for groups that are not public"),
        ({"groups": ["a"], "delta": 0.1}, "delta is for groups that are not public"),
        ({"groups": ["a", "a"]}, "groups must be at least one"),
        ({"groups": []}, "groups must be at least one"),
        ({}, "need a delta"),
        ({"delta": 0.1, "groups_share": 1}, "groups_share must be"),
        ({"groups": ["a"], "column": None}, "the name of the column"),
        ({"groups": ["a"], "by": "v"}, "must be different columns"),
        ({"groups": ["a"], "user": "g", "max_per_user": 1}, "must be different columns"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(asked, message):
    with pytest.raises(ParameterError, match=message):
        query(**asked)


def test_data_that_cannot_be_read_are_refused():
    rows = pl.DataFrame({"g": ["a"], "v": [None], "x": [1.5]}, schema_overrides={"v": pl.Int64})

    with pytest.raises(ParameterError, match="the column holds integer values"):
        query(groups=["a"], by="v", column="x").release(rows)
    with pytest.raises(ColumnError, match="no column 'ward'"):
        query(groups=["a"], by="ward").release(rows)
    with pytest.raises(ColumnError, match="is of type Float64"):
        query(groups=["a"], by="x").release(rows)
    with pytest.raises(DataError, match="a value is missing"):
        query(groups=["a"], on_invalid="raise").release(rows)
    nowhere = rows.with_columns(g=pl.lit(None, pl.String))
    query(delta=DELTA, on_invalid="raise").release(nowhere)
    with pytest.raises(DataError, match="a value is missing"):
        query(delta=DELTA, other=True, on_invalid="raise").release(nowhere)
