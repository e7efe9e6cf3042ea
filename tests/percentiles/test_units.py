"""Percentiles of dates, times, durations, decimals and integers, in every container."""
# ruff: noqa: DTZ001

import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dp
from dpselect.errors import ColumnError
from dpselect.percentiles.candidates import Unit
from dpselect.tables.columns import Measure
from support import engines

DAY, N = timedelta(days=1), 400
RNG = np.random.default_rng(0)
STAYS = RNG.geometric(0.2, N).tolist()
IN = [date(2023, 12, 20) + int(k) * DAY for k in RNG.integers(0, 30, N)]
OUT = [first + stay * DAY for first, stay in zip(IN, STAYS, strict=True)]
AT = [datetime(2024, 1, 1) + timedelta(seconds=int(k)) for k in RNG.integers(0, 10**6, N)]
TABLE = pl.DataFrame(
    {
        "in": IN,
        "out": OUT,
        "at": AT,
        "stay": [stay * DAY for stay in STAYS],
        "pay": [Decimal(stay) / 100 for stay in STAYS],
        "ward": ["a", "b"] * (N // 2),
    }
).with_columns(pl.col("pay").cast(pl.Decimal(10, 2)))
TYPED = ["in", "out", "at"]

QUESTIONS = {
    "date": {
        "column": "in",
        "lower": date(2023, 12, 1),
        "upper": date(2024, 3, 1),
        "step": DAY,
    },
    "difference": {"column": "out", "minus": "in", "upper": 60 * DAY, "step": DAY},
    "time": {
        "column": "at",
        "lower": datetime(2024, 1, 1),
        "upper": datetime(2024, 1, 13),
        "step": timedelta(hours=1),
    },
    "duration": {"column": "stay", "upper": 60 * DAY, "step": DAY / 2},
    "decimal": {"column": "pay", "upper": Decimal(1), "step": Decimal("0.01")},
}


def query(asked, **more):
    given = {"p": [50, 90], "epsilon": 900.0, "neighbours": "add-remove", **asked, **more}
    return dp.Percentiles(**given)


def truth(values, p):
    return sorted(values)[round(p / 100 * (N - 1))]


def written(name, tmp_path):
    path = tmp_path / f"t.{name}"
    if name == "csv":
        TABLE.drop("stay").write_csv(path)
    else:
        TABLE.write_parquet(path)
    return path


def on_spark(_tmp_path):
    rows = TABLE.select(TYPED).rows()
    return engines.spark().createDataFrame(rows, "in date, out date, at timestamp_ntz")


HELD = {
    "polars": lambda _path: TABLE,
    "lazy": lambda _path: TABLE.lazy(),
    "duckdb": lambda _path: duckdb.from_arrow(TABLE.to_arrow()),
    "arrow": lambda _path: TABLE.to_arrow(),
    "pandas": lambda _path: TABLE.to_pandas(date_as_object=True),
    "parquet": partial(written, "parquet"),
    "csv": partial(written, "csv"),
    "spark": on_spark,
}
CONTAINERS = [*list(HELD)[:7], engines.SPARK]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_in_the_units_that_were_given(name, container, tmp_path):
    asked = QUESTIONS[name]
    data = HELD[container](tmp_path)
    if container == "csv" and name == "duration":
        pytest.skip("a text file has no durations")
    if container == "spark" and asked["column"] not in TYPED:
        pytest.skip("Spark is tried on dates and times")
    release = query(asked).release(data)
    values = [stay * DAY for stay in STAYS] if "minus" in asked else TABLE[asked["column"]]
    for p, answer in zip([50, 90], release.answer, strict=True):
        assert type(answer) is type(asked["upper"])
        assert abs(answer - truth(list(values), p)) <= asked["step"]


def test_answers_of_a_ledger_are_read_as_they_were_drawn(tmp_path):
    path = tmp_path / "spent"
    asked = query(QUESTIONS["difference"], interval=0.9)
    budget = dp.Budget(1000.0, neighbours="add-remove", path=path).for_request(source="a")
    first = asked.release(TABLE, budget=budget)
    again = asked.release("none", budget=dp.Budget.open(path).for_request(source="a"))
    assert again.repeated
    assert (again.answer, again.interval) == (first.answer, first.interval)
    assert "4 days (" in str(again)


def test_integers_come_back_as_integers():
    assert [type(one) for one in query({"upper": 60, "step": 1}).release(STAYS).answer] == [
        int,
        int,
    ]
    assert type(query({"candidates": [0, 5, 10]}, p=50).release(STAYS).candidate) is int
    assert type(query({"upper": 60, "step": 0.5}, p=50).release(STAYS).candidate) is float


def test_numbers_have_differences_too():
    table = pl.DataFrame({"end": [5.0, 7.0, 9.0] * 40, "start": [1, 2, 3] * 40})
    asked = {"column": "end", "minus": "start", "upper": 20, "step": 1}
    for data in (table, table.lazy(), table.to_pandas(), duckdb.from_arrow(table.to_arrow())):
        assert query(asked, p=50).release(data).candidate == 5


def test_a_value_is_coded_by_itself_and_what_is_none_is_missing():
    odd = [IN[0], datetime(2024, 1, 1), None, "2024-01-01", 7, np.datetime64("NaT"),
           np.datetime64("2024-01-02")]  # fmt: skip
    found = Measure("day").of(odd, None)
    days = [(IN[0] - date(1970, 1, 1)).days, 19_723.0, 19_724.0]
    assert found[[0, 1, 6]].tolist() == days
    assert np.isnan(found[2:6]).all()


@pytest.mark.parametrize("unit", ["ns", "us"])
def test_parts_of_a_microsecond_are_cut_alike(unit):
    times = np.array([-1999, -1, 1, 1999], dtype=f"m8[{unit}]")
    expected = [-1, 0, 0, 1] if unit == "ns" else [-1999, -1, 1, 1999]
    frame = pl.DataFrame({"t": times})
    for data in (frame, frame.to_pandas(), frame.to_arrow()):
        read = Measure("duration").of(data, "t").collect()
        assert read["t"].to_list() == expected
    assert Measure("duration").of(times, None).tolist() == expected


@pytest.mark.parametrize(
    ("asked", "column"),
    [("date", "at"), ("date", "pay"), ("duration", "in"), ("time", "stay"), ("date", "ward")],
)
def test_columns_of_another_type_are_refused(asked, column):
    with pytest.raises(ColumnError):
        query({**QUESTIONS[asked], "column": column}).check(TABLE)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_what_can_be_released_is_said_before_there_are_data(asked):
    assert query(QUESTIONS[asked]).predicted().keys() >= {"values"}


def test_an_end_that_is_no_value_is_said():
    release = query({"upper": 60, "step": 7}, p=50).release(STAYS)
    assert "values: up to 56: 60 is not a whole number of steps above `lower`" in str(release)
    assert query({"upper": 56, "step": 7}).ends_early is None


def test_points_in_time_of_duckdb_are_exact_and_infinite_ones_missing():
    """In a session of any time zone; a row that is infinite decides of no other."""
    late = datetime(2024, 7, 1, 0, 0, 0, 1)
    types = {"date": late.date(), "timestamp": late, "timestamptz": late.replace(tzinfo=UTC)}
    columns = {
        kind: f"unnest(['{held.isoformat()}', 'infinity', '-infinity']::{kind}[]) as {kind}_"
        for kind, held in types.items()
    }
    connection = duckdb.connect()
    connection.execute("set timezone = 'America/New_York'")
    connection.execute(f"create table rows_ as select {', '.join(columns.values())}")
    moments = {"date": "day", "timestamp": "local time", "timestamptz": "time"}
    days = (late.date() - date(1970, 1, 1)).days
    for kind, moment in moments.items():
        read = Measure(moment).of(connection.table("rows_"), f"{kind}_")
        found = nw.from_native(read).select(f"{kind}_").collect()[f"{kind}_"].to_list()
        number = days if kind == "date" else days * 86_400_000_000 + 1
        assert sorted(found, key=str) == [number, None, None]


@pytest.mark.parametrize("odd", ["n/a", 1j, [1], 10**400, None, -(2**63)])
def test_a_value_that_is_no_number_leaves_out_its_own_difference_alone(odd):
    """Nor does an integer that floats do not hold, in Arrow."""
    asked = {"column": "end", "minus": "start", "upper": 20, "step": 1}
    query = dp.Percentiles(p=50, epsilon=200.0, neighbours="add-remove", **asked)
    end, start = [*[9] * 50, odd], [*[2] * 50, 1]
    of_objects = pd.DataFrame({"end": pd.Series(end, dtype=object), "start": start})
    table = pa.table({"end": end, "start": start}) if odd == -(2**63) else of_objects

    assert query.release(table).answer == (7.0,)


def test_many_numbers_are_asked_for_their_unit_without_a_loop():
    calls = []
    sys.setprofile(lambda _frame, event, _arg: calls.append(event))
    try:
        Unit.of(range(10_000), None), Unit.of(list(map(float, range(10_000))), None)
    finally:
        sys.setprofile(None)
    assert len(calls) < 200
