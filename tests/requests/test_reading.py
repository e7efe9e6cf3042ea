"""Columns that a query is said to read: all that it reads, in every release of the contract."""

from dataclasses import fields

import narwhals as nw
import numpy as np
import pytest

from dpselect.query import NAMING
from dpselect.requests.document import titles
from dpselect.requests.policy import columns_of
from support.public import every_query
from support.releases import all_cases


def table_of(case):
    """Return a table that a case reads columns of; None if it reads something else."""
    database, _ = case.pair(np.random.default_rng(1))
    if type(case.query).__name__ not in titles() or case.run is not None:
        return None
    rows = nw.from_native(case.data(database), pass_through=True)
    return rows if isinstance(rows, nw.DataFrame | nw.LazyFrame) else None


CASES = {case.name: case for case in all_cases() if table_of(case) is not None}


@pytest.mark.parametrize("name", CASES)
def test_no_other_column_is_read(name):
    """A policy and a run know no other."""
    query = CASES[name].query
    said = dict(columns_of(query))

    query.release(nw.to_native(table_of(CASES[name]).select(*said)))


ELSEWHERE = {"Series": "dpselect series", "TopVariants": "dpselect variants"}
"""Queries of a table that keep a state or read counts of records: commands of their own."""


def test_every_query_of_a_table_is_in_requests_and_in_the_contract():
    """A new one fails here until it can be asked in a file, limited, and is replayed."""
    named = {
        kind.__name__
        for kind in every_query()
        if {one.name for one in fields(kind)} & set(NAMING)
    }

    assert named - set(ELSEWHERE) == set(titles())
    assert set(ELSEWHERE) < named
    assert named <= {type(case.query).__name__ for case in all_cases()}
