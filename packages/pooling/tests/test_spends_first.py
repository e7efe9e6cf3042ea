"""Every release of outcomes is charged before anything is drawn."""

import numpy as np
import pytest

from dpselect.audit import check_spends_first
from support.releases.pooling import CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_release_is_charged_its_plan_before_it_draws(case):
    for database in case.pair(np.random.default_rng(0)):
        report = check_spends_first(
            lambda budget, database=database: case.release(database, budget),
            total=max(1.0, 2 * case.plan().epsilon),
            neighbours=case.neighbours,
            delta=case.delta,
        )

        assert report.ok, str(report)
        assert report.spent == (case.plan().epsilon,)
