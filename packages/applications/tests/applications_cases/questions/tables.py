"""Levels, series and variants: counts of rows or people, as pages define them."""

from collections import Counter

import numpy as np
import polars as pl
from hypothesis import strategies as st

import dpselect as dp
from truth.calls import Call, best_first, released
from truth.question import RELATIONS, Rows, asked, close, runs

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

    def right(release):
        """As leaves that share a cell are equal, each leaf's share is its count."""
        shares = release.leaves()
        if set(shares) != set(leaves):
            return f"leaves {sorted(shares)}"
        return close([shares[one] for one in leaves], [counts[one] for one in leaves], 0.5)

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


@st.composite
def variants_asked(draw):
    """The variants of the largest scores, which ``test_top_variants.py`` holds to be right."""
    cases, controls = draw(st.integers(2, 12)), draw(st.integers(2, 12))
    one, two = (
        st.tuples(st.integers(0, n // 2), st.integers(0, n // 2)) for n in (cases, controls)
    )
    counts = np.array(
        draw(st.lists(st.builds(tuple.__add__, one, two), min_size=1, max_size=5))
    )
    k = draw(st.integers(1, len(counts)))
    given = {
        "variants": len(counts), "cases": cases, "controls": controls, "k": k,
        "significance": draw(st.sampled_from([0.05, 0.01, 1e-3])),
        "epsilon": draw(st.sampled_from([1e3, 1e5])),
    }  # fmt: skip
    query = Call("dp.TopVariants", **given)
    truth = query.made().objective(counts).scores

    def right(release):
        return best_first(release.answer, dict(enumerate(truth)), k, 0)

    return released(query, Call("np.array", counts.tolist()), right)


QUESTIONS = {
    "levels": levels_asked(),
    "levels, own": levels_asked(own=True),
    "levels, persons": levels_asked(persons=True),
    "series": series_asked(),
    "series, persons": series_asked(persons=True),
    "variants": variants_asked(),
}
