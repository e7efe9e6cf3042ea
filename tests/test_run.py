"""Runs: several queries of the same data, all or nothing as to the budget."""

import polars as pl
import pytest

import dpselect as dp
from dpselect.draws.exact import samplers
from dpselect.errors import (
    ColumnError,
    DataError,
    InsufficientBudgetError,
    NeighboursError,
    ParameterError,
)
from support.engines import ENGINES, held_by

AR = {"neighbours": "add-remove"}
WARDS = ["heart", "lung", "skin"]
STAYS = pl.DataFrame(
    {"ward": WARDS * 40, "days": [1.0, 2.0, 9.0] * 40, "month": [1, 2, 9] * 40}
)
TOP = dp.TopKeys(column="ward", k=1, candidates=WARDS, epsilon=0.1, **AR)
MEDIAN = dp.Percentiles(column="days", p=50, upper=10, step=1, epsilon=0.2, **AR)
KEYS = dp.Keys(column="ward", epsilon=1.0, delta=1e-6, **AR)


def test_releases_come_in_the_order_of_the_queries_each_with_its_entry():
    budget = dp.Budget(0.3, neighbours="add-remove")

    first, second = dp.run([MEDIAN, TOP], STAYS, budget=budget)

    assert (first.query, second.query) == (MEDIAN, TOP)
    assert [first.entry, second.entry] == [1, 2]
    assert [entry.answer["answer"] for entry in budget.entries] == [
        list(first.answer),
        list(second.answer),
    ]
    assert budget.remaining == 0


def test_a_sum_that_does_not_fit_reads_and_records_nothing():
    """Data that nothing can be read of would be another error."""
    budget = dp.Budget(0.29, neighbours="add-remove")

    with pytest.raises(InsufficientBudgetError):
        dp.run([MEDIAN, TOP], object(), budget=budget)
    with pytest.raises(DataError):
        dp.run([MEDIAN], object(), budget=budget)

    assert budget.entries == ()


def test_a_query_that_cannot_read_its_column_costs_nothing_and_no_pass():
    budget = dp.Budget(1.0, neighbours="add-remove")
    wrong = dp.TopKeys(column="wart", k=1, candidates=WARDS, epsilon=0.1, **AR)

    with pytest.raises(ColumnError):
        dp.run([TOP, wrong], STAYS, budget=budget)

    assert budget.entries == ()


def test_a_crash_in_the_second_draw_loses_its_answer_and_no_spend(tmp_path):
    budget, drawn = dp.Budget(1.0, **AR, path=tmp_path / "budget"), []

    def crash(name, draw, *_):
        drawn.append(name)
        if len({*drawn}) > 1 or len(drawn) > 1:
            raise KeyboardInterrupt
        return draw()

    with samplers.intercepted(crash), pytest.raises(KeyboardInterrupt):
        dp.run([TOP, TOP], STAYS, budget=budget)
    after = TOP.release(STAYS, budget=budget)

    first, lost, last = dp.Budget.open(budget.path).entries
    assert first.answer is not None
    assert (lost.answer, lost.refunded) == (None, 0.0)
    assert (last.sequence, last.answer["answer"]) == (after.entry, list(after.answer))


def test_the_plan_of_a_run_is_the_sum():
    plan = dp.sequential_plan([TOP.plan, MEDIAN.plan, KEYS.plan])

    assert (plan.epsilon, plan.delta) == (1.3, 1e-6)
    assert plan.rho == pytest.approx(TOP.plan.rho + MEDIAN.plan.rho + KEYS.plan.rho)
    assert plan.public[:2] == TOP.plan.public
    # Of decimal numbers: floats would add up to less.
    assert dp.sequential_plan([TOP.plan] * 10).epsilon == 1.0


@pytest.mark.parametrize("on_disk", [False, True])
def test_what_does_not_fit_together_or_is_wrong_records_nothing(on_disk, tmp_path):
    path = tmp_path / "budget" if on_disk else None
    budget = dp.Budget(1.0, neighbours="edge", path=path)

    for wrong in ({"epsilon": 0.8}, {"epsilon": -1.0}, {"neighbours": "swap"}):
        with pytest.raises((InsufficientBudgetError, ParameterError, NeighboursError)):
            budget.reserve([SPEND, {**SPEND, **wrong}])()

    assert budget.entries == ()
    assert budget.reserve([])() == ()
    assert [one.sequence for one in budget.reserve([SPEND, SPEND])()] == [1, 2]


SPEND = {"epsilon": 0.25, "neighbours": "edge"}


SURE = [
    dp.Percentiles(column="days", p=50, upper=10, step=1, epsilon=900.0, **AR),
    dp.TopKeys(column="ward", k=1, candidates=["heart", "lungs"], epsilon=900.0, **AR),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_answers_are_those_of_the_single_queries(engine):
    rows = held_by(engine, STAYS)

    found = dp.run(SURE, rows)

    assert [one.answer for one in found] == [one.release(rows).answer for one in SURE]


def test_a_query_that_fails_while_it_is_read_ends_all(tmp_path):
    path = tmp_path / "stays.parquet"
    STAYS.write_parquet(path)
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"?" * 200 + content[300:])
    budget = dp.Budget(9e3, neighbours="add-remove")

    with pytest.raises(DataError) as caught:
        dp.run(SURE, pl.scan_parquet(path), budget=budget)

    assert caught.value.__context__ is None
    assert budget.entries == ()
