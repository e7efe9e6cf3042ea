"""The method that public facts choose."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.percentiles.choice import SHARE, AfterCount, Choice, size_of
from dpselect.percentiles.methods import ByBins, ByRank, OneByOne
from dpselect.percentiles.reading import Records, counts_of
from dpselect.percentiles.sparse_vector import ByThreshold

BOTH = [dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE]
SPREAD = (10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0)
DECILES = tuple(range(10, 100, 10))
WIDE, NARROW = np.arange(1001.0), np.arange(301.0)


def chosen(p, records, *, points=WIDE, epsilon=1.0, relation=BOTH[0]):
    percents = p if isinstance(p, tuple) else (float(p),)
    whole = epsilon / (1 - SHARE * min(len(percents), 2))
    return AfterCount(percents, points, Records(relation), whole).of_number(records)


def drawn_by(method):
    """Return how a method draws, of thresholds from which end and for which percentile."""
    if isinstance(method, OneByOne):
        return ", ".join(map(drawn_by, method.singles))
    if isinstance(method, ByThreshold):
        return f"{'upwards' if method.upwards else 'downwards'} {method.p:g}"
    return type(method).__name__


CHOICES = [
    (50, 10, WIDE, 1, "upwards 50"),
    (50, 40_000, WIDE, 1, "ByRank"),
    (10, 40_000, WIDE, 1, "ByRank"),
    (90, 10**6, WIDE, 1, "ByRank"),
    # Thresholds come from the few if they are quiet, and else upwards: a false alarm is then
    # off by no more than the percentile itself. In a narrow range that may be much.
    (90, 2_000, WIDE, 1, "downwards 90"),
    (99, 40_000, WIDE, 1, "downwards 99"),
    (99, 100, WIDE, 1, "upwards 99"),
    (5, 40, WIDE, 1, "upwards 5"),
    (5, 40, NARROW, 1, "downwards 5"),
    (90, 10, NARROW, 1, "upwards 90"),
    # What would be lost in a narrow range is read off bins, but not with much epsilon.
    *((p, 3, NARROW, 1, "ByBins") for p in (5, 50, 75, (25, 50, 75), (50, 90, 99))),
    (90, 3, NARROW, 1, "upwards 90"),
    (5, 3, NARROW, 50, "downwards 5"),
    *((p, 3, NARROW, 50, "ByRank") for p in (50, 75)),
    # Several are drawn in parts where no false alarm is likely.
    *(((25, 50, 75), 2_000, WIDE, epsilon, "InParts") for epsilon in (1, 50)),
    ((25, 50, 75), 20, WIDE, 1, "ByBins"),
    ((25, 50, 75), 20, WIDE, 50, "InParts"),
    ((50, 90, 99), 4_000, WIDE, 1, "InParts"),
    ((50, 90, 99), 400, WIDE, 1, "InParts, upwards 99"),
    ((50, 90), 40, WIDE, 1, "ByRank, upwards 90"),
    (DECILES, 2_000, WIDE, 1, "InParts"),
    (DECILES, 100, WIDE, 1, "ByBins"),
    # One that is too near an end is alone.
    ((1.0, 50.0, 90.0), 2_000, WIDE, 0.5, "InParts, upwards 1"),
    ((50.0, 90.0, 99.0), 2_000, WIDE, 0.5, "InParts, upwards 99"),
    ((50.0, 75.0, 90.0, 100.0), 2_000, WIDE, 0.5, "InParts, upwards 100"),
]


@pytest.mark.parametrize(("p", "records", "points", "epsilon", "found"), CHOICES)
def test_the_choice_is_one_of_public_facts_and_the_number_of_records(
    p, records, points, epsilon, found
):
    """Each that is alone has one part of epsilon, and all that are in parts have one.

    Where all are alone, parts are as the fifth root of what is beyond.
    """
    method = chosen(p, records, points=points, epsilon=epsilon)
    parts = getattr(method, "singles", [method])
    shares = np.ones(len(parts))
    if "InParts" not in found:
        beyond = [min(one, 100 - one) for one in np.atleast_1d(p)]
        shares = np.array(beyond) ** 0.2

    assert drawn_by(method) == found
    if isinstance(method, OneByOne):
        asked = [one.epsilon for one in parts]
        assert asked == pytest.approx(epsilon * shares / shares.sum())


@pytest.mark.parametrize(
    ("p", "records", "epsilon", "kind"),
    [
        (50, 1, 0.1, OneByOne),
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
    """Several, and one near an end with less than one scale of noise beyond; by rank else."""
    few, more = (
        chosen(p, records, points=np.arange(number), epsilon=epsilon) for number in (16.0, 17.0)
    )

    assert type(few) is kind
    assert kind is OneByOne or few.ends.tolist() == [*range(16)]
    assert epsilon < 100 or type(more) is not ByBins


@pytest.mark.parametrize(("values", "upwards"), [(1001, False), (10**15, True)])
def test_a_false_alarm_is_weighed_by_all_values_of_a_range(values, upwards):
    """And not by the cells that it is drawn from."""
    asked = {"percents": (90.0,), "points": np.arange(1001.0), "records": Records(BOTH[0])}
    [single] = Choice(**asked, epsilon=0.047, assumed=4000, values=values).method.singles

    assert single.upwards is upwards


@pytest.mark.parametrize(("candidates", "kind"), [(300, ByRank), (16_601, ByThreshold)])
def test_the_more_candidates_the_less_is_a_noisy_number_believed(candidates, kind):
    """Of 100 records noise makes 480 in 5 of 100 releases; ranks are then off by the range."""
    of = (50.0,), np.arange(float(candidates)), Records(BOTH[0])
    [single] = AfterCount(*of, 0.1).of_size(int(size_of(480))).singles

    assert type(single) is kind


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
