"""Rows and runs drawn at once follow the law of one; values that are noise are called so."""

from dataclasses import replace

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from scipy.stats import chisquare

import dpselect as dp
from dpselect.budget.words import facts_of
from dpselect.draws.exact import selection
from dpselect.draws.exact.selection import largest_of_each
from dpselect.percentiles.prediction import Simulated
from dpselect.percentiles.reading import counts_of, counts_of_groups
from support.rows import Listed

ADDED = dp.Neighbours.ADD_REMOVE


@pytest.mark.parametrize("at_once", [10, 10**6])
def test_rows_that_come_in_parts_are_counted_once(at_once, monkeypatch):
    monkeypatch.setattr("dpselect.percentiles.reading.ROWS_AT_ONCE", at_once)
    rng = np.random.default_rng(1)
    part = pl.DataFrame({"group": rng.integers(0, 5, 400), "number": rng.normal(6, 3, 400)})
    rows = pl.concat([part, part, part], rechunk=False)

    read = nw.from_native(rows.lazy())
    counts = counts_of_groups(read, np.arange(13.0), rows, 5, np.float64)

    each = part.partition_by("group", as_dict=True)
    for group, found in enumerate(counts.parts()):
        alone = counts_of(each[group,]["number"].to_numpy(), np.arange(13.0))
        assert found.place.tolist() == alone.place.tolist()
        assert found.held.tolist() == (3 * alone.held).tolist()


DRAWS, FALSE_ALARM = 10_000, 1e-6


def agrees(drawn, law):
    """Whether positions follow a law; what is hardly ever drawn is one position."""
    held, expected = np.bincount(drawn, minlength=law.size), DRAWS * law / law.sum()
    few = expected < 5
    pairs = np.array([np.append(one[~few], one[few].sum()) for one in (held, expected)])
    pairs = pairs[:, pairs[1] > 0.5]
    return (
        chisquare(pairs[0], pairs[1] * pairs[0].sum() / pairs[1].sum()).pvalue > FALSE_ALARM
        and held[few].sum() < expected[few].sum() + 10 * (1 + expected[few].sum()) ** 0.5
    )


SCORES = [
    [0.0, -1.0, -1.5, -4.0],
    [-12.0] * 40 + [0.0] + [-12.0] * 40,
    [-0.3 * abs(place - 70) / 7 for place in range(200)],
]


@pytest.mark.slow
@pytest.mark.parametrize("scores", SCORES, ids=len)
@pytest.mark.parametrize("few", [0.5, 8.0])
@pytest.mark.parametrize("at_once", [0, 2**30])
def test_draws_of_rows_follow_the_law_of_one(scores, few, at_once, monkeypatch):
    """Of many a word is drawn only where it begins with as many zeros as reach the best."""
    monkeypatch.setattr(selection, "FEW", few)
    monkeypatch.setattr(selection, "CHUNK", at_once)
    objective = dp.Objective(scores, dp.GlobalSensitivity(1, ADDED))
    law = dp.PermuteAndFlip(epsilon=1.0).probabilities(objective)

    drawn = largest_of_each(Listed(np.tile(scores, (DRAWS, 1))), 1.0)

    assert agrees(drawn, law)


FEW_OR_MANY = [(50.0,), (90.0,), (50.0, 90.0, 99.0), (25.0, 50.0, 75.0)]


@pytest.mark.parametrize(
    ("p", "last"), [*((p, 365) for p in FEW_OR_MANY), ((10.0, 50.0, 90.0), 10_000)]
)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_values_that_are_noise_are_called_so_and_others_are_not(p, last, epsilon):
    """A value is near within half of the records beyond: in few releases noise, in most not.

    Fewer than 200 rows by epsilon are not told from none.
    """
    points, times = np.arange(last + 1.0), 100
    query = dp.Percentiles(p=p, upper=last, step=1, epsilon=epsilon, neighbours=ADDED)
    method = query.design().method
    for rows in (20, 50, 200, 700, 2000, 5000):
        rng = np.random.default_rng(rows)
        values = np.ceil(
            rng.lognormal(1.2, 1, rows) if last < 500 else rng.uniform(0, last, rows)
        )
        by = Simulated(np.random.default_rng(1))
        ranks = counts_of(values, points).some(np.zeros(times, dtype=int))
        noisy = by.laplace(ranks.numbers, method.scale)
        drawn = method.draw(ranks, noisy, by)
        usable = np.array([method.are_usable(one) for one in noisy.tolist()])
        wanted = 0.5 + np.array(p) / 100 * (rows - 1)
        below, upto = (np.searchsorted(np.sort(values), drawn, side) for side in SIDES)
        off = np.maximum(np.maximum(below - wanted, wanted - upto), 0)
        near = off <= np.minimum(p, 100 - np.array(p)) / 200 * rows
        for told, share in zip(usable.T, near.mean(axis=0), strict=True):
            if share < 0.45:  # surely below a half, of 100
                assert told.mean() <= 0.12
            if share >= 0.9 and rows * epsilon >= 200:
                assert told.mean() >= 0.95


SIDES = ("left", "right")


def test_a_largest_value_that_noise_may_have_hidden_is_called_so():
    query = dp.Percentiles(p=[50, 100], upper=9, step=1, epsilon=1.0, neighbours=ADDED)
    release = query.release([5] * 1000)

    assert "noise hides" in replace(release, answer=(5, 9)).facts["range"]
    assert "range" not in replace(release, answer=(5, 8)).facts


def test_a_number_of_rows_that_may_be_noise_alone_is_printed_as_a_bound():
    query = dp.Percentiles(
        column="v", p=50, upper=9, step=1, by="g", groups=["a", "b"], epsilon=1.0,
        neighbours=ADDED,
    )  # fmt: skip
    release = query.release(pl.DataFrame({"v": [5] * 900, "g": ["a"] * 900}))
    least = release.records_error + 1
    numbers = replace(release, records=(least, -4))

    assert numbers.shown()["records, noisy"] == [least, f"at most {least - 1}"]
    assert numbers.to_frame()["records"].to_list() == [least, -4]
    assert f"within {least - 1} with probability 0.95" in str(numbers)


def test_there_are_no_more_records_than_public_rows():
    """The noise has a scale of tens of thousands."""
    query = dp.Percentiles(p=50, upper=9, step=1, epsilon=0.001, neighbours="substitute")

    assert max(query.release([5, None, 7]).records for _ in range(8)) <= 3


def test_a_ledger_says_how_many_rows_there_are_about():
    budget = dp.Budget(1.0, neighbours=ADDED)
    query = dp.Percentiles(p=50, upper=9, step=1, epsilon=1.0, neighbours=ADDED)
    release = query.release([5] * 900, budget=budget)
    [entry] = budget.entries

    assert facts_of(entry, budget.totals)["rows"] == release.facts["rows"]


def test_groups_in_which_no_number_is_missing_raise_nothing():
    rows = pl.DataFrame({"g": ["a"] * 9, "v": [1.0] * 9})
    asked = {"column": "v", "by": "g", "groups": ["a"], "p": 50, "candidates": range(3)}
    query = dp.Percentiles(**asked, epsilon=100.0, neighbours=ADDED, on_invalid="raise")

    assert query.release(rows).by_group == {"a": (1,)}
