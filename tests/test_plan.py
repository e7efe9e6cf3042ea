"""Plans: prices that add up, one place that spends, nothing private."""

import pytest

import dpselect as dp
from dpselect.budget.zcdp import rho_of_pure
from dpselect.errors import InsufficientBudgetError, NeighboursError
from dpselect.plan import ErrorBound, Plan, Spend

AR = dp.Neighbours.ADD_REMOVE


def plan(epsilon=1.0, *spends, **options):
    said = {"name": "release", "mechanism": "mine", "neighbours": AR, **options}
    return Plan(spends=spends or (Spend("all", epsilon),), epsilon=epsilon, **said)


def test_the_price_is_charged_once_with_its_rho():
    budget = dp.Budget(2.0, delta=1e-6, neighbours=AR)
    made = plan(1.0, Spend("tune", 0.2, times=2), Spend("count", 0.6, rho=0.1))

    made.reserve(budget)()

    [entry] = budget.entries
    assert (entry.epsilon, entry.delta) == (1.0, 0.0)
    assert entry.rho == pytest.approx(2 * rho_of_pure(0.2) + 0.1)
    assert entry.mechanism == "release: mine"


def test_without_a_budget_or_a_price_nothing_is_recorded():
    budget = dp.Budget(1.0, neighbours=AR)
    free = plan(0.0, Spend("nothing", 0.0))

    plan().reserve(None)()
    free.reserve(budget)()

    assert not budget.entries
    assert free.remaining_after(budget) == 1.0


def test_an_answer_is_kept_with_its_refund():
    budget, made = dp.Budget(1.0, neighbours=AR), plan(0.5)

    for back in (0.25, 0.0):
        made.reserve(budget)().keep({"answer": back}, refund=back)
    made.reserve(None)().keep({"answer": 1}, refund=0.5)

    assert [entry.refunded for entry in budget.entries] == [0.25, 0.0]
    assert [entry.answer for entry in budget.entries] == [{"answer": 0.25}, {"answer": 0.0}]


@pytest.mark.parametrize("ask", ["reserve", "remaining_after"])
def test_a_refusal_is_the_same_beforehand(ask):
    with pytest.raises(InsufficientBudgetError):
        getattr(plan(2.0), ask)(dp.Budget(1.0, neighbours=AR))
    with pytest.raises(NeighboursError, match="add-remove"):
        getattr(plan(1.0), ask)(dp.Budget(1.0, neighbours=dp.Neighbours.EDGE))


def test_a_bound_that_says_nothing_says_so():
    assert str(ErrorBound(float("inf"), "days")).startswith("no bound that holds on all data")
    assert "no useful bound: it is 60 days, the largest" in str(
        ErrorBound(61.0, "days", largest=60.0)
    )
    said = [
        plan(error=ErrorBound(value, "days", largest=60.0)).to_dict()["error_bound"]
        for value in (3.0, 60.0)
    ]
    assert said == [{"value": 3.0, "unit": "days", "probability": 0.95}, None]


def test_a_reservation_is_decided_again_only_after_other_spends():
    budget, spend = dp.Budget(1.0, neighbours=AR), {"epsilon": 0.6, "neighbours": AR}
    first, second = budget.reserve([spend]), budget.reserve([spend])

    assert budget.remaining == 1.0
    [entry] = first()
    assert (entry.sequence, budget.remaining) == (1, 0.4)
    with pytest.raises(InsufficientBudgetError):
        second()
    assert len(budget.entries) == 1


def test_a_budget_in_memory_writes_nothing_down_before_it_is_read(monkeypatch):
    written = []
    real = Plan.to_dict
    monkeypatch.setattr(Plan, "to_dict", lambda self: written.append(self) or real(self))
    budget = dp.Budget(1.0, neighbours=AR)

    plan(0.5).reserve(budget)()
    assert not written
    assert budget.entries[0].question["query"] == "release"
    assert len(written) == 1
