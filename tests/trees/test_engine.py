"""Records that stay in their engine: the same counts, so the same law of every tree."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.trees import Bins, Categories, ID3Classifier, Split, candidates as ev
from dpselect.trees.counts import FEW_CELLS, MemoryCounts
from dpselect.trees.domains import Schema
from dpselect.trees.engine import EngineCounts, _leaf
from support.engines import every_engine, held_by
from support.trees_definitions import Certain, drawn

RNG = np.random.default_rng(11)
N = 900
AGES = [None, float("nan"), -5.0, 200.0, 25.0, *RNG.uniform(0, 100, N - 5).tolist()]
FRAME = pl.DataFrame(
    {
        "age": AGES,
        "sex": RNG.choice(["f", "m", "x"], N).tolist(),
        "rooms": RNG.integers(0, 5, N),
        "sunny": RNG.integers(0, 2, N).astype(bool),
        "buys": RNG.choice(["no", "yes", "?"], N, p=[0.5, 0.4, 0.1]).tolist(),
    }
).with_columns(
    sex=pl.when(pl.col("rooms") == 4).then(None).otherwise(pl.col("sex")),
    buys=pl.when(pl.col("rooms") == 2).then(pl.lit("yes")).otherwise(pl.col("buys")),
)
DOMAINS = {
    "age": Bins(0, 100, bins=4, other="none"),
    "sex": Categories(["f", "m"], other="else"),
    "rooms": [0, 1, 2, 3],
    "sunny": [False, True],
}
CLASSES = ["no", "yes"]
CLAIMS = {"domains": DOMAINS, "classes": CLASSES, "max_records": 2000}
ADDED = {"epsilon": 1.0, "neighbours": "add-remove"}
PAIR = FRAME.drop("buys"), FRAME["buys"]
PUBLIC = Schema.of(DOMAINS, CLASSES, [name for name in FRAME.columns if name != "buys"])


def in_memory():
    coded = dp.ID3Tree(**CLAIMS, **ADDED).design().rows.coded(PAIR)
    return MemoryCounts.of_records(PUBLIC, coded.codes, coded.labels)


@every_engine
def test_totals_tables_and_hits_are_those_in_memory(engine, crossing, monkeypatch):
    monkeypatch.setattr("dpselect.trees.engine.MOST_SUMS", 4)
    held, memory = EngineCounts(held_by(engine, FRAME), "buys", PUBLIC, None, N), in_memory()
    breeder = ev.Breeder(PUBLIC, np.random.default_rng(1), 4)
    trees = [breeder.random_tree(depth) for depth in (0, 1, 2, 3, 3, 4)]

    assert held.number() == N
    assert held.totals().tolist() == memory.totals().tolist()
    deep = Split(2, (0, 1, 2, 0), (0, Split(0, (0, 0, 1, 1, 2), (1, None, 0)), 2))
    for ours, theirs in zip(memory.tables(deep, 3), held.tables(deep, 3), strict=True):
        assert all((here == there).all() for here, there in zip(ours, theirs, strict=True))
    splits = Split(1, (0, 1, 2), (0, None, 1))
    for ours, theirs, code in zip(
        memory.tables(splits, 2), held.tables(splits, 2), (0, 2), strict=True
    ):
        for column, (here, there) in enumerate(zip(ours, theirs, strict=True)):
            assert (here == there).all()
            assert (here == by_definition(memory, code, column)).all()
    assert (held.hits(trees) == memory.hits(trees)).all()
    assert max(crossing) <= 3 * len(CLASSES) * PUBLIC.sizes.sum() + 1


def test_what_is_below_a_question_stands_in_its_query_once():
    tree = ev.Breeder(PUBLIC, np.random.default_rng(1), 8).random_tree(8)

    assert _leaf(tree).count("CASE") == 2**8 - 1


def by_definition(memory, code, column):
    table = np.zeros((PUBLIC.sizes[column], len(CLASSES)), int)
    for row, label, number in zip(memory.codes, memory.labels, memory.records, strict=True):
        if row[1] == code:
            table[row[column], label] += number
    return table


def in_both(kind, **asked):
    """Return what is drawn without noise in memory and in an engine, and what was asked."""
    for label, data in ((None, PAIR), ("buys", FRAME.lazy())):
        sampler, query = Certain(), kind(**CLAIMS, **{**ADDED, **asked}, label=label)
        yield drawn(query, data, sampler).answer, sampler.asked


@pytest.fixture(params=[0, FEW_CELLS])
def _cells(request, monkeypatch):
    """Rows that are counted at each node, and rows that are counted once."""
    monkeypatch.setattr("dpselect.trees.engine.FEW_CELLS", request.param)


@pytest.mark.usefixtures("_cells")
@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_every_draw_of_a_tree_is_that_in_memory(depth):
    ours, theirs = in_both(dp.ID3Tree, epsilon=1000.0, max_depth=depth)

    assert ours == theirs
    assert ours[0][0].depth == depth


def test_a_leaf_that_is_too_small_to_split_costs_the_same():
    ours, theirs = in_both(dp.ID3Tree, epsilon=0.3, max_depth=2, splits="values")

    assert ours[1] == theirs[1]
    assert {round(epsilon / 0.05) for epsilon, *_ in ours[1]} == {1, 3}


@pytest.mark.usefixtures("_cells")
def test_an_evolved_front_is_the_one_in_memory():
    ours, theirs = in_both(dp.TreeFront, epsilon=10.0, population=8, random_state=3)

    assert ours == theirs


def test_declared_values_do_not_raise():
    fine = FRAME.filter(pl.col("age").is_between(0, 100), pl.col("sex") != "x")
    fine = fine.filter(pl.col("rooms") < 4)
    public = {"domains": DOMAINS, "classes": CLASSES, "max_records": 2000}

    known = fine.filter(pl.col("buys") != "?")
    ID3Classifier(1.0, on_invalid="raise", **public).fit(known.lazy(), "buys")
