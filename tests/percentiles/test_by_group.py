"""Percentiles of groups: laws, engines and tables; `tests/test_groups.py` has their privacy."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import chisquare

import dpselect as dp
from dpselect.draws import above_threshold
from dpselect.draws.exact import selection
from dpselect.draws.exact.samplers import intercepted
from dpselect.draws.exact.selection import largest_of_each
from dpselect.percentiles import PercentileRelease
from dpselect.percentiles.candidates import Range
from dpselect.percentiles.prediction import Simulated
from dpselect.percentiles.reading import counts_of, counts_of_groups
from support.engines import held_by
from support.rows import Listed

ADDED = dp.Neighbours.ADD_REMOVE


def drawn_from(name, release):
    """Return the private inputs of a sampler, of all its calls in a release.

    The noisy number of records is that of a method by rank, or by a threshold from 85 on.
    """
    seen = []

    def handle(sampler, draw, args, _kwargs):
        if sampler.endswith("discrete_laplace"):
            return np.full(args[0].shape, 5000)
        if sampler.endswith(name):
            seen.append(np.array(args[0]))
        return draw()

    with intercepted(handle):
        release()
    return seen


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def table(rng, rows=400, groups=5, *, whole=True):
    values = rng.integers(0, 12, rows) if whole else rng.normal(6, 3, rows)
    held = rng.integers(0, groups, rows)
    return pl.DataFrame({"g": [f"ward {one}" for one in held], "v": values})


NAMES = tuple(f"ward {one}" for one in range(6))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("p", "name"), [(70, "largest"), (90, "first_above")])
def test_all_groups_are_drawn_from_what_one_is_drawn_from(rng, whole, p, name):
    """The scores, or queries, of each group are those of its numbers alone, to the last bit."""
    rows = table(rng, whole=whole)
    asked = {"p": p, "upper": 12, "step": 1, "epsilon": 1.0}
    of_all = dp.Percentiles(column="v", by="g", groups=NAMES, neighbours="add-remove", **asked)
    of_one = dp.Percentiles(neighbours="add-remove", **asked)

    [together] = drawn_from(f"{name}_of_each", lambda: of_all.release(rows))

    for ward, held in zip(NAMES, together, strict=True):
        numbers = rows.filter(pl.col("g") == ward)["v"].to_numpy().astype(float)
        [[alone]] = drawn_from(
            f"{name}_of_each", lambda numbers=numbers: of_one.release(numbers)
        )
        np.testing.assert_array_equal(held, alone)


DRAWS, FALSE_ALARM = 10_000, 1e-6


def agrees(drawn, law):
    """Whether positions follow a law; what is hardly ever drawn is one position."""
    held, expected = np.bincount(drawn, minlength=law.size), DRAWS * law / law.sum()
    few = expected < 5
    pairs = np.array([np.append(one[~few], one[few].sum()) for one in (held, expected)])
    pairs = pairs[:, pairs[1] > 0.5]
    return (
        chisquare(pairs[0], pairs[1] * pairs[0].sum() / pairs[1].sum()).pvalue > FALSE_ALARM
        and held[few].sum() < expected[few].sum() + 10 * (1 + expected[few].sum()) ** 0.5
    )


SCORES = [
    [0.0, -1.0, -1.5, -4.0],
    [-12.0] * 40 + [0.0] + [-12.0] * 40,
    [-0.3 * abs(place - 70) / 7 for place in range(200)],
]


@pytest.mark.slow
@pytest.mark.parametrize("scores", SCORES, ids=len)
@pytest.mark.parametrize("few", [0.5, 8.0])
@pytest.mark.parametrize("at_once", [0, 2**30])
def test_draws_of_rows_follow_the_law_of_one(scores, few, at_once, monkeypatch):
    """Of many a word is drawn only where it begins with as many zeros as reach the best."""
    monkeypatch.setattr(selection, "FEW", few)
    monkeypatch.setattr(selection, "CHUNK", at_once)
    objective = dp.Objective(scores, dp.GlobalSensitivity(1, ADDED))
    law = dp.PermuteAndFlip(epsilon=1.0).probabilities(objective)

    drawn = largest_of_each(Listed(np.tile(scores, (DRAWS, 1))), 1.0)

    assert agrees(drawn, law)


QUERIES = [
    ([-5, -1, 2, 0, 9], [0, 0, 0, 0, 0]),
    ([-9, -9, -9, -2, -2, -2, -2, 3, 3], [0, 4, 0, 2, 2, 0, 5, 20, 9]),
    ([-30] * 150 + [-6] * 100 + [-3] * 50, [at // 25 for at in range(300)]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("values", "lowered"), QUERIES)
@pytest.mark.parametrize(("at_once", "steps"), [(0, 2), (0, 64), (2**30, 64)])
def test_stops_of_runs_follow_the_law_of_one(values, lowered, at_once, steps, monkeypatch):
    monkeypatch.setattr(above_threshold, "BLOCK", at_once)
    monkeypatch.setattr(above_threshold, "STEPS", steps)
    values, lowered, size = np.array(values), np.array(lowered), len(values)
    begin, end = 1, size - 1
    first = np.flatnonzero(np.diff(values[begin:end], prepend=-99)) + begin
    runs = above_threshold.Runs(
        np.repeat(np.arange(DRAWS), first.size),
        np.tile(first, DRAWS),
        np.tile(values[first], DRAWS),
        np.full(DRAWS, begin),
        np.full(DRAWS, end),
        lowered,
    )
    queries = (values - lowered)[begin:end]
    law = above_threshold.stop_probabilities(queries, 1, 2.0, 3.0, 1)[0]

    drawn = above_threshold.first_above_of_each(runs, 1, 2.0, 3.0)

    assert agrees(drawn - begin, law)


@pytest.mark.parametrize("engine", ["frame", "polars", "duckdb", "pandas"])
@pytest.mark.parametrize("candidates", [range(13), np.linspace(0, 12, 1201)])
def test_ranks_of_groups_are_those_of_their_numbers(rng, engine, candidates):
    rows = table(rng, whole=False)
    points = np.array(candidates, dtype=float)
    data = rows if engine == "frame" else rows.to_pandas() if engine == "pandas" else None
    if data is None:
        data = held_by(engine, rows)
    design = dp.Percentiles(
        column="v", by="g", groups=NAMES, p=50, candidates=points, epsilon=1, neighbours=ADDED
    ).design()

    read = design.grouping.rows(data, {"number": "v"}, NAMES)
    long, edges = Range(-1000, 1000, 1e-3), np.array([0, 10**6, 10**6 + 5000, 2 * 10**6 + 1])
    counts = [
        counts_of_groups(read, one, data, len(NAMES), np.float64) for one in (points, long)
    ]

    found = zip(*(one.parts() for one in counts), strict=True)
    for name, (few, many) in zip(NAMES, found, strict=True):
        alone = rows.filter(pl.col("g") == name)["v"].to_numpy()
        pairs = (
            (few, counts_of(alone, points)),
            (many.in_cells(edges), counts_of(alone, long).in_cells(edges)),
        )
        for ranks, right in pairs:
            assert ranks.numbers == right.numbers
            for part in ("below", "upto"):
                np.testing.assert_array_equal(getattr(ranks, part), getattr(right, part))


def test_without_any_group_there_is_no_answer():
    asked = dp.Percentiles(
        column="v", by="g", p=50, upper=12, step=1, epsilon=1.0, delta=1e-6,
        neighbours="add-remove",
    )  # fmt: skip

    assert asked.release(pl.DataFrame({"g": ["a"], "v": [1]})).answer == ()


@pytest.mark.parametrize("interval", [None, 0.95])
def test_an_empty_column_is_called_noise_and_a_full_one_is_not(interval):
    """Both rarely otherwise: of 40 releases of nothing at most 9, where 2 are expected."""
    query = dp.Percentiles(
        p=[50, 90], upper=60, step=1, epsilon=1.0, interval=interval, neighbours=ADDED
    )
    nothing = [query.release([None] * 2000).usable for _ in range(40)]
    full = [query.release(list(range(50)) * 14).usable for _ in range(40)]

    assert sum(map(any, nothing)) <= 9
    assert all(map(all, full))


def test_what_is_noise_is_a_function_of_what_was_released():
    """Of the query and the noisy number alone: it costs nothing."""
    query = dp.Percentiles(p=[50, 99], upper=60, step=1, epsilon=1.0, neighbours=ADDED)
    told = [
        PercentileRelease((3, 5), query.plan, p=(50.0, 99.0), records=number).usable
        for number in (-40, 30, 200, 2000)
    ]

    assert told == [(False, False), (True, False), (True, False), (True, True)]


@pytest.mark.parametrize("p", [(50.0,), (90.0,), (50.0, 90.0, 99.0), (25.0, 50.0, 75.0)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_values_that_are_noise_are_called_so_and_others_are_not(p, epsilon):
    """A value is near within half of the records beyond: in few releases noise, in most not.

    Fewer than 200 rows by epsilon are not told from none.
    """
    points, times = np.arange(366.0), 100
    query = dp.Percentiles(p=p, upper=365, step=1, epsilon=epsilon, neighbours=ADDED)
    method = query.design().method
    for rows in (20, 200, 700, 2000, 5000):
        values = np.ceil(np.random.default_rng(rows).lognormal(1.2, 1, rows))
        by = Simulated(np.random.default_rng(1))
        ranks = counts_of(values, points).some(np.zeros(times, dtype=int))
        noisy = by.laplace(ranks.numbers, method.scale)
        drawn = method.draw(ranks, noisy, by)
        usable = np.array([method.are_usable(one) for one in noisy.tolist()])
        wanted = 0.5 + np.array(p) / 100 * (rows - 1)
        below, upto = (np.searchsorted(np.sort(values), drawn, side) for side in SIDES)
        off = np.maximum(np.maximum(below - wanted, wanted - upto), 0)
        near = off <= np.minimum(p, 100 - np.array(p)) / 200 * rows
        for told, share in zip(usable.T, near.mean(axis=0), strict=True):
            if share < 0.5:
                assert told.mean() <= 0.12
            if share >= 0.9 and rows * epsilon >= 200:
                assert told.mean() >= 0.95


SIDES = ("left", "right")


def test_groups_in_which_no_number_is_missing_raise_nothing():
    rows = pl.DataFrame({"g": ["a"] * 9, "v": [1.0] * 9})
    asked = {"column": "v", "by": "g", "groups": ["a"], "p": 50, "candidates": range(3)}
    query = dp.Percentiles(**asked, epsilon=100.0, neighbours=ADDED, on_invalid="raise")

    assert query.release(rows).by_group == {"a": (1,)}
