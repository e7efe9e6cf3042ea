"""Keys of persons: each person's own, the same in every engine, few of them collected."""

from collections import Counter
from itertools import chain

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpselect as dp
from dpselect.keys import rows as rows_of_keys
from dpselect.keys.rows import KeyRows
from dpselect.tables.people import PeopleCap
from support.engines import ENGINES, every_engine, held_by
from support.key_definitions import limited, people_by_key

embedded = pytest.mark.parametrize("engine", ENGINES[:3])

RNG = np.random.default_rng(18)
WORDS = ["a", "bb", "ccc", "dddd", "eeeee", "é", "日本", ""]
PEOPLE = 60
ROWS = pl.DataFrame(
    {
        "person": [None, *RNG.integers(-PEOPLE, PEOPLE, 999).tolist()],
        "word": [None, *RNG.choice(WORDS, 999).tolist()],
        "code": [*RNG.integers(-5, 6, 999).tolist(), None],
        "ward": RNG.choice(["east", "north", "west"], 1000),
    }
)


def people_per_key(rows, most):
    """Return the counts of pairs of a user and a key, by definition."""
    held = {}
    for user, key in rows:
        if user is not None and key is not None:
            held.setdefault(user, []).append(key)
    return Counter(chain.from_iterable(limited(keys, u, most) for u, keys in held.items()))


def counts_of(data, question):
    return people_by_key(question.read(data).parts()[0][1])


def asked(*columns, most=2, **others):
    return KeyRows(columns=columns, cap=PeopleCap("person", most), **others)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("candidates", [None, ("bb", "1", "nobody's"), ("bb", "1", "", "é")])
@pytest.mark.parametrize("most", [1, 3, None])
def test_codes_of_categories_are_read_as_their_texts(turned, candidates, most):
    """Also in another order, with an unused one, and with two of one text: 1 and "1"."""
    words = [1, "1", *WORDS, "unused"]
    rng = np.random.default_rng(4)
    word = [None, *rng.choice(np.array(words[:-1], dtype=object), 999)]
    person = [*(f"p{one}" for one in rng.integers(0, PEOPLE, 999)), None]
    texts = [None if one is None else str(one) for one in word]
    coded = pd.DataFrame(
        {
            "person": pd.Categorical(person, sorted({*person} - {None}, reverse=turned)),
            "word": pd.Categorical(word, words[::-1] if turned else words),
        }
    )
    cap = None if most is None else PeopleCap("person", most)
    question = KeyRows(("word",), cap, candidates=candidates)
    plain = question.read(pl.DataFrame({"person": person, "word": texts}))
    found = question.read(coded)

    assert people_by_key(found.parts()[0][1]) == people_by_key(plain.parts()[0][1])
    if candidates is not None:
        assert found.of(candidates)[0].tolist() == plain.of(candidates)[0].tolist()


@embedded
def test_only_keys_of_enough_people_leave_an_engine(engine, crossing):
    data = held_by(engine, ROWS)
    exact = people_per_key(ROWS.select("person", "word").iter_rows(), 2)
    least = sorted(exact.values())[-3]

    found = people_by_key(asked("word").read(data).parts(least)[0][1])

    assert found == {key: n for key, n in exact.items() if n >= least}
    assert max(crossing, default=0) <= len(found) < len(exact)


@pytest.mark.parametrize("column", ["word", "code"])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_large_file_is_grouped_in_passes(column, grouped, tmp_path, monkeypatch, crossing):
    path = tmp_path / "rows.parquet"
    ROWS.write_parquet(path)
    groups = ("east", "north") if grouped else ()
    question = KeyRows((column,), by=("ward",) if grouped else (), groups=groups)
    at_once = question.read(ROWS)
    monkeypatch.setattr(rows_of_keys, "ROWS_IN_ONE_PASS", 300)

    found = question.read(path)

    def counted(people):
        return [one for _, one in people.parts()]

    for one, other in zip(counted(found), counted(at_once), strict=True):
        assert one.people.tolist() == other.people.tolist()
        assert one.keys_at(np.arange(3)) == other.keys_at(np.arange(3))
    assert max(crossing) <= 2 * 11  # two wards, and eleven codes
    assert len(crossing) >= 4
    if not grouped:
        assert counts_of(path, question) == counts_of(ROWS, question)
        assert (
            found.parts(200)[0][1].people.tolist() == at_once.parts(200)[0][1].people.tolist()
        )


LARGE = {"epsilon": 1e3, "neighbours": "add-remove"}


@every_engine
def test_a_candidate_that_no_column_can_hold_is_of_nobody(engine):
    held = held_by(engine, pl.DataFrame({"k": [1, 1, 2]}))
    top = dp.TopKeys(
        column="k", k=3, candidates=[1, 2, 2**63], mechanism="noisy-sequence", **LARGE
    )
    found = top.release(held)

    assert dict(zip(found.answer, found.counts, strict=True)) == {1: 2, 2: 1, 2**63: 0}


@pytest.mark.parametrize(
    ("held", "dtype"),
    [
        ([None], pl.Int64),
        ([-128, 127, None], pl.Int8),
        ([2**63 - 1, 2**63 - 2], pl.Int64),
        ([-(2**63), 2**63 - 1], pl.Int64),
    ],
)
def test_integers_are_counted_wherever_they_are(held, dtype):
    rows = pl.DataFrame({"key": pl.Series(held * 9, dtype=dtype)})
    top = dp.TopKeys(column="key", k=2, epsilon=50.0, delta=1e-6, neighbours="add-remove")

    assert {*top.release(rows).answer} == {*held} - {None}
