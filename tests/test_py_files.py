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
import sys

import dpselect

{open}
nodes = dpselect.TopNodes(nodes=40, k=1, metric="ego-density", epsilon=1.0).release(rows)
days = dpselect.Percentiles(
    column="target", p=50, candidates=range(40), epsilon=50.0, neighbours="add-remove"
).release(rows)
print(json.dumps([dpselect.__file__, days.version, *days.answer, *nodes.answer]))
"""


@pytest.fixture
def sent(tmp_path):
    """Return the zipped package, and a folder with all other packages."""
    shutil.make_archive(str(tmp_path / "dpselect"), "zip", ROOT / "src", "dpselect")
    others = tmp_path / "packages"
    others.mkdir()
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if "dpselect" not in package.name:
            (others / package.name).symlink_to(package)
    frame = pl.DataFrame({"source": [0] * 39, "target": range(1, 40)})
    frame.write_parquet(tmp_path / "rows.parquet")
    return tmp_path / "dpselect.zip", others


def job(folder, opened):
    (folder / "job.py").write_text(JOB.replace("{open}", opened))
    return folder / "job.py"


def answered(command, folder, path):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))}
    ran = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**clean, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def check(answer, archive):
    home, version, value, node = answer
    assert str(archive) in home or archive.name in home
    assert version == "unknown: dpselect is not installed"
    assert abs(value - 20) <= 2
    assert node in range(40)


@pytest.mark.slow
def test_a_job_imports_the_file(sent, tmp_path):
    made = job(tmp_path, "import polars\nrows = polars.scan_parquet('rows.parquet')")

    check(answered([sys.executable, "-S", made], tmp_path, sent), sent[0])
