"""The part of a page for R: what it shows runs with Rscript and reticulate."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dpselect as dp

PAGE = Path(dp.__file__).parents[2] / "docs" / "engines.md"
BLOCKS = re.findall(r"```r\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture
def rscript():
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    asked = "quit(status = !requireNamespace('reticulate', quietly = TRUE))"
    if subprocess.run([program, "-e", asked], capture_output=True, check=False).returncode:
        pytest.skip("R has no package reticulate")
    return program


@pytest.mark.slow
def test_the_page_runs_in_r(rscript, tmp_path):
    (tmp_path / "page.R").write_text("\n".join(BLOCKS), "utf-8")

    ran = subprocess.run(
        [rscript, "page.R"],
        cwd=tmp_path,
        env={**os.environ, "RETICULATE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    planned, longest, median = ran.stdout.splitlines()
    assert planned.startswith("<Plan of Percentiles: ")
    assert "epsilon 1 (add-remove neighbours)" in planned
    for said in (longest, median):
        assert 0 <= float(said.removeprefix("[1] ")) <= 60
    report = (tmp_path / "report.html").read_text("utf-8")
    assert "Percentiles" in report
    assert "days" in report
    assert "heart" not in report
