"""Fixtures of the tests of budgets."""

import pytest

from dpselect.budget import Budget


@pytest.fixture(params=["memory", "ledger"])
def make(request, tmp_path):
    """Return a maker of budgets of either kind."""

    def budget(epsilon=1.0, delta=0.0, *, neighbours="add-remove", **terms):
        path = None if request.param == "memory" else tmp_path / "budget.db"
        return Budget(epsilon, delta, neighbours=neighbours, **terms, path=path)

    return budget
