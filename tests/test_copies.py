"""Every object that holds a secret or a right to spend, by every way to have it twice.

Whatever is had of it by a copy, a pickle, a fork, a thread, a generator or a weak reference is
the same right: what was spent by one of them is spent for all. And no `repr` shows a record.
"""

import copy
import os
import pickle
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import dpselect as dp
from dpselect import tables
from dpselect.errors import BudgetError, InsufficientBudgetError, ParameterError
from dpselect.keys.rows import KeyRows
from dpselect.networks import EdgeTable, Graph
from dpselect.trees import ID3Classifier, records
from dpselect_applications.tuning import PrivateSearchCV
from dpselect_applications.tuning.train_validation import Records
from support.odd_input import MARKER, TEXT

AR = dp.Neighbours.ADD_REMOVE


def spend(budget):
    """Use a right that can be used once: true, or an error of ours."""
    budget.spend(0.6, neighbours=AR, mechanism="m")
    return True


def find(stream):
    return stream.is_above(10**6)


def fit(classifier):
    classifier.fit([[0], [1]], ["a", "b"])
    return True


def memory(_):
    return dp.Budget(1.0, neighbours=AR)


def ledger(folder):
    return dp.Budget(1.0, neighbours=AR, path=folder / "ledger.sqlite")


def view(folder):
    return memory(folder).for_request(note="another")


def stream(_):
    query = dp.AboveThreshold(
        threshold=1000, sensitivity=1, monotone=True, stops=1, epsilon=50.0, neighbours=AR
    )
    return query.stream().__enter__()


def classifier(folder):
    public = {"domains": [[0, 1]], "classes": ["a", "b"], "max_records": 9, "max_depth": 0}
    return ID3Classifier(0.6, budget=memory(folder), **public)


def search(folder, budget=memory, kind=ID3Classifier):
    public = {"domains": [[0, 1]], "classes": ["a", "b"], "max_records": 9}
    grid = {"max_depth": [0, 1]}
    return PrivateSearchCV(kind(1.0, **public), grid, epsilon=0.6, budget=budget(folder))


HOLDERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "budget in memory": (memory, spend),
    "budget in a ledger": (ledger, spend),
    "view of a budget": (view, spend),
    "view of a ledger": (lambda folder: ledger(folder).for_request(note="another"), spend),
    "stream": (stream, find),
    "classifier": (classifier, fit),
    "search": (search, fit),
    "search with a ledger": (lambda folder: search(folder, ledger), fit),
}


def in_generator(one):
    def yielding():
        yield one
        yield one

    first, second = yielding()
    assert first is second
    return first


WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy of a list": lambda one: copy.deepcopy([one, one])[1],
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301 -- our own bytes
    "clone": lambda one: clone(one, safe=False),
    "weak reference": lambda one: weakref.ref(one)(),
    "weak proxy": weakref.proxy,
    "generator": in_generator,
}
REFUSALS = (BudgetError, InsufficientBudgetError, ParameterError)
REFUSED, FAILED = 3, 4


def exit_of_a_fork(use):
    """Return how a child that calls a function ends: 0 or 1 if that is true or not."""
    child = os.fork()
    if child == 0:  # pragma: no cover -- in the child
        try:
            os._exit(0 if use() else 1)
        except REFUSALS:
            os._exit(REFUSED)
        except BaseException:  # noqa: BLE001 -- a child never returns to pytest
            os._exit(FAILED)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


every_holder = pytest.mark.parametrize("name", HOLDERS)


@every_holder
@pytest.mark.parametrize("way", WAYS)
def test_what_is_used_once_is_used_for_every_copy(name, way, tmp_path):
    made, use = HOLDERS[name]
    one = made(tmp_path)
    try:
        other = WAYS[way](one)
    except BudgetError:
        assert way == "pickle"
        return

    assert use(other)
    with pytest.raises(REFUSALS):
        use(one)
    with pytest.raises(REFUSALS):
        use(WAYS[way](one))


@every_holder
def test_a_fork_has_no_right_of_its_own(name, tmp_path):
    made, use = HOLDERS[name]
    one = made(tmp_path)
    assert use(one)
    assert exit_of_a_fork(lambda: use(one)) == REFUSED


@every_holder
def test_threads_use_a_right_once(name, tmp_path):
    made, use = HOLDERS[name]
    one = made(tmp_path)

    def tried(_):
        try:
            return use(one)
        except REFUSALS:
            return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(tried, range(8))) == 1


def refused(use, one):
    """Return whether whoever uses a right is refused."""
    try:
        use(one)
    except REFUSALS:
        return True
    return False


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


def holders_of_records():
    frame = pl.DataFrame({"x": [TEXT], "y": [MARKER]})
    rows = pd.DataFrame({"x": [TEXT], "y": [MARKER]})
    edges = pl.DataFrame({"s": [MARKER], "t": [1]})
    nodes = [MARKER + 1, 1]
    return {
        "objective": dp.Objective([MARKER], dp.GlobalSensitivity(1, AR)),
        "source": tables.Source(frame=frame),
        "column": tables.values.of_objects([TEXT]),
        "records of a search": Records.read(rows, [TEXT]),
        "columns of a tree": records.read(rows),
        "records of a tree": ID3Classifier(
            1.0, domains={"x": ["a", "b"]}, classes=["a", "b"], max_records=9
        ).reader(["x", "y"]).coded((rows, ["a"])),
        "rows of keys": KeyRows(("x",)).read(frame),
        "graph": Graph.from_edges([(0, 1)], nodes=2),
        "edges": EdgeTable.from_edges(edges, source="s", target="t", nodes=nodes),
        "stream": stream(None),
    }  # fmt: skip


def test_no_repr_shows_a_record():
    for name, held in holders_of_records().items():
        for shown in (repr(held), str(held), f"{held}"):
            assert str(MARKER) not in shown, name
            assert TEXT not in shown, name
            assert "array(" not in shown, name
