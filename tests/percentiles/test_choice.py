"""The method that public facts choose."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.percentiles.choice import SHARE, AfterCount
from dpselect.percentiles.methods import ByBins, ByRank, OneByOne
from dpselect.percentiles.reading import Records, counts_of
from dpselect.percentiles.sparse_vector import ByThreshold, InParts

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
SPREAD = (10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0)
DECILES = tuple(range(10, 100, 10))


def chosen(p, records, *, points=None, epsilon=1.0, relation=BOTH[0], users=None):
    points = np.arange(1001.0) if points is None else points
    percents = p if isinstance(p, tuple) else (float(p),)
    of = Records(relation, "v" if users else None, users)
    whole = epsilon / (1 - SHARE * min(len(percents), 2))
    return AfterCount(percents, points, of, whole).of_number(records)


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
    ("p", "records", "epsilon", "kind"),
    [
        (50, 100, 0.1, OneByOne),
        (90, 200, 0.1, OneByOne),
        (90, 100, 0.09, ByBins),
        (99, 100, 0.9, ByBins),
        (99, 100, 1.1, OneByOne),
        ((50, 99), 10, 0.1, ByBins),
        (DECILES, 10**6, 100.0, ByBins),
    ],
    ids=str,
)
def test_few_candidates_are_all_counted_where_that_tells_more(p, records, epsilon, kind):
    """Several, and one with less than one scale of noise beyond; by rank else."""
    few, more = (
        chosen(p, records, points=np.arange(number), epsilon=epsilon) for number in (16.0, 17.0)
    )

    assert type(few) is kind
    assert kind is OneByOne or few.ends.tolist() == [*range(16)]
    assert epsilon < 100 or type(more) is not ByBins


@pytest.mark.parametrize(
    ("p", "records", "candidates", "upwards"),
    [
        (99, 40_000, 1001, False),
        (99, 100, 1001, True),
        (5, 40, 1001, True),
        (5, 40, 301, False),
        (50, 10, 1001, True),
        (90, 10, 301, True),
    ],
)
def test_thresholds_come_from_the_few_if_they_are_quiet(p, records, candidates, upwards):
    """And else upwards: a false alarm is then off by no more than the percentile itself.

    In a narrow range, where that may be much, downwards if that is quiet.
    """
    [single] = chosen(p, records, points=np.arange(float(candidates))).singles

    assert single.upwards is upwards


@pytest.mark.parametrize(
    "p", [(1.0, 50.0, 90.0), (50.0, 90.0, 99.0), (50.0, 75.0, 90.0, 100.0)]
)
def test_one_that_is_too_near_an_end_is_alone_and_the_others_in_parts(p):
    """With one part of epsilon for each that is alone, and one for all that are in parts."""
    in_parts, alone = chosen(p, 2000, epsilon=0.5).singles

    assert sorted((*in_parts.percents, alone.p)) == list(p)
    assert alone.p not in {50.0, 75.0, 90.0}
    assert in_parts.epsilon == alone.epsilon == pytest.approx(0.25)


@pytest.mark.parametrize(("values", "upwards"), [(1001, False), (10**15, True)])
def test_a_false_alarm_is_weighed_by_all_values_of_a_range(values, upwards):
    """And not by the cells that it is drawn from."""
    asked = {"percents": (90.0,), "points": np.arange(1001.0), "records": Records(BOTH[0])}
    [single] = AfterCount(**asked, whole=0.05, values=values).of_number(4000).singles

    assert single.upwards is upwards


@pytest.mark.parametrize("p", [5, 50, 75, (25, 50, 75), (50, 90, 99)], ids=str)
def test_what_is_lost_in_a_narrow_range_is_read_off_bins(p):
    """But not with much epsilon, at which bins err all the same."""
    points = np.arange(301.0)

    assert type(chosen(p, 3, points=points)) is ByBins
    assert type(chosen(p, 3, points=points, epsilon=50.0)) is not ByBins
    assert type(chosen(90, 3, points=points)) is OneByOne


@pytest.mark.parametrize(
    ("p", "records", "kind"),
    [
        ((25, 50, 75), 2_000, InParts),
        ((25, 50, 75), 20, ByBins),
        ((50, 90, 99), 4_000, InParts),
        ((50, 90, 99), 400, OneByOne),
        ((50, 90), 40, OneByOne),
        (DECILES, 2_000, InParts),
        (DECILES, 100, ByBins),
    ],
    ids=str,
)
def test_several_are_drawn_in_parts_where_no_false_alarm_is_likely(p, records, kind):
    assert type(chosen(p, records)) is kind
    # Bins err at any epsilon.
    assert type(chosen(p, records, epsilon=50.0)) is not ByBins


@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 50.0])
@pytest.mark.parametrize("p", [(50.0, 90.0, 99.0), SPREAD, DECILES, (1.0, 2.0, 50.0, 100.0)])
def test_every_choice_finds_every_percentile(p, epsilon, relation):
    for records in (1, 100, 10**4, 10**8):
        method = chosen(p, records, epsilon=epsilon, relation=relation)
        [found] = method.draw(counts_of(np.arange(900.0), np.arange(1001.0)), np.array([900]))

        assert len(found) == len(p)
        assert list(found) == sorted(found)


@pytest.mark.parametrize("relation", BOTH, ids=str)
@pytest.mark.parametrize("p", [50, 99, (25, 50, 75)])
def test_the_number_of_records_is_bought_whatever_is_assumed(p, relation):
    asked = {"p": p, "upper": 100, "step": 1, "epsilon": 1.0, "neighbours": relation}
    share = 0.06 if isinstance(p, int) else 0.12
    noisy, assumed = (dp.Percentiles(**asked, assumed_records=one).plan for one in (None, 500))

    assert [one.epsilon for one in noisy.spends] == [share, 1 - share]
    assert noisy.spends == assumed.spends
    assert noisy.mechanism == assumed.mechanism


def test_a_release_says_which_method_was_chosen_and_a_budget_keeps_it(tmp_path):
    path = tmp_path / "v.parquet"
    pl.DataFrame({"v": np.arange(900.0)}).write_parquet(path)
    query = dp.Percentiles(
        column="v", p=99, upper=1000, step=1, epsilon=1.0, neighbours="add-remove"
    )
    budget = dp.Budget(5.0, neighbours="add-remove").for_request(source=str(path))

    first, again = (query.release(path, budget=budget) for _ in range(2))

    assert first.chosen.startswith("AboveThreshold(epsilon=0.94)")
    assert first.to_dict()["chosen"] == first.chosen
    assert str(first).endswith(f"chosen: {first.chosen}")
    assert (again.repeated, again.chosen, again.answer) == (True, first.chosen, first.answer)
