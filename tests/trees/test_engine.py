"""Records that stay in their engine: the same counts, so the same law of every tree."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect import tables
from dpselect.errors import ColumnError, ParameterError, PublicClaimError
from dpselect.trees import (
    Bins,
    Categories,
    ID3Classifier,
    MultiObjectiveTreeClassifier,
    records,
)
from dpselect.trees import _count_kernels as kernels
from dpselect.trees import evolution as ev
from dpselect.trees.engine import EngineRecords
from dpselect.trees.patterns import compress
from support.engines import every_engine, held_by

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
PUBLIC = records.schema(DOMAINS, CLASSES, [name for name in FRAME.columns if name != "buys"])


class Certain:
    """What would be drawn without any noise, and what was asked at which price."""

    def __init__(self):
        self.asked = []

    def choose(self, mechanism, objective, k):
        self.asked.append((mechanism.epsilon, *objective.scores))
        return np.argsort(-objective.scores, kind="stable")[:k].tolist()

    def count(self, counts, epsilon):
        self.asked.append((epsilon, *counts))
        return np.array(counts)


def in_memory():
    columns = records.read(FRAME.drop("buys"))
    labels = records.labels(FRAME["buys"], len(FRAME))
    codes = records.codes(columns, PUBLIC)
    return compress(codes, records.label_codes(*labels, PUBLIC), PUBLIC.sizes, len(CLASSES))


@every_engine
def test_totals_tables_and_hits_are_those_in_memory(engine, crossing):
    held, patterns = EngineRecords(held_by(engine, FRAME), "buys", PUBLIC), in_memory()
    breeder = ev.Breeder(PUBLIC, np.random.default_rng(1), 4)
    trees = [breeder.random_tree(depth) for depth in (0, 1, 2, 3, 3, 4)]

    assert held.number() == N
    assert held.totals().tolist() == patterns.totals().tolist()
    way = tables.Fork("code1", (0, None, 1))
    for node, code in enumerate((0, 2)):
        rows = np.flatnonzero(patterns.codes[:, 1] == code)
        expected = patterns.tables(rows, PUBLIC.sizes)
        for ours, theirs in zip(expected, held.tables(way, 2)[node], strict=True):
            assert (ours == theirs).all()
    nodes, roots = ev.flattened(trees, PUBLIC)
    expected = kernels.hits(patterns.codes, patterns.counts, nodes, roots)
    assert (held.hits(trees) == expected).all()
    assert max(crossing) <= 2 * len(CLASSES)


@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_a_tree_of_levels_is_the_tree_of_the_recursion(depth):
    fitted = ID3Classifier(
        1000.0, max_depth=depth, domains=DOMAINS, classes=CLASSES, max_records=2000
    )

    here, there = Certain(), Certain()
    ours = fitted._grow(FRAME.drop("buys"), FRAME["buys"], here).tree_
    theirs = fitted._grow(FRAME.lazy(), "buys", there).tree_

    assert ours == theirs
    assert theirs.depth == depth
    assert sorted(here.asked) == sorted(there.asked)


def test_a_leaf_that_is_too_small_to_split_costs_the_same():
    fitted = ID3Classifier(0.3, max_depth=2, domains=DOMAINS, classes=CLASSES, max_records=2000)

    here, there = Certain(), Certain()
    fitted._grow(FRAME.drop("buys"), FRAME["buys"], here)
    fitted._grow(FRAME.lazy(), "buys", there)

    assert sorted(here.asked) == sorted(there.asked)
    assert {round(epsilon / 0.05) for epsilon, *_ in here.asked} == {1, 3}


def test_an_evolved_front_is_the_one_in_memory():
    fitted = MultiObjectiveTreeClassifier(
        10.0,
        population=8,
        domains=DOMAINS,
        classes=CLASSES,
        max_records=2000,
        random_state=3,
    )

    ours = fitted._grow(FRAME.drop("buys"), FRAME["buys"], Certain()).front_
    theirs = fitted._grow(FRAME.lazy(), "buys", Certain()).front_

    assert ours == theirs


@every_engine
def test_a_tree_is_released_and_no_row_collected(engine, crossing):
    budget = dp.Budget(20.0, neighbours=dp.Neighbours.ADD_REMOVE)
    fitted = ID3Classifier(
        20.0, max_depth=2, domains=DOMAINS, classes=CLASSES, max_records=2000, budget=budget
    ).fit(held_by(engine, FRAME), "buys")

    assert budget.remaining == 0
    assert fitted.predict(FRAME.drop("buys")).shape == (N,)
    assert max(crossing) <= 5 * len(CLASSES)


@pytest.mark.parametrize(
    ("changed", "label", "error", "message"),
    [
        ({}, FRAME["buys"], ParameterError, "y must be the name of its label column"),
        ({}, "sells", ColumnError, "no column 'sells'"),
        ({"max_records": 10}, "buys", PublicClaimError, "more records than max_records"),
        ({"on_invalid": "raise"}, "buys", PublicClaimError, "'age' has values outside"),
        ({"domains": {"sex": Bins(0, 1)}}, "buys", ColumnError, "'sex' holds text"),
        ({"classes": [0, 1]}, "buys", ColumnError, "'y' and its domain"),
    ],
)
def test_what_is_wrong_is_refused_before_any_spend(changed, label, error, message):
    budget = dp.Budget(1.0, neighbours=dp.Neighbours.ADD_REMOVE)
    public = {"domains": DOMAINS, "classes": CLASSES, "max_records": 2000, **changed}

    with pytest.raises(error, match=message):
        ID3Classifier(1.0, budget=budget, **public).fit(FRAME.lazy(), label)
    assert budget.remaining == 1


def test_declared_values_do_not_raise():
    fine = FRAME.filter(pl.col("age").is_between(0, 100), pl.col("sex") != "x")
    fine = fine.filter(pl.col("rooms") < 4)
    public = {"domains": DOMAINS, "classes": CLASSES, "max_records": 2000}

    with pytest.raises(PublicClaimError, match="y has labels outside"):
        ID3Classifier(1.0, on_invalid="raise", **public).fit(fine.lazy(), "buys")
    known = fine.filter(pl.col("buys") != "?")
    ID3Classifier(1.0, on_invalid="raise", **public).fit(known.lazy(), "buys")


def test_a_column_of_dates_is_refused():
    frame = FRAME.with_columns(born=pl.date(2000, 1, 1)).lazy()
    public = {"domains": {"born": ["2000-01-01"]}, "classes": CLASSES, "max_records": 2000}

    with pytest.raises(ColumnError, match="must hold numbers or text; cast it"):
        ID3Classifier(1.0, **public).fit(frame, "buys")
