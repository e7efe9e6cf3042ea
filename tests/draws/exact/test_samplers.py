"""Bits that are all used, and draws that are seen once, in order, in every thread."""

import subprocess
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

from dpselect.draws.exact import bernoulli, samplers, uniform
from dpselect.draws.exact.lazy_noise import Noise, bounds

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


OUTSIDE_TESTS = """
import os, secrets
from dpselect.draws.exact import samplers
assert samplers.urandom is os.urandom
assert type(samplers.system) is secrets.SystemRandom
for drawn in (samplers.randbelow, samplers.randbits):
    assert drawn.__self__ is samplers.system
"""


def test_bits_are_the_operating_systems_where_no_test_runs():
    """The settings of the tests put a repeatable stream in their place."""
    subprocess.run([sys.executable, "-c", OUTSIDE_TESTS], check=True)


def test_words_are_what_the_operating_system_gives(monkeypatch):
    given = bytes(range(1, 49))
    asked = []
    monkeypatch.setattr(samplers, "urandom", lambda size: asked.append(size) or given[:size])

    assert (
        samplers.words(2, 3).tolist() == np.frombuffer(given, np.uint64).reshape(2, 3).tolist()
    )
    assert samplers.words(3, bits=8).tolist() == [1, 2, 3]
    assert asked == [48, 3]


def test_every_bit_of_a_word_is_random():
    """A bit that is the same in 2,000 words would be so by chance once in 2^1999."""
    words = samplers.words(2000)

    assert np.bitwise_or.reduce(words) == 2**64 - 1
    assert np.bitwise_and.reduce(words) == 0
    assert np.unique(words).size == words.size


@pytest.mark.parametrize("noise", Noise)
def test_noise_keeps_all_bits_of_its_words(monkeypatch, noise):
    words = np.array([[2**63 + 1, 2**62 + 12345]] * noise.uniforms, dtype=np.uint64)
    monkeypatch.setattr(samplers, "words", lambda *_: words)
    known = bounds(noise, np.zeros(2, dtype=np.int64), 1.0)

    assert known.words.tolist() == words.tolist()
