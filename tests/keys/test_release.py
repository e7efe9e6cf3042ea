"""Releases of keys: answers, laws of draws, prices, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from support.noise import laplace

ADDED, REPLACED = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
FRUIT = ["apple"] * 6 + ["pear"] * 4 + ["fig"] * 3 + ["kiwi"]
VISITS = pl.DataFrame(
    [(p, f"D{d}", "east" if d % 2 else "west") for p in range(400) for d in range(1 + p % 4)],
    schema=["patient", "diagnosis", "ward"],
    orient="row",
)
OF_PATIENTS = {"column": "diagnosis", "user": "patient", "max_per_user": 4}


def test_noisy_counts_are_those_of_the_chosen():
    asked = {**OF_PATIENTS, "k": 2, "epsilon": 400.0, "neighbours": REPLACED}

    known = {"candidates": ["D0", "D1", "D2"], "counts_share": 0.5}
    top = dp.TopKeys(**known, mechanism="permute-and-flip", **asked).release(VISITS)
    sequence = dp.TopKeys(**known, **asked).release(VISITS)
    keys = dp.Keys(
        **OF_PATIENTS, method="laplace", epsilon=800.0, delta=0.1, neighbours=ADDED
    ).release(VISITS)

    assert (top.answer, top.counts) == (("D0", "D1"), (400, 300))
    assert top.scale == pytest.approx(2 / 200)  # two of the counts, each by one
    assert (sequence.answer, sequence.counts) == (top.answer, top.counts)
    assert sequence.scale == pytest.approx(
        3 / 400
    )  # all three of the counts; nothing is split off
    assert (keys.answer, keys.counts) == (("D0", "D1", "D2", "D3"), (400, 300, 200, 100))
    assert json.loads(keys.to_json())["counts"] == [400, 300, 200, 100]


def test_a_fresh_count_is_noise_where_those_of_nothing_are_as_large():
    """With the stated probability none of them is larger: one of discrete noise, or another."""
    asked = {**OF_PATIENTS, "k": 2, "candidates": ["D0", "D1"], "counts_share": 0.5}
    release = dp.TopKeys(
        **asked, mechanism="permute-and-flip", epsilon=1.0, neighbours=ADDED
    ).release(VISITS)
    rest = 1 - release.plan.error.probability

    for count in range(1, 60):
        usable = 2 * np.exp(-count / release.scale) < rest
        assert replace(release, counts=(count, 0)).usable == (usable, False)


def test_people_read_no_negative_number_of_people():
    known = {"column": None, "k": 1, "candidates": ["fig"], "counts_share": 0.5}
    release = dp.TopKeys(**known, epsilon=1.0, neighbours=ADDED).release(["fig"])
    release = replace(release, counts=(-2,), other=((None, -3),))

    assert release.shown()["people, noisy"] == [0, 0]
    assert release.table()["noisy_count"] == [-2, -3]


@pytest.mark.parametrize(
    ("k", "per_user", "groups", "drawn", "times"),
    [
        (1, 1, 1, "PermuteAndFlip", 1),
        (2, 1, 1, "noisy scores", 1),
        (3, 4, 1, "PermuteAndFlip", 3),
        (9, 4, 1, "noisy scores", 1),
        (1, 1, 4, "PermuteAndFlip", 1),
        (1, 2, 4, "PermuteAndFlip", 2),
        (1, 4, 4, "PermuteAndFlip", 4),
        (1, 9, 4, "PermuteAndFlip", 4),
        (2, 4, 4, "noisy scores", 1),
    ],
)
def test_rounds_or_one_sequence_by_how_many_keys_a_person_has(
    k, per_user, groups, drawn, times
):
    """With groups the noise of the sequence is made for the keys in all of them together.

    Rounds are paid for in as many groups as a person has keys.
    """
    many = {"by": "ward", "groups": range(groups)} if groups > 1 else {}
    asked = {"column": "key", "user": "who", "max_per_user": per_user, **many}

    plan = dp.TopKeys(**asked, k=k, candidates=range(50), epsilon=1.0, neighbours=ADDED).plan

    assert plan.mechanism.startswith(drawn)
    assert [(one.times, one.epsilon) for one in plan.spends] == [(times, 1.0 / times)]


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize(
    ("per_user", "noise"), [(1, "laplace"), (10, "gaussian"), (20, "gaussian")]
)
def test_a_delta_permits_gaussian_noise_where_it_resolves_more(per_user, noise, other):
    asked = {
        "column": "k", "k": 20, "candidates": range(500), "by": "g", "groups": range(5),
        "user": "who", "max_per_user": per_user, "epsilon": 1.0, "neighbours": "add-remove",
        "other": other,
    }  # fmt: skip

    design = dp.TopKeys(**asked, delta=1e-6).design()

    without = dp.TopKeys(**asked).design()
    assert design.selection.top.mechanism.noise == noise
    assert design.plan.delta == (1e-6 if noise == "gaussian" else 0)
    assert (design.selection.top == without.selection.top) is (noise == "laplace")


def test_a_key_of_fewer_people_than_the_least_is_never_released():
    asked = {"min_people": 5, "epsilon": 50.0, "delta": 0.5, "neighbours": ADDED}

    chances = dp.Keys(**asked).probabilities(np.arange(7))

    assert chances[:5].tolist() == [0, 0, 0, 0, 0]
    assert chances[5] == pytest.approx(0.5, rel=1e-12)
    assert set(dp.Keys(**asked).release(FRUIT).answer) <= {"apple"}
    noisy = dp.Keys(**asked, method="laplace").release(FRUIT * 100)
    assert noisy.counts == (600, 300, 100, 400)


@pytest.mark.parametrize("more", [{}, {"by": "ward", "groups": ["a"]}, {"by": "ward"}])
def test_nor_is_it_where_the_rest_is_counted_too(more):
    """At this delta a noisy count of 0 would pass the threshold in one of six releases."""
    query = dp.Keys(
        column="key", min_people=10, other=True, epsilon=0.2, delta=0.2, method="laplace",
        neighbours=ADDED, **more,
    )  # fmt: skip
    rare = pl.DataFrame({"key": ["rare"] * 3, "ward": ["a"] * 3})

    assert query.probabilities(np.array([3])).tolist() == [0]
    assert {query.release(rare).answer for _ in range(150)} == {()}


@pytest.mark.parametrize("method", [None, "optimal", "laplace", "gaussian", "rounds"])
@pytest.mark.parametrize("epsilon", [2.3e-308, 1e-13, 1e6])
@pytest.mark.parametrize("delta", [1e-100, 1e-20, 0.5])
def test_any_epsilon_has_a_law_or_is_refused(method, epsilon, delta):
    asked = {"method": method, "epsilon": epsilon, "delta": delta, "neighbours": ADDED}
    try:
        made = dp.Keys(**asked)
    except ParameterError as refused:
        assert "too small" in str(refused)  # noqa: PT017 -- both outcomes are right
        return

    chances = made.probabilities(np.array([0, 1, 10**6, 10**12, 2**62]))

    assert (np.diff(chances) >= -1e-12).all()
    assert chances[0] == 0
    assert chances[1] <= delta * (1 + 1e-12)
    assert chances[-1] <= 1


def test_intervals_of_counts_drawn_afterwards_are_the_shortest_that_hold_together():
    """Half of epsilon is for the noise of two counts, which one row changes by one."""
    query = dp.TopKeys(
        k=2, candidates=range(9), counts_share=0.5, mechanism="permute-and-flip", interval=0.9,
        epsilon=1.0, neighbours="add-remove",
    )  # fmt: skip
    [(low, high), _] = query.release([0] * 50 + [1] * 30).interval
    reach = int(high - low) // 2
    chances = [laplace(2, one).sum() ** 2 for one in (reach - 1, reach)]

    assert chances[0] < 0.9 <= chances[1]
