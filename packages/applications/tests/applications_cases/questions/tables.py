"""Levels, series and variants: counts of rows or people, as pages define them."""

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
from hypothesis import strategies as st
from scipy import stats

import dpselect as dp
from truth.question import RELATIONS, Question, Rows, asked, close, runs

TREES = [
    {"a": "x", "b": "x", "c": "y", "d": "y", "e": "y"},
    {"a": "r", "x": "r", "b": "x", "c": "x", "y": "x", "d": "y", "e": "y"},
    {f"{one}{two}": one for one in "pqr" for two in "0123"},
]
VERY_LARGE = st.sampled_from([1e4, 1e6])


@st.composite
def levels_asked(draw, *, own=False, persons=False):
    """The count of every cell; cells are coarse only where all their leaves have as many."""
    tree = draw(st.sampled_from(TREES))
    inner = sorted(set(tree.values()))
    leaves = [one for one in tree if one not in inner]
    code = st.sampled_from([*leaves, *leaves, *inner, "none", None])
    pairs = draw(runs(code, most=9, times=(1, 2, 3, 20, 100)))
    each = draw(st.integers(1, 3)) * persons
    given = {
        "tree": tree, "epsilon": draw(VERY_LARGE), "neighbours": draw(RELATIONS), "column": "c",
        **({"inner": "own"} if own else {}),
        **({"user": "who", "max_per_user": 2} if persons else {}),
    }  # fmt: skip
    counts = Counter()
    for one, times in pairs:
        counts[f"{one} *" if own and one in inner else one] += times
    leaves = leaves + [f"{one} *" for one in inner] * own
    parents = tree | ({f"{one} *": one for one in inner} if own else {})

    def below(code, leaf):
        while leaf is not None and leaf != code:
            leaf = parents.get(leaf)
        return code in {leaf, "(all)"}

    def right(release):
        truth = [
            sum(counts[leaf] for leaf in leaves if below(one, leaf)) for one in release.answer
        ]
        if sum(below(one, leaf) for one in release.answer for leaf in leaves) != len(leaves):
            return f"{release.answer}: not every leaf is in one cell"
        found = close(release.counts, truth, 0.5)
        shares = release.leaves()
        if found is True and set(shares) != set(leaves):
            return f"leaves {sorted(shares)}"
        return (
            found
            if found is not True
            else close([shares[one] for one in leaves], [counts[one] for one in leaves], 0.5)
        )

    rows = Rows(("c",), tuple(((one,), times) for one, times in pairs), {"c": pl.String}, each)
    return asked(
        dp.Levels, given, rows, right, held=draw(st.sampled_from(["polars", "pandas"]))
    )


@st.composite
def series_asked(draw, *, persons=False):
    """Running counts: of rows, or of persons, in the first period in which each has a key."""
    periods = draw(st.sampled_from([[1, 2, 3], [5, 1, 3, 2, 4, 9], ["may", "june"]]))
    keys = draw(st.sampled_from([["a", "b", "c"], [10, 2]]))
    row = st.tuples(
        st.integers(0, 6) | st.none() if persons else st.just(...),
        st.sampled_from([*periods, None]),
        st.sampled_from([*keys, *keys, type(keys[0])(7), None]),
    )
    rows = draw(runs(row, most=12, times=(1, 2) if persons else (1, 2, 3, 20, 100)))
    k = draw(st.integers(1, len(keys)))
    given = {
        "column": "key", "period": "t", "periods": periods, "k": k, "candidates": keys,
        "epsilon": draw(VERY_LARGE), "neighbours": draw(RELATIONS),
        **({"user": "who", "max_per_user": len(keys)} if persons else {}),
    }  # fmt: skip
    counted, seen = Counter(), set()
    order = {one: at for at, one in enumerate(periods)}
    for (who, period, key), times in sorted(rows, key=lambda row: order.get(row[0][1], -1)):
        if period in order and key in keys and who is not None and (who, key) not in seen:
            counted[order[period], key] += 1 if persons else times
            seen |= {(who, key)} if persons else set()
    monthly = [[counted[at, key] for key in keys] for at in range(len(periods))]
    truth = np.cumsum(monthly, axis=0)

    def right(release):
        for at, (period, top) in enumerate(release.by_period.items()):
            of = [int(truth[at][keys.index(one)]) for one in top]
            if of != sorted(truth[at].tolist(), reverse=True)[:k] or len(set(top)) < k:
                return f"{period}: {top} with {of} of {truth[at]}"
        return close(release.running, truth, 0.5)

    types = {"who": pl.Int64, "t": pl.Series(periods).dtype, "key": pl.Series(keys).dtype}
    names = ("who", "t", "key")[not persons :]
    short = tuple((row[not persons :], times) for row, times in rows)
    data = Rows(names, short, {name: types[name] for name in names})
    return asked(dp.Series, given, data, right)


def changes(copies, wanted):
    """Return how many of some people must change to have so many copies: (0, 1, 2) copies."""
    more = wanted - (copies[1] + 2 * copies[2])
    none = copies[0] if more > 0 else copies[2]
    more = abs(more)
    by_two = min(none, more // 2)
    left = more - 2 * by_two
    return by_two + left if left <= copies[1] + (none - by_two) else 10**9


def distances(tables, significance):
    """Return by variant how many people must change until it changes sides, with a sign."""
    threshold = stats.chi2.isf(significance, 1)
    found = []
    for groups in tables:
        sizes = [2 * sum(group) for group in groups]

        def significant(a, b, sizes=sizes):
            total, people = a + b, sum(sizes)
            if total in {0, people}:
                return False
            cross = a * (sizes[1] - b) - b * (sizes[0] - a)
            chi = people * cross**2 / (sizes[0] * sizes[1] * total * (people - total))
            return chi >= threshold

        now = significant(*(group[1] + 2 * group[2] for group in groups))
        least = min(
            (
                sum(changes(group, one) for group, one in zip(groups, both, strict=True))
                for both in product(*(range(size + 1) for size in sizes))
                if significant(*both) != now
            ),
            default=10**9,
        )
        found.append(least - 1 if now else -least)
    return found


@st.composite
def variants_asked(draw):
    """The variants of the largest distance, most first."""
    cases, controls = draw(st.integers(2, 12)), draw(st.integers(2, 12))
    split = [
        st.tuples(st.integers(0, n), st.integers(0, n)).map(
            lambda pair, n=n: (
                n - min(sum(pair), n),
                max(min(pair[0], n - pair[1]), 0),
                pair[1],
            )
        )
        for n in (cases, controls)
    ]
    tables = draw(st.lists(st.tuples(*split), min_size=1, max_size=5))
    significance = draw(st.sampled_from([0.05, 0.01, 1e-3]))
    k = draw(st.integers(1, len(tables)))
    counts = np.array([[*one[1:], *two[1:]] for one, two in tables])
    truth = distances(tables, significance)
    given = {
        "variants": len(tables), "cases": cases, "controls": controls, "k": k,
        "significance": significance, "epsilon": draw(st.sampled_from([1e3, 1e5])),
    }  # fmt: skip

    def right(release):
        of = [truth[at] for at in release.answer]
        return of == sorted(truth, reverse=True)[:k] or f"{release.answer}: {of} of {truth}"

    text = f"dp.TopVariants(**{given}).release(np.array({counts.tolist()}))"
    return Question(text, lambda: dp.TopVariants(**given).release(counts), right)


QUESTIONS = {
    "levels": levels_asked(),
    "levels, own": levels_asked(own=True),
    "levels, persons": levels_asked(persons=True),
    "series": series_asked(),
    "series, persons": series_asked(persons=True),
    "variants": variants_asked(),
}
