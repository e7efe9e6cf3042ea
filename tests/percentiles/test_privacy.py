from functools import reduce
from itertools import product

import numpy as np
import pytest

import dpselect as dp
from dpselect.errors import DataError
from dpselect.mechanisms import by_name
from dpselect.percentiles import percentile, percentile_rank
from dpselect.percentiles.methods import ByRank
from dpselect.percentiles.reading import Records
from dpselect.percentiles.sparse_vector import ByThreshold
from support.ranks import law_of

DATABASES = list(product(range(4), repeat=3))


@pytest.mark.parametrize(("p", "epsilon"), [(20, 8.0), (50, 0.5), (90, 8.0)])
@pytest.mark.parametrize(
    "name",
    ["exponential", "permute-and-flip", "local-dampening", "shifted", "anchored", "pairwise"],
)
def test_the_exact_law_keeps_its_epsilon_on_every_pair(name, p, epsilon):
    mechanism = by_name(name, epsilon)

    def law_of_labels(x):
        return mechanism.probabilities(percentile(x, p=p, upper=3))

    def law_of_values(x):
        objective = percentile_rank(
            x, p=p, candidates=range(4), neighbours=dp.Neighbours.SUBSTITUTE
        )
        return mechanism.probabilities(objective)

    for law in (law_of_labels, law_of_values):
        report = dp.audit.check_private(law, DATABASES, dp.Neighbours.SUBSTITUTE, epsilon)
        assert report.ok, str(report)


def test_noise_on_all_scores_of_records_is_made_for_their_number():
    """It is not known before they are read; noise for one record loses 1.1 on these."""
    draw = dp.PercentileRecord(p=50, upper=3, epsilon=1.0, mechanism="noisy-sequence").design()

    def law(x):
        return draw.draw.probabilities(percentile(x, p=50, upper=3))

    universe = product((0, 3), repeat=3)
    report = dp.audit.check_private(law, universe, dp.Neighbours.SUBSTITUTE, 1.0)
    assert report.ok, str(report)


WITH_MISSING = list(product((0, 1, 3, None), repeat=3))


@pytest.mark.parametrize("p", [(90.0,), (30.0, 90.0)], ids=str)
@pytest.mark.parametrize("upwards", [None, False, True])
@pytest.mark.parametrize("epsilon", [1.0, pytest.param(6.0, marks=pytest.mark.slow)])
def test_a_number_that_goes_missing_is_hidden_by_every_method(p, upwards, epsilon):
    """It is dropped, at no price: how many numbers there are changes, of as many records."""
    of, points, each = Records(dp.Neighbours.SUBSTITUTE), np.arange(4.0), epsilon / len(p)
    singles = [
        ByRank((one,), points, of, each)
        if upwards is None
        else ByThreshold((one,), points, of, each, upwards, assumed=3)
        for one in p
    ]

    def law(x):
        counts = of.counted(list(x), points)
        return reduce(np.outer, [law_of(one, counts) for one in singles]).ravel()

    report = dp.audit.check_private(law, WITH_MISSING, dp.Neighbours.SUBSTITUTE, epsilon)

    assert report.ok, str(report)


@pytest.mark.parametrize("values", [[None, None], [None, 2.0]])
def test_where_numbers_are_missing_a_candidate_is_released(values):
    query = dp.Percentiles(
        p=[30, 90], candidates=range(4), epsilon=1.0, neighbours="substitute"
    )

    for data in (values, np.array(values, dtype=float)):
        assert set(query.release(data).answer) <= set(range(4))
    with pytest.raises(DataError):
        query.release([])
