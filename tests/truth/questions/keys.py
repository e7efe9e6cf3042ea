"""Top keys and keys: persons with a key count, each once; a row without one is dropped."""

from collections import Counter, defaultdict
from datetime import date

import polars as pl
from hypothesis import strategies as st

import dpselect as dp
from truth.question import RELATIONS, Rows, asked, runs

KEYS = {
    "text": ["a", "b", "A", "ä b", "10", "true", "zz"],
    "number": [0, 1, -5, 10, 2**40],
    "flag": [False, True],
    "day": [date(2020, 1, 1), date(1999, 12, 31), date(2024, 2, 29)],
}
SURE = 3
"""Persons of a key that is released nearly surely; of one person it never is."""
LARGE = st.sampled_from([1e3, 1e4, 1e6])


def counts_of(rows, *, several=False, missing=False):
    """Return how many persons have each key, by group: rows are (who, group, key) in runs."""
    counts = defaultdict(Counter)
    seen = set()
    for (who, group, *parts), times in rows:
        if not missing and None in parts:
            continue
        key = tuple(parts) if several else parts[0]
        if who is Ellipsis:
            counts[group][key] += times
        elif who is not None and (who, group, key) not in seen:
            seen.add((who, group, key))
            counts[group][key] += 1
    return counts


def right_top(found, noisy, counts, k, least=1):
    """Return whether keys are those of most persons, most first, and their counts true."""
    of = [counts.get(one, 0) for one in found]
    best = sorted(counts.values(), reverse=True)
    # A key of fewer persons than is sure may be left out, one of a single person must be.
    sure = [one for one in best if one >= least][:k]
    if len(set(found)) < len(found) or len(found) > k or of != best[: len(of)]:
        return f"{found}: counts {of}, the largest are {best[:k]}"
    if len(found) < len(sure) or (least > 1 and min(of, default=2) < 2):
        return f"{found}: counts {of} of {best[:k]}"
    if noisy is not None and any(
        abs(one - two) > 0.5 for one, two in zip(noisy, of, strict=True)
    ):
        return f"{found}: noisy {noisy} for {of}"
    return True


def as_held(counts, held, *, known):
    """Return counts by what a key becomes: what declares no type is read as text."""
    if held == "polars" or known:
        return counts

    def text(key):
        if isinstance(key, tuple):
            return tuple(map(text, key))
        return None if key is None else str(key)

    return Counter({text(key): size for key, size in counts.items()})


@st.composite
def tables(draw, *, grouped=False, persons=False, columns=1):
    """Runs of rows (who, group, keys); who is ... where rows have no person."""
    keys = KEYS[draw(st.sampled_from(sorted(KEYS)))]
    groups = draw(st.sampled_from([["x", "y", "z"], [3, 1, 2]])) if grouped else [None]
    key = st.sampled_from([*keys, *keys, None])
    more = [st.sampled_from(["u", "v", None])] * (columns - 1)
    who = st.integers(0, 9) | st.none() if persons else st.just(...)
    group = st.sampled_from([*groups, *groups, type(groups[0])(9), None] if grouped else [None])
    most = 40 if persons else 9
    row = st.tuples(who, group, key, *more)
    return (
        keys,
        groups,
        draw(runs(row, most=most, times=(1, 1, 2) if persons else (1, 2, 3, 20, 500))),
    )


def held_rows(draw, keys, groups, rows, columns=1):
    """Return rows as data, and the name of a container for them."""
    persons = bool(rows) and rows[0][0][0] is not ...
    names = ["who"] * persons + ["g"] * (groups != [None]) + ["key", "second"][:columns]
    keep = [persons, groups != [None], *[True] * columns]
    short = [
        (tuple(one for one, kept in zip(row, keep, strict=True) if kept), times)
        for row, times in rows
    ]
    of = {"who": pl.Int64, "g": pl.Series(groups).dtype, "second": pl.String}
    types = {name: of.get(name, pl.Series(keys).dtype) for name in names}
    plain = len(names) == 1 and rows
    held = draw(
        st.sampled_from(["list", "polars", "objects"] if plain else ["polars", "objects"])
    )
    return Rows(tuple(names), tuple(short), types), held if rows else "polars"


@st.composite
def top_asked(draw, *, known, persons=False, columns=1, **fields):
    """The k most common of public candidates, or of all keys."""
    keys, groups, rows = draw(tables(persons=persons, columns=columns))
    missing = draw(st.sampled_from(["drop", "drop", "key"]))
    counts = counts_of(rows, several=columns > 1, missing=missing == "key")[None]
    if known:
        listed = keys + ([None] if missing == "key" else [])
        if columns > 1:
            listed = [(one, two) for one in listed for two in ("u", "v")]
        listed = draw(st.permutations(listed).map(lambda some: some[: max(1, len(some) - 1)]))
        counts = Counter({one: counts.get(one, 0) for one in listed})
    k = draw(st.integers(1, len(counts) if known else len(keys) + 1))
    data, held = held_rows(draw, keys, groups, rows, columns)
    given = {
        "k": k, "missing_keys": missing, "epsilon": draw(LARGE), "neighbours": draw(RELATIONS),
        **({"candidates": listed} if known else {"delta": 1e-9}),
        **({"user": "who", "max_per_user": 8} if "who" in data.names else {}),
        **{field: draw(one) for field, one in fields.items()},
    }  # fmt: skip
    if held != "list":
        given["column"] = ["key", "second"] if columns > 1 else "key"
    counts = as_held(counts, held, known=known)
    sure = 1 if known else SURE * (8 if persons else 1)
    if not known and given.get("mechanism") == "exponential":
        # Under substitution the stop is about k persons further away.
        sure += k

    def right(release):
        noisy = release.counts if release.noisy_scores is None else release.noisy_scores
        return right_top(release.answer, noisy, counts, k, sure)

    return asked(dp.TopKeys, given, data, right, held=held)


def right_groups(release, counts, keys, groups, k):
    """Return whether each group has its most common keys, and each that is large an answer."""
    answered, known = release.by_group, keys is not None
    noisy = release.counts or release.noisy_scores
    if groups and list(answered) != groups:
        return f"groups {list(answered)}"
    for group, sizes in counts.items():
        if group not in answered:
            if group is not None and not groups and max(sizes.values()) >= SURE:
                return f"group {group} is missing"
            continue
        mine = Counter({one: sizes.get(one, 0) for one in keys}) if known else sizes
        pairs = zip(release.answer, noisy or (), strict=True)
        of_group = [count for (one, _), count in pairs if one == group] if noisy else None
        found = right_top(answered[group], of_group, mine, k, 1 if known else SURE)
        if found is not True:
            return f"{group}: {found}"
    return True


def right_rests(release, counts, *, listed):
    """Return whether the number of all others of each group, and of other groups, is true."""
    wanted = {one: sum(counts[one].values()) for one in release.by_group}
    if not listed:
        rest = (sum(some.values()) for one, some in counts.items() if one not in wanted)
        wanted[None] = sum(rest)
    for group, key in release.answer:
        wanted[group] -= counts[group][key]
    return dict(release.other) == wanted or f"rests {dict(release.other)} for {wanted}"


@st.composite
def grouped_asked(draw, *, known, listed, other=False):
    """The most common keys of each group, and the number of all the rest."""
    keys, groups, rows = draw(tables(grouped=True))
    data, held = held_rows(draw, keys, groups, rows)
    counts = defaultdict(Counter)
    for group, some in counts_of(rows).items():
        if group is not None:
            name = group if listed or held == "polars" else str(group)
            counts[name] = as_held(some, held, known=known)
    k = draw(st.integers(1, len(keys)))
    given = {
        "column": "key", "by": "g", "k": k,
        "epsilon": draw(LARGE), "neighbours": draw(RELATIONS),
        **({"candidates": keys} if known else {}), **({"groups": groups} if listed else {}),
        **({} if known and listed else {"delta": 1e-9}), **({"other": True} if other else {}),
    }  # fmt: skip

    def right(release):
        of = keys if known else None
        found = right_groups(release, counts, of, groups if listed else None, k)
        if found is True and other:
            return right_rests(release, counts, listed=listed)
        return found

    return asked(dp.TopKeys, given, data, right, held=held)


@st.composite
def keys_asked(draw, *, persons=False, columns=1, grouped=False, **fields):
    """All keys of enough persons."""
    keys, groups, rows = draw(tables(persons=persons, columns=columns, grouped=grouped))
    missing = draw(st.sampled_from(["drop", "key"]))
    by_group = counts_of(rows, several=columns > 1, missing=missing == "key")
    counts = {
        (group, key) if grouped else key: size
        for group, some in by_group.items()
        if group is not None or not grouped or missing == "key"
        for key, size in some.items()
    }
    data, held = held_rows(draw, keys, groups, rows, columns)
    given = {
        "missing_keys": missing,
        "epsilon": draw(LARGE), "delta": 1e-9, "neighbours": draw(RELATIONS),
        **({"by": "g"} if grouped else {}),
        **({"user": "who", "max_per_user": 8} if "who" in data.names else {}),
        **{field: draw(one) for field, one in fields.items()},
    }  # fmt: skip
    if held != "list":
        given["column"] = ["key", "second"] if columns > 1 else "key"
    sure = SURE * (3 if persons else 1)

    counts = as_held(counts, held, known=False)

    def right(release):
        found = set(release.answer)
        late = {key: size for key, size in counts.items() if size >= sure and key not in found}
        early = {key: counts.get(key, 0) for key in found if counts.get(key, 0) < 2}
        return not (late or early) or f"missing {late}, too rare {early}"

    return asked(dp.Keys, given, data, right, held=held)


QUESTIONS = {
    "top, candidates": top_asked(known=True),
    "top, mechanism": top_asked(
        known=True,
        mechanism=st.sampled_from(
            ["exponential", "permute-and-flip", "noisy-sequence", "noisy-max"]
        ),
    ),
    "top, persons": top_asked(known=True, persons=True),
    "top, several columns": top_asked(known=True, columns=2),
    "top, any key": top_asked(known=False),
    "top, any key of persons": top_asked(known=False, persons=True),
    "top, any key of columns": top_asked(known=False, columns=2),
    "top by group": grouped_asked(known=True, listed=True),
    "top by group, other": grouped_asked(known=False, listed=True, other=True),
    "top by any group, other": grouped_asked(known=False, listed=False, other=True),
    "top of candidates by any group": grouped_asked(known=True, listed=False),
    "keys": keys_asked(),
    "keys, method": keys_asked(
        method=st.sampled_from(["rounds", "optimal", "laplace", "gaussian"])
    ),
    "keys of persons": keys_asked(persons=True),
    "keys of columns": keys_asked(columns=2),
    "keys by group": keys_asked(grouped=True),
}
