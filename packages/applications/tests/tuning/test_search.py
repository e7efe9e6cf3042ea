"""PrivateSearchCV: scikit-learn's checks, the split, both ways, replay, refusals."""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpselect.neighbours import Neighbours
from dpselect.trees import Bins, ID3Classifier, MultiObjectiveTreeClassifier
from dpselect.trees.records import Rows
from dpselect_applications import tuning
from dpselect_applications.tuning.train_validation import validation_part

DOMAINS = {"colour": ["red", "green", "blue"], "age": Bins(18, 90, bins=4)}
FEWER = {"age": Bins(18, 90, bins=2)}


def frame(n=2000, seed=1):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], n)
    y = np.where((colour == "red") ^ (rng.random(n) < 0.1), "yes", "no")
    return pl.DataFrame({"colour": colour, "age": rng.integers(18, 90, n)}), y


PUBLIC = {"domains": DOMAINS, "classes": ["no", "yes"], "max_records": 5000}


def search(grid, **changed):
    return tuning.PrivateSearchCV(
        ID3Classifier(1.0, **PUBLIC), grid, **{"epsilon": 20.0, **changed}
    )


def test_the_way_is_chosen_by_the_epsilon_that_a_fit_gets():
    two, three = (search({"max_depth": list(range(n))}, epsilon=1.0).plan() for n in (2, 3))

    assert two.mechanism == ("PermuteAndFlip(epsilon=1.0) of 2 candidates, each at 0.5")
    assert "best of Geometric(mean=30" in three.mechanism
    few = search({"max_depth": [0, 1, 2]}, repetitions=tuning.Logarithmic(mean=3), method="all")
    assert "3 candidates, each at 6.66667" in few.plan().mechanism


@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE])
def test_a_neighbour_step_changes_one_part_by_one_record(relation):
    """All tables of up to 4 of 3 records, all positions of the step, several keys."""
    records = "abc"
    for size, key in product(range(1, 5), (b"1", b"2", b"3")):
        for table, place in product(product(records, repeat=size), range(size)):
            added = relation is Neighbours.ADD_REMOVE
            for other in [()] if added else records:
                changed = (*table[:place], *other, *table[place + 1 :])
                both = (parts(one, relation, key) for one in (table, changed))
                moved = [((a - b) + (b - a)).total() for a, b in zip(*both, strict=True)]
                assert sorted(moved) == [0, 1 if added else 2 * (other != table[place])]


def parts(table, relation, key):
    held = validation_part([one.encode() for one in table], relation, 0.5, key)
    return [Counter(np.array(table)[chosen]) for chosen in (held, ~held)]


def test_a_released_score_needs_no_validation():
    x, y = frame()
    evolved = MultiObjectiveTreeClassifier(
        30.0, **PUBLIC, population=6, survivors=2, front=2, generations=2, initial_depth=1,
        random_state=1,
    )  # fmt: skip

    def rates(fitted):
        best = fitted.front_[fitted.best_]
        return best.true_positive_rate + best.true_negative_rate

    for method in ("repeat", "all"):
        found = tuning.PrivateSearchCV(
            evolved, {"max_depth": [1, 3]}, epsilon=30.0, scoring=rates, method=method
        ).fit(x, y)
        assert found.best_score_ == rates(found.best_estimator_) > 1.2
        assert "part of the fit's price" in found.plan_.composition


@pytest.mark.parametrize(("domains", "tables"), [([DOMAINS], 1), ([DOMAINS, FEWER], 2)])
def test_a_table_is_read_once_for_candidates_that_read_it_alike(domains, tables, monkeypatch):
    x, y = frame(300)
    read, columns = [], Rows._columns
    monkeypatch.setattr(Rows, "_columns", lambda *row: read.append(row) or columns(*row))
    grid = {"max_depth": [0, 1], "domains": domains}

    found = search(grid, epsilon=8.0, method="all").fit(x, y)

    assert len(read) == tables
    assert found.predict(x).shape == (300,)


class PlainTree(ID3Classifier):
    """A classifier that reads its own tables."""

    reader = property()


@pytest.mark.parametrize("kind", [ID3Classifier, PlainTree])
@pytest.mark.parametrize("method", ["all", "repeat"])
def test_no_record_and_no_part_of_the_key_ends_a_search(kind, method):
    """Empty tables, tables of one record, and odd ones in any part."""
    odd = [pd.NA, np.arange(3), None, float("nan"), "\ud800", 10**5000, object()]
    rows = [["a", 1]] * 3
    tables = [
        ([], []),
        (rows[:1], ["no"]),
        *(([one, *rows], ["no"] * 4) for one in (["a"], 3, *(["a", each] for each in odd))),
        *((rows, ["no", one, "yes"]) for one in odd),
    ]
    made = kind(1.0, domains=[["a", "b"], Bins(0, 9)], classes=["no", "yes"], max_records=100)
    asked = {"epsilon": 4.0, "method": method, "repetitions": tuning.Geometric(mean=2)}
    for seed in range(3):
        few = tuning.PrivateSearchCV(made, {"max_depth": [0, 1]}, random_state=seed, **asked)
        assert all(few.fit(*table).best_index_ in {0, 1} for table in tables)
