"""Methods after a noisy number of records: private on every small database, both steps."""

from itertools import combinations_with_replacement
from math import exp

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.draws.exact.samplers import intercepted
from dpselect.percentiles import choice as choices
from dpselect.percentiles.choice import AfterCount, chances_of_sizes, size_of
from dpselect.percentiles.reading import Records, counts_of
from dpselect.percentiles.sparse_vector import ByThreshold
from dpselect.tables.people import PeopleCap
from support.neighbours import are_neighbours
from support.refusals import refused

ADDED = dp.Neighbours.ADD_REMOVE
POINTS, EPSILON = np.arange(3.0), 1.2
SMALL = [x for n in range(5) for x in combinations_with_replacement(range(3), n)]


def after_count(p=(90.0,)):
    return AfterCount(p, POINTS, Records(ADDED), EPSILON)


def report(method, chances):
    """Check both outcomes together, the size and the value."""

    def law(database):
        ranks = counts_of(np.array(database, dtype=float), POINTS)
        of_sizes = chances(len(database), method.scale)[:16]
        values = [method.of_size(size).probabilities(ranks)[0] for size in range(16)]
        return np.concatenate([c * v for c, v in zip(of_sizes, values, strict=True)])

    return dp.audit.check_private(law, SMALL, are_neighbours(ADDED), EPSILON)


def test_the_size_and_the_value_are_private_together(monkeypatch):
    monkeypatch.setattr(choices, "SHARE", 0.5)
    found = report(after_count(), chances_of_sizes)

    assert found.ok, str(found)
    assert found.loss > 0.5 * EPSILON


@pytest.mark.parametrize("scale", [0.3, 2.0, 25.0])
@pytest.mark.parametrize("records", [0, 3, 90])
def test_the_chances_of_sizes_are_sums_of_the_noise(records, scale):
    noise = np.arange(-2000, 2001)
    masses = np.exp(-abs(noise) / scale) * (1 - exp(-1 / scale)) / (1 + exp(-1 / scale))
    expected = np.zeros(choices.LARGEST + 1)
    np.add.at(expected, [size_of(int(one)) for one in records + noise], masses)

    np.testing.assert_allclose(chances_of_sizes(records, scale), expected, atol=1e-12)


def test_the_law_is_the_sum_over_the_sizes():
    query = dp.Percentiles(p=90, candidates=POINTS, epsilon=EPSILON, neighbours="add-remove")
    values = [0, 1, 1, 2, 2, 2]
    method = query.design().method
    ranks = counts_of(np.array(values), POINTS)
    law = method.probabilities(ranks)
    chances = chances_of_sizes(6, method.scale)
    each = [method.of_size(size).probabilities(ranks) for size in range(97)]

    np.testing.assert_allclose(law, sum(c * one for c, one in zip(chances, each, strict=True)))
    assert law.sum() == pytest.approx(1)


@pytest.mark.parametrize("most", [1, 5])
def test_the_noisy_number_alone_chooses_with_noise_for_a_person(most):
    """Whatever the number is: what is drawn for it is the size, and the method is of that."""
    users = PeopleCap("person", most)
    method, asked = AfterCount((90.0,), POINTS, Records(ADDED, users=users), EPSILON), []

    def handle(name, draw, args, _kwargs):
        if not name.endswith("discrete_laplace"):
            return draw()
        asked.append(args)
        return np.array([4096])

    for number in (0, 7):
        ranks = counts_of(np.arange(float(number)), POINTS)
        with intercepted(handle):
            assert [one.records for one in method.drawn(ranks)] == [4096]
    assert [int(counts[0]) for counts, _ in asked] == [0, 7]
    [scale] = {scale for _, scale in asked}
    assert scale * method.number_epsilon == pytest.approx(most, rel=1e-12)


def test_under_substitution_usable_values_are_counted_and_not_rows():
    query = dp.Percentiles(p=99, upper=100, step=1, epsilon=1e4, neighbours="substitute")
    release = query.release([None] * 2000 + [5.0] * 3)

    assert release.records == 3
    assert release.records_error == 1


@pytest.mark.parametrize("by", [None, "g"])
@pytest.mark.parametrize("relation", [ADDED, dp.Neighbours.SUBSTITUTE], ids=str)
def test_the_noisy_number_itself_is_released_with_its_error(by, relation):
    """Of each group, and of persons: within the error in 95 of 100, less 4 deviations."""
    rows = pl.DataFrame({"who": [0, 0, 1, 1, 2] * 40, "g": ["a", "b"] * 100, "v": range(200)})
    persons = {"user": "who", "max_per_user": 2}
    groups = {} if by is None else {"by": by, "groups": ["a", "b", "c"]}
    query = dp.Percentiles(
        column="v", p=50, upper=300, step=1, epsilon=40.0, neighbours=relation, **persons,
        **groups,
    )  # fmt: skip
    found = [query.release(rows) for _ in range(50)]
    numbers = np.array([one.records for one in found]).reshape(50, -1)
    error = found[0].records_error

    assert 1 <= error <= 10
    # Two rows of each person count; the last group has none.
    off = numbers - 6 if by is None else numbers[:, 2]
    assert (abs(off) <= error).mean() >= 0.95 - 0.13
    assert all(type(one) is int for one in numbers.tolist()[0])
    assert found[0].to_dict()["records"] == (list(found[0].records) if by else found[0].records)


@pytest.mark.parametrize("relation", [ADDED, dp.Neighbours.SUBSTITUTE], ids=str)
@pytest.mark.parametrize(
    "p", [(99.9999,), (5, 50, 99), tuple(range(10, 100, 10)), tuple(range(1, 100, 3))]
)
def test_the_smallest_epsilon_has_a_method_for_every_number(p, relation):
    """And one that is a 64th of it has none."""
    points = np.arange(200.0)
    asked = {"percents": tuple(map(float, p)), "points": points, "records": Records(relation)}
    low, high = 1e-15, 1.0
    while high > 1.001 * low:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if is_enough(middle, asked) else (middle, high)

    method = AfterCount(**asked, whole=high)
    assert all(method.of_size(size).mechanism for size in range(97))
    with refused("epsilon", error=dp.errors.ParameterError):
        ByThreshold(
            p[-1], points, Records(relation), high / len(p) / 64, upwards=True, assumed=1
        )


def is_enough(epsilon, asked):
    try:
        AfterCount(**asked, whole=epsilon)
    except dp.errors.ParameterError:
        return False
    return True
