"""The registry of samplers: every draw is seen once, in order, in every thread."""

import threading
from fractions import Fraction

import numpy as np
import pytest

from dpselect.draws import door, opendp, uniform
from dpselect.errors import ParameterError


@door.sampler
def two_coins():
    return uniform.coin(Fraction(1, 2)), uniform.coin(Fraction(1, 2))


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
        assert uniform.bits(3) == 7
        assert uniform.sample([1, 2], k=2) == 7

    assert calls == [
        ("dpselect.draws.uniform.bits", (3,), {}),
        ("dpselect.draws.uniform.sample", ([1, 2],), {"k": 2}),
    ]


def test_a_sampler_inside_a_sampler_is_one_draw():
    names = seen(lambda: (two_coins(), uniform.bits(1)))

    assert names == [two_coins.__module__ + ".two_coins", "dpselect.draws.uniform.bits"]
    assert not door.drawing()


def test_a_draw_in_another_thread_is_seen():
    def action():
        worker = threading.Thread(target=uniform.bits, args=(1,))
        worker.start()
        worker.join()

    assert seen(action) == ["dpselect.draws.uniform.bits"]


def test_blocks_nest_and_end_with_an_error():
    names = []

    def inner(action):
        with pytest.raises(KeyError, match="theirs"), door.handled(lambda *_: fail()):
            action()
        uniform.bits(1)

    def fail():
        raise KeyError("theirs")

    names = seen(lambda: inner(lambda: uniform.bits(2)))

    assert names == ["dpselect.draws.uniform.bits"]
    assert 0 <= uniform.bits(1) <= 1


def test_a_sampler_that_raises_is_not_drawing_afterwards():
    def action():
        with pytest.raises(ValueError, match="larger than population"):
            uniform.sample([1], 2)

    assert seen(action) == ["dpselect.draws.uniform.sample"]
    assert not door.drawing()


def test_uniform_draws_keep_their_ranges():
    assert {uniform.bits(1) for _ in range(64)} == {0, 1}
    assert sorted(uniform.sample(range(5), 5)) == [0, 1, 2, 3, 4]
    assert {uniform.coin(Fraction(0)), uniform.coin(Fraction(1))} == {False, True}


@pytest.mark.parametrize("counts", [[0.5], [1.0], ["1"], [True]])
def test_noise_is_for_integers(counts):
    with pytest.raises(ParameterError, match="counts must be integers"):
        opendp.discrete_laplace(np.array(counts), 1.0)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 2.0**51])
def test_the_scale_is_positive_and_keeps_the_noise_in_64_bits(scale):
    with pytest.raises(ParameterError, match="scale must be"):
        opendp.discrete_laplace(np.array([1]), scale)


def test_the_scale_of_counts_is_rounded_up():
    for epsilon in (0.1, 0.3, 1.0, 7.0):
        for steps in (1, 3):
            assert Fraction(opendp.scale_for(epsilon, steps)) * Fraction(epsilon) >= steps
