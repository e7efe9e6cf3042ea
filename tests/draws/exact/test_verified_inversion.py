"""The Python inversion against the program that is proved and extracted, on the same bits."""

import shutil
import subprocess
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from random import Random

import pytest

from dpselect.draws.exact import inversion
from dpselect.draws.exact.inversion import Weights

PROOFS = Path(__file__).parents[3] / "proofs"
RUNS = 100_000


class Undecided(Exception):  # noqa: N818 -- no error
    """All bits are read."""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Prove, extract and compile."""
    if shutil.which("coqc") is None or shutil.which("ocamlfind") is None:
        pytest.skip("the proof checker or the compiler (coqc, ocamlfind) is not installed")
    folder = tmp_path_factory.mktemp("inversion")
    for name in ("Inversion.v", "Extract.v", "replay.ml"):
        shutil.copy(PROOFS / name, folder)
    compiled = ["inversion.mli", "inversion.ml", "replay.ml"]
    for command in (
        ["coqc", "-q", "Inversion.v"],
        ["coqc", "-q", "Extract.v"],
        ["ocamlfind", "ocamlopt", *compiled, "-o", "replay"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "replay"


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
    return " ".join(f"{number:b}" for number in numbers)


@pytest.mark.slow
def test_the_same_bits_draw_the_same_outcome(program, monkeypatch):
    random = Random(20)  # noqa: S311 -- cases, no noise
    cases = [case(random) for _ in range(RUNS)]
    lines = "\n".join(as_line(*one) for one in cases)
    ran = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    proved = ran.stdout.split()
    ours = [by_python(monkeypatch, *one) for one in cases]

    assert len(proved) == RUNS
    assert ours == proved
    # Both kinds occur, so that the comparison says something.
    assert 0.01 < proved.count("-") / RUNS < 0.6
    assert len(set(proved)) > 10
