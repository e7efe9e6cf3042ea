"""The machine-checked core compiles, and rests on nothing but the axioms of the reals."""

import re
import shutil
import subprocess

import pytest

from support.prover import COQC, PROOFS, has_coquelicot

FILES = (
    "UnitScores", "PermuteAndFlip", "Dampening", "LocalSensitivity", "Percentile", "Curve",
    "Filter", "ZcdpFilter", "Order", "Private", "Leads", "Inversion", "LazyNoise", "Strings",
    "LazyDistribution", "Logarithm", "ExponentialNoise", "GumbelNoise",
)  # fmt: skip
OF_THE_REALS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}


def compiled(name, folder):
    """Compile one file and return what it prints."""
    done = subprocess.run(
        [COQC, "-q", f"{name}.v"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_proofs_are_complete():
    for name in FILES:
        text = (PROOFS / f"{name}.v").read_text(encoding="utf-8")
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Abort)\b", text)


@pytest.mark.slow
def test_the_proofs_compile_and_assume_only_the_reals(tmp_path):
    if not has_coquelicot():
        pytest.skip("the proof checker (coqc with Coquelicot) is not installed")
    for name in FILES:
        shutil.copy(PROOFS / f"{name}.v", tmp_path)
    printed = "".join(compiled(name, tmp_path) for name in FILES)

    assert set(re.findall(r"^(\S+)(?: :|\n  :)", printed, re.MULTILINE)) == OF_THE_REALS
