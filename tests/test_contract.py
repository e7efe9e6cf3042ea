"""The contract of every query: it spends first, once, and what its plan says."""

import json
from dataclasses import dataclass, field, fields, is_dataclass, replace

import numpy as np
import pytest

import dpselect as dp
from dpselect.budget.zcdp import rho_of_pure
from dpselect.draws.exact import samplers
from dpselect.errors import InsufficientBudgetError, NeighboursError
from dpselect.plan import Plan
from support.public import every_query
from support.releases import all_cases

CASES = all_cases()
every_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


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


def plan_of(outcome):
    return next(
        plan
        for plan in (getattr(outcome, "plan_", None), getattr(outcome, "plan", None))
        if isinstance(plan, Plan)
    )


def test_names_are_unique():
    assert len({case.name for case in CASES}) == len(CASES)


def test_every_query_of_the_library_has_a_case():
    assert {type(case.query) for case in CASES} >= set(every_query())


@every_case
def test_it_spends_once_before_it_draws_and_what_its_plan_says(case):
    log, plan = Log(), case.plan()
    budget = budget_for(case, log)
    left = plan.remaining_after(budget)

    with samplers.intercepted(log.handle):
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


@every_case
def test_a_neighbour_is_released_by_the_same_plan(case):
    """Nothing that is private is in the plan, the price or the number of spends."""
    log = Log()
    _, neighbour = case.pair(np.random.default_rng(1))

    outcome = case.release(neighbour, budget_for(case, log))

    assert plan_of(outcome) == case.plan()
    assert log.events == ["spend"]


@every_case
def test_a_refused_spend_draws_nothing_and_reads_no_data(case):
    log = Log()
    budget = budget_for(case, log, enough=False)
    if case.plan().epsilon == 0:
        budget = dp.Budget(1.0, case.plan().delta / 2, **terms(case))

    with samplers.intercepted(log.handle), pytest.raises(InsufficientBudgetError):
        case.release(database(case), budget)

    with pytest.raises(InsufficientBudgetError):
        case.query.release(NotThere(), budget=budget)
    assert log.events == []
    assert budget.entries == ()


@every_case
def test_a_budget_for_another_relation_draws_nothing(case):
    log = Log()
    other = next(relation for relation in dp.Neighbours if relation is not case.neighbours)
    budget = dp.Budget(100.0, delta=0.5, neighbours=other)

    with samplers.intercepted(log.handle), pytest.raises(NeighboursError):
        case.release(database(case), budget)

    assert log.events == []
    assert budget.entries == ()


@pytest.mark.slow
@every_case
def test_an_audit_agrees(case):
    plan, data = case.plan(), database(case)
    report = dp.audit.check_spends_first(
        lambda budget: case.release(data, budget),
        total=plan.epsilon or 1.0,
        delta=plan.delta,
        neighbours=case.neighbours,
        protects=plan.user,
    )

    report.raise_if_failed()
    assert report.spent == (plan.epsilon,)


@every_case
def test_without_a_budget_it_carries_the_same_plan(case):
    assert plan_of(case.release(database(case), None)) == case.plan()


IN_A_FILE = "period by period"
"""Cases that go on where their own file ends, not where an entry answers."""

REPEATABLE = [case for case in CASES if case.query.is_repeatable and IN_A_FILE not in case.name]


def is_same(one, other):
    """Return whether releases or what they hold are equal, arrays and all."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if type(one).__eq__ is object.__eq__ and is_dataclass(one):
        return all(
            is_same(getattr(one, held.name), getattr(other, held.name)) for held in fields(one)
        )
    return bool(one == other)


@pytest.mark.parametrize("case", REPEATABLE, ids=[case.name for case in REPEATABLE])
def test_the_same_question_of_a_source_is_answered_once(case):
    """What is answered once more is equal in every field to what was drawn."""
    plan = case.plan()
    budget = dp.Budget(2 * plan.epsilon, 2 * plan.delta, **terms(case)).for_request(source="a")
    first, second = (case.release(database(case), budget) for _ in range(2))

    assert (first.repeated, second.repeated) == (False, True)
    assert len(budget.entries) == 1
    assert is_same(replace(second, repeated=False, answered=None), first)
    assert {**second.to_dict(), "repeated": False, "answered": None} == first.to_dict()
    assert second.table() == first.table()


def test_a_crash_in_the_draw_loses_the_answer_and_not_the_spend(tmp_path):
    budget = dp.Budget(1.0, neighbours="edge", path=tmp_path / "budget")
    objective = dp.Objective([0.0, 1.0], dp.GlobalSensitivity(1, "edge"))

    def crash(*_):
        raise KeyboardInterrupt

    with samplers.intercepted(crash), pytest.raises(KeyboardInterrupt):
        dp.PermuteAndFlip(epsilon=0.5).release(objective, budget=budget)
    release = dp.PermuteAndFlip(epsilon=0.25).release(objective, budget=budget)

    assert [entry.answer for entry in dp.Budget.open(budget.path).entries] == [
        None,
        {"answer": list(release.answer)},
    ]
    assert release.entry == 2


def test_an_answer_that_cannot_be_recorded_is_still_the_caller_s(tmp_path):
    budget = dp.Budget(1.0, neighbours="edge", path=tmp_path / "budget")
    objective = dp.Objective([0.0, 1.0], dp.GlobalSensitivity(1, "edge"))

    def vanish(_name, draw, *_):
        budget.path.unlink()
        return draw()

    with (
        samplers.intercepted(vanish),
        pytest.warns(UserWarning, match="answer was not recorded"),
    ):
        release = dp.PermuteAndFlip(epsilon=0.5).release(objective, budget=budget)

    assert len(release.answer) == 1
