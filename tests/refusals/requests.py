"""Refusals of requests, of queries that are read, of runs and of prices."""

from math import inf, nan

import dpselect as dp
from dpselect.errors import ColumnError, NeighboursError
from dpselect.plan import Plan, Spend
from dpselect.query import Query
from support.refusals import Each, refusing

AR = {"neighbours": "add-remove"}
TOP = {"query": "TopKeys", "column": "ward", "k": 1, "candidates": ["a", "b"], "epsilon": 0.5}
MEDIAN = {"query": "Percentiles", "column": "days", "p": 50, "upper": 60, "step": 1}
MEDIAN |= {"epsilon": 1.0}
OF = {"user": "patient", "max_per_user": 2}
END = ', "neighbours": "add-remove"}'
RECORD = {"query": "PercentileRecord", "column": "days", "p": 50, "upper": 60, "epsilon": 1.0}
HUBS = {"query": "Hubs", "nodes": 5, "k": 1, "metric": "ego-betweenness", "epsilon": 1.0}
CELLS = {"query": "HeavyCells", "x": "a", "y": "b", "bounds": [0, 0, 1, 1], "grid": 2}
CELLS |= {"k": 1, "epsilon": 1.0}
PERSONS = [{**MEDIAN, **AR}, {**TOP, **AR, **OF}]
NO_PRICES = Each([-0.1, inf, nan, "1", True, None])


def request(**tables):
    dp.Request.from_dict(tables)


def policy(unit="add-remove", claims=None, **person):
    tables = {
        "ledger": "clinic.budget",
        "data": {"path": "stays.parquet"},
        "unit": {"neighbours": unit},
        "release": {"epsilon": 1.0},
        "person": {"epsilon": 1.0, **person},
    }
    dp.Policy.from_dict(tables if claims is None else {**tables, "claims": claims})


def plan(*spends, epsilon=1.0):
    said = {"name": "release", "mechanism": "mine", "neighbours": dp.Neighbours.EDGE}
    Plan(spends=spends, epsilon=epsilon, **said)


KEYS = {"column": "ward", "k": 1, "candidates": ["a"], "epsilon": 0.1}
FIRST, REPLACED = (dp.TopKeys(**KEYS, neighbours=one) for one in ("add-remove", "substitute"))
ASKED = refusing(request, data={"path": "stays.parquet"}, unit=AR, queries=[TOP])
GRANTED = refusing(policy)
CLAIMED = refusing(policy, unit="swap")
READ = refusing(Query.from_json)
PRICE = refusing(Spend, "all", epsilon=0.1)
RUN = refusing(dp.run, data={"ward": ["a"]})

ROWS = [
    ASKED("[data] has no key 'pth'; did you mean 'path'", data={"pth": "a"}),
    ASKED("where of [data] must be a list of texts", data={"where": "a = 1"}),
    ASKED("must be an integer", unit={"max_per_user": "2"}),
    ASKED("data of the file must be a table", data=3),
    ASKED("must be a list of tables", queries=[1]),
    ASKED("queries", queries=[]),
    ASKED("needs the path", data={}),
    ASKED("must be one of memory", data={"path": "a", "engine": "pandas"}),
    ASKED("needs its query", queries=[{"column": "a"}]),
    ASKED("no query ['TopKeys'] of a table", queries=[{"query": ["TopKeys"]}]),
    ASKED("no query 'Selection' of a table", queries=[{"query": "Selection"}]),
    ASKED("needs epsilon", queries=[{"query": "TopKeys", "column": "a"}]),
    ASKED("needs column", ColumnError, queries=[{**TOP, "column": None}]),
    ASKED("another query too", queries=[{**TOP, "name": "a"}, {**MEDIAN, "name": "a"}]),
    ASKED("where goes with neighbours", unit={"neighbours": "substitute"},
          data={"path": "a", "where": ["b = 1"]}),
    ASKED("and [unit] says", NeighboursError,
          queries=Each([[{**MEDIAN, **OF}], [HUBS], [RECORD]])),
    ASKED("one unit", NeighboursError, unit={}, queries=PERSONS),
    ASKED("", queries=[{**TOP, "name": "a"}, {**MEDIAN, "name": "A"}]),
    ASKED("", queries=Each([[{**TOP, "name": one}] for one in ("n" * 300, "\u00e4" * 101)])),
    ASKED("", queries=[{**TOP, "column": ["a", "b"], "candidates": [["x", "y", "z"]]}]),
    ASKED("", queries=[{**TOP, "column": ["a", "b"], "candidates": ["x"]}]),
    ASKED("", queries=[{**MEDIAN, "minus": MEDIAN["column"]}]),
    ASKED("", queries=[{**CELLS, "delta": 1e-6, "by": {"a": 1}}]),
    # When the policy is read, and not when its ledger is made, which may be there.
    GRANTED("", shares=Each([{"alice": 0.7, "bob": 0.4}, {"alice": -0.1}, {"": 0.1}])),
    GRANTED("", composition="add"),
    GRANTED("", period="year"),
    GRANTED("", period="week", period_unit="each-period"),
    GRANTED("", delta=1.5),
    CLAIMED("d of [claims] must be an integer", claims={"d": "27"}),
    CLAIMED("n must be", claims={"n": -1}),
    CLAIMED("label of [claims] must be a text", claims={"label": 3}),
    CLAIMED("no key 'max_recrods'; did you mean 'max_records'", claims={"max_recrods": 3}),
    READ("must be one JSON object", text=Each(["[]", "{"])),
    READ("a query must name its class", text=Each(['{"epsilon": 1}', '{"query": 1}'])),
    READ("there is no query 'TopKey'; did you mean 'TopKeys'?", text='{"query": "TopKey"}'),
    READ("there is no query 'Query'", text='{"query": "Query"}'),
    READ("there is no query 'os.TopKeys'", text='{"query": "os.TopKeys"}'),
    READ("a query must be of schema 1", text='{"query": "TopKeys", "dpselect": 2}'),
    READ("a TopKeys has no field kk; did you mean k?", text='{"query": "TopKeys", "kk": 1}'),
    READ("a TopKeys has no field plan", text='{"query": "TopKeys", "plan": 1}'),
    READ("a TopKeys needs epsilon (Price of the", text='{"query": "TopKeys", "k": 1}'),
    READ("k must be", text='{"query": "TopKeys", "k": 0, "epsilon": 1, "delta": 0.1' + END),
    READ("that is not a float", text='{"query": "TopKeys", "epsilon": {"float": "x"}' + END),
    READ("that is not a date", text='{"query": "TopKeys", "epsilon": {"date": 0}' + END),
    PRICE("epsilon", epsilon=NO_PRICES),
    refusing(plan, Spend("all", 0.0))("epsilon", epsilon=NO_PRICES),
    PRICE("delta must be between 0 and 1", delta=Each([1.5, -0.1])),
    PRICE("times must be at least 1", times=0),
    PRICE("rho must be between", rho=-1.0),
    refusing(plan, Spend("tune", 0.6, times=2))("the steps cost epsilon"),
    refusing(plan, Spend("tune", 0.6, delta=1e-6))("the steps cost delta"),
    RUN("at least one", queries=[]),
    RUN("queries", queries=["TopKeys"]),
    RUN("add-remove and substitute", NeighboursError, queries=[FIRST, REPLACED]),
]  # fmt: skip
