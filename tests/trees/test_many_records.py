"""Scores and sums of sensitivities among billions of records, against fractions."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import dpselect as dp
from dpselect import trees
from dpselect.trees.criteria import InformationGainSensitivity, objective_of
from support.strategies import exact_scores
from support.trees_definitions import gini, majority

MANY = 2**40 + 12_345


def entropy(table):
    with localcontext(prec=60):
        log2 = Decimal(2).ln()
        terms = (n * (Decimal(sum(row)) / n).ln() / log2 for row in table for n in row if n)
        return -Fraction(sum(terms, Decimal()))


@pytest.mark.parametrize("criterion", ["information-gain", "gini", "majority"])
def test_one_record_among_2_to_the_40_moves_a_criterion_by_what_it_does(criterion):
    """Before: an entropy was off by a thousandth of a bit, and a gini index overflowed."""
    tables = [[[MANY, 7], [3, MANY // 3]], [[MANY, 8], [3, MANY // 3]]]
    by_definition = {"information-gain": entropy, "gini": gini, "majority": majority}[criterion]
    objective = objective_of(criterion, [np.array(t) for t in tables], "ab", max_records=2**42)
    before, after = exact_scores(objective)
    moved = by_definition(tables[1]) - by_definition(tables[0])

    assert abs((after - before) - moved) < Fraction(2) ** -40


@pytest.mark.parametrize(("hits", "total"), [(MANY, MANY), (MANY - 3, MANY), (5, MANY)])
def test_sums_of_rate_sensitivities_lose_no_digits(hits, total):
    """Before: differences of digamma at 2^40 were off by a thousandth of a record's change."""
    sensitivity = trees.true_positive_rate([hits], total, neighbours="add-remove").sensitivity
    more = max(hits, total - hits)
    less, sums = total - more, Fraction()
    for t in range(20):
        left = total - t
        emptied = Fraction(1, left) if less else Fraction(1, left + 1)
        sums += Fraction(more, left * (left - 1)) if t < less else emptied
        computed = Fraction(float(sensitivity.cumulative(t + 1)[0]))
        assert abs(computed - sums) <= sums * Fraction(2) ** -48


def test_sums_of_gain_sensitivities_lose_no_digits():
    sensitivity = InformationGainSensitivity([np.array([[MANY, 0]])], 2**42)
    with localcontext(prec=60):
        log2, lead = Decimal(2).ln(), Decimal(MANY)
        risen = ((lead + 9) * (lead + 9).ln() - lead * lead.ln()) / log2

    assert float(sensitivity.cumulative(9)[0]) == pytest.approx(float(risen), rel=2.0**-48)


def test_one_record_among_2_to_the_40_moves_a_rate_by_what_it_does():
    rates = trees.true_positive_rate([MANY - 2, MANY - 1], MANY, neighbours="add-remove")
    others = trees.true_positive_rate([3, 3], 9, neighbours="add-remove")
    both = dp.disjoint_sum([rates, others], [0.7, 0.1])

    for objective, share in ((rates, Fraction(1)), (both, Fraction(0.7))):
        low, high = exact_scores(objective)
        assert abs(high - low - share / MANY) < share / MANY * Fraction(2) ** -40
