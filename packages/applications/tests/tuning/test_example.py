"""The example: gradient descent whose steps are private, tuned by a study."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import dpselect as dp

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def descent(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    yield import_module("tune_gradient_descent")
    sys.modules.pop("tune_gradient_descent", None)


class TestGradientDescent:
    def test_a_model_is_released_and_paid_as_planned(self, descent):
        x, y = descent.records(3000)
        budget = dp.Budget(2.0, delta=1e-5, neighbours="add-remove")
        rates = [{"rate": 1e-3, "momentum": 0.5}, {"rate": 1e-4, "momentum": 0.0}]
        release = descent.tuned(x, y, rates, budget=budget)
        candidate, weights = release.candidate

        assert candidate in rates
        assert ((x @ weights > 0) == y).mean() > 0.75
        assert budget.spent == release.plan.epsilon < 0.6

    def test_a_record_moves_the_sum_of_gradients_by_at_most_one(self, descent, monkeypatch):
        """On the weights of each step, over records of every length."""
        sums, x, y = [], *descent.records(40)
        x = x * np.logspace(-3, 6, 40)[:, None]

        def recorded(counts, _scale):
            sums.append(counts)
            return counts

        monkeypatch.setattr(descent, "discrete_gaussian", recorded)
        for place in range(40):
            monkeypatch.setattr(descent, "STEPS", 1)
            descent.fitted(x, y, 1.0, 0.0)
            descent.fitted(np.delete(x, place, 0), np.delete(y, place), 1.0, 0.0)
            whole, without = sums[-2:]
            assert np.linalg.norm(whole - without) <= descent.GRID
        lengths = [np.linalg.norm(a - b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
        assert max(lengths) > 0.999 * descent.GRID

    def test_an_accountant_of_others_agrees_about_a_fit(self, descent):
        accounting = pytest.importorskip("dp_accounting")
        rdp = pytest.importorskip("dp_accounting.rdp").RdpAccountant([2.0, 8.0])
        rdp.compose(accounting.GaussianDpEvent(descent.NOISE), descent.STEPS)
        rdp.compose(accounting.GaussianDpEvent(descent.SCORE_NOISE))

        assert rdp._rdp == pytest.approx([2 * descent.RHO, 8 * descent.RHO])
