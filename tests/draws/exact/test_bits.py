"""The operating system's bits: all of them are used, and none twice."""

import subprocess
import sys

import numpy as np
import pytest

from dpselect.draws.exact import bits
from dpselect.draws.exact.lazy_noise import Noise, bounds

OUTSIDE_TESTS = """
import os, secrets
from dpselect.draws.exact import bits
assert bits.urandom is os.urandom
assert isinstance(bits.system, secrets.SystemRandom)
for name in ("randbelow", "randbits", "token_bytes"):
    assert getattr(bits, name) is getattr(secrets, name)
"""


def test_bits_are_the_operating_systems_where_no_test_runs():
    """The settings of the tests put a repeatable stream in their place."""
    subprocess.run([sys.executable, "-c", OUTSIDE_TESTS], check=True)


def test_words_are_what_the_operating_system_gives(monkeypatch):
    given = bytes(range(1, 49))
    asked = []
    monkeypatch.setattr(bits, "urandom", lambda size: asked.append(size) or given[:size])

    assert bits.words(2, 3).tolist() == np.frombuffer(given, np.uint64).reshape(2, 3).tolist()
    assert bits.words(3, bits=8).tolist() == [1, 2, 3]
    assert asked == [48, 3]


def test_every_bit_of_a_word_is_random():
    """A bit that is the same in 2,000 words would be so by chance once in 2^1999."""
    words = bits.words(2000)

    assert np.bitwise_or.reduce(words) == 2**64 - 1
    assert np.bitwise_and.reduce(words) == 0
    assert np.unique(words).size == words.size


@pytest.mark.parametrize("noise", Noise)
def test_noise_keeps_all_bits_of_its_words(monkeypatch, noise):
    words = np.array([[2**63 + 1, 2**62 + 12345]] * noise.uniforms, dtype=np.uint64)
    monkeypatch.setattr(bits, "words", lambda *_: words)
    known = bounds(noise, np.zeros(2, dtype=np.int64), 1.0)

    assert known.words.tolist() == words.tolist()
