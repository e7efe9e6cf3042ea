"""Intervals of percentiles: their exact coverage on every small database, and their price."""

from bisect import bisect
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import ceil, floor

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.draws.exact.noisy_counts import scale_for
from dpselect.neighbours import Neighbours
from dpselect.percentiles.intervals import ROUNDING, SHARE, Intervals, cuts_around, noise_tail
from dpselect.percentiles.objectives import exact_fraction
from dpselect.percentiles.reading import Records
from dpselect.percentiles.release import WHOLE
from support.last_draw import loss_of_last_noise
from support.noise import laplace

VALUES, RECORDS = 4, 6
CANDIDATES = [(0, 1, 2, 3), (0.5, 2)]
FAR = 24
"""Noise beyond it has a probability below 1e-8 for the scales here."""


def intervals(p, points, *, scale, probability=0.9):
    records = Records(Neighbours.ADD_REMOVE)
    made = Intervals((p,), np.array(points, float), records, 1 / scale, probability)
    assert made.scale == pytest.approx(scale)
    return made


def databases(most, fewest=0):
    for n in range(fewest, most + 1):
        yield from combinations_with_replacement(range(VALUES), n)


def bins_of(rows, points, cuts):
    """Return the counts between cuts, each record by its own place."""
    found = [0] * (len(cuts) + 1)
    for row in rows:
        place = sum(2 * (row > c) + (row == c) for c in points)
        found[sum(place > cut for cut in cuts)] += 1
    return found


def passing(made, part, cuts):
    """Return whether a percentile is surely beyond a cut, and whether it is before it."""
    share, rest = part.numerator, part.denominator - part.numerator

    def is_sure(units, before):
        tail = noise_tail(made.scale, part, before, cuts + 1 - before, units)
        return tail <= (1 - made.probability) / 2 - ROUNDING

    return (
        lambda difference, before: is_sure(1 - share - difference, before),
        lambda difference, before: is_sure(1 - rest + difference, before),
    )


class Passes:
    """Which noisy differences pass the tests of each cut, by total; of public arguments."""

    def __init__(self, made, p, cuts, totals):
        self.part, self.cuts = exact_fraction(p), cuts
        whole, share = self.part.denominator, self.part.numerator
        self.totals = totals
        held = np.arange(-2 * FAR, 2 * FAR + 1)
        self.held = held
        self.low, self.high = [], []
        for total in totals:
            below, above = passing(made, self.part, len(cuts))
            rows = [
                (j + 1, [whole * int(c) - share * total for c in held])
                for j in range(len(cuts))
            ]
            self.low.append([first_not(below, j, row) for j, row in rows])
            self.high.append([first_not(above, j, row[::-1]) for j, row in rows])

    def missed(self, counts, noise, first_low, last_high):
        """Return the probability that the lower end passes a cut, or the upper one does.

        Args:
            counts: Of the bins.
            noise: The law of the noise on each.
            first_low: The first cut that the lower end must not pass.
            last_high: The last one that the upper end must not pass.
        """
        size, found = self.held.size, 0.0
        laws = [
            np.convolve(np.eye(1, size, count + 2 * FAR)[0], noise, "same") for count in counts
        ]
        for at, total in enumerate(self.totals):
            low = scan(laws, self.low[at], first_low, total)
            high = scan(
                laws[::-1],
                self.high[at][::-1],
                len(self.cuts) - 1 - last_high,
                total,
                self.held,
                backwards=True,
            )
            found += low + high
        return found


def first_not(test, before, differences):
    """Return how many differences pass from the first on: they pass up to some point."""
    return bisect(range(len(differences)), 0, key=lambda at: not test(differences[at], before))


def scan(laws, passing, until, total, held=None, *, backwards=False):
    """Return the probability that all cuts up to one are passed, with a total."""
    if until >= len(passing) or until < 0:
        return 0.0
    size = laws[0].size
    now = np.eye(1, size, size // 2)[0]
    for j, law in enumerate(laws):
        now = np.convolve(now, law, "same")
        if j <= until:
            # Forwards the running sum is small; backwards what is left of the total is large.
            kept = passing[j]
            if not backwards:
                now[kept:] = 0
            else:
                before = total - np.arange(-(size // 2), size // 2 + 1)
                now[before < held[size - kept] if kept else before < np.inf] = 0
    place = total + size // 2
    return float(now[place]) if 0 <= place < size else 0.0


def rank_of_place(rows, points, rank):
    return sorted(sum(2 * (x > c) + (x == c) for c in points) for x in rows)[rank - 1]


@pytest.mark.parametrize(
    ("p", "points"),
    [
        (75, (0.5, 2)),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in product((25, 90), CANDIDATES)),
    ],
)
def test_intervals_hold_the_percentile_of_every_small_database(p, points):
    made, worst = intervals(p, points, scale=1.2), 0.0
    part, noise = exact_fraction(p), laplace(1.2, FAR)
    for released in range(len(points)):
        cuts = cuts_around([released], len(points))
        passes = Passes(made, p, cuts, range(-20, 26))
        for rows in databases(RECORDS, 1):
            n = len(rows)
            low, high = (
                rank_of_place(rows, points, round_(1 + part * (n - 1))) if n else 0
                for round_ in (floor, ceil)
            )
            first = next((j for j, cut in enumerate(cuts) if cut >= low), len(cuts))
            last = max((j for j, cut in enumerate(cuts) if cut < high), default=-1)
            worst = max(worst, passes.missed(bins_of(rows, points, cuts), noise, first, last))
    assert worst <= 0.1
    # Each side has its half, and the law of the noise is a lattice.
    assert worst >= 0.01


def test_ends_are_those_of_the_tests():
    made = intervals(90, range(10), scale=2.0)
    cuts, rng = cuts_around([6], 10), np.random.default_rng(0)
    part = Fraction(9, 10)
    for _ in range(50):
        noisy = rng.integers(-4, 60, len(cuts) + 1).tolist()
        total = sum(noisy)
        below, above = passing(made, part, len(cuts))
        sums = [sum(noisy[: j + 1]) for j in range(len(cuts))]
        differences = [10 * held - 9 * total for held in sums]
        low = [below(one, j + 1) for j, one in enumerate(differences)]
        high = [above(one, j + 1) for j, one in enumerate(differences)]
        expected_low = 0 if not low[0] else cuts[[*low, False].index(False) - 1] // 2
        passed = [*high[::-1], False].index(False)
        expected_high = cuts[len(cuts) - passed] // 2 if passed else 9
        assert list(made.ends(noisy, cuts, [6], 10)) == [(expected_low, expected_high)]


@pytest.mark.parametrize(
    ("scale", "part"), [(0.7, Fraction(9, 10)), (1.5, Fraction(1, 2)), (1.1, Fraction(1))]
)
def test_tails_are_those_of_the_noise(scale, part):
    before, after = 2, 1
    whole, share = part.denominator, part.numerator
    one, law = laplace(scale, 60), {}
    two = np.convolve(one, one)
    for a, chance_a in zip(range(-120, 121), two, strict=True):
        for b, chance_b in zip(range(-60, 61), one, strict=True):
            sum_ = (whole - share) * a - share * b
            law[sum_] = law.get(sum_, 0) + chance_a * chance_b
    for units in (-5, 0, 1, 3, 11, 40):
        exact = sum(chance for value, chance in law.items() if value >= units)
        found = noise_tail(scale, part, before, after, units)
        assert found == pytest.approx(exact, abs=1e-12)


def of_persons(held):
    """Return the rows of a person who stays, and of one with some values more."""
    rows = [("stays", 1), *(("one", value) for value in held)]
    return pl.DataFrame(rows, schema={"who": pl.String, "v": pl.Int64}, orient="row")


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_the_counts_cost_their_share_by_persons(relation, monkeypatch):
    """Of persons with up to two values, who come, or are replaced by each other."""
    asked = {"column": "v", "p": 50, "candidates": range(VALUES), "interval": 0.9}
    asked |= {"user": "who", "max_per_user": 2, "epsilon": 1.0, "neighbours": relation}
    held = [x for n in range(3) for x in combinations_with_replacement((0, 1, 3), n)]
    pairs = [(x, y) for x, y in combinations(held, 2) if relation == "substitute" or x == ()]

    def most():
        release = dp.Percentiles(**asked).release
        return max(loss_of_last_noise(release, of_persons(x), of_persons(y)) for x, y in pairs)

    share = float(SHARE)
    assert most() == pytest.approx(share)
    without_persons = property(lambda self: scale_for(self.epsilon, self.records.changed // 2))
    monkeypatch.setattr(Intervals, "scale", without_persons)
    assert most() == pytest.approx(2 * share)


def stopped(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("more", [{}, {"by": "ward", "groups": ["a", "b"]}])
@pytest.mark.parametrize("several", [False, True])
def test_values_are_in_the_ledger_when_their_intervals_are_interrupted(
    more, several, tmp_path, monkeypatch
):
    monkeypatch.setattr(Intervals, "ends", stopped)
    rows = pl.DataFrame({"v": [2] * 300, "ward": ["a", "b"] * 150})
    query = dp.Percentiles(
        column="v", p=50, upper=9, step=1, interval=0.9, epsilon=100.0,
        neighbours="add-remove", **more,
    )  # fmt: skip
    path = tmp_path / "clinic.budget"
    budget = dp.Budget(300.0, neighbours="add-remove", path=path)
    budget = budget.for_request(source="visits", version="1")
    with pytest.raises(KeyboardInterrupt):
        dp.run([query], rows, budget=budget) if several else query.release(rows, budget=budget)

    answer = [["a", [2]], ["b", [2]]] if more else [2]
    [entry] = dp.Budget.open(path).entries
    assert entry.answer["answer"] == answer
    assert budget.spent == 100


def test_an_interval_of_the_whole_range_is_left_out_in_words():
    release = dp.Percentiles(
        p=50, candidates=range(31), epsilon=50.0, neighbours="add-remove", interval=0.95
    ).release(range(31))
    for ends, said in (((0, 30), WHOLE), ((0, 29), "0 to 29"), ((1, 30), "1 to 30")):
        assert replace(release, interval=(ends,)).shown() == {
            "p": [50],
            "value": [f"15 ({said})"],
        }
