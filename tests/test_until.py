"""Growing epsilons until an answer is enough: every transcript's price, enumerated."""

import signal
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations_with_replacement, product
from math import exp, log

import polars as pl
import pytest

import dpselect as dp
from dpselect.budget import filter as stopping
from dpselect.budget.entry import Sums, cost
from dpselect.budget.totals import Totals
from dpselect.draws.exact.samplers import intercepted, sampler
from dpselect.errors import DataError, InsufficientBudgetError, ParameterError
from dpselect.plan import Spend
from dpselect.query import Design, Query, query

AR = dp.Neighbours.ADD_REMOVE
RECORDS = "abc"


@sampler
def pick(weights):
    """Stands in for an exact draw: the tests choose its outcome themselves."""
    raise NotImplementedError(weights)


@query
class _Favourite(Query[dp.Release[str]]):
    """The exponential mechanism on counts of three letters, which are data themselves."""

    source: str | None = None
    epsilon: float

    def design(self):
        spend = Spend("one letter", self.epsilon)
        return _Drawing(
            mechanism="exponential", spends=(spend,), epsilon=self.epsilon, neighbours=AR
        )


class _Drawing(Design[dp.Release[str]]):
    def prepare(self, data):
        weights = [exp(self.epsilon * data.count(letter)) for letter in RECORDS]

        def drawn(plan):
            return dp.Release((RECORDS[pick(weights)],), plan)

        return drawn


UNIVERSE = [
    "".join(letters)
    for size in range(3)
    for letters in combinations_with_replacement(RECORDS, size)
]
PAIRS = [
    (x, y)
    for x, y in product(UNIVERSE, repeat=2)
    if len(y) == len(x) + 1 and any(y.replace(one, "", 1) == x for one in set(y))
]


def transcripts(data, enough, most=0.7):
    """Yield all that the real function can release, with its probability and its price."""
    open_paths = [()]
    while open_paths:
        path = open_paths.pop()
        budget, seen, chance = dp.Budget(most, neighbours=AR), [], 1.0

        def forced(_name, _draw, args, _kwargs, path=path, seen=seen):
            nonlocal chance
            weights = args[0]
            if len(seen) == len(path):
                open_paths.extend((*path, one) for one in range(len(weights)))
                raise KeyboardInterrupt
            seen.append(path[len(seen)])
            chance *= weights[seen[-1]] / sum(weights)
            return seen[-1]

        try:
            with intercepted(forced):
                dp.run_until(
                    _Favourite(epsilon=0.1),
                    data,
                    enough=lambda release: enough(release, data),
                    most=most,
                    budget=budget,
                )
        except KeyboardInterrupt:
            continue
        yield path, chance, budget.spent


def in_the_budget(_path, spent):
    return spent


def worst_excess(enough, price=in_the_budget):
    """Return the largest log ratio of a transcript above its price, over all neighbours."""
    laws = {x: list(transcripts(x, enough)) for x in UNIVERSE}
    worst = -1.0
    for here, there in ((laws[a], laws[b]) for x, y in PAIRS for a, b in ((x, y), (y, x))):
        other = {path: chance for path, chance, _ in there}
        for path, chance, spent in here:
            ratio = log(chance / other[path]) if path in other else float("inf")
            worst = max(worst, ratio - price(path, spent))
    return worst


def says_a(release, _data):
    return release.answer == ("a",)


def test_there_are_transcripts_of_every_length_and_they_sum_to_one():
    found = list(transcripts("aa", says_a))

    assert sum(chance for _, chance, _ in found) == pytest.approx(1)
    assert {(len(path), spent) for path, _, spent in found} == {(1, 0.1), (2, 0.3), (3, 0.7)}


def test_every_transcript_is_as_probable_under_neighbours_up_to_its_price():
    """The ex-post inequality, by the amounts in the budget."""
    assert worst_excess(says_a) <= 1e-12
    assert worst_excess(lambda *_: False) <= 1e-12


@pytest.mark.parametrize(
    ("enough", "price"),
    [
        (says_a, lambda path, _spent: 0.1 * 2 ** (len(path) - 1)),
        (lambda *_: False, lambda path, _spent: 0.1 * 2 ** (len(path) - 1)),
        (lambda release, data: release.answer == (max(data or "a"),), in_the_budget),
    ],
    ids=["last epsilon alone", "last epsilon of a whole series", "a test that reads the data"],
)
def test_faults_break_the_inequality(enough, price):
    assert worst_excess(enough, price) > 0.01


def best_excess(paid):
    """Return the largest excess that an analyst gets who sees all and chooses every series.

    Each release is a randomised response of its epsilon, than which none tells more. A series
    has a first epsilon of 1 or 2 steps, lasts for two or three releases, and ends with the
    first that says yes, or at once if the analyst likes that better; a filter with a delta
    admits it release by release by what is ``paid`` of it.
    """
    step, totals = 0.25, Totals(epsilon=1.0, delta=0.1, neighbours=AR, composition="zcdp")

    @cache
    def excess(sums, loss, first, at, last):
        """Of the next release of a series, or the next series if there is none."""
        best = max(0.0, 1 - exp(totals.epsilon - loss * step))
        if at == last:
            series = product((1, 2), (2, 3))
            return max([best, *(excess(sums, loss, f, 0, n) for f, n in series)])
        units = first * 2**at
        try:
            new = cost(paid(units, at) * step, 0.0, None)
            after = stopping.admit(totals, sums, new)
        except InsufficientBudgetError:
            return best
        truth = exp(units * step) / (1 + exp(units * step))
        yes, no = loss + units, loss - units
        told = truth * excess(after, yes, 0, 0, 0)
        return max(best, told + (1 - truth) * excess(after, no, first, at + 1, last))

    return excess(Sums(), 0, 0, 0, 0)


def test_an_analyst_who_looks_at_everything_stays_within_the_filter():
    assert best_excess(lambda units, _at: units) <= 0.1


def test_a_series_that_pays_its_first_epsilon_again_and_again_does_not():
    assert best_excess(lambda units, at: units / 2**at) > 0.14


STAYS = pl.DataFrame({"ward": ["heart"] * 90 + ["lung"] * 20})
WARDS = dp.TopKeys(
    column="ward", k=1, candidates=["heart", "lung"], epsilon=0.1, neighbours="add-remove"
)


def until(number, **more):
    """Release until there are so many."""
    seen = []

    def enough(release):
        seen.append(release)
        return len(seen) == number

    return dp.run_until(WARDS, STAYS, **{"enough": enough, "most": 9.0, **more})


def test_epsilons_double_and_each_release_is_an_entry_of_its_own():
    budget = dp.Budget(9.0, neighbours="add-remove")

    releases = until(4, budget=budget)

    assert [one.plan.epsilon for one in releases] == [0.1, 0.2, 0.4, 0.8]
    assert [one.entry for one in releases] == [1, 2, 3, 4]
    assert [entry.answer["answer"] for entry in budget.entries] == [
        list(one.answer) for one in releases
    ]
    assert budget.spent == 1.5 < 2 * 0.8
    # Nothing of a zCDP budget is held back for what was not drawn.
    assert sum(entry.rho for entry in budget.entries) == sum(one.plan.rho for one in releases)


@pytest.mark.parametrize(("most", "number"), [(0.1, 1), (0.3, 2), (0.69, 2), (0.7, 3)])
def test_all_releases_together_cost_at_most_what_is_allowed(most, number):
    assert len(until(99, most=most)) == number


def test_a_budget_without_the_most_is_refused_before_anything_is_drawn():
    budget = dp.Budget(0.6, neighbours="add-remove")

    with pytest.raises(InsufficientBudgetError):
        until(1, most=0.7, budget=budget)
    assert budget.entries == ()


def test_it_ends_with_what_was_drawn_where_others_spend_the_rest():
    budget = dp.Budget(0.7, neighbours="add-remove")

    def enough(_release):
        budget.spend(budget.remaining, neighbours="add-remove")
        return False

    releases = dp.run_until(WARDS, STAYS, enough=enough, most=0.7, budget=budget)
    assert [one.plan.epsilon for one in releases] == [0.1]


@pytest.mark.parametrize("most", [0.09, float("nan"), float("inf"), -1.0])
def test_the_most_must_pay_for_the_first_release(most):
    with pytest.raises(ParameterError, match="most"):
        until(1, most=most)


@pytest.mark.parametrize(
    "asked",
    [
        "TopKeys",
        dp.Selection(k=1, mechanism=dp.PermuteAndFlip(epsilon=1.0), neighbours="add-remove"),
    ],
)
def test_only_queries_with_an_epsilon_are_repeated(asked):
    with pytest.raises(ParameterError, match=r"query|`?epsilon`? to double"):
        dp.run_until(asked, STAYS, enough=bool, most=9.0)


def test_data_that_cannot_be_read_cost_nothing():
    budget = dp.Budget(9.0, neighbours="add-remove")

    with pytest.raises(DataError):
        dp.run_until(WARDS, "no.parquet", enough=bool, most=9.0, budget=budget)
    assert budget.entries == ()


@dataclass
class Board:
    """A ledger of a named source."""

    path: str
    releases: tuple = field(default=())

    def run(self, number):
        budget = dp.Budget.open(self.path).for_request(source="stays", version="May")
        return until(number, budget=budget)


def test_started_again_it_goes_on_after_the_last_answer(tmp_path):
    board = Board(tmp_path / "ledger")
    budget = dp.Budget(9.0, neighbours="add-remove", path=board.path)

    first, again = board.run(2), board.run(3)

    assert [one.repeated for one in again] == [True, True, False]
    assert [one.answer for one in again[:2]] == [one.answer for one in first]
    assert budget.spent == 0.7


DIE = """
import os, signal, sys
import polars as pl
import dpselect as dp

budget = dp.Budget(9.0, neighbours="add-remove", path=sys.argv[1])
wards = dp.TopKeys(
    column="ward", k=1, candidates=["heart", "lung"], epsilon=0.1, neighbours="add-remove"
)
stays = pl.DataFrame({"ward": ["heart"] * 90 + ["lung"] * 20})

def enough(release):
    print(release.candidate, flush=True)
    if release.entry == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return False

source = budget.for_request(source="stays", version="May")
dp.run_until(wards, stays, enough=enough, most=9.0, budget=source)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_kill_between_two_releases_loses_nothing_that_was_drawn(tmp_path):
    board = Board(tmp_path / "ledger")
    done = subprocess.run(
        [sys.executable, "-c", DIE, board.path], stdout=subprocess.PIPE, text=True, check=False
    )
    shown = done.stdout.split()

    assert done.returncode == -signal.SIGKILL
    assert dp.Budget.open(board.path).spent == 0.3
    assert [one.answer for one in board.run(2)] == [(ward,) for ward in shown]
    assert dp.Budget.open(board.path).spent == 0.3
