"""The registry of samplers: every draw is seen once, in order, in every thread."""

import threading
from fractions import Fraction

import numpy as np
import pytest

from dpselect.draws import door, noisy_counts, uniform
from dpselect.errors import ParameterError

HALF = Fraction(1, 2)


@door.sampler
def two_coins():
    return coin(), coin()


def coin():
    return uniform.flipped([False], HALF)


def seen(action):
    """Return the names of the samplers that ran."""
    names = []

    def handler(name, draw, _args, _kwargs):
        names.append(name)
        return draw()

    with door.handled(handler):
        action()
    return names


def test_a_handler_sees_names_and_arguments_and_may_answer_itself():
    calls = []

    def handler(name, _draw, args, kwargs):
        calls.append((name, args, kwargs))
        return 7

    with door.handled(handler):
        assert uniform.flipped([True], HALF) == 7
        assert uniform.sample([1, 2], k=2) == 7

    assert calls == [
        ("dpselect.draws.uniform.flipped", ([True], HALF), {}),
        ("dpselect.draws.uniform.sample", ([1, 2],), {"k": 2}),
    ]


def test_a_sampler_inside_a_sampler_is_one_draw():
    names = seen(lambda: (two_coins(), coin()))

    assert names == [two_coins.__module__ + ".two_coins", "dpselect.draws.uniform.flipped"]
    assert not door.drawing()


def test_a_draw_in_another_thread_is_seen():
    def action():
        worker = threading.Thread(target=coin)
        worker.start()
        worker.join()

    assert seen(action) == ["dpselect.draws.uniform.flipped"]


def test_blocks_nest_and_end_with_an_error():
    names = []

    def inner(action):
        with pytest.raises(KeyError, match="theirs"), door.handled(lambda *_: fail()):
            action()
        coin()

    def fail():
        raise KeyError("theirs")

    names = seen(lambda: inner(coin))

    assert names == ["dpselect.draws.uniform.flipped"]
    assert coin() in ([False], [True])


def test_a_sampler_that_raises_is_not_drawing_afterwards():
    def action():
        with pytest.raises(ValueError, match="larger than population"):
            uniform.sample([1], 2)

    assert seen(action) == ["dpselect.draws.uniform.sample"]
    assert not door.drawing()


def test_uniform_draws_keep_their_ranges():
    assert {coin()[0] for _ in range(64)} == {False, True}
    assert sorted(uniform.sample(range(5), 5)) == [0, 1, 2, 3, 4]
    assert uniform.flipped([True, False], Fraction(0)) == [True, False]
    assert uniform.flipped([True, False], Fraction(1)) == [False, True]


@pytest.mark.parametrize("counts", [[0.5], [1.0], ["1"], [True]])
def test_noise_is_for_integers(counts):
    with pytest.raises(ParameterError, match="counts must be integers"):
        noisy_counts.discrete_laplace(np.array(counts), 1.0)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 2.0**51])
def test_the_scale_is_positive_and_keeps_the_noise_in_64_bits(scale):
    with pytest.raises(ParameterError, match="scale must be"):
        noisy_counts.discrete_laplace(np.array([1]), scale)


def test_the_scale_of_counts_is_rounded_up():
    for epsilon in (0.1, 0.3, 1.0, 7.0):
        for steps in (1, 3):
            assert Fraction(noisy_counts.scale_for(epsilon, steps)) * Fraction(epsilon) >= steps
