"""The registry of samplers: every draw is seen once, in order, in every thread."""

import threading
from fractions import Fraction

import pytest

from dpselect.draws.exact import bernoulli, samplers, uniform

HALF = Fraction(1, 2)
FLIPPED = "dpselect.draws.exact.bernoulli.flipped"


@samplers.sampler
def two_coins():
    return coin(), coin()


def coin():
    return bernoulli.flipped([False], HALF)


def seen(action):
    """Return the names of the samplers that ran."""
    names = []

    def handler(name, draw, _args, _kwargs):
        names.append(name)
        return draw()

    with samplers.intercepted(handler):
        action()
    return names


def test_a_handler_sees_names_and_arguments_and_may_answer_itself():
    calls = []

    def handler(name, _draw, args, kwargs):
        calls.append((name, args, kwargs))
        return 7

    with samplers.intercepted(handler):
        assert bernoulli.flipped([True], HALF) == 7
        assert uniform.sample([1, 2], k=2) == 7

    assert calls == [
        (FLIPPED, ([True], HALF), {}),
        ("dpselect.draws.exact.uniform.sample", ([1, 2],), {"k": 2}),
    ]


def test_a_sampler_inside_a_sampler_is_one_draw():
    names = seen(lambda: (two_coins(), coin()))

    assert names == [two_coins.__module__ + ".two_coins", FLIPPED]
    assert not samplers.drawing()


def test_a_draw_in_another_thread_is_seen():
    def action():
        worker = threading.Thread(target=coin)
        worker.start()
        worker.join()

    assert seen(action) == [FLIPPED]


def test_blocks_nest_and_end_with_an_error():
    names = []

    def inner(action):
        with pytest.raises(KeyError, match="theirs"), samplers.intercepted(lambda *_: fail()):
            action()
        coin()

    def fail():
        raise KeyError("theirs")

    names = seen(lambda: inner(coin))

    assert names == [FLIPPED]
    assert coin() in ([False], [True])


def test_a_sampler_that_raises_is_not_drawing_afterwards():
    def action():
        with pytest.raises(ValueError, match="population"):
            uniform.sample([1], 2)

    assert seen(action) == ["dpselect.draws.exact.uniform.sample"]
    assert not samplers.drawing()
