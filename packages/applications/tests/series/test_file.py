"""The file of a series: each period is drawn once, and paid for once.

What is asked of a file in another way, and refused, is on a screen: ``series.txt``.
"""

from functools import partial
from unittest.mock import patch

import polars as pl
import pytest

import dpselect as dp
from dpselect import errors
from dpselect.draws.exact import samplers
from dpselect_applications.series import file
from support.refusals import refused

PERIODS = ["2026-01", "2026-02", "2026-03", "2026-04"]
ROWS = pl.DataFrame(
    [(p % 40, PERIODS[p % 4], "ab"[p % 3 == 0]) for p in range(200)],
    schema=["person", "month", "code"],
    orient="row",
)
AR = {"neighbours": "add-remove"}


WARD = dp.tables.Source(frame=ROWS, where=("person % 3 = 1",))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "codes.series"


@pytest.fixture
def release(path):
    """Release through a period, by its number, of the rows that are there by then."""

    def released(number, data=ROWS, *, path=path, budget=None, **more):
        fields = {"column": "code", "period": "month", "periods": PERIODS, "k": 1}
        fields |= {"candidates": ["a", "b"], "epsilon": 1.0, **AR, **more}
        through = PERIODS[number] if isinstance(number, int) else number
        return dp.Series(**fields).release_through(data, through, path=path, budget=budget)

    return released


@pytest.fixture
def budget():
    return dp.Budget(1.0, **AR)


def test_the_first_period_pays_for_all_and_each_is_drawn_once(release, budget):
    drawn = []

    def watched(name, draw, _args, _kwargs):
        drawn.append(name)
        return draw()

    with samplers.intercepted(watched):
        made = [
            release(number, ROWS.filter(pl.col("month") <= period), budget=budget)
            for number, period in enumerate(PERIODS)
        ]

    assert len(drawn) == 4
    assert (len(budget.entries), budget.remaining) == (1, 0.0)
    assert [one.entry for one in made] == [1] * 4
    assert [len(one.sums) for one in made] == [1, 2, 3, 4]
    assert all(made[3].sums[: at + 1] == one.sums for at, one in enumerate(made))
    assert budget.entries[0].answer["sums"] == [list(made[0].sums[0])]
    assert list(made[3].by_period) == PERIODS


def test_what_was_released_is_answered_again_without_data(release, budget):
    first = release(1, budget=budget)

    assert release(1, None).sums == first.sums
    assert release(0, None).sums == first.sums[:1]
    # Other numbers of keys share the file; periods that were left out come with the next.
    more = release(1, None, k=2)
    assert (more.sums, len(more.answer)) == (first.sums, 2)
    last = release(3, budget=budget)
    assert (len(last.sums), last.sums[:2]) == (4, first.sums)


def test_rows_of_later_periods_are_not_read(release):
    assert release(1, epsilon=50.0).running[1].sum() == pytest.approx(100, abs=3)


@pytest.mark.parametrize(
    ("error", "more"),
    [
        (errors.InsufficientBudgetError, {"data": None, "budget": dp.Budget(0.5, **AR)}),
        (
            errors.NeighboursError,
            {"data": None, "budget": dp.Budget(5.0, neighbours="substitute")},
        ),
        (errors.ColumnError, {"data": ROWS.drop("code")}),
        (errors.ParameterError, {"data": WARD, "neighbours": "substitute"}),
        (errors.ParameterError, {"number": "2026-05"}),
    ],
)
def test_a_refusal_leaves_no_file_and_draws_nothing(release, path, error, more):
    with pytest.raises(error):
        release(**{"number": 0, **more})
    assert not path.exists()
    assert "budget" not in more or more["budget"].entries == ()


def crash(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "crashing", [samplers.intercepted(crash), patch.object(file.Kept, "add", crash)]
)
def test_a_crash_before_sums_are_written_is_paid_for_once(release, budget, crashing):
    """In the draw, and after it: nobody saw what was not written."""
    with crashing, pytest.raises(KeyboardInterrupt):
        release(0, budget=budget)
    again = release(1, budget=budget)

    assert len(budget.entries) == 1
    assert (again.entry, len(again.sums)) == (1, 2)


def test_other_files_are_left_as_they_are(release, path, tmp_path, monkeypatch):
    ledger = tmp_path / "ledger"
    dp.Budget(1.0, **AR, path=ledger)
    path.write_text("something else")
    held = ledger.read_bytes()

    for other in (path, ledger, tmp_path / "none" / "a.series"):
        with pytest.raises(errors.LedgerError):
            release(0, path=other)
    assert (path.read_text(), ledger.read_bytes()) == ("something else", held)

    release(0, path=tmp_path / "a.series")
    monkeypatch.setattr(file, "SCHEMA_VERSION", 3)
    with pytest.raises(errors.LedgerError):
        release(0, path=tmp_path / "a.series")


def test_one_payment_is_for_one_source_and_version(release, budget, tmp_path, monkeypatch):
    def of(source, version):
        return budget.for_request(source=source, version=version)

    release(0, budget=of("visits", "1"))
    for other in (of("others", "1"), of("visits", "2"), None):
        with refused("where", error=errors.LedgerError):
            release(1, budget=other)

    of_files = partial(release, path=tmp_path / "files.series")
    for name in ("two", "one"):
        (tmp_path / name).mkdir()
        ROWS.write_parquet(tmp_path / name / "visits.parquet")
        monkeypatch.chdir(tmp_path / name)
    of_files(0, "visits.parquet")
    monkeypatch.chdir(tmp_path / "two")
    with refused("where", error=errors.LedgerError):
        of_files(1, "visits.parquet")
    assert len(of_files(1, "../one/visits.parquet").sums) == 2
