from __future__ import annotations

import subprocess
import sys

import pytest

FORK = """
import os, sys
from dpselect.budget import Budget
from dpselect.errors import BudgetError
from dpselect.neighbours import Neighbours

budget = Budget(1.0, neighbours=Neighbours.EDGE)
if os.fork() == 0:
    refused = 0
    for act in (
        lambda: budget.spend(1.0, neighbours=Neighbours.EDGE),
        lambda: budget.remaining_after(1.0),
    ):
        try:
            act()
        except BudgetError as error:
            refused += "belongs to the process that made it; give the budget a" in str(error)
    os._exit(refused)
_, status = os.wait()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_forked_copy_cannot_spend_the_same_epsilon_again():
    done = subprocess.run([sys.executable, "-c", FORK], check=False)

    assert done.returncode == 2
