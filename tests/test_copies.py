"""Every object that holds a secret or a right to spend, by every way to have it twice.

Whatever is had of it by a copy, a pickle, a fork, a thread, a generator or a weak reference is
the same right: what was spent by one of them is spent for all. And no `repr` shows a record.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import polars as pl
import pytest

import dpselect as dp
from dpselect import tables
from dpselect.errors import BudgetError
from dpselect.keys.rows import KeyRows
from dpselect.networks import EdgeTable, Graph
from dpselect.trees import ID3Classifier, records
from support.holders import (
    AR,
    REFUSALS,
    REFUSED,
    WAYS,
    exit_of_a_fork,
    fit,
    ledger,
    memory,
    refused,
)
from support.odd_input import MARKER, TEXT
from support.packages import brought


def spend(budget):
    """Use a right that can be used once: true, or an error of ours."""
    budget.spend(0.6, neighbours=AR, mechanism="m")
    return True


def classifier(folder):
    public = {"domains": [[0, 1]], "classes": ["a", "b"], "max_records": 9, "max_depth": 0}
    return ID3Classifier(0.6, budget=memory(folder), **public)


HOLDERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "budget in memory": (memory, spend),
    "budget in a ledger": (ledger, spend),
    "view of a budget": (lambda folder: memory(folder).for_request(note="another"), spend),
    "view of a ledger": (lambda folder: ledger(folder).for_request(note="another"), spend),
    "classifier": (classifier, fit),
}
RECORDS: dict[str, Callable[..., Any]] = {}
for module in brought("holders").values():
    HOLDERS |= module.HOLDERS
    RECORDS |= module.RECORDS


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
    """Whoever comes first uses it: a child where a file has it, else its parent alone."""
    made, use = HOLDERS[name]
    one = made(tmp_path)
    child = exit_of_a_fork(lambda: use(one))

    assert child in {0, REFUSED}
    assert refused(use, one) is (child == 0)
    assert exit_of_a_fork(lambda: use(one)) == REFUSED


@every_holder
def test_threads_use_a_right_once(name, tmp_path):
    made, use = HOLDERS[name]
    one = made(tmp_path)

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(refused, [use] * 8, [one] * 8)].count(False) == 1


def holders_of_records():
    frame = pl.DataFrame({"x": [TEXT], "y": [MARKER]})
    rows = pd.DataFrame({"x": [TEXT], "y": [MARKER]})
    edges = pl.DataFrame({"s": [MARKER], "t": [1]})
    nodes = [MARKER + 1, 1]
    return {
        "objective": dp.Objective([MARKER], dp.GlobalSensitivity(1, AR)),
        "source": tables.Source(frame=frame),
        "column": tables.values.of_objects([TEXT]),
        **{name: read(rows, [TEXT]) for name, read in RECORDS.items()},
        "columns of a tree": records.read(rows),
        "records of a tree": ID3Classifier(
            1.0, domains={"x": ["a", "b"]}, classes=["a", "b"], max_records=9
        ).reader(["x", "y"]).coded((rows, ["a"])),
        "rows of keys": KeyRows(("x",)).read(frame),
        "graph": Graph.from_edges([(0, 1)], nodes=2),
        "edges": EdgeTable.from_edges(edges, source="s", target="t", nodes=nodes),
    }  # fmt: skip


def test_no_repr_shows_a_record():
    for name, held in holders_of_records().items():
        for shown in (repr(held), str(held), f"{held}"):
            assert str(MARKER) not in shown, name
            assert TEXT not in shown, name
            assert "array(" not in shown, name
