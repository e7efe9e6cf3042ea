"""Every engine counts what NumPy counts, and no more rows than the counts leave it."""

from math import inf, nan

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables.collecting import collect
from support.engines import every_engine, held_by

RNG = np.random.default_rng(7)
NUMBERS = [None, nan, inf, -inf, -5.0, 0.0, 0.1 + 0.2, 0.3, *RNG.normal(5, 3, 200).tolist()]
CODES = pl.DataFrame(
    {
        name: RNG.integers(0, size, 400)
        for name, size in {"p": 3, "q": 2, "r": 4, "y": 2}.items()
    }
)


def ranks_by_definition(candidates):
    known = [x for x in NUMBERS if x is not None and x == x]  # noqa: PLR0124 -- not NaN
    return [[sum(x < c for x in known), sum(x <= c for x in known)] for c in candidates]


@every_engine
def test_ranks(engine, crossing):
    candidates = [5.0, -5.0, 0.3, 0.1 + 0.2, 5.0, 1e9, -1e9, *np.linspace(0, 9, 60).tolist()]

    ranks = tables.count_ranks(held_by(engine, pl.DataFrame({"v": NUMBERS})), "v", candidates)

    assert np.stack([ranks.below, ranks.upto], 1).tolist() == ranks_by_definition(candidates)
    assert (ranks.numbers, ranks.missing) == (len(NUMBERS) - 2, 2)
    assert max(crossing) <= 2 * len(candidates) + 2


@given(
    st.lists(st.one_of(st.none(), st.floats()), max_size=20),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8),
)
def test_ranks_are_those_of_numpy(numbers, candidates):
    data = pl.LazyFrame({"v": numbers}, schema={"v": pl.Float64})
    known = np.sort([x for x in numbers if x is not None and x == x])  # noqa: PLR0124

    ranks = tables.count_ranks(data, "v", candidates)

    assert ranks.below.tolist() == np.searchsorted(known, candidates, "left").tolist()
    assert ranks.upto.tolist() == np.searchsorted(known, candidates, "right").tolist()


def test_many_candidates_take_several_passes(crossing):
    data = pl.LazyFrame({"v": np.arange(2000)})

    ranks = tables.count_ranks(data, "v", np.arange(1100) + 0.5)

    assert ranks.upto.tolist() == list(range(1, 1101))
    assert len(crossing) >= 3


def test_text_of_a_csv_file_has_ranks(tmp_path):
    (tmp_path / "stays.csv").write_text("days\n 3 \nunknown\n\n1e2\nNaN\n")

    ranks = tables.count_ranks(tmp_path / "stays.csv", "days", [50])

    assert (ranks.below.tolist(), ranks.numbers, ranks.missing) == ([1], 2, 3)


WAY = tables.Fork("p", (0, tables.Fork("q", (1, None)), 2))


def place_of(row):
    p, q = row["p"], row["q"]
    return {0: 0, 2: 2}.get(p, 1 if q == 0 else None)


@every_engine
def test_tables_of_all_open_nodes(engine, crossing):
    tables = tables.count_tables(held_by(engine, CODES), {"q": 2, "r": 4}, "y", 2, WAY, nodes=3)

    expected = np.zeros((3, 6, 2), int)
    for row in CODES.rows(named=True):
        node = place_of(row)
        if node is not None:
            expected[node, row["q"], row["y"]] += 1
            expected[node, 2 + row["r"], row["y"]] += 1
    assert (tables == expected).all()
    assert max(crossing) <= 3 * 2


@every_engine
def test_hits_of_many_trees(engine, crossing):
    trees = [tables.Fork("p", (0, 1, tables.Fork("q", (1, 0)))), 0, 1]
    trees += [tables.Fork("r", tuple(int(code >= k) for code in range(4))) for k in range(60)]

    hits = tables.count_hits(held_by(engine, CODES), "y", 2, trees)

    rows = CODES.rows(named=True)
    first = [row["y"] for row in rows if row["y"] == (0, 1, 1 - row["q"])[row["p"]]]
    labels = CODES["y"].to_list()
    assert hits[0].tolist() == [first.count(0), first.count(1)]
    assert hits[1:3].tolist() == [[labels.count(0), 0], [0, labels.count(1)]]
    split = [row["y"] for row in rows if row["y"] == (row["r"] >= 1)]
    assert hits[4].tolist() == [split.count(0), split.count(1)]
    assert max(crossing) <= 2


@every_engine
def test_no_rows_count_as_none(engine):
    empty = pl.DataFrame(schema={"p": pl.Int64, "y": pl.Int64, "x": pl.Float64})
    data = held_by(engine, empty)

    assert tables.count_ranks(data, "x", [1]).upto.tolist() == [0]
    assert not tables.count_tables(data, {"p": 2}, "y", 2, 0, nodes=1).any()


@every_engine
def test_more_rows_than_declared_do_not_leave_the_engine(engine, crossing):
    with pytest.raises(DataError, match="more groups than were declared"):
        collect(tables.open_table(held_by(engine, CODES)), CODES, most=7)

    assert max(crossing) == 8


def test_an_engine_that_refuses_is_quoted_without_values():
    broken = pl.LazyFrame({"v": ["secret"]}).with_columns(pl.col("v").cast(pl.Float64))

    with pytest.raises(DataError, match="its engine refused the query") as caught:
        tables.count_ranks(broken, "v", [1])
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
