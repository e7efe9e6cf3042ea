"""Work that private numbers decide: every loop ends at a public bound, whatever the scores."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpselect.combine import COMBINATIONS
from support import steps

LINES = 1000
"""Lines of the library for one distance up to the horizon, at most: five candidates."""


@pytest.mark.slow
def test_no_loop_is_as_long_as_a_gap():
    """For gaps from 1 to 10^15 sensitivities, each mechanism, draw and combination.

    Lines are counted where no kernel is compiled.
    """
    program = subprocess.run(
        [sys.executable, "-m", "support.steps"],
        cwd=Path(__file__).parent, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    counted = json.loads(program.stdout)

    assert len(counted) == 5 * (2 * len(steps.MECHANISMS) + len(COMBINATIONS))
    for case, lines in counted.items():
        assert max(lines) < LINES * steps.HORIZON, case
        # Beyond the horizon the size of a gap decides no more than whether the sums up to there
        # are read again.
        assert lines[-1] <= 2 * max(lines[1:3]) + 100 or case.startswith("draw"), case
