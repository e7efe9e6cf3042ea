"""Data sets, epsilons and folds that our trees and their peers are measured on alike.

Peers need a scikit-learn that dpselect does not run under, so that each side has its own
environment. Both import this, which needs NumPy alone, and get the same folds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DATA_SETS = ("nltcs", "acs", "adult")
EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
FOLDS = 10

# Public bounds of the numbers among the twelve columns of Adult; fnlwgt and education_num
# are left out, as a sampling weight and a second name of education.
ADULT_NUMBERS = {
    "age": (17, 90),
    "hours_per_week": (1, 99),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_356),
}
ADULT_UNUSED = {"fnlwgt", "education_num", "income", "split"}


def folds(records: int, run: int) -> NDArray[np.int64]:
    """Return the fold of each record in one run of cross-validation, shape ``(records,)``.

    Raises:
        RuntimeError: This NumPy shuffles otherwise than the one that the results are from.
    """
    if np.random.default_rng(0).permutation(10).tolist() != [4, 6, 2, 7, 3, 5, 9, 0, 8, 1]:
        raise RuntimeError("NumPy's permutation has changed: folds would differ")
    return np.random.default_rng(run).permutation(records) % FOLDS
