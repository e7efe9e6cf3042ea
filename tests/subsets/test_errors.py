"""Expected numbers of wrong and missing names: by enumeration, and the share of the size."""

from dataclasses import replace
from itertools import combinations
from math import exp

import pytest

from dpselect.subsets import Subset
from dpselect.subsets.schemes import SHARES, best_share
from support.subset_definitions import chances_of_sizes, trimmed


def counted(released, members):
    return len(released - members), len(members - released)


def by_enumeration(query, d, size):
    """Return the mean errors of a release of so many names, over everything that is drawn."""
    n, members = query.n, frozenset(range(d))
    law = replace(query.design().retrieval, d=size).distribution().masses()
    found, starts = [0.0, 0.0], trimmed(members, size, n)
    for start in starts:
        outputs = [frozenset(one) for one in combinations(range(n), size)]
        at = [[one for one in outputs if len(start - one) == a] for a in range(len(law))]
        for chance, some in zip(law, at, strict=True):
            for one in some:
                weight = chance / len(some) / len(starts)
                for place, number in enumerate(counted(one, members)):
                    found[place] += weight * number
    return found


@pytest.mark.parametrize("d", [0, 1, 2, 4])
def test_errors_are_the_means_over_everything_that_is_drawn(d):
    n = 6
    query = Subset(n=n, epsilon=1.5, size_share=0.4)
    chances = chances_of_sizes(d, n, 1 / query.design().retrieval.scale)
    means = [by_enumeration(query, d, size) for size in range(n + 1)]

    for place, stated in enumerate(query.errors(d)):
        exact = sum(p * one[place] for p, one in zip(chances, means, strict=True))
        # The tails of the noise are cut at twelve scales.
        assert stated == pytest.approx(exact, rel=1e-4)


def test_errors_of_a_released_size_are_the_mean_over_the_numbers_it_may_stem_from():
    n, size = 6, 2
    query = Subset(n=n, epsilon=1.5, size_share=0.4)
    chances = [exp(-abs(size - d) / query.design().retrieval.scale) for d in range(n + 1)]
    means = [by_enumeration(query, d, size) for d in range(n + 1)]

    for place, stated in enumerate(query.errors_given(size)):
        exact = sum(p * one[place] for p, one in zip(chances, means, strict=True))
        assert stated == pytest.approx(exact / sum(chances), rel=1e-9)


def test_a_public_number_has_as_many_wrong_as_missing_and_the_union_misses_none():
    pure = Subset(n=40, d=8, epsilon=2.0)
    union = Subset(n=40, d=8, beta=10, epsilon=2.0, scheme="union")

    assert (
        pure.errors().wrong
        == pure.errors().missing
        == pytest.approx(sum(a * p for a, p in enumerate(pure.retrieval().masses())))
    )
    assert union.errors() == pytest.approx((10 * 32 / 40, 0))


@pytest.mark.parametrize(
    ("n", "epsilon"),
    [(40, 6.0), (200, 6.0), (960, 2.0), (960, 6.0), (1500, 10.0), (10_000, 6.0)],
)
def test_the_default_share_is_near_the_best_whatever_the_number_of_members(n, epsilon):
    """Within a third of the best of a grid, or half a name; .2 had up to twice as many."""
    for d in (n // 100 + 3, n // 20 + 1, n // 12):
        every = {
            share: sum(Subset(n=n, epsilon=epsilon, size_share=share).errors(d))
            for share in SHARES
        }

        assert every[best_share(n, epsilon)] <= 1.34 * min(every.values()) + 0.5


def test_an_answer_says_what_is_wrong_with_it():
    query = Subset(n=200, epsilon=3.0)
    release = query.release(range(20))

    size = len(release.answer)
    assert f"of the {size} names are wrong" in str(release)
    assert release.to_dict()["expected_wrong"] == pytest.approx(release.errors.wrong, rel=0.01)
    assert release.errors == query.errors_given(size)


@pytest.mark.parametrize(("epsilon", "warns"), [(3.0, True), (20.0, False)])
def test_an_answer_with_many_wrong_names_has_a_warning(epsilon, warns):
    release = Subset(n=2000, d=20, epsilon=epsilon).release(range(20))

    part = release.errors.wrong / 20
    assert (part > 1 / 4) == warns
    assert release.facts.get("warning", "").startswith(f"about {part:.0%} of" if warns else "")
    assert ("warning" in release.facts) == warns
