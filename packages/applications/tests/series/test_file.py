"""The file of a series: each period is drawn once, and paid for once."""

import polars as pl
import pytest

import dpselect as dp
from dpselect.draws.exact import samplers
from dpselect.errors import (
    ColumnError,
    InsufficientBudgetError,
    LedgerError,
    NeighboursError,
)
from dpselect_applications.series import file
from support.refusals import refused

PERIODS = ["2026-01", "2026-02", "2026-03", "2026-04"]
ROWS = pl.DataFrame(
    [(p % 40, PERIODS[p % 4], "ab"[p % 3 == 0]) for p in range(200)],
    schema=["person", "month", "code"],
    orient="row",
)


def asked(**more):
    fields = {"column": "code", "period": "month", "periods": PERIODS, "k": 1}
    fields |= {"candidates": ["a", "b"], "epsilon": 1.0, "neighbours": "add-remove"}
    return dp.Series(**{**fields, **more})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "codes.series"


@pytest.fixture
def release(path, budget):
    """Release through a period, by its number, of the rows that are there by then."""

    def released(number, data=ROWS, *, budget=budget, **more):
        return asked(**more).release_through(data, PERIODS[number], path=path, budget=budget)

    return released


@pytest.fixture
def budget():
    return dp.Budget(1.0, neighbours="add-remove")


def test_the_first_period_pays_for_all_and_each_is_drawn_once(release, budget):
    drawn = []

    def watched(name, draw, _args, _kwargs):
        drawn.append(name)
        return draw()

    with samplers.intercepted(watched):
        made = [
            release(number, ROWS.filter(pl.col("month") <= period))
            for number, period in enumerate(PERIODS)
        ]

    assert len(drawn) == 4
    assert (len(budget.entries), budget.remaining) == (1, 0.0)
    assert [one.entry for one in made] == [1] * 4
    assert [len(one.sums) for one in made] == [1, 2, 3, 4]
    assert all(made[3].sums[: at + 1] == one.sums for at, one in enumerate(made))
    assert budget.entries[0].answer["sums"] == [list(made[0].sums[0])]
    assert list(made[3].by_period) == PERIODS


def test_what_was_released_is_answered_again_without_data(release):
    first = release(1)

    assert release(1, None, budget=None).sums == first.sums
    assert release(0, None, budget=None).sums == first.sums[:1]
    # Other numbers of keys share the file; periods that were left out come with the next.
    more = release(1, None, k=2, budget=None)
    assert (more.sums, len(more.answer)) == (first.sums, 2)
    last = release(3)
    assert (len(last.sums), last.sums[:2]) == (4, first.sums)


def test_rows_of_later_periods_are_not_read(release):
    early = release(1, epsilon=50.0, budget=None)

    assert early.running[1].sum() == pytest.approx(100, abs=3)


@pytest.mark.parametrize(
    "more",
    [{"epsilon": 2.0}, {"candidates": ["b", "a"]}, {"user": "person", "max_per_user": 1}],
)
def test_the_file_of_another_series_is_refused(release, path, more):
    release(0, budget=None)
    held = path.read_bytes()

    with refused("k", error=LedgerError):
        release(1, budget=None, **more)
    assert path.read_bytes() == held


def test_a_refusal_leaves_no_file_and_draws_nothing(release, path):
    small = dp.Budget(0.5, neighbours="add-remove")
    other = dp.Budget(5.0, neighbours="substitute")

    with pytest.raises(InsufficientBudgetError):
        release(0, None, budget=small)
    with pytest.raises(NeighboursError):
        release(0, None, budget=other)
    with pytest.raises(ColumnError):
        release(0, ROWS.drop("code"), budget=None)
    assert not path.exists()
    assert (small.entries, other.entries) == ((), ())


def crash(*_):
    raise KeyboardInterrupt


def test_a_crash_in_the_draw_is_paid_for_once(release, budget):
    with samplers.intercepted(crash), pytest.raises(KeyboardInterrupt):
        release(0)
    again = release(0)

    assert len(budget.entries) == 1
    assert (again.entry, len(again.sums)) == (1, 1)


def test_sums_that_were_not_written_were_seen_by_nobody(release, budget, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(file.Kept, "add", crash)
        with pytest.raises(KeyboardInterrupt):
            release(0)

    assert len(release(1).sums) == 2
    assert len(budget.entries) == 1


def test_other_files_are_left_as_they_are(path, tmp_path):
    path.write_text("something else")
    ledger = tmp_path / "ledger"
    dp.Budget(1.0, neighbours="add-remove", path=ledger)
    held = ledger.read_bytes()

    with pytest.raises(LedgerError):
        asked().release_through(ROWS, PERIODS[0], path=path)
    with pytest.raises(LedgerError):
        asked().release_through(ROWS, PERIODS[0], path=ledger)
    with pytest.raises(LedgerError):
        asked().release_through(ROWS, PERIODS[0], path=tmp_path / "none" / "a.series")
    assert (path.read_text(), ledger.read_bytes()) == ("something else", held)


WARDS = ROWS.with_columns(ward=pl.col("person") % 3)


def test_one_payment_is_for_one_selection_of_rows(path, budget):
    """One person, a row a period each in another ward, would count in every period."""
    first = dp.tables.Source(frame=WARDS, where=["ward = 1"])
    asked().release_through(first, PERIODS[0], path=path, budget=budget)
    held = path.read_bytes()

    for where in (["ward = 2"], []):
        other = dp.tables.Source(frame=WARDS, where=where)
        for more in ({"budget": budget}, {}):
            for period in PERIODS[:2]:
                with refused("where", error=LedgerError):
                    asked().release_through(other, period, path=path, **more)
    assert path.read_bytes() == held
    again = asked().release_through(first, PERIODS[1], path=path, budget=budget)
    assert (len(again.sums), len(budget.entries)) == (2, 1)
    assert budget.entries[0].question["arguments"]["where"] == ["ward = 1"]


def test_one_payment_is_for_one_source_and_version(path, tmp_path, monkeypatch):
    budget = dp.Budget(1.0, neighbours="add-remove").for_request(source="visits", version="1")
    asked().release_through(ROWS, PERIODS[0], path=path, budget=budget)
    for source, version in (("others", "1"), ("visits", "2")):
        other = budget.for_request(source=source, version=version)
        with refused("where", error=LedgerError):
            asked().release_through(ROWS, PERIODS[1], path=path, budget=other)
    with refused("where", error=LedgerError):
        asked().release_through(ROWS, PERIODS[1], path=path)

    kept = tmp_path / "files.series"
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        ROWS.write_parquet(tmp_path / name / "visits.parquet")
    monkeypatch.chdir(tmp_path / "one")
    asked().release_through("visits.parquet", PERIODS[0], path=kept)
    monkeypatch.chdir(tmp_path / "two")
    with refused("where", error=LedgerError):
        asked().release_through("visits.parquet", PERIODS[1], path=kept)
    same = asked().release_through("../one/visits.parquet", PERIODS[1], path=kept)
    assert len(same.sums) == 2


def test_the_budget_that_paid_is_the_only_one(path, tmp_path):
    def ledger(name):
        return dp.Budget(1.0, neighbours="add-remove", path=tmp_path / name)

    first, second = ledger("first.budget"), ledger("second.budget")
    asked().release_through(ROWS, PERIODS[0], path=path, budget=first)
    asked(epsilon=0.5).release(ROWS, budget=second)

    for other in (second, ledger("third.budget"), dp.Budget(1.0, neighbours="add-remove")):
        with refused("budget", error=LedgerError):
            asked().release_through(ROWS, PERIODS[1], path=path, budget=other)
    again = dp.Budget.open(tmp_path / "first.budget")
    assert len(asked().release_through(ROWS, PERIODS[1], path=path, budget=again).sums) == 2


def test_a_series_that_nobody_paid_for_is_not_continued_by_a_budget(path, budget):
    asked().release_through(ROWS, PERIODS[0], path=path)

    with refused("budget", error=LedgerError):
        asked().release_through(ROWS, PERIODS[1], path=path, budget=budget)
    assert budget.entries == ()


def test_rows_are_not_selected_under_substitution(path):
    source = dp.tables.Source(frame=WARDS, where=["ward = 1"])

    with refused("where"):
        asked(neighbours="substitute").release_through(source, PERIODS[0], path=path)
    assert not path.exists()


def test_a_period_that_is_none_is_refused(path):
    with refused("through", "periods"):
        asked().release_through(ROWS, "2026-05", path=path)
    assert not path.exists()


def test_a_file_of_another_version_is_refused(path, monkeypatch):
    asked().release_through(ROWS, PERIODS[0], path=path)
    monkeypatch.setattr(file, "SCHEMA_VERSION", 3)

    with pytest.raises(LedgerError):
        asked().release_through(ROWS, PERIODS[0], path=path)
