"""Python samplers against the programs that are proved and extracted, on the same bits."""

import shutil
import subprocess
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import ceil, floor
from random import Random

import numpy as np
import pytest

from dpselect.draws.exact import inversion, samplers as source, selection
from dpselect.draws.exact.inversion import Weights
from dpselect.draws.exact.lazy_noise import Noise, Refined
from dpselect.draws.grid import STEPS_PER_UNIT
from support.prover import COQC, PROOFS, has_coquelicot
from support.rows import Listed

PROVED = (
    "UnitScores",
    "PermuteAndFlip",
    "Inversion",
    "LazyNoise",
    "Strings",
    "LazyDistribution",
    "Logarithm",
    "ExponentialNoise",
    "GumbelNoise",
    "Extract",
)
RUNS = 100_000


class Undecided(Exception):  # noqa: N818 -- no error
    """All bits are read."""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Prove, extract and compile; run on lines and return the lines it prints."""
    if not has_coquelicot() or shutil.which("ocamlfind") is None:
        pytest.skip("the proof checker or the compiler (coqc, ocamlfind) is not installed")
    folder = tmp_path_factory.mktemp("samplers")
    for name in PROVED:
        shutil.copy(PROOFS / f"{name}.v", folder)
    shutil.copy(PROOFS / "replay.ml", folder)
    compiled = ["samplers.mli", "samplers.ml", "replay.ml"]
    for command in (
        *([COQC, "-q", f"{name}.v"] for name in PROVED),
        ["ocamlfind", "ocamlopt", *compiled, "-o", "replay"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)

    def run(lines):
        ran = subprocess.run(
            [folder / "replay"],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout.splitlines()

    return run


def case(random):
    """Weights between bounds that get closer, and bits for up to three rounds more."""
    n, bits = random.randint(1, 6), random.randint(1, 12)
    weights = [Fraction(random.randint(0, 50), random.randint(1, 30)) for _ in range(n)]
    weights[random.randrange(n)] += 1
    levels = []
    rounds = random.randint(0, 3)
    for level in range(rounds + 1):
        scale = 2 ** (bits * 2**level + random.randint(0, 9))
        lows, highs = ([cut(one * scale) for one in weights] for cut in (floor, ceil))
        more = random.getrandbits(bits * 2**level)
        levels.append((lows, [high + random.randint(0, 1) for high in highs], more))
    first, before, beyond = random.randint(0, 9), random.randint(0, 2), random.randint(0, 2)
    return bits, random.getrandbits(bits), first, before, beyond, levels


def by_python(monkeypatch, bits, uniform, first, before, beyond, levels):
    asked = {bits << i: level for i, level in enumerate(levels)}
    given = iter([more for _, _, more in levels[:-1]])

    def randbits(_):
        try:
            return next(given)
        except StopIteration:
            raise Undecided from None

    def weights(bits):
        lows, highs, _ = asked[bits]
        pairs = zip(lows, highs, strict=True)
        return Weights.of(pairs, first=first, before=before, beyond=beyond)

    monkeypatch.setattr(inversion.source, "randbits", randbits)
    try:
        return str(inversion.resume(weights, uniform, bits))
    except Undecided:
        return "-"


def as_line(bits, uniform, first, before, beyond, levels):
    numbers = [len(levels) - 1, bits, uniform, first, before, beyond, len(levels[0][0])]
    for lows, highs, more in levels:
        numbers += [*lows, *highs, more]
    return in_binary("inversion", numbers)


def in_binary(name, numbers):
    return " ".join([name, *(f"{number:b}" for number in numbers)])


@pytest.mark.slow
def test_inversion_draws_the_same_outcome_of_the_same_bits(program, monkeypatch):
    random = Random(20)  # noqa: S311 -- cases, no noise
    cases = [case(random) for _ in range(RUNS)]
    proved = program(as_line(*one) for one in cases)
    ours = [by_python(monkeypatch, *one) for one in cases]

    assert len(proved) == RUNS
    assert ours == proved
    # Both kinds occur, so that the comparison says something.
    assert 0.01 < proved.count("-") / RUNS < 0.6
    assert len(set(proved)) > 10


FIRST, DEPTH = 8, 4
STRING = FIRST << DEPTH
"""Bits of a candidate: two words."""


KINDS = ["any"] * 236 + ["end", "near", "next", "same", "wide"]


def noise_of(noise, word):
    """The noise in scales, for a number in the middle of those that begin with a string."""
    u = (word + Decimal("0.5")) / 2**STRING
    return -u.ln() if noise is Noise.EXPONENTIAL else -(-(1 - u).ln()).ln()


def word_of(noise, size):
    """The first word of which noise of a size begins."""
    u = (-size).exp() if noise is Noise.EXPONENTIAL else 1 - (-(-size).exp()).exp()
    return int(u * 2**source.WORD)


def noise_case(random, noise):
    """Scores, a scale and bits; some with noisy scores that are nearly or exactly the same."""
    n = random.randint(1, 6)
    scale = random.choice([0.75, 7.3, float(2**21 + 10), 2.0**40 / 3])
    scores = [-int(scale * random.choice([0, 0, 1, 3]) * random.random()) for _ in range(n)]
    words = [random.getrandbits(STRING) for _ in range(n)]
    kind = random.choice(KINDS)
    if kind == "end":
        one = random.randrange(n)
        words[one] >>= random.randrange(STRING)
        if noise is Noise.GUMBEL and random.random() < 0.5:
            words[one] ^= 2**STRING - 1
    elif kind != "any" and n > 1:
        one, other = random.sample(range(n), 2)
        with localcontext(Context(prec=60)):
            if kind == "near":
                # The first word of the other gives it the noisy score of the one, nearly.
                lead = (scores[one] - scores[other]) / Decimal(scale)
                size = noise_of(noise, words[one]) + lead
                word = word_of(noise, size) if noise is Noise.GUMBEL or size > 0 else 0
                if 0 < word < 2**source.WORD:
                    words[other] = word << source.WORD | random.getrandbits(source.WORD)
            elif kind == "wide":
                # A first word that tells little of the noise, and a noisy score within that.
                word = random.randint(1, 2**12)
                words[one] = word << source.WORD | random.getrandbits(source.WORD)
                apart = noise_of(noise, words[one]) - noise_of(noise, words[other])
                apart += Decimal(random.uniform(-1, 1)) / word
                scores[one] = scores[other] - int(apart * Decimal(scale))
            else:
                scores[other] = scores[one]
                words[other] = words[one]
                if kind == "next":
                    words[other] ^= 1 << (source.WORD + random.randrange(3))
    # Two candidates of one score and one first word must have one string, to be told apart.
    first = {(score, word >> source.WORD) for score, word in zip(scores, words, strict=True)}
    if len(first) < len(set(zip(scores, words, strict=True))):
        return noise_case(random, noise)
    best = max(scores)
    return [score - best for score in scores], scale, random.randint(1, n), words


def drawn_by_proved(program, noise, cases):
    lines = [
        in_binary(
            noise.value,
            [
                FIRST,
                DEPTH,
                len(scores),
                k,
                *scale.as_integer_ratio(),
                *map(abs, scores),
                *words,
            ],
        )
        for scores, scale, k, words in cases
    ]
    proved = program(lines)
    assert len(proved) == len(cases)
    return proved


class Told(Refined):
    """A noisy score whose further bits are given."""

    strings: dict[tuple[int, int], int]
    """The bits of each score with its first word."""
    now: Refined

    def refine(self):
        Told.now = self
        super().refine()

    @staticmethod
    def randbits(bits):
        one = Told.now
        read = one.bits
        if read + bits > STRING:
            raise Undecided
        # The score of one whose words were read further stands with its first word.
        string = Told.strings[one._number, one._words[0] >> (read - source.WORD)]
        return string >> (STRING - read - bits) & ((1 << bits) - 1)


def noise_by_python(monkeypatch, noise, few, scores, scale, k, words):
    first = [word >> (STRING - source.WORD) for word in words]
    given = np.array([first], dtype=np.uint64)
    Told.strings = dict(zip(zip(scores, first, strict=True), words, strict=True))
    monkeypatch.setattr(source, "words", lambda *_: given)
    monkeypatch.setattr(source, "randbits", Told.randbits)
    monkeypatch.setattr(selection, "Refined", Told)
    monkeypatch.setattr(selection, "SCALARS", few)
    try:
        drawn = selection._largest(noise, np.array(scores), scale, k)
        if k == 1 and noise is Noise.EXPONENTIAL:
            rows, places = Listed([np.array(scores) / STEPS_PER_UNIT]), np.arange(len(scores))
            row = selection._of_rows(rows, 0 * places, places, given[0], scale)
            assert row.tolist() == drawn
    except Undecided:
        return "-"
    return " ".join(map(str, drawn))


NUMBERS = 0, 16
"""Up to how many candidates those of Python are taken in place of arrays."""


def differ(ours, proved):
    """How many draws are another one than is proved, of those that the bits decide."""
    return sum(one != other for one, other in zip(ours, proved, strict=True) if other != "-")


@pytest.mark.slow
@pytest.mark.parametrize("noise", [Noise.EXPONENTIAL, Noise.GUMBEL])
def test_noise_draws_the_same_candidates_of_the_same_bits(program, monkeypatch, noise):
    random = Random(21)  # noqa: S311 -- cases, no noise
    cases = [noise_case(random, noise) for _ in range(RUNS)]
    proved = drawn_by_proved(program, noise, cases)
    for few in NUMBERS:
        ours = [noise_by_python(monkeypatch, noise, few, *one) for one in cases]

        assert differ(ours, proved) == 0
    # What is open stays so only where two strings are the same.
    for (scores, _, _, words), outcome in zip(cases, proved, strict=True):
        if outcome == "-":
            assert len(set(zip(scores, words, strict=True))) < len(words)
    assert 0.001 < proved.count("-") / RUNS < 0.3
    assert len(set(proved)) > 100
