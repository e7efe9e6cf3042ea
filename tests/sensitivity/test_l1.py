"""What one neighbour step changes of all scores together: stated, combined, enumerated."""

from itertools import chain, combinations, combinations_with_replacement

import dpselect as dp
from dpselect.sensitivity import jump_to_bound, maximum, minimum, weighted_sum

AR, SUBSTITUTE, EDGE = (dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE, dp.Neighbours.EDGE)


def at_most(m):
    """Records with at most ``m`` of three values."""
    return list(chain.from_iterable(combinations("abc", size) for size in range(m + 1)))


def counts(records, values, neighbours, l1):
    tally = [sum(value in record for record in records) for value in values]
    return dp.Objective(tally, dp.GlobalSensitivity(1, neighbours, l1=l1), values, step=1)


def excess(report):
    report.raise_if_failed()
    return report.finding("l1").excess


def test_a_sum_of_the_same_records_attains_it():
    def objective_of(x):
        return dp.weighted_sum([counts(x, "abc", AR, 2)] * 2, [2, 3])

    databases = [(), *combinations_with_replacement(at_most(2), 1)]
    assert objective_of(()).sensitivity.l1 == 10
    assert excess(dp.audit.check_admissible(objective_of, databases, AR, scalings={})) == 0


def test_combinators_keep_what_is_known_of_the_scores():
    three, five = (dp.GlobalSensitivity(1, AR, l1=l1) for l1 in (3, 5))
    unknown = dp.GlobalSensitivity(2, AR)

    assert [combine([five, unknown, three]).l1 for combine in (maximum, minimum)] == [3, 3]
    assert jump_to_bound(five, 7).l1 == 5
    assert weighted_sum([three, five], [-1, 2]).l1 == 13
    assert weighted_sum([three, unknown], [1, 1]).l1 is None
    assert minimum([unknown]).l1 is None
