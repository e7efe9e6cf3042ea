"""Sizes of written queries: more than can be planned is refused before memory is taken."""

import subprocess
import sys
import tracemalloc

import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import DPSelectError, ParameterError
from dpselect.query import Query
from dpselect.writing import MOST_DEPTH, check_size
from support.refusals import refused

LONG = {"range": [0, 10**9]}
AR = {"neighbours": "add-remove", "epsilon": 1.0}
TOP = {"query": "TopKeys", "column": "a", "k": 1, "candidates": ["u"], **AR}
NODES = {"query": "TopNodes", "source": "i", "target": "j", "k": 1, "metric": "degree"}
NODES |= {"epsilon": 1.0}
TREE = {"query": "ID3Tree", "label": "b", "classes": ["u", "v"], "max_records": 50, **AR}
FIELDS = [
    TOP | {"candidates": LONG},
    TOP | {"by": "b", "groups": LONG},
    TOP | {"column": LONG},
    {"query": "Percentiles", "column": "x", "p": LONG, "upper": 9, "step": 1, **AR},
    {"query": "Percentiles", "column": "x", "p": 50, "candidates": LONG, **AR},
    {"query": "Map", "x": "x", "y": "y", "bounds": LONG, "grids": [2], **AR},
    {"query": "Map", "x": "x", "y": "y", "bounds": [0, 0, 9, 9], "grids": LONG, **AR},
    TREE | {"domains": {"x": LONG}},
    NODES | {"nodes": LONG},
    NODES | {"nodes": 10**9},
]


def asked(*queries):
    return {"data": {"path": "rows.parquet"}, "queries": list(queries)}


@pytest.mark.parametrize("query", FIELDS)
def test_sixty_bytes_take_no_memory(query):
    """A range of 10**9 took 60 GB, also where only a cost was asked for."""
    for read in (Query.from_dict, lambda one: dp.Request.from_dict(asked(one))):
        with refused("most_values"):
            read(query)


@pytest.mark.parametrize("query", FIELDS[:-1])
def test_a_range_takes_no_memory_in_python_either(query):
    of_python = {"x": range(10**9)} if "domains" in query else range(10**9)
    long = [name for name, one in query.items() if one in (LONG, {"x": LONG})]
    kind, *fields = (query | dict.fromkeys(long, of_python)).items()
    with pytest.raises(DPSelectError):
        getattr(dp, kind[1])(**dict(fields))


def test_ranges_count_with_their_values_and_lists_with_theirs():
    check_size({"range": [0, 999_997]})
    for value in (
        {"range": [0, 10**6 + 1]},
        {"range": [0, 2**80]},
        {"range": [2**80, 0, -7]},
        [{"range": [0, 600_000]}] * 2,
        [0] * (10**6 + 1),
        {"a": {"b": [{"range": [0, 10**7]}]}},
    ):
        with refused("most_values"):
            check_size(value)
    held = 1
    for _ in range(MOST_DEPTH):
        held = [held]
    check_size(held)
    for depth in (1, 100_000):
        deep = held
        for _ in range(depth):
            deep = [deep]
        with pytest.raises(ParameterError):
            check_size(deep)


def test_a_policy_states_another_number():
    policy = dp.Policy.from_dict(
        {
            "data": {"path": "rows.parquet"},
            "unit": {"neighbours": "add-remove"},
            "release": {"epsilon": 1.0, "most_values": 50},
        }
    )
    few, many = (TOP | {"candidates": {"range": [0, size]}} for size in (20, 60))
    assert dp.Request.from_dict(asked(few), policy=policy).plan.epsilon == 1.0
    with refused("most_values"):
        dp.Request.from_dict(asked(many), policy=policy)
    with refused("most_values"):
        dp.Request.from_dict(asked(few, few, few), policy=policy)


def test_a_request_holds_so_many_queries():
    with refused("queries"):
        dp.Request.from_dict(asked(*[TOP] * 20_000))


@pytest.mark.slow
def test_odd_requests_are_planned_or_refused_within_a_gigabyte(tmp_path):
    """``benchmarks/odd_requests.py`` tries 10,000 of them."""
    program = "benchmarks/odd_requests.py"
    out = tmp_path / "found.csv"
    subprocess.run(
        [sys.executable, program, "--cases", "200", "--out", out], check=True, timeout=1200
    )
    head, *rows = (line.split(",") for line in out.read_text(encoding="utf-8").splitlines())
    killed, foreign = head.index("killed"), head.index("foreign")
    assert rows
    assert all((row[killed], row[foreign]) == ("0", "0") for row in rows), rows


def test_a_million_candidates_are_planned_within_100_megabytes():
    """164 MB before, of which a range of Python and a list of it were 80."""
    tracemalloc.start()
    try:
        dp.Percentiles(p=50, candidates=range(10**6), **AR)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 60e6


@pytest.mark.parametrize(
    "changed",
    [
        {"classes": [[{"a": 1}], "u"]},
        {"mechanism": "x" * 10**6},
        {"label": "x" * 10**6},
    ],
)
def test_odd_fields_of_a_tree_end_in_a_short_error(changed, tmp_path):
    """Found among 10,000 odd requests, by ``benchmarks/odd_requests.py``."""
    pl.DataFrame({"x": [1.0], "b": ["u"]}).write_parquet(tmp_path / "rows.parquet")
    tree = TREE | {"domains": {"x": {"low": 0, "high": 9, "bins": 3}}} | changed
    data = {"path": str(tmp_path / "rows.parquet")}

    with pytest.raises(DPSelectError) as error:
        dp.Request.from_dict({"data": data, "queries": [tree]}).check()
    assert len(str(error.value)) < 10_000
