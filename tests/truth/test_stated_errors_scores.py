"""At epsilon 1 the errors that plans state are met: nodes and scores of one's own.

A statement of 95 of 100 fails if so many of the releases miss it as a true one would in one of
a million repetitions. It is of the worst data, so it says "on any data", and data are made for
which it is not far too wide (``WIDTHS``).
"""

import pytest

import dpselect as dp
from dpselect.mechanisms import by_name


def tied(n, lead):
    """One candidate ahead of all others by so much, which are hardest to tell from it."""
    return dp.Objective(
        [lead] + [0.0] * (n - 1), dp.GlobalSensitivity(1, "substitute", l1=2), step=2**-10
    )


WIDTHS = {
    "exponential": 1.5,
    "permute-and-flip": 1.7,
    "noisy-max": 2.6,
    "pairwise": 2.6,
    "noisy-sequence": 2.6,
}
"""How much too wide a bound on any data is at most on the worst. Laplace noise, pairs and all
orders of a sequence are bounded at both ends, which costs up to a factor of two."""


@pytest.mark.parametrize("n", [2, 20, 500])
@pytest.mark.parametrize("name", WIDTHS)
def test_errors_are_met_on_the_worst_data_and_are_not_far_too_wide(name, n):
    mechanism = by_name(name, 1.0).for_objective(tied(n, 1.0))
    error = mechanism.error_bound(tied(n, 1.0), "steps").value

    def of_lead(lead):
        found = tied(n, round(lead * 2**10) / 2**10)
        return 1 - float(mechanism.probabilities(found)[0])

    assert of_lead(error * 1.001 + 2**-9) <= 0.05
    assert of_lead(error / WIDTHS[name]) > 0.05
