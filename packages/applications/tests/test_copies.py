"""Searches and series that are under way: what is had of them twice is the same right."""

import copy
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from sklearn.base import clone

import dpselect as dp
from applications_cases.holders import search
from dpselect.trees import ID3Classifier
from support.holders import AR, REFUSED, WAYS, exit_of_a_fork, fit, ledger, memory, refused


class Meanwhile(ID3Classifier):
    """A classifier that tries a right by every way while it is fitted."""

    tried = None

    def fit(self, x, y):
        one, found = type(self).tried, []
        type(self).tried = None
        if one is not None:
            found += [refused(fit, way(one)) for way in (copy.copy, copy.deepcopy, clone)]
            with ThreadPoolExecutor(2) as threads:
                found += threads.map(refused, [fit] * 2, [one] * 2)
            found.append(exit_of_a_fork(lambda: fit(one)) == REFUSED)
            type(self).found = found
        return super().fit(x, y)


@pytest.mark.parametrize("budget", [memory, ledger])
def test_a_search_that_is_under_way_is_paid_once(budget, tmp_path):
    one = search(tmp_path, budget, Meanwhile)
    Meanwhile.tried, Meanwhile.found = one, None

    assert fit(one)
    assert Meanwhile.found == [True] * 6
    assert len(one.budget.entries) == 1


VISITS = pl.DataFrame({"month": [1, 1, 2], "code": ["a", "b", "b"]})
SERIES = {"column": "code", "period": "month", "periods": [1, 2], "candidates": ["a", "b"]}


def test_a_series_that_is_under_way_is_drawn_once(tmp_path):
    """The right is in the file: copies of a query, threads and forks get what is in it."""
    one = dp.Series(**SERIES, k=1, epsilon=0.6, neighbours=AR)
    budget, path = ledger(tmp_path), tmp_path / "a.series"

    def release(query, through=1):
        return query.release_through(VISITS, through, path=path, budget=budget).sums

    first = release(one)
    for way in WAYS.values():
        assert release(way(one)) == first

    def second(_=None):
        return release(one, 2)

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(second, range(8)))
    [both] = found
    assert both[:1] == first
    assert exit_of_a_fork(lambda: second() == both) == 0
    assert len(budget.entries) == 1
