"""The method that public facts choose, and the recursion mixed with AboveThreshold."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.percentiles.binary_tree import Recursive
from dpselect.percentiles.choice import Choice
from dpselect.percentiles.count_tree import ByCounts
from dpselect.percentiles.ends_first import EndsFirst
from dpselect.percentiles.range_halves import RecursiveOfRange
from dpselect.percentiles.ranges import Range
from dpselect.percentiles.reading import Records
from dpselect.percentiles.single import ByRank, OneByOne, Parts
from dpselect.percentiles.thresholds import ByThreshold

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
SPREAD = (10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0)
DECILES = tuple(range(10, 100, 10))


def chosen(p, records, *, points=None, epsilon=1.0, relation=BOTH[0], users=None):
    points = np.arange(1001.0) if points is None else points
    percents = p if isinstance(p, tuple) else (float(p),)
    of = Records(relation, "v" if users else None, users)
    return Choice(percents=percents, points=points, records=of, epsilon=epsilon).of_number(
        records
    )


@pytest.mark.parametrize(
    ("p", "records", "kind"),
    [
        (50, 40_000, ByRank),
        (50, 10, ByThreshold),
        (10, 40_000, ByRank),
        (90, 2_000, ByThreshold),
        (99, 40_000, ByThreshold),
        (90, 10**6, ByRank),
    ],
)
def test_one_percentile_is_drawn_by_rank_or_by_a_threshold(p, records, kind):
    [single] = chosen(p, records).singles

    assert isinstance(single, kind)


@pytest.mark.parametrize(
    ("p", "records", "upwards"), [(99, 100, True), (99, 40_000, False), (50, 10, True)]
)
def test_few_records_are_searched_from_the_lowest_value(p, records, upwards):
    [single] = chosen(p, records).singles

    assert single.upwards is upwards


@pytest.mark.parametrize(
    ("p", "records", "kind"),
    [
        ((25, 50, 75), 2_000, Recursive),
        ((25, 50, 75), 20, OneByOne),
        ((50, 90, 99), 2_000, EndsFirst),
        ((50, 90, 99), 400, OneByOne),
        (SPREAD, 4_000, EndsFirst),
        (SPREAD, 1_000, Parts),
        (DECILES, 2_000, EndsFirst),
        (DECILES, 10**6, Recursive),
        (DECILES, 100, ByCounts),
    ],
    ids=str,
)
def test_several_are_drawn_by_halves_where_they_do_not_drown(p, records, kind):
    assert type(chosen(p, records)) is kind


def test_a_range_has_the_same_methods_as_a_list():
    points = Range(0, 1000, 1e-4)

    assert type(chosen((25, 50, 75), 4_000, points=points)) is RecursiveOfRange
    assert type(chosen(DECILES, 10**6, points=points)) is RecursiveOfRange
    # Parts would be of few candidates, which all records can lie between.
    assert type(chosen(SPREAD, 10_000, points=points)) is Parts
    assert type(chosen(DECILES, 100, points=points)) is ByCounts


@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 50.0])
@pytest.mark.parametrize("p", [(50.0, 90.0, 99.0), SPREAD, DECILES, (1.0, 2.0, 50.0, 100.0)])
def test_every_choice_costs_the_whole_epsilon_and_finds_every_percentile(p, epsilon, relation):
    for records in (1, 100, 10**4, 10**8):
        method = chosen(p, records, epsilon=epsilon, relation=relation)
        found = method.prepare(Records(relation).of(np.arange(900.0)))()

        assert sum(one.times * one.epsilon for one in method.spends) == pytest.approx(epsilon)
        assert len(found) == len(p)
        assert list(found) == sorted(found)


def test_the_number_of_records_is_bought_public_or_assumed():
    asked = {"p": 99, "upper": 100, "step": 1, "epsilon": 1.0}
    noisy = dp.Percentiles(**asked, neighbours="add-remove").plan
    public = dp.Percentiles(**asked, neighbours="substitute").plan
    assumed = dp.Percentiles(**asked, assumed_records=500, neighbours="add-remove").plan
    central = dp.Percentiles(**asked | {"p": 50}, neighbours="add-remove").plan
    persons = {"column": "v", "user": "who", "max_per_user": 3}
    several = dp.Percentiles(**asked, **persons, neighbours="substitute").plan

    assert [one.epsilon for one in noisy.spends] == [0.04, 0.96]
    assert [one.epsilon for one in public.spends] == [1.0]
    assert assumed.mechanism.startswith("AboveThreshold")
    assert central.mechanism == "PermuteAndFlip(epsilon=1.0)"
    assert "scale=75.0" in several.mechanism


def test_a_release_says_which_method_was_chosen_and_a_budget_keeps_it(tmp_path):
    path = tmp_path / "v.parquet"
    pl.DataFrame({"v": np.arange(900.0)}).write_parquet(path)
    query = dp.Percentiles(
        column="v", p=99, upper=1000, step=1, epsilon=1.0, neighbours="add-remove"
    )
    budget = dp.Budget(5.0, neighbours="add-remove").for_request(source=str(path))

    first, again = (query.release(path, budget=budget) for _ in range(2))

    assert first.chosen.startswith("AboveThreshold(epsilon=0.96)")
    assert first.to_dict()["chosen"] == first.chosen
    assert str(first).endswith(f"chosen: {first.chosen}")
    assert (again.repeated, again.chosen, again.answer) == (True, first.chosen, first.answer)


def test_a_lazy_frame_gives_only_ranks_of_the_candidates(monkeypatch):
    """All that any method needs is counted before the method is drawn."""
    rows = pl.LazyFrame({"v": np.arange(900.0)})
    query = dp.Percentiles(
        column="v", p=[50, 90, 99], upper=1000, step=1, epsilon=9.0, neighbours="add-remove"
    )
    draw = query.design().prepare(rows)
    monkeypatch.setattr("dpselect.percentiles.reading.ranks_in", None)

    assert len(draw(query.plan).answer) == 3


def test_the_law_of_parts_is_that_of_their_independent_draws():
    """Against the sum over all draws: the ends are raised or lowered to the middle."""
    points, values = np.arange(5.0), Records(BOTH[0]).of(np.array([0, 1, 1, 2, 4.0]))
    of = points, Records(BOTH[0])

    def single(p):
        return ByRank(p, *of, dp.PermuteAndFlip(epsilon=0.5))

    middle = OneByOne((single(50.0),))
    parts = Parts((single(10.0), single(20.0)), middle, (single(80.0), single(90.0)))
    each = [single(p).probabilities(values) for p in (10.0, 20.0, 50.0, 80.0, 90.0)]
    expected = np.zeros((5, 5))
    for drawn in product(range(5), repeat=5):
        chance = np.prod([law[one] for law, one in zip(each, drawn, strict=True)])
        first, second, centre, third, fourth = drawn
        second, third = min(second, centre), max(third, centre)
        answer = min(first, second), second, centre, third, max(fourth, third)
        expected[range(5), answer] += chance

    np.testing.assert_allclose(parts.probabilities(values), expected, atol=1e-14)
