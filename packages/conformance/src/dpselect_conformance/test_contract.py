"""The contract of every query: it spends first, once, what its plan says, and no more."""

import json
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import InsufficientBudgetError, NeighboursError
from dpselect.extend import intercepted, plan_of, rho_of_pure
from dpselect_conformance import check_spends_first, replay


def pytest_generate_tests(metafunc):
    """Run each test of each case of the modules that ``--cases`` names."""
    if "case" in metafunc.fixturenames:
        modules = map(import_module, metafunc.config.getoption("cases"))
        cases = {case.name: case for module in modules for case in module.CASES}
        metafunc.parametrize("case", cases.values(), ids=cases)


@dataclass
class Log:
    """The spends and the draws of one run, in order."""

    events: list = field(default_factory=list)

    def handle(self, name, draw, _args, _kwargs):
        self.events.append(name)
        return draw()


class LoggedBudget(dp.Budget):
    def __init__(self, log, *totals, **options):
        super().__init__(*totals, **options)
        self.log = log

    def reserve(self, spends):
        record = super().reserve(spends)

        def charge():
            entries = record()
            self.log.events.append("spend")
            return entries

        return charge


class NotThere:
    """Data that fail whatever is done with them."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was read")


def budget_for(case, log, *, enough=True):
    """Return a budget that just allows the plan of a case, or just not."""
    plan = case.plan()
    factor = 1.0 if enough else 0.5
    epsilon = factor * plan.epsilon if plan.epsilon else 1.0
    return LoggedBudget(log, epsilon, factor * plan.delta, **terms(case))


def terms(case):
    """Return what a budget must state to pay for a case, and nothing kept for composing."""
    user = case.plan().user
    return {"neighbours": case.neighbours, "protects": user, "composition": "sum"}


def database(case, seed=0):
    return case.pair(np.random.default_rng(seed))[0]


def test_no_release_uses_more_than_its_plan_states(case, request, record_property):
    plan, shares = case.plan(), []

    def released(data):
        outcome = case.release(data, None)
        assert plan_of(outcome) == plan
        return outcome

    for seed in range(request.config.getoption("pairs")):
        x, y = case.pair(np.random.default_rng(seed))
        report = replay(released, x, y)
        if case.secret:
            assert not report.ok
            assert "its output must stay secret" in str(report)
            continue
        report.raise_if_failed()
        shares.append(report.share)
    record_property("largest share", max(shares, default=0.0))

    assert all(share <= 1 + 1e-6 for share in shares)


def test_it_spends_once_before_it_draws_and_what_its_plan_says(case):
    log, plan = Log(), case.plan()
    budget = budget_for(case, log)
    left = plan.remaining_after(budget)

    with intercepted(log.handle):
        outcome = case.release(database(case), budget)

    assert log.events[0] == "spend"
    assert log.events.count("spend") == 1
    assert len(log.events) > 1, "nothing was drawn"
    [entry] = budget.entries
    assert (entry.epsilon, entry.delta) == (plan.epsilon, plan.delta)
    # Beside a delta nothing is known but what epsilon implies.
    assert entry.rho <= (rho_of_pure(plan.epsilon) if plan.delta else plan.rho) * (1 + 1e-9)
    assert entry.neighbours is case.neighbours is plan.neighbours
    assert entry.mechanism == plan.description
    assert entry.question["query"] == plan.name == type(case.query).__name__
    assert entry.answer
    json.loads(budget.to_json())
    assert plan.delta == case.delta
    assert plan_of(outcome) == plan
    # A release whose price depends on its outcome may have given a part back.
    assert budget.remaining == pytest.approx(left + entry.refunded, rel=1e-12, abs=1e-15)
    assert not entry.refunded or entry.refunded == entry.answer["refunded"]


def test_a_neighbour_is_released_by_the_same_plan(case):
    """Nothing that is private is in the plan, the price or the number of spends."""
    log = Log()
    _, neighbour = case.pair(np.random.default_rng(1))

    outcome = case.release(neighbour, budget_for(case, log))

    assert plan_of(outcome) == case.plan()
    assert log.events == ["spend"]


def test_a_refused_spend_draws_nothing_and_reads_no_data(case):
    log = Log()
    budget = budget_for(case, log, enough=False)
    if case.plan().epsilon == 0:
        budget = dp.Budget(1.0, case.plan().delta / 2, **terms(case))

    with intercepted(log.handle), pytest.raises(InsufficientBudgetError):
        case.release(database(case), budget)

    with pytest.raises(InsufficientBudgetError):
        case.query.release(NotThere(), budget=budget)
    assert log.events == []
    assert budget.entries == ()


def test_a_budget_for_another_relation_draws_nothing(case):
    log = Log()
    other = next(relation for relation in dp.Neighbours if relation is not case.neighbours)
    budget = dp.Budget(100.0, delta=0.5, neighbours=other)

    with intercepted(log.handle), pytest.raises(NeighboursError):
        case.release(database(case), budget)

    assert log.events == []
    assert budget.entries == ()


@pytest.mark.slow
def test_an_audit_agrees(case):
    plan, data = case.plan(), database(case)
    report = check_spends_first(
        lambda budget: case.release(data, budget),
        total=plan.epsilon or 1.0,
        delta=plan.delta,
        neighbours=case.neighbours,
        protects=plan.user,
    )

    report.raise_if_failed()
    assert report.spent == (plan.epsilon,)


def is_same(one, other):
    """Return whether releases or what they hold are equal, arrays and all."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if type(one).__eq__ is object.__eq__ and is_dataclass(one):
        return all(
            is_same(getattr(one, held.name), getattr(other, held.name)) for held in fields(one)
        )
    return bool(one == other)


def test_the_same_question_of_a_source_is_answered_once(case, tmp_path):
    """What a ledger answers once more is equal in every field to what was drawn."""
    if not (case.repeats and case.query.is_repeatable):
        return
    plan = case.plan()
    path = tmp_path / "budget"
    dp.Budget(2 * plan.epsilon, 2 * plan.delta, **terms(case), path=path)
    budget, again = (dp.Budget.open(path).for_request(source="a") for _ in range(2))
    first, second = (case.release(database(case), one) for one in (budget, again))

    assert (first.repeated, second.repeated) == (False, True)
    assert len(budget.entries) == 1
    assert is_same(replace(second, repeated=False, answered=None), first)
    assert {**second.to_dict(), "repeated": False, "answered": None} == first.to_dict()
    assert second.table() == first.table()
