"""StableArgmax: its hockey-stick divergence by enumeration, its law, replay, refusals."""

from functools import partial
from itertools import combinations_with_replacement
from math import exp

import numpy as np
import pytest

import dpselect as dp
from dpselect_applications.tuning import StableArgmax, stable

EPSILON, DELTA = 0.7, 0.02
STABLE = StableArgmax(epsilon=EPSILON, delta=DELTA, neighbours="add-remove")


def votes(table, *, monotone=True):
    """Counts of three candidates; records 0 to 2 vote for one, 3 for the first two."""
    counts = [sum(record == r or (record == 3 and r < 2) for record in table) for r in range(3)]
    return dp.Objective(counts, dp.GlobalSensitivity(1, "add-remove"), monotone=monotone)


def local(table):
    """Scores |x| + r / 2 whose change by one record grows with the number of records."""
    scores = np.array([table.count(r) ** 2 / 4 for r in range(3)])

    def at(t):
        return np.array([(2 * (table.count(r) + t) + 1) / 4 for r in range(3)])

    sensitivity = dp.ElementSensitivity(at, (2 * 8 + 1) / 4, "add-remove", horizon=8)
    return dp.Objective(scores, sensitivity)


def above_two(table):
    """Votes beyond two: below, candidates tie, and no step changes that."""
    counts = np.array([table.count(r) for r in range(3)])
    sensitivity = dp.ElementSensitivity(
        lambda t: (counts + t >= 2).astype(float), 1.0, "add-remove", horizon=8
    )
    return dp.Objective(np.maximum(counts - 2, 0), sensitivity, monotone=True)


def divergence(here, there, epsilon):
    """The largest P(S) - e^epsilon Q(S) over all events S, nothing included."""
    p, q = (np.append(law, 1 - law.sum()) for law in (here, there))
    return np.maximum(p - exp(epsilon) * q, 0).sum()


def pairs(records, most):
    for size in range(most):
        for table in combinations_with_replacement(range(records), size):
            for record in range(records):
                yield table, tuple(sorted((*table, record)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "objective",
    [votes, partial(votes, monotone=False), local, above_two],
    ids=["counts", "sum", "local", "above two"],
)
def test_no_event_is_likelier_than_delta_allows(objective):
    records = 3 if objective in {local, above_two} else 4
    worst = 0.0
    for x, y in pairs(records, 8):
        laws = [STABLE.probabilities(objective(table)) for table in (x, y)]
        for here, there in (laws, laws[::-1]):
            worst = max(worst, divergence(here, there, EPSILON))

    assert worst <= DELTA * (1 + 1e-9)
    assert worst == pytest.approx(DELTA, rel=1e-6)


def test_candidates_that_tie_for_steps_lead_nobody():
    tie = above_two(())

    assert dp.scaling.pairwise(tie).tolist() == [2, 2, 2]
    assert stable.leader(tie)[1] == 0
    assert STABLE.release(tie).answer == ()


def test_the_lead_that_is_needed_inverts_the_law():
    for wanted in (0.0, DELTA, 0.5, 1.0):
        lead = STABLE.lead_for(wanted)
        gaps = dp.Objective(
            [float(lead), 0.0], dp.GlobalSensitivity(1, "add-remove"), monotone=True
        )
        assert STABLE.probabilities(gaps)[0] >= wanted
        assert lead == 0 or STABLE.design().chances[lead - 1] < wanted * 2**256
