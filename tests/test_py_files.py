"""The package as a file beside a job, sent with it and not installed anywhere."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[1]
JOB = """
import json
import polars
import dpselect

rows = polars.scan_parquet("rows.parquet")
nodes = dpselect.TopNodes(nodes=40, k=1, metric="ego-density", epsilon=1.0).release(rows)
days = dpselect.Percentiles(
    column="target", p=50, candidates=range(40), epsilon=50.0, neighbours="add-remove"
).release(rows)
print(json.dumps([dpselect.__file__, days.version, *days.answer, *nodes.answer]))
"""


@pytest.mark.slow
def test_a_job_imports_the_file(tmp_path):
    """Beside all other packages, without the files that say that it is installed."""
    archive = shutil.make_archive(str(tmp_path / "dpselect"), "zip", ROOT / "src", "dpselect")
    others = tmp_path / "packages"
    others.mkdir()
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if "dpselect" not in package.name:
            (others / package.name).symlink_to(package)
    frame = pl.DataFrame({"source": [0] * 39, "target": range(1, 40)})
    frame.write_parquet(tmp_path / "rows.parquet")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))}
    ran = subprocess.run(
        [sys.executable, "-S", "-c", JOB],
        cwd=tmp_path, env={**clean, "PYTHONPATH": f"{archive}{os.pathsep}{others}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    home, version, value, node = json.loads(ran.stdout)
    assert archive in home
    assert version == "unknown: dpselect is not installed"
    assert abs(value - 20) <= 2
    assert node in range(40)
