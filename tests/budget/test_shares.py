"""Shares of analysts and periods that renew: sums, clocks, and processes that are killed."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.budget import accountant
from dpselect.budget.totals import Period, Persons
from dpselect.errors import InsufficientBudgetError
from dpselect.neighbours import Neighbours
from support.refusals import refused

ADDED = Neighbours.ADD_REMOVE
SHARES = {"Ann": 0.5, "Bob": 0.25}
MONTHS = Period("month", "each-period")


@pytest.fixture
def clock(monkeypatch):
    """Return a setter of the time."""

    def show(time):
        monkeypatch.setattr(accountant, "now", lambda: f"{time}T12:00:00+00:00")

    show("2026-01-31")
    return show


def spend(budget, epsilon=0.25, analyst="", **options):
    return budget.for_request(analyst=analyst).spend(epsilon, neighbours=ADDED, **options)


class TestShares:
    def test_each_analyst_spends_from_one_s_own(self, make):
        budget = make(shares=SHARES)

        shares = [spend(budget, analyst=name).share for name in ("Ann", "Ann", "Bob", "Carl")]

        assert shares == ["Ann", "Ann", "Bob", ""]
        assert {pot.share: pot.remaining for pot in budget.pots} == {"Ann": 0, "Bob": 0, "": 0}
        assert budget.spent == 1.0
        for name, whose in (
            ("Ann", r"total 0\.5, .*remaining 0\.0 \(the share of Ann\)$"),
            ("Bob", r"total 0\.25, .*the share of Bob"),
            ("Dora", "what is in nobody's share"),
            ("", "what is in nobody's share"),
        ):
            with pytest.raises(InsufficientBudgetError, match=whose):
                spend(budget, 1e-9, analyst=name)

    def test_delta_is_shared_in_the_same_way(self, make):
        budget = make(delta=1e-6, shares=SHARES, composition="sum")

        assert [pot.delta for pot in budget.pots] == [5e-7, 2.5e-7, 2.5e-7]
        spend(budget, 0.1, analyst="Bob", delta=2.5e-7)
        with pytest.raises(InsufficientBudgetError, match="delta"):
            spend(budget, 0.1, analyst="Bob", delta=1e-9)

    def test_where_all_is_shared_nobody_else_spends(self, make):
        budget = make(shares={"Ann": 0.5, "Bob": 0.5})

        assert budget.remaining == 0.0
        assert [pot.share for pot in budget.pots] == ["Ann", "Bob"]
        with refused("analyst", error=InsufficientBudgetError):
            spend(budget)

    def test_a_refund_goes_back_to_the_share(self, make):
        budget = make(shares=SHARES)
        entry = spend(budget, 0.5, analyst="Ann")
        budget.for_request(analyst="Bob").refund(entry, 0.125)

        assert {pot.share: pot.spent for pot in budget.pots} == {"Ann": 0.375, "Bob": 0, "": 0}

    def test_each_share_composes_on_its_own(self, make):
        budget = make(epsilon=2.0, delta=1e-6, shares={"Ann": 1.0})
        for _ in range(60):
            spend(budget, 0.01, analyst="Ann")
            spend(budget, 0.01)

        ann, others = budget.pots
        assert ann.spent == others.spent < 0.6
        assert budget.spent == pytest.approx(2 * ann.spent)


class TestPeriods:
    def test_the_totals_are_granted_anew_and_not_again_where_the_clock_goes_back(
        self, make, clock
    ):
        budget = make(period=MONTHS)
        for day, left in (
            ("2026-01-31", 1.0),
            ("2026-02-01", 1.0),
            ("2026-01-31", 0.0),
            ("2025-06-01", 0.0),
        ):
            clock(day)
            assert budget.remaining == left
            assert left == 0 or spend(budget, 1.0).period == day[:7]
            with pytest.raises(InsufficientBudgetError):
                spend(budget, 0.1)
        assert [entry.period for entry in budget.entries] == ["2026-01", "2026-02"]

    def test_what_was_spent_in_a_period_is_given_back_there(self, make, clock):
        budget = make(period=MONTHS)
        entry = spend(budget, 1.0)
        clock("2026-02-01")
        spend(budget, 0.5)
        budget.refund(entry, 0.5)

        assert (budget.spent, budget.remaining) == (0.5, 0.5)

    def test_a_question_is_not_answered_from_another_period(self, make, clock):
        budget = make(period=MONTHS).for_request(source="stays.csv")
        query = dp.TopKeys(column="w", k=1, candidates=["a"], epsilon=0.5, neighbours=ADDED)
        data = pl.DataFrame({"w": ["a"]})
        first, second = (query.release(data, budget=budget).repeated for _ in range(2))
        clock("2026-02-01")
        third = query.release(data, budget=budget).repeated

        assert (first, second, third) == (False, True, False)

    def test_a_period_is_that_of_all_shares(self, make, clock):
        budget = make(period=MONTHS, shares={"Ann": 0.5})
        spend(budget, 0.5, analyst="Ann")
        clock("2026-02-01")
        spend(budget, 0.5)
        clock("2026-01-31")

        assert spend(budget, 0.5, analyst="Ann").period == "2026-02"


class TestPersons:
    def test_a_release_by_rows_is_charged_for_all_rows_of_a_person(self, make):
        budget = make(
            epsilon=3.0, delta=0.1, protects=Persons("who", np.int64(3)), composition="sum"
        )
        entry = spend(budget, 0.5, delta=1e-6)
        budget.refund(entry, 0.25)

        assert (entry.epsilon, entry.steps) == (1.5, 3)
        assert entry.delta > 3e-6
        assert budget.spent == 0.75
        assert budget.remaining_after([{"epsilon": 0.75, "neighbours": ADDED}]) == 0.0
        assert spend(budget, 0.5, user="who").epsilon == 0.5

    def test_a_source_with_one_record_each_is_one_of_persons(self, make):
        budget = make(protects="who").for_request(source="persons.csv", user="who")
        [entry] = budget.reserve([{"epsilon": 0.5, "neighbours": ADDED}])()

        assert (entry.epsilon, entry.steps) == (0.5, 1)
        assert entry.question["public"] == ["each who has one record of the source"]
